"""Two-bone solve over all frames: bend and turn a leg or an arm so that its end reaches a place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["Reach", "reach"]

Array = NDArray[Any]
REACH = 0.9998
"""A limb is never made quite straight: there the bend has no direction."""
OVERSTRETCHED, FOLDING = np.radians(25.0), np.radians([8.0, 20.0])
"""A limb bent the wrong way by less than the first is overstretched; it changes sides while it bends from and to these."""


class Reach:
    """The turns `(T, 4)` in model space that `upper` and `lower` bone get on top of their own, how much both are
    lengthened `(T,)`, and how far the end still is from where it should be `(T,)`."""

    __slots__ = ("error", "lower", "stretch", "upper")

    def __init__(self, upper: Array, lower: Array, stretch: Array, error: Array) -> None:
        self.upper, self.lower, self.stretch, self.error = upper, lower, stretch, error


def _length(v: Array) -> Array:
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def reach(
    start: Array, middle: Array, end: Array, goal: Array, *, most: float = 1.05, hint: Array | None = None
) -> Reach:
    """Brings `end (T, 3)` to `goal (T, 3)`. The limb keeps its plane; `hint (T, 3)` is where it bends when it is straight.
    Beyond its reach it is lengthened up to `most` times."""
    a, b = middle - start, end - middle
    la, lb = _length(a), _length(b)
    span = end - start
    now, wanted = _length(span), _length(goal - start)
    longest = (la + lb) * REACH
    stretch = np.clip(wanted / np.maximum(longest, 1e-12), 1.0, most)
    la2, lb2 = la * stretch, lb * stretch
    far = np.clip(wanted, np.abs(la2 - lb2) * 1.0002 + 1e-9, (la2 + lb2) * REACH)
    # The plane of the limb: across both bones; where they are in line, across the hint.
    normal = np.cross(a, b)
    flat = _length(normal) < 1e-5 * la * lb
    if flat.any():
        spare = np.cross([0.0, 0.0, 1.0] if hint is None else hint, span)
        normal = np.where(flat[:, None], spare, normal)
        flat = _length(normal) < 1e-12
        normal = np.where(flat[:, None], np.cross(span, [1.0, 0.0, 0.0]), normal)
    normal = normal / np.maximum(_length(normal), 1e-12)[:, None]

    def corner(x: Array, y: Array, opposite: Array) -> Array:
        return np.arccos(np.clip((x * x + y * y - opposite * opposite) / np.maximum(2 * x * y, 1e-12), -1, 1))

    # How far the second bone is turned against the first, and the first against the line from start to end.
    bend_here, bend = np.pi - corner(la, lb, now), np.pi - corner(la2, lb2, far)
    lean_here = corner(la, np.maximum(now, 1e-9), lb)
    if hint is not None:
        # A limb that is a little overstretched must not fold the wrong way: it goes through straight, slightly shortened.
        wrong = (np.einsum("ti,ti->t", normal, np.cross(hint, span)) < 0) & (bend_here < OVERSTRETCHED)
        u = np.clip((bend - FOLDING[0]) / (FOLDING[1] - FOLDING[0]), 0.0, 1.0)
        bend = np.where(wrong, bend * (2 * u * u * (3 - 2 * u) - 1), bend)
        normal = np.where(wrong[:, None], -normal, normal)
        bend_here, lean_here = np.where(wrong, -bend_here, bend_here), np.where(wrong, -lean_here, lean_here)
        chord = np.sqrt(la2 * la2 + lb2 * lb2 + 2 * la2 * lb2 * np.cos(bend))
        stretch = np.where(wrong, stretch * far / np.maximum(chord, 1e-12), stretch)
    lean = np.arctan2(lb2 * np.sin(bend), la2 + lb2 * np.cos(bend))
    first = quaternion.from_axis_angle(normal, lean_here - lean)
    turn = quaternion.from_axis_angle(normal, (lean_here - lean) + (bend - bend_here))
    straight = quaternion.rotate(first, a) * stretch[:, None] + quaternion.rotate(turn, b) * stretch[:, None]
    swing = quaternion.between(straight, goal - start)
    upper, lower = quaternion.multiply(swing, first), quaternion.multiply(swing, turn)
    reached = (
        start
        + quaternion.rotate(upper, a) * stretch[:, None]
        + quaternion.rotate(lower, b) * stretch[:, None]
    )
    return Reach(upper, lower, stretch, _length(reached - goal))
