"""Two-bone inverse kinematics over frames, for legs and arms."""

from __future__ import annotations

import numpy as np

from marrow.math import quaternion as quat
from samples_modeller.sdf import Array

__all__ = ["bone_turn", "solve_two_bones"]

STRAIGHTEST = 0.9995  # of the limb's length: a limb at full stretch has no knee to bend


def _unit(v: Array) -> Array:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)


def solve_two_bones(
    start: Array, target: Array, pole: Array, upper: float, lower: float
) -> tuple[Array, Array]:
    """Where the middle joint and the end come to lie, `(T, 3)` each.

    The middle joint bends towards `pole`. A target out of reach is approached as far as the bones allow.
    """
    reach = target - start
    distance = np.linalg.norm(reach, axis=-1, keepdims=True)
    d = np.clip(distance, abs(upper - lower) + 1e-4, STRAIGHTEST * (upper + lower))
    along = _unit(reach)
    # Law of cosines: how far along the line from start to end the middle joint lies, and how far off it.
    x = (upper**2 - lower**2 + d**2) / (2 * d)
    off = np.sqrt(np.maximum(upper**2 - x**2, 0))
    sideways = _unit(pole - along * (pole * along).sum(-1, keepdims=True))
    return start + along * x + sideways * off, start + along * d


def bone_turn(direction: Array, front: Array, bind: Array) -> Array:
    """The turn away from its bind frame `(3, 4)` that brings a bone's +Y along `direction` and its +Z to
    `front`."""
    y = _unit(direction)
    z = _unit(front - y * (y * front).sum(-1, keepdims=True))
    frame = np.stack([np.cross(y, z), y, z], axis=-1)
    return quat.from_matrix(frame @ bind[:, :3].T)
