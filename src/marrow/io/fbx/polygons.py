"""Triangles from polygons: the better diagonal for quads, ear clipping for what a fan would get wrong."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.kernels.backend import backend
from marrow.math.elementary import dot

__all__ = ["triangulate"]

Array = NDArray[Any]
# Clipping ears takes the square of the corners. Beyond this a polygon is no model's, and a fan has to do.
_MAX_EARS = 2000
_CORNERS_AT_ONCE = 1 << 18
# What cutting ears may take in a mesh of any size, and what each of its corners adds.
_BASE_SECONDS, _SECONDS_PER_CORNER = 8.0, 1e-5


def triangulate(first: Array, count: Array, control: Array, points: Array) -> tuple[Array, Array]:
    """Corner numbers `(T, 3)` of the triangles of all polygons, and the polygon `(T,)` each belongs to, in
    order.

    Polygon f has the corners `first[f] .. first[f] + count[f] - 1`, corner c is at `points[control[c]]`. Polygons of
    fewer than three corners have no triangles.
    """
    if len(first) and (int(first.min()) < 0 or int((first + count).max()) > len(control)):
        raise FormatError("has polygons with corners that are not there")
    made = np.maximum(count - 2, 0)
    if backend().name == "numpy":
        corners, owner, large = _split(first, count, made, points[control])
    else:
        from marrow.kernels.polygon_meshes import split_faces

        total, many = int(made.sum()), int((count > 4).sum())
        corners, owner = np.empty((total, 3), np.int64), np.empty(total, np.int64)
        large = np.empty((many, 2), np.int64)
        split_faces(first, count, control, points, corners, owner, large)
    if len(large):
        _clip_large(corners, large, first, count, control, points)
    return corners, owner


def _split(first: Array, count: Array, made: Array, corner_points: Array) -> tuple[Array, Array, Array]:
    """What the kernel `split_faces` does: fans for all but quads, and a list of what may need more."""
    owner = np.repeat(np.arange(len(first)), made)
    starts = np.cumsum(made) - made
    step = np.arange(len(owner)) - starts[owner]
    corners = first[owner][:, None] + np.stack([np.zeros_like(step), step + 1, step + 2], axis=1)
    quads = np.flatnonzero(count == 4)
    if len(quads):
        place = starts[quads][:, None] + np.arange(2)
        corners[place] = _split_quads(first[quads], corner_points)
    large = np.flatnonzero(count > 4)
    return corners, owner, np.stack([large, starts[large]], axis=1)


def _clip_large(
    corners: Array, large: Array, first: Array, count: Array, control: Array, points: Array
) -> None:
    """Replaces the fans of polygons that a fan gets wrong; polygons of as many corners are looked at together."""
    faces, places = large[:, 0], large[:, 1]
    sizes = count[faces]
    seconds = _BASE_SECONDS + _SECONDS_PER_CORNER * len(control)
    until = time.thread_time() + seconds
    for n in np.unique(sizes[sizes <= _MAX_EARS]).tolist():
        chosen = np.flatnonzero(sizes == n)
        most = max(1, _CORNERS_AT_ONCE // n)
        for some in (chosen[i : i + most] for i in range(0, len(chosen), most)):
            begin = first[faces[some]]
            flat, bent = _flattened(points[control[begin[:, None] + np.arange(n)]])
            for k in np.flatnonzero(bent).tolist():
                place = int(places[some[k]])
                corners[place : place + n - 2] = _clip_ears(flat[k]) + begin[k]
                if time.thread_time() > until:
                    raise ResourceLimitError(
                        f"has polygons that take more than {seconds:.0f} seconds to cut into triangles",
                        remedy="triangulate it before exporting",
                    )


def _flattened(polygons: Array) -> tuple[Array, Array]:
    """Polygons `(F, n, 3)` seen along their normals, `(F, n, 2)`, and which of them `(F,)` are not convex."""
    # Newell's normal: right for concave and slightly bent polygons alike.
    following = np.roll(polygons, -1, axis=1)
    normal = np.cross(polygons, following).sum(1)
    length = np.sqrt(dot(normal, normal))
    usable = np.isfinite(length) & (length != 0)
    normal = normal / np.where(usable, length, 1)[:, None]
    side = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal), axis=1)])
    up = np.cross(normal, side)
    flat = np.stack([dot(polygons, side[:, None]), dot(polygons, up[:, None])], axis=2)
    turns = _turn(np.roll(flat, 1, axis=1), flat, np.roll(flat, -1, axis=1))
    return flat, usable & ~(turns >= 0).all(1)


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
