"""Typed arrays out of buffers: every accessor, view and buffer is bounds-checked before it is touched.

Accessors of packed float32 come back as views of the file's bytes; everything else is converted once and
kept.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.gltf import meshopt
from marrow.io.gltf.limits import Budget
from marrow.io.gltf.schema import Accessor, BufferView, Document, Meshopt, Sparse
from marrow.io.source import Source

__all__ = ["Accessors", "data_uri", "normalized_floats"]

Array = NDArray[Any]

COMPONENTS: dict[int, np.dtype[Any]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
# Matrices whose columns are padded to four bytes: (rows, columns, bytes of a padded column) by type and
# component size.
PADDED = {("MAT2", 1): (2, 2, 4), ("MAT3", 1): (3, 3, 4), ("MAT3", 2): (3, 3, 8)}
_meshopt_decoder = msgspec.json.Decoder(Meshopt)


class Accessors:
    """The arrays of one file, by accessor index."""

    def __init__(self, document: Document, chunk: memoryview | None, source: Source, budget: Budget) -> None:
        self.accessors = document.accessors
        self._views = document.bufferViews
        self._buffers = document.buffers
        self._required = document.extensionsRequired
        self._chunk = chunk
        self._source = source
        self._budget = budget
        self._buffer_data: dict[int, memoryview] = {}
        self._view_data: dict[int, tuple[memoryview, int | None]] = {}
        self._raw: dict[int, Array] = {}
        self._floats: dict[int, Array] = {}
        self._word_data: dict[int, Array] = {}

    def refuse(self, message: str, place: str) -> FormatError:
        return FormatError(message, path=self._source.path, place=place)

    def definition(self, index: int) -> Accessor:
        """The accessor's JSON."""
        if index >= len(self.accessors):
            raise self.refuse(
                f"does not exist; there are {len(self.accessors)} accessors", f"accessors[{index}]"
            )
        return self.accessors[index]

    def floats(self, index: int, kind: str) -> Array:
        """`(count, C)` float32 of an accessor of type `kind` (such as VEC3), normalised integers decoded."""
        found = self._floats.get(index)
        accessor = self.definition(index)
        if accessor.type != kind:
            raise self.refuse(f"expected {kind}, got {accessor.type}", f"accessors[{index}]")
        if found is None:
            run = self.packed(index, kind)
            if run is not None:
                self._budget.charge(run.nbytes, f"accessors[{index}]")
                found = self._floats[index] = run.reshape(accessor.count, WIDTHS[kind])
                return found
            raw = self.raw(index)
            if raw.dtype == np.float32:
                found = raw
            else:
                self._budget.charge(raw.size * 4, f"accessors[{index}]")
                found = normalized_floats(raw, accessor.normalized)
            self._floats[index] = found
        return found

    def packed(self, index: int, kind: str) -> Array | None:
        """The float32 `(count * C,)` of an accessor that is nothing but a run of them; None for any other, be it
        of another kind, compressed or damaged. Quicker than `floats` for those who read hundreds.
        """
        accessor = self.accessors[index] if index < len(self.accessors) else None
        if accessor is None or accessor.componentType != 5126 or accessor.type != kind:
            return None
        v, size = accessor.bufferView, 4 * WIDTHS[kind]
        view = self._views[v] if v is not None and v < len(self._views) else None
        if view is None or view.extensions or view.byteStride not in (None, size) or accessor.sparse:
            return None
        size *= accessor.count
        begin = view.byteOffset + accessor.byteOffset
        words = self._word_data.get(view.buffer)
        if words is None:
            words = self._words(view.buffer)
        if begin % 4 or accessor.byteOffset + size > view.byteLength or begin + size > 4 * len(words):
            return None
        if view.byteOffset + view.byteLength > len(self._buffer_data[view.buffer]):
            return None
        return words[begin // 4 : (begin + size) // 4]

    def _words(self, index: int) -> Array:
        """A whole buffer as float32."""
        data = self.buffer(index, f"buffers[{index}]")
        found = self._word_data[index] = np.frombuffer(data[: len(data) // 4 * 4], "<f4")
        found.flags.writeable = False
        return found

    def integers(self, index: int, kind: str) -> Array:
        """`(count, C)` unsigned integers."""
        accessor = self.definition(index)
        if accessor.type != kind or accessor.componentType not in (5121, 5123, 5125):
            raise self.refuse(f"expected {kind} of unsigned integers", f"accessors[{index}]")
        return self.raw(index)

    def raw(self, index: int) -> Array:
        """`(count, C)` in the component type of the file, sparse values filled in, read-only."""
        found = self._raw.get(index)
        if found is None:
            found = self._read(index, self.definition(index))
            found.flags.writeable = False
            self._raw[index] = found
        return found

    def _read(self, index: int, accessor: Accessor) -> Array:
        place = f"accessors[{index}]"
        dtype, width = COMPONENTS.get(accessor.componentType), WIDTHS.get(accessor.type)
        if dtype is None or width is None:
            raise self.refuse(
                f"type {accessor.type!r} of component {accessor.componentType} does not exist", place
            )
        count = accessor.count
        self._budget.charge(count * width * dtype.itemsize, place)
        if accessor.bufferView is None:
            values = np.zeros((count, width), dtype)
        else:
            values = self._strided(accessor, accessor.bufferView, accessor.byteOffset, dtype, width, place)
        if accessor.sparse is not None:
            values = self._filled(values, accessor, accessor.sparse, place)
        return values

    def _strided(
        self, accessor: Accessor, view_index: int, offset: int, dtype: np.dtype[Any], width: int, place: str
    ) -> Array:
        data, stride = self.view(view_index, place)
        count = accessor.count
        padded = PADDED.get((accessor.type, dtype.itemsize))
        size = width * dtype.itemsize if padded is None else padded[1] * padded[2]
        step = stride or size
        if step < size and count > 1:
            raise self.refuse(f"elements of {size} bytes overlap at a stride of {step}", place)
        if count and offset + (count - 1) * step + size > len(data):
            raise self.refuse(
                f"{count} elements from byte {offset} reach past the {len(data)} bytes of "
                f"bufferViews[{view_index}]",
                place,
            )
        if not count:
            return np.zeros((0, width), dtype)
        if padded is not None:
            rows, columns, column_size = padded
            matrices: Array = np.ndarray(
                (count, columns, rows), dtype, data, offset, (step, column_size, dtype.itemsize)
            )
            out: Array = matrices.reshape(count, width)
            return out
        values: Array = np.ndarray((count, width), dtype, data, offset, (step, dtype.itemsize))
        return values if step == size and values.flags.aligned else np.array(values)

    def _filled(self, base: Array, accessor: Accessor, sparse: Sparse, place: str) -> Array:
        indices, values = self.sparse_parts(accessor, sparse, base.shape[1], base.dtype, place)
        out = base if base.flags.writeable and base.flags.owndata else base.copy()
        out[indices] = values
        return out

    def sparse_parts(
        self, accessor: Accessor, sparse: Sparse, width: int, dtype: np.dtype[Any], place: str
    ) -> tuple[Array, Array]:
        """The indices `(D,)` and values `(D, C)` of a sparse accessor."""
        index_type = COMPONENTS.get(sparse.indices.componentType)
        if index_type is None or index_type.kind != "u":
            raise self.refuse("sparse indices must be unsigned integers", place)
        if sparse.count > accessor.count:
            raise self.refuse(f"has {sparse.count} sparse values for {accessor.count} elements", place)
        self._budget.charge(sparse.count * (width * dtype.itemsize + index_type.itemsize), place)
        scalar = Accessor(sparse.indices.componentType, sparse.count, "SCALAR")
        packed = Accessor(accessor.componentType, sparse.count, accessor.type)
        indices = self._strided(
            scalar, sparse.indices.bufferView, sparse.indices.byteOffset, index_type, 1, f"{place}.sparse"
        )[:, 0]
        values = self._strided(
            packed, sparse.values.bufferView, sparse.values.byteOffset, dtype, width, f"{place}.sparse"
        )
        if len(indices) and int(indices.max()) >= accessor.count:
            raise self.refuse(f"sparse index {indices.max()} is outside its {accessor.count} elements", place)
        return indices, values

    def view(self, index: int, place: str) -> tuple[memoryview, int | None]:
        """The bytes of a buffer view and its stride, unpacked where they are compressed."""
        found = self._view_data.get(index)
        if found is None:
            if index >= len(self._views):
                raise self.refuse(f"bufferViews[{index}] does not exist", place)
            view = self._views[index]
            found = self._view_data[index] = (self._view(view, f"bufferViews[{index}]"), view.byteStride)
        return found

    def _view(self, view: BufferView, place: str) -> memoryview:
        if view.extensions:
            name = next((e for e in meshopt.EXTENSIONS if e in view.extensions), None)
            # A file that does not require the extension carries the same data unpacked.
            if name is not None and (name in self._required or meshopt.installed()):
                return self._unpacked(view, view.extensions[name], place)
        return self._cut(self.buffer(view.buffer, place), view.byteOffset, view.byteLength, place)

    def _unpacked(self, view: BufferView, packed: msgspec.Raw, place: str) -> memoryview:
        try:
            how = _meshopt_decoder.decode(packed)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise self.refuse(f"meshopt compression: {error}", place) from None
        if how.count * how.byteStride > view.byteLength:
            raise self.refuse(f"unpacks to more than its {view.byteLength} bytes", place)
        self._budget.charge(how.count * how.byteStride, place)
        data = self._cut(self.buffer(how.buffer, place), how.byteOffset, how.byteLength, place)
        return memoryview(meshopt.unpack(data, how, self._source.path, place))

    def _cut(self, data: memoryview, offset: int, length: int, place: str) -> memoryview:
        if offset + length > len(data):
            raise self.refuse(
                f"bytes {offset}..{offset + length} reach past the {len(data)} bytes of their buffer", place
            )
        return data[offset : offset + length]

    def buffer(self, index: int, place: str) -> memoryview:
        """The bytes of a buffer: the GLB's own chunk, a data URI or a file beside this one."""
        found = self._buffer_data.get(index)
        if found is not None:
            return found
        if index >= len(self._buffers):
            raise self.refuse(f"buffers[{index}] does not exist", place)
        buffer = self._buffers[index]
        if buffer.uri is None:
            if index != 0 or self._chunk is None:
                raise self.refuse("has neither a URI nor a binary chunk", f"buffers[{index}]")
            data = self._chunk
        elif buffer.uri[:5].lower() == "data:":
            data = memoryview(data_uri(buffer.uri, self._source.path, f"buffers[{index}]")[1])
        else:
            try:
                data = memoryview(self._source.neighbour(buffer.uri))
                self._budget.size += len(data)
            except ResourceLimitError:
                raise
            except FormatError as error:
                what = f"needs the file {buffer.uri!r}: {error.message}"
                raise FormatError(
                    what, path=self._source.path, place=f"buffers[{index}]", remedy=error.remedy
                ) from None
        if len(data) < buffer.byteLength:
            raise self.refuse(
                f"is cut off: it should have {buffer.byteLength} bytes and has {len(data)}",
                f"buffers[{index}]",
            )
        found = data[: buffer.byteLength]
        self._buffer_data[index] = found
        return found


def normalized_floats(raw: Array, normalized: bool) -> Array:
    """float32 of integer components: as they are, or as fractions of their largest value."""
    out = raw.astype(np.float32)
    if normalized and raw.dtype.kind in "iu":
        out /= np.float32(np.iinfo(raw.dtype).max)
        if raw.dtype.kind == "i":
            np.maximum(out, np.float32(-1), out=out)
    out.flags.writeable = False
    return out


_DATA_URI = re.compile(r"data:([^,;]*)((?:;[^,;]*)*),", re.IGNORECASE)


def data_uri(uri: str, path: object, place: str) -> tuple[str, bytes]:
    """The media type and the bytes of a `data:` URI."""
    head = _DATA_URI.match(uri)
    if head is None:
        raise FormatError("its data URI is malformed", path=path, place=place)
    payload = uri[head.end() :]
    if not head[2].lower().endswith(";base64"):
        return head[1].lower(), unquote_to_bytes(payload)
    try:
        raw = unquote_to_bytes(payload) if "%" in payload else payload.encode("ascii")
        raw = raw.translate(None, b" \t\r\n\f\v=")  # no list of pieces: there may be as many as letters
        return head[1].lower(), base64.b64decode(raw + b"=" * (-len(raw) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"its data URI is not base64: {error}", path=path, place=place) from None
