"""Where somebody who is steered will be: velocity and facing that follow what is wanted on critically damped springs.

What is wanted at once is reached smoothly: the difference of the velocity dies out as `(d + (a + w d) t) exp(-w t)`,
with `a` its own rate of change and `w` the spring's. The way is the integral of that, so one step or a hundred lead to
the same place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import elementary

__all__ = ["Spring", "angle_between", "followed"]

Array = NDArray[Any]
Spring = tuple[Array, Array]
"""A value and its rate of change."""


def followed(spring: Spring, goal: Array, stiffness: float, seconds: Array) -> tuple[Spring, Array]:
    """A spring `seconds` later, and what its value adds up to until then. Everything broadcasts."""
    value, rate = spring
    away = value - goal
    along = rate + stiffness * away
    gone = elementary.exp(-stiffness * np.asarray(seconds, np.float64))
    now = goal + (away + along * seconds) * gone
    speed = (rate - stiffness * along * seconds) * gone
    way = (
        goal * seconds
        + (away + along / stiffness) * (1 - gone) / stiffness
        - along * seconds * gone / stiffness
    )
    return (now, speed), way


def angle_between(a: Array, b: Array) -> Array:
    """The turn from one angle to another, the short way round."""
    return (b - a + np.pi) % (2 * np.pi) - np.pi
