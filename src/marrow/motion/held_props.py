"""What both hands hold: hands that keep their distances to each other while they move about the body hold one thing, and
do so on another body too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from marrow.motion.contacts import windows
from marrow.motion.limbs import ease

__all__ = ["holding"]

Array = NDArray[Any]
RIGID = 0.015
"""Distances between palms and knuckles of both hands that change by no more in `MOMENT` seconds are those of a thing that
is held (metres, for a person's leg)."""
MOMENT, LONG = 0.4, 0.8
"""A thing is held for the second of these at least."""
MOVES = 0.12
"""Both hands move so far about the body (metres): those that only hang beside it hold nothing."""
FAR = 1.0
"""No thing is longer, from hand to hand."""
FADE = 0.2
"""Seconds in which a hold begins and ends."""


def holding(palms: Array, knuckles: Array, seen: Callable[[], Array], seconds: float, size: float) -> Array:
    """How much hands hold one thing, `(T,)` from 0 to 1, by the places `(T, 2, 3)` of their palms and knuckles, and where
    the palms are about the body, `seen() (T, 2, 3)`. Frames are `seconds` apart, `size` is the body's by a person's."""
    T, wide = len(palms), max(round(MOMENT / seconds / 2), 1)
    out = np.zeros(T)
    if 2 * wide + 1 > T:
        return out
    pairs = [(a, b) for a in (palms, knuckles) for b in (palms, knuckles)]
    far = np.stack([np.linalg.norm(a[:, 0] - b[:, 1], axis=-1) for a, b in pairs], axis=1) / size
    padded = np.pad(far, ((wide, wide), (0, 0)), mode="edge")
    rigid = np.ptp(sliding_window_view(padded, 2 * wide + 1, axis=0), axis=-1).max(axis=1) < RIGID
    rigid &= far.max(axis=1) < FAR
    runs = [(begin, end) for begin, end in windows(rigid) if (end - begin) * seconds >= LONG]
    about = seen() / size if runs else palms
    for begin, end in runs:
        if np.ptp(about[begin:end], axis=0).max(axis=-1).min() < MOVES:
            continue
        at = np.arange(end - begin) * seconds
        rise = ease((at + seconds) / FADE) if begin > 0 else np.ones(end - begin)
        fall = ease((at[::-1] + seconds) / FADE) if end < T else np.ones(end - begin)
        out[begin:end] = rise * fall
    return out
