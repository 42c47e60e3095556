"""Binary FBX: records with typed properties, nested, between a header and a footer.

A record says where it ends, how many properties it has and how long they are; in version 7.5 in 64 bits, before that in
32. Arrays are packed by zlib where that makes them smaller, several at a time: packing needs no Python.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.pyodide import IN_BROWSER

__all__ = [
    "PACKED", "VERSION", "VERSION_64", "Array32", "FbxRecord", "Hole", "RecordBlock", "TemplateBlock", "hole",
    "laid_out", "packed_array", "packed_arrays", "packed_bytes", "write_file",
]  # fmt: skip

VERSION, VERSION_64 = 7400, 7500
_HEADER = b"Kaydara FBX Binary  \x00\x1a\x00"
# These belong to the time of creation that `document.header` writes: readers of Autodesk's check that they fit.
_FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_FOOTER_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_LIMIT_32 = (1 << 32) - 1
PACKED = 256  # bytes from which packing pays
_LARGE = 1 << 16  # and from which it is done in threads
_SAMPLE = 1 << 16
_ALWAYS_CLOSED = (b"AnimationStack", b"AnimationLayer")
_CODES = {"f": b"f", "d": b"d", "i": b"i", "q": b"l", "b": b"b"}
Array = NDArray[Any]
_MARK = b"\x9d\xf1hole"


class Array32(bytes):
    """The bytes of an array property."""


class Hole(bytes):
    """Eight bytes of a number that a `RecordBlock` fills in, and before them the letter of its type."""


class RecordBlock:
    """Many records of one name that are laid out at once."""

    name: str
    count: int

    def pack(self) -> None:
        """Packs their arrays, once, before they are laid out. Runs in a thread."""

    def laid_out(self, at: int, wide: bool) -> bytes | memoryview:
        """Their bytes, from the place `at` of the file on."""
        raise NotImplementedError


class FbxRecord:
    """A node of the file: its name, its properties and its children.

    A property is a bool, an int (64 bits), an `np.int32`, `np.int16`, a float (64 bits), a text, bytes, or an array of
    float32, float64, int32 or int64. Of its children, those that have none themselves may be `leaves`: their bytes are
    made at once, which is many times quicker for the tens of thousands that curves and connections are."""

    __slots__ = ("children", "leaves", "name", "properties")

    def __init__(self, name: str, *properties: Any) -> None:
        self.name = name
        self.properties: list[Any] = list(properties)
        self.children: list[FbxRecord | RecordBlock] = []
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
    waiting: list[FbxRecord | RecordBlock] = [top]
    holders: list[FbxRecord] = []
    blocks: list[RecordBlock] = []
    while waiting:
        record = waiting.pop()
        if isinstance(record, RecordBlock):
            blocks.append(record)
            continue
        waiting += record.children
        for p in record.properties:
            if type(p) is np.ndarray:
                found[id(p)] = p
                holders.append(record)
    large = [key for key, values in found.items() if values.nbytes >= _LARGE]
    made: dict[int, Array32] = {key: packed_array(found[key]) for key in found if found[key].nbytes < _LARGE}
    jobs: list[Callable[[], None]] = [block.pack for block in blocks]
    jobs += [lambda key=key: made.__setitem__(key, packed_array(found[key])) for key in large]  # type: ignore[misc]
    _at_once(jobs)
    for record in holders:
        record.properties = [made.get(id(p), p) if type(p) is np.ndarray else p for p in record.properties]


def _at_once(jobs: list[Callable[[], None]]) -> None:
    """Runs jobs in threads, where there are any: a browser's Python has none."""
    if IN_BROWSER:
        for job in jobs:
            job()
        return
    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result()


def packed_array(values: Array) -> Array32:
    """The bytes of an array, packed where that makes them fewer."""
    flat = np.ascontiguousarray(values).ravel()
    code = _CODES[flat.dtype.char if flat.dtype.char != "l" else "q"]
    raw = memoryview(flat).cast("B")
    packed = packed_bytes(raw)
    data, encoding = (raw, 0) if packed is None else (packed, 1)
    return Array32(b"".join([code, struct.pack("<III", len(flat), encoding, len(data)), data]))


