"""Meshes and skins into a `GltfBuilder`: one glTF mesh per `Mesh`, one primitive per section."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.builder import ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER, GltfBuilder
from marrow.io.gltf.notes import MeshNotes, PrimitiveNotes, to_extras
from marrow.io.gltf.primitives import DUAL_QUATERNION_WEIGHT, OWN, POINTS, smooth_normals
from marrow.io.gltf.quantization import EXTENSION as QUANTIZATION
from marrow.io.gltf.quantization import Box, quantized, quantized_delta
from marrow.io.gltf.skins import EXACT_SUM
from marrow.io.gltf.variants import VARIANTS, write_mappings
from marrow.io.gltf.write_sections import drawn_parts, noted_sections
from marrow.math import affine
from marrow.math.elementary import dot
from marrow.model import Material, Mesh, MorphTarget, Section, normalize_weights

__all__ = ["is_plain", "write_mesh"]

Array = NDArray[Any]
_WRITTEN = re.compile(r"_.+|COLOR_\d+|TEXCOORD_\d+|[A-Z]+_\w+:.+")
MAX_SKIN_JOINTS = 0x10000
# As far from unit length as 8-bit vectors are: the Khronos validator, and so every viewer, takes it as one.
UNIT_TOLERANCE = 6.7e-3
# How far weights may be from one, for each that is not zero, by the Khronos validator.
SUM_TOLERANCE = 1.9e-7


def is_plain(mesh: Mesh) -> bool:
    """Whether a mesh just hangs on its node, so that it needs no skin."""
    return bool(
        mesh.joint_list.tolist() == [mesh.node]
        and mesh.influences == 1
        and (mesh.weights == 1).all()
        and np.array_equal(mesh.inverse_bind, affine.identity((1,)))
    )


def write_mesh(
    builder: GltfBuilder, mesh: Mesh, materials: tuple[Material, ...], number: int, box: Box | None = None
) -> int:
    """The index of the glTF mesh for the mesh of that `number`; equal ones under different nodes are written once.
    Positions are stored as fractions of `box`."""
    place = f"mesh {mesh.name!r}"
    if not mesh.vertex_count:
        raise builder.refuse(
            "has no vertices, which glTF cannot hold", place, "leave it out: character.replace(meshes=...)"
        )
    parts, shared = drawn_parts(builder, mesh, place)
    attributes = _attributes(builder, mesh, materials, place)
    noted = MeshNotes(
        skinning=mesh.skinning,
        shared=shared,
        normals=mesh.normals is not None or not (mesh.triangle_count or "NORMAL" in attributes),
        tangents=mesh.tangents is not None or "TANGENT" not in attributes,
        uvs=None if f"TEXCOORD_{len(mesh.uvs)}" not in attributes else len(mesh.uvs),
        sections=noted_sections(mesh, [section for section, _ in parts]),
    )
    if "WEIGHTS_0" in attributes:
        weights = np.concatenate([a for name, a in attributes.items() if name.startswith("WEIGHTS_")], axis=1)
        K = mesh.influences
        noted.influences = None if K == 1 or weights[:, K - 1].any() else K
        noted.settled = bool((_off(weights) > EXACT_SUM).any())
    if builder.quantize:
        builder.extension(QUANTIZATION, required=True)
        attributes = quantized(attributes, box)
        noted.box = None if box is None else [box.size, *box.centre.tolist()]
    primitives = [_primitive(builder, mesh, s, part, attributes, box, place) for s, part in parts]
    out: dict[str, Any] = {"name": mesh.name, "primitives": primitives}
    extras: dict[str, Any] = {}
    if mesh.morph_targets:
        extras["targetNames"] = [t.name for t in mesh.morph_targets]
    extras |= to_extras(noted) or {}
    if extras:
        out["extras"] = extras
    builder.extras.put(out, "meshes", number, mesh.name)
    return builder.add_once("meshes", out)


def _attributes(
    builder: GltfBuilder, mesh: Mesh, materials: tuple[Material, ...], place: str
) -> dict[str, Any]:
    """The vertex attributes of the whole mesh as glTF wants them, by name."""
    out: dict[str, Any] = {"POSITION": mesh.positions}
    if mesh.normals is not None:
        out["NORMAL"] = _unit_vectors(mesh.normals)
    if mesh.tangents is not None:
        w = np.where(mesh.tangents[:, 3:] < 0, np.float32(-1), np.float32(1))
        out["TANGENT"] = np.concatenate([_unit_vectors(mesh.tangents[:, :3]), w], axis=1)
    # What a morph target changes must be there; a note says that these were made up.
    if mesh.normals is None and any(t.normals is not None for t in mesh.morph_targets):
        out["NORMAL"] = smooth_normals(mesh.positions, mesh.triangles)
    if mesh.tangents is None and any(t.tangents is not None for t in mesh.morph_targets):
        out["TANGENT"] = np.tile(np.array([1, 0, 0, 1], np.float32), (mesh.vertex_count, 1))
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
    if mesh.colors is not None:
        out["COLOR_0"] = mesh.colors
        if ((mesh.colors < 0) | (mesh.colors > 1)).any():
            builder.warn(f"{place}: glTF has vertex colours from 0 to 1; others were clamped")
            out["COLOR_0"] = np.clip(mesh.colors, 0, 1)
    if not is_plain(mesh):
        joints, weights = _influences(builder, mesh, place)
        for n in range(joints.shape[1] // 4):
            out[f"JOINTS_{n}"] = joints[:, 4 * n : 4 * n + 4]
            out[f"WEIGHTS_{n}"] = weights[:, 4 * n : 4 * n + 4]
    if mesh.dual_quaternion_weights is not None:
        out[DUAL_QUATERNION_WEIGHT] = mesh.dual_quaternion_weights[:, None]
    for name, values in mesh.attributes.items():
        word, _, number = name.rpartition("_")
        counted = word in ("COLOR", "TEXCOORD") and number.isdigit() and len(number) < 6
        before = {f"{word}_{k}" for k in range(int(number))} if counted else set()
        if name in out or not _WRITTEN.fullmatch(name) or not before <= {*out, *mesh.attributes}:
            builder.warn(f"{place}: glTF has no vertex attribute {name!r}; left out")
            continue
        rows = values[:, None] if values.ndim == 1 else values
        if rows.shape[1] > 4 or not len(rows[0]):
            builder.warn(
                f"{place}: {name!r} has {rows.shape[1]} numbers a vertex, glTF has up to 4; left out"
            )
            continue
        if rows.dtype == np.int32:
            fits = rows.min(initial=0) >= 0
            rows = rows.astype(np.uint32 if fits else np.float32)
            builder.warn(f"{place}: glTF has no {name!r} of signed 32-bit numbers; others find {rows.dtype}")
        out[name] = rows
    if builder.exact:
        # What glTF does not allow was mended above; as it was, it lies beside.
        for name, own in (("NORMAL", mesh.normals), ("TANGENT", mesh.tangents), ("COLOR_0", mesh.colors)):
            if own is not None and not np.array_equal(own, out[name]):
                out[OWN + name] = own
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


def _influences(builder: GltfBuilder, mesh: Mesh, place: str) -> tuple[Array, Array]:
    """Joints and weights in columns of four, each joint that has a weight once per vertex."""
    B = len(mesh.joint_list)
    if B > MAX_SKIN_JOINTS:
        raise builder.refuse(f"is moved by {B} joints, glTF allows {MAX_SKIN_JOINTS}", place)
    V, K = mesh.weights.shape
    width = K + -K % 4
    weights = np.zeros((V, width), np.float32)
    joints = np.zeros((V, width), np.uint8 if B <= 256 else np.uint16)
    weights[:, :K], joints[:, :K] = mesh.weights, mesh.joints
    twice = np.zeros(V, bool)
    for k in range(1, K):
        for earlier in range(k):
            same = (joints[:, k] == joints[:, earlier]) & (weights[:, k] > 0) & (weights[:, earlier] > 0)
            if same.any():
                twice |= same
                weights[same, earlier] += weights[same, k]
                weights[same, k] = joints[same, k] = 0
    if twice.any():
        builder.warn(f"{place}: {int(twice.sum())} vertices name a joint twice; their weights were added up")
    off = _off(weights) > SUM_TOLERANCE * np.count_nonzero(weights, axis=1)
    if off.any():
        weights[off] = normalize_weights(weights[off])[0]
        builder.warn(f"{place}: the weights of {int(off.sum())} vertices were scaled to sum to 1")
    return joints, weights


def _off(weights: Array) -> Array:
    """How far the weights of each vertex are from summing to one, `(V,)`."""
    return np.abs(dot(weights.astype(np.float64), np.ones(weights.shape[1])) - 1)


def _primitive(
    builder: GltfBuilder,
    mesh: Mesh,
    section: Section,
    part: slice,
    attributes: dict[str, Any],
    box: Box | None,
    place: str,
) -> dict[str, Any]:
    out: dict[str, Any] = {"attributes": {}}
    for name, values in attributes.items():
        where = f"{place}, {name}"
        if name.startswith(OWN):
            mended = attributes[name.removeprefix(OWN)][part]
            out["attributes"][name] = builder.changed_accessor(mended, values[part], where)
            continue
        out["attributes"][name] = builder.accessor(
            values[part],
            where,
            target=ARRAY_BUFFER,
            bounds=name == "POSITION",
            fractions=not name.startswith("JOINTS_") and name not in mesh.attributes,
        )
    if not section.count:
        out["mode"] = POINTS
    else:
        corners = mesh.triangles[section.first : section.first + section.count].ravel()
        corners = corners - np.uint32(part.start)
        # 65535 itself is the restart value of 16-bit indices.
        small = int(corners.max()) < 0xFFFF
        indices = corners.astype(np.uint16 if small else np.uint32)
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
    builder: GltfBuilder, target: MorphTarget, V: int, part: slice, box: Box | None, place: str
) -> dict[str, int]:
    count = part.stop - part.start
    where = f"{place}, morph target {target.name!r}"
    rows = None if builder.packs else _sparse_rows(builder, target, part, where)
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
            stored = values[take] if box is None else quantized_delta(name, values[take], box)
            out[name] = builder.sparse_accessor(count, at, stored, where, bounds=bounds)
    for name, values in target.attributes.items():
        if not _WRITTEN.fullmatch(name) or not (values.ndim == 1 or 0 < values.shape[1] <= 4):
            builder.warn(f"{where}: glTF has no {name!r} of a target; left out")
            continue
        numbers = (values[:, None] if values.ndim == 1 else values).astype(np.float32)
        if rows is not None:
            at, take = rows
            out[name] = builder.sparse_accessor(count, at, numbers[take], where, bounds=False)
            continue
        if target.vertices is not None:
            dense = np.zeros((V, numbers.shape[1]), np.float32)
            np.add.at(dense, target.vertices, numbers)
            numbers = dense
        out[name] = builder.accessor(numbers[part], where, target=ARRAY_BUFFER)
    return out


def _sparse_rows(
    builder: GltfBuilder, target: MorphTarget, part: slice, place: str
) -> tuple[Array, Array] | None:
    """Which vertices of the part a target moves and where it has them; None for a target of all vertices."""
    if target.vertices is None:
        return None
    at = target.vertices.astype(np.int64)
    take = np.flatnonzero((at >= part.start) & (at < part.stop))
    order = take[np.argsort(at[take], kind="stable")]
    if len(order) > 1 and (order[1:] < order[:-1]).any():
        builder.warn(f"{place}: glTF has vertices in order; those it moves were sorted")
    at = at[order] - part.start
    if (np.diff(at) == 0).any():
        builder.warn(f"{place}: it moves a vertex twice; it was written for all vertices, with the sums")
        return None
    return at, order
