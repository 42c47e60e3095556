"""Builds the samples into the package, unless they are there and of these very sources."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

import marrow
from marrow.io import save
from samples_modeller import character, reptile
from samples_modeller.levels import with_levels

__all__ = ["build_all", "digest"]

HERE, MARROW = Path(__file__).parent, Path(marrow.__file__).parent
BUILT = MARROW / "samples" / "built"


@cache
def digest() -> str:
    """What samples are made by, as one number."""
    levels = [MARROW / "lod" / name for name in ("level_choices.py", "joint_removal.py", "assembly.py")]
    files = [*HERE.glob("*.py"), *(MARROW / "math").glob("*.py"), *HERE.glob("levels_of/*.npz"), *levels]
    return hashlib.sha256(
        b"\0".join(file.name.encode() + b"\0" + file.read_bytes() for file in sorted(files))
    ).hexdigest()


def build_all() -> None:
    stamp = BUILT / "sources"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest():
        return
    BUILT.mkdir(exist_ok=True)
    for name, build in {"mannequin": character.build, "lizard": reptile.build}.items():
        save(with_levels(name, build()), BUILT / f"{name}.marrow")
    part = BUILT / "sources.part"
    part.write_text(digest(), encoding="utf-8")
    os.replace(part, stamp)
    print("marrow: built the samples", file=sys.stderr)


if __name__ == "__main__":
    build_all()
