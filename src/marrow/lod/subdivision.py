"""Catmull-Clark subdivision of polygons, with creases, boundaries, and attributes that have seams of their own.

One step is linear: each new point is a weighted sum of old ones. So what was worked out for the corners of a mesh
(`Step`) is applied to
positions, offsets of morph targets and skin weights alike. Rules are those of OpenSubdiv, as ufbx has them; a crease of
1 and above is
sharp, each step takes 1 from it, and `SHARP` stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["SHARP", "Boundary", "CagePolygons", "Layer", "Step", "smooth_normals", "subdivide_polygons"]

Array = NDArray[Any]
SHARP = 10.0
"""A crease that no step softens."""


class Boundary:
    """What is sharp at borders, as ufbx numbers it: corners, nothing, whole borders, everything (linear)."""

    DEFAULT, LEGACY, SHARP_CORNERS, SHARP_NONE, SHARP_BOUNDARY, SHARP_INTERIOR = range(6)


@dataclass(frozen=True)
class CagePolygons:
    """Polygons corner by corner: `count (F,)` corners of each, one polygon after the other; `point (K,)` of each
    corner; how sharp the edge
    from each corner to the next is (`crease (K,)`), and the point at it (`point_crease (K,)`)."""

    count: Array
    point: Array
    crease: Array | None = None
    point_crease: Array | None = None

    @property
    def face(self) -> Array:
        """The polygon of each corner."""
        return np.repeat(np.arange(len(self.count)), self.count)

    @property
    def neighbours(self) -> tuple[Array, Array]:
        """The next and the previous corner of each."""
        first = np.cumsum(self.count) - self.count
        K = len(self.point)
        after, before = np.arange(1, K + 1), np.arange(-1, K - 1)
        after[first + self.count - 1] = first
        before[first] = first + self.count - 1
        return after, before


@dataclass(frozen=True)
class _Topology:
    """`twin (K,)`: the corner whose edge is the same the other way round, -1 at borders; `odd (K,)`: edges of more than
    two polygons, or of two
    that are wound differently."""

    polygons: CagePolygons
    face: Array
    after: Array
    before: Array
    twin: Array
    odd: Array


def _topology(polygons: CagePolygons) -> _Topology:
    after, before = polygons.neighbours
    a, b = polygons.point, polygons.point[after]
    low, high = np.minimum(a, b), np.maximum(a, b)
    key = low.astype(np.int64) * (int(high.max(initial=0)) + 1) + high
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    starts = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(key) else order
    sizes = np.diff(np.append(starts, len(key)))
    twin = np.full(len(key), -1, np.int64)
    one, other = order[starts[sizes == 2]], order[starts[sizes == 2] + 1]
    opposite = (a[one] != a[other]) & (low[one] != high[one])
    odd = np.zeros(len(key), bool)
    odd[order[np.repeat(sizes > 2, sizes)]] = True
    odd[one[~opposite]] = odd[other[~opposite]] = True
    one, other = one[opposite], other[opposite]
    twin[one], twin[other] = other, one
    return _Topology(polygons, polygons.face, after, before, twin, odd)


@dataclass(frozen=True)
class Step:
    """New values of old ones: those of polygons, then of edges, then of points. `index (4K,)` names the value at each
    new corner."""

    index: Array
    face: tuple[Array, Array, Array]
    edge: tuple[Array, Array, Array, Array, Array, Array]
    point: tuple[Array, Array, Array, Array]
    around: tuple[Array, Array, Array]
    beside: tuple[Array, Array]

    def __call__(self, values: Array) -> Array:
        """The new values `(n, C)`."""
        return np.stack([self._column(np.ascontiguousarray(c, np.float64)) for c in values.T], axis=1)

    def _column(self, old: Array) -> Array:
        face, corner, share = self.face
        faces = np.bincount(face, old[corner], minlength=len(share)) * share
        a, b, left, right, along, across = self.edge
        edges = along * (old[a] + old[b]) + across * (faces[left] + faces[right])
        own, keep, spread, creased = self.point
        row, near, sharp = self.around
        sector, beside = self.beside
        S = len(own)
        sums = np.bincount(row, old[near], minlength=S) + np.bincount(sector, faces[beside], minlength=S)
        bent = np.bincount(row[sharp], old[near[sharp]], minlength=S)
        return np.concatenate([faces, edges, keep * old[own] + spread * sums + creased * bent])


def _step(topology: _Topology, index: Array, boundary: int, *, positions: bool) -> Step:
    """The step of one layer, whose value at each corner `index (K,)` names."""
    t, polygons = topology, topology.polygons
    F, K = len(polygons.count), len(index)
    corners = np.arange(K)
    paired = t.twin >= 0
    across = np.where(paired, t.twin, corners)
    split = paired & ((index != index[t.after[across]]) | (index[t.after] != index[across]))
    open_ = ~paired | split
    crease = np.zeros(K) if polygons.crease is None else polygons.crease
    sharpness = np.where(open_, 1.0, crease)
    linear = boundary == Boundary.SHARP_INTERIOR
    # Edges: one for both sides unless they are apart.
    own_edge = open_ | (corners < across)
    number = np.cumsum(own_edge) - 1
    edge_of = np.where(own_edge, number, number[across])
    e = np.flatnonzero(own_edge)
    bend = np.clip(np.ones(len(e)) if linear else sharpness[e], 0, 1)
    along = 0.25 + 0.25 * bend
    edge = (index[e], index[t.after[e]], t.face[e], t.face[across[e]], along, 0.5 - along)
    # Points: a sector is what lies between open edges.
    sector, S = _sectors(t, open_)
    own = np.empty(S, np.int64)
    own[sector] = index
    ending = open_[t.before]
    row = np.concatenate([sector, sector[ending]])
    near = np.concatenate([index[t.after], index[t.before[ending]]])
    sharp_there = np.concatenate([sharpness, sharpness[t.before[ending]]])
    valence = np.bincount(row, minlength=S).astype(np.float64)
    sharp = sharp_there > 0
    creases = np.bincount(row[sharp], minlength=S)
    total = np.bincount(row, sharp_there, minlength=S)
    rim = np.bincount(sector[open_ | ending], minlength=S) > 0
    odd = np.bincount(sector[t.odd | t.odd[t.before]], minlength=S) > 0
    corner = (creases > 2) | odd
    if positions:
        fans = np.bincount(own, minlength=int(index.max(initial=0)) + 1)
        corner |= fans[own] > 1
    if boundary in (Boundary.SHARP_CORNERS, Boundary.SHARP_BOUNDARY):
        corner |= rim & (valence == 2)
    if boundary == Boundary.SHARP_BOUNDARY:
        corner |= rim
    corner |= linear
    bend = np.where(creases == 2, np.clip(total * 0.5, 0, 1), 0.0)
    keep = (valence - 2) / valence * (1 - bend) + 0.75 * bend
    spread = (1 - bend) / (valence * valence)
    creased = 0.125 * bend
    stay = corner.astype(np.float64)
    if polygons.point_crease is not None:
        held = np.zeros(S)
        np.maximum.at(held, sector, polygons.point_crease)
        stay = np.maximum(stay, np.clip(held, 0, 1))
    keep, spread, creased = stay + keep * (1 - stay), spread * (1 - stay), creased * (1 - stay)
    if positions:  # fans that meet in a point stay together there
        merged, sector_point = np.unique(own, return_inverse=True)
        if len(merged) < S:
            first = np.zeros(len(merged), np.int64)
            first[sector_point[::-1]] = np.arange(S)[::-1]
            keep, spread, creased, own = keep[first], spread[first], creased[first], own[first]
            sector, row, S = sector_point[sector], sector_point[row], len(merged)
    made = np.empty((K, 4), np.int64)
    E = len(e)
    made[:, 0] = F + E + sector
    made[:, 1] = F + edge_of
    made[:, 2] = t.face
    made[:, 3] = F + edge_of[t.before]
    return Step(
        made.reshape(-1),
        (t.face, index, 1.0 / polygons.count),
        edge,
        (own, keep, spread, creased),
        (row, near, sharp),
        (sector, t.face),
    )


def _sectors(t: _Topology, open_: Array) -> tuple[Array, int]:
    """The sector of each corner: corners about one point, with no open edge between them."""
    K = len(open_)
    label = np.arange(K)
    closed = np.flatnonzero(~open_)
    beside = t.after[t.twin[closed]]
    while True:
        low = np.minimum(label[closed], label[beside])
        new = label.copy()
        np.minimum.at(new, closed, low)
        np.minimum.at(new, beside, low)
        new = new[new]
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    kept, sector = np.unique(label, return_inverse=True)
    return sector.reshape(-1), len(kept)


def _softer(crease: Array) -> Array:
    return np.where(crease >= SHARP - 0.01, crease, np.maximum(crease - 1, 0))


@dataclass(frozen=True)
class Layer:
    """Values at corners: `values (n, C)`, and `index (K,)` of the one at each corner. Where those of two sides of an
    edge differ, there is a seam."""

    values: Array
    index: Array

    def joined(self) -> Layer:
        """The layer with equal values as one, so that seams are where values differ."""
        rows = np.ascontiguousarray(self.values, np.float64)
        packed = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).reshape(-1)
        _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
        return Layer(rows[first], inverse.reshape(-1)[self.index])


def subdivide_polygons(
    polygons: CagePolygons,
    levels: int,
    layers: tuple[Layer, ...] = (),
    *,
    boundary: int = Boundary.DEFAULT,
    layer_boundary: int = Boundary.SHARP_BOUNDARY,
) -> tuple[CagePolygons, list[Step], tuple[Layer, ...], Array]:
    """The polygons after so many steps, all quads; the steps for their points; the layers; and for each quad the
    polygon it comes from."""
    steps: list[Step] = []
    source = np.arange(len(polygons.count))
    layers = tuple(layer.joined() for layer in layers)
    for _ in range(levels):
        topology = _topology(polygons)
        step = _step(topology, polygons.point, boundary, positions=True)
        made = []
        for layer in layers:
            own = _step(topology, layer.index, layer_boundary, positions=False)
            made.append(Layer(own(layer.values), own.index))
        layers = tuple(made)
        steps.append(step)
        source = source[topology.face]
        polygons = _next(polygons, topology, step.index)
    return polygons, steps, layers, source


def _next(polygons: CagePolygons, t: _Topology, index: Array) -> CagePolygons:
    K = len(polygons.point)
    made = CagePolygons(np.full(K, 4, np.int64), index)
    if polygons.crease is not None:
        softer = _softer(polygons.crease)
        crease = np.zeros((K, 4))
        crease[:, 0], crease[:, 3] = softer, softer[t.before]
        made = replace(made, crease=crease.reshape(-1))
    if polygons.point_crease is not None:
        held = np.zeros((K, 4))
        held[:, 0] = _softer(polygons.point_crease)
        made = replace(made, point_crease=held.reshape(-1))
    return made


def smooth_normals(polygons: CagePolygons, points: Array) -> Array:
    """A normal for each point, of all polygons about it by their size (Newell's)."""
    after, _ = polygons.neighbours
    a, b = points[polygons.point], points[polygons.point[after]]
    newell = np.cross(a, b)
    face = polygons.face
    sums = np.stack(
        [np.bincount(face, newell[:, c], minlength=len(polygons.count)) for c in range(3)], axis=1
    )
    shares = sums[face]
    total = np.stack(
        [np.bincount(polygons.point, shares[:, c], minlength=len(points)) for c in range(3)], axis=1
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.where(length > 0, total / np.where(length > 0, length, 1), [0.0, 0.0, 1.0])
