"""`.usdz` packages: zip archives that store and never pack, with every file at a multiple of 64 bytes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from typing import IO

__all__ = ["write_package"]

_ALIGNMENT = 64
_HEAD = 30  # bytes of a local header before the name
_FILLER = 0x1986  # the field of the header that USD's own packages fill up with


def write_package(file: IO[bytes], members: Iterable[tuple[str, bytes]]) -> None:
    """Writes the files; the first is the stage."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as package:
        for name, data in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            start = file.tell() + _HEAD + len(name.encode()) + 4
            padding = -start % _ALIGNMENT
            info.extra = _FILLER.to_bytes(2, "little") + padding.to_bytes(2, "little") + b"\0" * padding
            package.writestr(info, data)
