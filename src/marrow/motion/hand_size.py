"""How large hands are: from the wrist to the knuckles, and from palm to back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Skeleton
from marrow.motion.rig import find_rig
from marrow.motion.skin_points import surface_points

__all__ = ["Hands", "find_hands"]

Array = NDArray[Any]
PALM, THICK = 0.09, 0.05
"""From the wrist to the knuckles, and twice from the bones of a palm to its skin (metres, for a person's leg)."""


@dataclass(frozen=True, eq=False)
class Hands:
    """`palms (2, 3)`: from the wrist to the knuckles, in the frames of the left and the right hand; `thick`: how far two
    palms are apart that touch. `skin` tells what was measured."""

    palms: Array
    thick: float
    skin: bool


def find_hands(
    character: Character | None, skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], size: float
) -> Hands:
    """The hands of a body that is `size` times a person; none where an arm ends before."""
    arms = [chains[f"{side}_arm"] for side in ("left", "right")]
    if min(map(len, arms)) < 3:
        return Hands(np.zeros((2, 3)), THICK * size, False)
    palms = np.stack([_palm(skeleton, arm, side, size) for arm, side in zip(arms, ("left", "right"))])
    thick = []
    for arm in arms:
        points = surface_points(character, {arm[2]}) if character is not None else np.zeros((0, 3))
        if len(points) >= 16:
            around = points - points.mean(axis=0)
            flat = np.linalg.eigh(around.T @ around)[1][:, 0]
            thick.append(float(np.ptp(np.percentile(around @ flat, [10, 90]))))
    if len(thick) < 2:
        return Hands(palms, THICK * size, False)
    return Hands(palms, float(np.mean(thick)), True)


def _palm(skeleton: Skeleton, arm: tuple[int, ...], side: str, size: float) -> Array:
    rest = skeleton.rest_model.astype(np.float64)
    chains, hand = find_rig(skeleton).chains, arm[2]
    for finger in ("middle", "ring", "index", "little"):
        for joint in chains.get(f"{side}_{finger}", ())[:1]:
            way = rest[joint, :, 3] - rest[hand, :, 3]
            if np.linalg.norm(way) > 0.25 * PALM * size:
                return np.linalg.solve(rest[hand, :, :3], way)
    way = rest[hand, :, 3] - rest[arm[1], :, 3]
    return np.linalg.solve(rest[hand, :, :3], way * (PALM * size / max(float(np.linalg.norm(way)), 1e-12)))
