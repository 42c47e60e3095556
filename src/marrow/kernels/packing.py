"""Writing packed motion (`packed_layout`): polynomials under the numbers of each segment, and bits; and frames from these."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.annotations import ANY, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.packed_lanes import put_packed, put_packed_apart, put_packed_morphs
from marrow.kernels.packed_layout import SEGMENTS

__all__ = ["FIT", "fit_segments", "least_squares", "sample_packed", "write_segments"]

FIT = 17
"""Whole numbers that say how a track is written in a segment: its degree, the width of its coefficients; and for each component its width, its
constant and three coefficients."""
LARGEST = 1 << 18
"""Coefficients are smaller than this."""


def _shapes(k: int) -> list[int]:
    d = k - 8
    return [1024, 128 * d, 24 * d * d - 512, 5 * d**3 - 192 * d]


@lru_cache(maxsize=1)
def least_squares() -> NDArray[Any]:
    """What numbers of a segment are multiplied by to give the coefficients of the polynomial nearest to them, `(17, 4, 4, 16)`: for segments of 0 to 16
    frames and degrees from 0 to 3. Computed exactly."""
    out = np.zeros((17, 4, 4, 16))
    for n in range(1, 17):
        for degree in range(min(4, n)):
            basis = [[Fraction(x, 1024) for x in _shapes(k)[: degree + 1]] for k in range(n)]
            count = degree + 1
            rows = [
                [sum(b[i] * b[j] for b in basis) for j in range(count)] + [b[i] for b in basis] for i in range(count)
            ]
            for i in range(count):  # Gauss and Jordan; the matrix is positive
                rows[i] = [x / rows[i][i] for x in rows[i]]
                for other in range(count):
                    if other != i:
                        factor = rows[other][i]
                        rows[other] = [x - factor * y for x, y in zip(rows[other], rows[i])]
            for i in range(count):
                out[n, degree, i, :n] = [float(x) for x in rows[i][count:]]
    return out


def width_of(x):
    """The bits that a number from 0 on takes."""
    width = 0
    while x > 0:
        x = x >> 1
        width += 1
    return width


def signed_width(x):
    """The width of which `-(1 << w >> 1) <= x < (1 << w) - (1 << w >> 1)`."""
    if x == 0:
        return 0
    return 1 + width_of(x if x > 0 else -x - 1)


def predicted(a, b, c, k):
    d = k - 8
    return (a * (128 * d) + b * (24 * d * d - 512) + c * (5 * d * d * d - 192 * d) + 512) >> 10


def fit_component(numbers, at, stride, n, squares, degree, fit, f):
    """The coefficients of one component, its width and its constant, into `fit` at `f`. Returns its width, and that of its coefficients."""
    widest = 0
    for i in range(1, 4):
        value = 0
        if i <= degree:
            x = 0.0
            for k in range(n):
                x += squares[n, degree, i, k] * numbers[at + k * stride]
            value = int(np.floor(min(max(x, 1.0 - LARGEST), LARGEST - 1.0) + 0.5))
            widest = max(widest, signed_width(value))
        fit[f + 1 + i] = value
    low, high = 0, 0
    for k in range(n):
        left = numbers[at + k * stride] - predicted(fit[f + 2], fit[f + 3], fit[f + 4], k)
        low = left if k == 0 else min(low, left)
        high = left if k == 0 else max(high, left)
    fit[f], fit[f + 1] = width_of(high - low), low
    return fit[f], widest


@kernel
def fit_segments(
    numbers: i4[ANY],
    track_column: i4[ANY],
    squares: f8[ANY, ANY, ANY, ANY],
    fit: Out[i4[ANY]],
    room: Out[i4[FIT]],
    columns: int,
    frames: int,
    first: int,
    last: int,
) -> int:
    """How each track is written in the segments `first..last`: with the degree that takes the fewest bits. `track_column` has where the numbers of each
    track begin, and its end."""
    tracks = len(track_column) - 1
    for s in range(first, last):
        n = min(16, frames - 16 * s)
        for t in range(tracks):
            at, count = 16 * s * columns + track_column[t], track_column[t + 1] - track_column[t]
            best, f = 1 << 30, FIT * (s * tracks + t)
            for degree in range(min(4, n)):
                bits, widest = 0, 0
                for c in range(count):
                    width, own = fit_component(numbers, at + c, columns, n, squares, degree, room, 2 + 5 * c)
                    bits += n * width
                    widest = max(widest, own)
                bits += count * degree * widest
                if bits < best:
                    best = bits
                    room[0], room[1] = degree, widest
                    for k in range(2 + 5 * count):
                        fit[f + k] = room[k]
    return 0


def put_bits(words, bit, value, width, powers):
    """Writes a number behind what is there; returns where it ends."""
    if width > 0:
        moved = (value & (powers[width] - 1)) * powers[bit & 31]
        at = bit >> 5
        words[at] = words[at] | moved
        words[at + 1] = words[at + 1] | (moved >> 32)
    return bit + width


@kernel
def write_segments(
    words: Out[i4[ANY]],
    numbers: i4[ANY],
    fit: i4[ANY],
    track_column: i4[ANY],
    constant_width: i4[ANY],
    starts: i4[ANY],
    blocks: i4[ANY],
    described: i4[ANY],
    codes: i4[ANY],
    table: Out[i4[ANY]],
    powers: i8[64],
    columns: int,
    frames: int,
    begin: int,
    segments: int,
) -> int:
    """Writes the segments, from word `begin` on. `blocks` has the first track of each block, and the end; `described` the components that a block
    describes; `starts` the floats that constants of 32 bits are, one for each segment and column. Returns where they end, or a negative number where
    there is no room."""
    tracks, count = len(track_column) - 1, len(blocks) - 1
    at = begin
    for s in range(segments):
        n = min(16, frames - 16 * s)
        table[s] = at
        if at + 2 + count > len(words):
            return -1
        words[at] = words[at] | (codes[s] & 255)
        bit = 32 * (at + 1 + ((count + 1) >> 1))
        for b in range(count):
            begun = (bit >> 5) - at
            if begun > 65535 or (bit >> 5) + 256 * (blocks[b + 1] - blocks[b]) + 64 > len(words):
                return -1 if begun <= 65535 else -2
            put_bits(words, 32 * (at + 1) + 16 * b, begun, 16, powers)
            for t in range(blocks[b], blocks[b + 1]):
                f = FIT * (s * tracks + t)
                first = track_column[t]
                c = 0
                for k in range(described[b]):
                    there = constant_there(constant_width, t, k)
                    bit = put_bits(words, bit, fit[f + 2 + 5 * c] if there else 0, 5, powers)
                    c += 1 if there else 0
                bit = put_bits(words, bit, fit[f + 1], 5, powers)
                bit = put_bits(words, bit, fit[f], 2, powers)
            for t in range(blocks[b], blocks[b + 1]):
                f, wide = FIT * (s * tracks + t), constant_width[t] & 31
                for c in range(track_column[t + 1] - track_column[t]):
                    at_c = f + 2 + 5 * c
                    if wide == 31:
                        value = starts[s * columns + track_column[t] + c]
                        bit = put_bits(words, bit, value, 16, powers)
                        bit = put_bits(words, bit, value >> 16, 16, powers)
                    else:
                        bit = put_bits(words, bit, fit[at_c + 1] + ((powers[wide]) >> 1), wide, powers)
                    own = fit[f + 1]
                    for i in range(fit[f]):
                        bit = put_bits(words, bit, fit[at_c + 2 + i] + (powers[own] >> 1), own, powers)
            for k in range(n):
                for t in range(blocks[b], blocks[b + 1]):
                    f = FIT * (s * tracks + t)
                    for c in range(track_column[t + 1] - track_column[t]):
                        at_c = f + 2 + 5 * c
                        base = fit[at_c + 1] + predicted(fit[at_c + 2], fit[at_c + 3], fit[at_c + 4], k)
                        value = numbers[(16 * s + k) * columns + track_column[t] + c] - base
                        bit = put_bits(words, bit, value, fit[at_c], powers)
            bit = ((bit + 31) >> 5) << 5
        at = bit >> 5
    return at


def constant_there(constant_width, t, k):
    """Whether a track has the component `k`: bits 5 to 7 of its width say so."""
    x = constant_width[t]
    if k == 0:
        return (x & 32) != 0
    if k == 1:
        return (x & 64) != 0
    return (x & 128) != 0


@kernel
def sample_packed(
    packed: i4[ANY],
    bank: f4[ANY],
    query: f8[ANY],
    rows: Out[f4[ANY]],
    record: int,
    base: int,
    frames: int,
    Jp: int,
    Mp: int,
) -> int:
    """Pose rows of a packed clip at times counted in frames, one behind the other."""
    size = 10 * Jp + Mp
    table = record + packed[record + SEGMENTS]
    for q in range(len(query)):
        # What is not a number is the beginning.
        u = min(query[q], frames - 1.0) if query[q] > 0.0 else 0.0
        f = min(int(u), max(frames - 2, 0))
        g = f + 1 if frames > 1 else f
        a, b = record + packed[table + (f >> 4)], record + packed[table + (g >> 4)]
        k, l, top = f & 15, g & 15, q * size
        if a == b:
            put_packed.each(0, Jp, 16, Jp, packed, record, bank, base, a, k, b, l, u - f, 1.0, rows, top)
        else:
            put_packed_apart.each(0, Jp, 16, Jp, packed, record, bank, base, a, k, b, l, u - f, 1.0, rows, top)
        put_packed_morphs.each(0, Mp, 16, Jp, packed, record, bank, base, a, k, b, l, u - f, 1.0, rows, top)
    return len(query)
