"""Distances between two surfaces that move: a tree over the triangles of one, built once, fitted to each pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.surfaces import fit_tree, nearest_on_surface
from marrow.skinning.threads import run_split

__all__ = ["SurfaceTree", "nearest_share"]

Array = NDArray[Any]
LEAF = 4
"""Triangles in a leaf."""
SECONDS_A_POINT = 1e-6


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

        def work(start: int, stop: int) -> None:
            room = np.empty(64, np.int32), np.empty(64, np.float32)
            nearest_on_surface(self._boxes, self._corners, points, guess, square, *room, LEAF, start, stop)

        run_split(work, len(points), len(points) * SECONDS_A_POINT, threads)
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
