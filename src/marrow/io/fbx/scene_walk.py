"""A ufbx scene as plain data, walked once: what `plain_scene.PlainScene` describes.

This runs in the reader's process, without NumPy. Nothing is decided here that the caller can decide from the data."""

from __future__ import annotations

import struct
from typing import Any

import ufbx

from marrow.io.fbx.attribute_walk import walk_attributes
from marrow.io.fbx.blocks import Blocks
from marrow.io.fbx.material_walk import MaterialWalk
from marrow.io.fbx.mesh_walk import is_smooth, packed_matrix, walk_mesh, walk_surface
from marrow.io.fbx.stack_walk import StackWalk
from marrow.io.fbx.ufbx_binding import elements, hold, number
from marrow.io.reader_worker import Refusal

__all__ = ["load_scene", "walk_scene"]

MAX_NODES = 200_000
_UNREAD = (
    "stereo_cameras",
    "nurbs_curves",
    "line_curves",
    "procedural_geometries",
)
_SURFACES = 1 << 32
"""NURBS surfaces are numbered from here on, behind all meshes."""
_PIVOTS = ("RotationPivot", "ScalingOffset", "ScalingPivot")
_TRANSFORM = struct.Struct("<10d")


def load_scene(data: bytes, scale: float | None) -> Any:
    """The scene of an FBX file, Y up, in metres; `ufbx.UfbxError` for a file ufbx cannot read."""
    return hold(
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


def walk_scene(
    data: bytes, scale: float | None, rate: float | None, blocks: Blocks, *, cages: bool = False
) -> dict[str, Any]:
    """The scene of an FBX file; with `cages` what subdividing its meshes needs.

    Raises `ufbx.UfbxError` for a file ufbx cannot read, `Refusal` for one that is too large.
    """
    scene = load_scene(data, scale)
    nodes = elements(scene.nodes)
    if len(nodes) > MAX_NODES:
        raise Refusal(f"has {len(nodes)} nodes, more than the {MAX_NODES} marrow reads")
    materials = MaterialWalk(blocks)
    described: list[dict[str, Any]] = []
    rest: list[bytes] = []
    meshes: dict[int, dict[str, Any]] = {}
    plain: dict[int, Any] = {}
    surfaces = {
        int(node.typed_id): surface
        for surface in elements(scene.nurbs_surfaces)
        for node in elements(surface.instances)
    }
    for i, node in enumerate(nodes):
        place, turn, stretch = hold(node.local_transform)
        rest.append(_TRANSFORM.pack(*place, *turn, *stretch))
        entry = _node(node, blocks)
        entry.update(walk_attributes(node))
        if "plain" in entry:
            plain[i] = node
        mesh = hold(node.mesh)
        if mesh is not None:
            entry["mesh"] = number_of_mesh = int(mesh.typed_id)
            entry["matrices"] = blocks.put(
                packed_matrix(node.geometry_to_node) + packed_matrix(node.node_to_world)
            )
            slots = elements(node.materials) or elements(mesh.materials)
            entry["materials"] = [materials.number(m) for m in slots]
            if number_of_mesh not in meshes:
                meshes[number_of_mesh] = walk_mesh(mesh, blocks, cage=cages)
        elif i in surfaces:
            surface = surfaces[i]
            entry["mesh"] = number_of_mesh = _SURFACES + int(surface.typed_id)
            entry["matrices"] = blocks.put(
                packed_matrix(node.geometry_to_node) + packed_matrix(node.node_to_world)
            )
            painted = hold(surface.material)
            slots = elements(node.materials) or ([] if painted is None else [painted])
            entry["materials"] = [materials.number(m) for m in slots]
            if number_of_mesh not in meshes:
                meshes[number_of_mesh] = walk_surface(surface, blocks)
        described.append(entry)
    metadata, settings = hold(scene.metadata), hold(scene.settings)
    stacks = StackWalk(scene, nodes, plain, list(meshes.values()), rate, blocks)
    smooth = [m for m in elements(scene.meshes) if is_smooth(m)]
    return {
        "warnings": [(str(hold(w.description)), int(w.count)) for w in elements(metadata.warnings)],
        "unread": {name: len(hold(getattr(scene, name))) for name in _UNREAD},
        "smooth": len(smooth),
        "unit": number(metadata.geometry_scale),
        "mirrored": int(hold(metadata.mirror_axis)) != 0,
        "application": str(hold(hold(metadata.original_application).name)),
        "rate": number(settings.frames_per_second),
        "nodes": described,
        "rest": blocks.put(b"".join(rest)),
        "meshes": meshes,
        "materials": materials.materials,
        "textures": materials.textures,
        "groups": _lod_groups(scene),
        "constraints": [_constraint(c) for c in elements(scene.constraints)],
        "stacks": stacks.walk(),
        "own": stacks.own,
    }


def _node(node: Any, blocks: Blocks) -> dict[str, Any]:
    """What there is to say of a node but its transform and mesh; what is as usual is left out."""
    found: dict[str, Any] = {"name": str(hold(node.name)), "element": int(node.element_id)}
    parent = hold(node.parent)
    if parent is not None:
        found["parent"] = int(parent.typed_id)
    for name, key in (
        ("is_root", "root"),
        ("is_scale_helper", "scale_helper"),
        ("is_geometry_transform_helper", "geometry_helper"),
        ("is_scale_compensate_parent", "compensates"),
    ):
        if hold(getattr(node, name)):
            found[key] = True
    if not hold(node.visible):
        found["visible"] = False
    if hold(node.scale_helper) is not None:
        found["scaled_by_helper"] = True
    if int(hold(node.inherit_mode)):
        found["inherits"] = True
    find = hold(hold(node.props).find_prop)
    pivots = [x for name in _PIVOTS for x in _vector(find, name)]
    if any(pivots):
        found["pivots"] = blocks.doubles(*pivots)
    if _turns_plainly(node, find):
        adjusted = bool(hold(node.has_adjust_transform))
        around = (*hold(node.adjust_pre_rotation), *hold(node.adjust_post_rotation))
        found["plain"] = blocks.doubles(*hold(node.euler_rotation), *(around if adjusted else ()))
    return found


def _turns_plainly(node: Any, find: Any) -> bool:
    """Whether pre-rotation, post-rotation or order are switched off that would make a difference (`rotation_space`)."""
    if node.is_root or not (
        _flag(find, "RotationActive", True) is False or _flag(find, "RotationSpaceForLimitOnly", False)
    ):
        return False
    return int(hold(node.rotation_order)) != 0 or any(
        (*_vector(find, "PreRotation"), *_vector(find, "PostRotation"))
    )


def _flag(find: Any, name: str, default: bool) -> bool:
    prop = hold(find(name))
    return default if prop is None else bool(hold(prop.value_int))


def _vector(find: Any, name: str) -> tuple[float, ...]:
    prop = hold(find(name))
    return (0.0, 0.0, 0.0) if prop is None else tuple(hold(prop.value_vec4)[:3])


def _constraint(constraint: Any) -> dict[str, Any]:
    """A constraint: its type, what it moves and looks at, by their indices, and how."""

    def index(node: Any) -> int:
        return -1 if node is None else int(node.typed_id)

    flags = (constraint.constrain_translation, constraint.constrain_rotation, constraint.constrain_scale)
    return {
        "name": str(hold(constraint.name)),
        "kind": hold(constraint.type).name.lower(),
        "type_name": str(hold(constraint.type_name)),
        "node": index(hold(constraint.node)),
        "targets": [(index(hold(t.node)), number(t.weight)) for t in elements(constraint.targets)],
        "weight": number(constraint.weight),
        "active": bool(hold(constraint.active)),
        "axes": [[bool(v) for v in hold(flag)] for flag in flags],
        "aim": [number(v) for v in hold(constraint.aim_vector)],
        "up_axis": [number(v) for v in hold(constraint.aim_up_vector)],
        "up_kind": hold(constraint.aim_up_type).name.lower(),
        "up_node": index(hold(constraint.aim_up_node)),
    }


def _lod_groups(scene: Any) -> list[dict[str, Any]]:
    """The nodes below each level of each group, and the distances of the levels."""
    found = []
    for group in elements(scene.lod_groups):
        for node in elements(group.instances):
            levels = []
            for top in elements(node.children):
                below, waiting = [], [top]
                while waiting:
                    one = waiting.pop()
                    below.append(int(one.typed_id))
                    waiting.extend(elements(one.children))
                levels.append(below)
            found.append(
                {
                    "name": str(hold(node.name)),
                    "levels": levels,
                    "distances": [number(level.distance) for level in elements(group.lod_levels)],
                    "relative": bool(hold(group.relative_distances)),
                }
            )
    return found
