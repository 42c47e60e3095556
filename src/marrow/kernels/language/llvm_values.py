"""Values while LLVM is printed: the LLVM values that a number, a tuple, an array or a record consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir as llvm

from marrow.kernels.language.types import (
    BOOL,
    FLOAT,
    INTEGER,
    ArrayKind,
    Kind,
    RecordKind,
    ScalarKind,
    StructKind,
)

__all__ = ["Value", "load_from_frame", "part_types", "returned_type", "stored_type"]

I1, I8, I32, I64, F32, F64 = (
    llvm.IntType(1), llvm.IntType(8), llvm.IntType(32), llvm.IntType(64), llvm.FloatType(), llvm.DoubleType(),
)  # fmt: skip
_SCALARS = {FLOAT: F64, INTEGER: I64, BOOL: I1}
_STORED = {
    "f4": F32, "f8": F64, "i8": I64, "i4": I32, "i2": llvm.IntType(16), "i1": I8, "u1": I8, "u2": llvm.IntType(16), "u4": I32,
    "b1": I8,
}  # fmt: skip


@dataclass(frozen=True)
class Value:
    """A kind, and the LLVM values that one of it consists of: of an array its address and sizes."""

    kind: Kind
    parts: tuple[Any, ...]


def stored_type(dtype: np.dtype[Any]) -> Any:
    """The LLVM type of one element in memory; bytes for records."""
    return I8 if dtype.names is not None else _STORED[dtype.str[1:]]


def part_types(kind: Kind) -> list[Any]:
    """The LLVM types a value of a kind consists of."""
    if isinstance(kind, ScalarKind):
        return [_SCALARS[kind]]
    if isinstance(kind, ArrayKind):
        return [stored_type(kind.dtype).as_pointer(), *[I64] * kind.ndim]
    if isinstance(kind, RecordKind):
        return [I8.as_pointer()]
    if isinstance(kind, StructKind):
        return [I64.as_pointer()]
    return [t for item in kind.items for t in part_types(item)]


def returned_type(kind: Any) -> Any:
    """The LLVM type that a function returns for a result of a kind."""
    types = [] if kind is None else part_types(kind)
    return llvm.VoidType() if not types else types[0] if len(types) == 1 else llvm.LiteralStructType(types)


def load_from_frame(builder: Any, frame: Any, at: int, kind: Kind) -> Value:
    """An argument from the words of a frame that begin at `at`."""

    def word(k: int, kind: Any = I64) -> Any:
        place = builder.gep(frame, [I64(k)])
        if kind is not I64:
            place = builder.bitcast(place, kind.as_pointer())
        loaded = builder.load(place)
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    if isinstance(kind, StructKind):
        return Value(kind, (builder.gep(frame, [I64(at)]),))
    if isinstance(kind, ArrayKind):
        pointer = builder.inttoptr(word(at), stored_type(kind.dtype).as_pointer())
        sizes = [
            I64(int(size)) if size.isdigit() else word(at + 1 + axis) for axis, size in enumerate(kind.sizes)
        ]
        return Value(kind, (pointer, *sizes))
    return Value(kind, (word(at, F64 if kind == FLOAT else I64),))
