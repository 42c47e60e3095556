"""Instructions of a WebAssembly module, exchanged for others of the same length."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["exchanged", "leb128"]

_MEMORY = {*range(0x28, 0x3F)}
"""Plain loads and stores."""


def leb128(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """An unsigned number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def exchanged(module: bytes, others: Mapping[int, bytes]) -> bytes:
    """The module with other instructions in place of the vector instructions of these numbers."""
    data, at = bytearray(module), 8
    while at < len(data):
        kind = data[at]
        size, begin = leb128(data, at + 1)
        if kind == 10:
            count, place = leb128(data, begin)
            for _ in range(count):
                length, first = leb128(data, place)
                _patch(data, first, first + length, others)
                place = first + length
        at = begin + size
    return bytes(data)


def _patch(data: bytearray, at: int, end: int, others: Mapping[int, bytes]) -> None:
    """One function: its locals, then instruction by instruction."""
    groups, at = leb128(data, at)
    for _ in range(groups):
        _, at = leb128(data, at)
        at += 1
    while at < end:
        begin, code = at, data[at]
        at += 1
        if code == 0xFD:
            operation, at = leb128(data, at)
            if operation in others:
                if at - begin != len(others[operation]):
                    raise ValueError("an instruction is not as long as what takes its place")
                data[begin:at] = others[operation]
            at = _after_vector(data, operation, at)
        elif code == 0xFC:
            operation, at = leb128(data, at)
            if operation > 11:
                raise ValueError(f"instruction 0xfc {operation} is not known here")
            at += {8: 2, 9: 1, 10: 2, 11: 1}.get(operation, 0)
        elif code in (0x02, 0x03, 0x04, 0x0C, 0x0D, 0x10, *range(0x20, 0x27), 0x41, 0x42, 0xD0, 0xD2):
            _, at = leb128(
                data, at
            )  # a type, a number or a place: one of either sign ends where its bytes do
        elif code in _MEMORY or code == 0x11:
            _, at = leb128(data, at)
            _, at = leb128(data, at)
        elif code == 0x0E:
            targets, at = leb128(data, at)
            for _ in range(targets + 1):
                _, at = leb128(data, at)
        elif code == 0x43:
            at += 4
        elif code == 0x44:
            at += 8
        elif code in (0x3F, 0x40):
            at += 1
        elif not (code in (0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B) or 0x45 <= code <= 0xC4):
            raise ValueError(f"instruction {code:#x} is not known here")
    if at != end:
        raise ValueError("a function does not end where it should")


def _after_vector(data: bytearray, operation: int, at: int) -> int:
    """Behind what a vector instruction names."""
    if operation <= 11 or operation in (92, 93):
        _, at = leb128(data, at)
        _, at = leb128(data, at)
    elif operation in (12, 13):
        at += 16
    elif 21 <= operation <= 34:
        at += 1
    elif 84 <= operation <= 91:
        _, at = leb128(data, at)
        _, at = leb128(data, at)
        at += 1
    return at
