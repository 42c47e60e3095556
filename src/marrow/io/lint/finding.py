"""`Finding`: one thing a rule has to say about a character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["SEVERITIES", "Finding", "Severity", "listed"]

Severity = Literal["error", "warning", "info"]
"""`error`: the character will look or behave wrong. `warning`: it will in some engines, or costs for nothing.
`info`: worth knowing."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Finding:
    """Which `rule` found something, how bad it is, where, what it is, and what to do about it; the moment of a clip, in
    seconds, where it is one."""

    rule: str
    severity: Severity
    place: str
    message: str
    remedy: str
    time: float | None = None

    def __str__(self) -> str:
        return f"{self.severity}: {self.place}: {self.message} [{self.rule}]"


def listed(names: Sequence[str], most: int = 5) -> str:
    """A few names, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
