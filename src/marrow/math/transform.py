"""Translation, rotation, scale: composed to affine matrices and taken apart again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.math import quaternion
from marrow.math.elementary import dot

__all__ = ["compose", "decompose", "nearest_rotation", "polar"]

Array = NDArray[Any]


def compose(translation: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> Array:
    """`T @ R @ S` as `(..., 3, 4)`."""
    translation, scale = np.asarray(translation), np.asarray(scale)
    linear = quaternion.to_matrix(rotation) * scale[..., None, :]
    shape = np.broadcast_shapes(linear.shape[:-2], translation.shape[:-1])
    linear = np.broadcast_to(linear, (*shape, 3, 3))
    offset = np.broadcast_to(translation, (*shape, 3))
    return np.concatenate([linear, offset[..., None]], axis=-1)


def decompose(m: ArrayLike) -> tuple[Array, Array, Array]:
    """Translation, rotation and scale of `(..., 3, 4)`.

    Exact when the matrix has no shear. With shear the rotation keeps the first column's direction and the plane of the
    first two (Gram-Schmidt), so the result is the closest a joint without shear gets while keeping its X axis. A
    mirrored matrix comes back with a negative X scale.
    """
    m = np.asarray(m)
    linear = m[..., :3]
    x, y, z = (linear[..., :, k] for k in range(3))
    tiny = np.finfo(m.dtype).tiny
    scale = np.stack([np.linalg.norm(c, axis=-1) for c in (x, y, z)], axis=-1)
    mirrored = dot(x, _cross(y, z)) < 0
    x = np.where(mirrored[..., None], -x, x)
    scale[..., 0] = np.where(mirrored, -scale[..., 0], scale[..., 0])

    def unit(v: Array, fallback: Callable[[], Array]) -> Array:
        length = np.linalg.norm(v, axis=-1, keepdims=True)
        long = length > tiny
        return v / length if long.all() else np.where(long, v / np.where(long, length, 1), fallback())

    eye = np.eye(3, dtype=m.dtype)
    # A column of zero length has no direction: the others, or the axes, say where it points.
    ux = unit(x, lambda: unit(_cross(y, z), lambda: eye[0]))

    def spare() -> Array:
        return _cross(eye[np.argmin(np.abs(ux), axis=-1)], ux)

    level = y - ux * dot(ux, y)[..., None]
    uy = unit(level, lambda: unit(_cross(z, ux), lambda: unit(spare(), lambda: eye[1])))
    uz = _cross(ux, uy)
    rotation = quaternion.from_matrix(np.stack([ux, uy, uz], axis=-1))
    return m[..., 3].copy(), rotation, scale


def polar(m: ArrayLike) -> tuple[Array, Array]:
    """Splits linear maps `(..., 3, 3)` into `R @ S`: a proper rotation and a symmetric stretch.

    `R` is the rotation nearest to `M`, or to `-M` where `M` mirrors (the stretch is then negative), so that a mirrored
    joint has a rotation to blend like any other. What is not finite has neither: both parts are NaN.
    """
    m = np.asarray(m)
    whole = np.isfinite(m).all(axis=(-2, -1), keepdims=True)
    if not whole.all():
        rotation, stretch = polar(np.where(whole, m, np.eye(3, dtype=m.dtype)))
        return np.where(whole, rotation, np.nan), np.where(whole, stretch, np.nan)
    sign = np.where(np.linalg.det(m) < 0, -1.0, 1.0).astype(m.dtype)[..., None, None]
    rotation = nearest_rotation(sign * m)
    return rotation, np.swapaxes(rotation, -1, -2) @ m


def nearest_rotation(m: Array) -> Array:
    """The proper rotations nearest to finite matrices `(..., 3, 3)`: they maximise `trace(R^T M)` (Kabsch).

    Kernels and shaders have it as a quaternion (`kernels/polar.py`), Torch and the studio's page in forms of their own;
    this is their measure.
    """
    u, _, vt = np.linalg.svd(m)
    # The SVD may give a reflection: turn the direction round that counts least.
    flip = np.where(np.linalg.det(u @ vt) < 0, -1.0, 1.0).astype(m.dtype)
    u = np.concatenate([u[..., :2], u[..., 2:] * flip[..., None, None]], axis=-1)
    nearest: Array = u @ vt
    return nearest


def _cross(a: Array, b: Array) -> Array:
    """The cross products of `(..., 3)` vectors: NumPy's own, which spends ten times as long on a few of them."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    x = ay * bz - az * by
    out = np.empty((*x.shape, 3), x.dtype)
    out[..., 0], out[..., 1], out[..., 2] = x, az * bx - ax * bz, ax * by - ay * bx
    return out
