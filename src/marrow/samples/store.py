"""Samples are built once and kept in the cache, as files are that took long to import.

The entry is named after the samples' own source code and the version of marrow, so that it never outlives
either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from marrow.io import cache as disk
from marrow.io.source import LoadOptions, Source
from marrow.model import Character

__all__ = ["stored"]


@cache
def _source_code() -> bytes:
    files = sorted(Path(__file__).parent.glob("*.py"))
    return b"\0".join(file.name.encode() + b"\0" + file.read_bytes() for file in files)


def stored(name: str, build: Callable[[], Character]) -> Character:
    """The sample from the cache, or built now and kept there."""
    entry = disk.entry(Source(Path(name), _source_code()), f"sample {name}", LoadOptions())
    if entry is None:
        return build()
    found = entry.load()
    if found is not None:
        return found
    character = build()
    entry.store(character)
    return character
