"""Distances between two surfaces that move: a tree over the triangles of one, built once, fitted to each pose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.jobs import Job, thread_count, worth
from marrow.kernels.nearest_points import convex_bounds, fit_tree, nearest_on_surface

__all__ = ["SurfaceParts", "SurfaceTree", "farthest", "nearest_share"]

Array = NDArray[Any]
LEAF = 4
"""Triangles in a leaf."""
SECONDS_A_POINT, SECONDS_A_BOUND = 1e-6, 2e-7
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
        self._fit = fit_tree.frame(
            triangles=self._triangles, corners=self._corners, boxes=self._boxes, leaf=LEAF
        )
        workers = thread_count(None)
        nodes, away = np.empty((workers, 64), np.int32), np.empty((workers, 64), np.float32)
        self._search = Job(
            nearest_on_surface.frame(
                boxes=self._boxes, corners=self._corners, nodes=nodes[0], away=away[0], leaf=LEAF
            ),
            "start",
            "stop",
        )
        self._search.own({"nodes": list(nodes[1:]), "away": list(away[1:])})

    def fit(self, positions: Array) -> None:
        """Takes the pose in which the vertices are at `positions (V, 3)`."""
        self._fit.put(positions=np.ascontiguousarray(positions, np.float32))
        self._fit.run()

    def distances(self, points: Array, guess: Array, *, threads: int = 1, enough: float = 0.0) -> Array:
        """How far `points (P, 3)` are from the surface, `(P,)` float32. `guess (P,)` int32 holds triangles that may be
        near (in the tree's order; -1 for no idea), and afterwards those that are. A point that is nearer than `enough`
        may be nearer than is said, but no farther: who looks for the worst need not know more of the others."""
        square = np.empty(len(points), np.float32)
        frame = self._search.frame
        frame.sizes.pop("P", None)
        frame.put(
            points=np.ascontiguousarray(points, np.float32), near=guess, square=square, enough=enough * enough
        )
        workers = worth(len(points) * SECONDS_A_POINT, threads)
        # A point without a guess is looked for near the one before: chunks are the same on any number of threads.
        self._search.run(0, len(points), step=POINTS, workers=workers)
        return np.sqrt(square)

    def bounds(self, corners: Array, near: Array, *, threads: int = 1) -> Array:
        """How far any point of triangles `(T, 3, 3)` is from the surface at most, by the triangles `near (T, 3)` of it
        alone, `(T,)` float32."""
        square = np.empty(len(corners), np.float32)
        places = np.ascontiguousarray(corners, np.float32).reshape(-1, 9)
        frame = convex_bounds.frame(
            corners=self._corners, places=places, near=np.ascontiguousarray(near, np.int32), square=square,
            start=0, stop=0,
        )  # fmt: skip
        workers = worth(len(places) * SECONDS_A_BOUND, threads)
        Job(frame, "start", "stop").run(0, len(places), step=POINTS, workers=workers)
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


class SurfaceParts(NamedTuple):
    """A surface in parts: the triangle `owner (N,)` each is of, the shares of that triangle's corners in each of its own
    `(N, 3, 3)` float32, and triangles of another surface that may be near them `(N, 3)` int32."""

    owner: Array
    share: Array
    near: Array

    @classmethod
    def whole(cls, near: Array) -> SurfaceParts:
        """All triangles of a surface as they are."""
        return cls(np.arange(len(near)), np.tile(np.eye(3, dtype=np.float32), (len(near), 1, 1)), near)

    def corners(self, places: Array) -> Array:
        """Where the corners are, `(N, 3, 3)`, of those of the triangles `(F, 3, 3)`."""
        of = places[self.owner]
        return sum(self.share[:, :, k, None] * of[:, None, k] for k in range(3))  # type: ignore[return-value]

    def some(self, which: Array) -> SurfaceParts:
        return SurfaceParts(self.owner[which], self.share[which], self.near[which])

    def split(self, there: Array) -> SurfaceParts:
        """Each in four; `there (N, 3)` is near the middles of their edges."""
        middle = (self.share + np.roll(self.share, -1, axis=1)) / 2
        return SurfaceParts(np.tile(self.owner, 4), _split(self.share, middle), _split(self.near, there))


def farthest(
    tree: SurfaceTree, places: Array, pieces: SurfaceParts, floor: float, *, threads: int = 1
) -> tuple[float, SurfaceParts]:
    """An upper bound of how far any point of triangles `places (F, 3, 3)` is from the surface of `tree`, at most two per
    cent above the truth or `floor`. `pieces` are parts of the triangles to begin with; those that told the bound are handed
    back: they tell it in a pose like this one at once.

    Where all corners are near one triangle, no point between them is farther from it than they are: that distance is
    convex. Elsewhere a distance changes no faster than the point moves, and no point is farther from all corners than the
    longest edge over the root of three. Parts that may hold the worst point by that are split in four, again and again.
    """
    corners, worst, done = pieces.corners(places), floor, []
    left = tree.bounds(corners, pieces.near, threads=threads) > worst
    done.append(pieces.some(~left))
    corners, pieces = corners[left], pieces.some(left)
    off = _distances(tree, corners, pieces.near, threads)
    for _ in range(SPLITS):
        worst = max(worst, float(off.max(initial=0.0)))
        bound = _bounds(corners, off, pieces.near)
        left = bound > CLOSE * worst
        left[left] = tree.bounds(corners[left], pieces.near[left], threads=threads) > worst
        done.append(pieces.some(~left))
        bound, corners, off, pieces = bound[left], corners[left], off[left], pieces.some(left)
        if not len(bound) or len(bound) > MOST_OPEN:
            break
        middle = (corners + np.roll(corners, -1, axis=1)) / 2  # ab, bc, ca
        there = pieces.near.copy()  # what is near a may be near ab
        found = _distances(tree, middle, there, threads)
        corners, off, pieces = _split(corners, middle), _split(off, found), pieces.split(there)
    worst = max(worst, float(off.max(initial=0.0)))
    kept = SurfaceParts(*(np.concatenate(parts) for parts in zip(*done, pieces)))
    return max(CLOSE * worst, float(_bounds(corners, off, pieces.near).max(initial=0.0))), kept


def _distances(tree: SurfaceTree, corners: Array, near: Array, threads: int) -> Array:
    """Those of all corners `(N, 3, 3)`; `near (N, 3)` is a guess, and what is near afterwards."""
    found = near.reshape(-1)
    off = tree.distances(corners.reshape(-1, 3), found, threads=threads)
    near[:] = found.reshape(-1, 3)
    return off.reshape(-1, 3)


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
