"""Meshes of a ufbx scene as plain data: polygons and their attributes, skins, blend shapes, geometry caches."""

from __future__ import annotations

import struct
from typing import Any

from marrow.io.fbx.blocks import Blocks
from marrow.io.fbx.ufbx_binding import elements, hold, integers, number, reals

__all__ = ["is_smooth", "packed_matrix", "walk_mesh", "walk_surface"]

_MATRIX = struct.Struct("<12d")
_SMOOTH = (2, 3)  # of ufbx.SubdivisionDisplayMode: hull and smooth, smooth


def packed_matrix(matrix: Any) -> bytes:
    """A matrix column by column."""
    return _MATRIX.pack(*[x for column in hold(matrix) for x in column])


def walk_mesh(mesh: Any, blocks: Blocks, *, cage: bool) -> dict[str, Any]:
    """A mesh, see `plain_scene.PlainMesh`; with `cage` what subdividing it needs."""
    found: dict[str, Any] = {
        "name": str(hold(mesh.name)),
        "element": int(mesh.element_id),
        "points": int(mesh.num_vertices),
        "faces": int(mesh.num_faces),
        "indices": int(mesh.num_indices),
        "positions": blocks.put(reals(mesh.vertices)),
        "corners": blocks.put(integers(mesh.vertex_indices)),
        "polygons": blocks.put(reals(mesh.faces)),
        "face_materials": blocks.put(integers(mesh.face_material)),
    }
    holes = elements(mesh.face_hole)
    if any(holes):
        found["holes"] = blocks.put(bytes(map(bool, holes)))
    for name in ("normal", "tangent", "bitangent", "color"):
        attribute = hold(getattr(mesh, f"vertex_{name}"))
        if attribute.exists:
            found[f"{name}s"] = _attribute(attribute, blocks)
    uv_sets = [_attribute(hold(s.vertex_uv), blocks) for s in elements(mesh.uv_sets)]
    if uv_sets:
        found["uvs"] = uv_sets
    skins = [_skin(deformer, blocks) for deformer in elements(mesh.skin_deformers)]
    if skins:
        found["skins"] = skins
    channels = [
        _channel(channel, blocks)
        for deformer in elements(mesh.blend_deformers)
        for channel in elements(deformer.channels)
    ]
    if channels:
        found["channels"] = channels
    caches = [_cache(deformer) for deformer in elements(mesh.cache_deformers)]
    if caches:
        found["caches"] = caches
    if cage:
        found["cage"] = _cage(mesh, blocks)
    return found


def walk_surface(surface: Any, blocks: Blocks) -> dict[str, Any]:
    """A NURBS surface, as a mesh that has no polygons yet."""
    nothing = blocks.put(b"")
    return {
        "name": str(hold(surface.name)),
        "element": int(surface.element_id),
        "points": 0,
        "faces": 0,
        "indices": 0,
        "positions": nothing,
        "corners": nothing,
        "polygons": nothing,
        "face_materials": nothing,
        "nurbs": {
            "points": blocks.put(reals(surface.control_points)),
            "across": int(surface.num_control_points_u),
            "down": int(surface.num_control_points_v),
            "cuts_u": min(int(surface.span_subdivision_u), 1 << 20),
            "cuts_v": min(int(surface.span_subdivision_v), 1 << 20),
            "flipped": bool(hold(surface.flip_normals)),
            "u": _basis(hold(surface.basis_u), blocks),
            "v": _basis(hold(surface.basis_v), blocks),
        },
    }


def _basis(basis: Any, blocks: Blocks) -> dict[str, int]:
    return {
        "order": int(basis.order),
        "topology": int(hold(basis.topology)),
        "knots": blocks.put(reals(basis.knot_vector)),
    }


def _cage(mesh: Any, blocks: Blocks) -> dict[str, Any]:
    found: dict[str, Any] = {
        "smooth": is_smooth(mesh),
        "levels": int(mesh.subdivision_preview_levels),
        "boundary": int(hold(mesh.subdivision_boundary)),
        "uv_boundary": int(hold(mesh.subdivision_uv_boundary)),
        "edges": blocks.put(reals(mesh.edges)),
        "edge_crease": blocks.put(reals(mesh.edge_crease)),
    }
    crease = hold(mesh.vertex_crease)
    if crease.exists:
        found["point_crease"] = _attribute(crease, blocks)
    return found


def is_smooth(mesh: Any) -> bool:
    """Whether its author saw a mesh as the surface that subdividing gives."""
    return int(hold(mesh.subdivision_display_mode)) in _SMOOTH


def _attribute(attribute: Any, blocks: Blocks) -> tuple[int, int]:
    return blocks.put(reals(attribute.values)), blocks.put(integers(attribute.indices))


def _skin(deformer: Any, blocks: Blocks) -> dict[str, Any]:
    return {
        "method": int(hold(deformer.skinning_method)),
        "dq_vertices": blocks.put(integers(deformer.dq_vertices)),
        "dq_weights": blocks.put(reals(deformer.dq_weights)),
        "clusters": [_cluster(cluster, blocks) for cluster in elements(deformer.clusters)],
    }


def _cluster(cluster: Any, blocks: Blocks) -> tuple[int, int, int, int]:
    """The node, the vertices, their weights, and three matrices."""
    bone = hold(cluster.bone_node)
    matrices = (cluster.geometry_to_bone, cluster.bind_to_world, cluster.mesh_node_to_bone)
    return (
        -1 if bone is None else int(bone.typed_id),
        blocks.put(integers(cluster.vertices)),
        blocks.put(reals(cluster.weights)),
        blocks.put(b"".join(map(packed_matrix, matrices))),
    )


def _channel(channel: Any, blocks: Blocks) -> dict[str, Any]:
    keyframes = []
    for keyframe in elements(channel.keyframes):
        shape = hold(keyframe.shape)
        keyframes.append(
            {
                "full_weight": number(keyframe.target_weight),
                "name": str(hold(shape.name)),
                "vertices": blocks.put(integers(shape.offset_vertices)),
                "positions": blocks.put(reals(shape.position_offsets)),
                "normals": blocks.put(reals(shape.normal_offsets)),
                "weights": blocks.put(reals(shape.offset_weights)),
            }
        )
    return {
        "element": int(channel.element_id),
        "name": str(hold(channel.name)),
        "weight": number(channel.weight),
        "keyframes": keyframes,
    }


def _cache(deformer: Any) -> tuple[str, list[str]]:
    """The channel, and the paths the file may be at."""
    file = hold(deformer.file)
    names = ("relative_filename", "filename", "absolute_filename")
    paths = [] if file is None else [str(hold(getattr(file, name))) for name in names]
    return str(hold(deformer.channel)), [path for path in dict.fromkeys(paths) if path]
