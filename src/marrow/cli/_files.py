"""From what a user typed to characters, and to places that may be written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from marrow.cli._errors import UsageError
from marrow.errors import FormatError, MissingExtraError, UnknownNameError, ValidationError
from marrow.model import Character, Clip

__all__ = ["chosen_clips", "in_world", "is_sample", "open_character", "subdivide_wish", "writable"]


def is_sample(name: str | Path) -> bool:
    """Whether this names a built-in character; a file of that name comes first."""
    from marrow import samples

    return samples.file_of(name) is not None


def open_character(name: str | Path, **options: Any) -> Character:
    """The character in a file, or a sample by its name. `options` are those of `mw.load`."""
    path = Path(name)
    if not is_sample(name) and not path.exists():
        raise UsageError(f"{path}: no such file{_hint(path)}")
    if path.is_dir():
        raise UsageError(f"{path}: is a folder, not a file")
    from marrow.io import load

    try:
        return load(path, **options)
    except (FormatError, MissingExtraError):
        raise
    except (ValidationError, UnknownNameError) as error:
        if str(error).startswith(("load:", "load.", "facing:")):
            raise UsageError(str(error)) from None
        # What is in the file does not make a character.
        raise FormatError(str(error), path=path) from None


def subdivide_wish(text: str | None) -> int | str | None:
    """What `--subdivide` says: a number, or `file`."""
    if text is None or text == "file":
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"--subdivide: expected a number or file, got {text!r}") from None


def in_world(character: Character, axes: str) -> Character:
    """The character in the axes of another program."""
    try:
        return character.converted(axes)
    except UnknownNameError as error:
        raise UsageError(f"--axes: {error}") from None


def _hint(path: Path) -> str:
    import difflib

    from marrow import samples

    with_same_start = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = difflib.get_close_matches(path.name, [*with_same_start, *samples.NAMES], n=1, cutoff=0.75)
    return f"; did you mean {close[0]!r}?" if close else ""


def chosen_clips(character: Character, names: Sequence[str] | None) -> list[Clip]:
    """The clips of those names, in that order; all of them when none is named."""
    if not names:
        return list(character.clips.values())
    return [character.clips[name] for name in dict.fromkeys(names)]


def writable(path: Path, *, force: bool, folder: bool = False) -> None:
    """Says what is wrong with a place to write to before any work is done."""
    parent = path if folder and path.exists() else path.parent
    while folder and not parent.exists() and parent != parent.parent:
        parent = parent.parent
    if not parent.is_dir():
        raise UsageError(f"{path}: the folder {parent} does not exist")
    if not os.access(parent, os.W_OK):
        raise UsageError(f"{path}: the folder {parent} cannot be written to")
    if folder:
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path}: is a file, not a folder")
        begun = (
            path / ".marrow"
        ).is_dir()  # by the same command, which goes on there (`marrow.dataset.file_batch`)
        if path.is_dir() and any(path.iterdir()) and not force and not begun:
            raise UsageError(f"{path}: the folder is not empty (--force writes into it all the same)")
    elif path.is_dir():
        raise UsageError(f"{path}: is a folder, not a file")
    elif path.exists() and not force:
        raise UsageError(f"{path}: exists already (--force replaces it)")
