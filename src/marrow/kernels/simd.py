"""A small vector language for Numba: blocks of straight-line SIMD code, written as formulas.

Numba does not vectorise loops over many arrays (it has no `restrict`), so the hot kernels spell their vectors out. A
*block* is a Python function that runs once, at compile time, and emits LLVM vector code for 16 lanes (`zmm`, two `ymm`
or four `xmm` registers, NEON elsewhere: LLVM splits as the host needs). It is called from ordinary Numba code:

    @block
    def axpy(e, i, x, y, a):                    # i: integer; x, y: flat float32 arrays; a: float32
        e.store(y, i, e.load(y, i) + e.splat(a) * e.load(x, i))

    for i in range(0, n, 16):
        axpy(i, x, y, a)

Emitting a whole block at once compiles ten times quicker than overloading operators on a Numba type would.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from marrow.kernels.linking import FAST_MATH

__all__ = ["LANES", "Emitter", "Vector", "block"]

LANES = 16
FLOAT = ir.FloatType()
I32, I64 = ir.IntType(32), ir.IntType(64)
FLAGS = list(FAST_MATH)


def _vector_type(lanes: int = LANES) -> ir.VectorType:
    return ir.VectorType(FLOAT, lanes)


class Vector:
    """A value of 16 float32 lanes (or one float, where it came from `scalar`) with the usual operators."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _other(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return other.value
        lanes = getattr(self.value.type, "count", None)
        return ir.Constant(self.value.type, [float(other)] * lanes if lanes else float(other))

    def _emit(self, operation: str, left: Any, right: Any) -> Vector:
        return Vector(self.builder, getattr(self.builder, operation)(left, right, flags=FLAGS))

    def __add__(self, other: Any) -> Vector:
        return self._emit("fadd", self.value, self._other(other))

    def __sub__(self, other: Any) -> Vector:
        return self._emit("fsub", self.value, self._other(other))

    def __rsub__(self, other: Any) -> Vector:
        return self._emit("fsub", self._other(other), self.value)

    def __mul__(self, other: Any) -> Vector:
        return self._emit("fmul", self.value, self._other(other))

    def __truediv__(self, other: Any) -> Vector:
        return self._emit("fdiv", self.value, self._other(other))

    def __rtruediv__(self, other: Any) -> Vector:
        return self._emit("fdiv", self._other(other), self.value)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Vector:
        return 0.0 - self

    def compare(self, how: str, other: Any) -> Any:
        """A lane mask for `Emitter.select`: `how` is one of `< <= == != >= >`; NaN compares false, but `!=` true."""
        emit = self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered
        return emit(how, self.value, self._other(other))


