"""`marrow matching`: build and show."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from marrow.cli._errors import UsageError, note
from marrow.cli._output import say

__all__ = ["build", "show"]

_Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)]
_Force = Annotated[bool, Parameter(name=("--force", "-f"), negative=())]
SHOWN_HOLES = 12


def build(
    sources: Annotated[list[str], Parameter(negative=())],
    /,
    *,
    out: Annotated[Path, Parameter(name=("--out", "-o"))],
    character: str | None = None,
    clip: _Names = None,
    mirror: bool | None = None,
    rate: float = 30.0,
    tags: _Names = None,
    packed: bool = True,
    force: _Force = False,
) -> None:
    """Make a motion database of motion files, or of a character's own clips.

    Parameters
    ----------
    sources
        Folders or files of motion.
    out
        The file to write (.motion).
    character
        The body: a file, or the name of a sample. Motion of others is retargeted. Left out, SOURCES is one
        character with clips.
    clip
        Only clips of these names or patterns.
    mirror
        Each clip a second time with left and right exchanged. Left out: of files, not of a character's own clips.
    rate
        Frames a second that are compared.
    tags
        PATTERN=TAG[,TAG...]: names for clips by their names ("*sneak*=sneak").
    packed
        Pack the clips, within 0.1 mm on the skin (--no-packed keeps them as they are).
    force
        Replace a file that exists.
    """
    from marrow import matching
    from marrow.cli._files import open_character, writable
    from marrow.cli._output import bytes_text
    from marrow.cli._progress import working

    if out.suffix.lower() != ".motion":
        raise UsageError(f"{out}: a motion database ends with .motion")
    writable(out, force=force)
    named: dict[str, list[str]] = {}
    for item in tags or ():
        pattern, equals, names = item.partition("=")
        if not (pattern and equals and names):
            raise UsageError(f"--tags {item}: expected PATTERN=TAG[,TAG...]")
        named.setdefault(pattern, []).extend(names.split(","))
    body = None if character is None else open_character(character)
    if body is None and len(sources) != 1:
        raise UsageError("several SOURCES need --character: the body whose motion it is")
    begun = time.perf_counter()
    with working("reading") as turn_to:
        made = matching.build(
            open_character(sources[0]) if body is None else sources,
            body,
            clips=clip,
            rate=rate,
            mirror=mirror,
            tags=named,
            progress=turn_to,
        )
        if packed:
            turn_to("packing")
            made = made.packed()
        turn_to("writing")
        made.save(out)
    say(
        f"{out}: {len(made.clips)} clips, {len(made):,} frames, {len(made) / made.rate / 60:.1f} min, "
        f"{made.rows.shape[1]} features, {bytes_text(out.stat().st_size)} in {time.perf_counter() - begun:.1f} s"
    )


def show(
    path: Annotated[Path, Parameter(name="DATABASE")],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    all: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    force: _Force = False,
) -> None:
    """Show what a motion database has motion for: speeds and turns, holes, and what choices cost.

    Parameters
    ----------
    path
        A .motion file.
    out
        A picture of the table to write.
    all
        List every hole.
    json
        Print JSON.
    force
        Replace a picture that exists.
    """
    from marrow import matching
    from marrow.cli._files import writable
    from marrow.cli._output import print_json
    from marrow.matching.coverage import coverage, typical_shares
    from marrow.rendering.frame import STILL_SUFFIXES

    if out is not None:
        if out.suffix.lower() not in STILL_SUFFIXES:
            raise UsageError(f"{out}: expected a file that ends in {', '.join(STILL_SUFFIXES)}")
        writable(out, force=force)
    database = matching.load(path)
    found = coverage(database)
    cost, shares = typical_shares(database)
    if out is not None:
        try:
            found.picture().save(out)
        except (OSError, ValueError) as error:
            raise UsageError(f"{out}: {error}") from None
    if json:
        print_json(
            {
                "clips": len(database.clips),
                "frames": len(database),
                "rate": database.rate,
                "tags": list(database.tags),
                "seconds": found.seconds.tolist(),
                "ways": found.ways.tolist(),
                "holes": found.holes,
                "cost": cost,
                "shares": shares,
            }
        )
        return
    loops = sum(c.loops for c in database.clips)
    say(
        f"{path}: {len(database.clips)} clips ({loops} go round), {len(database):,} frames at {database.rate:g} Hz, "
        f"{len(database) / database.rate / 60:.1f} min"
    )
    if database.tags:
        say(f"tags: {', '.join(database.tags)}")
    for line in found.lines():
        say(line)
    holes = found.holes
    say(f"{len(holes)} holes" if holes else "no holes")
    for line in holes if all else holes[:SHOWN_HOLES]:
        say(f"  {line}")
    if len(holes) > SHOWN_HOLES and not all:
        note(f"{len(holes) - SHOWN_HOLES} more: --all shows them")
    say(f"a choice costs {cost:.2f} on average: " + ", ".join(f"{n} {v:.0%}" for n, v in shares.items()))
