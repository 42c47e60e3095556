"""Tables of the block formats, after the Khronos Data Format Specification and that of Basis Universal."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.textures.astc import AstcTables, AstcWork

__all__ = ["EAC", "ETC_DISTANCES", "ETC_LEVELS", "astc_tables", "astc_work", "uastc_tables"]

Array = NDArray[Any]
# Bits, trits and quints of the 21 ranges of numbers, from 0 to 1 up to 0 to 255.
_RANGES = np.array(
    [(1, 0, 0), (0, 1, 0), (2, 0, 0), (0, 0, 1), (1, 1, 0), (3, 0, 0), (1, 0, 1), (2, 1, 0), (4, 0, 0), (2, 0, 1), (3,
    1, 0),
     (5, 0, 0), (3, 0, 1), (4, 1, 0), (6, 0, 0), (4, 0, 1), (5, 1, 0), (7, 0, 0), (5, 0, 1), (6, 1, 0), (8, 0, 0)]
)  # fmt: skip
# (trits, quints, bits) -> factor, and the places of the bits from the second on, the highest first.
_COLORS = {
    (1, 0, 1): (204, ""), (1, 0, 2): (93, "b000b0bb0"), (1, 0, 3): (44, "cb000cbcb"), (1, 0, 4): (22, "dcb000dcb"),
    (1, 0, 5): (11, "edcb000ed"), (1, 0, 6): (5, "fedcb000f"), (0, 1, 1): (113, ""), (0, 1, 2): (54, "b0000bb00"),
    (0, 1, 3): (26, "cb0000cbc"), (0, 1, 4): (13, "dcb0000dc"), (0, 1, 5): (6, "edcb0000e"),
}  # fmt: skip
_WEIGHTS = {
    (1, 0, 1): (50, ""), (1, 0, 2): (23, "b000b0b"), (1, 0, 3): (11, "cb000cb"), (0, 1, 1): (28, ""), (0, 1, 2): (13,
    "b0000b0"),
}  # fmt: skip

ETC_LEVELS = np.array([(2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183)])
ETC_DISTANCES = np.array([3, 6, 11, 16, 23, 32, 41, 64])
EAC = np.array(
    [(-3, -6, -9, -15, 2, 5, 8, 14), (-3, -7, -10, -13, 2, 6, 9, 12), (-2, -5, -8, -13, 1, 4, 7, 12), (-2, -4, -6, -13,
    1, 3, 5, 12),
     (-3, -6, -8, -12, 2, 5, 7, 11), (-3, -7, -9, -11, 2, 6, 8, 10), (-4, -7, -8, -11, 3, 6, 7, 10), (-3, -5, -8, -11,
     2, 4, 7, 10),
     (-2, -6, -8, -10, 1, 5, 7, 9), (-2, -5, -8, -10, 1, 4, 7, 9), (-2, -4, -8, -10, 1, 3, 7, 9), (-2, -5, -7, -10, 1,
     4, 6, 9),
     (-3, -4, -7, -10, 2, 3, 6, 9), (-1, -2, -3, -10, 0, 1, 2, 9), (-4, -6, -8, -9, 3, 5, 7, 8), (-3, -5, -7, -9, 2, 4,
     6, 8)]
)  # fmt: skip

# UASTC: what each of the modes 0 to 18 has. Bits of the mode's own code, and the code; bits of hints, of a weight;
# range of colours;
# subsets, planes, parts of a colour.
_CODES = (
    (4, 0x1), (6, 0x35), (5, 0x1D), (5, 0x3), (5, 0x13), (5, 0xB), (5, 0x1B), (5, 0x7), (5, 0x17), (5, 0xF), (3, 0x2),
    (2, 0x0),
    (3, 0x6), (5, 0x1F), (5, 0xD), (7, 0x5), (6, 0x15), (6, 0x25), (4, 0x9),
)  # fmt: skip
_HINTS = (15, 15, 15, 15, 15, 15, 15, 15, 0, 23, 17, 17, 17, 23, 23, 23, 23, 23, 15)
_WEIGHT_BITS = (4, 2, 3, 2, 2, 3, 2, 2, 0, 2, 4, 2, 3, 1, 2, 4, 2, 2, 5)
_COLOR_RANGES = (19, 20, 8, 7, 12, 20, 18, 12, 0, 8, 13, 13, 19, 20, 20, 20, 20, 20, 11)
_SUBSETS = (1, 1, 2, 3, 2, 1, 1, 2, 0, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1)
_PLANES = (1, 1, 1, 1, 1, 1, 2, 1, 0, 1, 1, 2, 1, 2, 1, 1, 1, 2, 1)
_PARTS = (3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 3)
_WEIGHT_RANGES = (0, 0, 2, 5, 8, 11)
"""The range of weights of so many bits."""
# Seeds of the partitions: of two subsets, of two in mode 7, of three.
_SEEDS = (
    (28, 20, 16, 29, 91, 9, 107, 72, 149, 204, 50, 114, 496, 17, 78, 39, 252, 828, 43, 156, 116, 210, 476, 273, 684,
    359, 246, 195,
     694, 524),
    (36, 48, 61, 137, 161, 183, 226, 281, 302, 307, 479, 495, 593, 594, 605, 799, 812, 988, 993),
    (260, 74, 32, 156, 183, 15, 745, 0, 335, 902, 254),
)  # fmt: skip


@cache
def astc_tables() -> AstcTables:
    colors, weights = np.zeros((21, 256), np.uint8), np.zeros((12, 32), np.uint8)
    for k, (bits, trits, quints) in enumerate(_RANGES.tolist()):
        n = (1 + 2 * trits + 4 * quints) << bits
        if bits:  # colours have no ranges of bare trits or quints
            colors[k, :n] = [_unquantized(v, bits, trits, quints, _COLORS, 8) for v in range(n)]
        if k < len(weights):
            weights[k, :n] = [_weight(v, bits, trits, quints) for v in range(n)]
    trits5 = np.array([_trits(t) for t in range(256)], np.uint8)
    quints3 = np.array([_quints(q) for q in range(128)], np.uint8)
    return AstcTables(_RANGES, colors, weights, trits5, quints3)


def astc_work() -> AstcWork:
    return AstcWork(
        np.zeros(128, np.int64), np.zeros(64, np.int64), np.zeros((4, 8), np.int64), np.zeros(4, np.int64)
    )


@cache
def uastc_tables() -> tuple[Array, Array]:
    """`modes (20, 128)` and `seeds (3, 32)` of the kernel `uastc_blocks`."""
    modes, seeds = np.zeros((20, 128), np.uint8), np.full((3, 32), 65535, np.uint16)
    ranges = [_WEIGHT_RANGES[n] for n in _WEIGHT_BITS]
    rows = ([n for n, _ in _CODES], _HINTS, _WEIGHT_BITS, _COLOR_RANGES, _SUBSETS, _PLANES, _PARTS, ranges)
    for row, values in zip(modes, rows):
        row[:19] = values
    modes[19] = 19
    for mode, (length, code) in enumerate(_CODES):
        modes[19, code :: 1 << length] = mode
    for seed, values in zip(seeds, _SEEDS):
        seed[: len(values)] = values
    return modes, seeds


def _unquantized(v: int, bits: int, trits: int, quints: int, factors: dict[Any, Any], width: int) -> int:
    """What a number of a range stands for, in `width` bits."""
    if not trits and not quints:
        out = 0
        for k in range(width):  # the bits again and again, from the highest on
            out = out << 1 | (v >> (bits - 1 - k % bits)) & 1
        return out
    factor, places = factors[trits, quints, bits]
    high, low = v >> bits, v & ((1 << bits) - 1)
    b = 0
    for place in places:
        b = b << 1 | (0 if place == "0" else (low >> (ord(place) - ord("a"))) & 1)
    a = (1 << (width + 1)) - 1 if low & 1 else 0
    t = (high * factor + b) ^ a
    return (a & (1 << (width - 1))) | (t >> 2)


def _weight(v: int, bits: int, trits: int, quints: int) -> int:
    if bits == 0:
        found = (0, 32, 63)[v] if trits else (0, 16, 32, 47, 63)[v]
    else:
        found = _unquantized(v, bits, trits, quints, _WEIGHTS, 6)
    return found + 1 if found > 32 else found


def _trits(t: int) -> tuple[int, ...]:
    if (t >> 2) & 7 == 7:
        c, t4, t3 = (t >> 5) << 2 | t & 3, 2, 2
    else:
        c = t & 31
        t4, t3 = (2, t >> 7) if (t >> 5) & 3 == 3 else (t >> 7, (t >> 5) & 3)
    if c & 3 == 3:
        return (c >> 2) & ~(c >> 3) & 1 | (c >> 3 & 1) << 1, c >> 4, 2, t3, t4
    if (c >> 2) & 3 == 3:
        return c & 3, 2, 2, t3, t4
    return c & ~(c >> 1) & 1 | (c >> 1 & 1) << 1, (c >> 2) & 3, c >> 4, t3, t4


def _quints(q: int) -> tuple[int, ...]:
    if (q >> 1) & 3 == 3 and (q >> 5) & 3 == 0:
        free = 1 - (q & 1)
        return 4, 4, (q & 1) << 2 | ((q >> 4) & free) << 1 | (q >> 3) & free
    if (q >> 1) & 3 == 3:
        c, q2 = ((q >> 3) & 3) << 3 | (3 - ((q >> 5) & 3)) << 1 | q & 1, 4
    else:
        c, q2 = q & 31, (q >> 5) & 3
    if c & 7 == 5:
        return c >> 3, 4, q2
    return c & 7, c >> 3, q2
