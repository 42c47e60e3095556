"""The mannequin's materials, and the cutting of triangles along the lines where they meet.

A painted region is a field like a shape is: negative inside. Its border becomes a line of edges in the mesh,
so that colours end in clean curves however coarse the triangles are.
"""

from __future__ import annotations

import numpy as np

from marrow.model import Material
from marrow.samples import rig
from marrow.samples.polygonize import unique_edges
from marrow.samples.rig import LANDMARKS
from marrow.samples.sdf import Array, Field, newton_step, value_and_gradient

__all__ = ["ACCENT", "JOINT", "MATERIALS", "SHELL", "VISOR", "cut"]

SHELL, JOINT, ACCENT, VISOR = range(4)

MATERIALS = (
    Material("shell", (0.80, 0.765, 0.70, 1.0), metallic=0.0, roughness=0.55),
    Material("joint", (0.055, 0.068, 0.085, 1.0), metallic=0.1, roughness=0.6),
    Material("accent", (0.86, 0.205, 0.115, 1.0), metallic=0.0, roughness=0.45),
    Material("visor", (0.012, 0.12, 0.14, 1.0), metallic=0.4, roughness=0.15),
)


def _slab(start: Array, end: Array, low: float, high: float, radius: float) -> Field:
    """A disc across a limb: between `low` and `high` metres along it, within `radius` of its axis."""
    axis = (end - start) / np.linalg.norm(end - start)
    middle, half = (low + high) / 2, (high - low) / 2

    def field(p: Array) -> Array:
        along = (p - start) @ axis
        off = np.linalg.norm(p - start - along[:, None] * axis, axis=1)
        return np.maximum(np.abs(along - middle) - half, off - radius)  # type: ignore[no-any-return]

    return field


def _regions() -> list[tuple[int, Field]]:
    """Painted in this order; a later region covers an earlier one."""
    at = {k: np.array(v) for k, v in LANDMARKS.items()}
    shoulder, elbow, wrist = rig.arm_points()

    def waist(p: Array) -> Array:
        # Lower in front than at the sides, like the waistband of a suit.
        height = p[:, 1] - 1.085 - 1.1 * p[:, 0] ** 2
        return np.maximum(np.abs(height) - 0.036, p[:, 0] - 0.25)

    def neck(p: Array) -> Array:
        rise = p[:, 1] - 1.512 + 0.22 * p[:, 2]
        return np.maximum(np.abs(rise) - 0.042, np.hypot(p[:, 0], p[:, 2]) - 0.13)

    def chest(p: Array) -> Array:
        chevron = p[:, 1] - 1.305 - 0.55 * p[:, 0]
        return np.maximum(np.maximum(np.abs(chevron) - 0.014, -p[:, 2]), p[:, 0] - 0.20)

    def visor(p: Array) -> Array:
        y, across = p[:, 1] - 1.691 - 0.05 * p[:, 0], np.maximum(p[:, 0] - 0.050, 0)
        return np.maximum(np.hypot(y, across * 0.9) - 0.0215, 0.0 - p[:, 2])

    def sole(p: Array) -> Array:
        return p[:, 1] - 0.018 - 0.05 * np.maximum(-p[:, 2], 0)

    return [
        (JOINT, waist),
        (JOINT, neck),
        (JOINT, _slab(elbow, wrist, -0.04, 0.036, 0.09)),
        (JOINT, _slab(elbow, wrist, 0.222, 0.262, 0.06)),
        (JOINT, _slab(at["knee"], at["ankle"], -0.055, 0.05, 0.12)),
        (JOINT, _slab(at["knee"], at["ankle"], 0.34, 0.385, 0.09)),
        (JOINT, sole),
        (ACCENT, chest),
        (ACCENT, _slab(shoulder, elbow, 0.135, 0.165, 0.09)),
        (VISOR, visor),
    ]


def cut(surface: Field, vertices: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Vertices, triangles and each triangle's material, with edges along every border between materials."""
    regions = _regions()
    lines: list[Array] = []
    for _, region in regions:
        vertices = _snap(surface, region, vertices, triangles, lines)
        vertices, triangles, on_line = _split(surface, region, vertices, triangles)
        lines = [np.append(line, np.zeros(len(vertices) - len(line), bool)) for line in lines] + [on_line]
    material = np.full(len(triangles), SHELL)
    for (index, region), on_line in zip(regions, lines):
        value = np.where(on_line, 0, region(vertices))[triangles]
        material[value.sum(1) < 0] = index
    return vertices, triangles, material


def _snap(surface: Field, region: Field, vertices: Array, triangles: Array, taken: list[Array]) -> Array:
    """Vertices close to the border moved onto it, so that cutting leaves no slivers."""
    value = region(vertices)
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
    return p


def _split(surface: Field, region: Field, vertices: Array, triangles: Array) -> tuple[Array, Array, Array]:
    """Triangles the border runs through, cut in two or three. Also the mask of vertices on the border."""
    value = region(vertices)
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
