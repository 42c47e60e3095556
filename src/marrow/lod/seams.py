"""Closing seams where they stand in the way.

A vertex with several normals or texture coordinates is several vertices at one place, and meshoptimizer keeps such
seams. A mesh whose every edge is one (flat shading, say) could then not be reduced at all. So where seams leave too
many triangles, they are closed: first those of normals, then those of textures. Corners of what is left take the
vertex that fits them best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.lod.meshoptimizer import Pool
from marrow.model import Character

__all__ = ["CLOSED", "Seams", "connected"]

Array = NDArray[Any]
CLOSED = ("", "seams of normals were closed", "seams of normals and textures were closed")


class Seams:
    """The vertices of a pool as one where they differ in normals only (`welded(1)`) or lie at one place
    (`welded(2)`)."""

    def __init__(self, pool: Pool, level: Character, rest: Array, normals: Array | None) -> None:
        self.pool, self.rest = pool, rest[pool.vertices].astype(np.float64)
        self._normals = None if normals is None else np.nan_to_num(normals[pool.vertices].astype(np.float64))
        skin, texture = _keys(level)
        part, place = pool.part, pool.place
        self._weld = [
            np.arange(len(pool.vertices)),
            _first_of(np.stack([part, place, skin[pool.vertices], texture[pool.vertices]], axis=1)),
            _first_of(np.stack([part, place, skin[pool.vertices]], axis=1)),
        ]
        self._islands: Array | None = None

    def welded(self, stage: int) -> Array:
        """For every vertex of the pool the one that stands for it."""
        return self._weld[stage]

    def cornered(self, stage: int, triangles: Array) -> Array:
        """Triangles of vertices that stand for others, with the vertex at each corner that fits it best."""
        if stage == 0 or not len(triangles):
            return triangles
        if stage == 2:
            triangles = self._on_islands(triangles)
        return self._by_normal(triangles, self._weld[1])

    def _by_normal(self, triangles: Array, weld: Array) -> Array:
        if self._normals is None:
            return triangles
        a, b, c = (self.rest[triangles[:, k]] for k in range(3))
        facing = np.cross(b - a, c - a)
        order = np.argsort(weld, kind="stable")
        starts = np.searchsorted(weld[order], triangles)
        ends = np.searchsorted(weld[order], triangles, side="right")
        best, fit = triangles.copy(), np.full(triangles.shape, -np.inf)
        for k in range(int((ends - starts).max(initial=0))):
            there = starts + k < ends
            candidate = order[np.minimum(starts + k, len(order) - 1)]
            score = np.where(there, (self._normals[candidate] * facing[:, None]).sum(axis=-1), -np.inf)
            better = score > fit
            best, fit = np.where(better, candidate, best), np.where(better, score, fit)
        return best

    def _on_islands(self, triangles: Array) -> Array:
        """Corners on one island of the texture where there is one that all three places lie on."""
        if self._islands is None:
            self._islands = connected(self._weld[1][self.pool.triangles], len(self.pool.vertices))
        islands, by_place = self._islands, self._weld[2]
        here: dict[int, dict[int, int]] = {}
        for v in np.unique(self._weld[1]).tolist():
            here.setdefault(int(by_place[v]), {}).setdefault(int(islands[v]), v)
        out = triangles.copy()
        for row in out:
            choices = [here[int(by_place[v])] for v in row]
            common = set.intersection(*(set(c) for c in choices)) or set.intersection(
                *(set(c) for c in choices[:2])
            )
            island = min(common, default=-1)
            for k in range(3):
                row[k] = choices[k].get(island, row[k])
        return out


def _keys(level: Character) -> tuple[Array, Array]:
    """Numbers that are the same for vertices with the same skin, and with the same texture coordinates, `(V,)` each."""
    skins, textures = [], []
    for m in level.meshes:
        skins.append(_numbered(np.concatenate([m.joints.astype(np.float32), m.weights], axis=1)))
        uvs = [*m.uvs, np.zeros((m.vertex_count, 1), np.float32)]
        textures.append(_numbered(np.concatenate(uvs, axis=1)))
    empty = np.zeros(0, np.int64)
    return np.concatenate([*skins, empty]), np.concatenate([*textures, empty])


def _numbered(rows: Array) -> Array:
    rows = np.ascontiguousarray(rows, np.float32)
    _, out = np.unique(rows.view(np.dtype((np.void, 4 * rows.shape[1]))).ravel(), return_inverse=True)
    return out.ravel().astype(np.int64)


def _first_of(keys: Array) -> Array:
    """For each row of `keys` the number of the first row that is the same."""
    rows = np.ascontiguousarray(keys, np.int64)
    flat = rows.view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    return first[inverse.ravel()]


def connected(triangles: Array, count: int) -> Array:
    """For every vertex the least vertex that triangles connect it with, `(count,)`."""
    label = np.arange(count)
    while True:
        low = label[triangles].min(axis=1)
        before = label.copy()
        for k in range(3):
            np.minimum.at(label, triangles[:, k], low)
        label = label[label]
        if np.array_equal(label, before):
            return label
