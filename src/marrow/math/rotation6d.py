"""Rotations as six numbers, without jumps or double covers: what networks like to predict (Zhou et al. 2019).

The six numbers are the first two columns of the rotation matrix, one after the other. PyTorch3D writes the first two rows
instead; `rows=True` reads and writes that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.math import quaternion

__all__ = ["from_6d", "to_6d"]

Array = NDArray[Any]


def to_6d(q: ArrayLike, *, rows: bool = False) -> Array:
    """Six numbers `(..., 6)` of unit quaternions `(..., 4)`."""
    m = quaternion.to_matrix(q)
    two = m[..., :2, :] if rows else np.swapaxes(m[..., :, :2], -1, -2)
    return two.reshape(*m.shape[:-2], 6)


def from_6d(values: ArrayLike, *, rows: bool = False) -> Array:
    """Unit quaternions `(..., 4)` of six numbers `(..., 6)`, which need not be exact: the second direction is made
    perpendicular to the first. Where they say nothing (zero, or both the same way) the axes fill in."""
    v = np.asarray(values)
    v = v if np.issubdtype(v.dtype, np.floating) else v.astype(np.float64)
    if v.shape[-1:] != (6,):
        raise ValueError(f"from_6d: expected (..., 6), got {v.shape}")
    x, y = v[..., :3], v[..., 3:]
    eye = np.eye(3, dtype=v.dtype)
    tiny = np.asarray(1e-8, v.dtype)

    def unit(a: Array, spare: Array) -> Array:
        length = np.linalg.norm(a, axis=-1, keepdims=True)
        return np.where(length > tiny, a / np.where(length > tiny, length, 1), spare)

    ux = unit(x, eye[0])
    flat = y - ux * (ux * y).sum(-1, keepdims=True)
    least = eye[np.argmin(np.abs(ux), axis=-1)]
    uy = unit(flat, unit(np.cross(np.cross(ux, least), ux), eye[1]))
    m = np.stack([ux, uy, np.cross(ux, uy)], axis=-2 if rows else -1)
    return quaternion.from_matrix(m)
