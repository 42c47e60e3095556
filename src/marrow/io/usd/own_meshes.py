"""Meshes that marrow wrote: every array as it is on the stage, and what USD has no words for from the notes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.usd.materials import UsdMaterials
from marrow.io.usd.nodes import UsdRig
from marrow.io.usd.notes import NAMESPACE, TargetNote, UsdMeshNotes
from marrow.io.usd.values import column_affine
from marrow.io.usd.writing.meshes import uv_name
from marrow.math import affine
from marrow.model import Mesh, MorphTarget, Section

__all__ = ["ChangedStage", "read_own_mesh"]

Array = NDArray[Any]


class ChangedStage(Exception):
    """Somebody changed what marrow wrote: it is to be read as any other stage."""


def read_own_mesh(prim: Any, notes: UsdMeshNotes, rig: UsdRig, materials: UsdMaterials) -> Mesh:
    """The mesh of a prim with notes; `ChangedStage` where they do not fit it any more."""
    from pxr import UsdGeom

    points = UsdGeom.PointBased(prim)
    if points.GetPointsAttr().GetNumTimeSamples():
        raise ChangedStage
    positions = _rows(points.GetPointsAttr().Get(), 3)
    V = len(positions)
    triangles = _triangles(UsdGeom.Mesh(prim), V) if prim.IsA(UsdGeom.Mesh) else np.zeros((0, 3), np.uint32)
    normals = points.GetNormalsAttr().Get()
    if normals is not None and str(points.GetNormalsInterpolation()) != "vertex":
        raise ChangedStage
    values = UsdGeom.PrimvarsAPI(prim)
    uvs: list[Array] = []
    while (uv := _primvar(values, uv_name(len(uvs)), 2, V)) is not None:
        uvs.append(np.stack([uv[:, 0], 1 - uv[:, 1]], axis=1))
    color = _primvar(values, "displayColor", 3, V)
    if color is not None:
        opacity = _primvar(values, "displayOpacity", 1, V)
        color = np.concatenate([color, np.ones((V, 1), np.float32) if opacity is None else opacity], axis=1)
    blend = prim.GetAttribute(f"{NAMESPACE}dualQuaternionWeights").Get()
    visible = UsdGeom.Imageable(prim).ComputeVisibility() != UsdGeom.Tokens.invisible
    known = rig.notes
    if known is None or not -1 <= notes.node < known.joints:
        raise ChangedStage
    if not all(0 <= t.channel < len(known.morphs) for t in notes.targets):
        raise ChangedStage
    try:
        return Mesh(
            notes.name,
            positions,
            triangles,
            **_influences(prim, rig, V),
            normals=None if normals is None else _rows(normals, 3, V),
            tangents=_primvar(values, "tangents", 4, V),
            uvs=tuple(uvs),
            colors=color,
            sections=_sections(prim, notes, len(triangles), materials),
            morph_targets=_targets(prim, notes.targets),
            skinning=notes.skinning,
            dual_quaternion_weights=None if blend is None else np.asarray(blend, np.float32),
            node=int(rig.joints[notes.node]) if notes.node >= 0 else -1,
            visible=bool(visible),
        )
    except ValidationError:
        raise ChangedStage from None


def _rows(values: Any, width: int, count: int | None = None) -> Array:
    rows = np.asarray(values if values is not None else [], np.float32).reshape(-1, width)
    if (count is not None and len(rows) != count) or not np.isfinite(rows).all():
        raise ChangedStage
    return rows


def _primvar(values: Any, name: str, width: int, count: int) -> Array | None:
    found = values.GetPrimvar(name)
    if not found or not found.HasValue():
        return None
    flat = found.ComputeFlattened()
    if str(found.GetInterpolation()) != "vertex" or flat is None or np.asarray(flat).size != count * width:
        raise ChangedStage
    return _rows(flat, width, count)


def _triangles(mesh: Any, V: int) -> Array:
    counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    indices = np.asarray(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    plain = (counts == 3).all() and len(indices) == 3 * len(counts)
    inside = not len(indices) or (int(indices.min()) >= 0 and int(indices.max()) < V)
    holes, side = mesh.GetHoleIndicesAttr().Get(), str(mesh.GetOrientationAttr().Get())
    if not plain or not inside or (holes is not None and len(holes)) or side != "rightHanded":
        raise ChangedStage
    return indices.reshape(-1, 3).astype(np.uint32)


def _influences(prim: Any, rig: UsdRig, V: int) -> dict[str, Any]:
    from pxr import UsdSkel

    api = UsdSkel.BindingAPI(prim)
    named = api.GetJointsAttr().Get()
    indices, weights = api.GetJointIndicesPrimvar(), api.GetJointWeightsPrimvar()
    if named is None or not indices.HasValue() or not weights.HasValue():
        raise ChangedStage
    row = {token: i for i, token in enumerate(rig.tokens)}
    rows = np.array([row.get(str(t), -1) for t in named], np.int64)
    if (rows < 0).any() or (V and indices.GetInterpolation() != "vertex"):
        raise ChangedStage
    width = int(indices.GetElementSize())
    joints = np.asarray(indices.Get(), np.int64)
    shares = np.asarray(weights.Get(), np.float32)
    if width < 1 or joints.size != V * width or shares.size != V * width:
        raise ChangedStage
    if joints.size and not (int(joints.min()) >= 0 and int(joints.max()) < len(rows)):
        raise ChangedStage
    geometry = api.GetGeomBindTransformAttr().Get()
    place = affine.identity((), np.float64) if geometry is None else column_affine(geometry)
    inverse = affine.multiply(rig.inverse_bind[rows], place)
    exact = prim.GetAttribute(f"{NAMESPACE}inverseBind").Get()
    if exact is not None and len(exact) == inverse.size:
        noted = np.asarray(exact, np.float64).reshape(-1, 3, 4)
        if np.abs(noted - inverse).max(initial=0) <= 1e-4 * np.abs(inverse).max(initial=0):
            inverse = noted
    large = len(rows) > 0x10000
    return {
        "joints": joints.reshape(V, width).astype(np.uint32 if large else np.uint16),
        "weights": shares.reshape(V, width),
        "joint_list": rig.joints[rows].astype(np.int32),
        "inverse_bind": inverse.astype(np.float32),
    }


def _sections(prim: Any, notes: UsdMeshNotes, count: int, materials: UsdMaterials) -> tuple[Section, ...]:
    """The sections of the notes, where the materials and sets of faces are still those that were written for them."""
    from pxr import UsdGeom, UsdShade

    for chosen in notes.variants.values():
        there = all(m is None or 0 <= m < len(materials.materials) for m in chosen)
        if len(chosen) != materials.variant_count or not there:
            raise ChangedStage
    noted = [Section(*s, tuple(notes.variants.get(i, ()))) for i, s in enumerate(notes.sections)]
    free = np.full(count, -1)
    for section in noted:
        if section.material is not None and not 0 <= section.material < len(materials.materials):
            raise ChangedStage
        if section.material is not None:
            part = free[section.first : section.first + section.count]
            part[part < 0] = section.material
    found = np.full(count, -1)
    whole = materials.own_number(prim)
    if whole is not None:
        found[:] = whole
    family = UsdShade.Tokens.materialBind
    for subset in UsdGeom.Subset.GetGeomSubsets(UsdGeom.Imageable(prim), UsdGeom.Tokens.face, family):
        faces = np.asarray(subset.GetIndicesAttr().Get() or [], np.int64)
        number = materials.own_number(subset.GetPrim())
        if number is None or (len(faces) and not (faces.min() >= 0 and faces.max() < count)):
            raise ChangedStage
        found[faces] = number
    if not np.array_equal(free, found):
        raise ChangedStage
    return tuple(noted)


def _targets(prim: Any, notes: list[TargetNote]) -> tuple[MorphTarget, ...]:
    from pxr import UsdSkel

    paths = UsdSkel.BindingAPI(prim).GetBlendShapeTargetsRel().GetForwardedTargets()
    if not all(0 <= note.shape < len(paths) for note in notes):
        raise ChangedStage
    stage = prim.GetStage()
    return tuple(_target(UsdSkel.BlendShape(stage.GetPrimAtPath(paths[n.shape])), n) for n in notes)


def _target(shape: Any, note: TargetNote) -> MorphTarget:
    holder = shape.GetInbetween(note.between) if shape and note.between else shape
    if not holder:
        raise ChangedStage
    extra = shape.GetPrim().GetAttribute(f"{NAMESPACE}tangentOffsets{note.between and f':{note.between}'}")
    offsets = holder.GetAttr() if note.between else holder.GetOffsetsAttr()
    turned = holder.GetNormalOffsetsAttr()
    positions = _rows(offsets.Get(), 3)
    found = (a.Get() if a else None for a in (turned, extra))
    normals, tangents = (None if a is None else _rows(a, 3, len(positions)) for a in found)
    named = shape.GetPointIndicesAttr().Get()
    vertices = None if named is None else np.asarray(named, np.int64)
    if vertices is not None and (len(vertices) != len(positions) or (vertices < 0).any()):
        raise ChangedStage
    if note.rows is not None:
        rows = np.array(note.rows, np.int64)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(positions)):
            raise ChangedStage
        vertices = rows if vertices is None else vertices[rows]
        positions = positions[rows]
        normals, tangents = (None if a is None else a[rows] for a in (normals, tangents))
    return MorphTarget(
        note.name,
        note.channel,
        positions,
        normals,
        tangents,
        None if vertices is None else vertices.astype(np.uint32),
        note.full_weight,
    )
