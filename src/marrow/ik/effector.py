"""`Effector`: a joint that reaches, and `Goal`: the target it reaches for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.kernels.rotations import matrix_rotations
from marrow.model import _validate
from marrow.model._asset import Replaceable

__all__ = ["Effector", "Goal"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Effector(Replaceable):
    """A joint that a solver brings to a target, and how much each part of the target weighs against those of the
    others: its `position`, its `rotation` (1 radian weighs as much as a third of the body's size), that its `axis`
    points at the place `aim`, and that its limb bends towards the place `pole`. A weight of zero leaves a part out.

    `point` is the place on the joint that reaches, in the joint's frame. `limb` names the first and the middle joint
    of the limb, for the pole and `soft`; arms and legs are known, else it is the grandparent and the parent. `soft`
    is the share of the limb's length over which reach softens before it ends: 0.05 never quite straightens a limb.
    What a soft limb lacks then pulls at its first joint, so that trunk and hips follow: by `pull` of the effector's
    weight; 0 leaves it to the limb.
    Targets are given by `name`, or by the joint where there is none: two effectors on one joint need names.
    """

    joint: str | int
    position: float = 1.0
    rotation: float = 0.0
    aim: float = 0.0
    pole: float = 0.0
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    limb: tuple[str | int, str | int] | None = None
    soft: float = 0.0
    pull: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        who = f"Effector({self.joint!r})"
        if isinstance(self.joint, bool) or not isinstance(self.joint, (str, int, np.integer)):
            raise WrongTypeError(
                f"Effector.joint: expected a joint's name or number, got {_validate.shown(self.joint)}"
            )
        for field in ("position", "rotation", "aim", "pole"):
            _validate.set_fields(
                self, **{field: _validate.number(who, field, getattr(self, field), low=0.0, high=1e4)}
            )
        axis = _validate.array(who, "axis", self.axis, np.float64, (3,))
        if not 1e-12 < float(np.linalg.norm(axis)) < math.inf:
            raise ValidationError(f"{who}.axis: expected a direction, got {self.axis}")
        point = _validate.array(who, "point", self.point, np.float64, (3,))
        if not np.isfinite(point).all():
            raise ValidationError(f"{who}.point: expected finite numbers, got {self.point}")
        _validate.set_fields(
            self,
            axis=tuple((axis / np.linalg.norm(axis)).tolist()),
            point=tuple(point.tolist()),
            soft=_validate.number(who, "soft", self.soft, low=0.0, high=0.5),
            pull=_validate.number(who, "pull", self.pull, low=0.0, high=1e4),
        )
        if self.limb is not None and (not isinstance(self.limb, (tuple, list)) or len(self.limb) != 2):
            raise WrongTypeError(
                f"{who}.limb: expected the first and the middle joint, got {_validate.shown(self.limb)}"
            )

        if self.name is not None:
            _validate.instance(who, "name", self.name, str)

    @property
    def label(self) -> str:
        """What targets call it."""
        return str(self.joint) if self.name is None else self.name

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Of position, rotation, aim and pole."""
        return self.position, self.rotation, self.aim, self.pole


@dataclass(frozen=True, eq=False)
class Goal(Replaceable):
    """Where an effector goes, in model space, for one pose or a batch: `position (..., 3)`, `rotation (..., 4)`, the
    place it aims at `(..., 3)`, the place its limb bends towards `(..., 3)`, and `weight (...)`, which all of its
    weights are multiplied with.

    What is missing, and numbers that are not finite, stay as the pose has them.
    """

    position: ArrayLike | None = None
    rotation: ArrayLike | None = None
    aim: ArrayLike | None = None
    pole: ArrayLike | None = None
    weight: ArrayLike = 1.0

    @classmethod
    def of(cls, who: str, given: Any) -> Goal:
        """A target from itself, a place `(..., 3)`, or a matrix `(..., 3, 4)` that is place and rotation."""
        if isinstance(given, Goal):
            return given
        values = _validate.numbers(who, given)
        if values.ndim >= 2 and values.shape[-2:] == (3, 4):
            matrices = np.ascontiguousarray(values, np.float32).reshape(-1, 3, 4)
            turns = np.empty((len(matrices), 4), np.float32)
            matrix_rotations(matrices, turns)
            return cls(values[..., 3], turns.reshape(*values.shape[:-2], 4))
        if values.ndim < 1 or values.shape[-1] != 3:
            raise ValidationError(
                f"{who}: expected a place (..., 3), a matrix (..., 3, 4) or a Goal, got {values.shape}"
            )
        return cls(values)
