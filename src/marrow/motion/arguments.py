"""Checks of what motion tools are called with; errors name the tool and the argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import Skeleton, _validate

__all__ = ["flag", "frames_a_second", "joints_of", "name_or", "names_of", "number", "optional", "vector"]

Array = NDArray[Any]
number, flag = _validate.number, _validate.flag


def optional(owner: str, field: str, value: Any, **limits: Any) -> float | None:
    """A number within limits, or None."""
    return None if value is None else number(owner, field, value, **limits)


def frames_a_second(value: Any) -> float:
    """A rate of frames."""
    return _validate.frame_rate("clip", value)


def name_or(owner: str, value: Any, usual: str) -> str:
    """A name, or the usual one for None."""
    return usual if value is None else _validate.name(owner, "name", value)


def joints_of(owner: str, skeleton: Skeleton, joints: Any) -> list[int]:
    """Indices of joints given by one name or number, or by several."""
    if isinstance(joints, (str, int, np.integer)):
        joints = [joints]
    if isinstance(joints, Mapping) or not isinstance(joints, Iterable):
        raise ValidationError(f"{owner}: expected names of joints, got {_validate.shown(joints)}")
    return [skeleton.index(j) for j in joints]


def vector(owner: str, field: str, value: Any, count: int) -> Array:
    """So many finite numbers, float64."""
    out = _validate.numbers(f"{owner}.{field}", value)
    if out.shape != (count,) or not np.isfinite(out).all():
        raise ValidationError(f"{owner}.{field}: expected {count} numbers, got {_validate.shown(value)}")
    return out.astype(np.float64)


def names_of(owner: str, field: str, value: Any) -> dict[str, str]:
    """Pairs of names, as a mapping or as a sequence of two each."""
    items = value.items() if isinstance(value, Mapping) else value
    if isinstance(items, (str, bytes)) or not isinstance(items, Iterable):
        raise ValidationError(f"{owner}.{field}: expected pairs of names, got {_validate.shown(value)}")
    out: dict[str, str] = {}
    for item in items:
        if not isinstance(item, (tuple, list)) or len(item) != 2 or not all(isinstance(n, str) for n in item):
            raise ValidationError(f"{owner}.{field}: expected pairs of names, got {_validate.shown(item)}")
        out[item[0]] = item[1]
    return out
