"""`Jobs`: what pages ask for that takes a while: characters opened, clips edited, motion put on, graphs started.

One at a time, in the order they were asked for; the loop that serves the pages goes on beside them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.concurrency import run_in_threadpool

from marrow.errors import MarrowError, ValidationError
from marrow.studio import protocol as p
from marrow.studio.turns import Turns

if TYPE_CHECKING:
    from marrow.model import Character
    from marrow.studio.actor import StudioActor
    from marrow.studio.app import Studio
    from marrow.studio.client import Client
    from marrow.studio.edits import Edits

__all__ = ["Jobs"]

MAX_WAITING, MAX_WAITING_IN_ALL = 16, 32
"""Jobs of a page, and of all, that may wait for their turn; more are refused."""
Result = TypeVar("Result")


class Jobs:
    """The jobs of one studio."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.turns = Turns(waiting=MAX_WAITING, in_all=MAX_WAITING_IN_ALL)
        self.waiting = 0
        """How many are under way, or wait for their turn."""
        self._tasks: set[asyncio.Task[None]] = set()

    # -- taking turns ----------------------------------------------------------------------------------------
    @contextlib.asynccontextmanager
    async def in_turn(self, page: str, text: str) -> AsyncIterator[None]:
        """Waits for a page's turn, and tells every browser that something is on its way, and when it is done."""
        self.waiting += 1
        try:
            async with self.turns.turn(page):
                hub = self.studio.hub
                hub.tell(p.Progress(text, -1.0))
                hub.progress = text
                try:
                    yield
                finally:
                    hub.progress = None
                    hub.tell(p.Progress(text, 1.0))
        finally:
            self.waiting -= 1

    def begin(self, client: Client, work: Coroutine[Any, Any, None]) -> None:
        """Starts something beside the loop; what goes wrong is told to the page that asked for it."""

        async def run() -> None:
            try:
                await work
            except MarrowError as error:
                client.tell(p.Failure(str(error)))

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Gives up what is under way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- what pages ask for ----------------------------------------------------------------------------------
    def carry_out(self, message: p.ClientMessage, client: Client) -> None:
        """Begins what a message of a page asks for."""
        page = client.page
        if self.studio.session.driven:
            raise ValidationError(f"{self.studio.session.driver} shows its own character here")
        match message:
            case p.Open():
                self.begin(client, self._open(page, message))
            case p.Settle():
                self.begin(client, self.studio.uploads.settle(page, message))
            case p.EditClip():
                self.begin(client, self._edit(page, message))
            case p.Undo():
                self.begin(client, self._step(page, "Undo", lambda edits, now: edits.back(now)))
            case p.Redo():
                self.begin(client, self._step(page, "Redo", lambda edits, now: edits.again(now)))
            case p.ReadyGraph():
                self.begin(client, self._ready_graph(page))

    async def _open(self, page: str, message: p.Open) -> None:
        from marrow.studio.makers import maker_of_sample

        async with self.in_turn(page, f"Opening {message.sample[:100]}"):
            maker = await run_in_threadpool(maker_of_sample, message.sample, message.slot)
            self.studio.show(await run_in_threadpool(maker))

    async def _edit(self, page: str, message: p.EditClip) -> None:
        from marrow.studio.edits import edited

        async with self.in_turn(page, f"Editing {message.clip[:100]}"):
            main, edits = self._main(), self._edits()
            character, words, shown = await run_in_threadpool(edited, main.character, message)
            actor = await run_in_threadpool(with_clips, main, character)
            before = main.character
            self._take(main, actor, edits.done(words, before))
            session = self.studio.session
            if session.mode == "clip" and shown is not None and session.main and session.main.clip != shown:
                session.apply(p.PickClip(shown))

    async def _step(
        self, page: str, text: str, step: Callable[[Edits, Character], tuple[Edits, Character]]
    ) -> None:
        async with self.in_turn(page, text):
            main = self._main()
            edits, character = step(self._edits(), main.character)
            self._take(main, await run_in_threadpool(with_clips, main, character), edits)

    def _take(self, before: StudioActor, actor: StudioActor, edits: Edits) -> None:
        if self.studio.session.main is not before:
            raise ValidationError("another character was opened meanwhile")
        self.studio.show(actor, keep=True, meshes=False)
        self.studio.session.edits = edits

    async def _ready_graph(self, page: str) -> None:
        from marrow.studio.ready import HINT, ready_graph

        async with self.in_turn(page, "Making a graph"):
            main = self._main()
            graph = await run_in_threadpool(ready_graph, main.character)
            if graph is None:
                raise ValidationError(f"the clips of {main.character.name!r} make no graph. {HINT}")
            from marrow.graph.description import to_json

            await self.run_graph(graph, text=to_json(graph))

    async def run_graph(self, graph: Any, *, file: str | None = None, text: str | None = None) -> None:
        """Lets a graph move the character that is open; `file` or `text` say where it is from."""
        from marrow.studio.actor import StudioActor

        main = self._main()
        origin = replace(main.origin, graph=file, graph_text=text)
        actor = await run_in_threadpool(
            lambda: with_asset(main, StudioActor(main.character, 0, origin, graph=graph), main.character)
        )
        if self.studio.session.main is not main:
            raise ValidationError("another character was opened meanwhile")
        self.studio.show(actor, keep=True, meshes=False)
        self.studio.session.apply(p.SetMode("graph"))

    def _main(self) -> StudioActor:
        main = self.studio.session.main
        if main is None:
            raise ValidationError("there is no character yet: drop a file onto the page, or open a sample")
        return main

    def _edits(self) -> Edits:
        from marrow.studio.edits import Edits

        return self.studio.session.edits or Edits()


def with_clips(actor: StudioActor, character: Character) -> StudioActor:
    """The same actor with other clips: what the page draws it from stays."""
    from marrow.studio.actor import StudioActor

    return with_asset(actor, StudioActor(character, actor.slot, actor.origin, graph=actor.graph), character)


def with_asset(actor: StudioActor, new: StudioActor, character: Character) -> StudioActor:
    """The new actor with the buffers of the one before it, where its meshes are the same."""
    if all(a is b for a, b in zip(actor.character.meshes, character.meshes)):
        new.take_asset(actor)
    return new
