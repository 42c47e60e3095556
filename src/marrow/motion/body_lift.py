"""Bodies that roll, kneel or lie: how far they rise so that trunk, head and knees stay over the ground."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from marrow.motion.limbs import ease

__all__ = ["feet_share", "smooth_rise"]

Array = NDArray[Any]
SPREAD = 0.12
"""A rise begins and ends over four times so many seconds."""
FEET = (0.2, 0.6)
"""A body that rises further than the first loses the hold of its feet; at the second they go with it (in legs)."""


def smooth_rise(height: Array, seconds: float, *, loops: bool) -> Array:
    """A smooth curve `(T,)` that is nowhere less than what is missing where `height (T,)` is below zero, and zero far from
    there."""
    missing = np.maximum(-height, 0.0)
    if not missing.any():
        return missing
    wide = max(round(SPREAD / seconds), 1)
    around = 4 * wide
    if loops:
        padded = missing[np.arange(-around, len(missing) + around) % (len(missing) - 1)]
    else:
        padded = np.pad(missing, around, mode="edge")
    padded = sliding_window_view(padded, 4 * wide + 1).max(axis=-1)
    for _ in range(2):  # means of what is the largest around are never too small
        padded = sliding_window_view(padded, 2 * wide + 1).mean(axis=-1)
    return np.asarray(padded)


def feet_share(rise: Array) -> Array:
    """How much the feet of a body hold that rises so far, in legs."""
    return ease((FEET[1] - rise) / (FEET[1] - FEET[0]))
