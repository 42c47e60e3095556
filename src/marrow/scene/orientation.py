"""Which way a body looks: cameras by name go by its own front."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.model._derived import derived
from marrow.motion.posture import body_frame
from marrow.motion.rig import find_rig
from marrow.scene.actor_state import actor_states
from marrow.scene.scene import Scene

__all__ = ["facing", "scene_facing"]

Array = NDArray[Any]
UPRIGHT = 0.7
STRAIGHT = math.radians(12)
"""A body that is turned by less looks straight ahead."""


def facing(character: Character) -> float:
    """How far a body at rest is turned from +Z to +X, in radians; 0 for what is none, or does not stand upright."""
    found: float = derived(character, "facing", lambda: _facing(character))
    return found


def _facing(character: Character) -> float:
    skeleton = character.skeleton
    rig = find_rig(skeleton)
    if not rig.complete:
        return 0.0
    frame = body_frame(skeleton.rest_model[..., 3].astype(np.float64), rig.chains)
    if not frame[1, 1] > UPRIGHT:  # it lies down, or goes on all fours
        return 0.0
    return _turn(frame[:, 2])


def _turn(forward: Array) -> float:
    turned = math.atan2(forward[0], forward[2])
    return 0.0 if abs(turned) < STRAIGHT else turned


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
