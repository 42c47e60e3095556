"""MP4 files with their index in front: players on the web begin before they have all of it."""

from __future__ import annotations

import io
import shutil
import struct
from typing import IO

__all__ = ["index_first"]

_HOLDERS = (b"trak", b"mdia", b"minf", b"stbl")


def index_first(file: IO[bytes], out: IO[bytes]) -> None:
    """Copies an MP4 or QuickTime file whose index (`moov`) lies behind the pictures (`mdat`), and puts it before them."""
    boxes = _boxes(file)
    names = [kind for kind, _, _ in boxes]
    if names.count(b"moov") != 1 or b"mdat" not in names or names.index(b"moov") < names.index(b"mdat"):
        file.seek(0)
        shutil.copyfileobj(file, out, 1 << 20)
        return
    _, start, size = boxes[names.index(b"moov")]
    file.seek(start)
    index = bytearray(file.read(size))
    _move_offsets(index, 8, size, size)
    for kind, first, length in boxes:
        if kind == b"mdat":
            out.write(index)
            index = bytearray()
        if kind != b"moov":
            file.seek(first)
            _copy(file, out, length)


def _boxes(file: IO[bytes]) -> list[tuple[bytes, int, int]]:
    """Name, place and size of the boxes a file consists of."""
    end = file.seek(0, io.SEEK_END)
    found, at = [], 0
    while at + 8 <= end:
        file.seek(at)
        size, kind = struct.unpack(">I4s", file.read(8))
        if size == 1:
            (size,) = struct.unpack(">Q", file.read(8))
        size = end - at if size == 0 else size
        found.append((kind, at, size))
        at += size
    return found


def _move_offsets(data: bytearray, at: int, end: int, by: int) -> None:
    """Adds `by` to where the pictures are said to be, in the boxes between `at` and `end`."""
    while at + 8 <= end:
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind in _HOLDERS:
            _move_offsets(data, at + 8, at + size, by)
        elif kind in (b"stco", b"co64"):
            form = ">I" if kind == b"stco" else ">Q"
            (count,) = struct.unpack_from(">I", data, at + 12)
            for k in range(count):
                place = at + 16 + k * struct.calcsize(form)
                struct.pack_into(form, data, place, struct.unpack_from(form, data, place)[0] + by)
        at += size


def _copy(file: IO[bytes], out: IO[bytes], length: int) -> None:
    while length > 0:
        piece = file.read(min(length, 1 << 20))
        out.write(piece)
        length -= len(piece) or length
