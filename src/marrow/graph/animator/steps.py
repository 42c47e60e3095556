"""The seconds that pass for each instance in an update, and how playback by hand goes back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.control import GraphControl

__all__ = ["LONGEST_STEP", "checked_speed", "rewind", "steps"]

Array = NDArray[Any]
LONGEST_STEP = 86_400.0
"""Seconds an update may move on: a day. What clips pass in it is told event by event."""


def steps(runtime: AnimatorRuntime, dt: float | ArrayLike) -> Array | float:
    """The seconds that pass for each instance `(N,)`, or for all."""
    speed = runtime.control.store.speed
    if isinstance(dt, float) and isinstance(speed, float):  # by far the most usual
        seconds = dt * speed
        if abs(seconds) <= LONGEST_STEP:
            return seconds
    count = runtime.count
    try:
        step = np.asarray(dt, np.float64) * np.asarray(speed, np.float64)
        step = np.ascontiguousarray(np.broadcast_to(step, (count,)))
    except (TypeError, ValueError):
        raise ValidationError(
            f"update: dt and speed must be numbers or have shape ({count},), got "
            f"{np.shape(dt)} and {np.shape(speed)}"
        ) from None
    if not (np.abs(step) <= LONGEST_STEP).all():
        raise ValidationError(
            f"update: dt times speed must be a number up to {LONGEST_STEP:,.0f} seconds, "
            f"got {dt!r} times {speed!r}"
        )
    return step


def rewind(control: GraphControl, step: Array | float) -> None:
    """Playback by hand can also go back: clips run the other way while fades go on."""
    step = np.broadcast_to(step, (control.count,))
    state, back = control.state, np.flatnonzero(step < 0)
    for k in range(2):
        state.voices["speed"][back] *= -1
        state.queue["speed"][back] *= -1
        if k == 0:
            control.update(np.abs(step))


def checked_speed(speed: Any, shape: tuple[int, ...]) -> float | Array:
    """How fast time passes, as a caller gives it: a number, or one per instance."""
    try:
        values = np.asarray(speed, np.float64)
    except (TypeError, ValueError):
        raise ValidationError(f"speed: expected a number or one per instance, got {speed!r}") from None
    if not np.isfinite(values).all() or values.shape not in ((), shape):
        raise ValidationError(f"speed: expected a finite number, or {shape} of them, got {speed!r}")
    return float(values) if values.shape == () else values.copy()
