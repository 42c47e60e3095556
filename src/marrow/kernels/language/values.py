"""Values at compile time: what the translator knows of a number, a tuple, an array or a record while it writes LLVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir

from marrow.kernels.language.kinds import (
    BOOL,
    FLOAT,
    INTEGER,
    ArrayKind,
    Kind,
    RecordKind,
    ScalarKind,
    StructKind,
    TupleKind,
)

__all__ = ["TranslationError", "Value", "described", "load_from_frame", "loose", "part_types", "stored_type"]

I1, I8, I32, I64, F32, F64 = (
    ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType(),
)  # fmt: skip
_SCALARS = {FLOAT: F64, INTEGER: I64, BOOL: I1}
_STORED = {
    "f4": F32, "f8": F64, "i8": I64, "i4": I32, "i2": ir.IntType(16), "i1": I8, "u1": I8, "u2": ir.IntType(16), "u4": I32,
    "b1": I8,
}  # fmt: skip


class TranslationError(Exception):
    """A function says something that is not in the subset."""


@dataclass(frozen=True)
class Value:
    """A value at compile time: its kind, the LLVM values it consists of, and the number it is, where that is known."""

    kind: Kind
    parts: tuple[Any, ...]
    known: Any = None


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


def loose(kind: Kind) -> Kind:
    """The kind without what only signatures say."""
    if isinstance(kind, ArrayKind):
        return ArrayKind(kind.dtype, ("?",) * kind.ndim)
    if isinstance(kind, TupleKind):
        return TupleKind(tuple(loose(k) for k in kind.items))
    return kind


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
        return Value(loose(kind), (pointer, *sizes))
    return Value(kind, (word(at, F64 if kind == FLOAT else I64),))


def described(kind: Kind) -> str:
    if isinstance(kind, ScalarKind):
        return {"f": "a float", "i": "a whole number", "b": "a truth value"}[kind.letter]
    if isinstance(kind, TupleKind):
        return f"a tuple ({', '.join(map(described, kind.items))})"
    return str(kind) if isinstance(kind, ArrayKind) else "a record"
