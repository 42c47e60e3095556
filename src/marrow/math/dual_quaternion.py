"""Unit dual quaternions `(..., 8)`: a rigid motion as its rotation `xyzw` and its dual part `xyzw`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.math import quaternion

__all__ = ["apply", "from_rigid", "normalize", "to_rigid"]

Array = NDArray[Any]


def from_rigid(rotation: ArrayLike, translation: ArrayLike) -> Array:
    """The motion "rotate, then translate": dual part `t q / 2`."""
    rotation, translation = np.asarray(rotation), np.asarray(translation)
    pure = np.concatenate([translation, np.zeros_like(translation[..., :1])], axis=-1)
    return np.concatenate([rotation, quaternion.multiply(pure, rotation) / 2], axis=-1)


def normalize(dq: ArrayLike) -> Array:
    """At unit length, with the dual part perpendicular to the real one, as a rigid motion needs it."""
    dq = np.asarray(dq)
    real, dual = dq[..., :4], dq[..., 4:]
    length = np.linalg.norm(real, axis=-1, keepdims=True)
    real, dual = real / length, dual / length
    dual = dual - real * (real * dual).sum(-1, keepdims=True)
    return np.concatenate([real, dual], axis=-1)


def to_rigid(dq: ArrayLike) -> tuple[Array, Array]:
    """Rotation and translation of a unit dual quaternion."""
    dq = np.asarray(dq)
    real, dual = dq[..., :4], dq[..., 4:]
    return real, 2 * quaternion.multiply(dual, quaternion.conjugate(real))[..., :3]


def apply(dq: ArrayLike, points: ArrayLike) -> Array:
    """Moves points `(..., 3)` by unit dual quaternions `(..., 8)`."""
    rotation, translation = to_rigid(dq)
    return quaternion.rotate(rotation, points) + translation
