"""`Client`: one browser that watches a session: its mailbox, what it has been sent, and how fast it may talk."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from starlette.websockets import WebSocket

from marrow.printing import logger
from marrow.studio import protocol as p
from marrow.studio.frames import pack_compact

if TYPE_CHECKING:
    from marrow.studio.actor import Picture
    from marrow.studio.drawing_frames import Known
    from marrow.studio.drawings import ViewRequest
    from marrow.studio.frames import CompactGroup
    from marrow.studio.wire import Sent

__all__ = ["Client"]

log = logger("marrow.studio")
RATE, BURST = 240.0, 480.0
"""Messages a second that are read of a browser for long, and how many at once; beyond that it is read later. What they
cost is the hub's to share out."""
MAX_ERRORS = 8
DRAWING_REST = 1.0
"""While things move, views are drawn half of the time at most."""


class Client:
    """One browser: what it should be sent next, and how fast it may talk."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.page = secrets.token_hex(8)
        """What it is known by in its requests; nobody else can guess it and ask in its name."""
        self.texts: dict[str, p.ServerMessage] = {}
        self.errors: deque[p.Failure] = deque(maxlen=MAX_ERRORS)
        self.pictures: dict[int, Picture] = {}
        self.unacknowledged: deque[int] = deque()
        self.behind = True
        """Whether there is something to see that it has not been sent."""
        self.placed: dict[int, Any] = {}
        self.bytes, self.frames = 0, 0
        self.something = asyncio.Event()
        self.compact = False
        """Whether it takes compact frames."""
        self.characters, self.wire_error = 0, 0.0
        self._sent: dict[int, Sent] = {}
        self.views: ViewRequest | None = None
        """What it wants drawn; None until it has said so."""
        self._sent_frame = -1
        self._drawn: dict[int, Known] = {}
        self._drawn_at = self._drawing_took = 0.0
        self._left, self._counted = BURST, time.monotonic()

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
            if isinstance(message, p.Changed):
                self._sent.pop(message.slot, None)  # the page begins anew: it is told all of it
                self._drawn.pop(message.slot, None)
            if isinstance(message, p.Changed) and isinstance(waiting, p.Changed):
                message = msgspec.structs.replace(
                    message, kept=message.kept and waiting.kept, meshes=message.meshes or waiting.meshes
                )
            if isinstance(message, p.Live) and isinstance(waiting, p.Live):
                entered = [*waiting.entered, *message.entered][-64:]
                message = msgspec.structs.replace(message, entered=entered)
            self.texts[kind] = message
        self.something.set()

    def want(self, message: p.SetViews) -> None:
        """What it wants drawn from now on; the picture that is there is sent again, with the drawing."""
        from marrow.studio.drawings import ViewRequest

        self.views = ViewRequest.of(message)
        self._drawn_at, self.behind = 0.0, True

    def show(self, pictures: list[Picture]) -> None:
        """The newest pictures, to be sent when it can take them."""
        self.pictures = {picture.slot: picture for picture in pictures}
        self.behind = False
        self.something.set()

    def acknowledge(self, frame: int) -> None:
        while self.unacknowledged and self.unacknowledged[0] <= frame:
            self.unacknowledged.popleft()
        self.something.set()

    def count(self) -> float:
        """Counts a message; returns how long to wait before its next one is read: not at all, unless they are very many."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._counted) * RATE) - 1.0
        self._counted = now
        return max(0.0, -self._left / RATE)

    def packed(self, picture: Picture) -> bytes:
        """The frame that shows it a picture, and what it then has."""
        slot = picture.slot
        placed = self.placed.get(slot) is not picture.placements
        self.placed[slot] = picture.placements
        groups = self._news(picture) if self.compact else None
        if groups is None or picture.wire is None:
            self._sent.pop(slot, None)
            self.characters += picture.count
            self.wire_error = 0.0
            return picture.packed(placed)
        self.characters += sum(len(g.instances) for g in groups)
        self.wire_error = picture.wire.error
        return pack_compact(
            frame=picture.frame,
            slot=slot,
            time=picture.time,
            count=picture.count,
            palette=picture.palette,
            morphs=picture.targets.shape[1],
            reach=picture.wire.reach,
            groups=groups,
            placements=picture.placements if placed else None,
        )

    def _news(self, picture: Picture) -> list[CompactGroup] | None:
        """What it does not have of a crowd; None where that is to be sent as matrices."""
        from marrow.studio.wire import Sent, turns

        wire, many = picture.wire, picture.many
        if wire is None or not many:
            return None
        known = self._sent.get(picture.slot)
        if known is None or not known.fits(picture.count, picture.palette, wire.reach):
            known = Sent(picture.count, picture.palette, wire.reach)
        least = turns(many)
        while True:
            due = (known.due(group, picture.frame, moving=picture.moving, least=least) for group in many)
            found = [picture.encoded(group, rows) for group, rows in zip(many, due)]
            if any(group is None for group in found):
                return None
            if known.reach == wire.reach:
                break
            # Somebody reached out of the cube, which has grown: all are told anew.
            known = Sent(picture.count, picture.palette, wire.reach)
            picture.forget_encoded()
        self._sent[picture.slot] = known
        news = [
            known.take(group, picture.frame) for group in found if group is not None and len(group.instances)
        ]
        return [group for group in news if group is not None]

    def drawings(self, pictures: dict[int, Picture]) -> dict[int, bytes]:
        """What views draw of pictures, as far as the page does not have it. While things move, what takes long is drawn
        less often than everything else."""
        from marrow.studio.drawing_frames import Known, pack_drawing

        began = time.monotonic()
        moving = any(picture.moving for picture in pictures.values())
        if self.views is None or (moving and began < self._drawn_at + DRAWING_REST * self._drawing_took):
            return {}
        out: dict[int, bytes] = {}
        second = pictures.get(1)
        for slot, picture in pictures.items():
            if self.views.empty and slot not in self._drawn:
                continue
            drawn = picture.drawing(self.views, None if second is None else second.actor.character)
            data = pack_drawing(drawn, picture, self._drawn.setdefault(slot, Known()))
            if data is not None:
                out[slot] = data
        self._drawn_at = time.monotonic()
        self._drawing_took = self._drawn_at - began
        return out

    async def _draw(self, pictures: dict[int, Picture]) -> dict[int, bytes]:
        """The same, beside the loop that serves all. What fails is told, and not tried again before it is asked for."""
        if self.views is None:
            return {}
        try:
            return await asyncio.to_thread(self.drawings, pictures)
        except Exception as error:
            self.views = None
            log.exception("a drawing failed")
            self.tell(p.Failure(f"what was chosen cannot be drawn: {error}"))
            return {}

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
                newest = max(picture.frame for picture in pictures.values())
                if (
                    newest != self._sent_frame
                ):  # the same again, with another drawing, is not acknowledged again
                    self.unacknowledged.append(newest)
                self._sent_frame = newest
                drawings = await self._draw(pictures)
                for picture in pictures.values():
                    drawing = drawings.get(picture.slot)
                    if drawing is not None:
                        self.bytes += len(drawing)
                        await self.socket.send_bytes(drawing)
                    data = self.packed(picture)
                    self.bytes += len(data)
                    await self.socket.send_bytes(data)
                self.frames += 1

    async def _send_text(self, message: p.ServerMessage) -> None:
        text = p.encode(message)
        self.bytes += len(text)
        await self.socket.send_text(text)
