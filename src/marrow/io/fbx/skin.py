"""Skin deformers and blend shapes of FBX: influences per control point, bind matrices, morph targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.geometry import FbxGeometry
from marrow.io.fbx.plain_scene import PlainChannel, PlainCluster, PlainMesh, PlainScene, PlainShape, PlainSkin
from marrow.lod.subdivided_meshes import influence_table, refined_influences
from marrow.math import affine
from marrow.model import MorphTarget, normalize_weights
from marrow.model.mesh import SkinningMethod
from marrow.report import ReportBuilder

__all__ = ["FbxSkin", "Morphs", "read_skin"]

Array = NDArray[Any]
_DUAL_QUATERNION, _BLENDED = 2, 3


@dataclass
class FbxSkin:
    """What moves the vertices of one mesh; `positions` where binding moved the mesh itself (None: as they
    are).
    """

    joints: Array
    weights: Array
    joint_list: list[int]
    inverse_bind: Array
    skinning: SkinningMethod = "linear"
    dual_quaternion_weights: Array | None = None
    bind: Array | None = None


def read_skin(
    scene: PlainScene,
    mesh: PlainMesh,
    node: int,
    node_matrix: Array,
    joint_of: dict[int, int],
    geometry: FbxGeometry,
    place: str,
    report: ReportBuilder,
) -> FbxSkin:
    """The skin of a mesh on a node. Vertices without weights, and meshes without a skin, follow the node."""
    V = len(geometry.control)
    deformers = mesh.skins
    clusters = [c for d in deformers for c in d.clusters if c.node >= 0 and len(scene.bytes_at(c.vertices))]
    if not clusters:
        if deformers:
            report.add("warning", place, "its skin has no joints; it follows its node")
        return FbxSkin(np.zeros((V, 1), np.uint16), np.ones((V, 1), np.float32), [node], node_matrix[None])
    if len(deformers) > 1:
        report.add("warning", place, f"{len(deformers)} skins on one mesh are blended as one")
    joint_list = [joint_of[c.node] for c in clusters]
    binds = np.stack([scene.matrices(c.matrices)[0] for c in clusters])
    if not np.isfinite(binds).all():
        report.add("repaired", place, "bind matrices that are not finite became the identity")
        binds[~np.isfinite(binds).all(axis=(1, 2))] = affine.identity()
    joints, weights = _influences(scene, clusters, mesh.points)
    if geometry.steps:
        joints, weights = refined_influences(joints, weights, geometry.steps)
    joints, weights = joints[geometry.control], weights[geometry.control]
    total = np.where(np.isfinite(weights) & (weights > 0), weights, 0).sum(1)
    weights, bare = normalize_weights(weights)
    off = ~bare & (np.abs(total - 1) > 1e-3)
    if off.any():
        worst = float(total[off][np.argmax(np.abs(total[off] - 1))])
        report.add(
            "repaired", place, f"weights of {int(off.sum())} vertices did not sum to 1 (worst: {worst:.3g})"
        )
    if bare.any():
        report.add("repaired", place, f"{int(bare.sum())} vertices without weights follow the mesh's node")
        joints[bare, 0] = len(joint_list)
        joint_list.append(node)
        binds = np.concatenate([binds, node_matrix[None]])
    skin = FbxSkin(joints, weights, joint_list, binds)
    return _with_method(scene, skin, deformers, clusters, mesh, geometry)


def _influences(scene: PlainScene, clusters: list[PlainCluster], vertices: int) -> tuple[Array, Array]:
    """Joints and weights `(control points, K)`, strongest first."""
    where = [scene.integers(c.vertices) for c in clusters]
    who = np.repeat(np.arange(len(clusters)), [len(w) for w in where])
    vertex = np.concatenate(where).astype(np.int64)
    weight = np.concatenate([scene.reals(c.weights)[: len(w)] for c, w in zip(clusters, where)])
    inside = vertex < vertices
    vertex, who, weight = vertex[inside], who[inside], weight[inside]
    return influence_table(vertex, who, weight, vertices)


def _with_method(
    scene: PlainScene,
    skin: FbxSkin,
    deformers: list[PlainSkin],
    clusters: list[PlainCluster],
    mesh: PlainMesh,
    geometry: FbxGeometry,
) -> FbxSkin:
    """The skin, in the way its author chose. Dual quaternions are rigid: the stretch that brings the mesh
    to its bind pose is taken out of the bind matrices and applied to the vertices themselves."""
    methods = [d.method for d in deformers]
    if not any(m in (_DUAL_QUATERNION, _BLENDED) for m in methods):
        return skin
    if _DUAL_QUATERNION in methods:
        skin.skinning = "dual_quaternion"
    else:
        skin.skinning = "blended"
        share = np.zeros(mesh.points)
        for deformer in deformers:
            where, values = scene.integers(deformer.dq_vertices), scene.reals(deformer.dq_weights)
            inside = where < len(share)
            share[where[inside]] = values[: len(where)][inside]
        share = geometry.refined(np.clip(np.nan_to_num(share), 0, 1)[:, None])[:, 0]
        skin.dual_quaternion_weights = share[geometry.control].astype(np.float32)
    geometry_to_bone, bind_to_world, _ = scene.matrices(clusters[0].matrices)
    bind = affine.multiply(bind_to_world, geometry_to_bone)
    back = affine.invert(bind)
    if np.isfinite(back).all():
        skin.bind = bind
        skin.inverse_bind = affine.multiply(skin.inverse_bind, back[None])
    return skin


class Morphs:
    """The morph channels of the scene, numbered as they are met, and the morph targets of each mesh."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.defaults: list[float] = []
        self._numbers: dict[int, int] = {}
        self.channel_of: dict[tuple[int, str], int] = {}

    def targets(
        self, scene: PlainScene, mesh: PlainMesh, geometry: FbxGeometry, bind: Array | None
    ) -> tuple[MorphTarget, ...]:
        """The targets of a mesh, on its welded vertices."""
        found = []
        for channel in mesh.channels:
            number = self._number(channel)
            # Files before version 6000 key the mesh, under the name of the shape.
            self.channel_of[mesh.element, channel.name] = number
            for shape in channel.keyframes:
                target = _target(scene, shape, self.names[number], number, geometry, bind, mesh.points)
                if target is not None:
                    found.append(target)
        return tuple(found)

    def _number(self, channel: PlainChannel) -> int:
        number = self._numbers.get(channel.element)
        if number is None:
            number = self._numbers[channel.element] = len(self.names)
            self.channel_of[channel.element, "DeformPercent"] = number
            self.names.append(channel.name or f"morph_{number}")
            self.defaults.append(channel.weight or 0.0)
        return number


