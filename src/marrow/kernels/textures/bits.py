"""Bits of a block of 16 bytes, held in two whole numbers, the lowest first."""

from __future__ import annotations

__all__ = ["bits", "octets", "reversed_bits"]


def octets(data, at):
    """Eight bytes as a whole number, the first lowest."""
    value = 0
    for k in range(8):
        value |= data[at + k] << (8 * k)
    return value


def bits(low, high, at, count):
    """`count` bits (0 to 32) from bit `at` on; what is beyond the end is 0."""
    if at >= 128 or count <= 0:
        return 0
    mask = (1 << count) - 1
    if at >= 64:
        return (high >> (at - 64)) & mask & ((1 << min(128 - at, 62)) - 1)
    if at + count <= 64:
        return (low >> at) & mask
    first = (low >> at) & ((1 << (64 - at)) - 1)
    return (first | (high << (64 - at))) & mask


def reversed_bits(v):
    """The 64 bits in the opposite order."""
    v = ((v >> 1) & 6148914691236517205) | ((v & 6148914691236517205) << 1)
    v = ((v >> 2) & 3689348814741910323) | ((v & 3689348814741910323) << 2)
    v = ((v >> 4) & 1085102592571150095) | ((v & 1085102592571150095) << 4)
    v = ((v >> 8) & 71777214294589695) | ((v & 71777214294589695) << 8)
    v = ((v >> 16) & 281470681808895) | ((v & 281470681808895) << 16)
    return ((v >> 32) & 4294967295) | (v << 32)
