"""Delaunay triangulation of the few points of a blend space, and the weights it gives to a place.

Points are taken in the order of their coordinates, whatever order they are given in, and joined one after the other to the
hull of those before; then edges are flipped until no circle around a triangle holds another point. Where four points
lie on one circle either diagonal would do: such triangles make one cell, so the result depends on the points alone.
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
    one line have no triangles, and the edges that join them in order. `cells` are the triangles, where several share
    one circle put together, so that they are as symmetric as the points: a grid has squares."""

    triangles: NDArray[np.int32]
    edges: NDArray[np.int32]
    cells: tuple[tuple[int, ...], ...]


def _area(p: NDArray[np.float64], a: int, b: int, c: int) -> float:
    """Twice the signed area."""
    return float((p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0]))


def _in_circle(p: NDArray[np.float64], a: int, b: int, c: int, d: int) -> float:
    """Positive where `d` lies inside the circle through the counter-clockwise triangle `a b c`, zero on it."""
    ax, ay, bx, by, cx, cy = (float(v) for v in (p[[a, b, c]] - p[d]).ravel())
    aa, bb, cc = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    return ax * (by * cc - bb * cy) - ay * (bx * cc - bb * cx) + aa * (bx * cy - by * cx)


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
            np.zeros((0, 3), np.int32), np.array(list(itertools.pairwise(line)), np.int32).reshape(-1, 2), ()
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
        np.array(sorted(triangles), np.int32),
        np.array(list(zip(hull, hull[1:] + hull[:1])), np.int32),
        _cells(p, triangles),
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


def _across(triangles: list[tuple[int, int, int]]) -> dict[tuple[int, int], int]:
    """For each directed edge the triangle on its left."""
    return {edge: t for t, (a, b, c) in enumerate(triangles) for edge in ((a, b), (b, c), (c, a))}


def _opposite(triangle: tuple[int, int, int], a: int, b: int) -> int:
    return next(v for v in triangle if v not in (a, b))


def _flip(p: NDArray[np.float64], triangles: list[tuple[int, int, int]]) -> None:
    """Flips edges until every triangle's circle is empty."""
    across = _across(triangles)
    waiting = sorted(across)
    for _ in range(40 * len(waiting) ** 2 + 64):
        if not waiting:
            return
        a, b = waiting.pop()
        if (a, b) not in across or (b, a) not in across:
            continue
        t, s = across[a, b], across[b, a]
        c, d = _opposite(triangles[t], a, b), _opposite(triangles[s], a, b)
        convex = _area(p, c, a, d) > FLAT and _area(p, d, b, c) > FLAT
        if not convex or _in_circle(p, a, b, c, d) <= FLAT:
            continue
        for edge in ((a, b), (b, a)):
            del across[edge]
        triangles[t], triangles[s] = (c, a, d), (d, b, c)
        for number in (t, s):
            u, v, w = triangles[number]
            across[u, v] = across[v, w] = across[w, u] = number
        waiting += [(c, a), (a, d), (d, b), (b, c)]


def _cells(p: NDArray[np.float64], triangles: list[tuple[int, int, int]]) -> tuple[tuple[int, ...], ...]:
    """The triangles, those that share a circle put together; each counter-clockwise from its first corner."""
    across = _across(triangles)
    group = list(range(len(triangles)))

    def root(t: int) -> int:
        while group[t] != t:
            t = group[t]
        return t

    for (a, b), t in across.items():
        if a < b and (b, a) in across:
            s = across[b, a]
            if abs(_in_circle(p, *triangles[t], _opposite(triangles[s], a, b))) <= FLAT:
                group[root(t)] = root(s)
    around: dict[int, dict[int, int]] = {}
    for (a, b), t in across.items():
        if (b, a) not in across or root(across[b, a]) != root(t):
            around.setdefault(root(t), {})[a] = b
    cells = []
    for following in around.values():
        first = min(following)
        cell = [first]
        while following[cell[-1]] != first:
            cell.append(following[cell[-1]])
        cells.append(tuple(cell))
    return tuple(sorted(cells))
