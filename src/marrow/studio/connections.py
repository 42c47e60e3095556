"""Connections that say nothing, or do not listen: each has so long for its request, and only so many may wait for theirs.

A browser opens a connection and asks at once. One that is silent, or sends its headers byte by byte, is closed after
`HEADER_SECONDS`; where more than `MAX_SILENT` wait, of one address or of all, the one that has waited longest goes
first. Nobody is kept out by those who only hold the door. Who does not read its answer for `READING_SECONDS` is closed too.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HEADER_SECONDS", "MAX_SILENT", "Silent", "TimedProtocol"]

HEADER_SECONDS, READING_SECONDS = 15.0, 60.0
MAX_SILENT, MAX_SILENT_OF_ONE = 128, 64
MAX_LINE, MAX_LINES = 8000, 100
"""Bytes of a header, and headers, of what asks for a websocket: the library behind it never answers one that has more."""
AT_ONCE = 1 << 16
"""Bytes that are taken from a connection before it is the next one's turn: they may be thousands of messages."""


class Silent:
    """The connections that have not asked for anything yet, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[Any, str] = {}

    def add(self, protocol: Any, address: str) -> None:
        """One more; whoever has waited longest makes room for it."""
        self._waiting[protocol] = address
        counts = Counter(self._waiting.values())
        if counts[address] > MAX_SILENT_OF_ONE:
            self._drop(next(p for p, where in self._waiting.items() if where == address))
        elif len(self._waiting) > MAX_SILENT:
            self._drop(next(iter(self._waiting)))

    def remove(self, protocol: Any) -> None:
        self._waiting.pop(protocol, None)

    def _drop(self, protocol: Any) -> None:
        self.remove(protocol)
        protocol.hang_up()

    def __len__(self) -> int:
        return len(self._waiting)


class TimedProtocol(H11Protocol):
    """uvicorn's protocol with a limit to how long a request may take to be asked."""

    silent: Silent
    _header_timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if hasattr(transport, "max_size"):  # asyncio's own; others take as much as they take
            transport.max_size = AT_ONCE
        self._begin_waiting()

    def _begin_waiting(self) -> None:
        peer = self.transport.get_extra_info("peername")
        self._header_timer = self.loop.call_later(HEADER_SECONDS, self.hang_up)
        self.silent.add(self, str(peer[0]) if isinstance(peer, tuple) and peer else "")

    def _end_waiting(self) -> None:
        self.silent.remove(self)
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def hang_up(self) -> None:
        """Closes it without a word: nothing was asked."""
        self._end_waiting()
        if not self.transport.is_closing():
            self.transport.abort()

    def handle_events(self) -> None:
        super().handle_events()
        # A request is there once its headers are: from then on it is the application's.
        if self.conn.their_state is not h11.IDLE:
            self._end_waiting()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # Cookies are other servers' of this machine, and may be many.
        self.headers = [(name, value) for name, value in self.headers if name != b"cookie"]
        longest = max((len(name) + len(value) for name, value in self.headers), default=0)
        if len(self.headers) > MAX_LINES or max(longest, len(event.target)) > MAX_LINE:
            self.send_400_response("these headers are too long, or too many")
            return
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            # It was answered before all of it had come: nobody will read the rest.
            self.transport.close()
        if (
            not self.transport.is_closing()
            and self._header_timer is None
            and self.conn.their_state is h11.IDLE
        ):
            self._begin_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def _expect_reading(self) -> None:
        """Hangs up unless something of the answer was taken by then: who is slow, but reads, has all the time."""
        left = self.transport.get_write_buffer_size()

        def look() -> None:
            if self.transport.get_write_buffer_size() < left:
                self._expect_reading()
            else:
                self.hang_up()

        self._reading_timer = self.loop.call_later(READING_SECONDS, look)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reads()

    def _reads(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_waiting()
        self._reads()
        super().connection_lost(exc)


def timed_protocol() -> type[asyncio.Protocol]:
    """A protocol class with its own list of the silent."""
    return cast("type[asyncio.Protocol]", type("StudioProtocol", (TimedProtocol,), {"silent": Silent()}))