def packed_bytes(raw: Any) -> bytes | None:
    """The bytes of an array packed; None where that does not pay."""
    size = len(raw)
    if size < PACKED:
        return None
    if size > _SAMPLE:
        middle = size // 2 - _SAMPLE // 2
        if len(zlib.compress(raw[middle : middle + _SAMPLE], 1)) >= 0.85 * _SAMPLE:
            return None
    data = zlib.compress(raw, 1)
    return data if len(data) < size else None


def write_file(file: IO[bytes], records: list[FbxRecord]) -> int:
    """Writes the file; its version, 7.5 where offsets need 64 bits."""
    top = FbxRecord("")
    top.children = list(records)
    packed_arrays(top)
    chunks, end = laid_out(records, False)
    wide = end > _LIMIT_32
    if wide:
        chunks, end = laid_out(records, True)
    version = VERSION_64 if wide else VERSION
    file.write(_HEADER + struct.pack("<I", version))
    file.writelines(chunks)
    padding = -(end + len(_FOOTER_ID) + 4) % 16 or 16
    file.write(_FOOTER_ID + b"\0" * (4 + padding) + struct.pack("<I", version) + b"\0" * 120 + _FOOTER_END)
    return version


def laid_out(
    records: Sequence[FbxRecord | RecordBlock],
    wide: bool,
    at: int = len(_HEADER) + 4,
    heads: list[int] | None = None,
) -> tuple[list[bytes | memoryview], int]:
    """The bytes of all records, and where they end. A record's head says where it ends, so it is made last. `heads` gets
    the places of all heads."""
    size, null = (25, b"\0" * 25) if wide else (13, b"\0" * 13)
    limit = (1 << 63) - 1 if wide else _LIMIT_32
    pack = struct.Struct("<QQQB" if wide else "<IIIB").pack
    chunks: list[bytes | memoryview] = []

    def put(record: FbxRecord | RecordBlock, last: bool) -> None:
        nonlocal at
        if isinstance(record, RecordBlock):
            block = record.laid_out(at, wide)
            chunks.append(block)
            at += len(block)
            return
        if heads is not None:
            heads.append(at)
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
            if heads is not None:
                heads.append(at)
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


def hole(code: str, number: int) -> Hole:
    """A place for a number of 64 bits (`L`, `D`) in a record of a `TemplateBlock`: the `number`-th of its columns."""
    return Hole(code.encode() + _MARK + number.to_bytes(2, "little"))


class TemplateBlock(RecordBlock):
    """Records that differ in numbers alone: `record` with holes, and for each hole a column of 64-bit numbers."""

    def __init__(self, record: FbxRecord, columns: Sequence[Array]) -> None:
        self.name, self.count = record.name, len(columns[0])
        self._record, self._columns = record, columns

    def laid_out(self, at: int, wide: bool) -> memoryview:
        heads: list[int] = []
        width = 8 if wide else 4
        chunks, _ = laid_out([self._record], wide, 0, heads)
        template = np.frombuffer(b"".join(chunks)[: -3 * width - 1], np.uint8)
        size = len(template)
        rows = np.empty((self.count, size), np.uint8)
        rows[:] = template
        starts = at + size * np.arange(self.count, dtype=np.int64)
        kind = "<u8" if wide else "<u4"
        for head in heads:
            end = int(template[head : head + width].view(kind)[0])
            rows[:, head : head + width] = _bytes((starts + end).astype(kind))
        text = template.tobytes()
        for k, column in enumerate(self._columns):
            place = text.index(_MARK + k.to_bytes(2, "little"))
            rows[:, place : place + 8] = _bytes(column.astype("<f8" if column.dtype.kind == "f" else "<i8"))
        return memoryview(rows).cast("B")


def _bytes(column: Array) -> Array:
    return np.ascontiguousarray(column).view(np.uint8).reshape(len(column), column.dtype.itemsize)


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
    Hole: lambda v: v,
}
