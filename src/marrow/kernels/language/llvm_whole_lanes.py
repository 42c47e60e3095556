"""Whole numbers in lanes as LLVM vector instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from marrow.kernels.language.lanes import LANES
from marrow.kernels.language.llvm_values import I1, I8, I32, I64

__all__ = ["LlvmWhole", "LlvmWholeLanes"]

I16 = ir.IntType(16)
WHOLES, WIDE = ir.VectorType(I32, LANES), ir.VectorType(I64, LANES)
SHUFFLES = {
    "x86_64": "llvm.x86.ssse3.pshuf.b.128",
    "aarch64": "llvm.aarch64.neon.tbl1.v16i8",
    "arm64": "llvm.aarch64.neon.tbl1.v16i8",
    "wasm": "llvm.wasm.swizzle",
}
"""What moves octets by others, on the processors that kernels are made for."""
OCTETS = ir.VectorType(I8, LANES)
NEAR_BITS = "near_bits"
"""Of 64 octets, the bits from those on that lanes say: a function that is written as the processor has it (`machine.optimised`)."""
POINTERS, MASK = ir.VectorType(I32.as_pointer(), LANES), ir.VectorType(I1, LANES)


def _constant(value: int) -> Any:
    return ir.Constant(WHOLES, [value & 0xFFFFFFFF] * LANES)


class LlvmWhole:
    """16 whole numbers of 32 bits."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _of(self, emit: Callable[..., Any], a: Any, b: Any) -> LlvmWhole:
        parts = [x.value if isinstance(x, LlvmWhole) else _constant(x) for x in (a, b)]
        return LlvmWhole(self.builder, emit(*parts))

    def __add__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.add, self, other)

    def __sub__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.sub, self, other)

    def __rsub__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.sub, other, self)

    def __mul__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.mul, self, other)

    def __and__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.and_, self, other)

    def __or__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.or_, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def _count(self, other: Any) -> Any:
        return other & 31 if isinstance(other, LlvmWhole) else other

    def __lshift__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.shl, self, self._count(other))

    def __rlshift__(self, other: int) -> LlvmWhole:
        return self._of(self.builder.shl, other, self._count(self))

    def __rshift__(self, other: Any) -> LlvmWhole:
        return self._of(self.builder.lshr, self, self._count(other))

    def down(self, count: Any) -> LlvmWhole:
        return self._of(self.builder.ashr, self, self._count(count))

    def compare(self, how: str, other: Any) -> Any:
        other = other.value if isinstance(other, LlvmWhole) else _constant(other)
        return self.builder.icmp_signed(how, self.value, other)


