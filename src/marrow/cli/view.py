"""`marrow view`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

__all__ = ["view"]


def view(
    file: str | None = None,
    /,
    *,
    graph: Path | None = None,
    compare: str | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token: str | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
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
    token
        The secret in the link; a random one when left out.
    browser
        Open a browser, where there is a screen.
    """
    from functools import partial

    from marrow.cli._files import is_sample, open_character
    from marrow.graph import load_graph
    from marrow.studio.actor import Actor, Origin
    from marrow.studio.handle import View, open_view
    from marrow.studio.loading import sample_actor

    def maker(name: str, slot: int, its_graph: Path | None) -> Callable[[], Actor]:
        moves = None if its_graph is None else load_graph(its_graph)
        graph_file = None if its_graph is None else str(its_graph)
        if is_sample(name):
            return sample_actor(name, slot, graph=moves, graph_file=graph_file)
        return partial(Actor, open_character(name), slot, Origin("file", name, graph_file), graph=moves)

    makers = [maker(file or "mannequin", 0, graph)]
    makers += [maker(compare, 1, None)] if compare is not None else []

    def announce(studio: View) -> None:
        print(f"studio: {studio.url}\nCtrl-C ends it.", flush=True)

    quiet = None if browser else False
    with contextlib.suppress(KeyboardInterrupt):
        studio = open_view(makers, port=port, host=host, token=token, browser=quiet, announce=announce)
        studio.wait()
        studio.close()
