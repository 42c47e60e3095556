"""Fingers of a hand whose joint names say nothing: branches of the hand, the thumb apart from the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton
from marrow.motion.rig import FINGERS

__all__ = ["fingers_by_shape"]

Array = NDArray[Any]
LONGEST = 1.2
"""A finger is not longer than this share of the forearm."""


def fingers_by_shape(skeleton: Skeleton, at: Array, arm: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """The fingers of the hand at the end of `arm`, thumb first; empty where there are fewer than two or more than five.

    A thumb begins nearer to the wrist than the others and points aside. The others are told by how far they are from it;
    a hand with fewer has a thumb, an index and so on.
    """
    if len(arm) < 3:
        return {}
    hand = arm[2]
    reach = float(np.linalg.norm(at[hand] - at[arm[1]]))
    found = [way for way in (_way(skeleton, child) for child in skeleton.children(hand)) if len(way) >= 2]
    found = [way for way in found if 0 < _length(at, hand, way) < LONGEST * reach]
    if not 2 <= len(found) <= len(FINGERS):
        return {}
    along = at[hand] - at[arm[1]]
    along = along / max(float(np.linalg.norm(along)), 1e-9)
    starts = np.array([at[way[0]] - at[hand] for way in found])
    ways = np.array([at[way[-1]] - at[way[0]] for way in found])
    ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-9)
    size = max(float(np.abs(starts @ along).max()), 1e-9)
    thumb = int(np.argmin(starts @ along / size + ways @ along))
    others = [k for k in range(len(found)) if k != thumb]
    aside = starts[thumb] + ways[thumb] * size - starts[others].mean(axis=0)
    aside = aside - along * (aside @ along)
    order = sorted(others, key=lambda k: -float(starts[k] @ aside))
    return {name: found[k] for name, k in zip(FINGERS, [thumb, *order])}


def _way(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    """Joints of a branch that does not fork; a fourth with nothing below it is where the fingertip ends, not a bone."""
    out = [joint]
    while len(below := skeleton.children(out[-1])) == 1:
        out.append(below[0])
    if skeleton.children(out[-1]):
        return ()
    return tuple(out[:3])


def _length(at: Array, hand: int, way: tuple[int, ...]) -> float:
    return float(np.linalg.norm(np.diff(at[[hand, *way]], axis=0), axis=-1).sum())
