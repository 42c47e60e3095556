"""Small questions to the tree of a skeleton."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton

__all__ = ["carried_by", "chain_lengths", "common_ancestor", "is_above", "path_down", "path_to_root"]

Array = NDArray[Any]


def path_to_root(skeleton: Skeleton, joint: int) -> list[int]:
    """The joint and those above it, nearest first."""
    return [joint, *skeleton.ancestors(joint)]


def is_above(skeleton: Skeleton, above: int, joint: int) -> bool:
    """Whether `above` is `joint` or one of its ancestors."""
    if above < 0 or joint < 0:
        return above < 0
    number, count = skeleton._spans
    return bool(0 <= number[joint] - number[above] < count[above])


def carried_by(skeleton: Skeleton, moving: Collection[int]) -> list[bool]:
    """For each joint, whether it or one above it is among `moving`."""
    out = [j in moving for j in range(len(skeleton))]
    for j, p in enumerate(skeleton.parents.tolist()):
        out[j] = out[j] or (p >= 0 and out[p])
    return out


def common_ancestor(skeleton: Skeleton, a: int, b: int) -> int:
    """The deepest joint that is above (or is) both; -1 where they are in different trees."""
    above = set(path_to_root(skeleton, a))
    return next((j for j in path_to_root(skeleton, b) if j in above), -1)


def path_down(skeleton: Skeleton, above: int, joint: int) -> list[int]:
    """The joints from `above` (not included; -1: from outside) down to `joint` (included)."""
    path: list[int] = []
    j = joint
    while j != above and j >= 0:
        path.append(j)
        j = int(skeleton.parents[j])
    return path[::-1]


def chain_lengths(places: Array, joints: list[int]) -> Array:
    """How far each of `joints` is from the first, along the chain `(len(joints),)`."""
    steps = np.linalg.norm(np.diff(places[joints], axis=0), axis=-1)
    return np.concatenate([[0.0], np.cumsum(steps)])
