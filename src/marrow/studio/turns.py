"""`Turns`: who is served next. Each page has a queue of its own, and the one that has had the least of late goes first.

What a page has had is the time its turns took, which is forgotten by half every `HALF` seconds: nobody saves turns up, and
nobody pays long for one thing that took a while. So a page that asks for very much waits for itself, and one that asks for
little waits for the turn that is under way, however long the queues of others are.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Hashable

from marrow.errors import MarrowError

__all__ = ["Crowded", "Turns"]

HALF = 0.5
SHORT = 0.002
"""Seconds after which nobody needs a rest."""
LITTLE = 1e-5
"""Seconds that are as good as nothing."""


class Crowded(MarrowError):
    """A page has asked for more than may wait."""


class Turns:
    """`at_once` turns are under way at most, `each` of them of one page. Of one page `waiting` may wait, more are refused;
    where `in_all` wait, only a page of which nothing waits yet may join them.

    With `rest`, as long as a turn took the next one is put off: half of the time is then left to everything else.
    """

    def __init__(
        self,
        at_once: int = 1,
        *,
        each: int = 1,
        waiting: int | None = None,
        in_all: int | None = None,
        rest: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.at_once, self.each, self.rest = at_once, each, rest
        self.most_waiting, self.in_all = waiting, in_all
        self._clock = clock
        self._queues: dict[Hashable, deque[asyncio.Future[None]]] = {}
        self._running: Counter[Hashable] = Counter()
        self._resting = 0
        self._had: dict[Hashable, tuple[float, float]] = {}
        """What each page had had, in seconds, and when that was."""

    @contextlib.asynccontextmanager
    async def turn(self, page: Hashable) -> AsyncIterator[None]:
        """Waits for a page's turn; it lasts as long as the block."""
        await self._come(page)
        began = self._clock()
        try:
            yield
        finally:
            self._leave(page, self._clock() - began)

    def waiting(self, page: Hashable) -> int:
        """How many wait of a page."""
        return len(self._queues.get(page, ()))

    async def _come(self, page: Hashable) -> None:
        if not self._queues and self._free(page):
            self._begin(page)
            return
        here = self.waiting(page)
        if self.most_waiting is not None and here >= self.most_waiting:
            raise Crowded(
                f"{here} things that this page asked for wait to be done already; try again in a moment"
            )
        if self.in_all is not None and here and sum(map(len, self._queues.values())) >= self.in_all:
            raise Crowded(f"{self.in_all} things wait to be done already; try again in a moment")
        turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(page, deque()).append(turn)
        self._next()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled() or not turn.done():
                self._forget(page, turn)
            else:  # it was called and will not come
                self._leave(page, 0.0)
            raise

    def _forget(self, page: Hashable, turn: asyncio.Future[None]) -> None:
        queue = self._queues.get(page)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[page]

    def _free(self, page: Hashable) -> bool:
        under_way = self._running.total() + self._resting
        return under_way < self.at_once and self._running[page] < self.each

    def _begin(self, page: Hashable) -> None:
        self._running[page] += 1

    def _had_by(self, page: Hashable) -> float:
        seconds, at = self._had.get(page, (0.0, 0.0))
        return seconds * 0.5 ** ((self._clock() - at) / HALF)

    def _leave(self, page: Hashable, seconds: float) -> None:
        self._running[page] -= 1
        if not self._running[page]:
            del self._running[page]
        self._had[page] = self._had_by(page) + seconds, self._clock()
        for other in [p for p in self._had if self._had_by(p) < LITTLE]:
            del self._had[other]
        if self.rest and seconds > SHORT:
            self._resting += 1
            asyncio.get_running_loop().call_later(seconds, self._rested)
        else:
            self._next()

    def _rested(self) -> None:
        self._resting -= 1
        self._next()

    def _next(self) -> None:
        """Calls those whose turn it is."""
        while True:
            able = [page for page in self._queues if self._free(page)]
            if not able:
                return
            # Of those who have had as little, the one that has waited longest: dictionaries keep their order.
            page = min(able, key=self._had_by)
            queue = self._queues.pop(page)
            turn = queue.popleft()
            if queue:
                self._queues[page] = queue  # behind the others
            if not turn.done():
                self._begin(page)
                turn.set_result(None)
