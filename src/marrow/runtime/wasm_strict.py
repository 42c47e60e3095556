"""From the module with relaxed SIMD to the strict one: each `f32x4.relaxed_madd` becomes a call of the exact multiply-add
that the module has as well. Both take three vectors and give one, and both are three bytes long: nothing else changes."""

from __future__ import annotations

__all__ = ["made_strict"]

_MADD = 0x105
_MEMORY = {*range(0x28, 0x3F)}
"""Plain loads and stores."""


def _number(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """An unsigned number in LEB128, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def made_strict(module: bytes, name: str = "marrow_fma4") -> bytes:
    """The module with calls of its function `name` for every relaxed multiply-add."""
    data = bytearray(module)
    code, imported, function = None, 0, None
    at = 8
    while at < len(data):
        kind = data[at]
        size, begin = _number(data, at + 1)
        if kind == 2:
            imported, _ = _number(data, begin)
        elif kind == 7:
            function = _exported(data, begin, name)
        elif kind == 10:
            code = begin
        at = begin + size
    if code is None or function is None or imported or function >= 1 << 14:
        raise ValueError(f"the module has no function {name}, or functions of others")
    count, at = _number(data, code)
    call = bytes((0x10, function & 0x7F | 0x80, function >> 7))
    for _ in range(count):
        size, begin = _number(data, at)
        _patch(data, begin, begin + size, call)
        at = begin + size
    return bytes(data)


def _exported(data: bytearray, at: int, name: str) -> int | None:
    count, at = _number(data, at)
    for _ in range(count):
        length, at = _number(data, at)
        called, kind = bytes(data[at : at + length]), data[at + length]
        index, at = _number(data, at + length + 1)
        if called == name.encode() and kind == 0:
            return index
    return None


def _patch(data: bytearray, at: int, end: int, call: bytes) -> None:
    """One function: its locals, then instruction by instruction."""
    groups, at = _number(data, at)
    for _ in range(groups):
        _, at = _number(data, at)
        at += 1
    while at < end:
        begin, code = at, data[at]
        at += 1
        if code == 0xFD:
            operation, at = _number(data, at)
            if operation == _MADD:
                if at - begin != 3:
                    raise ValueError("a multiply-add is not three bytes long")
                data[begin:at] = call
            at = _after_vector(data, operation, at)
        elif code == 0xFC:
            operation, at = _number(data, at)
            if operation > 11:
                raise ValueError(f"instruction 0xfc {operation} is not known here")
            at += {8: 2, 9: 1, 10: 2, 11: 1}.get(operation, 0)
        elif code in (0x02, 0x03, 0x04, 0x0C, 0x0D, 0x10, *range(0x20, 0x27), 0x41, 0x42, 0xD0, 0xD2):
            _, at = _number(
                data, at
            )  # a type, a number or a place: one of either sign ends where its bytes do
        elif code in _MEMORY or code == 0x11:
            _, at = _number(data, at)
            _, at = _number(data, at)
        elif code == 0x0E:
            targets, at = _number(data, at)
            for _ in range(targets + 1):
                _, at = _number(data, at)
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
        _, at = _number(data, at)
        _, at = _number(data, at)
    elif operation in (12, 13):
        at += 16
    elif 21 <= operation <= 34:
        at += 1
    elif 84 <= operation <= 91:
        _, at = _number(data, at)
        _, at = _number(data, at)
        at += 1
    return at
