"""Cutting triangles along the lines where materials meet.

A painted region is a field like a shape is: negative inside. Its border becomes a line of edges in the mesh,
so that colours end in clean curves however coarse the triangles are.
"""

from __future__ import annotations

import numpy as np

from samples_modeller.grid import on_grid
from samples_modeller.polygonize import unique_edges
from samples_modeller.sdf import Array, Field, newton_step, value_and_gradient

__all__ = ["cut"]


def cut(
    surface: Field, vertices: Array, triangles: Array, regions: list[tuple[int, Field]]
) -> tuple[Array, Array, Array]:
    """Vertices, triangles and each triangle's material, with edges along every border between materials.

    Regions are painted in order over material 0; a later one covers an earlier one.
    """
    lines: list[Array] = []
    for _, region in regions:
        vertices = _snap(surface, region, vertices, triangles, lines)
        vertices, triangles, on_line = _split(surface, region, vertices, triangles)
        lines = [np.append(line, np.zeros(len(vertices) - len(line), bool)) for line in lines] + [on_line]
    material = np.zeros(len(triangles), int)
    # No border runs through a triangle any more: its middle says where it belongs.
    middle = vertices[triangles].mean(1)
    for index, region in regions:
        material[on_grid(region(middle)) < 0] = index
    return vertices, triangles, material


def _snap(surface: Field, region: Field, vertices: Array, triangles: Array, taken: list[Array]) -> Array:
    """Vertices close to the border moved onto it, so that cutting leaves no slivers."""
    value = on_grid(region(vertices))
    edges = unique_edges(triangles)
    a, b = value[edges[:, 0]], value[edges[:, 1]]
    crossing = edges[(a < 0) != (b < 0)]
    a, b = value[crossing[:, 0]], value[crossing[:, 1]]
    t = a / (a - b)
    near = np.concatenate([crossing[t < 0.36], crossing[t > 0.64][:, ::-1]])
    share = np.concatenate([t[t < 0.36], 1 - t[t > 0.64]])
    # Each vertex takes the nearest of its crossings; those on an earlier border stay on it.
    order = np.argsort(-share, kind="stable")
    move = np.zeros_like(vertices)
    move[near[order, 0]] = share[order, None] * (vertices[near[order, 1]] - vertices[near[order, 0]])
    for line in taken:
        move[line] = 0
    move[vertices[:, 0] == 0, 0] = 0
    moved = move.any(axis=1)
    out = vertices.copy()
    out[moved] = _onto_line(surface, region, (vertices + move)[moved])
    return out


def _onto_line(surface: Field, region: Field, p: Array) -> Array:
    """Points brought to where the surface and the border meet."""
    middle = p[:, 0] == 0
    for _ in range(3):
        distance, n = value_and_gradient(surface, p)
        value, g = value_and_gradient(region, p)
        n[middle, 0] = g[middle, 0] = 0
        n_unit = n / np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
        g -= n_unit * (g * n_unit).sum(1, keepdims=True)
        across = value[:, None] * g / np.maximum((g * g).sum(1, keepdims=True), 0.1)
        p = p + newton_step(distance, n) - np.clip(across, -0.004, 0.004)
    return on_grid(p)


def _split(surface: Field, region: Field, vertices: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Triangles the border runs through, cut in two or three. Also the mask of vertices on the border."""
    value = on_grid(region(vertices))
    on_line = np.abs(value) < 2e-4
    sign = np.where(on_line, 0, np.where(value < 0, -1, 1))
    edges = unique_edges(triangles)
    crossing = edges[sign[edges[:, 0]] * sign[edges[:, 1]] < 0]
    a, b = value[crossing[:, 0]], value[crossing[:, 1]]
    t = (a / (a - b))[:, None]
    fresh = _onto_line(surface, region, vertices[crossing[:, 0]] * (1 - t) + vertices[crossing[:, 1]] * t)
    added = {tuple(e): len(vertices) + i for i, e in enumerate(crossing.tolist())}

    corner_signs = sign[triangles]
    through = (corner_signs.min(1) < 0) & (corner_signs.max(1) > 0)
    pieces: list[tuple[int, int, int]] = []
    everything = np.concatenate([vertices, fresh])
    for corners in triangles[through].tolist():
        i, j, k = corners
        cuts = [added.get((min(u, v), max(u, v))) for u, v in ((i, j), (j, k), (k, i))]
        found = [c for c in cuts if c is not None]
        if len(found) == 1:  # through a corner and the edge across from it
            e = next(n for n, c in enumerate(cuts) if c is not None)
            u, v, w, m = corners[e], corners[(e + 1) % 3], corners[(e + 2) % 3], found[0]
            pieces += [(u, m, w), (m, v, w)]
        else:  # through two edges: the corner between them comes off, a quad remains
            e = next(n for n, c in enumerate(cuts) if c is None)
            u, v, w = corners[e], corners[(e + 1) % 3], corners[(e + 2) % 3]
            right, left = cuts[(e + 1) % 3], cuts[(e + 2) % 3]
            assert right is not None
            assert left is not None
            pieces.append((left, right, w))
            p = everything
            if ((p[u] - p[right]) ** 2).sum() <= ((p[v] - p[left]) ** 2).sum():
                pieces += [(u, v, right), (u, right, left)]
            else:
                pieces += [(u, v, left), (v, right, left)]
    out = np.concatenate([triangles[~through], np.array(pieces, int).reshape(-1, 3)])
    return everything, out, np.append(on_line, np.ones(len(fresh), bool))
