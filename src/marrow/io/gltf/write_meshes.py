"""Meshes and skins into a `Builder`: one glTF mesh per `Mesh`, one primitive per section."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.builder import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, Builder
from marrow.io.gltf.notes import MeshNotes, PrimitiveNotes, to_extras
from marrow.io.gltf.primitives import DUAL_QUATERNION_WEIGHT, POINTS
from marrow.io.gltf.quantization import EXTENSION as QUANTIZATION
from marrow.io.gltf.quantization import Box, quantized, quantized_delta
from marrow.io.gltf.skins import EXACT_SUM
from marrow.io.gltf.variants import VARIANTS, write_mappings
from marrow.math import affine
from marrow.model import Material, Mesh, MorphTarget, Section, normalize_weights
from marrow.printing import warn

__all__ = ["is_plain", "write_mesh"]

Array = NDArray[Any]
MAX_SKIN_JOINTS = 0x10000
# Further from unit length than float rounding puts a vector, near enough that every viewer takes it as one.
UNIT_TOLERANCE = 1e-4


def is_plain(mesh: Mesh) -> bool:
    """Whether a mesh just hangs on its node, so that it needs no skin."""
    return bool(
        mesh.joint_list.tolist() == [mesh.node]
        and mesh.influences == 1
        and (mesh.weights == 1).all()
        and np.array_equal(mesh.inverse_bind, affine.identity((1,)))
    )


def write_mesh(builder: Builder, mesh: Mesh, materials: tuple[Material, ...]) -> int:
    """The index of the glTF mesh for `mesh`; equal meshes under different nodes are written once."""
    place = f"mesh {mesh.name!r}"
    V = mesh.vertex_count
    if not V:
        raise builder.refuse(
            "has no vertices, which glTF cannot hold", place, "leave it out: character.replace(meshes=...)"
        )
    sections = _all_sections(mesh)
    ranges = _vertex_ranges(mesh, sections)
    shared = ranges is None
    attributes = _attributes(builder, mesh, materials, place)
    box = Box.around(mesh) if builder.quantize else None
    if box is not None:
        builder.extension(QUANTIZATION, required=True)
        attributes = quantized(attributes, box)
    primitives = []
    for i, section in enumerate(sections):
        part = slice(0, V) if ranges is None else ranges[i]
        primitives.append(_primitive(builder, mesh, section, part, attributes, box, place))
    if not sections:
        primitives = [_primitive(builder, mesh, None, slice(0, V), attributes, box, place)]
    out: dict[str, Any] = {"name": mesh.name, "primitives": primitives}
    extras: dict[str, Any] = {}
    if mesh.morph_targets:
        extras["targetNames"] = [t.name for t in mesh.morph_targets]
    added = attributes.pop("added", None)
    noted = MeshNotes(
        skinning=mesh.skinning,
        shared=shared and len(primitives) > 1,
        normals=mesh.normals is not None or not mesh.triangle_count,
        uvs=None if added is None else len(mesh.uvs),
        box=None if box is None else [box.size, *box.centre.tolist()],
    )
    extras |= to_extras(noted) or {}
    if extras:
        out["extras"] = extras
    return builder.add_once("meshes", out)


def _all_sections(mesh: Mesh) -> list[Section]:
    """The sections that have triangles, with the triangles no section claims in sections of their own."""
    claimed = np.zeros(mesh.triangle_count + 2, bool)
    for s in mesh.sections:
        claimed[s.first + 1 : s.first + 1 + s.count] = True
    claimed[0] = claimed[-1] = True
    edges = np.flatnonzero(np.diff(claimed)).reshape(-1, 2)
    gaps = [Section(int(a), int(b - a)) for a, b in edges]
    kept = [s for s in mesh.sections if s.count]
    return sorted(kept + gaps, key=lambda s: s.first) if gaps else kept


def _vertex_ranges(mesh: Mesh, sections: list[Section]) -> list[slice] | None:
    """The range of vertices of each section where they lie one after the other; None where sections share
    vertices."""
    starts: list[int] = []
    end = 0
    for section in sections:
        triangles = mesh.triangles[section.first : section.first + section.count]
        low, high = int(triangles.min()), int(triangles.max())
        if low < end:
            return None
        starts.append(low if starts else 0)
        end = high + 1
    # Vertices no triangle uses go with the section before them.
    return [slice(a, b) for a, b in zip(starts, [*starts[1:], mesh.vertex_count])]


def _attributes(builder: Builder, mesh: Mesh, materials: tuple[Material, ...], place: str) -> dict[str, Any]:
    """The vertex attributes of the whole mesh as glTF wants them, by name."""
    out: dict[str, Any] = {"POSITION": mesh.positions}
    if mesh.normals is not None:
        out["NORMAL"] = _unit_vectors(mesh.normals)
    if mesh.tangents is not None:
        w = np.where(mesh.tangents[:, 3:] < 0, np.float32(-1), np.float32(1))
        out["TANGENT"] = np.concatenate([_unit_vectors(mesh.tangents[:, :3]), w], axis=1)
    for i, uv in enumerate(mesh.uvs):
        out[f"TEXCOORD_{i}"] = uv
    wanted = [
        t.uv_set
        for s in mesh.sections
        if s.material is not None
        for t in materials[s.material].textures.values()
    ]
    for i in range(len(mesh.uvs), max(wanted, default=-1) + 1):
        # Viewers refuse a texture without its coordinates; a note says that these were made up.
        out[f"TEXCOORD_{i}"] = np.zeros((mesh.vertex_count, 2), np.float32)
        out["added"] = True
    if mesh.colors is not None:
        out["COLOR_0"] = mesh.colors
        if ((mesh.colors < 0) | (mesh.colors > 1)).any():
            warn(f"{place}: glTF has vertex colours from 0 to 1; others were clamped", stacklevel=6)
            out["COLOR_0"] = np.clip(mesh.colors, 0, 1)
    if builder.quantize or not is_plain(mesh):
        joints, weights = _influences(builder, mesh, place)
        for n in range(joints.shape[1] // 4):
            out[f"JOINTS_{n}"] = joints[:, 4 * n : 4 * n + 4]
            out[f"WEIGHTS_{n}"] = weights[:, 4 * n : 4 * n + 4]
    if mesh.dual_quaternion_weights is not None:
        out[DUAL_QUATERNION_WEIGHT] = mesh.dual_quaternion_weights[:, None]
    return out


def _unit_vectors(vectors: Array) -> Array:
    """Vectors of unit length; those that are stay bit for bit, those of no length point along Z."""
    length = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    off = np.abs(length - 1)[:, 0] > UNIT_TOLERANCE
    if not off.any():
        return vectors
    out = vectors.copy()
    tiny = length[off] < 1e-20
    out[off] = np.where(tiny, [0.0, 0.0, 1.0], vectors[off] / np.where(tiny, 1, length[off]))
    return out


def _influences(builder: Builder, mesh: Mesh, place: str) -> tuple[Array, Array]:
    """Joints and weights in columns of four, each joint once per vertex, joints without weight zero."""
    B = len(mesh.joint_list)
    if B > MAX_SKIN_JOINTS:
        raise builder.refuse(f"is moved by {B} joints, glTF allows {MAX_SKIN_JOINTS}", place)
    V, K = mesh.weights.shape
    width = K + -K % 4
    weights = np.zeros((V, width), np.float32)
    joints = np.zeros((V, width), np.uint8 if B <= 256 else np.uint16)
    weights[:, :K], joints[:, :K] = mesh.weights, mesh.joints
    for k in range(1, K):
        for earlier in range(k):
            same = (joints[:, k] == joints[:, earlier]) & (weights[:, k] > 0) & (weights[:, earlier] > 0)
            if same.any():
                weights[same, earlier] += weights[same, k]
                weights[same, k] = 0
    joints[weights == 0] = 0
    off = np.abs(weights.sum(axis=1, dtype=np.float64) - 1) > EXACT_SUM
    if off.any():
        weights[off] = normalize_weights(weights[off])[0]
    return joints, weights


def _primitive(
    builder: Builder,
    mesh: Mesh,
    section: Section | None,
    part: slice,
    attributes: dict[str, Any],
    box: Box | None,
    place: str,
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "attributes": {
            name: builder.accessor(
                values[part],
                f"{place}, {name}",
                target=ARRAY_BUFFER,
                bounds=name == "POSITION",
                fractions=not name.startswith("JOINTS_"),
            )
            for name, values in attributes.items()
            if name != "added"
        }
    }
    if section is None:
        out["mode"] = POINTS
    else:
        triangles = mesh.triangles[section.first : section.first + section.count].ravel() - np.uint32(
            part.start
        )
        # 65535 itself is the restart value of 16-bit indices.
        small = int(triangles.max()) < 0xFFFF
        indices = triangles.astype(np.uint16 if small else np.uint32)
        out["indices"] = builder.accessor(indices[:, None], place, target=ELEMENT_ARRAY_BUFFER)
        if section.material is not None:
            out["material"] = section.material
        mappings = write_mappings(section)
        if mappings:
            out["extensions"] = {builder.extension(VARIANTS): mappings}
        extras = to_extras(PrimitiveNotes(section.name))
        if extras:
            out["extras"] = extras
    if mesh.morph_targets:
        out["targets"] = [
            _target(builder, t, mesh.vertex_count, part, box, place) for t in mesh.morph_targets
        ]
    return out


def _target(
    builder: Builder, target: MorphTarget, V: int, part: slice, box: Box | None, place: str
) -> dict[str, int]:
    count = part.stop - part.start
    where = f"{place}, morph target {target.name!r}"
    rows = None if box is not None else _sparse_rows(target, part, count)
    out = {}
    for name, field in (("POSITION", "positions"), ("NORMAL", "normals"), ("TANGENT", "tangents")):
        values = getattr(target, field)
        if values is None:
            continue
        bounds = name == "POSITION"
        if rows is None:
            dense = target.dense(V, field)
            assert dense is not None
            stored = dense[part] if box is None else quantized_delta(name, dense[part], box)
            out[name] = builder.accessor(stored, where, target=ARRAY_BUFFER, bounds=bounds, fractions=True)
        else:
            at, take = rows
            out[name] = builder.sparse_accessor(count, at, values[take], where, bounds=bounds)
    return out


def _sparse_rows(target: MorphTarget, part: slice, count: int) -> tuple[Array, Array] | None:
    """Which vertices of the part a target moves and where it has them; None where writing all is smaller or
    needed."""
    if target.vertices is None:
        return None
    at = target.vertices.astype(np.int64)
    take = np.flatnonzero((at >= part.start) & (at < part.stop))
    order = take[np.argsort(at[take], kind="stable")]
    at = at[order] - part.start
    if len(at) * 3 > count * 2 or (np.diff(at) == 0).any():
        return None
    return at, order
