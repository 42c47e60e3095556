"""Delaunay triangulation of the few points of a blend space, and the weights it gives to a place.

Points are taken in the order of their coordinates, whatever order they are given in, and joined one after the other to the
hull of those before; then edges are flipped until no circle around a triangle holds another point. Where four points
lie on one circle either diagonal would do: the one found first stays, so the result depends on the points alone.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Triangulation", "triangulate"]

FLAT = 1e-9
"""Of the unit square the points are scaled to: what has less area is a line."""


@dataclass(frozen=True, eq=False)
class Triangulation:
    """`triangles (T, 3)`, counter-clockwise, and the `edges (E, 2)` around them, as numbers of the points given. Points on
    one line have no triangles, and the edges that join them in order."""

    triangles: NDArray[np.int32]
    edges: NDArray[np.int32]


def _area(p: NDArray[np.float64], a: int, b: int, c: int) -> float:
    """Twice the signed area."""
    return float((p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0]))


def _inside_circle(p: NDArray[np.float64], a: int, b: int, c: int, d: int) -> bool:
    """Whether `d` lies inside the circle through the counter-clockwise triangle `a b c`, by more than rounding."""
    m = p[[a, b, c]] - p[d]
    lifted = np.column_stack([m, (m * m).sum(axis=1)])
    return bool(np.linalg.det(lifted) > FLAT)


def triangulate(points: NDArray[np.float64]) -> Triangulation:
    """Joins `points (P, 2)`, all different, to triangles."""
    points = np.asarray(points, np.float64)
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    # Axes may have different units: the square they span is what counts.
    p = (points - low) / np.where(extent > 0, extent, 1)
    order = [int(i) for i in np.lexsort((points[:, 1], points[:, 0]))]
    line = [order[0]]
    rest = order[1:]
    while rest and (len(line) < 2 or abs(_area(p, line[0], line[1], rest[0])) <= FLAT):
        line.append(rest.pop(0))
    if not rest:
        return Triangulation(
            np.zeros((0, 3), np.int32), np.array(list(itertools.pairwise(line)), np.int32).reshape(-1, 2)
        )
    apex = rest.pop(0)
    left = _area(p, line[0], line[1], apex) > 0
    triangles = [(a, b, apex) if left else (b, a, apex) for a, b in itertools.pairwise(line)]
    hull = [*line, apex] if left else [*reversed(line), apex]
    for q in rest:
        hull, new = _join(p, hull, q)
        triangles += new
    _flip(p, triangles)
    return Triangulation(
        np.array(sorted(triangles), np.int32), np.array(list(zip(hull, hull[1:] + hull[:1])), np.int32)
    )


def _join(p: NDArray[np.float64], hull: list[int], q: int) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Joins a point outside to the edges of the hull that it sees."""
    n = len(hull)
    seen = [_area(p, hull[k], hull[(k + 1) % n], q) < -FLAT for k in range(n)]
    if not any(seen):
        # On the line of an edge, beyond its end: rounding hides the edges it sees by a hair.
        areas = [_area(p, hull[k], hull[(k + 1) % n], q) for k in range(n)]
        seen[int(np.argmin(areas))] = True
    new = [(hull[(k + 1) % n], hull[k], q) for k in range(n) if seen[k]]
    first = next(k for k in range(n) if seen[k] and not seen[k - 1])
    last = first
    while seen[last % n]:
        last += 1
    kept = [hull[(last + k) % n] for k in range(n - (last - first) + 1)]
    return [*kept, q], new


def _flip(p: NDArray[np.float64], triangles: list[tuple[int, int, int]]) -> None:
    """Flips edges until every triangle's circle is empty."""
    for _ in range(4 * len(triangles) ** 2 + 16):
        across = {}
        for t, (a, b, c) in enumerate(triangles):
            across[a, b], across[b, c], across[c, a] = (t, c), (t, a), (t, b)
        for (a, b), (t, c) in sorted(across.items()):
            if a > b or (b, a) not in across:
                continue
            s, d = across[b, a]
            convex = _area(p, c, a, d) > FLAT and _area(p, d, b, c) > FLAT
            if convex and _inside_circle(p, a, b, c, d):
                triangles[t], triangles[s] = (c, a, d), (d, b, c)
                break
        else:
            return
