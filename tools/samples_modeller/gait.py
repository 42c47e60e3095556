"""Walking and running: cycles made from foot paths and body waves.

A cycle starts as the left foot touches the ground; the right foot follows half a cycle later. Feet are
planted in the world while the root travels over them at the gait's speed, so they cannot slide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samples_modeller.curves import FOOT, ease, foot_on_ground, wave
from samples_modeller.puppet import Body, Foot
from samples_modeller.sdf import Array

__all__ = ["Gait", "cycle"]


@dataclass(frozen=True)
class Gait:
    """The numbers of a gait: lengths in metres, times in seconds, angles in degrees, phases in cycles.

    `duty` is the share of the cycle a foot is down. `reach` moves the feet's ground ahead of (or behind) the
    hips. `strike` is the pitch of the foot as it lands, `push` as it leaves: positive on the heel, negative
    on the ball.
    """

    seconds: float
    speed: float
    heading: float = 0.0  # 0 forward, 90 to the left, 180 backward
    duty: float = 0.62
    width: float = 0.09
    reach: float = 0.02
    lift: float = 0.05
    kick: float = 0.0  # heel towards the buttocks in mid-swing, metres
    strike: float = 20.0
    push: float = -48.0
    flat: tuple[float, float] = (0.14, 0.52)  # between these shares of the stance the foot lies flat
    toe_out: float = 6.0
    knee: float = 4.0
    height: float = -0.05  # of the pelvis, against standing
    bob: float = 0.018
    low: float = 0.06  # phase at which the pelvis is lowest
    sway: float = 0.022
    lean: float = 3.0
    pelvis: tuple[float, float, float] = (1.0, 6.0, 4.0)  # amplitudes of pitch, yaw and roll
    chest: tuple[float, float, float] = (1.5, 12.0, 4.5)
    arm_swing: float = 24.0
    arm_bias: float = 2.0
    arm_spread: float = 8.0
    elbow: tuple[float, float] = (14.0, 10.0)  # mean and amplitude
    surge: float = 0.012  # the pelvis runs ahead of the root and falls back, twice a cycle


CLEARANCE = 0.0013
"""How far soles stay above the ground: poses between two clips are a little lower than both."""
MOST_TOES = 55.0
"""Degrees that toes bend up at most."""


def _hermite(a: Array, va: Array, b: Array, vb: Array, u: Array) -> Array:
    u = u.reshape(-1, *[1] * a.ndim)
    return (
        a * (1 + 2 * u) * (1 - u) ** 2
        + va * u * (1 - u) ** 2
        + b * u * u * (3 - 2 * u)
        + vb * u * u * (u - 1)
    )


def _swing(a: Array, va: Array, b: Array, vb: Array, u: Array) -> Array:
    """From `a` at speed `va` to `b` at speed `vb`: the foot reaches a little past its place, and is drawn
    back to it."""
    turning = 0.86
    farthest = b - 0.42 * (1 - turning) * vb
    out = _hermite(a, va * turning, farthest, 0 * vb, np.clip(u / turning, 0, 1))
    back = _hermite(farthest, 0 * vb, b, vb * (1 - turning), np.clip((u - turning) / (1 - turning), 0, 1))
    return np.where((u < turning).reshape(-1, *[1] * a.ndim), out, back)


def _stance(gait: Gait, side: float, share: Array) -> tuple[Array, Array, Array]:
    """Ankle `(T, 3)` relative to the root, pitch and toe bend over the stance (share 0..1, linear beyond)."""
    heading = np.radians(gait.heading)
    ahead = np.array([np.sin(heading), 0, np.cos(heading)])
    travel = gait.speed * gait.seconds * gait.duty
    place = np.array([side * gait.width, CLEARANCE, FOOT.ankle[2]]) + ahead * gait.reach
    place = place + ahead * (travel * (0.5 - share))[:, None]
    landing, leaving = gait.flat
    pitch = gait.strike * (1 - np.clip(share / landing, 0, 1)) ** 2
    rise = np.clip((share - leaving) / (1 - leaving), 0, None)
    pitch = pitch + gait.push * rise**2
    yaw = np.full_like(share, side * gait.toe_out)
    ankle, toes = foot_on_ground(place, yaw, pitch)
    return ankle, pitch, toes


def _foot(gait: Gait, side: float, phase: Array, root: Array) -> Foot:
    p = np.mod(phase, 1.0)
    down = p < gait.duty
    ankle, pitch, toes = _stance(gait, side, np.where(down, p / gait.duty, 0))

    # The swing joins the end of one stance to the start of the next, in place and in speed.
    u = np.clip((p - gait.duty) / (1 - gait.duty), 0, 1)
    small = 1e-4
    (a0, p0, t0), (a1, p1, t1) = (_stance(gait, side, np.array([s, s + small])) for s in (1 - small, 0.0))
    # Speeds per unit of the swing.
    rate = (1 - gait.duty) / gait.duty / small
    swing = _swing(a0[1], (a0[1] - a0[0]) * rate, a1[0], (a1[1] - a1[0]) * rate, u)
    clear = 6.4 * u**1.2 * (1 - u) ** 1.5  # highest soon after the foot has left
    early = 16 * np.sqrt(u) ** 4 * (1 - np.sqrt(u)) ** 2
    swing[:, 1] += gait.lift * clear + gait.kick * early
    swing_pitch = _swing(p0[1], (p0[1] - p0[0]) * rate, p1[0], (p1[1] - p1[0]) * rate, u)
    swing_pitch = swing_pitch - 110 * gait.kick * early
    swing_toes = toes_in_the_air(
        swing, swing_pitch, t0[1] * (1 - ease(0.0, 0.5, u)) + t1[0] * ease(0.5, 1, u)
    )
    up = ~down
    ankle[up], pitch[up], toes[up] = swing[up], swing_pitch[up], swing_toes[up]
    return Foot(
        ankle + root,
        np.full_like(p, side * gait.toe_out),
        pitch,
        toes,
        np.zeros_like(p),
        np.full_like(p, gait.knee),
    )


def toes_in_the_air(ankle: Array, pitch: Array, toes: Array) -> Array:
    """The bend of the toes over a swing: as asked for, or as much more as keeps their tip from the ground."""
    angle = np.radians(pitch)
    clear = (
        ankle[:, 1]
        + FOOT.ball[1] * np.cos(angle)
        + FOOT.ball[2] * np.sin(angle)
        - FOOT.ankle[1]
        - FOOT.ball[1]
    )
    droop = np.degrees(np.arcsin(np.clip(0.8 * clear / FOOT.toes, 0, 1)))
    return np.maximum(toes, np.minimum(-pitch - droop, MOST_TOES))


def cycle(gait: Gait, rate: float) -> tuple[Body, Array]:
    """One cycle at `rate` frames per second, its last frame the first of the next; and the frames' times."""
    frames = round(gait.seconds * rate) + 1
    t = np.arange(frames) / rate
    phase = t / gait.seconds
    body = Body(frames)
    heading = np.radians(gait.heading)
    ahead = np.array([np.sin(heading), 0, np.cos(heading)])
    body.root = ahead * (gait.speed * t)[:, None]
    body.feet = {"l": _foot(gait, 1, phase, body.root), "r": _foot(gait, -1, phase - 0.5, body.root)}

    stance = gait.duty / 2  # the left foot's mid-stance
    body.pelvis = body.pelvis + body.root
    body.pelvis[:, 0] += gait.sway * wave(phase, stance)
    body.pelvis[:, 1] += gait.height - gait.bob * wave(phase, gait.low, 2)
    body.pelvis += ahead * (gait.surge * wave(phase, gait.low - 0.08, 2))[:, None]
    lean = np.array([gait.lean, 0, 0]) * np.cos(heading)

    pitch, yaw, roll = gait.pelvis
    body.pelvis_turn = 0.4 * lean + np.stack(
        [pitch * wave(phase, gait.low + 0.05, 2), -yaw * wave(phase), roll * wave(phase, stance - 0.12)],
        axis=1,
    )
    pitch, yaw, roll = gait.chest
    body.spine = 0.6 * lean + np.stack(
        [
            -pitch * wave(phase, gait.low + 0.12, 2),
            yaw * wave(phase, 0.02),
            -roll * wave(phase, stance - 0.10),
        ],
        axis=1,
    )
    # The head looks ahead and stays level, a little late.
    late = -0.85 * (body.pelvis_turn + body.spine)
    late[:, 0] += 0.8 * gait.lean * np.cos(heading) * 0.25
    body.neck, body.head = 0.45 * late, 0.55 * late
    _swing_arms(body, gait, phase)
    return body, t


def _swing_arms(body: Body, gait: Gait, phase: Array) -> None:
    mean, range_ = gait.elbow
    for side, start in (("l", 0.5), ("r", 0.0)):
        arm = body.arms[side]
        arm.swing = gait.arm_bias + gait.arm_swing * wave(phase, start + 0.02)
        arm.spread = gait.arm_spread - 2.5 * wave(phase, start, 1)
        # The forearm trails the upper arm, the hand trails the forearm.
        arm.elbow = mean + range_ * wave(phase, start + 0.09)
        arm.wrist = np.stack([5 - 7 * wave(phase, start + 0.22), 3 * wave(phase, start + 0.25)], axis=1)
        arm.twist = arm.twist - 2 * wave(phase, start + 0.03)
        if side == "r":
            arm.wrist[:, 1] -= 22  # keeps the baton clear of the face and the legs
            arm.twist = arm.twist + 12
        arm.shoulder = np.stack(
            [1.2 * wave(phase, gait.low + 0.25, 2), 5 * wave(phase, start + 0.01)], axis=1
        )
        if side == "l":
            arm.curl = arm.curl + 0.07 * wave(phase, start + 0.25)
