"""How large hands are: from the wrist to the knuckles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton
from marrow.motion.rig import find_rig

__all__ = ["hand_size"]

Array = NDArray[Any]
PALM = 0.09
"""From the wrist to the knuckles of a hand without fingers (metres, for a person's leg)."""


def hand_size(skeleton: Skeleton, arm: tuple[int, ...], side: str, size: float) -> tuple[Array, bool]:
    """From the wrist to the knuckles, `(3,)` in the frame of the hand, and whether it has any."""
    rest = skeleton.rest_model.astype(np.float64)
    chains, hand = find_rig(skeleton).chains, arm[2]
    for finger in ("middle", "ring", "index", "little"):
        for joint in chains.get(f"{side}_{finger}", ())[:1]:
            way = rest[joint, :, 3] - rest[hand, :, 3]
            if np.linalg.norm(way) > 0.25 * PALM * size:
                return np.linalg.solve(rest[hand, :, :3], way), True
    way = rest[hand, :, 3] - rest[arm[1], :, 3]
    way = way * (PALM * size / max(float(np.linalg.norm(way)), 1e-12))
    return np.linalg.solve(rest[hand, :, :3], way), False
