"""`marrow play`."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from marrow.controller import Controller

__all__ = ["play"]


def play(
    file: str | None = None,
    /,
    *,
    window: Annotated[bool, Parameter(negative=())] = False,
    database: Path | None = None,
    graph: Path | None = None,
    character: Path | None = None,
    size: tuple[int, int] | None = None,
    port: int | None = None,
    host: str = "127.0.0.1",
    token_file: Path | None = None,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> None:
    """Play a character: it goes where it is steered.

    Parameters
    ----------
    file
        A file, or the name of a sample; the mannequin when left out.
    window
        Open a window of the desktop instead of the page.
    database
        A motion database (.motion) of the character: it chooses what it plays from that. FILE may be left out: it has
        the character in it.
    graph
        Write the graph that was made to this file, and open nothing.
    character
        Write the character with its clips as the graph needs them (they travel) to this file, and open nothing.
    size
        Width and height of the window; 1280 720 when left out.
    port
        The port to listen on; 8421, or any that is free, when left out.
    host
        The address to listen on. Everyone who reaches it and has the link may look.
    token_file
        A file with the secret of the link, eight characters or more, that only you may read.
    browser
        Open a browser, where there is a screen.
    force
        Replace files that exist.
    """
    from marrow.cli._errors import UsageError
    from marrow.cli._files import open_character, writable
    from marrow.cli._output import say
    from marrow.controller import Controller
    from marrow.errors import FormatError, ValidationError

    if size is not None and not window:
        raise UsageError("--size is for a window: add --window")
    for path in (graph, character):
        if path is not None:
            writable(path, force=force)
    moves = None
    if database is not None:
        from marrow.matching import load

        moves = load(database)
    hero = open_character(file or "mannequin") if moves is None or file is not None else moves.character
    try:
        player = Controller(hero, database=moves)
    except ValidationError as error:
        raise FormatError(str(error), path=file or "mannequin") from None
    if graph is not None or character is not None:
        _write(player, graph, character)
        return
    for line in player.report:
        say(line.message)
    if window:
        _in_window(player, file or player.character.name or "mannequin", size or (1280, 720))
    else:
        _on_page(player, port, host, token_file, browser)


def _write(player: Controller, graph: Path | None, character: Path | None) -> None:
    from marrow.cli._errors import note
    from marrow.cli._output import say
    from marrow.graph import save_graph
    from marrow.io import save

    for line in player.report:
        note(line.message)
    if graph is not None:
        save_graph(player.graph, graph)
        say(f"{graph}: {len(player.graph.parameters)} parameters: {', '.join(player.graph.parameters)}")
    if character is not None:
        save(player.character, character)
        say(f"{character}: {len(player.character.clips)} clips")


def _in_window(player: Controller, name: str, size: tuple[int, int]) -> None:
    from marrow.cli.view import signals
    from marrow.windows.player_controls import KEYS
    from marrow.windows.window import window

    with signals() as asked, contextlib.suppress(KeyboardInterrupt):
        made = window(player, size=size, title=f"marrow - {Path(name).stem}")
        asked.opened = True
        for frame in made:
            frame.print(KEYS)
            if frame.pressed("escape") or asked.count:
                frame.close()


def _on_page(player: Controller, port: int | None, host: str, token_file: Path | None, browser: bool) -> None:
    from marrow.cli.view import announce, signals
    from marrow.studio.handle import open_view
    from marrow.studio.makers import maker_of

    with signals() as asked, contextlib.suppress(KeyboardInterrupt):
        studio = open_view(
            [maker_of(player, 0)],
            port=port,
            host=host,
            token_file=token_file,
            browser=None if browser else False,
            announce=announce,
        )
        asked.opened = True
        while studio.running and not asked.count:
            time.sleep(0.1)
        studio.close()
