"""Boxes, spheres, cylinders, capsules and ellipsoids as triangles with normals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["Surface", "capsule_between", "surface_of"]

Array = NDArray[Any]
Surface = tuple[Array, Array, Array]
"""Positions, normals, triangles."""
AROUND, UP = 16, 4


def surface_of(kind: str, size: Array) -> Surface:
    """A shape about the origin; cylinders and capsules lie along z. Sizes are halves and radii."""
    if kind == "box":
        return _box(size)
    if kind == "sphere":
        return _round(0.0, np.full(3, size[0]))
    if kind == "ellipsoid":
        return _round(0.0, size)
    if kind == "capsule":
        return _round(float(size[1]), np.full(3, size[0]))
    return _cylinder(float(size[0]), float(size[1]))


def capsule_between(start: Array, end: Array, radius: float) -> Surface:
    """A capsule from one place to another."""
    half = float(np.linalg.norm(end - start)) / 2
    positions, normals, triangles = _round(half, np.full(3, radius))
    z = (end - start) / (2 * half) if half > 1e-9 else np.array([0.0, 0.0, 1.0])
    if z[2] > -1 + 1e-9:
        turn = quaternion.normalize(np.array([-z[1], z[0], 0.0, 1.0 + z[2]]))
    else:
        turn = np.array([1.0, 0.0, 0.0, 0.0])
    return (start + end) / 2 + quaternion.rotate(turn, positions), quaternion.rotate(turn, normals), triangles


def _rings(rows: int) -> Array:
    """Triangles of a grid of rings, closed around."""
    row, at = np.meshgrid(np.arange(rows - 1), np.arange(AROUND), indexing="ij")
    a, b = row * AROUND + at, row * AROUND + (at + 1) % AROUND
    c, d = a + AROUND, b + AROUND
    return np.stack([np.stack([a, b, d], -1), np.stack([a, d, c], -1)], axis=2).reshape(-1, 3)


def _round(half: float, radii: Array) -> Surface:
    """An ellipsoid whose halves are drawn apart along z."""
    low = np.linspace(-np.pi / 2, 0, UP + 1)
    angle = np.concatenate([low, -low[::-1]])
    around = np.arange(AROUND) * (2 * np.pi / AROUND)
    ring = np.cos(angle)[:, None]
    unit = np.stack(
        [
            ring * np.cos(around),
            ring * np.sin(around),
            np.broadcast_to(np.sin(angle)[:, None], (len(angle), AROUND)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    positions = unit * radii
    positions[:, 2] += np.repeat(np.where(np.arange(len(angle)) <= UP, -half, half), AROUND)
    normals = unit / radii
    return positions, normals / np.linalg.norm(normals, axis=-1, keepdims=True), _rings(len(angle))


def _cylinder(radius: float, half: float) -> Surface:
    around = np.arange(AROUND) * (2 * np.pi / AROUND)
    side = np.stack([np.cos(around), np.sin(around), np.zeros(AROUND)], axis=-1)
    low, high = side * radius - [0, 0, half], side * radius + [0, 0, half]
    down, up = np.tile([0.0, 0.0, -1.0], (AROUND, 1)), np.tile([0.0, 0.0, 1.0], (AROUND, 1))
    fan = np.array([(0, k, k + 1) for k in range(1, AROUND - 1)])
    triangles = np.concatenate([_rings(2), fan[:, ::-1] + 2 * AROUND, fan + 3 * AROUND])
    return np.concatenate([low, high, low, high]), np.concatenate([side, side, down, up]), triangles


def _box(half: Array) -> Surface:
    positions: list[Array] = []
    normals: list[Array] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            n = np.eye(3)[axis] * sign
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3] * sign
            first = 4 * len(normals)
            positions += [n + a * u + b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            normals.append(n)
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return np.array(positions) * half, np.repeat(np.array(normals), 4, axis=0), np.array(triangles)
