"""Writing packed motion (`packed_layout`): polynomials under the numbers of each segment, and bits; and frames from these."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.annotations import ANY, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.sums import sample_record
from marrow.kernels.packed_layout import NEAR_BITS, NEAR_ROW, shapes_at

__all__ = ["CHANNEL", "fit_segments", "least_squares", "sample_packed", "write_segments"]

CHANNEL = 5
"""Whole numbers that say how a channel is written in a segment: its width, its constant, three coefficients."""


def _summed(numbers: list[float]) -> float:
    """Python's `sum` of floats is another in other versions."""
    total = 0.0
    for x in numbers:
        total += x
    return total


@cache
def _solved(length: int, n: int) -> NDArray[Any]:
    """What `n` numbers of a segment of `length` frames are multiplied by to give the coefficients of the polynomial nearest to them, `(4, 4, length)`,
    for degrees from 0 to 3. One operation after the other, so that it has the same bits everywhere."""
    out = np.zeros((4, 4, length))
    for degree in range(min(4, n)):
        count = degree + 1
        basis = [[x / 1024 for x in (1024, *shapes_at(k, length))[:count]] for k in range(n)]
        rows = [
            [_summed([b[i] * b[j] for b in basis]) for j in range(count)] + [b[i] for b in basis]
            for i in range(count)
        ]
        for i in range(count):  # Gauss and Jordan; the matrix is positive
            rows[i] = [x / rows[i][i] for x in rows[i]]
            for other in range(count):
                if other != i:
                    factor = rows[other][i]
                    rows[other] = [x - factor * y for x, y in zip(rows[other], rows[i])]
        for i in range(count):
            out[degree, i, :n] = rows[i][count:]
    return out


def least_squares(length: int, last: int) -> NDArray[Any]:
    """The same for whole segments and for one of `last` frames, `(2, 4, 4, length)`."""
    return np.stack([_solved(length, length), _solved(length, last)])


def width_of(x):
    """The bits that a number from 0 on takes."""
    width = 0
    while x > 0:
        x = x >> 1
        width += 1
    return width


def octets_of(low, high):
    """How many octets numbers between two take."""
    if low >= -128 and high < 128:
        return 1
    if low >= -32768 and high < 32768:
        return 2
    return 3


def predicted(a, b, c, k, length):
    x, y, z = shapes_at(k, length)
    return (a * x + b * y + c * z + 512) >> 10


def fit_channel(numbers, at, stride, n, length, squares, which, degree, room, f):
    """The coefficients of one channel, its width and its constant, into `room` at `f`. Returns its width, and the degree up to which coefficients take two octets."""
    wide = 0
    for i in range(1, 4):
        value = 0
        if i <= degree:
            x = 0.0
            for k in range(n):
                x += squares[which, degree, i, k] * numbers[at + k * stride]
            value = int(np.floor(min(max(x, -32767.0), 32767.0) + 0.5))
            if octets_of(value, value) > 1:
                wide = i
        room[f + 1 + i] = value
    low, high = 0, 0
    for k in range(n):
        left = numbers[at + k * stride] - predicted(room[f + 2], room[f + 3], room[f + 4], k, length)
        low = left if k == 0 else min(low, left)
        high = left if k == 0 else max(high, left)
    room[f], room[f + 1] = width_of(high - low), low
    return room[f], wide


@kernel
def fit_segments(
    numbers: i4[ANY],
    first_channel: i4[ANY],
    floats: i4[ANY],
    squares: f8[ANY, ANY, ANY, ANY],
    fit: Out[i4[ANY]],
    heads: Out[i4[ANY]],
    room: Out[i4[ANY]],
    columns: int,
    frames: int,
    length: int,
    segments: int,
) -> int:
    """How each channel is written in every segment, into `fit`, with the degree that takes the fewest bits for all channels of a block; and what the block
    says of that, into `heads`. `first_channel` has the first column of each component of each block, and the end; `floats` says which columns have constants
    that are floats. Returns how many octets all of it takes."""
    blocks, total = (len(first_channel) - 1) // 3, 0
    for s in range(segments):
        n = min(length, frames - length * s)
        which = 1 if s == segments - 1 else 0
        for p in range(blocks):
            first, last = first_channel[3 * p], first_channel[3 * p + 3]
            best = 1 << 40
            for degree in range(min(4, n)):
                bits, wide, low, high, exact = 0, 0, 0, 0, 0
                for c in range(first, last):
                    at = CHANNEL * (c - first)
                    width, own = fit_channel(
                        numbers,
                        length * s * columns + c,
                        columns,
                        n,
                        length,
                        squares,
                        which,
                        degree,
                        room,
                        at,
                    )
                    bits += n * width
                    wide = max(wide, own)
                    low, high, exact = min(low, room[at + 1]), max(high, room[at + 1]), max(exact, floats[c])
                constant = 4 if exact != 0 else max(octets_of(low, high), 2)
                bits += 8 * (last - first) * (1 + constant + degree + wide)
                if bits < best:
                    best = bits
                    heads[s * blocks + p] = (constant - 2) + (wide << 2) + (degree << 4)
                    for k in range(CHANNEL * (last - first)):
                        fit[CHANNEL * (s * columns + first) + k] = room[k]
            total += (best >> 3) + 1
    return total


