"""The rotation nearest to a matrix (the polar decomposition), for the CPU's kernels and for shaders: `marrow.gpu.passes` prints it.

`marrow.math.transform.nearest_rotation` is its specification, by a singular value decomposition. Torch and the studio's page need
another way, one that has gradients and one in their own language, and are tested with the same matrices."""

from __future__ import annotations

import math
from typing import NamedTuple

from marrow.kernels.language.annotations import ANY, Out, f4

__all__ = ["NearestWork", "nearest_rotation", "nearest_rotation_float32"]


class NearestWork(NamedTuple):
    """What a shader hands to it."""

    horn: Out[f4[ANY]]
    """Room for 32 numbers."""


def nearest_rotation(m, scratch, enough, least):
    """The quaternion of the rotation nearest to the 3x3 matrix `m`: the top eigenvector of Horn's symmetric 4x4 matrix, by
    Jacobi sweeps. `scratch (32,)` holds the matrix and its eigenvectors. It ends where the squares off the diagonal are `enough` times
    smaller than those on it; numbers no larger than `least` count as zero."""
    a, v = scratch[:16], scratch[16:32]
    a[0] = m[0] - m[4] - m[8]
    a[5] = m[4] - m[0] - m[8]
    a[10] = m[8] - m[0] - m[4]
    a[15] = m[0] + m[4] + m[8]
    a[1] = a[4] = m[1] + m[3]
    a[2] = a[8] = m[2] + m[6]
    a[6] = a[9] = m[5] + m[7]
    a[3] = a[12] = m[7] - m[5]
    a[7] = a[13] = m[2] - m[6]
    a[11] = a[14] = m[3] - m[1]
    for i in range(16):
        v[i] = 1.0 if i % 5 == 0 else 0.0
    for _ in range(24):
        off, size = 0.0, 0.0
        for i in range(4):
            size += a[5 * i] * a[5 * i]
            for j in range(i):
                off += a[4 * i + j] * a[4 * i + j]
        if not off > enough * size:
            break
        for p in range(3):
            for r in range(p + 1, 4):
                if not abs(a[4 * p + r]) <= least:
                    rotate(a, v, p, r)
    best = 3
    for i in range(3):
        if a[5 * i] > a[5 * best]:
            best = i
    return v[best], v[4 + best], v[8 + best], v[12 + best]


def rotate(a, v, p, r):
    """One Jacobi rotation, which makes `a[p, r]` zero."""
    theta = (a[5 * r] - a[5 * p]) / (2.0 * a[4 * p + r])
    if abs(theta) > 1e15:  # its square may be more than a float32 holds
        t = 0.5 / abs(theta)
    else:
        t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    for k in range(4):
        x, y = a[4 * k + p], a[4 * k + r]
        a[4 * k + p], a[4 * k + r] = c * x - s * y, s * x + c * y
    for k in range(4):
        x, y = a[4 * p + k], a[4 * r + k]
        a[4 * p + k], a[4 * r + k] = c * x - s * y, s * x + c * y
    for k in range(4):
        x, y = v[4 * k + p], v[4 * k + r]
        v[4 * k + p], v[4 * k + r] = c * x - s * y, s * x + c * y


def nearest_rotation_float32(work, m):
    """`nearest_rotation` where numbers are float32, of a matrix whose largest number is 1."""
    return nearest_rotation(m, work.horn, 1e-16, 1e-30)
