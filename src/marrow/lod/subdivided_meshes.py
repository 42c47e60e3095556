"""`subdivide`: a character whose meshes are finer and smoother, with skin weights, morphs, UVs and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError, ValidationError, told_at_the_call
from marrow.lod.subdivision import CagePolygons, Layer, Step, smooth_normals, subdivide_polygons
from marrow.model import Character, Mesh, MorphTarget, Section, _validate, normalize_weights
from marrow.report import Report, ReportLine

__all__ = ["MAX_LEVELS", "influence_table", "refined_influences", "subdivide"]

Array = NDArray[Any]
MAX_LEVELS = 6
MAX_CORNERS = 1 << 26
_FLAT = 0.7
"""Two triangles that follow one another and turn by less than about 45 degrees may have been a quad."""


@told_at_the_call
def subdivide(character: Character, levels: int = 1) -> Character:
    """The character with every mesh subdivided so many times (Catmull-Clark): each step makes about four times as many
    triangles.

    Vertices in one place with the same weights are one point of the surface, whatever their UVs and normals; seams of
    UVs and colours
    stay seams. Triangles that follow one another and share a side are taken as the quad they were. Normals are smooth,
    tangents and
    levels of detail are left out: `mw.lod.build` makes new ones. For FBX files `mw.load(path, subdivide=2)` is better:
    it has the polygons, and
    their creases.
    """
    _validate.instance("subdivide", "character", character, Character)
    levels = _validate.integer("subdivide", "levels", levels, low=0)
    if levels > MAX_LEVELS:
        raise ValidationError(f"subdivide.levels: expected at most {MAX_LEVELS}, got {levels}")
    if not levels:
        return character
    lines = [ReportLine("info", "meshes", f"subdivided {levels} times")]
    if character.reduced:
        lines.append(
            ReportLine("dropped", "levels of detail", "they were of meshes before they were subdivided")
        )
    fine = tuple(_subdivided(mesh, levels) for mesh in character.meshes)
    return character.replace(
        meshes=fine, reduced=(), lod=None, report=character.report + Report(tuple(lines))
    )


def _subdivided(mesh: Mesh, levels: int) -> Mesh:
    if not mesh.triangle_count:
        return mesh
    if 4 * mesh.triangle_count << (2 * levels) > MAX_CORNERS:
        raise ResourceLimitError(
            f"subdivide: mesh {mesh.name!r} has {mesh.triangle_count:,} triangles; subdivided {levels} times it has "
            f"more than {MAX_CORNERS:,} corners"
        )
    point, first = _points(mesh)
    count, corner, section = _polygons(mesh)
    names = [*(f"uv{i}" for i in range(len(mesh.uvs))), *(["colors"] if mesh.colors is not None else [])]
    values = [*mesh.uvs, *([mesh.colors] if mesh.colors is not None else [])]
    further = {n: a for n, a in mesh.attributes.items() if a.dtype.kind == "f"}
    layers = tuple(Layer(v, corner) for v in values)
    layers += tuple(Layer(a.reshape(len(a), -1), corner) for a in further.values())
    quads, steps, fine, source = subdivide_polygons(CagePolygons(count, point[corner]), levels, layers)
    at_points = _refined(mesh.positions[first], steps)
    kept, numbers = _vertices(quads.point, [layer.index for layer in fine])
    control = quads.point[kept]
    columns = dict(zip([*names, *further], (layer.values[layer.index[kept]] for layer in fine)))
    joints, weights = refined_influences(mesh.joints[first].astype(np.int64), mesh.weights[first], steps)
    weights, _ = normalize_weights(weights)
    share = mesh.dual_quaternion_weights
    if share is not None:
        share = np.clip(_refined(share[first, None], steps)[control, 0], 0, 1).astype(np.float32)
    corners = numbers.reshape(-1, 4)
    triangles = np.stack([corners[:, :3], corners[:, [0, 2, 3]]], axis=1).reshape(-1, 3)
    return replace(
        mesh,
        positions=at_points[control].astype(np.float32),
        triangles=triangles.astype(np.uint32),
        joints=joints[control].astype(mesh.joints.dtype),
        weights=weights[control].astype(np.float32),
        normals=smooth_normals(quads, at_points)[control].astype(np.float32),
        tangents=None,
        uvs=tuple(columns[f"uv{i}"].astype(np.float32) for i in range(len(mesh.uvs))),
        colors=None if mesh.colors is None else np.clip(columns["colors"], 0, None).astype(np.float32),
        sections=_sections(mesh.sections, section[source]),
        morph_targets=tuple(_target(t, mesh.vertex_count, first, control, steps) for t in mesh.morph_targets),
        dual_quaternion_weights=share,
        attributes={n: columns[n].reshape(-1, *a.shape[1:]).astype(a.dtype) for n, a in further.items()},
    )


def _refined(values: Array, steps: Sequence[Step]) -> Array:
    for step in steps:
        values = step(values)
    return values


def _points(mesh: Mesh) -> tuple[Array, Array]:
    """The point of each vertex, and a vertex of each point: vertices in one place that move alike are one."""
    rows = np.concatenate(
        [mesh.positions + np.float32(0), mesh.joints.astype(np.float32), mesh.weights], axis=1
    )
    rows = np.ascontiguousarray(rows, np.float32)
    packed = rows.view(np.dtype((np.void, 4 * rows.shape[1]))).reshape(-1)
    _, first, point = np.unique(packed, return_index=True, return_inverse=True)
    return point.reshape(-1), first


def _polygons(mesh: Mesh) -> tuple[Array, Array, Array]:
    """How many corners each polygon has, the vertex at each corner, and the section of each polygon."""
    triangles = mesh.triangles.astype(np.int64)
    section = np.repeat(np.arange(len(mesh.sections)), [s.count for s in mesh.sections])
    order = np.concatenate([np.arange(s.first, s.first + s.count) for s in mesh.sections])
    triangles = triangles[order]
    places = mesh.positions.astype(np.float64)
    a, b, c = (places[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal /= np.where(length > 0, length, 1)
    one, two = triangles[:-1], triangles[1:]
    paired = np.zeros(len(triangles), bool)
    quads = np.zeros((len(triangles), 4), np.int64)
    if len(triangles) > 1:
        near = ((normal[:-1] * normal[1:]).sum(1) > _FLAT) & (section[:-1] == section[1:])
        for i in range(3):  # the side i of one is a side j of the other, the other way round
            for j in range(3):
                shared = (one[:, i] == two[:, (j + 1) % 3]) & (one[:, (i + 1) % 3] == two[:, j])
                made = np.stack(
                    [one[:, (i + 1) % 3], one[:, (i + 2) % 3], one[:, i], two[:, (j + 2) % 3]], axis=1
                )
                fits = shared & near & _convex(places, made, normal[:-1])
                quads[:-1][fits] = made[fits]
                paired[:-1] |= fits
        paired = _alternating(paired)
    second = np.concatenate([[False], paired[:-1]])
    count = np.where(paired, 4, 3)
    corners = np.where(paired[:, None], quads, np.concatenate([triangles, triangles[:, :1]], axis=1))
    used = np.arange(4) < count[:, None]
    keep = ~second
    return count[keep], corners[keep][used[keep]], section[keep]


def _alternating(paired: Array) -> Array:
    """Of runs of pairs that overlap, every other one."""
    starts = np.flatnonzero(paired & ~np.concatenate([[False], paired[:-1]]))
    begin = np.zeros(len(paired), np.int64)
    begin[starts] = starts
    begin = np.maximum.accumulate(begin)
    return paired & ((np.arange(len(paired)) - begin) % 2 == 0)


def _convex(places: Array, quads: Array, normal: Array) -> Array:
    p = places[quads]
    ahead, behind = np.roll(p, -1, axis=1) - p, p - np.roll(p, 1, axis=1)
    return np.asarray(((np.cross(behind, ahead) * normal[:, None]).sum(-1) > 0).all(1))


def _vertices(point: Array, layers: list[Array]) -> tuple[Array, Array]:
    """The first corner of each vertex, and the vertex of each corner: corners whose point and values are the same are
    one."""
    rows = np.ascontiguousarray(np.stack([point, *layers], axis=1).astype(np.int64))
    packed = rows.view(np.dtype((np.void, 8 * rows.shape[1]))).reshape(-1)
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def _sections(given: tuple[Section, ...], section: Array) -> tuple[Section, ...]:
    counts = 2 * np.bincount(section, minlength=len(given))
    starts = np.cumsum(counts) - counts
    return tuple(replace(s, first=int(a), count=int(n)) for s, a, n in zip(given, starts, counts))


def _target(
    target: MorphTarget, vertices: int, first: Array, control: Array, steps: Sequence[Step]
) -> MorphTarget:
    dense = target.dense(vertices)
    assert dense is not None
    moved = _refined(dense[first], steps)[control].astype(np.float32)
    where = np.flatnonzero(moved.any(1))
    return MorphTarget(
        target.name,
        target.channel,
        moved[where],
        vertices=where.astype(np.uint32),
        full_weight=target.full_weight,
    )


def refined_influences(joints: Array, weights: Array, steps: Sequence[Step]) -> tuple[Array, Array]:
    """Joints and weights `(P, K)` of points, as those of the points that the steps make: a joint's share is the same
    sum as the point itself."""
    total = len(joints)
    found = []
    for joint in np.unique(joints[weights > 0]).tolist():
        share = _refined(np.where(joints == joint, weights, 0).sum(1)[:, None], steps)[:, 0]
        held = np.flatnonzero(share > 1e-6)
        found.append((held, np.full(len(held), joint), share[held]))
        total = len(share)
    if not found:
        return np.zeros((total, 1), np.int64), np.zeros((total, 1))
    vertex, who, weight = (np.concatenate(parts) for parts in zip(*found))
    return influence_table(vertex, who, weight, total)


def influence_table(vertex: Array, who: Array, weight: Array, vertices: int) -> tuple[Array, Array]:
    """Joints and weights `(vertices, K)`, strongest first, of a list of influences."""
    order = np.lexsort((-weight, vertex))
    vertex, who, weight = vertex[order], who[order], weight[order]
    counts = np.bincount(vertex, minlength=vertices)
    K = max(1, int(counts.max(initial=0)))
    column = np.arange(len(vertex)) - np.repeat(np.cumsum(counts) - counts, counts)
    joints, weights = np.zeros((vertices, K), np.int64), np.zeros((vertices, K))
    joints[vertex, column], weights[vertex, column] = who, weight
    return joints, weights
