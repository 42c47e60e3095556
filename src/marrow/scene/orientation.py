"""Which way a body looks: cameras by name go by its own front."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.scene.actor_state import actor_states
from marrow.scene.scene import Scene

__all__ = ["facing", "file_facing", "scene_facing"]

Array = NDArray[Any]
UPRIGHT = 0.7
STRAIGHT = math.radians(12)
"""A body that is turned by less looks straight ahead."""


def facing(character: Character) -> float:
    """How far a character looks away from +Z, towards +X, in radians; 0 where that is not known."""
    return 0.0 if character.facing is None else _turn(character.facing)


def _turn(forward: Array) -> float:
    turned = math.atan2(forward[0], forward[2])
    return 0.0 if abs(turned) < STRAIGHT else turned


def file_facing(scene: Scene) -> float:
    """How far the files of those in a user's own scene have turned them, in radians, where all agree and none was turned by
    the user, who then has the directions of the world: 0."""
    found = set()
    for actor in scene.actors:
        if actor.parent is None and actor.character.facing is not None:
            rotation = None if actor.animator is None else actor.animator.root.rotation
            if actor.transforms is not None or (
                rotation is not None and np.abs(rotation[..., :3]).max(initial=0) > 1e-6
            ):
                return 0.0
            found.add(facing(actor.character))
    return found.pop() if len(found) == 1 else 0.0


def scene_facing(scene: Scene) -> float:
    """How far those in a scene are turned, in radians, where they agree; else 0."""
    found = []
    for state in actor_states(scene):
        angle = facing(state.actor.character)
        ahead = state.world[:, :, :3] @ np.array([math.sin(angle), 0.0, math.cos(angle)])
        found.append(ahead / np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-30))
    if not found:
        return 0.0
    mean = np.concatenate(found).mean(axis=0) * [1, 0, 1]
    return _turn(mean) if np.isfinite(mean).all() and np.linalg.norm(mean) > UPRIGHT else 0.0
