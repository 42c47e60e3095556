"""The clips that stay: idle, turns, jump, wave, attack, crouch."""

from __future__ import annotations

import numpy as np

from marrow.model import Event
from samples_modeller.curves import FOOT, Step, ease, foot_on_ground, spline, stepping, wave
from samples_modeller.gait import CLEARANCE
from samples_modeller.puppet import Body, Foot
from samples_modeller.recording import RATE, Recording, record
from samples_modeller.sdf import Array

__all__ = ["STANCE", "actions", "standing"]

STANCE = {"l": (0.108, -0.012, 10.0), "r": (-0.108, -0.032, -12.0)}  # x and z of the ankle, yaw
SOFT_KNEES = -0.009


def standing(seconds: float, rate: float = RATE) -> tuple[Body, Array]:
    """A body that stands at ease, and its frames' times."""
    frames = round(seconds * rate) + 1
    t = np.arange(frames) / rate
    body = Body(frames)
    body.pelvis[:, 1] += SOFT_KNEES
    for side, (x, z, yaw) in STANCE.items():
        body.feet[side] = stepping(t, (x, z), yaw, ())
    # The baton rests pointing ahead and down.
    body.arms["r"].elbow[:] = 10
    body.arms["r"].wrist[:, 1] = -26
    body.arms["r"].spread[:] = 11
    body.spine[:, 0] = 1.5
    body.head[:, 0] = -1.5
    return body, t


def breathing(body: Body, phase: Array, breaths: int, depth: float = 1.0) -> None:
    """The chest rises and falls, and what hangs on it follows a little late."""
    breath = 0.5 - 0.5 * wave(phase, 0.0, breaths)
    late = 0.5 - 0.5 * wave(phase, 0.04, breaths)
    body.morphs["breathe"] = body.morphs.get("breathe", np.zeros_like(phase)) + 0.75 * depth * breath
    body.spine[:, 0] -= 1.6 * depth * breath
    body.neck[:, 0] += 0.9 * depth * late
    body.pelvis[:, 1] += 0.003 * depth * (breath - 1)
    for arm in body.arms.values():
        arm.shoulder[:, 0] += 2.2 * depth * late
        arm.spread += 1.0 * depth * late
        arm.elbow -= 1.2 * depth * late


def idle() -> Recording:
    """Weight shifts from one leg to the other, a look around, two breaths; loops."""
    seconds = 6.0
    body, t = standing(seconds)
    phase = t / seconds
    for foot in body.feet.values():
        foot.ankle[:, 1] += CLEARANCE
    shift = spline([0.0, 2.0, 3.2, 5.2], [1.0, 0.8, -0.9, -0.7], t, loop=seconds)
    late = spline([0.25, 2.3, 3.5, 5.5], [1.0, 0.8, -0.9, -0.7], t, loop=seconds)
    body.pelvis[:, 0] += 0.026 * shift
    body.pelvis[:, 1] -= 0.006 * np.abs(shift)
    body.pelvis_turn += np.stack([0 * t, 3.5 * shift, 2.6 * shift], axis=1)
    body.spine += np.stack([0 * t, -4.0 * late, -3.4 * late], axis=1)
    look = spline([0.0, 1.4, 2.0, 3.4, 4.0, 5.6], [0, 0, 12, 10, -9, -2], t, loop=seconds)
    body.neck += np.stack([0 * t, 0.4 * look - 0.2 * late, 0.4 * late], axis=1)
    body.head += np.stack([1.2 * wave(phase, 0.3, 2), 0.6 * look, 0.8 * late], axis=1)
    for side, s in (("l", 1), ("r", -1)):
        arm = body.arms[side]
        arm.swing += 2.0 * s * late + 1.2 * wave(phase, 0.1, 2)
        arm.spread += 1.4 * s * late
        arm.wrist[:, 0] += 3 * wave(phase, 0.2 + 0.1 * s, 2)
        body.feet[side].knee -= 3 * shift
    body.arms["l"].curl += 0.06 * wave(phase, 0.35, 2)
    breathing(body, phase, 2)
    body.morphs["blink"] = spline([1.5, 1.58, 1.62, 1.76, 3.4, 3.48, 3.52, 3.66], [0, 1, 1, 0, 0, 1, 1, 0], t)
    return record("idle", body, t)


def _turned(x: float, z: float, yaw: float, by: float) -> tuple[float, float, float]:
    c, s = float(np.cos(np.radians(by))), float(np.sin(np.radians(by)))
    return x * c + z * s, z * c - x * s, yaw + by


