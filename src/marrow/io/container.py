"""The bytes of a `.marrow` file: named arrays and a JSON document in the layout of safetensors, with a
checksum.

    8 bytes   length of the header, little endian
    header    {"__metadata__": {"format": "marrow", "version": "2", "checksum": ..., ...}, "mesh.0.positions":
    {...}, ...} data      the arrays, end to end

Any safetensors reader opens it. The metadata comes first and the checksum (CRC-32) has its fixed place, so
that it covers every other byte of the file. Nothing in it is executed; arrays are views of the buffer.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import IO, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ValidationError

__all__ = ["Container", "checksum", "is_container", "write_container"]

Array = NDArray[Any]
VERSION = 2
MAX_HEADER_BYTES = 256 << 20
_START = b'{"__metadata__":{"format":"marrow","version":"'
_HEAD = re.compile(re.escape(_START) + rb'(\d{1,9})","checksum":"([0-9a-f]{8})"')
_DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "F64": np.dtype("<f8"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "F32": np.dtype("<f4"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


class _Tensor(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


_HEADER = msgspec.json.Decoder(dict[str, msgspec.Raw])
_METADATA = msgspec.json.Decoder(dict[str, str])
_TENSOR = msgspec.json.Decoder(_Tensor)


def is_container(start: bytes | memoryview) -> bool:
    """Whether a file that begins with these bytes is a `.marrow` file (of any version)."""
    return bytes(start[8 : 8 + len(_START)]) == _START


def checksum(*parts: bytes | memoryview) -> bytes:
    """CRC-32 of the parts end to end, as eight hexadecimal digits."""
    value = 0
    for part in parts:
        value = zlib.crc32(part, value)
    return f"{value:08x}".encode()


def write_container(file: IO[bytes], tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> None:
    """Writes the arrays and the metadata (strings by name)."""
    # Wide types first: then every array lies at a multiple of its item size, without gaps.
    order = sorted(tensors, key=lambda n: -tensors[n].dtype.itemsize)
    table, blocks, offset = {}, [], 0
    for name in order:
        array = np.ascontiguousarray(tensors[name])
        dtype = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
        block = memoryview(array.astype(dtype, copy=False).reshape(-1)).cast("B") if array.size else b""
        end = offset + len(block)
        table[name] = {"dtype": _NAMES[dtype], "shape": list(array.shape), "data_offsets": [offset, end]}
        blocks.append(block)
        offset = end
    head = _START + str(VERSION).encode() + b'","checksum":"'
    try:
        rest = msgspec.json.encode(dict(metadata))[1:-1]
        tail = b'"' + (b"," + rest if rest else b"") + b"}"
        tail += b"," + msgspec.json.encode(table)[1:-1] + b"}" if table else b"}"
    except UnicodeEncodeError as error:
        raise ValidationError(f"a name cannot be written as UTF-8: {error}") from None
    size = len(head) + 8 + len(tail)
    tail += b" " * (-size % 8)
    length = (size + -size % 8).to_bytes(8, "little")
    data = b"".join(blocks)
    file.write(length + head + checksum(length, head, tail, data) + tail)
    file.write(data)


class Container:
    """A `.marrow` file taken apart: `metadata` by name, `array(name)`. All of it is checked when it is
    opened.
    """

    def __init__(self, data: bytes | memoryview, path: object = None) -> None:
        self._view = memoryview(data).cast("B")
        self._path = path
        header_end = self._check()
        try:
            raw = _HEADER.decode(self._view[8:header_end])
            self.metadata: dict[str, str] = _METADATA.decode(raw.pop("__metadata__"))
            self._tensors = {name: _TENSOR.decode(entry) for name, entry in raw.items()}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise self._bad(f"has a damaged header: {error}") from None
        self._data = self._view[header_end:]
        self._arrays: dict[str, Array] = {}
        for name, tensor in self._tensors.items():
            self._check_tensor(name, tensor)

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def array(self, name: str) -> Array:
        """The array of that name, read-only, on the bytes of the file; whoever asks again gets the same one."""
        if name in self._arrays:
            return self._arrays[name]
        tensor = self._tensors.get(name)
        if tensor is None:
            raise self._bad(f"lacks the array {name!r}")
        begin, end = tensor.data_offsets
        out = np.frombuffer(self._data[begin:end], _DTYPES[tensor.dtype]).reshape(tensor.shape)
        out.flags.writeable = False
        self._arrays[name] = out
        return out

    def _bad(self, message: str) -> FormatError:
        return FormatError(message, path=self._path, remedy="export or convert it again")

    def _check(self) -> int:
        view = self._view
        if len(view) < 8 or not is_container(view[:128]):
            raise FormatError("is not a .marrow file", path=self._path)
        match = _HEAD.match(view[8:200])
        if match is None:
            raise self._bad("has a damaged header")
        if int(match[1]) != VERSION:
            raise FormatError(
                f"is version {int(match[1])} of the .marrow format, this marrow reads version {VERSION}",
                path=self._path,
                remedy="convert it again with this version, or update marrow",
            )
        size = int.from_bytes(view[:8], "little")
        if size > MAX_HEADER_BYTES or 8 + size > len(view):
            raise self._bad(f"is cut short: a header of {size} bytes in a file of {len(view)}")
        body = 8 + match.end() - 1  # the quote that closes the checksum belongs to the body
        start = 8 + match.start(2)
        if checksum(view[:8], view[8:start], view[body : 8 + size], view[8 + size :]) != match[2]:
            raise self._bad("is damaged: its checksum does not match its contents")
        return 8 + size

    def _check_tensor(self, name: str, tensor: _Tensor) -> None:
        dtype = _DTYPES.get(tensor.dtype)
        if dtype is None:
            raise self._bad(f"array {name!r} has the unknown type {tensor.dtype!r}")
        begin, end = tensor.data_offsets
        count = 1
        for n in tensor.shape:
            count *= n
        fits = 0 <= begin <= end <= len(self._data) and min(tensor.shape, default=0) >= 0
        if not fits or count * dtype.itemsize != end - begin:
            raise self._bad(f"array {name!r} of shape {tensor.shape} does not fit its place {begin}..{end}")
