"""`Client`: one browser that watches a session: its mailbox, what it has been sent, and how fast it may talk."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any

import msgspec
from starlette.websockets import WebSocket

from marrow.studio import protocol as p
from marrow.studio.actor import Picture

__all__ = ["Client"]

MESSAGES_PER_SECOND = 240.0
BURST = 120.0
MAX_ERRORS = 8


class Client:
    """One browser: what it should be sent next, and how fast it may talk."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.texts: dict[str, p.ServerMessage] = {}
        self.errors: deque[p.Failure] = deque(maxlen=MAX_ERRORS)
        self.pictures: dict[int, Picture] = {}
        self.unacknowledged: deque[int] = deque()
        self.behind = True
        """Whether there is something to see that it has not been sent."""
        self.placed: dict[int, Any] = {}
        self.bytes, self.frames = 0, 0
        self.something = asyncio.Event()
        self._allowance, self._counted = BURST, time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether it may be sent a frame."""
        return len(self.unacknowledged) < p.FRAMES_IN_FLIGHT

    def tell(self, message: p.ServerMessage) -> None:
        """Puts a message in its mailbox. A newer one of a kind takes the place of an older."""
        if isinstance(message, p.Failure):
            self.errors.append(message)
        else:
            kind = type(message).__name__ + (str(message.slot) if isinstance(message, p.Changed) else "")
            waiting = self.texts.pop(kind, None)
            if isinstance(message, p.Live) and isinstance(waiting, p.Live):
                entered = [*waiting.entered, *message.entered][-64:]
                message = msgspec.structs.replace(message, entered=entered)
            self.texts[kind] = message
        self.something.set()

    def show(self, pictures: list[Picture]) -> None:
        """The newest pictures, to be sent when it can take them."""
        self.pictures = {picture.slot: picture for picture in pictures}
        self.behind = False
        self.something.set()

    def acknowledge(self, frame: int) -> None:
        while self.unacknowledged and self.unacknowledged[0] <= frame:
            self.unacknowledged.popleft()
        self.something.set()

    def seconds_to_wait(self) -> float:
        """Seconds to wait before its next message is read: none, unless it talks too fast."""
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + (now - self._counted) * MESSAGES_PER_SECOND) - 1
        self._counted = now
        return max(0.0, -self._allowance / MESSAGES_PER_SECOND)

    async def send_loop(self) -> None:
        """Sends what is in the mailbox, messages before pictures, for as long as the browser is there."""
        while True:
            await self.something.wait()
            self.something.clear()
            while self.errors:
                await self._send_text(self.errors.popleft())
            while self.texts:
                await self._send_text(self.texts.pop(next(iter(self.texts))))
            if self.pictures and self.ready:
                pictures, self.pictures = self.pictures, {}
                self.unacknowledged.append(max(picture.frame for picture in pictures.values()))
                for slot, picture in pictures.items():
                    placed = self.placed.get(slot) is not picture.placements
                    self.placed[slot] = picture.placements
                    data = picture.packed(placed)
                    self.bytes += len(data)
                    await self.socket.send_bytes(data)
                self.frames += 1

    async def _send_text(self, message: p.ServerMessage) -> None:
        text = p.encode(message)
        self.bytes += len(text)
        await self.socket.send_text(text)
