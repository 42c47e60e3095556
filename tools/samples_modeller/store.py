"""Samples are built with the package, which carries them; where their sources were changed since, they are built anew and
kept in the cache, as files are that took long to import.

Both are named after the source code they are made by, so that they never outlive it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from marrow.io import cache as disk
from marrow.io import load, save
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.samples.levels import with_levels

__all__ = ["BUILT", "build_all", "digest", "stored"]

HERE = Path(__file__).parent
BUILT = HERE / "built"
"""Where the package keeps what was built with it."""


@cache
def _source_code() -> bytes:
    levels = [HERE.parent / "lod" / name for name in ("stored.py", "joints.py", "assembly.py")]
    files = sorted(
        [*HERE.glob("*.py"), *(HERE.parent / "math").glob("*.py"), *HERE.glob("levels_of/*.npz"), *levels]
    )
    return b"\0".join(file.name.encode() + b"\0" + file.read_bytes() for file in files)


@cache
def digest() -> str:
    """What samples are made by, as one number."""
    return hashlib.sha256(_source_code()).hexdigest()


def stored(name: str, build: Callable[[], Character]) -> Character:
    """The sample that came with the package, or the one in the cache, or one built now and kept there."""
    if _stamp() == digest() and (BUILT / f"{name}.marrow").is_file():
        return load(BUILT / f"{name}.marrow")
    entry = disk.entry(Source(Path(name), _source_code()), f"sample {name}", LoadOptions())
    if entry is None:
        return build()
    found = entry.load()
    if found is not None:
        return found
    character = build()
    entry.store(character)
    return character


def _stamp() -> str | None:
    try:
        return (BUILT / "sources").read_text(encoding="utf-8")
    except OSError:
        return None


def build_all() -> None:
    """Builds all samples into the package, unless they are there and of these very sources."""
    from marrow.samples import character, reptile

    if _stamp() == digest():
        return
    BUILT.mkdir(exist_ok=True)
    for name, build in {"mannequin": character.build, "lizard": reptile.build}.items():
        save(with_levels(name, build()), BUILT / f"{name}.marrow")
    part = BUILT / "sources.part"
    part.write_text(digest(), encoding="utf-8")
    os.replace(part, BUILT / "sources")
    print("marrow: built the samples", file=sys.stderr)


if __name__ == "__main__":
    build_all()
