"""`Hub`: the browsers that watch a session, and the loop that lets time pass for them.

Each browser (`Client`) has a task of its own that sends it what is newest: one state, one picture per slot,
never a queue of them. It may have two frames unacknowledged; until it answers it is sent no more, and nobody
else waits for it. The loop sleeps while nothing moves or nobody watches; while something moves it beats sixty
times a second, and an input, or a browser that has waited for its frame, brings the next beat forward.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from marrow._version import __version__
from marrow.errors import InUseError, MarrowError
from marrow.printing import logger
from marrow.studio import protocol as p
from marrow.studio.client import Client
from marrow.studio.session import Session
from marrow.studio.turns import Turns

__all__ = ["MAX_CLIENTS", "Hub"]

log = logger("marrow.studio")
MAX_CLIENTS = 64
PERIOD = 1 / 60
CARRIED_OUT = (p.Open, p.Settle, p.EditClip, p.Undo, p.Redo, p.ReadyGraph)
STATE_PERIOD = 1 / 30
LIVE_PERIOD = 1 / 15
BREATH = 0.001
"""Seconds the loop always leaves to the network after an update; a slow update leaves a quarter of its
own time."""


class Hub:
    """All browsers of a session. `carry_out` does what takes a while, or needs more than the session."""

    def __init__(self, session: Session, greeting: Callable[[p.State, str], p.Hello]) -> None:
        self.session = session
        self.clients: set[Client] = set()
        self.greeting = greeting
        self.progress: str | None = None
        """What everyone waits for, if anything."""
        self.carry_out: Callable[[p.ClientMessage, Client], None] | None = None
        self.desk = Turns(rest=True)
        """Where messages are taken: one at a time, of the page that has asked for least, half of the time at most."""
        self.wake = asyncio.Event()
        self._told_revision = -1
        self._told_at = self._live_at = 0.0
        self._live_due = False
        self._update_seconds: list[float] = []
        self._stats_at = time.perf_counter()
        self._idle_told = True
        self._failed_at = -1

    # -- browsers --------------------------------------------------------------------------------------------
    async def serve(self, socket: WebSocket) -> None:
        """Talks with one browser until it leaves."""
        if len(self.clients) >= MAX_CLIENTS:
            await socket.accept(p.SOCKET_PROTOCOL)
            await socket.send_text(
                p.encode(p.Failure(f"{MAX_CLIENTS} pages watch already; close one of them"))
            )
            await socket.close(1013)
            return
        await socket.accept(p.SOCKET_PROTOCOL)
        client = Client(socket)
        client.tell(self.greeting(self.session.state(), client.page))
        if self.session.narrator.last is not None:
            client.tell(msgspec.structs.replace(self.session.narrator.last, entered=[]))
        if self.progress is not None:
            client.tell(p.Progress(self.progress, -1.0))
        self.clients.add(client)
        self.wake.set()
        sender = asyncio.create_task(client.send_loop())
        receiver = asyncio.create_task(self._receive_loop(client))
        try:
            done, _ = await asyncio.wait({sender, receiver}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if error is not None and not isinstance(error, (WebSocketDisconnect, RuntimeError, OSError)):
                    log.error("a page's connection failed", exc_info=error)
        finally:
            self.clients.discard(client)
            self.session.look_from(client, None)
            for task in (sender, receiver):
                task.cancel()
            await asyncio.gather(sender, receiver, return_exceptions=True)

    async def _receive_loop(self, client: Client) -> None:
        while True:
            event = await client.socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            await self._take(client, event)
            # Others have their turn in any case: its own messages may all be here already.
            await asyncio.sleep(client.count())

    async def _take(self, client: Client, event: Any) -> None:
        """One message from a browser; what is wrong with it is told to that browser alone."""
        try:
            text = event.get("text")
            if text is None:
                raise MarrowError("pages send text, not binary frames")
            message = p.decode(text)
            if isinstance(message, p.Ack):  # costs nothing, and its next frame waits for it
                client.acknowledge(message.frame)
                if client.behind:
                    self.wake.set()
            else:
                async with self.desk.turn(client.page):
                    self._apply(client, message)
        except MarrowError as error:
            client.tell(p.Failure(str(error)))

    def _apply(self, client: Client, message: p.ClientMessage) -> None:
        """Does what a message asks for."""
        if isinstance(message, p.Accept):
            client.compact = message.compact
        elif isinstance(message, CARRIED_OUT):
            if self.carry_out is not None:
                self.carry_out(message, client)
        elif isinstance(message, p.CloseSlot):
            self.session.remove(message.slot)
            self.tell(p.Changed(message.slot, False))
            self.wake.set()
        elif isinstance(message, p.SetViews):
            client.want(message)
            self.wake.set()
        elif isinstance(message, p.Look):
            self.session.look_from(client, message)
            self.wake.set()
        else:
            self.session.apply(message)
            self.wake.set()

    def tell(self, message: p.ServerMessage) -> None:
        """Tells every browser."""
        for client in self.clients:
            client.tell(message)

    # -- time ------------------------------------------------------------------------------------------------
    async def run(self) -> None:
        """Lets time pass, sixty times a second, while somebody watches and something moves."""
        before = due = time.perf_counter()
        while True:
            while not self._wanted():
                self._rest()
                await self.wake.wait()
                self.wake.clear()
                before = due = time.perf_counter()
            now = time.perf_counter()
            try:
                self.step(now - before)
            except InUseError:
                pass  # the program that gave the animator works with it just now: the next update is as good
            except Exception as error:
                # Whatever a character does to the engine, the studio stays, paused, and says so.
                self.session.playing = self.session.changed = self._live_due = False
                self.session.revision += 1
                if (
                    self._failed_at == self.session.revision - 1
                ):  # it fails whatever is done: not again until asked to
                    self._told_revision = self.session.revision
                self._failed_at = self.session.revision
                log.exception("an update failed")
                self.tell(p.Failure(f"the character could not be animated: {error}"))
            before = now
            spent = time.perf_counter() - now
            # An update that came early is the first of a new beat; one that came late keeps the old.
            due = max(min(due, now) + PERIOD, now + spent)
            # Inputs may bring updates forward to half of the time there is, whoever sends them.
            await self._pause(due, max(BREATH, spent / 4, min(spent, due - now - spent)))

    async def _pause(self, due: float, least: float) -> None:
        """Sleeps until it is due, or until something wants an update at once, but for the `least` seconds that are
        the network's."""
        await asyncio.sleep(least)
        left = due - time.perf_counter()
        if left > 0 and not self.wake.is_set():
            timer = asyncio.get_running_loop().call_later(left, self.wake.set)
            await self.wake.wait()
            timer.cancel()
        self.wake.clear()

    def _wanted(self) -> bool:
        if not self.clients:
            return False
        session = self.session
        if session.changed or self._live_due or session.revision != self._told_revision or session.moving:
            return True
        return any(client.behind and client.ready for client in self.clients)

    def step(self, seconds: float) -> None:
        """One update: moves the session, and puts what is new into the mailboxes."""
        session = self.session
        began = time.perf_counter()
        moving = session.tick(seconds)
        if session.changed:
            self._live_due = True
            for client in self.clients:
                client.behind = True
        takers = [client for client in self.clients if client.behind and client.ready]
        if takers:
            pictures = (
                session.look() if session.changed or not session.pictures else list(session.pictures.values())
            )
            for client in takers:
                client.show(pictures)
            if not any(client.compact for client in takers):
                for picture in pictures:  # packed here, where what it takes is measured
                    picture.packed(any(c.placed.get(picture.slot) is not picture.placements for c in takers))
        if self._live_due and began - self._live_at >= LIVE_PERIOD:
            self._live_due, self._live_at = False, began
            live = session.live()
            if live is not None:
                self.tell(live)
        self._tell_state(began)
        if moving:
            self._update_seconds.append(time.perf_counter() - began)
            self._idle_told = False
        self._tell_stats(began)

    def _tell_state(self, now: float) -> None:
        """The state, where something other than time has changed, at most thirty times a second."""
        revision = self.session.revision
        if revision == self._told_revision or now - self._told_at < STATE_PERIOD:
            return
        self._told_revision, self._told_at = revision, now
        self.tell(self.session.state())

    def _tell_stats(self, now: float) -> None:
        seconds = now - self._stats_at
        if seconds < 1.0 or not self._update_seconds:
            return
        cost = sum(self._update_seconds) / len(self._update_seconds)
        self._update_seconds.clear()
        self._stats_at = now
        for client in self.clients:
            client.tell(
                p.Stats(
                    round(1e3 * cost, 4),
                    round(1e6 * cost / max(self.session.count, 1), 3),
                    round(client.bytes / seconds / 1e3, 1),
                    round(client.frames / seconds, 1),
                    len(self.clients),
                    round(client.characters / seconds, 1),
                    client.wire_error,
                )
            )
            client.bytes = client.frames = client.characters = 0

    def _rest(self) -> None:
        """Nothing moves any more: tells so once."""
        if self._idle_told:
            return
        self._idle_told = True
        self._update_seconds.clear()
        self._stats_at = time.perf_counter()
        self.tell(p.Stats(0.0, 0.0, 0.0, 0.0, len(self.clients), 0.0, 0.0))


def greeting(session: Session, max_upload_bytes: int) -> Callable[[p.State, str], p.Hello]:
    """What a browser is told first."""
    from marrow.samples import describe

    samples = [p.SampleInfo(name, words) for name, words in describe().items()]

    def greet(state: p.State, page: str) -> p.Hello:
        return p.Hello(
            p.PROTOCOL_VERSION,
            __version__,
            page,
            state,
            list(session.narrator.history),
            samples,
            p.MAX_COUNT,
            max_upload_bytes,
        )

    return greet
