"""Triangles from polygons: the better diagonal for quads, ear clipping for what a fan would get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math.elementary import dot

__all__ = ["triangulate"]

Array = NDArray[Any]
# Clipping ears takes the square of the corners. Beyond this a polygon is no model's, and a fan has to do.
_MAX_EARS = 2000


def triangulate(first: Array, count: Array, points: Array) -> tuple[Array, Array]:
    """Corner numbers `(T, 3)` of the triangles of all polygons, and the polygon `(T,)` each belongs to, in
    order.

    Polygon f has the corners `first[f] .. first[f] + count[f] - 1`, whose positions are `points (corners,
    3)`. Polygons of fewer than three corners have no triangles.
    """
    corners, owners = [], []
    faces = np.flatnonzero(count == 3)
    corners.append(first[faces, None] + np.arange(3))
    owners.append(faces)
    faces = np.flatnonzero(count == 4)
    if len(faces):
        corners.append(_split_quads(first[faces], points).reshape(-1, 3))
        owners.append(np.repeat(faces, 2))
    for face in np.flatnonzero(count > 4).tolist():
        n, start = int(count[face]), int(first[face])
        triangles = _split_polygon(points[start : start + n]) + start
        corners.append(triangles)
        owners.append(np.full(len(triangles), face))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(corners)[order], owner[order]


def _split_quads(first: Array, points: Array) -> Array:
    """Two triangles `(F, 2, 3)` for each quad: across the first diagonal unless only the other is inside."""
    # x, y and z apart, (3, F) for each corner: long rows multiply quicker than many triples.
    rows = np.ascontiguousarray(points.T)
    p = [rows[:, first + k] for k in range(4)]

    def cross(u: Array, v: Array) -> Array:
        return np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])

    def facing(a: int, b: int, c: int, d: int) -> Array:
        """How well the triangles abc and acd agree on which side is up."""
        diagonal = p[c] - p[a]
        return np.asarray((cross(p[b] - p[a], diagonal) * cross(diagonal, p[d] - p[a])).sum(0))

    other = facing(0, 1, 2, 3) <= 0
    other &= facing(1, 2, 3, 0) > 0
    pattern = np.where(other[:, None], [0, 1, 3, 1, 2, 3], [0, 1, 2, 0, 2, 3])
    return (first[:, None] + pattern).reshape(-1, 2, 3)


def _split_polygon(points: Array) -> Array:
    n = len(points)
    fan = np.stack([np.zeros(n - 2, np.int64), np.arange(1, n - 1), np.arange(2, n)], axis=1)
    # Newell's normal: right for concave and slightly bent polygons alike.
    following = np.roll(points, -1, axis=0)
    normal = np.cross(points, following).sum(0)
    length = np.sqrt(dot(normal, normal))
    if not np.isfinite(length) or length == 0 or n > _MAX_EARS:
        return fan
    normal = normal / length
    side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    flat = np.stack([dot(points, side), dot(points, np.cross(normal, side))], axis=1)
    if (_turn(np.roll(flat, 1, axis=0), flat, np.roll(flat, -1, axis=0)) >= 0).all():
        return fan
    return _clip_ears(flat)


def _turn(a: Array, b: Array, c: Array) -> Array:
    """Positive where the way a, b, c turns left."""
    ab, ac = b - a, c - a
    return np.asarray(ab[..., 0] * ac[..., 1] - ab[..., 1] * ac[..., 0])


def _clip_ears(flat: Array) -> Array:
    left = list(range(len(flat)))
    triangles = []
    while len(left) > 3:
        ring = flat[left]
        before, after = np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0)
        convex = np.flatnonzero(_turn(before, ring, after) > 0)
        ear = next((int(i) for i in convex if _is_empty(ring, int(i))), None)
        if ear is None:  # the outline crosses itself: any corner is as good as another
            ear = int(convex[0]) if len(convex) else 0
        n = len(left)
        triangles.append((left[ear - 1], left[ear], left[(ear + 1) % n]))
        del left[ear]
    triangles.append((left[0], left[1], left[2]))
    return np.array(triangles, np.int64)


def _is_empty(ring: Array, i: int) -> bool:
    """Whether no other corner lies inside the ear at corner i."""
    n = len(ring)
    a, b, c = ring[i - 1], ring[i], ring[(i + 1) % n]
    others = np.delete(ring, [(i - 1) % n, i, (i + 1) % n], axis=0)
    # A corner that coincides with one of the ear's own does not stand in its way (polygons with a bridge to a
    # hole).
    apart = (others != a).any(1) & (others != b).any(1) & (others != c).any(1)
    inside = (_turn(a, b, others) >= 0) & (_turn(b, c, others) >= 0) & (_turn(c, a, others) >= 0)
    return not (inside & apart).any()
