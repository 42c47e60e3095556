"""Rays straight down on a triangle mesh: a tree of boxes over its triangles, walked for many points."""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.annotations import N, Out, P, T, f4, f8, i4, u1
from marrow.kernels.language.kernel import kernel

__all__ = ["ground_below"]

SAME = 1e-6
"""Metres: hits this close to each other are of one place, where an edge or a corner was met; the flatter triangle counts."""
WALL = 0.0017
"""A triangle whose normal looks up by no more than this (a tenth of a degree) is a wall."""


def below(boxes, n, x, z, low, high):
    """Whether a ray down at (x, z), from `high` to `low`, meets a box."""
    return (
        boxes[n, 0] <= x
        and x <= boxes[n, 3]
        and boxes[n, 2] <= z
        and z <= boxes[n, 5]
        and boxes[n, 1] <= high
        and boxes[n, 4] >= low
    )


def height_on(corners, t, x, z):
    """How high a triangle is at (x, z); NaN where it is not there.

    Corners are taken relative to the ray first. The sign of an edge's area is then that of the exact one or zero, and the
    exact opposite for the triangle on the edge's other side: with zero counted in, no ray falls between two triangles
    (Woop, Benthin, Wald: Watertight Ray/Triangle Intersection, 2013)."""
    ax, az = corners[t, 0] - x, corners[t, 2] - z
    bx, bz = corners[t, 3] - x, corners[t, 5] - z
    cx, cz = corners[t, 6] - x, corners[t, 8] - z
    u, v, w = bx * cz - bz * cx, cx * az - cz * ax, ax * bz - az * bx
    if (u >= 0.0 and v >= 0.0 and w >= 0.0) or (u <= 0.0 and v <= 0.0 and w <= 0.0):
        whole = u + v + w
        if whole != 0.0:
            return (u * corners[t, 1] + v * corners[t, 4] + w * corners[t, 7]) / whole
    return np.nan


def upward_normal(corners, t):
    """The unit normal of a triangle, on its upper side."""
    ax, ay, az = corners[t, 0], corners[t, 1], corners[t, 2]
    bx, by, bz = corners[t, 3] - ax, corners[t, 4] - ay, corners[t, 5] - az
    cx, cy, cz = corners[t, 6] - ax, corners[t, 7] - ay, corners[t, 8] - az
    x, y, z = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    size = math.sqrt(x * x + y * y + z * z)
    size = -size if y < 0.0 else size
    return (x / size, y / size, z / size)


@kernel
def ground_below(
    boxes: f4[N, 6],
    corners: f4[T, 9],
    points: f8[P, 3],
    heights: Out[f8[P]],
    normals: Out[f8[P, 3]],
    hit: Out[u1[P]],
    nodes: Out[i4[64]],
    leaf: int,
    above: float,
    depth: float,
    start: int,
    stop: int,
) -> None:
    """For the points `start..stop` the highest triangle that is at most `above` over and `depth` under each: its height
    (NaN: there is none), the normal of its upper side (up), and whether there is one. Walls count only where nothing else
    was met.

    `boxes` are the nodes of a complete binary tree, the children of n at 2n and 2n + 1, the root at 1; the second half are
    leaves of `leaf` triangles each, in order. `nodes` is room to remember what is still to be looked at.
    """
    leaves = len(boxes) // 2
    for i in range(start, stop):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        high, low = y + above, y - depth
        best, flat, found = 0.0, 0.0, -1
        wall, wall_found = 0.0, -1
        waiting, n = 0, 0
        if below(boxes, 1, x, z, low, high):
            n = 1
        while n > 0:
            if n < leaves:
                a, b = below(boxes, 2 * n, x, z, low, high), below(boxes, 2 * n + 1, x, z, low, high)
                if a and b:
                    # To the higher child first: what it has may rule out the other.
                    n = 2 * n
                    nodes[waiting] = n + 1
                    if boxes[n + 1, 4] > boxes[n, 4]:
                        nodes[waiting] = n
                        n += 1
                    waiting += 1
                    continue
                if a or b:
                    n = 2 * n if a else 2 * n + 1
                    continue
            else:
                for t in range((n - leaves) * leaf, (n - leaves + 1) * leaf):
                    h = height_on(corners, t, x, z)
                    if h <= high and h >= low:
                        up = upward_normal(corners, t)[1]
                        if up <= WALL:
                            if wall_found < 0 or h > wall:
                                wall, wall_found = h, t
                        elif found < 0 or h > best + SAME or up > flat or (up == flat and h > best):
                            best, flat, found = h, up, t
                            low = max(low, h - SAME)
            n = 0
            while waiting > 0 and n == 0:
                waiting -= 1
                if boxes[nodes[waiting], 4] >= low:
                    n = nodes[waiting]
        if found < 0:
            best, found = wall, wall_found
        heights[i], hit[i] = np.nan, 0
        normals[i, 0], normals[i, 1], normals[i, 2] = 0.0, 1.0, 0.0
        if found >= 0:
            heights[i], hit[i] = best, 1
            normals[i, 0], normals[i, 1], normals[i, 2] = upward_normal(corners, found)
