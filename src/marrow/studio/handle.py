"""`mw.view`: opens the studio on a character, an animator, a file or a sample."""

from __future__ import annotations

import base64
import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from marrow.display.notebook import close_earlier, in_notebook, owned_by_cell
from marrow.errors import MarrowError, ValidationError, told_at_the_call
from marrow.model import _validate
from marrow.printing import one_line
from marrow.pyodide import IN_BROWSER
from marrow.studio.address import Address, has_screen, listen, secret
from marrow.studio.makers import Maker, maker_of

if TYPE_CHECKING:
    from marrow.graph import Graph
    from marrow.model import Pose
    from marrow.rendering.frame import Frame
    from marrow.studio.actor import StudioActor
    from marrow.studio.effectors import StudioEffectors
    from marrow.studio.makers import Thing
    from marrow.studio.server import Server
    from marrow.studio.session import Driven
    from marrow.studio.watch import Watcher

__all__ = ["StudioView", "open_view", "view"]

PathLike = str | os.PathLike[str]
OPENING = "Opening the character"
EMBED = 2_500_000
"""Bytes that the page in a saved notebook may have."""


@overload
def view(
    thing: Thing | None = None,
    *,
    graph: Graph | PathLike | None = None,
    compare: Thing | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    token_file: PathLike | None = None,
    browser: bool | None = None,
    watch: bool = True,
    embed: int | None = EMBED,
    window: Literal[False] = False,
) -> StudioView: ...


@overload
def view(
    thing: Thing | None = None,
    *,
    graph: Graph | PathLike | None = None,
    compare: Thing | None = None,
    window: Literal[True],
    **options: Any,
) -> Any: ...


@told_at_the_call
def view(
    thing: Thing | None = None,
    *,
    graph: Graph | PathLike | None = None,
    compare: Thing | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    token_file: PathLike | None = None,
    browser: bool | None = None,
    watch: bool = True,
    embed: int | None = EMBED,
    window: bool = False,
    **options: Any,
) -> Any:
    """Opens the studio in the browser and goes on at once; the handle says where it is and closes it.

    `thing` is a character, an animator, a scene, a file or the name of a sample; nothing opens an empty studio to
    drop files on. `graph` moves it, `compare` is shown beside it. An animator is played by the studio,
    unless the program does that itself:

        with mw.view(crowd) as studio:
            while studio.running:
                crowd.update(1 / 60)
                studio.update()

    `port` and the token may be fixed, so that pages find the studio again after a restart: `token`, the `token_file` that
    it is in (which only you may read), or the variable `MARROW_STUDIO_TOKEN`; a random one where there is none.
    `browser=False` opens no page; left out, one is opened where there is a screen and no notebook. In a notebook the
    handle shows itself as a frame, of which the saved notebook keeps a page that works without the kernel
    (`mw.export_page`) where that has at most `embed` bytes, else a still picture; running the cell again closes the
    studio it had. A file is shown again when it was exported again, unless `watch=False`.

    In a browser's Python (Pyodide) nothing can be served: it gives such a page, which a notebook shows.

    `window=True` opens a window of the desktop instead, without a browser, and stays until it is closed; in a notebook it
    is a widget (`.widget`), and the cell goes on. `options` are then those of `mw.window`: `size=(1280, 720)`,
    `view="skeleton"`.
    """
    if IN_BROWSER and window:
        raise ValidationError("view: a browser's Python opens no windows: leave window=True out")
    if IN_BROWSER:
        if compare is not None:
            raise ValidationError(
                "view: a browser's Python shows one character at a time: leave compare= out"
            )
        from marrow.studio.page_view import page_view

        return page_view("mannequin" if thing is None else thing, graph)
    if window:
        if (port, host, token, token_file, browser) != (None, "127.0.0.1", None, None, None):
            raise ValidationError("view: port, host, tokens and browser are the studio's: a window has none")
        from marrow.windows.open_window import look, open_window

        what = "mannequin" if thing is None else thing
        return look(*open_window(what, graph=graph, compare=compare, **options))
    if options:
        unknown = ", ".join(sorted(options))
        raise ValidationError(f"view: {unknown}: only windows have that; pass window=True too")
    makers = [maker_of(thing, 0, graph)] if thing is not None else []
    makers += [maker_of(compare, 1)] if compare is not None else []
    if embed is not None:
        embed = _validate.integer("view", "embed", embed, low=0)
    close_earlier()
    opened = open_view(
        makers, port=port, host=host, token=token, token_file=token_file, browser=browser, watch=watch
    )
    opened.embed = embed or 0
    owned_by_cell(opened)
    return opened


