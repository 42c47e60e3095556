"""`marrow bake-runtime`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marrow.cli._errors import BAD_FILE, FINE, show_error

__all__ = ["bake_runtime"]


def bake_runtime(
    file: str,
    /,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    graph: str | None = None,
    skins: bool = True,
    springs: bool = True,
    constraints: bool = True,
    json: Annotated[bool, Parameter(negative=())] = False,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> int:
    """Bake a character, and a graph that moves it, for the runtimes that need no Python.

    Parameters
    ----------
    file
        Any file marrow reads, or the name of a sample.
    out
        The .mrt file to write.
    graph
        A graph file (JSON), or the name of a sample's graph; without one, clips are played by hand.
    skins
        With what libmarrow skins on the CPU; leave it out where a GPU skins.
    springs
        Let hair and clothes swing that the file has springs for.
    constraints
        Solve the constraints of the file.
    json
        Print what the file holds as JSON.
    allow_outside
        Let the character's file refer to others outside its own folder.
    force
        Replace OUT if it exists.
    """
    import dataclasses

    from marrow.cli._files import open_character, writable
    from marrow.cli._output import bytes_text, print_json, say
    from marrow.cli._progress import working
    from marrow.errors import MarrowError
    from marrow.runtime import bake_runtime as bake
    from marrow.scene.timed_scene import named_graph

    writable(out, force=force)
    with working(f"bake {file}"):
        character = open_character(file, allow_outside=allow_outside)
        own = None if graph is None else named_graph("bake-runtime", graph)
        try:
            made = bake(character, own, out, skins=skins, springs=springs, constraints=constraints)
        except MarrowError as error:
            show_error(f"{graph or file}: {error}")
            return BAD_FILE
    if json:
        print_json(dataclasses.asdict(made))
        return FINE
    told = f"{made.joints} joints, {made.clips} clips, {len(made.parameters)} parameters"
    say(f"{out}: {bytes_text(made.bytes)}: {told}, {made.state_bytes} bytes of state per instance")
    return FINE
