"""Skins, clusters and the bind pose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.geometry import FbxSurface
from marrow.io.fbx.writing.rig import FbxRig, Placed
from marrow.math import affine

__all__ = ["file_matrix", "write_bind_pose", "write_skin"]

Array = NDArray[Any]
_METHODS = {"linear": "Linear", "dual_quaternion": "DualQuaternion", "blended": "Blend"}


def file_matrix(matrix: Array, scale: float) -> Array:
    """A matrix as a file has it: column by column, in file units, `(16,)`."""
    whole = affine.to_4x4(np.asarray(matrix, np.float64)).copy()
    whole[:3, 3] *= scale
    return np.ascontiguousarray(whole.T).ravel()


def write_skin(
    document: FbxDocument, rig: FbxRig, placed: Placed, surface: FbxSurface, geometry: int, nodes: list[int]
) -> None:
    """The skin of a mesh: a cluster for every joint that moves some of its points."""
    mesh, bound, scale = placed.mesh, placed.bound, document.space.scale
    assert bound is not None
    skin, record = document.object("Deformer", mesh.name, "Skin")
    record.add("Version", np.int32(101))
    record.add("Link_DeformAcuracy", 50.0)
    record.add("SkinningType", _METHODS[mesh.skinning])
    if mesh.skinning == "blended" and mesh.dual_quaternion_weights is not None:
        record.add("Indexes", np.arange(len(surface.points), dtype=np.int32))
        record.add("BlendWeights", mesh.dual_quaternion_weights[surface.points].astype(np.float64))
    document.connect(skin, geometry)
    back = None if surface.moved is None else affine.invert(surface.moved)
    weights, joints = mesh.weights[surface.points], mesh.joints[surface.points].astype(np.int64)
    point, column = np.nonzero(weights > 0)
    who, weight = joints[point, column], weights[point, column].astype(np.float64)
    # Lists may name a joint twice, and so may a vertex: what belongs together is added up.
    first: dict[tuple[int, bytes], int] = {}
    merged = np.array(
        [
            first.setdefault((j, m.tobytes()), b)
            for b, (j, m) in enumerate(zip(mesh.joint_list.tolist(), mesh.inverse_bind))
        ],
        np.int64,
    )
    who = merged[who]
    order = np.argsort(who, kind="stable")  # points rise already
    point, who, weight = point[order], who[order], weight[order]
    new = np.ones(len(who), bool)
    new[1:] = (who[1:] != who[:-1]) | (point[1:] != point[:-1])
    if not new.all():
        starts = np.flatnonzero(new)
        weight, point, who = np.add.reduceat(weight, starts), point[starts], who[starts]
    holders = _above_bones(rig)
    bounds = np.searchsorted(who, np.arange(len(mesh.joint_list) + 1))
    for b, joint in enumerate(mesh.joint_list.tolist()):
        part = slice(bounds[b], bounds[b + 1])
        if part.start == part.stop:
            continue
        cluster, one = document.object("Deformer", rig.skeleton.names[joint], "Cluster", "SubDeformer")
        one.add("Version", np.int32(100))
        one.add("UserData", "", "")
        one.add("Indexes", point[part].astype(np.int32))
        one.add("Weights", weight[part])
        inverse = mesh.inverse_bind[b].astype(np.float64)
        if back is not None:
            inverse = affine.multiply(inverse, back)
        one.add("Transform", file_matrix(inverse, scale))
        one.add("TransformLink", file_matrix(bound.link[b], scale))
        one.add("TransformAssociateModel", file_matrix(holders[joint], scale))
        document.connect(cluster, skin)
        document.connect(nodes[joint], cluster)


def _above_bones(rig: FbxRig) -> list[Array]:
    """Where the node rests that holds all the bones a joint is one of: Blender's older importer makes an armature of it."""
    found: list[Array] = []
    for j, p in enumerate(rig.skeleton.parents.tolist()):
        above = found[p] if p >= 0 else affine.identity((), np.float64)
        found.append(above if rig.bones[j] else rig.rest[j])
    return found


def write_bind_pose(document: FbxDocument, rig: FbxRig, nodes: list[int], models: list[int]) -> None:
    """Where skinned meshes and all joints above and below them were when they were bound."""
    skinned = [(model, one) for model, one in zip(models, rig.placed) if one.bound is not None]
    if not skinned:
        return
    scale = document.space.scale
    J = len(rig.skeleton)
    shown = rig.bones.copy()
    for _, one in skinned:
        if one.own >= 0:
            shown[one.own] = True
    for j in range(J - 1, -1, -1):
        p = int(rig.skeleton.parents[j])
        if shown[j] and p >= 0:
            shown[p] = True
    places = {
        nodes[j]: rig.links.known.get(j, rig.rest[j]) for j in np.flatnonzero(shown).tolist() if nodes[j]
    }
    for model, one in skinned:
        assert one.bound is not None
        places[model] = one.bound.place
    _, record = document.object("Pose", "BindPose", "BindPose")
    record.add("Type", "BindPose")
    record.add("Version", np.int32(100))
    record.add("NbPoseNodes", np.int32(len(places)))
    for node, matrix in places.items():
        one_node = record.add("PoseNode")
        one_node.add("Node", node)
        one_node.add("Matrix", file_matrix(matrix, scale))
