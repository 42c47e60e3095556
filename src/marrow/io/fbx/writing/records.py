"""Binary FBX: records with typed properties, nested, between a header and a footer.

A record says where it ends, how many properties it has and how long they are; in version 7.5 in 64 bits, before that in
32. Arrays are packed by zlib where that makes them smaller, several at a time: packing needs no Python.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["VERSION", "VERSION_64", "Array32", "FbxRecord", "packed_array", "packed_arrays", "write_file"]

VERSION, VERSION_64 = 7400, 7500
_HEADER = b"Kaydara FBX Binary  \x00\x1a\x00"
# These belong to the time of creation that `document.header` writes: readers of Autodesk's check that they fit.
_FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_FOOTER_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_LIMIT_32 = (1 << 32) - 1
_PACKED = 256  # bytes from which packing pays
_LARGE = 1 << 16  # and from which it is done in threads
_SAMPLE = 1 << 16
_ALWAYS_CLOSED = (b"AnimationStack", b"AnimationLayer")
_CODES = {"f": b"f", "d": b"d", "i": b"i", "q": b"l", "b": b"b"}
Array = NDArray[Any]


class Array32(bytes):
    """The bytes of an array property."""


class FbxRecord:
    """A node of the file: its name, its properties and its children.

    A property is a bool, an int (64 bits), an `np.int32`, `np.int16`, a float (64 bits), a text, bytes, or an array of
    float32, float64, int32 or int64. Of its children, those that have none themselves may be `leaves`: their bytes are
    made at once, which is many times quicker for the tens of thousands that curves and connections are."""

    __slots__ = ("children", "leaves", "name", "properties")

    def __init__(self, name: str, *properties: Any) -> None:
        self.name = name
        self.properties: list[Any] = list(properties)
        self.children: list[FbxRecord] = []
        self.leaves: list[tuple[bytes, int, bytes]] = []

    def leaf(self, name: bytes, *properties: Any) -> None:
        """A new child that has properties and no children."""
        parts = [_CODED[type(p)](p) for p in properties]
        self.leaves.append((name, len(parts), b"".join(parts)))

    def add(self, name: str, *properties: Any) -> FbxRecord:
        """A new child."""
        child = FbxRecord(name, *properties)
        self.children.append(child)
        return child


def packed_arrays(top: FbxRecord) -> None:
    """Makes bytes of all arrays below a record, each once; large ones in threads."""
    found: dict[int, Array] = {}
    waiting = [top]
    holders: list[FbxRecord] = []
    while waiting:
        record = waiting.pop()
        waiting += record.children
        for p in record.properties:
            if type(p) is np.ndarray:
                found[id(p)] = p
                holders.append(record)
    large = [key for key, values in found.items() if values.nbytes >= _LARGE]
    made: dict[int, Array32] = {key: packed_array(found[key]) for key in found if found[key].nbytes < _LARGE}
    try:
        with ThreadPoolExecutor() as pool:
            made.update(zip(large, pool.map(lambda key: packed_array(found[key]), large)))
    except RuntimeError:  # a browser's Python has no threads
        made.update((key, packed_array(found[key])) for key in large)
    for record in holders:
        record.properties = [made.get(id(p), p) if type(p) is np.ndarray else p for p in record.properties]


def packed_array(values: Array) -> Array32:
    """The bytes of an array, packed where that makes them fewer."""
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


def write_file(file: IO[bytes], records: list[FbxRecord]) -> int:
    """Writes the file; its version, 7.5 where offsets need 64 bits."""
    top = FbxRecord("")
    top.children = records
    packed_arrays(top)
    chunks, end = _laid_out(records, False)
    wide = end > _LIMIT_32
    if wide:
        chunks, end = _laid_out(records, True)
    version = VERSION_64 if wide else VERSION
    file.write(_HEADER + struct.pack("<I", version))
    file.writelines(chunks)
    padding = -(end + len(_FOOTER_ID) + 4) % 16 or 16
    file.write(_FOOTER_ID + b"\0" * (4 + padding) + struct.pack("<I", version) + b"\0" * 120 + _FOOTER_END)
    return version


def _laid_out(records: list[FbxRecord], wide: bool) -> tuple[list[bytes], int]:
    """The bytes of all records, and where they end. A record's head says where it ends, so it is made last."""
    size, null = (25, b"\0" * 25) if wide else (13, b"\0" * 13)
    limit = (1 << 63) - 1 if wide else _LIMIT_32
    pack = struct.Struct("<QQQB" if wide else "<IIIB").pack
    chunks: list[bytes] = []
    at = len(_HEADER) + 4

    def put(record: FbxRecord, last: bool) -> None:
        nonlocal at
        name = record.name.encode()
        place = len(chunks)
        chunks.append(b"")
        at += size + len(name)
        body = 0
        for p in record.properties:
            data = p if type(p) is Array32 else _CODED[type(p)](p)
            chunks.append(data)
            body += len(data)
        at += body
        children = record.children
        if children:
            final = children[-1]
            for child in children:
                put(child, child is final)
        for leaf, count, data in record.leaves:
            at += size + len(leaf) + len(data)
            chunks.append(pack(min(at, limit), count, len(data), len(leaf)) + leaf + data)
        if children or record.leaves or name in _ALWAYS_CLOSED or (not record.properties and not last):
            chunks.append(null)
            at += size
        chunks[place] = pack(min(at, limit), len(record.properties), body, len(name)) + name

    for record in records:
        put(record, record is records[-1])
    chunks.append(null)
    return chunks, at + size


@lru_cache(maxsize=1024)
def _coded_text(value: str) -> bytes:
    text = value.encode()
    return b"S" + struct.pack("<I", len(text)) + text


_CODED: dict[type, Callable[[Any], bytes]] = {
    bool: lambda v: b"C" + bytes([v]),
    np.int32: lambda v: b"I" + struct.pack("<i", v),
    np.int16: lambda v: b"Y" + struct.pack("<h", v),
    int: lambda v: b"L" + struct.pack("<q", v),
    float: lambda v: b"D" + struct.pack("<d", v),
    str: _coded_text,
    bytes: lambda v: b"R" + struct.pack("<I", len(v)) + v,
    np.ndarray: packed_array,
    Array32: lambda v: v,
}
