"""From which point on each level of detail is used: by its error, by screen size, by distance."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.level import Lod

__all__ = ["error_thresholds", "rising", "size_thresholds", "slacks", "with_screen_sizes"]

Array = NDArray[Any]
HYSTERESIS = 0.1
"""By how much a threshold has to be passed where nobody says."""


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


def slacks(who: str, hysteresis: Any, lods: Sequence[Lod]) -> list[float]:
    """By how much each threshold has to be passed: as given, for all or for each of levels 1, 2...; when left out, as saved
    with the levels."""
    if hysteresis is None:
        return [HYSTERESIS if lod.hysteresis is None else lod.hysteresis for lod in lods]
    if np.ndim(hysteresis) == 0:
        return [_validate.number(who, "hysteresis", hysteresis, low=0)] * len(lods)
    found = [_validate.number(who, "hysteresis", h, low=0) for h in hysteresis]
    if len(found) != len(lods):
        raise ValidationError(
            f"{who}: hysteresis: expected a number, or one for each of the {len(lods)} levels after the first, got "
            f"{len(found)}"
        )
    return found


def with_screen_sizes(
    character: Character,
    sizes: Sequence[float] | None,
    *,
    hysteresis: float | Sequence[float] | None = None,
) -> Character:
    """The character with screen sizes saved for its levels 1, 2...: each is used where the bounding sphere at rest covers
    less than that part of the picture's height. None takes them away, so that levels are chosen by their errors.

    `hysteresis`: how far past its threshold an instance must be to change to a level, as a part of it; one for all levels
    or one for each, saved with them too. When left out it stays as it is."""
    who = "with_screen_sizes"
    if not isinstance(character, Character):
        raise WrongTypeError(f"{who}: expected a Character, got {_validate.shown(character)}")
    lods = [level.lod for level in character.reduced]
    table: Sequence[float | None] = [None] * len(lods) if sizes is None else _sizes(who, sizes, len(lods))
    calm: Sequence[float | None] = [lod.hysteresis for lod in lods]
    if hysteresis is not None:
        calm = slacks(who, hysteresis, lods)
    reduced = (
        level.replace(lod=level.lod.replace(screen_size=size, hysteresis=slack))
        for level, size, slack in zip(character.reduced, table, calm)
    )
    return character.replace(reduced=tuple(reduced))
