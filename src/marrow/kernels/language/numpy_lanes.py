"""Lane formulas in NumPy, for one block of 16 lanes or for many at once: the same bits as machine code, without a compiler.

Offsets are whole numbers, or arrays `(B,)` of them that run B blocks side by side; lanes are then `(B, 16)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marrow.kernels.language.lanes import LANES, Formulas
from marrow.kernels.language.numpy_whole_lanes import NumpyWhole, NumpyWholeLanes
from marrow.kernels.language.python_arrays import PythonRows

__all__ = ["NumpyEmitter", "fused", "run_block", "run_each"]


def fused(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c` of float32 numbers, rounded once.

    The product is exact in float64. The sum is rounded there to odd (away from even last bits where it is not exact), after
    which rounding to float32 is right (Boldo and Melquiond, 2008).
    """
    product, c = np.asarray(a, np.float64) * np.asarray(b, np.float64), np.asarray(c, np.float64)
    total = product + c
    kept = total - product
    error = (product - (total - kept)) + (c - kept)
    even = (total.view(np.int64) & 1) == 0
    inexact = (error != 0) & np.isfinite(error) & np.isfinite(total)
    towards = np.where(error > 0, np.inf, -np.inf)
    return np.where(inexact & even, np.nextafter(total, towards), total).astype(np.float32)


