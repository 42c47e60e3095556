"""`LintRule`: what finds something, and what `mend` does about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from marrow.io.lint.finding import Finding
from marrow.model import Character

__all__ = ["Done", "LintRule", "Mending", "Repair", "by_hand"]

Done = tuple[str, str]
"""The place, and what was done there."""
Repair = Callable[[Character, Sequence[Finding]], tuple[Character, list[Done]]]
"""The character without what was found as far as that is safe, and what was done."""


@dataclass(frozen=True, slots=True)
class Mending:
    """What is done about findings: `repair`, or nothing; and the `reason` why what is left needs a person.
    `declines`: the repair may find that it is not safe here; whether it is, is tried."""

    reason: str
    repair: Repair | None = None
    declines: bool = False


def by_hand(reason: str) -> Mending:
    """For what only a person can decide."""
    return Mending(reason)


@dataclass(frozen=True, slots=True)
class LintRule:
    """Finds something; `mending` says for each id of its findings what `mend` does about it."""

    find: Callable[[Character], Iterator[Finding]]
    mending: Mapping[str, Mending]
