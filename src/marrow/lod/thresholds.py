"""From which point on each level of detail is used: by its error, by screen size, by distance."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.level import Level

__all__ = ["error_thresholds", "rising", "size_thresholds", "with_screen_sizes"]

Array = NDArray[Any]


def rising(what: str, values: Sequence[float], count: int) -> Array:
    """Thresholds of levels 1, 2..., each above the one before or equal."""
    found = np.array([_validate.number("Selector", what, v, low=0) for v in values])
    if len(found) != count:
        raise ValidationError(
            f"Selector: {what}: expected one for each of the {count} levels after the first, got {len(found)}"
        )
    if (np.diff(found) < 0).any():
        raise ValidationError(f"Selector: {what}: expected them from near to far, got {list(values)}")
    return found


def size_thresholds(sizes: Sequence[float], count: int) -> Array:
    """One over the screen sizes: they shrink as instances are seen less."""
    checked = _sizes("Selector", sizes, count)
    with np.errstate(divide="ignore"):
        return 1.0 / np.array(checked, np.float64)


def _sizes(who: str, sizes: Sequence[float], count: int) -> list[float]:
    found = [_validate.number(who, "sizes", s, low=0) for s in sizes]
    if len(found) != count:
        raise ValidationError(
            f"{who}: sizes: expected one for each of the {count} levels after the first, got {len(found)}"
        )
    if any(b > a for a, b in itertools.pairwise(found)):
        raise ValidationError(f"{who}: sizes: expected them from large to small, got {found}")
    return found


def error_thresholds(character: Character, found: Sequence[float | None]) -> Array:
    """The errors of levels 1, 2... in metres; a level is never used where a coarser one is as good."""
    if any(error is None for error in found):
        raise ValidationError(
            f"Selector: nobody measured the levels of {character.name!r}: choose by sizes= or distances=, or make "
            "them with mw.lod.build"
        )
    errors = np.array(found, np.float64)
    return np.ascontiguousarray(np.minimum.accumulate(errors[::-1])[::-1])


def with_screen_sizes(character: Character, sizes: Sequence[float] | None) -> Character:
    """The character with screen sizes saved for its levels 1, 2...: the part of the picture's height below which each is
    used. None takes them away, so that levels are chosen by their errors."""
    if not isinstance(character, Character):
        raise WrongTypeError(f"with_screen_sizes: expected a Character, got {_validate.shown(character)}")
    count = len(character.reduced)
    table: Sequence[float | None] = (
        [None] * count if sizes is None else _sizes("with_screen_sizes", sizes, count)
    )
    reduced = (
        Level(level.meshes, dataclasses.replace(level.lod, screen_size=size), level.report)
        for level, size in zip(character.reduced, table)
    )
    return character.replace(reduced=tuple(reduced))
