"""`marrow lod`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from marrow.cli._errors import FINE, UsageError, is_quiet, note, on_terminal, write_over

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Making
    from marrow.model import Character

__all__ = ["lod"]

TRIANGLES = (0.4, 0.1, 0.02)
"""What levels have where nothing else is said."""
_Numbers = Annotated[list[float] | None, Parameter(negative=(), consume_multiple=True)]
_Counts = Annotated[list[int] | None, Parameter(negative=(), consume_multiple=True)]
_Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=True)]


def lod(
    files: Annotated[list[str], Parameter(name="FILE...", negative=())],
    /,
    *,
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None,
    triangles: _Numbers = None,
    error: _Numbers = None,
    joints: _Counts = None,
    influences: _Counts = None,
    keep: _Names = None,
    remove: _Names = None,
    screen_sizes: _Numbers = None,
    hysteresis: _Numbers = None,
    poses: bool = True,
    split: Annotated[bool, Parameter(negative=())] = False,
    json: Annotated[bool, Parameter(negative=())] = False,
    to: str | None = None,
    workers: int = 0,
    on: str | None = None,
    allow_outside: Annotated[bool, Parameter(negative=())] = False,
    force: Annotated[bool, Parameter(name=("--force", "-f"), negative=())] = False,
) -> int:
    """Make levels of detail, or show those of a file.

    Parameters
    ----------
    files
        Any file marrow reads, or the name of a sample; for a folder several, and folders of them.
    out
        The file to write: .glb, .gltf or .marrow, or for several the folder. Without it the levels that FILE has are
        shown.
    triangles
        How many triangles each level has: parts of all (0.4) or numbers (2000). Where nothing is said: 0.4 0.1 0.02.
    error
        How far each level may be off at worst, in metres, instead of --triangles.
    joints
        How many joints each level has.
    influences
        The most joints that move a vertex, for each level.
    keep
        Joints that stay at every level.
    remove
        Joints that go at every coarser level, with all below them.
    screen_sizes
        For each level after the first, the part of the picture's height that the bounding sphere at rest covers when the
        level comes into use (0.5 0.2 0.05). A file that has levels keeps them if nothing else is asked for.
    hysteresis
        How far past that an instance must be, as a part of it: a number for all levels or one for each.
    poses
        Look at the clips when choosing vertices.
    split
        Write a file for each level: OUT, OUT_lod1, OUT_lod2...
    json
        Print the figures as JSON.
    to
        For a folder: the format of its files, by suffix (default: glb).
    workers
        For a folder: processes that share the files (0: none, all in this one).
    on
        For a folder: a Ray cluster that does it, "ray" or "ray://HOST:10001".
    allow_outside
        Let a file refer to others outside its own folder.
    force
        Replace OUT if it exists.
    """
    from marrow.cli._files import open_character, writable
    from marrow.cli._many import into_folder, is_folder

    wishes: dict[str, Any] = {
        "triangles": triangles, "error": error, "joints": joints, "influences": influences, "keep": keep or [],
        "remove": remove or [], "screen_sizes": screen_sizes, "hysteresis": hysteresis, "poses": poses,
        "allow_outside": allow_outside,
    }  # fmt: skip
    asked, sized = _asked(wishes), bool(screen_sizes or hysteresis)
    if split and sized:
        raise UsageError("lod: --split writes each level as a character of its own, which has no screen size")
    if out is None:
        if asked or split or sized:
            raise UsageError("lod: -o OUT says where the levels go")
        if len(files) > 1:
            raise UsageError("lod: -o FOLDER says where the levels of several files go")
        _show(open_character(files[0], allow_outside=allow_outside), json)
        return FINE
    if is_folder(files, out, to):
        if split:
            raise UsageError("lod: --split is for one file")
        if not asked and not sized:
            wishes["triangles"] = list(TRIANGLES)
        return into_folder(
            "marrow.cli.lod:lod_file",
            files,
            out,
            to or "glb",
            wishes,
            workers=workers,
            on=on,
            force=force,
            json=json,
        )
    if workers or on:
        raise UsageError("lod: --workers and --on are for several files and a folder")
    for path in _paths(out, split, _level_count(wishes)):
        writable(path, force=force)
    character = open_character(files[0], allow_outside=allow_outside)
    if split and out.suffix.lower() not in (".glb", ".gltf", ".marrow"):
        raise UsageError("lod: --split writes .glb, .gltf or .marrow files")
    from marrow.io import save

    built = _built(character, wishes, _progress())
    if split:
        for path, level in zip(_paths(out, True, len(built.reduced)), built.levels):
            save(level if level is not built else built.replace(reduced=()), path)
    else:
        save(built, out)
    for line in _notes(built):
        note(line)
    _show(built, json)
    return FINE


def _asked(wishes: dict[str, Any]) -> bool:
    """Whether levels are to be made, and not only to be used otherwise."""
    return any(wishes[name] for name in ("triangles", "error", "joints", "influences", "keep", "remove"))


def _level_count(wishes: dict[str, Any]) -> int:
    lists = (
        wishes["triangles"] or wishes["error"] or TRIANGLES,
        wishes["joints"] or (),
        wishes["influences"] or (),
    )
    return max(map(len, lists))


def _built(character: Character, wishes: dict[str, Any], progress: Callable[[str, float], None]) -> Character:
    """The character with levels, or with those it has used at other sizes."""
    from marrow.lod.builder import build
    from marrow.lod.thresholds import with_screen_sizes

    sizes, hysteresis = wishes["screen_sizes"], wishes["hysteresis"]
    keeps = bool(sizes or hysteresis) and not _asked(wishes) and len(character.levels) > 1
    count = len(character.reduced) if keeps else _level_count(wishes)
    for name, given, fine in (
        ("screen-sizes", sizes, (count,)),
        ("hysteresis", hysteresis, (1, count)),
    ):
        if given and len(given) not in fine:
            raise UsageError(
                f"lod: --{name}: expected one for each of the {count} levels after the first, got {len(given)}"
            )
    if not keeps:
        triangles = wishes["triangles"]
        if triangles is None and wishes["error"] is None:
            triangles = list(TRIANGLES)
        # On a command line 2000 and 2000.0 are the same; at most 1 is a part of all.
        counts = None if triangles is None else [t if t <= 1 else _whole(t) for t in triangles]
        rest = {name: wishes[name] for name in ("error", "joints", "influences", "keep", "remove", "poses")}
        character = build(character, counts, progress=progress, **rest)
    if not sizes and not hysteresis:
        return character
    saved = [level.lod.screen_size for level in character.reduced]
    known = [size for size in saved if size is not None]
    calm = hysteresis[0] if hysteresis and len(hysteresis) == 1 else hysteresis
    return with_screen_sizes(
        character, sizes or (known if len(known) == len(saved) else None), hysteresis=calm
    )


def _notes(built: Character) -> list[str]:
    return [f"level {k}: {line}" for k, reduced in enumerate(built.reduced, 1) for line in reduced.report]


def lod_file(source: str, making: Making, options: dict[str, Any]) -> dict[str, Any]:
    """One of many files. For `marrow.dataset.file_batch`."""
    from marrow.cli._facts import levels_of
    from marrow.cli._files import open_character
    from marrow.io import save

    built = _built(
        open_character(source, allow_outside=options["allow_outside"]), options, lambda what, part: None
    )
    with making(options["name"]) as path:
        save(built, path)
    counts = ", ".join(f"{sum(len(m.triangles) for m in level.meshes):,}" for level in built.levels)
    facts = {"file": options["name"], "notes": _notes(built), "text": f"triangles {counts}"}
    return facts | {"levels": levels_of(built)}


def _whole(value: float) -> int:
    if value != int(value):
        raise UsageError(f"--triangles: expected a part of all (up to 1) or a whole number, got {value:g}")
    return int(value)


def _paths(out: Path, split: bool, levels: int) -> list[Path]:
    return [out, *(out.with_stem(f"{out.stem}_lod{k}") for k in range(1, levels + 1))] if split else [out]


def _progress() -> Callable[[str, float], None]:
    """Says on stderr how far the work is: one line that is written over on a terminal, else a line each."""
    terminal = on_terminal()

    def tell(what: str, part: float) -> None:
        if is_quiet():
            return
        text = f"{100 * part:3.0f} %  {what:<10}"
        if terminal:
            write_over(text)
        if not terminal or part >= 1:
            print("" if terminal else text, file=sys.stderr, flush=True)

    return tell


def _show(character: Character, json: bool) -> None:
    from marrow.cli._output import console, print_json
    from marrow.lod.level_table import HEADINGS, rows

    if json:
        from marrow.cli._facts import levels_of

        print_json(levels_of(character))
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold cyan")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for row in rows(character):
        table.add_row(*row)
    console().print(table)