class Emitter:
    """The instructions a block may use. Pointers are flat float32 or int32 arrays, offsets count their elements."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    # -- integers -------------------------------------------------------------------------------------------------
    def at(self, offset: Any, step: int = 0) -> Any:
        """`offset + step` as a 64-bit index."""
        return self.builder.add(offset, I64(step)) if step else offset

    def times(self, offset: Any, factor: int) -> Any:
        return self.builder.mul(offset, I64(factor))

    def plus(self, a: Any, b: Any) -> Any:
        return self.builder.add(a, b)

    def row(self, offset: Any, number: int, stride: Any) -> Any:
        """`offset + number * stride`, for a stride known only at run time."""
        return self.builder.add(offset, self.builder.mul(stride, I64(number))) if number else offset

    def index(self, array: Any, offset: Any) -> Any:
        """An element of an int32 array, as a 64-bit index."""
        return self.builder.sext(self.builder.load(self._address(array, offset)), I64)

    def pointer(self, table: Any, number: int, *, integer: bool = False) -> Any:
        """The array whose address is entry `number` of an int64 table."""
        address = self.builder.load(self._address(table, I64(number)))
        # Nothing a kernel writes is the table itself, so the address need be read only once.
        address.set_metadata("invariant.load", self.builder.module.add_metadata([]))
        return self.builder.inttoptr(address, (I32 if integer else FLOAT).as_pointer())

    # -- loads, stores --------------------------------------------------------------------------------------------
    def _address(self, array: Any, offset: Any) -> Any:
        return self.builder.gep(array, [offset], inbounds=True)

    def _vector_address(self, array: Any, offset: Any, lanes: int) -> Any:
        return self.builder.bitcast(self._address(array, offset), _vector_type(lanes).as_pointer())

    def load(self, array: Any, offset: Any, lanes: int = LANES) -> Vector:
        loaded = self.builder.load(self._vector_address(array, offset, lanes))
        loaded.align = 4
        return Vector(self.builder, loaded)

    def scalar(self, array: Any, offset: Any) -> Vector:
        return Vector(self.builder, self.builder.load(self._address(array, offset)))

    def splat(self, value: Any, lanes: int = LANES) -> Vector:
        """One number in every lane."""
        if isinstance(value, (int, float)):
            return Vector(self.builder, ir.Constant(_vector_type(lanes), [float(value)] * lanes))
        raw = value.value if isinstance(value, Vector) else value
        blank = ir.Constant(_vector_type(lanes), ir.Undefined)
        first = self.builder.insert_element(blank, raw, I32(0))
        return Vector(self.builder, self.builder.shuffle_vector(first, blank, _mask([0] * lanes)))

    def constant(self, value: float) -> Vector:
        """A single number, for scalar arithmetic."""
        return Vector(self.builder, ir.Constant(FLOAT, float(value)))

    def broadcast(self, array: Any, offset: Any) -> Vector:
        """One element of an array in every lane."""
        return self.splat(self.scalar(array, offset))

    def broadcast4(self, array: Any, offset: Any) -> Vector:
        """Four neighbouring elements, repeated four times."""
        quad = self.load(array, offset, 4)
        return self.shuffle(quad, quad, [0, 1, 2, 3] * 4)

    def store(self, array: Any, offset: Any, vector: Vector) -> None:
        stored = self.builder.store(
            vector.value, self._vector_address(array, offset, vector.value.type.count)
        )
        stored.align = 4

    def store12(self, array: Any, offset: Any, vector: Vector) -> None:
        """The first 12 lanes: an affine matrix."""
        self.store(array, offset, self.shuffle(vector, vector, range(8)))
        self.store(array, self.at(offset, 8), self.shuffle(vector, vector, range(8, 12)))

    # -- arithmetic -----------------------------------------------------------------------------------------------
    def dot(self, a: Sequence[Vector], b: Sequence[Vector]) -> Vector:
        total = a[0] * b[0]
        for x, y in zip(a[1:], b[1:]):
            total = total + x * y
        return total

    def cross(self, a: Sequence[Vector], b: Sequence[Vector]) -> list[Vector]:
        return [
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]

    def _call(self, name: str, *vectors: Vector) -> Vector:
        kind = vectors[0].value.type
        suffix = f"v{kind.count}f32" if isinstance(kind, ir.VectorType) else "f32"
        function = cgutils.get_or_insert_function(
            self.builder.module, ir.FunctionType(kind, [kind] * len(vectors)), f"llvm.{name}.{suffix}"
        )
        return Vector(self.builder, self.builder.call(function, [v.value for v in vectors], fastmath=FLAGS))

    def sqrt(self, x: Vector) -> Vector:
        return self._call("sqrt", x)

    def copysign(self, magnitude: Vector, sign: Vector) -> Vector:
        return self._call("copysign", magnitude, sign)

    def select(self, mask: Any, yes: Vector, no: Vector) -> Vector:
        return Vector(self.builder, self.builder.select(mask, yes.value, no.value))

    def inverse_length(self, squared: Vector) -> Vector:
        """`1 / sqrt(squared)`, and zero for zero, so that what has no direction stays zero. NaN stays NaN."""
        return self.select(squared.compare("==", 0.0), self.splat(0.0), 1.0 / self.sqrt(squared))

    # -- rearranging ----------------------------------------------------------------------------------------------
    def shuffle(self, a: Vector, b: Vector, lanes: Sequence[int]) -> Vector:
        return Vector(self.builder, self.builder.shuffle_vector(a.value, b.value, _mask(lanes)))

    def quads(self, x: Vector, y: Vector, z: Vector, w: Vector) -> list[Vector]:
        """Transposes four vectors within each group of four lanes: lane group `g` of result `q` is the quad
        `(x, y, z, w)` of element `4 g + q`."""
        low, high = _UNPACK_LOW, _UNPACK_HIGH
        xy, zw = (
            (self.shuffle(x, y, low), self.shuffle(x, y, high)),
            (self.shuffle(z, w, low), self.shuffle(z, w, high)),
        )
        return [
            self.shuffle(xy[0], zw[0], _PAIR_LOW),
            self.shuffle(xy[0], zw[0], _PAIR_HIGH),
            self.shuffle(xy[1], zw[1], _PAIR_LOW),
            self.shuffle(xy[1], zw[1], _PAIR_HIGH),
        ]

    def scatter(self, array: Any, rows: Any, first: Any, parts: Sequence[Vector], base: Any) -> None:
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
                    self._store3(array, address, quad)

    def _store3(self, array: Any, offset: Any, quad: Vector) -> None:
        """The first three lanes of a quad, without touching the float behind them."""
        pointer = self._vector_address(array, offset, 4)
        mask = ir.Constant(ir.VectorType(ir.IntType(1), 4), [1, 1, 1, 0])
        signature = ir.FunctionType(ir.VoidType(), [_vector_type(4), pointer.type, I32, mask.type])
        function = cgutils.get_or_insert_function(
            self.builder.module, signature, "llvm.masked.store.v4f32.p0"
        )
        self.builder.call(function, [quad.value, pointer, I32(4), mask])

    # -- loops ----------------------------------------------------------------------------------------------------
    def accumulate(
        self, start: Sequence[Vector], count: Any, step: Callable[[Any, list[Vector]], list[Vector]]
    ) -> list[Vector]:
        """`for k in range(count): values = step(k, values)`, with the values kept in registers."""
        slots = [cgutils.alloca_once_value(self.builder, v.value) for v in start]
        for slot, v in zip(slots, start):
            self.builder.store(v.value, slot)
        with cgutils.for_range(self.builder, count, intp=I64) as loop:
            values = [Vector(self.builder, self.builder.load(slot)) for slot in slots]
            for slot, v in zip(slots, step(loop.index, values)):
                self.builder.store(v.value, slot)
        return [Vector(self.builder, self.builder.load(slot)) for slot in slots]


def _mask(lanes: Sequence[int]) -> Any:
    return ir.Constant(ir.VectorType(I32, len(lanes)), list(lanes))


def _within_quads(pattern: Sequence[int]) -> list[int]:
    """A pattern over one group of four lanes (4.. means the second operand), repeated for all four groups."""
    return [(p if p < 4 else p - 4 + LANES) + 4 * g for g in range(4) for p in pattern]


_UNPACK_LOW, _UNPACK_HIGH = _within_quads([0, 4, 1, 5]), _within_quads([2, 6, 3, 7])
_PAIR_LOW, _PAIR_HIGH = _within_quads([0, 1, 4, 5]), _within_quads([2, 3, 6, 7])


def block(emit: Callable[..., None]) -> Any:
    """Makes a Numba-callable from a function that emits one block. Arguments: integers, float32 scalars, flat arrays."""

    @intrinsic
    def call(typing_context: Any, *arguments: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            lowered = []
            for kind, value in zip(signature.args[0], cgutils.unpack_tuple(builder, values[0])):
                if isinstance(kind, types.Array):
                    lowered.append(context.make_array(kind)(context, builder, value).data)
                elif isinstance(kind, types.Integer):
                    lowered.append(context.cast(builder, value, kind, types.int64))
                else:
                    lowered.append(context.cast(builder, value, kind, types.float32))
            emit(Emitter(context, builder), *lowered)
            return context.get_dummy_value()

        return types.none(types.StarArgTuple(arguments)), generate  # type: ignore[attr-defined]

    return call
