"""`PackedWriter`: whole numbers and floats laid out so that deflate makes them small. `web/src/local/packing.ts`
reads them.

Whole numbers are told by their differences, each in a byte where it is small (255 says that the rest of it is among
the wide ones). What is alike lies together: all bytes, all wide numbers, all floats (by their bytes, all first ones
first).
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "PackedWriter", "deflated", "differences"]

Array = NDArray[Any]
ESCAPE = 255
ORDERS = 3
"""How many ways there are to tell numbers: as they are, by differences, by differences of differences."""


def deflated(data: bytes | memoryview) -> bytes:
    """As `DecompressionStream("deflate")` reads it."""
    return zlib.compress(data, 9)


class PackedWriter:
    """Gathers numbers; `packed()` are all of them."""

    def __init__(self) -> None:
        self._states: list[bytes] = []
        self._floats: list[Array] = []
        self._bytes: list[bytes] = []
        self._wide: list[Array] = []

    def states(self, values: Any) -> None:
        """Small numbers that say how others are told, 0 to 255."""
        self._states.append(np.asarray(values, np.uint8).tobytes())

    def floats(self, values: Any) -> None:
        """Numbers as they are, float32."""
        self._floats.append(np.asarray(values, "<f4").ravel())

    def whole(self, values: Array) -> None:
        """Whole numbers, of 32 bits with their sign, as they are."""
        values = np.asarray(values, np.int64).ravel()
        zigzag = (values << 1) ^ (values >> 63)
        if zigzag.size and int(zigzag.max()) > 0xFFFFFFFF:
            raise ValueError("a number has more than 32 bits")
        self._bytes.append(np.minimum(zigzag, ESCAPE).astype(np.uint8).tobytes())
        self._wide.append((zigzag[zigzag >= ESCAPE] - ESCAPE).astype("<u4"))

    def column(self, columns: Columns, k: int) -> int:
        """Whole numbers over time, in the way that makes them smallest; returns its number, for `states`."""
        self._bytes.append(columns.small[k].tobytes())
        if columns.wide[k]:
            zigzag = columns.zigzag[k]
            self._wide.append((zigzag[zigzag >= ESCAPE] - ESCAPE).astype("<u4"))
        return columns.orders[k]

    def packed(self) -> bytes:
        """Everything, deflated."""
        floats = np.concatenate(self._floats or [np.zeros(0, "<f4")])
        wide = np.concatenate(self._wide or [np.zeros(0, "<u4")])
        parts = [
            b"".join(self._states),
            floats.view(np.uint8).reshape(-1, 4).T.tobytes(),
            b"".join(self._bytes),
            wide.view(np.uint8).reshape(-1, 4).T.tobytes(),
        ]
        return deflated(struct.pack("<4I", *map(len, parts)) + b"".join(parts))


class Columns:
    """Columns of whole numbers `(F, C)`, each told by the differences that are smallest: `orders (C,)` of them."""

    def __init__(self, whole: Array) -> None:
        told = np.stack([differences(whole, order) for order in range(ORDERS)])
        orders = np.log2(1.0 + np.abs(told)).sum(axis=1).argmin(axis=0)
        chosen = np.take_along_axis(told, orders[None, None], axis=0)[0].T
        self.zigzag = (chosen << 1) ^ (chosen >> 63)
        self.small = np.ascontiguousarray(np.minimum(self.zigzag, ESCAPE).astype(np.uint8))
        self.wide = (self.zigzag >= ESCAPE).any(axis=1).tolist()
        self.orders: list[int] = orders.tolist()


def differences(values: Array, order: int) -> Array:
    """Of rows, `order` times; the first row is a difference to zero each time."""
    values = np.asarray(values, np.int64)
    for _ in range(order):
        values = np.diff(values, axis=0, prepend=np.zeros((1, *values.shape[1:]), np.int64))
    return values
