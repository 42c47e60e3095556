"""An FBX scene as a `Character`: every node a joint, every mesh on a node a mesh, every stack a clip."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.fbx.caches import CacheNote, CacheNotes
from marrow.io.fbx.cameras import is_placed, read_attributes
from marrow.io.fbx.constraints import read_constraints
from marrow.io.fbx.geometry import FbxGeometry, read_geometry
from marrow.io.fbx.levels import GroupNotes
from marrow.io.fbx.materials import FbxMaterials
from marrow.io.fbx.motion import read_clips
from marrow.io.fbx.plain_scene import PlainMesh, PlainNode, PlainScene
from marrow.io.fbx.rotation_space import plain_rotation
from marrow.io.fbx.scene import bound_at, lod_groups, report_unread
from marrow.io.fbx.skin import Morphs, read_skin
from marrow.math import affine, quaternion
from marrow.model import Character, Mesh, MorphTarget, Pose, Skeleton
from marrow.model._validate import owned
from marrow.report import ReportBuilder

__all__ = ["Converted", "convert"]

Array = NDArray[Any]
MAX_VERTICES = 256_000_000
SMALL_VERTICES = 8_000_000
"""Vertices that a file of any size may show: one mesh on many nodes has its own copy of them on each."""


@dataclass
class Converted:
    """A character, and what is left to do with it: images to find or to make (`FbxMaterials`), skins that move
    with their node (the mesh's number, and the node's matrix when it was bound; see `moved_skins`), geometry caches
    (see `caches`), LOD groups (see `levels`).
    """

    character: Character
    materials: FbxMaterials
    bound_at: dict[int, Array]
    caches: CacheNotes
    groups: GroupNotes


def convert(
    scene: PlainScene,
    size: int,
    rate: float | None,
    report: ReportBuilder,
    subdivide: int | str | None = None,
) -> Converted:
    """The character in the scene of a file of `size` bytes; a `ResourceLimitError` for one that is too large."""
    document = scene.document
    for description, count in document.warnings:
        report.add("warning", "ufbx", f"{description} ({count} times)")
    report_unread(scene, report, subdivided=subdivide is not None)
    names, parents, rest, joint_of = _nodes(scene, report)
    materials = FbxMaterials(scene, report)
    level_of, sizes = lod_groups(scene, report)
    made = _Meshes(
        scene, joint_of, materials, report, min(MAX_VERTICES, SMALL_VERTICES + size // 4), subdivide
    )
    made.read()
    morphs = made.morphs
    rest = rest.replace(morphs=np.array(morphs.defaults, np.float32))
    skeleton = Skeleton(tuple(names), parents, rest, tuple(morphs.names))
    attributes = read_attributes(scene, joint_of, skeleton.names, report)
    clips = read_clips(scene, skeleton, joint_of, morphs.channel_of, rate, report, attributes)
    constraints = read_constraints(document.constraints, skeleton, joint_of, report)
    character = Character(
        skeleton,
        tuple(made.meshes),
        clips,  # type: ignore[arg-type]
        tuple(materials.materials),
        tuple(materials.images),
        constraints=constraints,
        cameras=tuple(attributes.cameras),
        lights=tuple(attributes.lights),
        extras=attributes.extras,
        report=report.build(),
    )
    caches = CacheNotes(
        made.caches,
        document.unit if document.unit is not None else np.nan,
        document.rate if document.rate is not None else np.nan,
        document.stacks[0].name if document.stacks else "",
    )
    leveled = {i: level_of[n] for i, n in enumerate(made.shown_on) if n in level_of}
    groups = GroupNotes(leveled, sizes)
    return Converted(character, materials, bound_at(scene, made.shown_on), caches, groups)


def _nodes(scene: PlainScene, report: ReportBuilder) -> tuple[list[str], Array, Pose, dict[int, int]]:
    """Names, parents and rest pose of all nodes, and the joint of each by its index.

    ufbx puts a root of its own above the file's nodes. It goes unless it holds something.
    """
    nodes = scene.document.nodes
    table = scene.reals(scene.document.rest, 10)
    identity = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1.0])
    joint_of: dict[int, int] = {}
    names: list[str] = []
    parents: list[int] = []
    rows: dict[int, Array] = {}
    for i, node in enumerate(nodes):
        if node.root and node.mesh < 0 and (table[i] == identity).all():
            continue
        if is_placed(node) and node.parent in joint_of:
            continue
        number = joint_of[i] = len(names)
        names.append(_name(nodes, node) or ("root" if node.root else f"node_{number}"))
        parents.append(joint_of.get(node.parent, -1))
        if node.scaled_by_helper and node.pivots >= 0 and scene.reals(node.pivots, 3)[2].any():
            # ufbx moves the scale to a helper node and forgets what it was about.
            report.add("warning", f"node {node.name!r}", "scales about its origin, not its scaling pivot")
        if node.plain >= 0:
            unit = scene.document.unit if scene.document.unit is not None else np.nan
            place, turn = plain_rotation(scene, node, table[i], unit)
            rows[number] = np.concatenate([place, turn, table[i, 7:]])
    table = table[list(joint_of)]
    for number, row in rows.items():
        table[number] = row
    broken = ~np.isfinite(table).all(1)
    if broken.any():
        report.add(
            "repaired", "nodes", f"{int(broken.sum())} transforms that are not finite became the identity"
        )
        table[broken] = identity
    rest = Pose(
        *(a.astype(np.float32) for a in (table[:, :3], quaternion.normalize(table[:, 3:7]), table[:, 7:]))
    )
    return names, np.array(parents, np.int32), rest, joint_of


def _name(nodes: list[PlainNode], node: PlainNode) -> str:
    if node.is_helper:
        return f"{nodes[node.parent].name}_{'scale' if node.scale_helper else 'geometry'}"
    return node.name


@dataclass
class _Shared:
    """What one mesh is on every node that shows it: each array once."""

    geometry: FbxGeometry
    positions: Array | None = None
    targets: tuple[MorphTarget, ...] | None = None
    influences: list[tuple[Array, Array]] = field(default_factory=list)


@dataclass
class _Meshes:
    """A mesh for every node that shows one, in the order of the nodes; those nodes; what caches there are of them."""

    scene: PlainScene
    joint_of: dict[int, int]
    materials: FbxMaterials
    report: ReportBuilder
    most: int
    subdivide: int | str | None = None
    meshes: list[Mesh] = field(default_factory=list)
    shown_on: list[int] = field(default_factory=list)
    caches: list[CacheNote] = field(default_factory=list)
    morphs: Morphs = field(default_factory=Morphs)

    def read(self) -> None:
        """Reads them all."""
        document = self.scene.document
        known: dict[int, _Shared | None] = {}
        total = 0
        for i, node in enumerate(document.nodes):
            if node.mesh < 0 or i not in self.joint_of:
                continue
            mesh = document.meshes[node.mesh]
            owner = document.nodes[node.parent] if node.is_helper else node
            name = owner.name or mesh.name or f"mesh_{len(self.meshes)}"
            place = f"mesh {name!r}"
            if node.mesh not in known:
                geometry = read_geometry(self.scene, mesh, place, self.report, self.subdivide)
                known[node.mesh] = None if geometry is None else _Shared(geometry)
            shared = known[node.mesh]
            if shared is None:
                self.report.add("dropped", place, "a mesh without triangles was left out")
                continue
            total += len(shared.geometry.control)
            if total > self.most:
                raise ResourceLimitError(
                    f"shows more than {self.most:,} vertices over all its nodes, which is what marrow reads of a file "
                    "of its size",
                    remedy="show a mesh on fewer nodes",
                )
            for channel, paths in [c for c in mesh.caches if not c[0].endswith("_normals")][:1]:
                if shared.geometry.steps:
                    self.report.add("dropped", place, "its geometry cache moves points that were subdivided")
                    continue
                note = CacheNote(
                    len(self.meshes), paths, channel, shared.geometry.control.tolist(), mesh.points
                )
                self.caches.append(note)
            self.meshes.append(self._mesh(node, mesh, self.joint_of[i], name, shared))
            self.shown_on.append(i)

    def _mesh(self, node: PlainNode, mesh: PlainMesh, joint: int, name: str, shared: _Shared) -> Mesh:
        geometry = shared.geometry
        on_node = self.scene.matrices(node.matrices)[0]
        skin = read_skin(
            self.scene, mesh, joint, on_node, self.joint_of, geometry, f"mesh {name!r}", self.report
        )
        normals, tangents = geometry.normals, geometry.tangents
        mirrored = skin.bind is not None and bool(affine.mirrors(skin.bind))
        if shared.positions is None:
            moved = geometry.positions if skin.bind is None else affine.apply(skin.bind, geometry.positions)
            shared.positions = owned(moved.astype(np.float32))
            shared.targets = self.morphs.targets(self.scene, mesh, geometry, skin.bind)
        if skin.bind is not None:
            if normals is not None:
                normals = _unit(affine.apply_vectors(affine.normal_matrix(skin.bind), normals))
            if tangents is not None:
                along = _unit(affine.apply_vectors(skin.bind, tangents[:, :3]))
                tangents = np.concatenate([along, tangents[:, 3:] * (-1 if mirrored else 1)], axis=1)
        numbers: list[int | None] = [self.materials.number(m) for m in node.materials]
        joints, weights = _shared_influences(
            skin.joints.astype(np.uint16 if len(skin.joint_list) <= 0x10000 else np.uint32),
            skin.weights,
            shared,
        )
        return Mesh(
            name,
            shared.positions,
            geometry.triangles[:, ::-1] if mirrored else geometry.triangles,
            joints,
            weights,
            np.array(skin.joint_list, np.int32),
            skin.inverse_bind.astype(np.float32),
            normals,
            tangents,
            geometry.uvs,
            geometry.colors,
            geometry.sections_with(numbers),
            shared.targets or (),
            skin.skinning,
            skin.dual_quaternion_weights,
            joint,
            node.visible,
        )


def _shared_influences(joints: Array, weights: Array, shared: _Shared) -> tuple[Array, Array]:
    """The influences, or the same ones that the mesh has on another node."""
    for known in shared.influences:
        if known[0].dtype == joints.dtype and np.array_equal(known[0], joints):
            return known
    shared.influences.append((owned(joints), owned(weights.astype(np.float32))))
    return shared.influences[-1]


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0, length, 1)
