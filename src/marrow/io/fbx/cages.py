"""Polygons of FBX before they are cut into triangles: subdivided where that was asked for, or made of a NURBS surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.fbx.nurbs import tessellated
from marrow.io.fbx.plain_scene import Attribute, PlainMesh, PlainScene
from marrow.lod.subdivision import Boundary, CagePolygons, Layer, Step, smooth_normals, subdivide_polygons

__all__ = ["Cage", "levels_of", "nurbs_cage", "subdivided"]

Array = NDArray[Any]
MAX_CORNERS = 1 << 26


@dataclass(frozen=True)
class Cage:
    """Polygons and what is at their corners: `control (K,)` points of `points (P, 3)`, `columns` by name `(K, C)`,
    `slot (F,)` of each polygon.
    `steps` make values at its points of those at the file's."""

    points: Array
    control: Array
    first: Array
    count: Array
    slot: Array
    columns: dict[str, Array]
    steps: tuple[Step, ...] = ()


def levels_of(mesh: PlainMesh, asked: int | str | None) -> int:
    """How often a mesh is subdivided."""
    if asked is None or mesh.cage is None:
        return 0
    # Beyond that the limit of corners speaks, whatever a file says.
    return asked if isinstance(asked, int) else min(max(mesh.cage.levels, 0), 31) if mesh.cage.smooth else 0


def subdivided(
    scene: PlainScene, mesh: PlainMesh, points: Array, control: Array, first: Array, count: Array, levels: int
) -> Cage:
    """The mesh after so many steps. `count` is 0 for holes."""
    assert mesh.cage is not None
    face = np.flatnonzero(count >= 3)
    first, count = first[face], count[face]
    begin = np.cumsum(count) - count
    corner = np.repeat(first - begin, count) + np.arange(int(count.sum()))
    if len(corner) << (2 * levels) > MAX_CORNERS:
        raise ResourceLimitError(
            f"has {len(corner):,} corners; subdivided {levels} times they are more than {MAX_CORNERS:,}",
            remedy="load it with a lower subdivide=",
        )
    polygons = CagePolygons(
        count,
        control[corner],
        _creases(scene, mesh, control, corner, first, count, len(points)),
        _at_corners(scene, mesh.cage.point_crease, 1, corner)[:, 0] * 10 if mesh.cage.point_crease else None,
    )
    named = {f"uv{i}": (attribute, 2) for i, attribute in enumerate(mesh.uvs)}
    if mesh.colors is not None:
        named["colors"] = (mesh.colors, 4)
    layers = []
    for attribute, width in named.values():
        values, index = scene.reals(attribute[0], width), scene.integers(attribute[1])
        if not len(values) or not len(index):
            values, index = np.zeros((1, width)), np.zeros(1, np.uint32)
        at = np.minimum(index.take(corner, mode="clip").astype(np.int64), len(values) - 1)
        layers.append(Layer(np.nan_to_num(values, posinf=0, neginf=0), at))
    # Where a file says nothing, Maya and Blender keep the borders of UVs as they are.
    seams = mesh.cage.uv_boundary or Boundary.SHARP_BOUNDARY
    quads, steps, made, source = subdivide_polygons(
        polygons, levels, tuple(layers), boundary=mesh.cage.boundary, layer_boundary=seams
    )
    for step in steps:
        points = step(points)
    slots = scene.integers(mesh.face_materials)
    slot = slots[face][source].astype(np.int64) if len(slots) else np.zeros(len(source), np.int64)
    columns = {"normals": smooth_normals(quads, points)[quads.point]}
    columns |= {name: layer.values[layer.index] for name, layer in zip(named, made)}
    for i in range(len(mesh.uvs)):
        columns[f"uv{i}"][:, 1] = 1 - columns[f"uv{i}"][:, 1]
    F = len(quads.count)
    return Cage(points, quads.point, 4 * np.arange(F), quads.count, slot, columns, tuple(steps))


def _at_corners(scene: PlainScene, attribute: Attribute, width: int, corner: Array) -> Array:
    values, index = scene.reals(attribute[0], width), scene.integers(attribute[1])
    if not len(values) or not len(index):
        return np.zeros((len(corner), width))
    at = index.take(corner, mode="clip").astype(np.int64)
    return np.asarray(np.nan_to_num(values.take(at, axis=0, mode="clip")))


def _creases(
    scene: PlainScene, mesh: PlainMesh, control: Array, corner: Array, first: Array, count: Array, points: int
) -> Array | None:
    """How sharp the edge from each corner to the next is."""
    assert mesh.cage is not None
    edges = scene.integers(mesh.cage.edges).reshape(-1, 2).astype(np.int64)
    sharp = scene.reals(mesh.cage.edge_crease)
    n = min(len(edges), len(sharp))
    edges, sharp = edges[:n], np.nan_to_num(sharp[:n])
    inside = (edges < len(control)).all(1) & (sharp > 0) if n else np.zeros(0, bool)
    if not inside.any():
        return None
    ends = np.sort(control[edges[inside]], axis=1)
    keys = ends[:, 0] * points + ends[:, 1]
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], sharp[inside][order] * 10
    after = np.arange(1, len(corner) + 1)
    last = np.cumsum(count) - 1
    after[last] = last - count + 1
    a, b = control[corner], control[corner[after]]
    mine = np.minimum(a, b) * points + np.maximum(a, b)
    at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    return np.where(keys[at] == mine, values[at], 0.0)


def nurbs_cage(scene: PlainScene, mesh: PlainMesh) -> Cage:
    """A NURBS surface as quads, and triangles where a side has shrunk to a point."""
    assert mesh.nurbs is not None
    points, quads, uvs = tessellated(scene, mesh.nurbs)
    kept = quads != np.roll(quads, -1, axis=1)
    count = kept.sum(1)
    kept &= (count >= 3)[:, None]
    whole = count >= 3
    control, count = quads[kept], count[whole]
    uv = uvs[kept]
    polygons = CagePolygons(count, control)
    columns = {
        "normals": smooth_normals(polygons, points)[control],
        "uv0": np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1),
    }
    F = len(count)
    return Cage(points, control, np.cumsum(count) - count, count, np.zeros(F, np.int64), columns)
