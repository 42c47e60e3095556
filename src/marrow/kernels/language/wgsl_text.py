"""Pieces of WGSL: numbers, whole-number expressions, arrays, names."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["ADD", "ATOM", "COMPARE", "MULTIPLY", "UNARY", "WgslArray", "named", "number", "whole", "wrapped"]

COMPARE, ADD, MULTIPLY, UNARY, ATOM = 0, 1, 2, 3, 4
"""How tightly operators bind."""

_WORDS = """NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch
class co_await
    co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval constexpr
    constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export extends extern
    external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl implements import
    inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut mutable namespace
    new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of operator package
    packoffset partition pass patch pixelfragment precise precision premerge priv protected pub public readonly ref
    regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm static
    static_assert static_cast std subroutine super target template this thread_local throw trait try type typedef typeid
    typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with writeonly yield
    alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
    loop override requires return struct switch true var while abs acos all any array asin atan atan2 bitcast bool ceil
    clamp cos cross degrees distance dot exp exp2 f16 f32 floor fma fract i32 length log max min mix modf normalize pow
    radians reflect refract round select sign sin sqrt step tan transpose trunc u32 vec2 vec3 vec4"""
_RESERVED = frozenset(_WORDS.split())


def named(name: str) -> str:
    """A name that WGSL has no other use for."""
    return f"{name}_" if name in _RESERVED else f"n{name}" if name == "_" or name.startswith("__") else name


def number(value: float, *, exactly: bool = False) -> str:
    """A float32 number in as few digits as say it; or a float64 number."""
    if not math.isfinite(np.float32(value)):
        raise ValueError(f"WGSL has no way to write {value}")
    text = repr(float(value)) if exactly else repr(float(str(np.float32(value))))
    return text if "." in text or "e" in text else f"{text}.0"


def wrapped(text: str, rank: int, needed: int) -> str:
    return f"({text})" if rank < needed else text


def _rank(text: str) -> int:
    depth, rank = 0, ATOM
    for c in text:
        depth += (c in "([") - (c in ")]")
        if depth == 0 and c in "+-":
            return ADD
        if depth == 0 and c == "*":
            rank = MULTIPLY
    return rank


def whole(a: Any, sign: str, b: Any) -> Any:
    """`a + b`, `a - b` or `a * b` of whole numbers that are known, or text."""
    if isinstance(a, (int, np.integer)) and isinstance(b, (int, np.integer)):
        return {"+": a + b, "-": a - b, "*": a * b}[sign]
    if b == 0 and sign in "+-":
        return a
    if (a == 0 and sign == "+") or (a == 1 and sign == "*"):
        return b
    if b == 1 and sign == "*":
        return a
    rank = ADD if sign in "+-" else MULTIPLY
    a, b = str(a), str(b)
    left = wrapped(a, _rank(a), rank)
    # Whole numbers may be added in any order.
    return f"{left} {sign} {wrapped(b, _rank(b), rank if sign != '-' else rank + 1)}"


@dataclass(frozen=True)
class WgslArray:
    """A flat array: what one of its numbers is called (`place("i")`), and where it begins in there."""

    name: str
    place: Callable[[str], str]
    base: Any = 0

    def read(self, offset: Any) -> str:
        return self.place(str(whole(self.base, "+", offset)))
