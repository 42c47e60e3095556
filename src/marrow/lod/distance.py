"""Distances between two surfaces that move: a tree over the triangles of one, built once, fitted to each pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.jobs import Job, worth
from marrow.kernels.nearest_points import fit_tree, nearest_on_surface

__all__ = ["SurfaceTree", "farthest", "nearest_share"]

Array = NDArray[Any]
LEAF = 4
"""Triangles in a leaf."""
SECONDS_A_POINT = 1e-6
POINTS = 256
"""Points that a thread measures at a time."""
CLOSE, SPLITS, MOST_OPEN = 1.02, 10, 200_000
"""How close a bound shall be, and when to give up: after so many splits, or with so many triangles left."""


def _spread(x: Array) -> Array:
    """The ten low bits of whole numbers, two zeros between each."""
    x = (x | (x << 16)) & 0x030000FF
    x = (x | (x << 8)) & 0x0300F00F
    x = (x | (x << 4)) & 0x030C30C3
    return (x | (x << 2)) & 0x09249249


def morton_order(points: Array) -> Array:
    """An order in which points that follow each other lie close together, `(N,)`."""
    low = points.min(axis=0, initial=np.inf)
    size = float((points.max(axis=0, initial=-np.inf) - low).max(initial=0.0))
    cells = ((points - low) * (1023.0 / size if size > 0 else 0.0)).astype(np.int64)
    return np.argsort(
        _spread(cells[:, 0]) | _spread(cells[:, 1]) << 1 | _spread(cells[:, 2]) << 2, kind="stable"
    )


class SurfaceTree:
    """A triangle mesh to measure distances to. Triangles that lie together at rest share boxes; boxes follow each
    pose."""

    def __init__(self, rest: Array, triangles: Array) -> None:
        self.order = morton_order(rest[triangles].mean(axis=1)) if len(triangles) else np.zeros(0, np.int64)
        self._triangles = np.ascontiguousarray(triangles[self.order], np.int32)
        leaves = 1
        while leaves * LEAF < len(triangles):
            leaves *= 2
        self._corners = np.zeros((len(triangles), 9), np.float32)
        self._boxes = np.zeros((2 * leaves, 6), np.float32)

    def fit(self, positions: Array) -> None:
        """Takes the pose in which the vertices are at `positions (V, 3)`."""
        places = np.ascontiguousarray(positions, np.float32)
        fit_tree(places, self._triangles, self._corners, self._boxes, LEAF)

    def distances(self, points: Array, guess: Array, *, threads: int = 1) -> Array:
        """How far `points (P, 3)` are from the surface, `(P,)` float32. `guess (P,)` int32 holds triangles that may be
        near (in the tree's order; -1 for no idea), and afterwards those that are."""
        square = np.empty(len(points), np.float32)
        points = np.ascontiguousarray(points, np.float32)
        workers = worth(len(points) * SECONDS_A_POINT, threads)
        nodes, away = np.empty((workers, 64), np.int32), np.empty((workers, 64), np.float32)
        frame = nearest_on_surface.frame(
            boxes=self._boxes, corners=self._corners, points=points, near=guess, square=square, nodes=nodes[0],
            away=away[0], leaf=LEAF, start=0, stop=0,
        )  # fmt: skip
        job = Job(frame, "start", "stop")
        job.own({"nodes": list(nodes[1:]), "away": list(away[1:])})
        # A point without a guess is looked for near the one before: chunks are the same on any number of threads.
        job.run(0, len(points), step=POINTS, workers=workers)
        return np.sqrt(square)


def nearest_share(corners: Array, points: Array) -> Array:
    """The shares of the corners `(N, 3)` of a point of each triangle `(N, 3, 3)` that is close to `points (N, 3)`."""
    a, b, c = (corners[:, k].astype(np.float64) for k in range(3))
    ab, ac, ap = b - a, c - a, points - a
    d00, d01, d11 = (ab * ab).sum(1), (ab * ac).sum(1), (ac * ac).sum(1)
    d20, d21 = (ap * ab).sum(1), (ap * ac).sum(1)
    area = np.maximum(d00 * d11 - d01 * d01, 1e-30)
    v, w = (d11 * d20 - d01 * d21) / area, (d00 * d21 - d01 * d20) / area
    share = np.maximum(np.stack([1 - v - w, v, w], axis=1), 0)
    return share / np.maximum(share.sum(axis=1, keepdims=True), 1e-30)


def farthest(
    tree: SurfaceTree, corners: Array, off: Array, near: Array, floor: float, *, threads: int = 1
) -> float:
    """An upper bound of how far any point of triangles `(T, 3, 3)` is from the surface of `tree`, at most two per cent
    above the truth or `floor`. At the corners the distances are `off (T, 3)`, to the triangles `near (T, 3)` of the tree.

    Where all corners are nearest to one triangle, no point between them is farther from it than they are. Elsewhere a
    distance changes no faster than the point moves, and no point is farther from all corners than the longest edge over
    the root of three. Triangles that may hold the worst point by that are split in four, again and again.
    """
    worst = max(floor, float(off.max(initial=0.0)))
    bound = _bounds(corners, off, near)
    for _ in range(SPLITS):
        left = bound > CLOSE * worst
        if not left.any() or np.count_nonzero(left) > MOST_OPEN:
            break
        corners, off, near = corners[left], off[left], near[left]
        middle = (corners + np.roll(corners, -1, axis=1)) / 2  # ab, bc, ca
        there = np.full(3 * len(middle), -1, np.int32)
        found = tree.distances(middle.reshape(-1, 3), there, threads=threads).reshape(-1, 3)
        worst = max(worst, float(found.max()))
        corners, off, near = _split(corners, middle), _split(off, found), _split(near, there.reshape(-1, 3))
        bound = _bounds(corners, off, near)
    return max(CLOSE * worst, float(bound.max(initial=0.0)))


def _bounds(corners: Array, off: Array, near: Array) -> Array:
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max(axis=1)
    one = (near[:, 0] == near[:, 1]) & (near[:, 1] == near[:, 2])
    return np.where(one, 0.0, edges / np.sqrt(3.0)) + off.max(axis=1)


def _split(at: Array, between: Array) -> Array:
    """What four triangles have at their corners, of what one has there and in the middle of its edges."""
    a, b, c = at[:, 0], at[:, 1], at[:, 2]
    ab, bc, ca = between[:, 0], between[:, 1], between[:, 2]
    return np.concatenate(
        [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    )