def open_view(
    makers: Sequence[Maker],
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    token_file: PathLike | None = None,
    browser: bool | None = None,
    watch: bool = True,
    announce: Callable[[Address], None] | None = None,
) -> StudioView:
    """A studio for the actors that `makers` make. It is served first, and its page opened: browsers take their time, and so
    does reading a file and compiling a graph. Files are read again when they change, unless `watch` is off. `announce` is
    told the address when it can be opened."""
    chosen = secret(token, token_file)
    sock = listen(host, port)
    try:
        address = Address(host, sock.getsockname()[1], chosen)
        if announce is not None:
            announce(address)
        if browser or (browser is None and has_screen() and not in_notebook()):
            from marrow.studio.browser import open_in_browser

            open_in_browser(address.url)
        from marrow.studio.app import Studio
        from marrow.studio.server import Server

        studio = Studio(chosen, hosts=address.names, any_address=address.anywhere)
        studio.hub.progress = OPENING if makers else None
        server = Server(studio, sock)
    except BaseException:
        sock.close()
        raise
    server.start()
    opened = StudioView(server, address)
    try:
        for make in makers:
            actor = make.show(server)
            if watch and make.files:
                opened.watch(make, actor)
    except BaseException:
        server.close()
        raise
    studio.hub.progress = None
    return opened