def turn_in_place(name: str, degrees: float) -> Recording:
    """A quarter turn on the spot in two steps, the root turning with the body; loops into itself."""
    seconds = 1.2
    body, t = standing(seconds)
    first, second = ("l", "r") if degrees > 0 else ("r", "l")
    way = 1.0 if degrees > 0 else -1.0
    body.root_yaw = degrees * ease(0.08, 1.08, t)
    times = {first: (0.16, 0.54), second: (0.58, 1.00)}
    for side, (start, end) in times.items():
        x, z, yaw = STANCE[side]
        tx, tz, tyaw = _turned(x, z, yaw, degrees)
        body.feet[side] = stepping(t, (x, z), yaw, (Step(start, end, (tx, tz), tyaw, 0.06),))
    standing_on = spline([0.0, 0.34, 0.80, 1.2], [0.0, -1.0, 1.0, 0.0], t)  # -1: over the second foot
    turned = np.radians(body.root_yaw)
    aside = np.stack([np.cos(turned), -np.sin(turned)], axis=1)
    ahead = np.stack([np.sin(turned), np.cos(turned)], axis=1)
    body.pelvis[:, [0, 2]] = body.pelvis[0, 2] * ahead + 0.045 * way * standing_on[:, None] * aside
    body.pelvis[:, 1] -= 0.022 * (ease(0.05, 0.3, t) - ease(0.8, 1.15, t))
    # Eyes first, then the chest, then the hips; the arms are flung outward a little and settle.
    lead = spline([0.0, 0.22, 0.6, 0.95, 1.2], [0, 1.0, 0.55, -0.12, 0], t)
    hips = spline([0.0, 0.25, 0.6, 0.95, 1.2], [0, -0.5, 0.25, 0.15, 0], t)
    body.head[:, 1] += way * 26 * lead
    body.neck[:, 1] += way * 14 * lead
    body.spine[:, 1] += way * 15 * spline([0.0, 0.32, 0.68, 1.02, 1.2], [0, 1.0, 0.4, -0.15, 0], t)
    body.pelvis_turn[:, 1] += way * 14 * hips
    body.pelvis_turn[:, 2] += way * -2.5 * standing_on
    body.spine[:, 2] += way * 2.5 * standing_on
    body.spine[:, 0] += 3 * (ease(0.0, 0.35, t) - ease(0.7, 1.2, t))
    fling = spline([0.0, 0.45, 0.85, 1.2], [0, 1.0, 0.5, 0], t)
    for side, s in (("l", 1), ("r", -1)):
        body.arms[side].spread += 7 * fling
        body.arms[side].swing += 13 * s * way * -fling
        body.arms[side].elbow += 9 * fling
    steps = {f"foot_{side}": end for side, (_, end) in times.items()}
    return record(name, body, t, tuple(Event(time, event) for event, time in steps.items()))


def jump() -> Recording:
    """Down, up, through the air, down again, and back to standing."""
    seconds, leave, land = 1.7, 0.52, 0.98
    body, t = standing(seconds)
    times = [0.0, 0.36, leave, (leave + land) / 2, land, 1.16, seconds]
    body.pelvis[:, 1] += spline(times, [0, -0.27, 0.02, 0.285, 0.015, -0.25, 0], t)
    body.pelvis[:, 2] += spline(times, [0, -0.075, 0.02, 0.03, -0.005, -0.06, 0], t)
    body.pelvis_turn[:, 0] = spline(times, [0, 24, 2, -4, 6, 22, 0], t)
    body.spine[:, 0] += spline(
        [0, 0.34, leave - 0.02, 0.74, land, 1.18, seconds], [0, 30, -8, 4, 10, 27, 0], t
    )
    looking = -0.75 * (body.pelvis_turn[:, 0] + body.spine[:, 0])
    body.neck[:, 0] += 0.5 * looking
    body.head[:, 0] += 0.5 * looking
    height = spline([leave - 0.01, 0.62, 0.78, land], [0, 0.21, 0.29, 0], t)
    pitch = spline([0.34, leave, 0.66, land - 0.06, land + 0.09], [0, -56, -38, -20, 0], t)
    for side, (x, z, yaw) in STANCE.items():
        place = np.stack([np.full_like(t, x), height, np.full_like(t, z)], axis=1)
        place[:, 2] -= 0.10 * ease(leave, 0.74, t) * (1 - ease(0.74, land, t))
        ankle, toes = foot_on_ground(place, np.full_like(t, yaw), pitch)
        grounded = 1 - ease(leave, leave + 0.2, t) + ease(land - 0.12, land, t)
        body.feet[side] = Foot(
            ankle, np.full_like(t, yaw), pitch, toes * grounded, 0 * t, np.full_like(t, 6.0)
        )
    for side, arm in body.arms.items():
        lag = 0.0 if side == "l" else 0.02
        arm_times = [0.0, 0.32 + lag, 0.58 + lag, 0.78, land + lag, 1.22 + lag, seconds]
        arm.swing += spline(arm_times, [0, -46, 122, 105, 58, 10, 0], t)
        arm.spread += spline(arm_times, [0, 8, 10, 32, 34, 12, 0], t)
        arm.elbow += spline(arm_times, [0, 12, 26, 34, 30, 36, 0], t)
        arm.shoulder[:, 0] += spline(arm_times, [0, -2, 14, 10, 6, -2, 0], t)
        arm.wrist[:, 0] += spline([0.0, 0.42, 0.62, 0.9, 1.3, seconds], [0, -18, 14, -8, 8, 0], t)
    body.arms["l"].curl += spline(arm_times, [0, 0.2, -0.15, -0.15, 0.0, 0.2, 0], t)
    events = (Event(leave, "jump"), Event(land, "foot_l"), Event(land, "foot_r"))
    return record("jump", body, t, events)


