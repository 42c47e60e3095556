"""Morph targets as blend shapes: a channel for every morph channel of a mesh, its in-betweens by their full weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.geometry import FbxSurface
from marrow.io.fbx.writing.properties import Properties
from marrow.io.losses import Losses
from marrow.model import MorphTarget, Skeleton

__all__ = ["write_morphs"]

Array = NDArray[Any]


def write_morphs(
    document: FbxDocument, skeleton: Skeleton, surface: FbxSurface, geometry: int, losses: Losses
) -> dict[int, int]:
    """The blend shapes of a mesh; the channel object of each morph channel."""
    mesh = surface.mesh
    if not mesh.morph_targets:
        return {}
    deformer, record = document.object("Deformer", mesh.name, "BlendShape")
    record.add("Version", np.int32(100))
    document.connect(deformer, geometry)
    channels: dict[int, list[MorphTarget]] = {}
    for target in mesh.morph_targets:
        channels.setdefault(target.channel, []).append(target)
    made: dict[int, int] = {}
    for channel, targets in channels.items():
        targets.sort(key=lambda t: t.full_weight)
        name = skeleton.morph_names[channel] or f"morph_{channel}"
        percent = 100.0 * float(skeleton.rest.morphs[channel])
        made[channel], one = document.object("Deformer", name, "BlendShapeChannel", "SubDeformer")
        one.add("Version", np.int32(100))
        one.add("DeformPercent", percent)
        one.add("FullWeights", np.array([100.0 * t.full_weight for t in targets]))
        Properties(one).number("DeformPercent", percent, animated=True)
        document.connect(made[channel], deformer)
        for target in targets:
            document.connect(_shape(document, surface, target), made[channel])
        if any(t.tangents is not None for t in targets):
            losses.add(
                f"mesh {mesh.name!r}", "FBX morphs no tangents: those of its morph targets are left out"
            )
    return made


def _shape(document: FbxDocument, surface: FbxSurface, target: MorphTarget) -> int:
    V = surface.mesh.vertex_count
    deltas = target.dense(V)
    assert deltas is not None
    points = surface.directions(deltas[surface.points])
    moved = points.any(axis=1)
    normals = target.dense(V, "normals")
    turned = None if normals is None else surface.normals(normals[surface.points])
    if turned is not None:
        moved |= turned.any(axis=1)
    chosen = np.flatnonzero(moved)
    shape, record = document.object("Geometry", target.name or "shape", "Shape")
    record.add("Version", np.int32(100))
    record.add("Indexes", chosen.astype(np.int32))
    record.add("Vertices", points[chosen].ravel() * document.space.scale)
    record.add("Normals", (np.zeros((len(chosen), 3)) if turned is None else turned[chosen]).ravel())
    return shape