class NumpyVector:
    """Lanes `(..., 16)` or single numbers `(...)`, float32."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value, np.float32)

    def __add__(self, other: Any) -> NumpyVector:
        return NumpyVector(self.value + _raw(other))

    def __sub__(self, other: Any) -> NumpyVector:
        return NumpyVector(self.value - _raw(other))

    def __rsub__(self, other: Any) -> NumpyVector:
        return NumpyVector(_raw(other) - self.value)

    def __mul__(self, other: Any) -> NumpyVector:
        return NumpyVector(self.value * _raw(other))

    def __truediv__(self, other: Any) -> NumpyVector:
        return NumpyVector(self.value / _raw(other))

    def __rtruediv__(self, other: Any) -> NumpyVector:
        return NumpyVector(_raw(other) / self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> NumpyVector:
        return NumpyVector(-self.value)

    def compare(self, how: str, other: Any) -> Any:
        return _COMPARE[how](self.value, _raw(other))


_COMPARE = {
    "<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">=": np.greater_equal, ">": np.greater,
}  # fmt: skip


def _raw(value: Any) -> Any:
    return value.value if isinstance(value, NumpyVector) else np.float32(value)


class NumpyEmitter(NumpyWholeLanes, Formulas):
    """Computes at once what other emitters write down."""

    # -- whole numbers --------------------------------------------------------------------------------------------
    def at(self, offset: Any, step: int = 0) -> Any:
        return offset + step

    def times(self, offset: Any, factor: int) -> Any:
        return offset * factor

    def product(self, a: Any, b: Any) -> Any:
        return a * b

    def plus(self, a: Any, b: Any) -> Any:
        return a + b

    def minus(self, a: Any, b: Any) -> Any:
        return a - b

    def index(self, array: Any, offset: Any) -> Any:
        return array[_inside(array, offset)].astype(np.int64) if np.ndim(offset) else int(array[offset])

    # -- loads, stores --------------------------------------------------------------------------------------------
    def load(self, array: Any, offset: Any, lanes: int = LANES) -> NumpyVector:
        if np.ndim(offset):
            return NumpyVector(array[_inside(array, offset[:, None] + np.arange(lanes))])
        return NumpyVector(array[offset : offset + lanes].copy())

    def scalar(self, array: Any, offset: Any) -> NumpyVector:
        return NumpyVector(array[_inside(array, offset)] if np.ndim(offset) else array[offset])

    def store(self, array: Any, offset: Any, vector: NumpyVector) -> None:
        lanes = vector.value.shape[-1]
        if np.ndim(offset):
            array[offset[:, None] + np.arange(lanes)] = vector.value
        else:
            array[offset : offset + lanes] = vector.value

    def store_scalar(self, array: Any, offset: Any, value: NumpyVector) -> None:
        array[offset] = value.value

    def store_bits(self, array: Any, offset: Any, mask: Any) -> None:
        array[offset] = (np.asarray(mask) << np.arange(LANES)).sum(axis=-1)

    def splat(self, value: Any, lanes: int = LANES) -> NumpyVector:
        raw = np.asarray(_raw(value))
        return NumpyVector(np.broadcast_to(raw[..., None], (*raw.shape, lanes)))

    def constant(self, value: float) -> NumpyVector:
        return NumpyVector(value)

    # -- arithmetic -----------------------------------------------------------------------------------------------
    def fma(self, a: Any, b: Any, c: Any) -> NumpyVector:
        return NumpyVector(fused(_raw(a), _raw(b), _raw(c)))

    def sqrt(self, x: NumpyVector) -> NumpyVector:
        return NumpyVector(np.sqrt(x.value))

    def select(self, mask: Any, yes: NumpyVector, no: NumpyVector) -> NumpyVector:
        return NumpyVector(np.where(mask, yes.value, no.value))

    def number(self, x: NumpyWhole) -> NumpyVector:
        return NumpyVector(x.value.view(np.int32).astype(np.float32))

    def as_float(self, x: NumpyWhole) -> NumpyVector:
        return NumpyVector(x.value.view(np.float32))

    # -- rearranging ----------------------------------------------------------------------------------------------
    def shuffle(self, a: NumpyVector, b: NumpyVector, lanes: Sequence[int]) -> NumpyVector:
        both = np.concatenate(np.broadcast_arrays(a.value, b.value), axis=-1)
        return NumpyVector(both[..., list(lanes)])

    def scatter(self, array: Any, rows: Any, first: Any, parts: Sequence[NumpyVector], base: Any) -> None:
        row = rows[np.asarray(first)[..., None] + np.arange(LANES)].astype(np.int64)
        for c, part in enumerate(parts):
            array[base + row * len(parts) + c] = part.value

    def scatter_run(self, array: Any, row: Any, parts: Sequence[NumpyVector], base: Any) -> None:
        rows = np.asarray(row)[..., None] + np.arange(LANES)
        for c, part in enumerate(parts):
            array[base + rows * len(parts) + c] = part.value

    # -- control --------------------------------------------------------------------------------------------------
    def branch(self, offset: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """Rows that lie one behind the other need no way of their own here."""
        no()

    def accumulate(
        self,
        start: Sequence[NumpyVector],
        count: Any,
        step: Callable[[Any, list[NumpyVector]], list[NumpyVector]],
    ) -> list[NumpyVector]:
        values = list(start)
        if not np.ndim(count):
            for k in range(int(count)):
                values = step(k, values)
            return values
        for k in range(int(count.max(initial=0))):
            going = (k < count)[:, None]
            values = [type(v)(np.where(going, n.value, v.value)) for n, v in zip(step(k, values), values)]
        return values


def _inside(array: Any, offset: Any) -> Any:
    """Blocks that run side by side may look past the end of those that have finished; what they see there is not used."""
    return np.minimum(offset, len(array) - 1)


class _Struct:
    """A struct of arguments whose arrays are arrays again."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __getattr__(self, name: str) -> Any:
        return _taken(getattr(self._values, name))


def _taken(argument: Any) -> Any:
    if isinstance(argument, (memoryview, PythonRows)):
        return np.asarray(argument)
    if isinstance(argument, (float, np.floating)):
        return NumpyVector(argument)
    return _Struct(argument) if hasattr(argument, "_fields") else argument


def run_block(formula: Callable[..., None], arguments: Sequence[Any]) -> None:
    """Runs a block on numbers, flat arrays and structs of them."""
    with np.errstate(all="ignore"):
        formula(NumpyEmitter(), *map(_taken, arguments))


def run_each(formula: Callable[..., None], numbers: range, arguments: Sequence[Any]) -> None:
    """Runs a block for all numbers of a range side by side."""
    if len(numbers):
        run_block(formula, (np.arange(numbers.start, numbers.stop, numbers.step), *arguments))
