"""Binary FBX: records with typed properties, nested, between a header and a footer.

A record says where it ends, how many properties it has and how long they are; in version 7.5 in 64 bits, before that in
32. Arrays are packed by zlib where that makes them smaller, several at a time: packing needs no Python.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["VERSION", "VERSION_64", "Array32", "Record", "packed_arrays", "write_file"]

VERSION, VERSION_64 = 7400, 7500
_HEADER = b"Kaydara FBX Binary  \x00\x1a\x00"
# These belong to the time of creation that `document.header` writes: readers of Autodesk's check that they fit.
_FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_FOOTER_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_LIMIT_32 = (1 << 32) - 1
_PACKED = 128  # bytes from which packing pays
_SAMPLE = 1 << 16
_ALWAYS_CLOSED = ("AnimationStack", "AnimationLayer")
_CODES = {"f": b"f", "d": b"d", "i": b"i", "q": b"l", "b": b"b"}
Array = NDArray[Any]


class Array32(bytes):
    """The bytes of an array property."""


class Record:
    """A node of the file: its name, its properties and its children.

    A property is a bool, an int (64 bits), an `np.int32`, `np.int16`, a float (64 bits), a text, bytes, or an array of
    float32, float64, int32 or int64."""

    __slots__ = ("children", "name", "properties")

    def __init__(self, name: str, *properties: Any) -> None:
        self.name = name
        self.properties: list[Any] = list(properties)
        self.children: list[Record] = []

    def add(self, name: str, *properties: Any) -> Record:
        """A new child."""
        child = Record(name, *properties)
        self.children.append(child)
        return child


def packed_arrays(top: Record) -> None:
    """Makes bytes of all arrays below a record, in threads."""
    found = [(r.properties, i) for r in _walk(top) for i, p in enumerate(r.properties) if isinstance(p, np.ndarray)]
    with ThreadPoolExecutor() as pool:
        for (properties, i), data in zip(found, pool.map(lambda at: _packed(at[0][at[1]]), found, chunksize=8)):
            properties[i] = data


def _walk(top: Record) -> Iterator[Record]:
    waiting = [top]
    while waiting:
        record = waiting.pop()
        yield record
        waiting += record.children


def _packed(values: Array) -> Array32:
    flat = np.ascontiguousarray(values).ravel()
    code = _CODES[flat.dtype.char if flat.dtype.char != "l" else "q"]
    raw = memoryview(flat).cast("B")
    size = len(raw)
    data: Any = raw
    encoding = 0
    if size >= _PACKED:
        middle = max(0, size // 2 - _SAMPLE // 2)
        part = raw[middle : middle + _SAMPLE]
        if size <= _SAMPLE or len(zlib.compress(part, 1)) < 0.85 * len(part):
            data = zlib.compress(raw, 1)
            encoding = 1
        if len(data) >= size:
            data, encoding = raw, 0
    return Array32(b"".join([code, struct.pack("<III", len(flat), encoding, len(data)), data]))


def write_file(file: IO[bytes], records: list[Record]) -> int:
    """Writes the file; its version, 7.5 where offsets need 64 bits."""
    top = Record("")
    top.children = records
    packed_arrays(top)
    bodies: dict[int, bytes] = {}
    sizes: dict[int, int] = {}
    wide = _measured(top, False, bodies, sizes) > _LIMIT_32 - 4096
    if wide:
        sizes.clear()
        _measured(top, True, bodies, sizes)
    version = VERSION_64 if wide else VERSION
    file.write(_HEADER + struct.pack("<I", version))
    at = len(_HEADER) + 4
    head = struct.Struct("<QQQB" if wide else "<IIIB")
    null = b"\0" * head.size
    for k, record in enumerate(records):
        at = _write(file, record, at, head, null, bodies, sizes, k == len(records) - 1)
    file.write(null)
    at += len(null)
    padding = -(at + len(_FOOTER_ID) + 4) % 16 or 16
    file.write(_FOOTER_ID + b"\0" * (4 + padding) + struct.pack("<I", version) + b"\0" * 120 + _FOOTER_END)
    return version


def _measured(top: Record, wide: bool, bodies: dict[int, bytes], sizes: dict[int, int]) -> int:
    """The bytes of every record with all below it, by its identity; those of the whole file."""
    header = 25 if wide else 13
    order: list[tuple[Record, bool]] = []
    waiting = [(top, False)]
    while waiting:
        record, last = waiting.pop()
        order.append((record, last))
        waiting += [(child, k == len(record.children) - 1) for k, child in enumerate(record.children)]
    for record, last in reversed(order):
        own = id(record)
        if own not in bodies:
            parts = [_property(p) for p in record.properties]
            bodies[own] = parts[0] if len(parts) == 1 else b"".join(parts)
        size = header + len(record.name) + len(bodies[own])
        size += sum([sizes[id(child)] for child in record.children])
        sizes[own] = size + (header if _closed(record, last) else 0)
    return sizes[id(top)]


def _closed(record: Record, last: bool) -> bool:
    """Whether an empty record ends its list of children."""
    return bool(record.children) or record.name in _ALWAYS_CLOSED or (not record.properties and not last)


def _write(
    file: IO[bytes],
    record: Record,
    at: int,
    head: struct.Struct,
    null: bytes,
    bodies: dict[int, bytes],
    sizes: dict[int, int],
    last: bool,
) -> int:
    """Writes a record that begins at `at`; where it ends. No record is nested deeper than the few levels that we write."""
    name, body = record.name.encode(), bodies[id(record)]
    end = at + sizes[id(record)]
    file.write(head.pack(end, len(record.properties), len(body), len(name)) + name)
    file.write(body)
    inner = at + head.size + len(name) + len(body)
    for k, child in enumerate(record.children):
        inner = _write(file, child, inner, head, null, bodies, sizes, k == len(record.children) - 1)
    if _closed(record, last):
        file.write(null)
    return end


def _property(value: Any) -> bytes:
    if isinstance(value, Array32):
        return value
    if isinstance(value, bool):
        return b"C" + bytes([value])
    if isinstance(value, np.int32):
        return b"I" + struct.pack("<i", value)
    if isinstance(value, np.int16):
        return b"Y" + struct.pack("<h", value)
    if isinstance(value, int):
        return b"L" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode()
        return b"S" + struct.pack("<I", len(text)) + text
    return b"R" + struct.pack("<I", len(value)) + bytes(value)
