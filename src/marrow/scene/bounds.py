"""How far a scene reaches: the points that a camera has to hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.motion.helper_joints import helper_joints
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
    found = [supports(_points(state), directions) for state in actor_states(scene)]
    return np.concatenate([*found, np.zeros((0, 3))])


def _points(state: ActorState) -> Array:
    character = state.actor.character
    if not character.vertex_count:
        return _joints(state)
    shown = np.zeros(character.vertex_count, bool)
    for m, mesh in enumerate(character.meshes):
        first = character.vertex_offsets[m]
        shown[first : first + mesh.vertex_count] = state.visible[:, m].any() if len(state.visible) else False
    if not shown.any():
        return np.zeros((0, 3))
    if state.matrices is None or state.count * character.vertex_count > MOST_VERTICES:
        box = np.stack([state.low, state.high])
        corners = np.where(_CORNERS[:, None], box[1], box[0])
        return corners.reshape(-1, 3)
    surface = skin(
        character,
        state.matrices,
        morphs=state.morphs,
        skinning=state.actor.skinning,
        normals=False,
        threads=None,
    )
    points = surface.positions[:, shown].astype(np.float64)
    return points @ state.world[:, :, :3].swapaxes(-1, -2) + state.world[:, None, :, 3]


def _joints(state: ActorState) -> Array:
    skeleton = state.actor.character.skeleton
    if not len(skeleton):
        return np.zeros((0, 3))
    places = model_matrices(state)[..., 3].astype(np.float64)
    places = places[:, ~helper_joints(state.actor.character)]  # cameras of a recording may be far away
    return places @ state.world[:, :, :3].swapaxes(-1, -2) + state.world[:, None, :, 3]