def _target(
    scene: PlainScene,
    shape: PlainShape,
    name: str,
    channel: int,
    geometry: FbxGeometry,
    bind: Array | None,
    points: int,
) -> MorphTarget | None:
    full = shape.full_weight
    if not full:
        return None
    where = scene.integers(shape.vertices)
    n = len(where)
    positions = _offsets(scene.reals(shape.positions, 3), n)
    given = scene.reals(shape.normals, 3)
    normals = _offsets(given, n) if len(given) else None
    share = scene.reals(shape.weights)
    if len(share) == n and n:
        positions = positions * np.nan_to_num(share)[:, None]
    if bind is not None:
        positions = affine.apply_vectors(bind, positions)
        normals = None if normals is None else affine.apply_vectors(affine.normal_matrix(bind), normals)
    # A control point may be named twice and may have become several vertices.
    inside = where < points
    dense = np.zeros((points, 3))
    np.add.at(dense, where[inside], positions[inside])
    dense_normals = None
    if geometry.steps:
        # How smooth normals bend follows from the points; what the file says of those of the cage does not fit.
        dense, normals = geometry.refined(dense), None
    moved = np.asarray(dense.any(1))
    if normals is not None and normals.any():
        dense_normals = np.zeros((points, 3))
        np.add.at(dense_normals, where[inside], normals[inside])
        moved |= dense_normals.any(1)
    vertices = np.flatnonzero(moved[geometry.control])
    control = geometry.control[vertices]
    return MorphTarget(
        shape.name or name,
        channel,
        dense[control].astype(np.float32),
        None if dense_normals is None else dense_normals[control].astype(np.float32),
        vertices=vertices.astype(np.uint32),
        full_weight=full,
    )


def _offsets(given: Array, count: int) -> Array:
    values = np.nan_to_num(given, posinf=0.0, neginf=0.0)[:count]
    return np.concatenate([values, np.zeros((count - len(values), 3))])
