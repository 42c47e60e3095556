"""A ufbx scene as a `Character`: every node a joint, every mesh on a node a mesh, every stack a clip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.fbx.geometry import FbxGeometry, read_geometry
from marrow.io.fbx.materials import FbxMaterials
from marrow.io.fbx.motion import read_clips
from marrow.io.fbx.rotation_space import plain_rotation, turns_plainly
from marrow.io.fbx.scene import bound_at, lod_groups, report_unread
from marrow.io.fbx.skin import Morphs, matrix, read_skin
from marrow.io.fbx.ufbx_binding import UfbxObject, learn_layout
from marrow.math import affine, quaternion
from marrow.model import Character, Mesh, Pose, Skeleton
from marrow.model._validate import owned
from marrow.report import ReportBuilder

__all__ = ["Converted", "convert"]

Array = NDArray[Any]
MAX_NODES, MAX_VERTICES = 200_000, 256_000_000
SMALL_VERTICES = 8_000_000
"""Vertices that a file of any size may show: one mesh on many nodes has its own copy of them on each."""


@dataclass
class Converted:
    """A character, and what is left for the parent to do: images to find or to make (`FbxMaterials`), skins that move
    with their node (the mesh's number, and the node's matrix when it was bound; see `moved_skins`), geometry caches
    (see `caches`), LOD groups (see `levels`).
    """

    character: Character
    materials: FbxMaterials
    bound_at: dict[int, list[list[float]]]
    caches: dict[str, Any]
    groups: dict[str, Any]


def convert(data: bytes, scale: float | None, rate: float | None) -> Converted:
    """The character in an FBX file.

    Raises `ufbx.UfbxError` for a file ufbx cannot read, `ResourceLimitError` for one that is too large.
    """
    scene = UfbxObject(
        ufbx.load_memory(
            data,
            target_axes=ufbx.axes_right_handed_y_up,
            target_unit_meters=1.0 / (scale or 1.0),
            space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
            geometry_transform_handling=ufbx.GeometryTransformHandling.MODIFY_GEOMETRY,
            inherit_mode_handling=ufbx.InheritModeHandling.COMPENSATE,
            generate_missing_normals=True,
            normalize_normals=True,
            clean_skin_weights=True,
            use_blender_pbr_material=True,
            file_format=ufbx.FileFormat.FBX,
        )
    )
    if len(scene.nodes) > MAX_NODES:
        raise ResourceLimitError(f"has {len(scene.nodes)} nodes, more than the {MAX_NODES} marrow reads")
    for mesh in scene.meshes:
        learn_layout(mesh.vertices)
    report = ReportBuilder()
    for warning in scene.metadata.warnings:
        report.add("warning", "ufbx", f"{warning.description} ({warning.count} times)")
    report_unread(scene, report)
    names, parents, rest, joint_of = _nodes(scene, report)
    materials, morphs = FbxMaterials(report), Morphs()
    level_of, sizes = lod_groups(scene, report)
    most = min(MAX_VERTICES, SMALL_VERTICES + len(data) // 4)
    meshes, shown_on, cached = _meshes(scene, joint_of, materials, morphs, report, most)
    rest = rest.replace(morphs=np.array(morphs.defaults, np.float32))
    skeleton = Skeleton(tuple(names), parents, rest, tuple(morphs.names))
    clips = read_clips(scene, skeleton, joint_of, morphs.channel_of, rate, report)
    character = Character(
        skeleton,
        tuple(meshes),
        clips,  # type: ignore[arg-type]
        tuple(materials.materials),
        tuple(materials.images),
        report=report.build(),
    )
    takes = [str(stack.name) for stack in scene.anim_stacks]
    caches = {
        "caches": cached,
        "scale": float(scene.metadata.geometry_scale),
        "rate": float(scene.settings.frames_per_second),
        "take": takes[0] if takes else "",
    }
    leveled = {i: level_of[n.typed_id] for i, n in enumerate(shown_on) if n.typed_id in level_of}
    groups = {"meshes": leveled, "sizes": sizes}
    return Converted(character, materials, bound_at(scene, shown_on), caches, groups)


def _nodes(scene: UfbxObject, report: ReportBuilder) -> tuple[list[str], Array, Pose, dict[int, int]]:
    """Names, parents and rest pose of all nodes, and the joint of each by its ufbx number.

    ufbx puts a root of its own above the file's nodes. It goes unless it holds something.
    """
    nodes = list(scene.nodes)
    root = scene.root_node
    plain = tuple(root.local_transform) == tuple(ufbx.identity_transform) and root.mesh is None
    joint_of: dict[int, int] = {}
    names: list[str] = []
    parents: list[int] = []
    rows: list[tuple[float, ...]] = []
    for node in nodes:
        if node.is_root and plain:
            continue
        number = joint_of[node.typed_id] = len(names)
        parent = node.parent
        above = joint_of.get(parent.typed_id, -1) if parent is not None else -1
        names.append(_name(node) or ("root" if node.is_root else f"node_{number}"))
        parents.append(above)
        if node.scale_helper is not None:
            pivot = node.props.find_prop("ScalingPivot")
            if pivot is not None and any(pivot.value_vec4[:3]):
                # ufbx moves the scale to a helper node and forgets what it was about.
                report.add("warning", f"node {node.name!r}", "scales about its origin, not its scaling pivot")
        t = node.local_transform
        place, turn = t.translation, t.rotation
        if turns_plainly(node):
            place, turn = plain_rotation(node, float(scene.metadata.geometry_scale))
        rows.append((*place, *turn, *t.scale))
    table = np.array(rows, np.float64).reshape(-1, 10)
    broken = ~np.isfinite(table).all(1)
    if broken.any():
        report.add(
            "repaired", "nodes", f"{int(broken.sum())} transforms that are not finite became the identity"
        )
        table[broken] = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)
    rest = Pose(
        *(a.astype(np.float32) for a in (table[:, :3], quaternion.normalize(table[:, 3:7]), table[:, 7:]))
    )
    return names, np.array(parents, np.int32), rest, joint_of


def _is_helper(node: UfbxObject) -> bool:
    """Whether ufbx put the node below another, for a scale or a geometry transform that is not handed on."""
    return bool(node.is_scale_helper or node.is_geometry_transform_helper)


def _name(node: UfbxObject) -> str:
    if _is_helper(node):
        return f"{node.parent.name}_{'scale' if node.is_scale_helper else 'geometry'}"
    return str(node.name)


def _meshes(
    scene: UfbxObject,
    joint_of: dict[int, int],
    materials: FbxMaterials,
    morphs: Morphs,
    report: ReportBuilder,
    most: int,
) -> tuple[list[Mesh], list[UfbxObject], list[dict[str, Any]]]:
    """A mesh for every node that shows one, in the order of the nodes; those nodes; what caches there are of them."""
    geometries: dict[int, FbxGeometry | None] = {}
    found: list[Mesh] = []
    nodes: list[UfbxObject] = []
    caches: list[dict[str, Any]] = []
    total = 0
    for node in scene.nodes:
        mesh, joint = node.mesh, joint_of.get(node.typed_id)
        if mesh is None or joint is None:
            continue
        owner = node.parent if _is_helper(node) else node
        name = owner.name or mesh.name or f"mesh_{len(found)}"
        place = f"mesh {name!r}"
        if mesh.typed_id not in geometries:
            geometries[mesh.typed_id] = read_geometry(mesh, place, report)
        geometry = geometries[mesh.typed_id]
        if geometry is None:
            report.add("dropped", place, "a mesh without triangles was left out")
            continue
        total += len(geometry.control)
        if total > most:
            raise ResourceLimitError(
                f"shows more than {most:,} vertices over all its nodes, which is what marrow reads of a file of its size",
                remedy="show a mesh on fewer nodes",
            )
        deformers = [d for d in mesh.cache_deformers if not str(d.channel).endswith("_normals")]
        for deformer in deformers[:1]:
            caches.append(_cache(deformer, len(found), mesh, geometry))
        made = _mesh(node, mesh, joint, name, geometry, joint_of, materials, morphs, report)
        found.append(made)
        nodes.append(node)
    return found, nodes, caches


def _cache(deformer: UfbxObject, number: int, mesh: UfbxObject, geometry: FbxGeometry) -> dict[str, Any]:
    file = deformer.file
    paths = [] if file is None else [file.relative_filename, file.filename, file.absolute_filename]
    return {
        "mesh": number,
        "paths": [str(path) for path in dict.fromkeys(paths) if path],
        "channel": str(deformer.channel),
        "control": geometry.control.tolist(),
        "points": int(mesh.num_vertices),
    }


def _mesh(
    node: UfbxObject,
    mesh: UfbxObject,
    joint: int,
    name: str,
    geometry: FbxGeometry,
    joint_of: dict[int, int],
    materials: FbxMaterials,
    morphs: Morphs,
    report: ReportBuilder,
) -> Mesh:
    on_node = matrix(node.geometry_to_node)
    skin = read_skin(mesh, joint, on_node, joint_of, geometry, f"mesh {name!r}", report)
    positions, normals, tangents = geometry.positions, geometry.normals, geometry.tangents
    if skin.bind is not None:
        positions = affine.apply(skin.bind, positions)
        normals = (
            None if normals is None else _unit(affine.apply_vectors(affine.cofactor(skin.bind), normals))
        )
        if tangents is not None:
            along = _unit(affine.apply_vectors(skin.bind, tangents[:, :3]))
            tangents = np.concatenate([along, tangents[:, 3:]], axis=1)
    slots = node.materials if len(node.materials) else mesh.materials
    numbers: list[int | None] = [materials.number(m) for m in slots]
    return Mesh(
        name,
        owned(positions.astype(np.float32)),
        geometry.triangles,
        skin.joints.astype(np.uint16 if len(skin.joint_list) <= 0x10000 else np.uint32),
        skin.weights,
        np.array(skin.joint_list, np.int32),
        skin.inverse_bind.astype(np.float32),
        normals,
        tangents,
        geometry.uvs,
        geometry.colors,
        geometry.sections_with(numbers),
        morphs.targets(mesh, geometry, skin.bind),
        skin.skinning,
        skin.dual_quaternion_weights,
        joint,
        bool(node.visible),
    )


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0, length, 1)
