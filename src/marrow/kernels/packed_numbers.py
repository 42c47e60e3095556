"""The whole numbers in records of packed motion (`packed_layout`), and how each channel was fitted: read back, and made anew of numbers."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, Out, f8, i4
from marrow.kernels.language.kernel import kernel
from marrow.kernels.packed_check import half_at, octet_at
from marrow.kernels.packed_layout import SEGMENTS
from marrow.kernels.packing import CHANNEL, fit_channel, predicted

__all__ = ["read_numbers", "refit_segments"]


def sign_of(number, octets):
    if octets == 1:
        return number - 256 if number >= 128 else number
    if octets == 2:
        return number - 65536 if number >= 32768 else number
    return number - 16777216 if number >= 8388608 else number


def octets_at(words, at, planes, count):
    """A number whose octets lie `planes` apart."""
    number = octet_at(words, at)
    if count > 1:
        number += octet_at(words, at + planes) << 8
    if count > 2:
        number += octet_at(words, at + 2 * planes) << 16
    return number


def bits_from(words, bit, width):
    """Up to 24 bits."""
    number = 0
    for k in range(width):
        b = bit + k
        number += ((octet_at(words, b >> 3) >> (b & 7)) & 1) << k
    return number


@kernel
def read_numbers(
    words: i4[ANY],
    first_channel: i4[ANY],
    lane_column: i4[ANY],
    fit: Out[i4[ANY]],
    heads: Out[i4[ANY]],
    starts: Out[i4[ANY]],
    codes: Out[i4[ANY]],
    numbers: Out[i4[ANY]],
    columns: int,
    frames: int,
    length: int,
) -> int:
    """Everything that `write_segments` wrote; numbers of channels whose constants are floats are counted from these."""
    blocks, segments = len(lane_column) // 48, len(codes)
    for s in range(segments):
        n = min(length, frames - length * s)
        at = words[words[SEGMENTS] + s]
        codes[s] = half_at(words, at, 0)
        for b in range(blocks):
            begin = 4 * at + 2 * half_at(words, at + 1, b)
            head = octet_at(words, begin)
            constant, wide, degree = (head & 3) + 2, (head >> 2) & 3, (head >> 4) & 3
            first, last = first_channel[3 * b], first_channel[3 * b + 3]
            planes = last - first
            heads[s * blocks + b] = head & 63
            for c in range(first, last):
                f, octet = CHANNEL * (s * columns + c), begin + 1 + c - first
                fit[f] = octet_at(words, octet)
                octet += planes
                fit[f + 1] = 0
                if constant == 4:
                    top = octet_at(words, octet + 3 * planes)
                    starts[s * columns + c] = octets_at(words, octet, planes, 3) + (
                        (top - 256 if top >= 128 else top) << 24
                    )
                else:
                    fit[f + 1] = sign_of(octets_at(words, octet, planes, constant), constant)
                octet += constant * planes
                for i in range(3):
                    fit[f + 2 + i] = 0
                    if i < degree:
                        size = 2 if i < wide else 1
                        fit[f + 2 + i] = sign_of(octets_at(words, octet, planes, size), size)
                        octet += size * planes
            bit = 8 * (begin + 1 + planes * (1 + constant + wide + degree))
            for k in range(n):
                for lane in range(48):
                    column = lane_column[48 * b + lane]
                    if column >= 0:
                        f = CHANNEL * (s * columns + column)
                        value = fit[f + 1] + predicted(fit[f + 2], fit[f + 3], fit[f + 4], k, length)
                        numbers[(length * s + k) * columns + column] = value + bits_from(words, bit, fit[f])
                        bit += fit[f]
    return segments


@kernel
def refit_segments(
    numbers: i4[ANY],
    first_channel: i4[ANY],
    squares: f8[ANY, ANY, ANY, ANY],
    fit: Out[i4[ANY]],
    heads: i4[ANY],
    room: Out[i4[ANY]],
    columns: int,
    frames: int,
    length: int,
    segments: int,
) -> int:
    """How channels are written, by the degrees that `heads` has for their blocks. Returns how many octets that takes."""
    blocks, total = (len(first_channel) - 1) // 3, 0
    for s in range(segments):
        n = min(length, frames - length * s)
        for b in range(blocks):
            head = heads[s * blocks + b]
            first, last = first_channel[3 * b], first_channel[3 * b + 3]
            bits = 0
            for c in range(first, last):
                width, _ = fit_channel(
                    numbers, length * s * columns + c, columns, n, length, squares, 1 if s == segments - 1 else 0,
                    (head >> 4) & 3, room, 0
                )  # fmt: skip
                for k in range(CHANNEL):
                    fit[CHANNEL * (s * columns + c) + k] = room[k]
                bits += n * width
            total += (bits >> 3) + 2 + (last - first) * 11
    return total