def wave_hello() -> Recording:
    """The free hand goes up, waves three times and comes down, with a smile."""
    seconds = 2.6
    body, t = standing(seconds)
    up = ease(0.1, 0.65, t) - ease(1.95, 2.5, t)
    beat = up * np.sin(2 * np.pi * 2.2 * (t - 0.55)) * (ease(0.45, 0.7, t) - ease(1.85, 2.05, t))
    trail = up * np.sin(2 * np.pi * 2.2 * (t - 0.63)) * (ease(0.5, 0.75, t) - ease(1.9, 2.1, t))
    arm = body.arms["l"]
    arm.spread += 66 * up + 3 * beat
    arm.swing += 12 * up
    arm.twist += 72 * up + 4 * beat
    arm.elbow += spline([0.1, 0.45, 0.7, 1.9, 2.2, 2.5], [0, 105, 92, 92, 80, 0], t) - 19 * beat
    arm.pronation += 48 * up
    arm.wrist += np.stack([-8 * up, -20 * trail], axis=1)
    arm.curl += -0.2 * up
    arm.fan += 0.5 * up
    arm.shoulder += np.stack([11 * up, 2 * up], axis=1)
    body.pelvis[:, 0] -= 0.022 * up
    body.pelvis_turn[:, 2] -= 1.8 * up
    body.spine += np.stack([-1 * up, 5 * up, 4.5 * up + 0.9 * beat], axis=1)
    body.neck[:, 2] -= 2.0 * up
    body.head += np.stack([-2 * up, 3 * up, -6 * up + 1.0 * trail], axis=1)
    other = body.arms["r"]
    other.swing -= 4 * up
    other.spread += 3 * up + 0.8 * trail
    body.morphs["smile"] = ease(0.3, 0.7, t) - ease(2.0, 2.5, t)
    breathing(body, t / seconds, 1)
    return record("wave", body, t)


