"""What printed Python calls where Python's own arithmetic would raise an error or has no end: IEEE 754, and 64 bits."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

__all__ = ["RUNTIME"]

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def wrap(x: int, bits: int = 64) -> int:
    """A whole number's low bits, as a signed number."""
    half = 1 << (bits - 1)
    return ((x + half) & ((1 << bits) - 1)) - half


def unsigned(x: int, bits: int) -> int:
    return x & ((1 << bits) - 1)


def divide(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or a != a or b != b:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def floor_divide(a: int, b: int) -> int:
    return wrap(a // b) if b else 0


def remainder(a: int, b: int) -> int:
    return a % b if b else 0


def integer(x: float) -> int:
    """Towards zero. What does not fit becomes the nearest that does; what is not a number becomes 0."""
    if x != x:
        return 0
    return int(x) if abs(x) < 2.0**63 else HIGHEST if x > 0 else LOWEST


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0 else (math.nan if x < 0 else x)


def single(x: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(x))


def floor(x: float) -> float:
    return float(np.floor(x))


def ceil(x: float) -> float:
    return float(np.ceil(x))


def ldexp(x: float, power: int) -> float:
    (factor,) = struct.unpack("<d", struct.pack("<Q", ((power + 1023) << 52) & ((1 << 64) - 1)))
    return float(x * factor)


def among(value: Any, *items: Any) -> bool:
    return any(value == item for item in items)


def choose(number: int, functions: Sequence[Callable[..., Any]], *arguments: Any) -> None:
    if 0 <= number < len(functions):
        functions[number](*arguments)


RUNTIME: dict[str, Any] = {
    f"_{function.__name__}": function
    for function in (
        wrap, unsigned, divide, floor_divide, remainder, integer, sqrt, single, floor, ceil, ldexp, among, choose,
    )
}  # fmt: skip
RUNTIME |= {"_isnan": math.isnan, "_isfinite": math.isfinite, "_copysign": math.copysign}
"""By the name printed Python has for it."""
