"""From a field to triangles: surface nets on a grid, pieces of different fineness stitched, vertices evened
out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samples_modeller.grid import on_grid
from samples_modeller.sdf import Array, Field, folded, newton_step, project, value_and_gradient

__all__ = [
    "Neighbours",
    "boundary_loop",
    "half_surface",
    "mirror",
    "relax",
    "stitch",
    "surface_nets",
    "triangulate",
    "unique_edges",
    "without",
]


def surface_nets(
    field: Field, low: Array, high: Array, spacing: float, *, axes: Array | None = None
) -> tuple[Array, Array]:
    """Vertices `(V, 3)` and quads `(Q, 4)` of the field's surface inside a box.

    One vertex per grid cell the surface passes through, one quad per grid edge it crosses, wound to face
    outward. Where the surface leaves the box the mesh is open. `axes` columns turn the box about the origin
    of its own coordinates.
    """
    counts = np.maximum(np.ceil((np.asarray(high) - low) / spacing).astype(int), 2)
    lines = [low[a] + spacing * np.arange(counts[a] + 1) for a in range(3)]
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
    world = grid if axes is None else grid @ np.asarray(axes).T
    value = on_grid(field(world)).reshape(counts + 1)
    inside = value < 0

    corners = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    nx, ny, nz = counts
    total = np.zeros(counts, np.int8)
    for i, j, k in corners:
        total += inside[i : i + nx, j : j + ny, k : k + nz]
    active = (total > 0) & (total < 8)
    index = np.full(active.shape, -1)
    index[active] = np.arange(active.sum())
    cells = np.argwhere(active)

    # A vertex is the mean of the points where the cell's twelve edges cross the surface.
    sums, hits = np.zeros((len(cells), 3)), np.zeros(len(cells))
    for a in corners:
        for axis in range(3):
            if a[axis]:
                continue
            b = list(a)
            b[axis] = 1
            va = value[tuple((cells + a).T)]
            vb = value[tuple((cells + b).T)]
            crossing = (va < 0) != (vb < 0)
            t = va / np.where(crossing, va - vb, 1)
            point = cells + np.asarray(a, float)
            point[:, axis] += t
            sums += np.where(crossing[:, None], point, 0)
            hits += crossing
    vertices = np.asarray(low) + spacing * sums / hits[:, None]
    if axes is not None:
        vertices = vertices @ np.asarray(axes).T

    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        first = [slice(None)] * 3
        first[axis] = slice(0, -1)
        second = list(first)
        second[axis] = slice(1, None)
        before, after = inside[tuple(first)], inside[tuple(second)]
        edges = np.argwhere(before != after)
        good = (edges[:, u] > 0) & (edges[:, v] > 0) & (edges[:, u] < counts[u]) & (edges[:, v] < counts[v])
        edges = edges[good]
        leaving = before[tuple(edges.T)]
        ring = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
            cell = edges.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            ring.append(index[tuple(cell.T)])
        quad = np.stack(ring, axis=1)
        quad[~leaving] = quad[~leaving][:, ::-1]
        quads.append(quad)
    return on_grid(vertices), np.concatenate(quads)


def half_surface(field: Field, low: Array, high: Array, spacing: float) -> tuple[Array, Array]:
    """Vertices and triangles of the left half of a symmetric surface, its edge exactly in the plane x = 0."""
    # Nodes lie half a cell to both sides of the plane, so that the first column of cells is centred on it.
    low = np.array([-spacing / 2, low[1], low[2]])
    vertices, quads = surface_nets(lambda p: field(folded(p)), low, high, spacing)
    vertices[vertices[:, 0] < spacing / 4, 0] = 0
    return vertices, triangulate(vertices, quads)


def triangulate(vertices: Array, quads: Array) -> Array:
    """Every quad cut along its shorter diagonal."""
    a, b, c, d = (vertices[quads[:, k]] for k in range(4))
    shorter = ((a - c) ** 2).sum(1) <= ((b - d) ** 2).sum(1)
    one = np.where(shorter[:, None], quads[:, [0, 1, 2]], quads[:, [0, 1, 3]])
    two = np.where(shorter[:, None], quads[:, [0, 2, 3]], quads[:, [1, 2, 3]])
    return np.concatenate([one, two])


def without(vertices: Array, triangles: Array, drop: Array) -> tuple[Array, Array]:
    """The mesh without the triangles that touch a vertex of the mask `drop`, and without vertices nobody
    uses."""
    triangles = triangles[~drop[triangles].any(axis=1)]
    used = np.zeros(len(vertices), bool)
    used[triangles] = True
    new = np.cumsum(used) - 1
    return vertices[used], new[triangles]


def boundary_loop(vertices: Array, triangles: Array, keep: Array) -> tuple[Array, bool]:
    """The open edge of a mesh through vertices of the mask `keep`, in order, and whether it closes on
    itself.

    The edge in the mirror plane x = 0 does not count; one that ends there is given from its start to its
    end.
    """
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    low, high = edges.min(1).astype(np.int64), edges.max(1).astype(np.int64)
    key = low * (int(triangles.max()) + 1) + high
    _, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    in_plane = (vertices[edges, 0] == 0).all(axis=1)
    open_edges = edges[(count[inverse] == 1) & keep[edges].all(axis=1) & ~in_plane]
    follow = dict(open_edges.tolist())
    starts = sorted(set(follow) - set(follow.values()))
    start = starts[0] if starts else min(follow)
    loop = [start]
    while loop[-1] in follow and (nxt := follow[loop[-1]]) != start:
        loop.append(nxt)
    return np.array(loop), not starts


def stitch(vertices: Array, triangles: Array, one: tuple[Array, bool], other: tuple[Array, bool]) -> Array:
    """Triangles that close the gap between two open edges, by always taking the shorter way across.

    The edges run in opposite directions, as those of two outward-facing meshes do.
    """
    (a, closed), b = one, other[0][::-1]
    if closed:
        b = np.roll(b, -int(np.argmin(((vertices[b] - vertices[a[0]]) ** 2).sum(1))))
        a, b = np.append(a, a[0]), np.append(b, b[0])
    strip = []
    i = j = 0
    while i < len(a) - 1 or j < len(b) - 1:
        across_a = ((vertices[a[i + 1]] - vertices[b[j]]) ** 2).sum() if i < len(a) - 1 else np.inf
        across_b = ((vertices[b[j + 1]] - vertices[a[i]]) ** 2).sum() if j < len(b) - 1 else np.inf
        if across_a <= across_b:
            strip.append((a[i + 1], a[i], b[j]))
            i += 1
        else:
            strip.append((a[i], b[j], b[j + 1]))
            j += 1
    return np.concatenate([triangles, np.array(strip)])


def unique_edges(triangles: Array) -> Array:
    """Every edge once, `(E, 2)`, the smaller vertex first."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).astype(
        np.int64
    )
    size = int(edges.max()) + 1
    keys = np.unique(edges.min(1) * size + edges.max(1))
    return np.stack([keys // size, keys % size], axis=1)


@dataclass(frozen=True)
class Neighbours:
    """Which vertices of a mesh share an edge: those of vertex v are `of[first[v] : first[v] + count[v]]`."""

    of: Array
    first: Array
    count: Array

    @classmethod
    def in_mesh(cls, triangles: Array) -> Neighbours:
        edges = unique_edges(triangles)
        start, end = np.concatenate([edges, edges[:, ::-1]]).T
        count = np.bincount(start)
        return cls(end[np.argsort(start, kind="stable")], np.cumsum(count) - count, count)

    def mean(self, values: Array) -> Array:
        """The mean of `values (V, C)` over the neighbours of each vertex."""
        V, C = values.shape
        # Skin weights are zero nearly everywhere: every value that is not is handed to all its neighbours.
        told = np.flatnonzero(values)
        vertex, column = np.divmod(told, C)
        copies = self.count[vertex]
        ends = np.cumsum(copies)
        nth = np.arange(ends[-1]) - np.repeat(ends - copies, copies)
        target = self.of[np.repeat(self.first[vertex], copies) + nth] * C + np.repeat(column, copies)
        total = np.bincount(target, np.repeat(values.ravel()[told], copies), minlength=V * C)
        return total.reshape(V, C) / self.count[:, None]


def relax(field: Field, vertices: Array, triangles: Array, *, rounds: int) -> Array:
    """Vertices spread evenly over the surface: pulled to their neighbours within the tangent plane and back
    onto the surface. Vertices at x = 0 stay there."""
    p = project(field, vertices, steps=2)
    middle, neighbours = p[:, 0] == 0, Neighbours.in_mesh(triangles)
    for _ in range(rounds):
        value, g = value_and_gradient(field, p)
        g[middle, 0] = 0
        n = g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-12)
        pull = neighbours.mean(p) - p
        pull -= n * (pull * n).sum(1, keepdims=True)
        pull[middle, 0] = 0
        p = p + newton_step(value, g) + 0.5 * pull
    return on_grid(project(field, p, steps=2))


def mirror(vertices: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """The whole of a half mesh (open at x = 0): vertices, triangles, and each vertex's mirror image."""
    V = len(vertices)
    off = np.flatnonzero(vertices[:, 0] != 0)
    image = np.arange(V)
    image[off] = V + np.arange(len(off))
    twins = vertices[off] * [-1, 1, 1]
    full_image = np.concatenate([image, off])
    return (
        np.concatenate([vertices, twins]),
        np.concatenate([triangles, image[triangles[:, ::-1]]]),
        full_image,
    )
