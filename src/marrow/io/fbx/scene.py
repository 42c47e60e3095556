"""What concerns the scene as a whole: levels of detail, skins that move with their node, and what is not read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.motion import TRANSFORMS
from marrow.io.fbx.skin import matrix
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.math import affine
from marrow.report import ReportBuilder

__all__ = ["bound_at", "lod_groups", "report_unread"]

Array = NDArray[Any]
_STILL = 1e-5
_SMOOTH = (2, 3)  # of ufbx.SubdivisionDisplayMode: hull and smooth, smooth


def report_unread(scene: UfbxObject, report: ReportBuilder) -> None:
    """One line for each kind of thing that marrow does not read."""
    kinds = {
        "lights": "lights",
        "cameras": "cameras",
        "stereo_cameras": "stereo cameras",
        "constraints": "constraints; what they move stays where the file has it",
        "nurbs_surfaces": "NURBS surfaces; convert them to polygons before exporting",
        "nurbs_curves": "NURBS curves",
        "line_curves": "line curves",
        "procedural_geometries": "procedural geometries",
    }
    for attribute, words in kinds.items():
        count = len(getattr(scene, attribute))
        if count:
            what, _, rest = words.partition("; ")
            report.add("dropped", "scene", f"{count} {what} were left out{'; ' + rest if rest else ''}")
    smooth = [m.name for m in scene.meshes if int(m.subdivision_display_mode) in _SMOOTH]
    if smooth:
        report.add(
            "dropped", "scene", f"{len(smooth)} subdivision surfaces are read as the polygons of their cage"
        )


def lod_groups(
    scene: UfbxObject, report: ReportBuilder
) -> tuple[dict[int, tuple[int, int]], list[list[float]]]:
    """Which LOD group and which level of it each node (by ufbx number) belongs to; and for each group the part of the
    picture's height below which its second, third... level is meant, where the file says so."""
    found: dict[int, tuple[int, int]] = {}
    sizes: list[list[float]] = []
    for group in scene.lod_groups:
        for node in group.instances:
            levels = list(node.children)
            for k, top in enumerate(levels):
                waiting = [top]
                while waiting:
                    below = waiting.pop()
                    found[below.typed_id] = (len(sizes), k)
                    waiting.extend(below.children)
            distances = [float(level.distance) for level in group.lod_levels][1 : len(levels)]
            shares = [d / 100 for d in distances]
            falls = all(0 < b < a <= 1 for a, b in pairwise([1.0, *shares]))
            usable = bool(group.relative_distances) and falls and len(shares) == len(levels) - 1
            sizes.append(shares if usable else [])
            if len(levels) > 1 and any(distances) and not usable:
                told = ", ".join(f"{d:g}" for d in distances)
                report.add(
                    "dropped", f"LOD group {node.name!r}", f"its distances ({told}) are no screen sizes"
                )
    return found, sizes


def bound_at(scene: UfbxObject, shown_on: list[UfbxObject]) -> dict[int, list[list[float]]]:
    """Meshes of Maya files whose node is, or goes, elsewhere than where it was bound (by their number, with the
    node's matrix at the binding), see `moved_skins`. Mesh i is shown on node `shown_on[i]`."""
    if "maya" not in str(scene.metadata.original_application.name).lower():
        return {}
    animated = {
        prop.element.element_id
        for stack in scene.anim_stacks
        for layer in stack.layers
        for prop in layer.anim_props
        if prop.prop_name in TRANSFORMS
    }
    found = {}
    for i, node in enumerate(shown_on):
        clusters = [c for d in node.mesh.skin_deformers for c in d.clusters if c.bone_node is not None]
        if not clusters:
            continue
        bind = _bind_matrix(clusters)
        if bind is None:
            continue
        away = float(np.abs(matrix(node.node_to_world) - bind).max()) > _STILL * max(
            1.0, float(np.abs(bind).max())
        )
        if away or _has_animated_ancestor(node, animated):
            found[i] = bind.tolist()
    return found


def _bind_matrix(clusters: list[UfbxObject]) -> Array | None:
    """The mesh's matrix when it was bound, where all clusters agree on it."""
    found = np.stack(
        [affine.multiply(matrix(c.bind_to_world), matrix(c.mesh_node_to_bone)) for c in clusters]
    )
    first = found[0]
    if not np.isfinite(found).all() or np.abs(found - first).max() > 1e-3 * max(
        1.0, float(np.abs(first).max())
    ):
        return None
    return first


def _has_animated_ancestor(node: UfbxObject | None, animated: set[int]) -> bool:
    while node is not None:
        if node.element_id in animated:
            return True
        node = node.parent
    return False
