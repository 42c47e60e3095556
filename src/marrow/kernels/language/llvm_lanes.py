"""Lane formulas as LLVM vector instructions: 16 lanes are one, two or four registers, as the processor has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from marrow.kernels.language.lanes import LANES, Formulas
from marrow.kernels.language.llvm_values import F32, I1, I32, I64
from marrow.kernels.language.llvm_whole_lanes import LlvmWhole, LlvmWholeLanes
from marrow.kernels.language.types import FLOAT, ArrayKind, ScalarKind, StructKind

__all__ = ["LLVMEmitter", "emit_block"]


def _vector_type(lanes: int = LANES) -> Any:
    return ir.VectorType(F32, lanes)


def _mask(lanes: Sequence[int]) -> Any:
    return ir.Constant(ir.VectorType(I32, len(lanes)), list(lanes))


class LaneArray:
    """A flat array: its name, where it begins, how long it is."""

    __slots__ = ("name", "pointer", "size")

    def __init__(self, name: str, pointer: Any, size: Any) -> None:
        self.name, self.pointer, self.size = name, pointer, size


class LlvmVector:
    """A value of 16 float32 lanes (or one float32, where it came from `scalar`) with the usual operators."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _other(self, other: Any) -> Any:
        if isinstance(other, LlvmVector):
            return other.value
        lanes = getattr(self.value.type, "count", None)
        return ir.Constant(self.value.type, [float(other)] * lanes if lanes else float(other))

    def __add__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fadd(self.value, self._other(other)))

    def __sub__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fsub(self.value, self._other(other)))

    def __rsub__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fsub(self._other(other), self.value))

    def __mul__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fmul(self.value, self._other(other)))

    def __truediv__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fdiv(self.value, self._other(other)))

    def __rtruediv__(self, other: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fdiv(self._other(other), self.value))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.fneg(self.value))

    def compare(self, how: str, other: Any) -> Any:
        """A lane mask for `select`: `how` is one of `< <= == != >= >`; NaN compares false, but `!=` true."""
        emit = self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered
        return emit(how, self.value, self._other(other))


