"""How far a character reaches: at rest, which screen sizes are of, and as it moves, by which it is seen or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.skinning import skin
from marrow.skinning.bounds import bounds

__all__ = ["bounding_sphere", "moving_bounding_sphere"]

Array = NDArray[Any]
MOMENTS = 9
"""Moments of each clip that are looked at."""


def bounding_sphere(character: Character) -> Array:
    """Centre and radius `(1, 4)` of the character's bounding sphere at rest: around the middle of its box, as large as the
    farthest vertex asks for. The radius is -1 where there is nothing to see."""
    sphere: Array = derived(character, "bounding sphere", lambda: _bounding_sphere(character))
    return sphere


def _bounding_sphere(character: Character) -> Array:
    if not character.vertex_count:
        return np.array([[0.0, 0.0, 0.0, -1.0]], np.float32)
    points = skin(character, character.skeleton.rest, normals=False).positions.astype(np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    if not len(points):
        return np.array([[0.0, 0.0, 0.0, -1.0]], np.float32)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    return np.array([[*middle, np.linalg.norm(points - middle, axis=1).max()]], np.float32)


def moving_bounding_sphere(character: Character) -> Array:
    """Centre and radius `(1, 4)` of a ball around the character at rest and in all its clips. A clip that goes somewhere is
    looked at without its way: where an instance is, its transform says. The radius is -1 where there is nothing to see."""
    ball: Array = derived(character, "moving ball", lambda: _moving_ball(character))
    return ball


def _moving_ball(character: Character) -> Array:
    if not character.vertex_count:
        return np.array([[0.0, 0.0, 0.0, -1.0]], np.float32)
    rest = character.skeleton.rest
    lows, highs = [], []
    poses = [rest.broadcast_to((1,))]
    poses += [
        clip.sample(np.linspace(0.0, clip.duration, MOMENTS))
        for clip in character.clips.values()
        if not clip.additive
    ]
    for pose in poses:
        box = bounds(character, pose, exact=False)
        low, high = box.low.astype(np.float64), box.high.astype(np.float64)
        middle = (low + high) / 2
        way = np.linspace(0.0, 1.0, len(low))[:, None] * (middle[-1] - middle[0])
        way[:, 1] = 0.0
        lows.append(low - way)
        highs.append(high - way)
    low, high = np.concatenate(lows).min(axis=0), np.concatenate(highs).max(axis=0)
    half = (high - low) / 2
    return np.array([[*(low + half), np.sqrt((half * half).sum())]], np.float32)
