"""`marrow view`."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from marrow.studio.address import Address

__all__ = ["announce", "signals", "view"]


def view(
    file: str | None = None,
    /,
    *,
    graph: Path | None = None,
    compare: str | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token_file: Path | None = None,
    token: Annotated[str | None, Parameter(show=False)] = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    watch: Annotated[bool, Parameter(negative="--no-watch")] = True,
    window: Annotated[bool, Parameter(negative=())] = False,
    clip: str | None = None,
    size: tuple[int, int] | None = None,
    view: str | None = None,
) -> None:
    """Open the studio: see, scrub and steer a character in the browser.

    Parameters
    ----------
    file
        A file, or the name of a sample; the mannequin when left out.
    graph
        A graph file that moves the character.
    compare
        Another file or sample to show beside it.
    port
        The port to listen on; 8421, or any that is free, when left out.
    host
        The address to listen on. Everyone who reaches it and has the link may look.
    token_file
        A file with the secret of the link, eight characters or more, that only you may read. Without one it is in the
        variable MARROW_STUDIO_TOKEN, or random.
    browser
        Open a browser, where there is a screen.
    watch
        Show the file again when it was exported again, with what has changed.
    window
        Open a window of the desktop instead, without a browser. H shows its keys.
    clip
        The clip a window begins with.
    size
        Width and height of the window; 1280 720 when left out.
    view
        What the window shows beside the character, such as skeleton or weights:hand_l.
    """
    if token is not None:
        from marrow.cli._errors import UsageError

        raise UsageError(
            "--token is gone, because every user of the machine can read command lines: put the token into a file that "
            "only you may read (--token-file FILE), or into the variable MARROW_STUDIO_TOKEN"
        )
    if window:
        _open_window(file, graph, compare, clip=clip, size=size or (1280, 720), view=view)
        return
    for option, value in (("--clip", clip), ("--size", size), ("--view", view)):
        if value is not None:
            from marrow.cli._errors import UsageError

            raise UsageError(f"{option} is for a window: add --window")
    from marrow.cli._files import is_sample, open_character
    from marrow.studio.handle import open_view
    from marrow.studio.makers import Maker, maker_of_file, maker_of_sample

    def maker(name: str, slot: int, its_graph: Path | None) -> Maker:
        if is_sample(name):
            return maker_of_sample(name, slot, its_graph)
        return maker_of_file(name, slot, its_graph, load=open_character)

    makers = [maker(file or "mannequin", 0, graph)]
    makers += [maker(compare, 1, None)] if compare is not None else []

    quiet = None if browser else False
    with signals() as asked, contextlib.suppress(KeyboardInterrupt):
        studio = open_view(
            makers, port=port, host=host, token_file=token_file, browser=quiet, watch=watch, announce=announce
        )
        asked.opened = True
        while studio.running and not asked.count:
            time.sleep(0.1)
        studio.close()


def announce(address: Address) -> None:
    """Says where a studio is."""
    from marrow.cli._errors import note

    print(f"studio: {address.url}", flush=True)
    if address.reachable:
        note("everyone who can reach this machine and has the link may look, and open files in this studio")
        for link in address.reachable:
            print(f"from other machines: {link}", flush=True)
    print("Ctrl-C ends it.", flush=True)


class _Asked:
    """How often somebody asked for the end. Plain numbers, because a handler of signals must not take locks."""

    def __init__(self) -> None:
        self.count, self.opened = 0, False

    def __call__(self, number: int, _: object) -> None:
        self.count += 1
        if not self.opened or self.count > 1:
            raise KeyboardInterrupt


@contextlib.contextmanager
def signals() -> Iterator[_Asked]:
    """Ctrl-C, or being asked to end, closes the studio in order: what was uploaded goes with it. A KeyboardInterrupt
    raised wherever the program happens to be can get lost (in a callback from C, in a destructor): there is one only while
    files are read, which may take long, and with a second Ctrl-C."""
    asked = _Asked()
    if threading.current_thread() is not threading.main_thread():  # signals are the main thread's
        yield asked
        return
    signal.set_wakeup_fd(-1)  # the command would end at once, in whatever order
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_window(file: str | None, graph: Path | None, compare: str | None, **options: Any) -> None:
    from marrow.cli._files import is_sample, open_character
    from marrow.windows.open_window import look, open_window

    def thing(name: str) -> Any:
        return name if is_sample(name) else open_character(name)

    with signals() as asked, contextlib.suppress(KeyboardInterrupt):
        main, other = thing(file or "mannequin"), thing(compare) if compare is not None else None
        asked.opened = True  # from here on the window is asked, between two frames
        look(*open_window(main, graph=graph, compare=other, **options), asked_to_end=lambda: asked.count > 0)
