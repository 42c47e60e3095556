"""From the module with relaxed SIMD to the strict one: each `f32x4.relaxed_madd` becomes a call of the exact multiply-add
that the module has as well. Both take three vectors and give one, and both are three bytes long: nothing else changes."""

from __future__ import annotations

from marrow.kernels.language.wasm_binary import exchanged, leb128

__all__ = ["made_strict"]

_MADD = 0x105


def made_strict(module: bytes, name: str = "marrow_fma4") -> bytes:
    """The module with calls of its function `name` for every relaxed multiply-add."""
    imported, function, at = 0, None, 8
    while at < len(module):
        kind = module[at]
        size, begin = leb128(module, at + 1)
        if kind == 2:
            imported, _ = leb128(module, begin)
        elif kind == 7:
            function = _exported(module, begin, name)
        at = begin + size
    if function is None or imported or function >= 1 << 14:
        raise ValueError(f"the module has no function {name}, or functions of others")
    return exchanged(module, {_MADD: bytes((0x10, function & 0x7F | 0x80, function >> 7))})


def _exported(data: bytes, at: int, name: str) -> int | None:
    count, at = leb128(data, at)
    for _ in range(count):
        length, at = leb128(data, at)
        called, kind = bytes(data[at : at + length]), data[at + length]
        index, at = leb128(data, at + length + 1)
        if called == name.encode() and kind == 0:
            return index
    return None
