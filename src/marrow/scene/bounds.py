"""How far a scene reaches: the points that a camera has to hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.motion.helpers import helper_joints
from marrow.scene.actor_state import ActorState, actor_states, model_matrices
from marrow.scene.scene import Scene
from marrow.skinning import skin

__all__ = ["reach", "supports"]

Array = NDArray[Any]
MOST_VERTICES = 1 << 21
"""Vertices that are skinned to find out; what has more is taken by its boxes."""
_CORNERS = np.array([[(k >> a) & 1 for a in range(3)] for k in range(8)], bool)


AXES = np.concatenate([np.eye(3), -np.eye(3)])


def supports(points: Array, directions: Array) -> Array:
    """The few of points `(n, 3)` that are furthest in one of `directions (d, 3)` or along an axis; those that are no
    numbers do not count."""
    points = np.asarray(points).reshape(-1, 3)
    directions = np.concatenate([AXES, directions])
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        points = points[finite]
    if len(points) <= len(directions):
        return points.astype(np.float64)
    found = (directions.astype(points.dtype) @ points.T).argmax(axis=1)
    return points[np.unique(found)].astype(np.float64)


def reach(scene: Scene, directions: Array) -> Array:
    """Points `(n, 3)` of a scene's actors that are furthest in one of `directions (d, 3)` or along an axis; of joints where
    there is nothing else to see."""
    found = [supports(_points(moment), directions) for moment in actor_states(scene)]
    return np.concatenate([*found, np.zeros((0, 3))])


def _points(moment: ActorState) -> Array:
    character = moment.actor.character
    if not character.vertex_count:
        return _joints(moment)
    shown = np.zeros(character.vertex_count, bool)
    for m, mesh in enumerate(character.meshes):
        first = character.vertex_offsets[m]
        shown[first : first + mesh.vertex_count] = (
            moment.visible[:, m].any() if len(moment.visible) else False
        )
    if not shown.any():
        return np.zeros((0, 3))
    if moment.matrices is None or moment.count * character.vertex_count > MOST_VERTICES:
        box = np.stack([moment.low, moment.high])
        corners = np.where(_CORNERS[:, None], box[1], box[0])
        return corners.reshape(-1, 3)
    surface = skin(
        character,
        moment.matrices,
        morphs=moment.morphs,
        method=moment.actor.method,
        normals=False,
        threads=None,
    )
    points = surface.positions[:, shown].astype(np.float64)
    return points @ moment.world[:, :, :3].swapaxes(-1, -2) + moment.world[:, None, :, 3]


def _joints(moment: ActorState) -> Array:
    skeleton = moment.actor.character.skeleton
    if not len(skeleton):
        return np.zeros((0, 3))
    places = model_matrices(moment)[..., 3].astype(np.float64)
    places = places[:, ~helper_joints(moment.actor.character)]  # cameras of a recording may be far away
    return places @ moment.world[:, :, :3].swapaxes(-1, -2) + moment.world[:, None, :, 3]
