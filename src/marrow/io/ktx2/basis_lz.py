"""ETC1S textures of Basis Universal: palettes of colours and patterns for the whole file, and slices of indices into
them."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.images import Undecodable
from marrow.io.ktx2.container import Ktx2
from marrow.kernels.textures.basis_lz import etc1s_endpoints, etc1s_selectors, etc1s_slice

__all__ = ["decode_etc1s"]

Array = NDArray[Any]
_GLOBALS = struct.Struct("<2H4I")
_IMAGE = struct.Struct("<5I")
_P_FRAME = 2
_GREEN_CHANNEL = 4
_STEPS = np.array(
    [(-8, -2, 2, 8), (-17, -5, 5, 17), (-29, -9, 9, 29), (-42, -13, 13, 42), (-60, -18, 18, 60),
     (-80, -24, 24, 80), (-106, -33, 33, 106), (-183, -47, 47, 183)]
)  # fmt: skip
_ORDER = (17, 18, 19, 20, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15, 16)
"""The order in which lengths of codes for lengths are given."""
_RUNS = {17: (3, 3), 18: (7, 11), 19: (2, 3), 20: (7, 7)}
"""Codes for runs of zeros (17, 18) and of the last length (19, 20): how many bits say how long, and the shortest."""
_LONGEST = 16


def decode_etc1s(file: Ktx2, level: int) -> Array:
    """The pixels of a level, `(H, W, 4)` uint8, of whole blocks."""
    at, length = file.globals
    head = file.data[at : at + length]
    count = len(file.levels)
    if len(head) < _GLOBALS.size + count * _IMAGE.size:
        raise Undecodable("the KTX2 header is cut short")
    endpoint_count, selector_count, *sizes = _GLOBALS.unpack_from(head)
    flags, color_at, color_size, alpha_at, alpha_size = _IMAGE.unpack_from(
        head, _GLOBALS.size + level * _IMAGE.size
    )
    if flags & _P_FRAME:
        raise Undecodable("the KTX2 image is a frame of a video")
    begin = _GLOBALS.size + count * _IMAGE.size
    parts = []
    for size in sizes[:3]:
        if begin + size > len(head):
            raise Undecodable("the KTX2 data is cut short")
        parts.append(head[begin : begin + size])
        begin += size
    if not endpoint_count or not selector_count:
        raise Undecodable("its palettes are empty")
    colors = _colors(_endpoints(parts[0], endpoint_count))
    patterns = _selectors(parts[1], selector_count)
    tables, history = _slice_tables(parts[2])
    width, height = file.size(level)
    shape = (height + 3) // 4, (width + 3) // 4
    offset, length = file.levels[level]
    data = file.data[offset : offset + length]

    def slice_of(first: int, size: int) -> Array:
        if first + size > len(data):
            raise Undecodable("the KTX2 data is cut short")
        return _slice(data[first : first + size], tables, history, colors, patterns, shape)

    pixels = slice_of(color_at, color_size)
    if alpha_size:
        second = slice_of(alpha_at, alpha_size)[..., 1]
        if _GREEN_CHANNEL in file.channels:
            pixels[..., 1], pixels[..., 2] = second, 0
        else:
            pixels[..., 3] = second
    return pixels


def _slice(
    data: bytes, tables: Array, history: int, colors: Array, patterns: Array, shape: tuple[int, int]
) -> Array:
    endpoints, selectors = np.empty(shape, np.int32), np.empty(shape, np.int32)
    above, used = np.zeros((2, shape[1]), np.int32), np.zeros(history, np.int32)
    wrong, end = etc1s_slice(
        _padded(data), tables, len(colors), len(patterns), used, above, endpoints, selectors
    )
    _check_end(end, data)
    if wrong:
        raise Undecodable(f"the KTX2 data is damaged (ETC1S, {wrong})")
    # Texels as whole numbers of four octets: one lookup each.
    texels = colors[endpoints[..., None], patterns[selectors]].reshape(*shape, 4, 4)
    whole = np.ascontiguousarray(texels.transpose(0, 2, 1, 3)).reshape(shape[0] * 4, shape[1] * 4)
    return whole.view(np.uint8).reshape(*whole.shape, 4)


def _colors(endpoints: Array) -> Array:
    """The four colours of each endpoint, `(E, 4)`, each four octets in one number."""
    base = endpoints[:, :3].astype(np.int64)
    base = (base << 3) | (base >> 2)
    made = np.full((len(base), 4, 4), 255, np.uint8)
    made[..., :3] = np.clip(base[:, None] + _STEPS[endpoints[:, 3]][..., None], 0, 255)
    return made.view(np.uint32)[..., 0]


def _endpoints(data: bytes, count: int) -> Array:
    bits = _Bits(data)
    order = [bits.table() for _ in range(4)]
    grey = bits.take(1)
    found = np.zeros((count, 4), np.uint8)
    (end,) = etc1s_endpoints(_padded(data), np.stack(order), grey, bits.at, found)
    _check_end(end, data)
    return found


def _selectors(data: bytes, count: int) -> Array:
    """Which of the four colours each texel has, `(S, 16)`."""
    bits = _Bits(data)
    if bits.take(2):
        raise Undecodable("it uses palettes that no file has had since 2020")
    raw = bits.take(1)
    table = np.zeros(1 << _LONGEST, np.uint32) if raw else bits.table(empty=count == 1)
    rows = np.zeros((count, 4), np.uint8)
    (end,) = etc1s_selectors(_padded(data), table, raw, bits.at, rows)
    _check_end(end, data)
    return ((rows[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(count, 16)


def _slice_tables(data: bytes) -> tuple[Array, int]:
    bits = _Bits(data)
    tables = np.stack([bits.table() for _ in range(4)])
    history = bits.take(13)
    if not history:
        raise Undecodable("the KTX2 data is damaged: it has no history of patterns")
    return tables, history


def _padded(data: bytes) -> Array:
    return np.frombuffer(data + bytes(8), np.uint8)


def _check_end(at: int, data: bytes) -> None:
    if at > 8 * len(data):
        raise Undecodable("the KTX2 data is cut short")


class _Bits:
    """Bits from the lowest of the first byte on."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> int:
        first = self.at >> 3
        piece = int.from_bytes(self.data[first : first + 4], "little")
        found = (piece >> (self.at & 7)) & ((1 << count) - 1)
        self.at += count
        _check_end(self.at, self.data)
        return found

    def table(self, *, empty: bool = False) -> Array:
        """A Huffman table, as `kernels.textures.basis_lz` has it."""
        total = self.take(14)
        if not total:
            if empty:
                return np.zeros(1 << _LONGEST, np.uint32)
            raise Undecodable("the KTX2 data is damaged: a table without symbols")
        count = self.take(5)
        if not 1 <= count <= len(_ORDER):
            raise Undecodable("the KTX2 data is damaged: a table of codes")
        given = np.zeros(len(_ORDER), np.int64)
        for k in range(count):
            given[_ORDER[k]] = self.take(3)
        codes = _lookup(given).tolist()
        lengths: list[int] = []
        while len(lengths) < total:
            first = self.at >> 3
            piece = int.from_bytes(self.data[first : first + 3], "little") >> (self.at & 7)
            entry = codes[piece & 0xFFFF]
            self.at += entry & 31
            symbol = entry >> 5
            if symbol <= _LONGEST:
                lengths.append(symbol)
                continue
            bits, least = _RUNS[symbol]
            run = self.take(bits) + least
            if symbol > 18 and (not lengths or not lengths[-1]):
                raise Undecodable("the KTX2 data is damaged: a table of codes")
            lengths += [0 if symbol <= 18 else lengths[-1]] * run
        if len(lengths) != total:
            raise Undecodable("the KTX2 data is damaged: a table of codes")
        _check_end(self.at, self.data)
        return _lookup(np.array(lengths))


def _lookup(lengths: Array) -> Array:
    """The symbol and the length of its code for every 16 bits that may follow."""
    used = int(np.count_nonzero(lengths))
    shares = (1 << (_LONGEST - lengths[lengths > 0])).sum()
    if not used or shares > 1 << _LONGEST or (shares != 1 << _LONGEST and used != 1):
        raise Undecodable("the KTX2 data is damaged: codes that are no prefix code")
    table = np.zeros(1 << _LONGEST, np.uint32)
    # One code alone may leave others without a meaning: they count as it, so that reading goes on.
    if used == 1:
        symbol = int(np.flatnonzero(lengths)[0])
        table[:] = symbol << 5 | int(lengths[symbol])
        return table
    code = 0
    for n in range(1, _LONGEST + 1):
        symbols = np.flatnonzero(lengths == n)
        codes = code + np.arange(len(symbols))
        turned = np.zeros_like(codes)
        for k in range(n):
            turned |= ((codes >> k) & 1) << (n - 1 - k)
        table.reshape(-1, 1 << n)[:, turned] = (symbols << 5) | n
        code = (code + len(symbols)) << 1
    return table
