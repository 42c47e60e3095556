"""How far joints turn in a character's clips, as turns about the axes of their own frames, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character

__all__ = ["Turn", "clip_turns", "turn_angles"]

Array = NDArray[Any]
RATE = 30.0
STILL = np.radians(0.5)
"""A joint that turns by less about an axis does not turn about it."""
MOST_FRAMES = 20_000
ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


@dataclass(frozen=True)
class Turn:
    """A turn about axis 0, 1 or 2 of a joint's frame, from `lower` to `upper` radians."""

    axis: int
    lower: float
    upper: float


def clip_turns(character: Character, joints: list[int], margin: float) -> dict[int, list[Turn]]:
    """By joint, the turns that its clips need, in order; without clips every joint turns freely about all three axes."""
    if not character.clips:
        return {j: [Turn(axis, -np.inf, np.inf) for axis in (0, 1, 2)] for j in joints}
    rotations = []
    for clip in character.clips.values():
        if clip.additive:
            continue
        count = int(np.clip(np.ceil(clip.duration * RATE) + 1, 2, MOST_FRAMES))
        rotations.append(clip.sample(np.linspace(0.0, clip.duration, count)).rotation[:, joints])
    if not rotations:
        return {j: [Turn(axis, -np.inf, np.inf) for axis in (0, 1, 2)] for j in joints}
    rest = character.skeleton.rest.rotation[joints].astype(np.float64)
    turned = quaternion.multiply(
        quaternion.conjugate(rest), quaternion.normalize(np.concatenate(rotations).astype(np.float64))
    )
    out: dict[int, list[Turn]] = {}
    for k, j in enumerate(joints):
        if np.abs(turned[:, k, :3]).max() < np.sin(STILL / 2):
            out[j] = []
            continue
        seen = [(order, turn_angles(turned[:, k], order)) for order in ORDERS]
        # The turn in the middle must stay away from a right angle, where the other two are one.
        order, angles = min(seen, key=lambda pair: float(np.abs(pair[1][:, 1]).max()))
        turns = []
        for axis, values in zip(order, angles.T):
            if np.abs(values).max() >= STILL:
                low, high = (float(v) for v in (values.min() - margin, values.max() + margin))
                turns.append(Turn(axis, max(min(low, 0.0), -np.pi), min(max(high, 0.0), np.pi)))
        out[j] = turns
    return out


def turn_angles(rotation: Array, order: tuple[int, int, int]) -> Array:
    """Angles `(T, 3)` about axes `order`, each about the axis as the ones before left it, that make rotations `(T, 4)`."""
    i, j, k = order  # one of x y z, y z x, z x y: axes follow each other as those of a right hand
    m = quaternion.to_matrix(rotation)
    middle = np.arcsin(np.clip(m[:, i, k], -1, 1))
    first = np.arctan2(-m[:, j, k], m[:, k, k])
    last = np.arctan2(-m[:, i, j], m[:, i, i])
    return np.unwrap(np.stack([first, middle, last], axis=-1), axis=0)
