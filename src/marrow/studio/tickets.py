"""`Tickets`: what a notebook's cell opens its studio with. The output of a cell is saved, sent and published, so the token
is not in it: a ticket opens the studio once, soon after the cell ran, and then nothing."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

__all__ = ["LIFE", "Tickets"]

LIFE = 600.0
"""Seconds after which nobody can use a ticket."""
MOST = 64
"""Tickets at once; the oldest go first."""


class Tickets:
    """The tickets of one studio that nobody has used yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}
        self._used: list[str] = []

    def new(self) -> str:
        ticket = secrets.token_urlsafe(16)
        self._ends[ticket] = self._clock() + LIFE
        while len(self._ends) > MOST:
            del self._ends[next(iter(self._ends))]
        return ticket

    def holds(self, ticket: str) -> bool:
        """Whether it would open the studio."""
        return self._ends.get(ticket, 0.0) > self._clock()

    def take(self, ticket: str) -> bool:
        """Whether it opens the studio; it never does again."""
        good = self.holds(ticket)
        if self._ends.pop(ticket, None) is not None:
            self._used = [*self._used, ticket][-MOST:]
        return good

    def was_used(self, ticket: str) -> bool:
        """Whether it opened the studio already: the cell that asks is an old one."""
        return ticket in self._used
