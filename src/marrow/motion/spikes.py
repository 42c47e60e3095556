"""Single frames of a recording in which a leg is elsewhere: a tracker that lost it for an instant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["spikes", "without_spikes"]

Array = NDArray[Any]
FAR = np.radians(6.0)
"""A turn that is this far from those before and after it, or further, may be one."""
QUIET = 0.15
"""And those around are this near to each other, by how far it is away."""


def spikes(turns: Array) -> Array:
    """Which of the turns `(T, 4)` are alone, `(T,)` bool: far from both neighbours, while those and theirs are still."""
    out = np.zeros(len(turns), bool)
    if len(turns) < 5:
        return out
    # Half of the angle between neighbours, and between those of every frame.
    near = 1 - np.abs((turns[1:] * turns[:-1]).sum(axis=-1))
    jump = np.minimum(near[1:-2], near[2:-1])
    if not jump.max() > (1 - np.cos(FAR / 2)):
        return out
    over = 1 - np.abs((turns[3:-1] * turns[1:-3]).sum(axis=-1))
    around = np.maximum(np.maximum(near[:-3], near[3:]), over)
    out[2:-2] = (jump > 1 - np.cos(FAR / 2)) & (around < QUIET * QUIET * jump)
    return out


def without_spikes(turns: Array, found: Array) -> Array:
    """The turns `(T, 4)`, with those that are `found (T,)` half way between their neighbours."""
    out = turns.copy()
    at = np.flatnonzero(found)
    out[at] = quaternion.nlerp(turns[at - 1], turns[at + 1], 0.5)
    return out
