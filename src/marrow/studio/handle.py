"""`mw.view`: opens the studio on a character, an animator, a file or a sample."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Sequence
from functools import partial
from html import escape

from marrow.errors import ValidationError
from marrow.graph import Animator, Graph, load_graph
from marrow.io import load
from marrow.model import Character
from marrow.samples import NAMES
from marrow.studio.actor import Actor, Origin
from marrow.studio.app import Studio
from marrow.studio.loading import sample_actor
from marrow.studio.server import Server
from marrow.studio.session import Driven

__all__ = ["View", "open_view", "view"]

PathLike = str | os.PathLike[str]
Thing = Character | Animator | PathLike


def view(
    thing: Thing | None = None,
    *,
    graph: Graph | PathLike | None = None,
    compare: Thing | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: bool | None = None,
) -> View:
    """Opens the studio in the browser and goes on at once; the handle says where it is and closes it.

    `thing` is a character, an animator, a file or the name of a sample; nothing opens an empty studio to
    drop files on. `graph` moves it, `compare` is shown beside it. An animator is played by the studio,
    unless the program does that itself:

        with mw.view(crowd) as studio:
            while studio.running:
                crowd.update(1 / 60)
                studio.update()

    `port` and `token` may be fixed, so that pages find the studio again after a restart. `browser=False`
    opens no page; left out, one is opened where there is a screen and no notebook. In a notebook the handle
    shows itself as a frame.
    """
    makers = [_maker(thing, 0, graph)] if thing is not None else []
    makers += [_maker(compare, 1, None)] if compare is not None else []
    return open_view(makers, port=port, host=host, token=token, browser=browser)


def open_view(
    makers: Sequence[Callable[[], Actor]],
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: bool | None = None,
    announce: Callable[[View], None] | None = None,
) -> View:
    """A studio for the actors that `makers` make. The page is opened first: browsers take their time,
    and so does compiling a graph. `announce` is called with the handle once pages can be opened."""
    secret = secrets.token_urlsafe(16) if token is None else token
    if not secret or not secret.isascii() or any(not (c.isalnum() or c in "-_") for c in secret):
        raise ValidationError("view: a token is made of letters, digits, - and _")
    wildcard = host in ("0.0.0.0", "::")
    studio = Studio(secret, hosts=() if wildcard else (host,), any_address=wildcard)
    studio.hub.progress = "Opening the character" if makers else None
    server = Server(studio, host, port)
    server.start()
    handle = View(server, secret)
    try:
        if announce is not None:
            announce(handle)
        if browser or (browser is None and has_screen() and not in_notebook()):
            with contextlib.suppress(webbrowser.Error):
                webbrowser.open(handle.url)
        for make in makers:
            server.wait_for(studio.show, make())
    except BaseException:
        server.close()
        raise
    studio.hub.progress = None
    return handle


def _maker(thing: Thing, slot: int, graph: Graph | PathLike | None) -> Callable[[], Actor]:
    """Loads what is to be shown, so that mistakes are found before a page opens; what is left to do is
    the engine's."""
    given = graph if isinstance(graph, Graph) or graph is None else load_graph(_path(graph, "graph"))
    file = None if graph is None or isinstance(graph, Graph) else os.fspath(graph)
    if isinstance(thing, Animator):
        if graph is not None:
            raise ValidationError("view: an animator brings its own graph; leave graph= out")
        return partial(Actor, thing.character, slot, Origin("python", ""), graph=thing.graph, animator=thing)
    if isinstance(thing, Character):
        return partial(Actor, thing, slot, Origin("python", "", file), graph=given)
    name = _path(thing, "a Character, an Animator, a file or the name of a sample")
    if name in NAMES and not os.path.exists(name):
        return sample_actor(name, slot, graph=given, graph_file=file)
    return partial(Actor, load(name), slot, Origin("file", name, file), graph=given)


def _path(value: object, what: str) -> str:
    if not isinstance(value, (str, os.PathLike)):
        raise ValidationError(f"view: expected {what}, got {type(value).__name__}")
    return os.fspath(value)


class View:
    """A studio that is open: `url`, `update`, `show`, `wait`, `close`; also a context manager."""

    def __init__(self, server: Server, token: str) -> None:
        self._server, self._token = server, token
        self._scheduled = threading.Lock()
        self._newest: Driven | None = None
        self._opened = time.monotonic()

    @property
    def url(self) -> str:
        """The address with its token; whoever has it may look."""
        host = self._server.host
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.port}/?token={self._token}"

    @property
    def port(self) -> int:
        return self._server.port

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

    def show(self, thing: Thing, *, graph: Graph | PathLike | None = None, slot: int = 0) -> None:
        """Shows something else, in the pages that are open; `slot=1` beside the first."""
        if slot not in (0, 1):
            raise ValidationError(f"show: slot must be 0 or 1, got {slot}")
        actor = _maker(thing, slot, graph)()

        def put() -> None:
            if slot == 0:
                studio.session.let_drive(False)
            studio.show(actor)

        studio = self._server.studio
        self._server.wait_for(put)

    def update(self, seconds: float | None = None) -> None:
        """Shows the animator as it is now, after it was moved on by `seconds` where given. From the
        first call on the program plays it, not the studio; parameters changed in the page are set here."""
        session = self._server.studio.session
        if session.main is None or not session.main.given:
            raise ValidationError("update: only for an animator that was given to mw.view")
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
        self._server.close()

    def __enter__(self) -> View:
        main = self._server.studio.session.main
        if main is not None and main.given:
            self.update()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return (
            f'<iframe src="{escape(self.url)}" title="marrow studio" width="100%" height="640" '
            'style="border:0;border-radius:8px" allow="fullscreen"></iframe>'
        )

    def __repr__(self) -> str:
        return f"View({self.url!r}{'' if self.running else ', closed'})"


def in_notebook() -> bool:
    """Whether this runs in a notebook's kernel, where a frame shows the page."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return found is not None and hasattr(found, "kernel")


def has_screen() -> bool:
    """Whether there is a screen to open a browser on."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