class LlvmWholeLanes:
    """What the LLVM emitter does with whole numbers; see `Formulas`."""

    builder: Any
    function: Any
    _address: Callable[..., Any]

    def half(self, array: Any, offset: Any, number: Any) -> Any:
        number = I64(number) if isinstance(number, int) else number
        at = self.builder.add(offset, self.builder.ashr(number, I64(1)))
        words = self.builder.bitcast(self._address(array, at), I16.as_pointer())
        place = self.builder.gep(words, [self.builder.and_(number, I64(1))], inbounds=True)
        return self.builder.zext(self.builder.load(place), I64)

    def octet(self, array: Any, number: Any) -> Any:
        builder = self.builder
        self.function.check_lanes(array.name, builder.lshr(number, I64(2)), 1, array.size)
        place = builder.gep(builder.bitcast(array.pointer, I8.as_pointer()), [number])
        return builder.zext(builder.load(place), I64)

    def part(self, number: Any, first: int, count: int) -> Any:
        return self.builder.and_(self.builder.lshr(number, I64(first)), I64((1 << count) - 1))

    def count(self, mask: Any) -> Any:
        function = self.function.module.intrinsic("llvm.ctpop.i64", I64, [I64])
        return self.builder.call(function, [mask])

    def either(self, a: Any, b: Any) -> Any:
        return self.builder.or_(a, b)

    def any(self, number: Any) -> Any:
        return self.builder.zext(self.builder.icmp_signed("!=", number, I64(0)), I64)

    def group(self, i: Any) -> Any:
        return self.builder.ashr(i, I64(4))

    def lane_numbers(self, i: Any) -> LlvmWhole:
        return LlvmWhole(self.builder, ir.Constant(WHOLES, list(range(LANES))))

    def wholes(self, value: Any) -> LlvmWhole:
        if isinstance(value, int):
            return LlvmWhole(self.builder, _constant(value))
        blank = ir.Constant(WHOLES, ir.Undefined)
        first = self.builder.insert_element(blank, self.builder.trunc(value, I32), I32(0))
        return LlvmWhole(
            self.builder, self.builder.shuffle_vector(first, blank, ir.Constant(WHOLES, [0] * LANES))
        )

    def ranks(self, i: Any, mask: Any) -> Any:
        builder, none = self.builder, ir.Constant(OCTETS, [0] * LANES)
        own = builder.zext(builder.bitcast(builder.trunc(mask, I16), MASK), OCTETS)
        value = own
        for step in (1, 2, 4, 8):
            order = ir.Constant(WHOLES, [k - step if k >= step else LANES for k in range(LANES)])
            value = builder.add(value, builder.shuffle_vector(value, none, order))
        # Octets picked by 128 and more are zero.
        absent = builder.sub(own, ir.Constant(OCTETS, [1] * LANES))
        return builder.or_(builder.sub(value, own), builder.and_(absent, ir.Constant(OCTETS, [128] * LANES)))

    def picked(self, array: Any, octet: Any, ranks: Any) -> LlvmWhole:
        builder = self.builder
        last = builder.lshr(builder.add(octet, I64(LANES - 1)), I64(2))
        self.function.check_lanes(array.name, last, 1, array.size)
        base = builder.bitcast(array.pointer, I8.as_pointer())
        place = builder.bitcast(builder.gep(base, [octet]), OCTETS.as_pointer())
        found = builder.load(place)
        found.align = 1
        shuffle = next(
            (name for kind, name in SHUFFLES.items() if self.function.module.module.triple.startswith(kind)),
            None,
        )
        if shuffle:
            function = self.function.module.intrinsic(shuffle, OCTETS, [OCTETS, OCTETS])
            out = builder.call(function, [found, ranks])
        else:
            out = ir.Constant(OCTETS, ir.Undefined)
            for lane in range(LANES):
                index = builder.extract_element(ranks, I32(lane))
                inside = builder.extract_element(found, builder.and_(index, I8(LANES - 1)))
                there = builder.icmp_unsigned("<", index, I8(LANES))
                out = builder.insert_element(out, builder.select(there, inside, I8(0)), I32(lane))
        return LlvmWhole(builder, builder.zext(out, WHOLES))

    def _gathered(self, array: Any, offset: Any, at: LlvmWhole, size: int) -> Any:
        """The `size` octets that each lane's bits begin in."""
        builder = self.builder
        places = builder.zext((at >> 3).value, WIDE)
        for lane in range(LANES if self.function.module.fault is not None else 0):
            place = builder.add(builder.extract_element(places, I32(lane)), I64(size - 1))
            last = builder.add(offset, builder.lshr(place, I64(2)))
            self.function.check_lanes(array.name, last, 1, array.size)
        base = builder.ptrtoint(builder.gep(array.pointer, [offset]), I64)
        blank = ir.Constant(WIDE, ir.Undefined)
        every = ir.Constant(WHOLES, [0] * LANES)
        bases = builder.shuffle_vector(builder.insert_element(blank, base, I32(0)), blank, every)
        pointers = builder.inttoptr(builder.add(bases, places), POINTERS)
        kind = WHOLES if size == 4 else WIDE
        gather = self.function.module.intrinsic(
            f"llvm.masked.gather.v{LANES}i{8 * size}.v{LANES}p0", kind, [POINTERS, I32, MASK, kind]
        )
        all_lanes = ir.Constant(MASK, [1] * LANES)
        return builder.call(gather, [pointers, I32(1), all_lanes, ir.Constant(kind, ir.Undefined)])

    def bits(self, array: Any, offset: Any, at: LlvmWhole, width: int) -> LlvmWhole:
        found = LlvmWhole(self.builder, self._gathered(array, offset, at, 4))
        return found if width == 32 else (found >> (at & 7)) & ((1 << width) - 1)

    def fields(self, array: Any, offset: Any, at: LlvmWhole, widths: Sequence[LlvmWhole]) -> list[LlvmWhole]:
        builder = self.builder
        left = builder.lshr(self._gathered(array, offset, at, 8), builder.zext((at & 7).value, WIDE))
        out = []
        for k, width in enumerate(widths):
            mask = (1 << width) - 1
            out.append(LlvmWhole(builder, builder.trunc(left, WHOLES)) & mask)
            if k + 1 < len(widths):
                left = builder.lshr(left, builder.zext((width & 31).value, WIDE))
        return out

    def near_fields(
        self, array: Any, octet: Any, at: LlvmWhole, widths: Sequence[LlvmWhole]
    ) -> list[LlvmWhole]:
        builder = self.builder
        last = builder.lshr(builder.add(octet, I64(63)), I64(2))
        self.function.check_lanes(array.name, last, 1, array.size)
        place = builder.gep(builder.bitcast(array.pointer, I8.as_pointer()), [octet])
        function = self.function.module.intrinsic(NEAR_BITS, WHOLES, [I8.as_pointer(), WHOLES])
        left = LlvmWhole(builder, builder.call(function, [place, at.value]))
        out = []
        for k, width in enumerate(widths):
            out.append(left & ((1 << width) - 1))
            if k + 1 < len(widths):
                left = left >> width
        return out

    def first(self, x: LlvmWhole) -> Any:
        return self.builder.zext(self.builder.extract_element(x.value, I32(0)), I64)

    def ones(self, x: LlvmWhole) -> LlvmWhole:
        function = self.function.module.intrinsic(f"llvm.ctpop.v{LANES}i32", WHOLES, [WHOLES])
        return LlvmWhole(self.builder, self.builder.call(function, [x.value]))

    def sums(
        self, i: Any, size_of: Callable[[Any, Any], Sequence[LlvmWhole]]
    ) -> list[tuple[LlvmWhole, LlvmWhole]]:
        out = []
        none = ir.Constant(WHOLES, [0] * LANES)
        for size in size_of(lambda mask: self.ranks(i, mask), self.lane_numbers(i)):
            value = size.value
            for step in (1, 2, 4, 8):
                order = ir.Constant(WHOLES, [k - step if k >= step else LANES for k in range(LANES)])
                value = self.builder.add(value, self.builder.shuffle_vector(value, none, order))
            last = self.builder.shuffle_vector(value, none, ir.Constant(WHOLES, [LANES - 1] * LANES))
            before = self.builder.sub(value, size.value)
            out.append((LlvmWhole(self.builder, before), LlvmWhole(self.builder, last)))
        return out
