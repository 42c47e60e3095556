"""The bytes of an `.mrt` file: a head, a table of sections, and their arrays, each on a boundary of 64 bytes.

    head      64 bytes: magic, version, number of sections, size of the file, layout (`layout_digest`), checksum
    sections  64 bytes each: name (32, NUL-padded), bytes of an item, axes, two sizes, where it begins
    arrays    as the kernels take them, little endian

The checksum covers everything behind the head. A runtime reads files of its own layout and no others: a file is baked
for the version
of marrow whose library or module reads it."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.runtime.layout import VERSION, layout_digest

__all__ = ["MAGIC", "checksum", "read_sections", "sealed", "write_sections"]

Array = NDArray[Any]
MAGIC = b"\x89MRT\r\n\x1a\n"
_HEAD = struct.Struct("<8sIIQQQ24x")
_SECTION = struct.Struct("<32sIIQQQ")
BOUNDARY = 64
_PRIME = 0x9E3779B97F4A7C15
_WORD = (1 << 64) - 1


def checksum(data: bytes | memoryview) -> int:
    """Four sums of 64-bit words, each word times an odd number that belongs to its row of four; folded into one.
    `data` is a
    multiple of 32 bytes long."""
    words = np.frombuffer(data, "<u8").reshape(-1, 4)
    factors = (np.arange(len(words), dtype=np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(_PRIME)
    mixed = (words ^ (words >> np.uint64(29))) * factors[:, None]
    total = 0
    for part in mixed.sum(axis=0, dtype=np.uint64).tolist():
        total = ((total ^ part) * _PRIME) & _WORD
        total ^= total >> 32
    return total


def write_sections(file: IO[bytes], sections: Mapping[str, Array]) -> int:
    """Writes arrays of one or two axes by name; returns how many bytes there are."""
    table, at = [], _HEAD.size + _SECTION.size * len(sections)
    for name, array in sections.items():
        called = name.encode()
        if len(called) > 31 or array.ndim not in (1, 2):
            raise ValueError(f"no section: {name} {array.shape}")
        rows, columns = (*array.shape, 1)[:2]
        table.append(_SECTION.pack(called, array.dtype.itemsize, array.ndim, rows, columns, at))
        at += -(-array.nbytes // BOUNDARY) * BOUNDARY
    body = bytearray(at - _HEAD.size)
    body[: len(table) * _SECTION.size] = b"".join(table)
    place = len(table) * _SECTION.size
    for array in sections.values():
        raw = np.ascontiguousarray(array).tobytes()
        body[place : place + len(raw)] = raw
        place += -(-len(raw) // BOUNDARY) * BOUNDARY
    file.write(_HEAD.pack(MAGIC, VERSION, len(sections), at, layout_digest(), checksum(memoryview(body))))
    file.write(body)
    return at


def sealed(data: bytes | bytearray) -> bytes:
    """A file whose arrays were changed, with the checksum that belongs to them."""
    magic, version, count, size, layout, _ = _HEAD.unpack_from(data)
    body = bytes(data[_HEAD.size :])
    return _HEAD.pack(magic, version, count, size, layout, checksum(body[: len(body) // 32 * 32])) + body


def read_sections(data: bytes | memoryview) -> dict[str, tuple[int, int, int, int, int]]:
    """The sections of a file: for each where it begins, bytes of an item, axes, and two sizes."""
    if len(data) < _HEAD.size or bytes(data[:8]) != MAGIC:
        raise FormatError("this is no baked character (.mrt)")
    _, version, count, size, layout, told = _HEAD.unpack_from(data)
    if version != VERSION or layout != layout_digest():
        raise FormatError(
            "it was baked by another version of marrow: bake it again with `marrow bake-runtime`"
        )
    if size != len(data) or size % BOUNDARY or _HEAD.size + count * _SECTION.size > size:
        raise FormatError("it is not whole")
    if checksum(memoryview(data)[_HEAD.size :]) != told:
        raise FormatError("its checksum is wrong: it was damaged")
    found = {}
    for k in range(count):
        name, item, axes, rows, columns, at = _SECTION.unpack_from(data, _HEAD.size + k * _SECTION.size)
        found[name.rstrip(b"\0").decode("ascii", "replace")] = (at, item, axes, rows, columns)
    return found