def put_bits(words, bit, value, width, powers):
    """Writes a number behind what is there; returns where it ends."""
    if width > 0:
        moved = (value & (powers[width] - 1)) * powers[bit & 31]
        at = bit >> 5
        words[at] = words[at] | moved
        words[at + 1] = words[at + 1] | (moved >> 32)
    return bit + width


def put_planes(words, bit, fit, starts, head, first, last, at, powers):
    """The planes of a block, whose channels are `first..last`; `at` is where those of the segment begin."""
    constant, wide, degree = (head & 3) + 2, (head >> 2) & 3, (head >> 4) & 3
    for c in range(first, last):
        bit = put_bits(words, bit, fit[CHANNEL * (at + c)], 8, powers)
    for k in range(constant):
        for c in range(first, last):
            value = starts[at + c] if constant == 4 else fit[CHANNEL * (at + c) + 1]
            bit = put_bits(words, bit, octet(value, k), 8, powers)
    for i in range(degree):
        for k in range(2 if i < wide else 1):
            for c in range(first, last):
                bit = put_bits(words, bit, octet(fit[CHANNEL * (at + c) + 2 + i], k), 8, powers)
    return bit


def octet(value, k):
    if k == 0:
        return value & 255
    if k == 1:
        return (value >> 8) & 255
    return (value >> 16) & 255 if k == 2 else (value >> 24) & 255


@kernel
def write_segments(
    words: Out[i4[ANY]],
    numbers: i4[ANY],
    fit: i4[ANY],
    heads: i4[ANY],
    first_channel: i4[ANY],
    lane_column: i4[ANY],
    starts: i4[ANY],
    codes: i4[ANY],
    table: Out[i4[ANY]],
    powers: i8[64],
    columns: int,
    frames: int,
    length: int,
    begin: int,
) -> int:
    """Writes the segments, from word `begin` on. `lane_column` has for each block the columns of its 16 joints, three each, -1 for none; `starts` the floats that
    constants are, one for each segment and column. Returns where they end; -1 where there is no room, -2 where a segment is too large, -3 where a
    joint takes too many bits."""
    blocks, segments = len(lane_column) // 48, len(table)
    at = begin
    for s in range(segments):
        n = min(length, frames - length * s)
        table[s] = at
        if at + 2 + blocks > len(words):
            return -1
        words[at] = words[at] | (codes[s] & 255)
        bit = 32 * (at + 1 + ((blocks + 1) >> 1))
        for b in range(blocks):
            begun = (bit >> 4) - 2 * at
            put_bits(words, 32 * (at + 1) + 16 * b, begun, 16, powers)
            if begun >= 65535:
                return -2
            # A block has at most 48 channels: 11 octets of planes and 24 bits a frame each.
            if (bit >> 5) + 48 * 3 + 48 * n + 8 > len(words):
                return -1
            first, last = first_channel[3 * b], first_channel[3 * b + 3]
            head, most, row = heads[blocks * s + b], 0, 0
            for lane in range(16):
                in_all = 0
                for c in range(3):
                    column = lane_column[48 * b + 3 * lane + c]
                    if column >= 0:
                        width = fit[CHANNEL * (s * columns + column)]
                        in_all += width
                        if width > 24:
                            return -3
                most, row = max(most, in_all), row + in_all
            if most > 57:
                return -3
            if most > NEAR_BITS or row > NEAR_ROW:
                head += 64
            bit = put_bits(words, bit, head, 8, powers)
            bit = put_planes(words, bit, fit, starts, head, first, last, s * columns, powers)
            for k in range(n):
                for lane in range(16):
                    for c in range(3):
                        column = lane_column[48 * b + 3 * lane + c]
                        if column >= 0:
                            f = CHANNEL * (s * columns + column)
                            base = fit[f + 1] + predicted(fit[f + 2], fit[f + 3], fit[f + 4], k, length)
                            value = numbers[(length * s + k) * columns + column] - base
                            bit = put_bits(words, bit, value, fit[f], powers)
            bit = ((bit + 15) >> 4) << 4
        at = (bit + 31) >> 5
    return at


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
    for q in range(len(query)):
        # What is not a number is the beginning.
        u = min(query[q], frames - 1.0) if query[q] > 0.0 else 0.0
        f = min(int(u), max(frames - 2, 0))
        g = f + 1 if frames > 1 else f
        sample_record(packed, record, bank, base, f, g, u - f, 1.0, 0.0, rows, q * (10 * Jp + Mp), Jp, Mp, Jp)
    return len(query)
