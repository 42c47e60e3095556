"""The meshes of a level: some of the vertices of a character's meshes, just as they are, and triangles between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.lod.meshoptimizer import MeshPart
from marrow.model import Mesh, MorphTarget, Section
from marrow.report import ReportBuilder

__all__ = ["assembled", "mapped_parts", "subset"]

Array = NDArray[Any]


def mapped_parts(parts: list[MeshPart], materials: Mapping[int, int | None]) -> list[MeshPart]:
    """The parts with some materials exchanged for others or, where the other is None, switched off. Parts of one mesh
    that have the same material now are one."""
    if not materials:
        return parts
    found: dict[tuple[int, int | None], MeshPart] = {}
    out: list[tuple[int, int | None]] = []
    for n, part in enumerate(parts):
        touched = part.material is not None and part.material in materials
        material = materials[part.material] if touched and part.material is not None else part.material
        if touched and material is None:
            continue
        key = (part.mesh, material) if material in materials.values() else (part.mesh, -1 - n)
        known = found.get(key)
        triangles = part.triangles if known is None else np.concatenate([known.triangles, part.triangles])
        if known is None:
            out.append(key)
        name = part.name if known is None else known.name
        found[key] = MeshPart(part.mesh, material, name, triangles, () if touched else part.variants)
    return [found[key] for key in out]


def assembled(
    meshes: tuple[Mesh, ...], offsets: tuple[int, ...], parts: list[MeshPart], report: ReportBuilder
) -> tuple[Mesh, ...]:
    """The meshes that draw these parts, whose triangles are of the vertices of all `meshes` (see `vertex_offsets`)."""
    out = []
    for k, mesh in enumerate(meshes):
        own = [p for p in parts if p.mesh == k]
        for part in own:
            if not len(part.triangles):
                what = f"section {part.name!r}" if part.name else f"the section of material {part.material}"
                report.add("dropped", f"mesh {mesh.name!r}", f"{what}: none of its triangles are left")
        own = [p for p in own if len(p.triangles)]
        if not own:
            if mesh.triangle_count:
                report.add("dropped", f"mesh {mesh.name!r}", "the mesh: none of its triangles are left")
            continue
        triangles = np.concatenate([p.triangles for p in own]) - offsets[k]
        ends = np.cumsum([len(p.triangles) for p in own]).tolist()
        sections = tuple(
            Section(end - len(p.triangles), len(p.triangles), p.material, p.name, p.variants)
            for p, end in zip(own, ends)
        )
        rows, index = np.unique(triangles, return_inverse=True)
        out.append(subset(mesh, rows, index.reshape(-1, 3).astype(np.uint32), sections))
    return tuple(out)


def subset(mesh: Mesh, rows: Array, triangles: Array, sections: tuple[Section, ...]) -> Mesh:
    """The mesh of the vertices `rows`, which ascend; `triangles` are of these."""

    def picked(array: Array | None) -> Array | None:
        return None if array is None else array[rows]

    return Mesh(
        mesh.name,
        mesh.positions[rows],
        triangles,
        mesh.joints[rows],
        mesh.weights[rows],
        mesh.joint_list,
        mesh.inverse_bind,
        picked(mesh.normals),
        picked(mesh.tangents),
        tuple(uv[rows] for uv in mesh.uvs),
        picked(mesh.colors),
        sections,
        tuple(_target(t, rows) for t in mesh.morph_targets),
        mesh.skinning,
        picked(mesh.dual_quaternion_weights),
        mesh.node,
        mesh.visible,
        {name: values[rows] for name, values in mesh.attributes.items()},
    )


def _target(target: MorphTarget, rows: Array) -> MorphTarget:
    if target.vertices is None:
        at, vertices = rows, None
    else:
        place = np.searchsorted(rows, target.vertices)
        inside = place < len(rows)
        inside[inside] = rows[place[inside]] == target.vertices[inside]
        at, vertices = np.flatnonzero(inside), place[inside].astype(np.uint32)
    normals, tangents = target.normals, target.tangents
    return MorphTarget(
        target.name,
        target.channel,
        target.positions[at],
        None if normals is None else normals[at],
        None if tangents is None else tangents[at],
        vertices,
        target.full_weight,
        {name: values[at] for name, values in target.attributes.items()},
    )