class LLVMEmitter(LlvmWholeLanes, Formulas):
    """Emits at the end of a builder's block. Arrays are `LaneArray`s; offsets are 64-bit numbers that count elements."""

    def __init__(self, function: Any) -> None:
        self.function, self.builder = function, function.builder

    # -- whole numbers --------------------------------------------------------------------------------------------
    def at(self, offset: Any, step: int = 0) -> Any:
        return self.builder.add(offset, I64(step)) if step else offset

    def times(self, offset: Any, factor: int) -> Any:
        return self.builder.mul(offset, I64(factor))

    def product(self, a: Any, b: Any) -> Any:
        return self.builder.mul(a, b)

    def plus(self, a: Any, b: Any) -> Any:
        return self.builder.add(a, b)

    def minus(self, a: Any, b: Any) -> Any:
        return self.builder.sub(a, b)

    def index(self, array: Any, offset: Any) -> Any:
        """An element of an int32 array, as an offset."""
        return self.builder.sext(self.builder.load(self._address(array, offset)), I64)

    # -- loads, stores --------------------------------------------------------------------------------------------
    def _address(self, array: LaneArray, offset: Any, lanes: int = 1) -> Any:
        self.function.check_lanes(array.name, offset, lanes, array.size)
        return self.builder.gep(array.pointer, [offset], inbounds=True)

    def _vector_address(self, array: Any, offset: Any, lanes: int) -> Any:
        return self.builder.bitcast(self._address(array, offset, lanes), _vector_type(lanes).as_pointer())

    def load(self, array: Any, offset: Any, lanes: int = LANES) -> LlvmVector:
        loaded = self.builder.load(self._vector_address(array, offset, lanes))
        loaded.align = 4
        return LlvmVector(self.builder, loaded)

    def scalar(self, array: Any, offset: Any) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.load(self._address(array, offset)))

    def store(self, array: Any, offset: Any, vector: LlvmVector) -> None:
        address = self._vector_address(array, offset, vector.value.type.count)
        self.builder.store(vector.value, address).align = 4

    def store_scalar(self, array: Any, offset: Any, value: LlvmVector) -> None:
        self.builder.store(value.value, self._address(array, offset))

    def store_bits(self, array: Any, offset: Any, mask: Any) -> None:
        bits = self.builder.zext(self.builder.bitcast(mask, ir.IntType(LANES)), I32)
        self.builder.store(bits, self._address(array, offset))

    def splat(self, value: Any, lanes: int = LANES) -> LlvmVector:
        """One number in every lane."""
        if isinstance(value, (int, float)):
            return LlvmVector(self.builder, ir.Constant(_vector_type(lanes), [float(value)] * lanes))
        raw = value.value if isinstance(value, LlvmVector) else value
        blank = ir.Constant(_vector_type(lanes), ir.Undefined)
        first = self.builder.insert_element(blank, raw, I32(0))
        return LlvmVector(self.builder, self.builder.shuffle_vector(first, blank, _mask([0] * lanes)))

    def constant(self, value: float) -> LlvmVector:
        """A single number, for scalar arithmetic."""
        return LlvmVector(self.builder, ir.Constant(F32, float(value)))

    # -- arithmetic -----------------------------------------------------------------------------------------------
    def _call(self, name: str, *vectors: LlvmVector) -> LlvmVector:
        kind = vectors[0].value.type
        suffix = f"v{kind.count}f32" if isinstance(kind, ir.VectorType) else "f32"
        function = self.function.module.intrinsic(f"llvm.{name}.{suffix}", kind, [kind] * len(vectors))
        return LlvmVector(self.builder, self.builder.call(function, [v.value for v in vectors]))

    def fma(self, a: Any, b: Any, c: Any) -> LlvmVector:
        like = next(v for v in (a, b, c) if isinstance(v, LlvmVector))
        return self._call("fma", *(LlvmVector(self.builder, like._other(v)) for v in (a, b, c)))

    def sqrt(self, x: LlvmVector) -> LlvmVector:
        return self._call("sqrt", x)

    def select(self, mask: Any, yes: LlvmVector, no: LlvmVector) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.select(mask, yes.value, no.value))

    def number(self, x: LlvmWhole) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.sitofp(x.value, _vector_type()))

    def as_float(self, x: LlvmWhole) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.bitcast(x.value, _vector_type()))

    # -- rearranging ----------------------------------------------------------------------------------------------
    def shuffle(self, a: LlvmVector, b: LlvmVector, lanes: Sequence[int]) -> LlvmVector:
        return LlvmVector(self.builder, self.builder.shuffle_vector(a.value, b.value, _mask(list(lanes))))

    def scatter(self, array: Any, rows: Any, first: Any, parts: Sequence[LlvmVector], base: Any) -> None:
        """Writes 16 rows of 3 or 4 floats; row `l` goes to the row after `base` that the int32 `rows[first + l]` names."""
        width = len(parts)
        quads = self.quads(*parts, *([parts[-1]] * (4 - width)))
        for group in range(4):
            for q in range(4):
                row = self.index(rows, self.at(first, 4 * group + q))
                quad = self.shuffle(quads[q], quads[q], range(4 * group, 4 * group + 4))
                address = self.plus(base, self.times(row, width))
                if width == 4:
                    self.store(array, address, quad)
                else:
                    # 8 bytes and 4: a masked store is three times as slow on processors without AVX-512.
                    self.store(array, address, self.shuffle(quad, quad, [0, 1]))
                    last = LlvmVector(self.builder, self.builder.extract_element(quad.value, I32(2)))
                    self.store_scalar(array, self.at(address, 2), last)

    def scatter_run(self, array: Any, row: Any, parts: Sequence[LlvmVector], base: Any) -> None:
        """Writes 16 rows of 3 or 4 floats that lie one behind the other, from `row` after `base` on."""
        width = len(parts)
        at = self.plus(base, self.times(row, width))
        pairs = [self.shuffle(parts[0], parts[1], _interleaved(2)), None]
        pairs[1] = self.shuffle(parts[2], parts[-1], _interleaved(2))
        lanes = [(l % width, l // width) for l in range(16 * width)]
        order = [2 * e + (0 if c in (0, 2) else 1) + (0 if c < 2 else 32) for c, e in lanes]
        for k in range(width):
            chosen = order[16 * k : 16 * k + 16]
            self.store(array, self.at(at, 16 * k), self.shuffle(pairs[0], pairs[1], chosen))  # type: ignore[arg-type]

    # -- control --------------------------------------------------------------------------------------------------
    def branch(self, offset: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """`yes()` where the number is zero or more, else `no()`."""
        with self.builder.if_else(self.builder.icmp_signed(">=", offset, I64(0))) as (then, otherwise):
            with then:
                yes()
            with otherwise:
                no()

    def accumulate(
        self,
        start: Sequence[LlvmVector],
        count: Any,
        step: Callable[[Any, list[LlvmVector]], list[LlvmVector]],
    ) -> list[LlvmVector]:
        """`for k in range(count): values = step(k, values)`, with the values kept in registers."""
        builder, before = self.builder, self.builder.block
        head, body, end = (builder.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        index = builder.phi(I64)
        index.add_incoming(I64(0), before)
        values = [builder.phi(v.value.type) for v in start]
        for phi, v in zip(values, start):
            phi.add_incoming(v.value, before)
        builder.cbranch(builder.icmp_signed("<", index, count), body, end)
        builder.position_at_end(body)
        moved = step(index, [type(v)(builder, phi) for phi, v in zip(values, start)])
        index.add_incoming(builder.add(index, I64(1)), builder.block)
        for phi, v in zip(values, moved):
            phi.add_incoming(v.value, builder.block)
        builder.branch(head)
        builder.position_at_end(end)
        return [type(v)(builder, phi) for phi, v in zip(values, start)]


def _interleaved(width: int) -> list[int]:
    return [(l % width) * LANES + l // width for l in range(LANES * width)]


class _Struct:
    """A struct of arguments: fields are read from the frame when they are used."""

    def __init__(self, function: Any, value: Any, name: str) -> None:
        self._function, self._value, self._name = function, value, name

    def __getattr__(self, name: str) -> Any:
        return _lowered(
            self._function, self._function.struct_field(self._value, name), f"{self._name}.{name}"
        )


def _lowered(function: Any, value: Any, name: str) -> Any:
    if isinstance(value.kind, StructKind):
        return _Struct(function, value, name)
    if isinstance(value.kind, ArrayKind):
        return LaneArray(name, value.parts[0], value.parts[1])
    if value.kind == FLOAT:
        return LlvmVector(function.builder, function.builder.fptrunc(value.parts[0], F32))
    if isinstance(value.kind, ScalarKind):
        number = value.parts[0]
        return function.builder.zext(number, I64) if number.type == I1 else number
    raise TypeError("blocks take numbers and arrays")


def emit_block(formula: Callable[..., None], function: Any, arguments: Sequence[Any]) -> None:
    """Writes a block into the function that calls it."""
    names = function.lane_names(formula, len(arguments))
    formula(LLVMEmitter(function), *(_lowered(function, v, name) for v, name in zip(arguments, names)))