def attack() -> Recording:
    """A blow with the baton: wind up over the shoulder, step in, strike across, follow through, step back."""
    seconds, hit = 1.3, 0.54
    body, t = standing(seconds)
    x, z, yaw = STANCE["l"]
    forward = (x + 0.01, z + 0.27)
    steps = (Step(0.26, 0.47, forward, yaw - 4, 0.08), Step(0.84, 1.14, (x, z), yaw, 0.05))
    body.feet["l"] = stepping(t, (x, z), yaw, steps, knee=6)
    x, z, yaw = STANCE["r"]
    pivot = spline([0.40, hit, 0.74, 1.0], [0, -30, -34, 0], t)
    ankle, toes = foot_on_ground(np.tile([x, 0.0, z], (len(t), 1)), np.full_like(t, yaw), pivot)
    body.feet["r"] = Foot(ankle, np.full_like(t, yaw), pivot, toes, 0 * t, np.full_like(t, 4.0))

    keys = [0.0, 0.34, hit, 0.68, seconds]
    body.pelvis[:, 2] += spline(keys, [0, -0.055, 0.135, 0.15, 0], t)
    body.pelvis[:, 0] += spline(keys, [0, -0.035, 0.02, 0.03, 0], t)
    body.pelvis[:, 1] += spline(keys, [0, -0.03, -0.085, -0.095, 0], t)
    body.pelvis_turn += spline(keys, [(0, 0, 0), (-2, -26, -2), (7, 16, 2), (8, 24, 3), (0, 0, 0)], t)
    body.spine += spline(
        [0.0, 0.37, hit + 0.02, 0.72, seconds],
        [(0, 0, 0), (-7, -36, -7), (20, 24, 5), (24, 36, 6), (0, 0, 0)],
        t,
    )
    watching = -0.85 * (body.pelvis_turn + body.spine)
    body.neck += 0.45 * watching
    body.head += 0.55 * watching
    right = body.arms["r"]
    blow = [0.0, 0.24, 0.38, hit - 0.065, hit, 0.65, 0.79, seconds]
    right.swing += spline(blow, [0, 62, 112, 104, 72, 42, 34, 0], t)
    right.spread += spline(blow, [0, 30, 44, 22, -14, -32, -30, 0], t)
    right.twist += spline(blow, [0, 34, 62, 36, -8, -26, -22, 0], t)
    right.elbow += spline(blow, [0, 72, 96, 62, 8, 6, 22, 0], t)
    right.wrist += spline(
        [0.0, 0.3, 0.41, hit, 0.64, 0.82, seconds],
        [(0, 0), (-6, 22), (-10, 34), (4, -8), (8, -12), (4, -8), (0, 0)],
        t,
    )
    right.shoulder += spline(
        blow, [(0, 0), (8, -8), (14, -12), (10, 2), (3, 14), (0, 17), (0, 13), (0, 0)], t
    )
    right.pronation += spline(blow, [0, 10, 14, 26, 48, 58, 48, 0], t)
    left = body.arms["l"]
    guard = [0.0, 0.34, hit + 0.02, 0.76, seconds]
    left.swing += spline(guard, [0, 58, -22, -34, 0], t)
    left.spread += spline(guard, [0, 10, 22, 26, 0], t)
    left.elbow += spline(guard, [0, 56, 58, 48, 0], t)
    left.curl += spline(guard, [0, -0.05, 0.5, 0.45, 0], t)
    left.shoulder[:, 1] += spline(guard, [0, 10, -6, -8, 0], t)
    return record("attack", body, t, (Event(0.47, "foot_l"), Event(hit, "hit"), Event(1.14, "foot_l")))


def crouch() -> Recording:
    """Low and ready, one foot ahead, breathing; loops."""
    seconds = 3.0
    body, t = standing(seconds)
    phase = t / seconds
    drift = wave(phase, 0.15)
    body.pelvis += np.stack(
        [0.012 * drift, -0.37 + 0.008 * wave(phase, 0.1, 2), -0.075 + 0.006 * wave(phase, 0.4)], axis=1
    )
    body.pelvis_turn += [22, -8, 0]
    body.spine += [22, 6, 0]
    body.spine[:, 2] -= 1.2 * drift
    body.neck += [-17, 1, 0]
    body.head += [-20, 1, 0]
    body.head[:, 1] += spline([0.0, 0.9, 1.5, 2.4], [0, 7, 6, -5], t, loop=seconds)
    body.feet["l"] = stepping(t, (0.15, 0.13), 16, (), knee=10)
    back = np.full_like(t, -38.0)
    ankle, toes = foot_on_ground(
        np.tile([-0.15, 0.0, FOOT.ankle[2] - 0.17], (len(t), 1)), np.full_like(t, -20.0), back
    )
    body.feet["r"] = Foot(ankle, np.full_like(t, -20.0), back, toes, 0 * t, np.full_like(t, 8.0))
    for side, arm in body.arms.items():
        arm.swing += 30 + 1.5 * wave(phase, 0.2 if side == "l" else 0.5, 2)
        arm.spread += 13
        arm.elbow += 46 + 2 * wave(phase, 0.3, 2)
    body.arms["l"].curl += 0.12
    breathing(body, phase, 2, 1.2)
    return record("crouch", body, t)


def actions() -> list[Recording]:
    """The clips in place."""
    return [
        idle(),
        turn_in_place("turn_left", 90.0),
        turn_in_place("turn_right", -90.0),
        jump(),
        wave_hello(),
        attack(),
        crouch(),
    ]
