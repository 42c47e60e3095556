"""Curves over time that clips are drawn with: waves over a cycle, splines through poses, steps of a foot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from samples_modeller import rig
from samples_modeller.puppet import Foot
from samples_modeller.sdf import Array

__all__ = ["FOOT", "FootShape", "Step", "ease", "foot_on_ground", "spline", "stepping", "wave"]


def wave(phase: Array, shift: float = 0.0, beats: int = 1) -> Array:
    """A cosine over the cycle, highest at phase `shift` (of 0..1), `beats` times per cycle."""
    return np.cos(2 * np.pi * beats * (phase - shift))


def ease(low: float, high: float, t: Array) -> Array:
    """From 0 at `low` to 1 at `high` without a jolt at either end (smootherstep)."""
    x = np.clip((t - low) / (high - low), 0, 1)
    return x * x * x * (x * (6 * x - 15) + 10)


def spline(times: ArrayLike, values: ArrayLike, t: Array, *, loop: float | None = None) -> Array:
    """A smooth curve through poses: values `(K, ...)` at `times (K,)`, without overshoot (Fritsch-Carlson
    slopes).

    The ends are at rest; with `loop` (a duration) the curve repeats, and the last value is the first.
    """
    x, y = np.asarray(times, float), np.asarray(values, float)
    if loop is not None:
        x = np.concatenate([x[-1:] - loop, x, x[:1] + loop])
        y = np.concatenate([y[-1:], y, y[:1]])
    h = np.diff(x).reshape(-1, *[1] * (y.ndim - 1))
    secant = np.diff(y, axis=0) / h
    slope = np.zeros_like(y)
    same = secant[1:] * secant[:-1] > 0
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    safe = np.where(same, w1 / np.where(same, secant[:-1], 1) + w2 / np.where(same, secant[1:], 1), 1)
    slope[1:-1] = np.where(same, (w1 + w2) / safe, 0)
    if loop is not None:
        slope[0], slope[-1] = slope[-2], slope[1]
    i = np.clip(np.searchsorted(x, t, side="right") - 1, 0, len(x) - 2)
    u = ((np.clip(t, x[0], x[-1]) - x[i]) / (x[i + 1] - x[i])).reshape(-1, *[1] * (y.ndim - 1))
    step = h[i]
    return (
        y[i] * (1 + 2 * u) * (1 - u) ** 2
        + slope[i] * step * u * (1 - u) ** 2
        + y[i + 1] * u * u * (3 - 2 * u)
        + slope[i + 1] * step * u * u * (u - 1)
    )


@dataclass(frozen=True)
class FootShape:
    """The left foot's points relative to its ankle at rest: the edge of the heel it rolls over, and the joint of its toes.
    `toes` is their length."""

    ankle: Array
    heel: Array
    ball: Array
    toes: float


HEEL_EDGE = -0.068
"""Where the flat of the sole ends and the heel rounds up."""


def _foot_shape() -> FootShape:
    ankle, ball, toe = (np.array(rig.LANDMARKS[k]) for k in ("ankle", "ball", "toe"))
    heel = np.array([ankle[0], 0.0, HEEL_EDGE])
    # Heel and ball on one line ahead: the foot rolls straight. Over the joint, so that toes on the ground stay there.
    return FootShape(
        ankle, (heel - ankle) * [0, 1, 1], (ball - ankle) * [0, 1, 1], float(toe[2] - ball[2]) + 0.015
    )


FOOT = _foot_shape()


def foot_on_ground(place: Array, yaw: Array, pitch: Array) -> tuple[Array, Array]:
    """The ankle of a foot that stands with its sole's reference point at `place (T, 3)`, and the bend of its
    toes.

    `place` is where the ankle's shadow falls when the foot is flat. Toes up, it rolls on its heel; heel up,
    on its ball, with the toes flat on the ground.
    """
    angle = np.radians(pitch)
    pivot = np.where((pitch > 0)[:, None], FOOT.heel, FOOT.ball)
    # Turning about X by -pitch lifts the toes.
    arm = -pivot
    lifted = np.stack(
        [
            arm[:, 0],
            arm[:, 1] * np.cos(angle) + arm[:, 2] * np.sin(angle),
            arm[:, 2] * np.cos(angle) - arm[:, 1] * np.sin(angle),
        ],
        axis=1,
    )
    local = pivot + lifted
    c, s = np.cos(np.radians(yaw)), np.sin(np.radians(yaw))
    turned = np.stack(
        [local[:, 0] * c + local[:, 2] * s, local[:, 1], local[:, 2] * c - local[:, 0] * s], axis=1
    )
    return place + np.array([0, FOOT.ankle[1], 0]) + turned, np.maximum(-pitch, 0)


@dataclass(frozen=True)
class Step:
    """A foot lifts at `start`, lands at `end` on `place` (x, z of the ankle) turned by `yaw`, rising by
    `lift` between."""

    start: float
    end: float
    place: tuple[float, float]
    yaw: float
    lift: float = 0.09


def stepping(
    t: Array, place: tuple[float, float], yaw: float, steps: tuple[Step, ...], *, knee: float = 4.0
) -> Foot:
    """A foot that stands, steps, and stands again."""
    x, z = np.full_like(t, place[0]), np.full_like(t, place[1])
    turned, height, pitch = np.full_like(t, yaw), np.zeros_like(t), np.zeros_like(t)
    here = (place[0], place[1], yaw)
    for s in steps:
        u = ease(s.start, s.end, t)
        x += (s.place[0] - here[0]) * u
        z += (s.place[1] - here[1]) * u
        turned += (s.yaw - here[2]) * u
        flight = np.clip((t - s.start) / (s.end - s.start), 0, 1)
        height += s.lift * 16 * flight**2 * (1 - flight) ** 2
        # The heel comes up before the foot leaves, and is down again before it lands.
        pitch -= (
            24 * np.sin(np.pi * np.clip((t - s.start + 0.06) / (0.55 * (s.end - s.start) + 0.06), 0, 1)) ** 2
        )
        here = (s.place[0], s.place[1], s.yaw)
    ankle, toes = foot_on_ground(np.stack([x, height, z], axis=1), turned, pitch)
    return Foot(
        ankle,
        turned,
        pitch,
        toes * (1 - 0.65 * ease(0.0, 0.1, height)),
        np.zeros_like(t),
        np.full_like(t, knee),
    )