class StudioView:
    """A studio that is open: `url`, `update`, `show`, `wait`, `close`; also a context manager."""

    def __init__(self, server: Server, address: Address) -> None:
        self._server, self._address = server, address
        self._scheduled = threading.Lock()
        self._newest: Driven | None = None
        self._opened = time.monotonic()
        self._watchers: dict[int, Watcher] = {}
        self.embed = EMBED
        """Bytes that the page in a saved notebook may have; 0: it keeps a picture."""

    def watch(self, maker: Maker, actor: StudioActor) -> None:
        """Shows what a maker made again when its files change."""
        from marrow.studio.watch import Watcher

        self._watchers[maker.slot] = watcher = Watcher(self._server, maker, actor)
        watcher.start()

    @property
    def url(self) -> str:
        """The address with its token; whoever has it may look."""
        return self._address.url

    @property
    def port(self) -> int:
        return self._address.port

    @property
    def running(self) -> bool:
        """Whether it is still open."""
        return self._server.running

    @property
    def selected(self) -> str | None:
        """The name of the joint that is selected in the page."""
        session = self._server.studio.session
        names = session.main.character.skeleton.names if session.main else ()
        return names[session.selected] if 0 <= session.selected < len(names) else None

    @property
    def effectors(self) -> StudioEffectors:
        """Joints that are held at places, by name: the whole body bends for them, whatever is played. Handles that are
        dragged in the page are the same ones."""
        from marrow.studio.effectors import StudioEffectors

        return StudioEffectors(self._with_actor)

    @property
    def pose(self) -> Pose:
        """The pose that is shown, joints that are held included; `(N, J)` of a crowd. It is yours."""
        found: Pose = self._with_actor(lambda actor: actor.pose, False)
        return found

    def _with_actor(self, function: Callable[[StudioActor], Any], changes: bool) -> Any:
        """What a function of the first actor gives, called where nobody moves it; `changes`: something else is to be seen
        then."""
        studio, found = self._server.studio, []

        def run() -> None:
            session = studio.session
            if session.main is None:
                raise ValidationError("the studio is empty: show something first")
            if changes and session.driven:
                raise ValidationError(
                    f"effectors: {session.driver} plays this character: solve its poses with mw.ik, or put a "
                    "FullBodyIK into its graph"
                )
            found.append(function(session.main))
            if changes:
                session.touch()
                studio.hub.wake.set()

        self._server.wait_for(run)
        return found[0]

    def show(self, thing: Thing, *, graph: Graph | PathLike | None = None, slot: int = 0) -> None:
        """Shows something else, in the pages that are open; `slot=1` beside the first."""
        if slot not in (0, 1):
            raise ValidationError(f"show: slot must be 0 or 1, got {slot}")
        maker = maker_of(thing, slot, graph)
        session = self._server.studio.session
        actor = maker.show(self._server, lambda: session.let_drive(False) if slot == 0 else None)
        before = self._watchers.pop(slot, None)
        if before is not None:
            before.close()
            if maker.files:
                self.watch(maker, actor)

    def update(self, seconds: float | None = None) -> None:
        """Shows the animator, or the scene, as it is now, after it was moved on by `seconds` where given. From the
        first call on the program plays it, not the studio; parameters changed in the page are set here."""
        session = self._server.studio.session
        if session.main is None or not (session.main.given or session.stage is not None):
            raise ValidationError("update: only for an animator that was given to mw.view, or a scene")
        self._take_over()
        driven = session.drive(seconds)
        with self._scheduled:
            waiting, self._newest = self._newest is not None, driven
        if not waiting:
            self._server.call(self._deliver)

    def _take_over(self) -> None:
        session = self._server.studio.session
        if not session.driven:
            # The server may be in the middle of an update: once this is done it leaves the animator alone.
            self._server.wait_for(session.let_drive)

    def _deliver(self) -> None:
        """In the server's thread: hands the newest picture on."""
        with self._scheduled:
            newest, self._newest = self._newest, None
        if newest is not None:
            studio = self._server.studio
            studio.session.show_driven(newest, time.monotonic() - self._opened)
            studio.hub.wake.set()

    def wait(self) -> None:
        """Stays until Ctrl-C, or until the studio is closed."""
        with contextlib.suppress(KeyboardInterrupt):
            while self.running:
                self._server.join(0.5)

    def close(self) -> None:
        """Ends the studio."""
        for watcher in self._watchers.values():
            watcher.close()
        self._server.close()

    def __enter__(self) -> StudioView:
        main = self._server.studio.session.main
        if main is not None and main.given:
            self.update()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def picture(self, *, size: tuple[int, int] = (960, 540)) -> Frame:
        """What is shown, as it is now, from in front and the side. Needs `pip install 'marrow-engine[render]'`."""
        from marrow.pictures.picture import render
        from marrow.scene import Actor

        session, drawn = self._server.studio.session, []

        def draw() -> None:
            if session.main is None:
                raise ValidationError("picture: the studio is empty")
            compared = session.actors.get(1)
            thing: Any = session.main.animator
            if session.stage is not None:
                thing = session.stage.scene
            elif compared is None and len(session.main.effectors.holding):
                thing = Actor(session.main.character, session.main.pose, transforms=session.main.placements)
            elif compared is not None:
                thing = [session.main.character, compared.character]
            drawn.append(render(thing, size=size))

        self._server.wait_for(draw)  # there, nobody moves what is drawn
        return drawn[0]

    def _kept(self) -> tuple[Frame | None, str]:
        """What a saved notebook keeps: a picture, and words about it."""
        main = self._server.studio.session.main
        name = one_line(main.character.name)[:60] if main is not None else "nothing yet"
        if not self.running or main is None:
            return None, f"marrow studio: {name if self.running else 'closed'}."
        try:
            return self.picture(), f"marrow studio: {name}."
        except MarrowError as error:  # no renderer, no GPU: the studio needs neither
            return None, f"marrow studio: {name}. There is no picture of it: {error}."

    def _kept_page(self) -> tuple[str | None, str]:
        """The page that a saved notebook keeps; None, and why, where it keeps none."""
        session, found = self._server.studio.session, []
        actor = session.main
        if not self.embed or not self.running or actor is None:
            return None, ""
        if session.stage is not None or 1 in session.actors:
            return None, "It has more than one character, so that there is no page of it."
        self._server.wait_for(lambda: found.append(session.state()))
        state = found[0]
        from marrow.studio.page.contents import gather
        from marrow.studio.page.export import page_of

        try:
            contents = gather(
                actor.character,
                actor.graph,
                parameters=state.parameters,
                count=state.count,
                clip=state.clip,
                time=state.time,
            )
        except MarrowError as error:
            return None, f"There is no page of it: {error}."
        text, _ = page_of(contents)
        if len(text) > self.embed:
            return None, f"Its page has {len(text):,} bytes, more than embed={self.embed:,} lets in."
        return text, ""

    def _repr_html_(self) -> str:
        return self._shown(*self._kept())

    def _shown(self, still: Frame | None, words: str) -> str:
        from marrow.studio.notebook import cell_html

        keys = self._server.studio.keys
        keys.framed = True
        page, why = self._kept_page()
        return cell_html(self._address, keys.tickets.new(), still, f"{words} {why}".strip(), page)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        still, words = self._kept()
        bundle = {"text/plain": repr(self), "text/html": self._shown(still, words)}
        if still is not None:  # for what shows no HTML
            bundle["image/jpeg"] = base64.b64encode(still.encoded(".jpg")).decode()
        return bundle

    def __repr__(self) -> str:
        # What is printed in a notebook is saved with it.
        link = self.url.removesuffix(self._address.fragment) if in_notebook() else self.url
        return f"View({link!r}{'' if self.running else ', closed'})"
