"""Affine matrices `(..., 3, 4)`, row-major, column vectors: `p' = M[:, :3] @ p + M[:, 3]`; the last row is implied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.math.elementary import cross

__all__ = [
    "apply",
    "apply_vectors",
    "cofactor",
    "from_4x4",
    "identity",
    "invert",
    "mirrors",
    "multiply",
    "normal_matrix",
    "to_4x4",
]

Array = NDArray[Any]


def identity(shape: tuple[int, ...] = (), dtype: Any = np.float32) -> Array:
    """Identity matrices, `(*shape, 3, 4)`."""
    m = np.zeros((*shape, 3, 4), dtype)
    m[..., 0, 0] = m[..., 1, 1] = m[..., 2, 2] = 1
    return m


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """`a @ b` of two affine maps: first `b`, then `a`."""
    a, b = np.asarray(a), np.asarray(b)
    # Written out: matrix libraries add up in whatever order suits the processor.
    out = a[..., :, 0:1] * b[..., 0:1, :] + a[..., :, 1:2] * b[..., 1:2, :] + a[..., :, 2:3] * b[..., 2:3, :]
    out[..., 3] += a[..., 3]
    return out


def invert(m: ArrayLike) -> Array:
    """The inverse map. A singular matrix gives infinities or NaN, as NumPy's division does, never an exception."""
    m = np.asarray(m)
    cof = cofactor(m)
    det = (m[..., 0, :3] * cof[..., 0, :]).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.swapaxes(cof, -1, -2) / det[..., None, None]
        return np.concatenate([inverse, -_carried(inverse, m[..., 3])[..., None]], axis=-1)


def cofactor(m: ArrayLike) -> Array:
    """The cofactor `(..., 3, 3)` of the linear part: `det(M) * inverse(M).T`, defined for singular matrices too.
    It carries normals: `cross(M a, M b) == cofactor(M) @ cross(a, b)`."""
    m = np.asarray(m)
    r0, r1, r2 = m[..., 0, :3], m[..., 1, :3], m[..., 2, :3]
    out = np.empty((*m.shape[:-2], 3, 3), m.dtype)
    out[..., 0, :], out[..., 1, :], out[..., 2, :] = cross(r1, r2), cross(r2, r0), cross(r0, r1)
    return out


def mirrors(m: ArrayLike) -> Array:
    """Whether each map turns things into their mirror images, `(...)`: its determinant is negative."""
    m = np.asarray(m)
    return np.asarray((m[..., 0, :3] * cross(m[..., 1, :3], m[..., 2, :3])).sum(-1) < 0)


def normal_matrix(m: ArrayLike) -> Array:
    """What carries normals, `(..., 3, 3)`: the cofactor, turned round where the map mirrors, so that what was outside stays
    outside."""
    cof = cofactor(m)
    return np.where(mirrors(m)[..., None, None], -cof, cof)


def apply(m: ArrayLike, points: ArrayLike) -> Array:
    """Moves points `(..., V, 3)` by `m (..., 3, 4)`."""
    m, points = np.asarray(m), np.asarray(points)
    return _carried(m[..., None, :, :3], points) + m[..., None, :, 3]


def apply_vectors(m: ArrayLike, vectors: ArrayLike) -> Array:
    """Moves directions `(..., V, 3)`: the linear part alone."""
    m, vectors = np.asarray(m), np.asarray(vectors)
    return _carried(m[..., None, :, :3], vectors)


def _carried(linear: Array, v: Array) -> Array:
    """`linear (..., 3, 3)` times vectors `(..., 3)`."""
    return linear[..., 0] * v[..., 0:1] + linear[..., 1] * v[..., 1:2] + linear[..., 2] * v[..., 2:3]


def to_4x4(m: ArrayLike) -> Array:
    """With the last row written out, `(..., 4, 4)`, for files and other libraries."""
    m = np.asarray(m)
    full = np.zeros((*m.shape[:-2], 4, 4), m.dtype)
    full[..., :3, :] = m
    full[..., 3, 3] = 1
    return full


def from_4x4(m: ArrayLike) -> Array:
    """Drops the last row of `(..., 4, 4)`, dividing by its corner where a file left it other than 1."""
    m = np.asarray(m)
    corner = m[..., 3:, 3:]
    return m[..., :3, :] / np.where(corner == 0, 1, corner)
