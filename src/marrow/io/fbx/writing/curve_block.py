"""Animation curves, laid out many at once by a kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.document import object_title
from marrow.io.fbx.writing.records import PACKED, RecordBlock, packed_bytes
from marrow.kernels.curve_records import curve_records, curve_runs

__all__ = ["CurveBlock"]

Array = NDArray[Any]
_DEFAULT_WEIGHTS = float(np.array([0x0D050D05], np.uint32).view(np.float32)[0])
"""A third each, as two decimal fractions."""
_ARRAYS = (
    (b"l", b"KeyTime"),
    (b"f", b"KeyValueFloat"),
    (b"i", b"KeyAttrFlags"),
    (b"f", b"KeyAttrDataFloat"),
    (b"i", b"KeyAttrRefCount"),
)
_TITLE = object_title("", "AnimCurve").encode()
_WORDS = [
    b"AnimationCurve",
    b"S" + len(_TITLE).to_bytes(4, "little") + _TITLE + b"S" + bytes(4),
    b"Default",
    b"KeyVer",
    *(code + name for code, name in _ARRAYS),
]
_TEXT = np.frombuffer(b"".join(_WORDS), np.uint8)
_BOUNDS = np.concatenate([[0], np.cumsum([len(word) for word in _WORDS])]).astype(np.int64)


@dataclass
class CurveBlock(RecordBlock):
    """Curves of properties one after the other. Property p has the keys `starts[p] .. starts[p + 1] - 1` of `ticks (n,)`,
    `values (n, 3)`, `kind (n, 3)`, `slopes (n, 3, 2)`, of which the first `width[p]` columns count, all of its keys where
    `whole[p]`. Curves have the numbers from `first` on."""

    first: int
    starts: Array
    width: Array
    whole: Array
    ticks: Array
    values: Array
    kind: Array
    slopes: Array
    name: str = "AnimationCurve"
    count: int = 0
    _arrays: Array = field(init=False)
    _pool: Array = field(init=False)
    _defaults: Array = field(init=False)

    def __post_init__(self) -> None:
        self.count = int(self.width.sum())

    def pack(self) -> None:
        most = int((np.diff(self.starts) * self.width).sum())
        numbers, flags = np.empty(most, np.float32), np.empty(most, np.int32)
        data, counts = np.empty((most, 4), np.float32), np.empty(most, np.int32)
        table = np.empty((self.count, 4), np.int64)
        used, runs = curve_runs(
            self.starts, self.width, self.whole, self.values, self.kind, self.slopes, _DEFAULT_WEIGHTS, numbers, flags,
            data, counts, table,
        )  # fmt: skip
        self._defaults = numbers[table[:, 0]].astype(np.float64).view(np.int64)
        parts = [numbers[:used], flags[:runs], data[:runs].ravel(), counts[:runs]]
        pool = _Pool()
        arrays = np.zeros((self.count, 5, 4), np.int64)
        for k, (part, at, n, size) in enumerate(zip(parts, (0, 2, 2, 2), (1, 3, 3, 3), (1, 1, 4, 1)), 1):
            arrays[:, k] = pool.pieces(part, size * table[:, at], size * table[:, n])
        arrays[:, 0] = self._times(table, pool)
        self._arrays, self._pool = arrays, pool.bytes()
        # What is left of the keys is in the pool.
        self.ticks = self.values = self.kind = self.slopes = np.zeros(0)

    def _times(self, table: Array, pool: _Pool) -> Array:
        """The array of moments of each curve. Most properties of a clip share theirs."""
        rows = np.empty((self.count, 4), np.int64)
        known: dict[bytes, Array] = {}
        c = 0
        bounds, widths = self.starts.tolist(), self.width.tolist()
        keys = table[:, 1].tolist()
        for p, width in enumerate(widths):
            ticks = self.ticks[bounds[p] : bounds[p + 1]]
            for n in dict.fromkeys(keys[c : c + width]):
                raw = ticks[:n].tobytes()
                if raw not in known:
                    known[raw] = pool.pieces(ticks[:n], np.zeros(1, np.int64), np.array([n]))[0]
                found = known[raw]
                for k in range(c, c + width):
                    if keys[k] == n:
                        rows[k] = found
            c += width
        return rows

    def laid_out(self, at: int, wide: bool) -> memoryview:
        width = 8 if wide else 4
        head = 3 * width + 1
        fixed = int(_BOUNDS[-1]) - 5 + 9 * head + 9 + 9 + 5 + 5 * 13
        out = np.empty(fixed * self.count + int(self._arrays[:, :, 1].sum()), np.uint8)
        numbers = self.first + np.arange(self.count, dtype=np.int64)
        written = curve_records(
            numbers, self._arrays, self._pool, self._defaults, _TEXT, _BOUNDS, at, width, out
        )[0]
        assert written == len(out)
        return memoryview(out)


class _Pool:
    """Bytes that array properties are made of."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._size = 0

    def _add(self, data: Any) -> int:
        first = self._size
        self._parts.append(data)
        self._size += len(data)
        return first

    def pieces(self, values: Array, first: Array, count: Array) -> Array:
        """Array properties `(n, 4)` (first byte, length, count of numbers, packed) of pieces of `values`."""
        raw = memoryview(np.ascontiguousarray(values)).cast("B") if len(values) else memoryview(b"")
        size = values.dtype.itemsize
        base = self._add(raw)
        rows = np.stack([base + first * size, count * size, count, np.zeros_like(count)], axis=1)
        for k in np.flatnonzero(count * size >= PACKED).tolist():
            begin = int(first[k]) * size
            packed = packed_bytes(raw[begin : begin + int(count[k]) * size])
            if packed is not None:
                rows[k] = self._add(packed), len(packed), count[k], 1
        return rows

    def bytes(self) -> Array:
        return np.frombuffer(b"".join(self._parts), np.uint8)
