"""`JointLimit`: how far one joint may swing and twist."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["JointLimit", "Range"]

Range = float | tuple[float, float]
"""A half angle, or (low, high)."""


@dataclass(frozen=True)
class JointLimit:
    """The limits of one joint, in radians from its rest pose.

    `swing` is a half angle, or a pair for the two axes across the bone: about `side`, and about what is across bone
    and `side`. `twist` is for the turn about the bone. Each may also be a range `(low, high)`: a knee that bends from
    0 to 150 degrees about x has `swing=((0.0, 2.6), 0.05), side=(1, 0, 0)`. `bone` is the axis of twist in the
    joint's frame, towards its child where nothing is given.
    """

    swing: float | tuple[Range, Range] = np.pi
    twist: Range = np.pi
    bone: tuple[float, float, float] | None = None
    side: tuple[float, float, float] | None = None
