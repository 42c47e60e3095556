"""Whole numbers in lanes with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marrow.kernels.language.lanes import LANES

__all__ = ["NumpyWhole", "NumpyWholeLanes"]


def _raw(value: Any) -> Any:
    return value.value if isinstance(value, NumpyWhole) else np.uint32(value & 0xFFFFFFFF)


class NumpyWhole:
    """16 whole numbers of 32 bits, `(..., 16)`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value, np.uint32)

    def __add__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value + _raw(other))

    def __sub__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value - _raw(other))

    def __rsub__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(_raw(other) - self.value)

    def __mul__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value * _raw(other))

    def __and__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value & _raw(other))

    def __or__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value | _raw(other))

    __radd__, __rmul__ = __add__, __mul__

    def __lshift__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value << (_raw(other) & np.uint32(31)))

    def __rlshift__(self, other: int) -> NumpyWhole:
        return NumpyWhole(_raw(other) << (self.value & np.uint32(31)))

    def __rshift__(self, other: Any) -> NumpyWhole:
        return NumpyWhole(self.value >> (_raw(other) & np.uint32(31)))

    def down(self, count: Any) -> NumpyWhole:
        by = (_raw(count) & np.uint32(31)).astype(np.int32)
        return NumpyWhole((self.value.view(np.int32) >> by).view(np.uint32))

    def compare(self, how: str, other: Any) -> Any:
        a, b = self.value.view(np.int32), np.asarray(_raw(other)).view(np.int32)
        return a == b if how == "==" else a != b if how == "!=" else a < b


class NumpyWholeLanes:
    """What the NumPy emitter does with whole numbers; see `Formulas`."""

    def half(self, array: Any, offset: Any, number: Any) -> Any:
        at = 2 * np.asarray(offset) + number
        halves = array.view(np.uint16)
        return halves[np.minimum(at, len(halves) - 1)].astype(np.int64) if np.ndim(at) else int(halves[at])

    def octet(self, array: Any, number: Any) -> Any:
        octets = array.view(np.uint8)
        if not np.ndim(number):
            return int(octets[number])
        return octets[np.minimum(number, len(octets) - 1)].astype(np.int64)

    def part(self, number: Any, first: int, count: int) -> Any:
        return (number >> first) & ((1 << count) - 1)

    def count(self, mask: Any) -> Any:
        return sum((mask >> k) & 1 for k in range(LANES))

    def either(self, a: Any, b: Any) -> Any:
        return a | b

    def any(self, number: Any) -> Any:
        return (number != 0) * 1

    def group(self, i: Any) -> Any:
        return i >> 4

    def lane_numbers(self, i: Any) -> NumpyWhole:
        return NumpyWhole(np.broadcast_to(np.arange(LANES, dtype=np.uint32), (*np.shape(i), LANES)))

    def wholes(self, value: Any) -> NumpyWhole:
        raw = (np.asarray(value, np.int64) & 0xFFFFFFFF).astype(np.uint32)
        return NumpyWhole(np.broadcast_to(raw[..., None], (*raw.shape, LANES)))

    def ranks(self, i: Any, mask: Any) -> Any:
        own = (np.asarray(mask, np.int64)[..., None] >> np.arange(LANES)) & 1
        return np.where(own == 1, np.cumsum(own, axis=-1) - own, 128)

    def picked(self, array: Any, octet: Any, ranks: Any) -> NumpyWhole:
        # Blocks that run side by side may look past the end of those that have nothing there; it is not used.
        octets, at = array.view(np.uint8), np.asarray(octet, np.int64)[..., None] + (ranks & (LANES - 1))
        found = octets[np.minimum(at, len(octets) - 1)]
        return NumpyWhole(np.where(ranks < LANES, found, 0))

    def _gathered(self, array: Any, offset: Any, at: NumpyWhole, size: int) -> Any:
        octet = 4 * np.asarray(offset, np.int64)[..., None] + (at.value >> np.uint32(3)).astype(np.int64)
        octets = array.view(np.uint8)
        word = np.zeros(octet.shape, np.uint64)
        for k in range(size):
            word |= octets[np.minimum(octet + k, len(octets) - 1)].astype(np.uint64) << np.uint64(8 * k)
        return word

    def bits(self, array: Any, offset: Any, at: NumpyWhole, width: int) -> NumpyWhole:
        found = NumpyWhole(self._gathered(array, offset, at, 4).astype(np.uint32))
        return found if width == 32 else (found >> (at & 7)) & ((1 << width) - 1)

    def fields(
        self, array: Any, offset: Any, at: NumpyWhole, widths: Sequence[NumpyWhole]
    ) -> list[NumpyWhole]:
        left = self._gathered(array, offset, at, 8) >> (at & 7).value.astype(np.uint64)
        out = []
        for width in widths:
            out.append(NumpyWhole((left & np.uint64(0xFFFFFFFF)).astype(np.uint32)) & ((1 << width) - 1))
            left = left >> (width & 31).value.astype(np.uint64)
        return out

    def near_fields(
        self, array: Any, octet: Any, at: NumpyWhole, widths: Sequence[NumpyWhole]
    ) -> list[NumpyWhole]:
        return self.fields(
            array, 0, NumpyWhole(8 * np.asarray(octet, np.int64)[..., None] + at.value), widths
        )

    def first(self, x: NumpyWhole) -> Any:
        found = x.value[..., 0].astype(np.int64)
        return found if np.ndim(found) else int(found)

    def ones(self, x: NumpyWhole) -> NumpyWhole:
        v = x.value
        v = v - ((v >> np.uint32(1)) & np.uint32(0x55555555))
        v = (v & np.uint32(0x33333333)) + ((v >> np.uint32(2)) & np.uint32(0x33333333))
        v = (v + (v >> np.uint32(4))) & np.uint32(0x0F0F0F0F)
        return NumpyWhole((v * np.uint32(0x01010101)) >> np.uint32(24))

    def sums(
        self, i: Any, size_of: Callable[[Any, Any], Sequence[NumpyWhole]]
    ) -> list[tuple[NumpyWhole, NumpyWhole]]:
        out = []
        for size in size_of(lambda mask: self.ranks(i, mask), self.lane_numbers(i)):
            running = np.cumsum(size.value, axis=-1, dtype=np.uint32)
            last = np.broadcast_to(running[..., -1:], running.shape)
            out.append((NumpyWhole(running - size.value), NumpyWhole(last)))
        return out
