"""Lane formulas: straight-line arithmetic on 16 float32 numbers at a time, written once and run by several backends.

A *block* is a Python function that is handed an emitter and says, through it, what happens to 16 lanes:

    @block
    def axpy(e, i, x, y, a):                    # i: a whole number; x, y: flat float32 arrays; a: a number
        e.store(y, i, e.fma(e.splat(a), e.load(x, i), e.load(y, i)))

    axpy.each(0, n, 16, x, y, a)                # for i in range(0, n, 16): axpy(i, x, y, a)

It is called from kernels as a function is. Compiled, the LLVM emitter writes vector instructions; run by Python, the NumPy
emitter computes the same bits. Operators round once each; `fma` is a multiplication and an addition rounded once. Nothing is
left to the compiler: formulas say where to fuse.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["LANES", "Block", "EachBlock", "Formulas", "block"]

LANES = 16


class Formulas:
    """What every emitter can do, in terms of what each does in its own way: `at`, `times`, `plus`, `load`, `splat`, `fma`,
    `select`, `sqrt`, `shuffle`, `store`..."""

    at: Callable[..., Any]
    times: Callable[..., Any]
    plus: Callable[..., Any]
    load: Callable[..., Any]
    scalar: Callable[..., Any]
    store: Callable[..., Any]
    splat: Callable[..., Any]
    fma: Callable[..., Any]
    sqrt: Callable[..., Any]
    select: Callable[..., Any]
    shuffle: Callable[..., Any]

    # Whole numbers of 32 bits, a lane each, wrap around; `+ - * & |` and shifts by the low five bits of a count, `>>` without
    # sign, `down(n)` with it. `accumulate` takes them too.
    store_bits: Callable[..., Any]
    """`store_bits(words, offset, mask)`: what `compare` gave, as bits 0 to 15 of an element of an int32 array."""
    lane_numbers: Callable[..., Any]
    """`lane_numbers(i)`: the lanes' own numbers, 0 to 15; `i` is what the block is called with."""
    wholes: Callable[..., Any]
    """`wholes(offset)`: one whole number in every lane."""
    ranks: Callable[..., Any]
    """`ranks(i, mask)`: for each lane of a mask of 16 bits how many of the lanes before it that has; what `picked` takes."""
    picked: Callable[..., Any]
    """`picked(words, octet, ranks)`: the octet that lies so many behind the one at `octet` of an int32 array, 15 at most; 0 in
    lanes that the mask does not have. All 16 are read."""
    bits: Callable[..., Any]
    """`bits(words, offset, at, width)`: the `width` bits, 25 at most, or 32 of whole octets, from bit `at` on, counted in lanes from the word at
    `offset` on."""
    fields: Callable[..., Any]
    """`fields(words, offset, at, widths)`: several numbers one behind the other, each of its own width in lanes; 57 bits in all at most. Eight octets
    are read."""
    near_fields: Callable[..., Any]
    """`near_fields(words, octet, at, widths)`: the same of 32 bits in all at most, the lanes' bits counted from an octet on: below 480. 64 octets are read."""
    first: Callable[..., Any]
    """The number of the first lane, as an offset."""
    ones: Callable[..., Any]
    """How many bits are set."""
    number: Callable[..., Any]
    """Whole numbers as floats, rounded to the nearest."""
    as_float: Callable[..., Any]
    """The floats whose bits these are."""
    sums: Callable[..., Any]
    """`sums(i, size_of)`: `size_of(ranks, lanes)` gives some whole numbers of lanes, whose ranks in a mask `ranks(mask)` are; of each number the
    sum in the lanes before, and in all 16."""
    octet: Callable[..., Any]
    """`octet(words, number)`: an octet of an int32 array, as an offset."""
    part: Callable[..., Any]
    """`part(offset, first, count)`: some bits of an offset."""
    count: Callable[..., Any]
    """`count(mask)`: how many bits of an offset are set."""
    half: Callable[..., Any]
    """`half(words, offset, number)`: one of the numbers of 16 bits from the word at `offset` on, as an offset."""
    either: Callable[..., Any]
    """`either(a, b)`: the bits that one of two offsets has, or both."""
    any: Callable[..., Any]
    """`any(offset)`: 1 where an offset is not zero."""
    group: Callable[..., Any]
    """`group(i)`: a sixteenth of an offset, rounded down."""

    def row(self, offset: Any, number: int, stride: Any) -> Any:
        """`offset + number * stride`, for a stride known only at run time."""
        return self.plus(offset, self.times(stride, number)) if number else offset

    def broadcast(self, array: Any, offset: Any) -> Any:
        """One element of an array in every lane."""
        return self.splat(self.scalar(array, offset))

    def broadcast4(self, array: Any, offset: Any) -> Any:
        """Four neighbouring elements, repeated four times."""
        quad = self.load(array, offset, 4)
        return self.shuffle(quad, quad, [0, 1, 2, 3] * 4)

    def load12(self, array: Any, offset: Any) -> Any:
        """12 numbers: an affine matrix, with its last row twice."""
        low, high = self.load(array, offset, 8), self.load(array, self.at(offset, 4), 8)
        return self.shuffle(low, high, [*range(8), *range(12, 16), *range(12, 16)])

    def store12(self, array: Any, offset: Any, vector: Any) -> None:
        """The first 12 lanes: an affine matrix."""
        self.store(array, offset, self.shuffle(vector, vector, range(8)))
        self.store(array, self.at(offset, 8), self.shuffle(vector, vector, range(8, 12)))

    # -- arithmetic -----------------------------------------------------------------------------------------------
    def fms(self, a: Any, b: Any, c: Any) -> Any:
        """`a * b - c`, rounded once."""
        return self.fma(a, b, -c)

    def fnma(self, a: Any, b: Any, c: Any) -> Any:
        """`c - a * b`, rounded once."""
        return self.fma(-a, b, c)

    def between(self, a: Any, b: Any, t: Any) -> Any:
        """`a + t * (b - a)`."""
        return self.fma(t, b - a, a)

    def dot(self, a: Sequence[Any], b: Sequence[Any], start: Any = None) -> Any:
        """`start + a0 b0 + a1 b1 + ...`, fused from left to right."""
        pairs = list(zip(a, b))
        total = pairs.pop(0) if start is None else None
        value = start if total is None else total[0] * total[1]
        for x, y in pairs:
            value = self.fma(x, y, value)
        return value

    def cross(self, a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        return [
            self.fnma(a[2], b[1], a[1] * b[2]),
            self.fnma(a[0], b[2], a[2] * b[0]),
            self.fnma(a[1], b[0], a[0] * b[1]),
        ]

    def inverse_length(self, squared: Any) -> Any:
        """`1 / sqrt(squared)`, and zero for zero, so that what has no direction stays zero. NaN stays NaN."""
        return self.select(squared.compare("==", 0.0), self.splat(0.0), 1.0 / self.sqrt(squared))

    def unit(self, v: Sequence[Any]) -> list[Any]:
        """A vector at unit length; zero stays zero."""
        scale = self.inverse_length(self.dot(v, v))
        return [x * scale for x in v]

    def multiply_quaternions(self, a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
        """The product `a b` of quaternions xyzw."""
        return [
            self.fnma(a[2], b[1], self.fma(a[1], b[2], self.fma(a[0], b[3], a[3] * b[0]))),
            self.fma(a[2], b[0], self.fma(a[1], b[3], self.fnma(a[0], b[2], a[3] * b[1]))),
            self.fma(a[2], b[3], self.fnma(a[1], b[0], self.fma(a[0], b[1], a[3] * b[2]))),
            self.fnma(a[2], b[2], self.fnma(a[1], b[1], self.fnma(a[0], b[0], a[3] * b[3]))),
        ]

    # -- rearranging ----------------------------------------------------------------------------------------------
    def quads(self, x: Any, y: Any, z: Any, w: Any) -> list[Any]:
        """Transposes four vectors within each group of four lanes: lane group `g` of result `q` is the quad
        `(x, y, z, w)` of element `4 g + q`."""
        shuffle = self.shuffle
        low, high = _UNPACK_LOW, _UNPACK_HIGH
        xy, zw = (shuffle(x, y, low), shuffle(x, y, high)), (shuffle(z, w, low), shuffle(z, w, high))
        return [
            shuffle(xy[0], zw[0], _PAIR_LOW), shuffle(xy[0], zw[0], _PAIR_HIGH),
            shuffle(xy[1], zw[1], _PAIR_LOW), shuffle(xy[1], zw[1], _PAIR_HIGH),
        ]  # fmt: skip


def _within_quads(pattern: Sequence[int]) -> list[int]:
    """A pattern over one group of four lanes (4.. means the second operand), repeated for all four groups."""
    return [(p if p < 4 else p - 4 + LANES) + 4 * g for g in range(4) for p in pattern]


_UNPACK_LOW, _UNPACK_HIGH = _within_quads([0, 4, 1, 5]), _within_quads([2, 6, 3, 7])
_PAIR_LOW, _PAIR_HIGH = _within_quads([0, 1, 4, 5]), _within_quads([2, 3, 6, 7])


class Block:
    """A lane formula that kernels can call. Its arguments are whole numbers, numbers (rounded to float32), flat arrays and
    structs of these."""

    def __init__(self, formula: Callable[..., None]) -> None:
        self.formula = formula
        self.each = EachBlock(self)

    def __call__(self, *arguments: Any) -> None:
        from marrow.kernels.language.numpy_lanes import run_block

        run_block(self.formula, arguments)


class EachBlock:
    """`each(first, last, step, ...)`: the block for every number of a range, which are independent of each other."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def __call__(self, first: int, last: int, step: int, *arguments: Any) -> None:
        from marrow.kernels.language.numpy_lanes import run_each

        run_each(self.block.formula, range(first, last, step), arguments)


def block(formula: Callable[..., None], *fixed: Any) -> Block:
    """A block from its formula; `fixed` arguments come first and are known when it is compiled."""
    return Block(functools.partial(formula, *fixed) if fixed else formula)
