"""Rotations and vectors of many frames as rows, `(4, T)` and `(3, T)`: each number of all frames lies together, which NumPy
works through several times faster than `(T, 4)`. `marrow.math.quaternion` says what the functions mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.rotations import matrix_rotations

__all__ = ["about", "between", "conjugate", "cross", "dot", "from_axes", "multiply", "rotate", "unit"]

Array = NDArray[Any]
TINY = 1e-12


def dot(a: Array, b: Array) -> Array:
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def cross(a: Array, b: Array) -> Array:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def unit(v: Array) -> Array:
    """Vectors or quaternions at length 1; what has no length stays zero."""
    return np.asarray(v / np.sqrt(np.maximum((v * v).sum(axis=0), TINY * TINY)))


def conjugate(q: Array) -> Array:
    return np.stack([-q[0], -q[1], -q[2], q[3]])


def multiply(a: Array, b: Array) -> Array:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


def rotate(q: Array, v: Array) -> Array:
    t = 2.0 * cross(q[:3], v)
    return np.asarray(v + q[3] * t + cross(q[:3], t))


def about(axis: Array, radians: Array) -> Array:
    """Turns about unit axes."""
    half = 0.5 * radians
    return np.concatenate([axis * np.sin(half), np.cos(half)[None]])


def between(a: Array, b: Array) -> Array:
    """The shortest turns from unit vectors `a` to `b`; half a turn about any axis where they are opposite."""
    w = 1.0 + dot(a, b)
    opposite = w < 1e-9
    q = np.concatenate([cross(a, b), w[None]])
    if opposite.any():
        x, y, z = np.broadcast_to(a, b.shape)
        level = np.abs(x) > np.abs(z)
        aside = np.stack([np.where(level, -y, 0 * x), np.where(level, x, -z), np.where(level, 0 * x, y)])
        q = np.where(opposite, np.concatenate([aside, 0 * w[None]]), q)
    return unit(q)


def from_axes(x: Array, y: Array, z: Array) -> Array:
    """The rotations that take the axes to `x`, `y` and `z`."""
    matrices = np.zeros((x.shape[1], 3, 4), np.float32)
    for k, axis in enumerate((x, y, z)):
        matrices[:, :, k] = axis.T
    out = np.empty((len(matrices), 4), np.float32)
    matrix_rotations(matrices, out)
    return np.asarray(out.T, np.float64)
