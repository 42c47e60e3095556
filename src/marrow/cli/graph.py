"""`marrow graph check` and `marrow graph show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from marrow.cli._errors import BAD_FILE, FINE, UsageError, show_error
from marrow.cli._output import say

if TYPE_CHECKING:
    from marrow.graph import Graph

__all__ = ["check", "show"]


def _opened(file: str) -> Graph:
    from marrow.graph import load_graph

    if not Path(file).exists():
        raise UsageError(f"{file}: there is no such file")
    return load_graph(file)


def check(
    file: str,
    character: str | None = None,
    /,
    *,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Find mistakes in a graph file, and what a character lacks to run it.

    Parameters
    ----------
    file
        A graph file (JSON).
    character
        The file or sample it is for: joints, clips and morphs are checked too.
    allow_outside
        Let the character's file refer to others outside its own folder.
    """
    from marrow.errors import MarrowError
    from marrow.graph import compile_graph

    graph = _opened(file)
    if character is None:
        from marrow.graph.compiler import check_standalone

        try:
            check_standalone(graph)
        except MarrowError as error:
            show_error(f"{file}: {error}")
            return BAD_FILE
        say(f"{file}: fine as far as it goes; name a character to check joints and clips too")
        return FINE
    from marrow.cli._files import open_character

    try:
        compiled = compile_graph(graph, open_character(character, allow_outside=allow_outside))
    except UsageError:
        raise
    except MarrowError as error:
        show_error(f"{file}: {error}")
        return BAD_FILE
    tables = compiled.tables
    say(
        f"{file}: fine for {character}: {len(tables.nodes)} nodes, {len(compiled.parameters)} parameters, "
        f"{len(compiled.machines)} state machines, {compiled.state_bytes} bytes of state per instance"
    )
    return FINE


def show(file: str, /, *, svg: Path | None = None) -> int:
    """Draw a graph as text, or as a picture.

    Parameters
    ----------
    file
        A graph file (JSON).
    svg
        Write the picture to this file instead.
    """
    from marrow.graph.diagrams import to_svg, to_text

    graph = _opened(file)
    if svg is None:
        print(to_text(graph), end="")
        return FINE
    from marrow.io.atomic import replacing

    with replacing(svg) as out:
        out.write(to_svg(graph).encode())
    return FINE
