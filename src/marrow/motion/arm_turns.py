"""How far an arm must turn to bring its hand somewhere, and what is too far for that.

Arms that point elsewhere than the source's are seen sooner than a hand that misses its place on the body by a little."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.motion.limbs import ease

__all__ = ["Arm", "arm_turns"]

Array = NDArray[Any]
TURN = (0.4363, 0.5236)
"""A contact that turns a bone of an arm by less than the first is kept, by more than the second it is let go: 25 and 30
degrees."""
PUSH = 0.2618
"""To bring a hand out of the body an arm turns no further: 15 degrees."""


@dataclass(frozen=True, eq=False)
class Arm:
    """An arm of joints `chain` in matrices `model (T, J, 3, 4)`, and the lengths of its two bones."""

    model: Array
    chain: tuple[int, ...]
    upper: float
    lower: float

    @cached_property
    def reach(self) -> Array:
        """The way from the shoulder to the wrist, `(T, 3)`."""
        shoulder, wrist = (self.model[:, self.chain[k], :, 3].astype(np.float64) for k in (0, 2))
        return np.asarray(wrist - shoulder)

    def kept(self, move: Array) -> Array:
        """How much of a contact is kept that moves the wrist by `move (T, 3)`, from 0 to 1."""
        turns = arm_turns(self.reach, self.reach + move, self.upper, self.lower)
        return ease((TURN[1] - turns) / (TURN[1] - TURN[0]))

    def pushed(self, move: Array) -> Array:
        """As much of `move (T, 3)` as a push may turn the arm."""
        turns = arm_turns(self.reach, self.reach + move, self.upper, self.lower)
        return np.asarray(move * np.minimum(PUSH / np.maximum(turns, 1e-9), 1.0)[:, None])


def arm_turns(reach: Array, goal: Array, upper: float, lower: float) -> Array:
    """The most that one of an arm's two bones turns, `(T,)` in radians, where the way from shoulder to wrist was `reach (T,
    3)` and is to be `goal (T, 3)`. A hand that cannot get there counts as much as it misses."""
    was, is_ = (np.maximum(np.linalg.norm(v, axis=-1), 1e-9) for v in (reach, goal))
    swing = np.arccos(np.clip((reach * goal).sum(axis=-1) / (was * is_), -1.0, 1.0))
    change = np.zeros(len(was))
    for one, other in ((upper, lower), (lower, upper)):
        open_, wide = (
            np.arccos(np.clip((one * one + d * d - other * other) / (2 * one * d), -1.0, 1.0))
            for d in (was, is_)
        )
        change = np.maximum(change, np.abs(wide - open_))
    missed = np.maximum(is_ - (upper + lower), 0.0) / (upper + lower)
    return np.asarray(swing + change + missed)
