"""What concerns the scene as a whole: levels of detail, skins that move with their node, and what is not read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.keyed_properties import TRANSFORMS
from marrow.io.fbx.plain_scene import PlainCluster, PlainScene
from marrow.math import affine
from marrow.report import ReportBuilder

__all__ = ["bound_at", "lod_groups", "report_unread"]

Array = NDArray[Any]
_STILL = 1e-5


def report_unread(scene: PlainScene, report: ReportBuilder, *, subdivided: bool = False) -> None:
    """One line for each kind of thing that marrow does not read."""
    kinds = {
        "stereo_cameras": "stereo cameras",
        "nurbs_curves": "NURBS curves",
        "line_curves": "line curves",
        "procedural_geometries": "procedural geometries",
    }
    for attribute, words in kinds.items():
        count = scene.document.unread.get(attribute, 0)
        if count:
            what, _, rest = words.partition("; ")
            report.add("dropped", "scene", f"{count} {what} were left out{'; ' + rest if rest else ''}")
    smooth = scene.document.smooth
    if smooth and not subdivided:
        report.add(
            "dropped",
            "scene",
            f"{smooth} subdivision surfaces are read as the polygons of their cage (load with subdivide='file')",
        )


def lod_groups(
    scene: PlainScene, report: ReportBuilder
) -> tuple[dict[int, tuple[int, int]], list[list[float]]]:
    """Which LOD group and which level of it each node (by its index) belongs to; and for each group the part of the
    picture's height below which its second, third... level is meant, where the file says so."""
    found: dict[int, tuple[int, int]] = {}
    sizes: list[list[float]] = []
    for group in scene.document.groups:
        levels = group.levels
        for k, below in enumerate(levels):
            for node in below:
                found[node] = (len(sizes), k)
        distances = [np.nan if d is None else d for d in group.distances][1 : len(levels)]
        shares = [d / 100 for d in distances]
        falls = all(0 < b < a <= 1 for a, b in pairwise([1.0, *shares]))
        usable = group.relative and falls and len(shares) == len(levels) - 1
        sizes.append(shares if usable else [])
        if len(levels) > 1 and any(distances) and not usable:
            told = ", ".join(f"{d:g}" for d in distances)
            report.add("dropped", f"LOD group {group.name!r}", f"its distances ({told}) are no screen sizes")
    return found, sizes


def bound_at(scene: PlainScene, shown_on: list[int]) -> dict[int, Array]:
    """Meshes of Maya files whose node is, or goes, elsewhere than where it was bound (by their number, with the
    node's matrix at the binding), see `moved_skins`. Mesh i is shown on node `shown_on[i]`."""
    document = scene.document
    if "maya" not in document.application.lower():
        return {}
    animated = {e for stack in document.stacks for e, name in stack.animated if name in TRANSFORMS}
    binds: dict[int, Array | None] = {}
    found = {}
    for i, at in enumerate(shown_on):
        node = document.nodes[at]
        if node.mesh not in binds:
            skins = document.meshes[node.mesh].skins
            clusters = [c for skin in skins for c in skin.clusters if c.node >= 0]
            binds[node.mesh] = _bind_matrix(scene, clusters) if clusters else None
        bind = binds[node.mesh]
        if bind is None:
            continue
        world = scene.matrices(node.matrices)[1]
        away = float(np.abs(world - bind).max()) > _STILL * max(1.0, float(np.abs(bind).max()))
        if away or _has_animated_ancestor(scene, at, animated):
            found[i] = bind
    return found


def _bind_matrix(scene: PlainScene, clusters: list[PlainCluster]) -> Array | None:
    """The mesh's matrix when it was bound, where all clusters agree on it."""
    matrices = np.stack([scene.matrices(c.matrices) for c in clusters])
    found = affine.multiply(matrices[:, 1], matrices[:, 2])
    first: Array = found[0]
    if not np.isfinite(found).all() or np.abs(found - first).max() > 1e-3 * max(
        1.0, float(np.abs(first).max())
    ):
        return None
    return first


def _has_animated_ancestor(scene: PlainScene, at: int, animated: set[int]) -> bool:
    nodes = scene.document.nodes
    while at >= 0:
        if nodes[at].element in animated:
            return True
        at = nodes[at].parent
    return False
