"""`Finding`: one thing a rule has to say about a character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.printing import one_line

__all__ = ["SEVERITIES", "Finding", "Severity", "first", "listed"]

Severity = Literal["error", "warning", "info"]
"""`error`: the character will look or behave wrong. `warning`: it will in some engines, or costs for nothing.
`info`: worth knowing."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """Which `rule` found something, how bad it is, where, what it is, and what to do about it; the moment of a clip, in
    seconds, where it is one; the joints and the first vertices it is about; whether `mend` has something to do about it.
    Place, message and remedy are lines that may be printed, whatever names they have in them."""

    rule: str
    severity: Severity
    place: str
    message: str
    remedy: str
    time: float | None = None
    joints: tuple[str, ...] = ()
    vertices: tuple[int, ...] = ()
    mended: bool = False

    def __post_init__(self) -> None:
        for name in ("place", "message", "remedy"):
            object.__setattr__(self, name, one_line(getattr(self, name)))

    def __str__(self) -> str:
        return f"{self.severity}: {self.place}: {self.message} [{self.rule}]"


MOST_VERTICES = 1000


def first(mask: NDArray[Any]) -> tuple[int, ...]:
    """The numbers of the first vertices that a mask `(V,)` says."""
    return tuple(np.flatnonzero(mask)[:MOST_VERTICES].tolist())


def listed(names: Sequence[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
