"""How far a scene reaches: the points that a camera has to hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.rendering.moment import Moment, moments
from marrow.rendering.moment import _model as joints_of
from marrow.rendering.scene import Scene
from marrow.skinning import skin

__all__ = ["reach", "supports"]

Array = NDArray[Any]
MOST_VERTICES = 1 << 21
"""Vertices that are skinned to find out; what has more is taken by its boxes."""
DIRECTIONS = 96
_CORNERS = np.array([[(k >> a) & 1 for a in range(3)] for k in range(8)], bool)


def _sphere(count: int) -> Array:
    """Directions all around, evenly: points on a spiral."""
    k = np.arange(count) + 0.5
    y = 1 - 2 * k / count
    turn, radius = math.pi * (1 + math.sqrt(5)) * k, np.sqrt(1 - y * y)
    even = np.stack([radius * np.cos(turn), y, radius * np.sin(turn)], axis=1)
    return np.concatenate([even, np.eye(3), -np.eye(3)])


_AROUND = _sphere(DIRECTIONS)


def supports(points: Array) -> Array:
    """The few of points `(n, 3)` that are furthest in some direction; those that are no numbers do not count."""
    points = np.asarray(points, np.float64).reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) <= len(_AROUND):
        return points
    return points[np.unique((points @ _AROUND.T).argmax(axis=0))]


def reach(scene: Scene) -> Array:
    """Points `(n, 3)` between which all is that can be seen of a scene's actors; of joints where there is nothing else."""
    found = [supports(_points(moment)) for moment in moments(scene)]
    return np.concatenate([*found, np.zeros((0, 3))])


def _points(moment: Moment) -> Array:
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


def _joints(moment: Moment) -> Array:
    actor = moment.actor
    skeleton = actor.character.skeleton
    if not len(skeleton):
        return np.zeros((0, 3))
    model = actor.animator.model_matrices if actor.animator is not None else joints_of(actor)
    places = np.asarray(model, np.float64).reshape(-1, len(skeleton), 3, 4)[..., 3]
    return places @ moment.world[:, :, :3].swapaxes(-1, -2) + moment.world[:, None, :, 3]
