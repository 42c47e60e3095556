"""Montages: clips in sections, checked and laid out for the slots that play them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from marrow.errors import ValidationError
from marrow.graph.compiled import MontageEntry
from marrow.graph.tables import seconds, unknown

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.description import Montage

__all__ = ["add_montages"]

SHORTEST = 1e-3
"""Seconds that a section lasts at least: what is repeated must take time."""


def add_montages(c: Compiler, montages: Mapping[str, Montage], prefix: str, place: str) -> None:
    """Adds the montages of a graph, under their names with a `prefix`, to what is being compiled."""
    for name, montage in montages.items():
        path = f"{place}.{name}"
        if montage.slot not in c.slots:
            raise unknown("slot", montage.slot, c.slots, path)
        if montage.clip not in c.bank.index:
            raise unknown("clip", montage.clip, c.bank.index, path)
        if c.character.clips[montage.clip].additive != c.slots[montage.slot].additive:
            raise ValidationError(
                f"{path}: the slot {montage.slot!r} and the clip {montage.clip!r} do not fit: one is additive"
            )
        names = _sections(c, montage, path)
        first = len(c.sections)
        c.montages[prefix + name] = MontageEntry(
            montage.slot,
            montage.clip,
            names,
            first,
            seconds(montage.seconds, f"{path}.seconds"),
            seconds(montage.out_seconds, f"{path}.out_seconds"),
            _speed(montage.speed, f"{path}.speed"),
        )
        ends = [*(montage.sections[n] for n in names[1:]), float(c.bank.duration[c.bank.index[montage.clip]])]
        c.sections += [(montage.sections[n], end) for n, end in zip(names, ends)]
        for k, section in enumerate(names):
            usual = names[k + 1] if k + 1 < len(names) else None
            following = montage.following.get(section, usual)
            c.following.append(-1 if following is None else first + names.index(following))


def _sections(c: Compiler, montage: Montage, path: str) -> tuple[str, ...]:
    """The names of the sections, in order of time."""
    if not montage.sections:
        raise ValidationError(f"{path}.sections: a montage needs at least one")
    duration = float(c.bank.duration[c.bank.index[montage.clip]])
    names = tuple(sorted(montage.sections, key=lambda n: montage.sections[n]))
    times = [*(montage.sections[n] for n in names), duration]
    if not all(math.isfinite(t) and t >= 0 for t in times) or any(
        b - a < SHORTEST for a, b in pairwise(times)
    ):
        raise ValidationError(
            f"{path}.sections: expected times from 0 on, apart from each other and before the end of {montage.clip!r} at "
            f"{duration:g} seconds, got {montage.sections}"
        )
    for section, following in montage.following.items():
        for wanted in (section, *(() if following is None else (following,))):
            if wanted not in montage.sections:
                raise unknown("section", wanted, names, f"{path}.following")
    return names


def _speed(speed: float, path: str) -> float:
    if not (math.isfinite(speed) and 0 < speed <= 1000):
        raise ValidationError(
            f"{path}: a montage runs forward: expected a speed above 0, 1000 at most, got {speed}"
        )
    return speed
