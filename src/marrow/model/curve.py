"""`Curve`: a named number over the time of a clip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Asset

__all__ = ["Curve"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Asset):
    """A number that changes with a clip, such as how far a foot is off the ground: `values (T,)` at `times (T,)` in
    seconds, straight in between and held outside. A graph blends curves with the poses (`Parameter("curve")`)."""

    name: str
    times: Array
    values: Array

    def __post_init__(self) -> None:
        who = f"Curve({_validate.name('Curve', 'name', self.name)!r})"
        times = _validate.array(who, "times", self.times, np.float32, ("T",))
        values = _validate.array(who, "values", self.values, np.float32, (len(times),))
        if not len(times):
            raise ValidationError(f"{who}.times: expected at least one key")
        if not (np.isfinite(times).all() and np.isfinite(values).all()):
            raise ValidationError(f"{who}: times and values must be finite")
        if (np.diff(times) < 0).any():
            raise ValidationError(f"{who}.times: key times must not decrease")
        _validate.set_fields(self, times=times, values=values)

    def sample(self, time: ArrayLike) -> Any:
        """The value at `time`, a number or an array of them."""
        return np.interp(np.asarray(time, np.float64), self.times, self.values)

    def __repr__(self) -> str:
        return f"Curve({self.name!r}, {len(self.times)} keys)"
