"""`marrow view`."""

from __future__ import annotations

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
    from marrow.cli._files import is_sample, open_character
    from marrow.studio.handle import open_view
    from marrow.studio.loading import actor_of_file, actor_of_sample

    actors = []
    for slot, (name, its_graph) in enumerate([(file or "mannequin", graph), (compare, None)]):
        if name is not None and is_sample(name):
            actors.append(actor_of_sample(name, slot, graph=its_graph))
        elif name is not None:
            actors.append(actor_of_file(name, slot, graph=its_graph, character=open_character(name)))
    studio = open_view(actors, port=port, host=host, token=token, browser=None if browser else False)
    print(f"studio: {studio.url}", flush=True)
    print("Ctrl-C ends it.", flush=True)
    try:
        studio.wait()
    finally:
        studio.close()
