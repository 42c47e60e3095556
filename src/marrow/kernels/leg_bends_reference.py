"""Knees as hinges, in NumPy and float64: which way a leg bends in every frame, continuous through straight, and a leg bent in
closed form. The specification of `leg_bends.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["LONGEST", "OVER", "OWN", "hinge", "reach"]

Array = NDArray[Any]
OWN = 0.1
"""How much of the thigh's own hinge is in a leg's plane: all of it where the leg is straight."""
OVER = 0.20943951023931953
"""A knee that bends further the wrong way (12 degrees) really does."""
LONGEST = 0.99995


def _length(v: Array) -> Array:
    return np.sqrt(np.einsum("...i,...i->...", v, v))


def hinge(a: Array, b: Array, hint: Array) -> tuple[Array, Array]:
    """The unit normal `(T, 3)` of the plane that the bones `a` and `b` bend in, and by how much `(T,)`, negative where a
    little overstretched. `hint (T, 3)` is where the thigh says that the knee goes."""
    la, lb = np.maximum(_length(a), 1e-12), np.maximum(_length(b), 1e-12)
    c = np.cross(a, b) / (la * lb)[:, None]
    own = np.cross(hint, a + b)
    own /= np.maximum(_length(own), 1e-9)[:, None]
    if float((c * own).sum()) < 0:  # it bends the other way for most of the clip: that is its way
        own = -own
    bend = np.arctan2(_length(c), (a * b).sum(axis=-1) / (la * lb))
    wrong = (c * own).sum(axis=-1) < 0
    over = wrong & (bend > OVER)
    side = np.where(wrong & ~over, -1.0, 1.0)
    normal = side[:, None] * c + np.where(over, 0.0, OWN)[:, None] * own
    return normal / np.maximum(_length(normal), 1e-12)[:, None], side * bend


def reach(start: Array, middle: Array, end: Array, goal: Array, hint: Array) -> tuple[Array, Array]:
    """The turns `(T, 4)` in model space of both bones that bring `end (T, 3)` to `goal (T, 3)`, or as near as they reach."""
    a, b = middle - start, end - middle
    la, lb = np.maximum(_length(a), 1e-12), np.maximum(_length(b), 1e-12)
    normal, _ = hinge(a, b, hint)
    far = np.minimum(_length(goal - start), (la + lb) * LONGEST)
    bend = np.arccos(np.clip((far * far - la * la - lb * lb) / (2 * la * lb), -1, 1))
    # Both bones into the plane (they nearly are), turned about its normal, then swung to the goal.
    flat = a - normal * (a * normal).sum(axis=-1, keepdims=True)
    along = flat / np.maximum(_length(flat), 1e-12)[:, None]
    low = along * np.cos(bend)[:, None] + np.cross(normal, along) * np.sin(bend)[:, None]
    swing = quaternion.between(along * la[:, None] + low * lb[:, None], goal - start)
    upper = quaternion.multiply(swing, quaternion.between(a, flat))
    lower = quaternion.multiply(swing, quaternion.between(b, low))
    return upper, lower
