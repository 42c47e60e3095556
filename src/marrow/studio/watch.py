"""`Watcher`: shows a file again when it was exported again, and what is different."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from marrow.errors import MarrowError
from marrow.printing import printable
from marrow.studio import protocol as p
from marrow.studio.difference import carried_over, differences, same_buffers

if TYPE_CHECKING:
    from marrow.model import Character
    from marrow.studio.actor import StudioActor
    from marrow.studio.makers import Maker
    from marrow.studio.server import Server

__all__ = ["Watcher"]

PERIOD = 0.5
"""Seconds between two looks at a file. It is read when it looks the same twice: exporters take their time to write."""
Signature = tuple[tuple[int, int, int] | None, ...]


class Watcher:
    """Watches the files of one maker, whose actor is shown by `server`, in a thread of its own until `close`."""

    def __init__(self, server: Server, maker: Maker, actor: StudioActor) -> None:
        self._server, self._maker = server, maker
        self._loaded: Character = actor.character
        self._origin = actor.origin.name
        self._seen = self._waiting = self._signature()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="marrow-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(PERIOD) and self._server.running:
            self.look()

    def _signature(self) -> Signature:
        found: list[tuple[int, int, int] | None] = []
        for file in self._maker.files:
            try:
                stat = os.stat(file)
                found.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
            except OSError:  # between two versions there may be none
                found.append(None)
        return tuple(found)

    def look(self) -> bool:
        """One look: reads the file again where it has changed and has then stayed as it is; whether it did."""
        now = self._signature()
        settled, self._waiting = now == self._waiting, now
        if now == self._seen or not settled or None in now:
            return False
        self._seen = now
        self._reload()
        return True

    def _reload(self) -> None:
        studio = self._server.studio
        before = studio.session.actors.get(self._maker.slot)
        if before is None or before.origin.name != self._origin or studio.session.driven:
            return  # something else is open there now
        name = printable(os.path.basename(self._origin))
        try:
            fresh = self._maker()
            actor, difference, meshes = self._prepared(before, fresh)
        except MarrowError as error:
            text = str(error)
            said = text if name in text else f"{name}: {text}"
            self._server.call(studio.hub.tell, p.Failure(f"{said}. What was shown before stays."))
            return
        self._loaded = fresh.character

        def put() -> None:
            if studio.session.actors.get(self._maker.slot) is before:
                studio.show(actor, keep=True, meshes=meshes, difference=difference)

        self._server.call(put)

    def _prepared(self, before: StudioActor, fresh: StudioActor) -> tuple[StudioActor, p.Difference, bool]:
        from marrow.studio.actor import StudioActor

        difference = differences(self._loaded, fresh.character)
        character = carried_over(self._loaded, before.character, fresh.character)
        actor = fresh
        if character is not fresh.character:
            actor = StudioActor(character, before.slot, before.origin, graph=fresh.graph)
        meshes = not same_buffers(before.character, actor.character)
        if not meshes:
            actor.take_asset(before)
        actor.before = self._loaded
        return actor, difference, meshes
