"""USD, through the `usd` extra: UsdSkel skeletons with their animations and blend shapes, meshes and their
materials.

A stage becomes one character: every transformable prim and every joint is a joint of its skeleton, and
everything that moves on the stage's one timeline is one clip. USD is native code that opens layers by itself
and does not survive every damaged file, so it runs in a process of its own (`marrow.io.reader_process`).
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path

from marrow.errors import FormatError
from marrow.io.container import Container
from marrow.io.marrow_file import read_container
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.printing import is_text

__all__ = ["read", "write"]


def read(source: Source, options: LoadOptions) -> Character:
    """The character on a USD stage."""
    from marrow.io.reader_process import (  # the child imports this package too, and needs none of that
        Reader,
        ask,
    )

    if source.alone:
        raise FormatError(
            "USD opens its files by itself", path=source.path, remedy="save it and load it by its path"
        )
    _check_path(source.path)
    # USD maps files and reserves room for its threads, so the limit on addresses is wider than what it uses.
    reader = Reader("USD", "marrow.io.usd.child_process", "usd-core", "usd", base_memory=4 << 30)
    asked = {"path": str(source.path.absolute()), "load": asdict(options)}
    answer = ask(reader, b"", asked, size=len(source.data), path=source.path)
    try:
        container = Container(answer)
        character = read_container(container, source.path)
        references = json.loads(container.metadata.get("references", "[]"))
    except (FormatError, ValueError) as error:
        raise FormatError(f"the USD reader gave no whole answer: {error}", path=source.path) from None
    # The parent asks for the same neighbours by the same rules: the cache key needs their bytes.
    for reference in references:
        with contextlib.suppress(FormatError):
            source.neighbour(reference)
    return character


def write(
    character: Character, path: Path, *, rate: float | None = None, textures: str | None = None
) -> None:
    """Writes a stage: `.usda`, `.usdc`, `.usd` or `.usdz`."""
    from marrow.io.usd.writing.writer import write as save

    _check_path(path)
    save(character, path, rate=rate, textures=textures)


def _check_path(path: Path) -> None:
    if not is_text(str(path.absolute())):
        raise FormatError(
            "USD takes only names of files and folders that are UTF-8", path=path, remedy="rename it"
        )
