"""`Hinge`: a joint of a robot that turns about one axis, or slides along it, between limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marrow.errors import ValidationError
from marrow.model import _validate
from marrow.model._asset import Comparable

__all__ = ["Hinge"]


@dataclass(frozen=True, eq=False)
class Hinge(Comparable):
    """One degree of freedom: the `joint` that moves, about the `axis` in its own frame, counted from the rest pose.

    `name` is what the robot's file calls it, `lower` and `upper` are its limits in radians (infinite where it has none).
    One that `slides` moves along the axis instead, in metres."""

    name: str
    joint: int
    axis: tuple[float, float, float]
    lower: float = -math.inf
    upper: float = math.inf
    slides: bool = False

    def __post_init__(self) -> None:
        who = f"Hinge({_validate.name('Hinge', 'name', self.name)!r})"
        axis = _validate.array(who, "axis", self.axis, np.float64, (3,))
        length = float(np.linalg.norm(axis))
        if not 1e-9 < length < math.inf:
            raise ValidationError(f"{who}.axis: expected a direction, got {self.axis}")
        lower, upper = (_validate.number(who, f, getattr(self, f), finite=False) for f in ("lower", "upper"))
        if not lower <= upper:
            raise ValidationError(
                f"{who}: expected lower at most as large as upper, got {lower:g} and {upper:g}"
            )
        _validate.set_fields(
            self,
            joint=_validate.integer(who, "joint", self.joint, low=0, hint="use skeleton.index(name)"),
            axis=tuple((axis / length).tolist()),
            lower=lower,
            upper=upper,
            slides=_validate.flag(who, "slides", self.slides),
        )
