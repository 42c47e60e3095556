"""How Python calls a kernel: what its arguments are, and machine code that takes them out of Python's objects.

A kernel is called with C-contiguous arrays, whole numbers, floats and (named) tuples of these. `describe` says what a call was
given; `emit_entry` writes, once for each such description, a Python built-in that reads the arrays' addresses and shapes
straight from the objects into a *block* of 64-bit words, lets other threads run, and calls the kernel with the block. Taking
thirty arguments apart this way costs about as much as one would in Python.

The block holds one word for a number, and for an array its address followed by its shape, argument by argument. What the
kernel returns comes back in the first words of the block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.errors import ValidationError

__all__ = ["FLOAT", "INTEGER", "ArrayOf", "Kind", "TupleOf", "describe", "emit_entry", "leaves", "words"]

MAX_RESULTS = 8
PYTHON_CALLS = (
    "PyErr_Occurred", "PyEval_RestoreThread", "PyEval_SaveThread", "PyFloat_AsDouble", "PyLong_AsLongLong",
    "PyLong_FromLongLong", "PyTuple_GetItem", "PyTuple_New", "PyTuple_SetItem", "PyTuple_Size", "Py_IncRef",
)  # fmt: skip
"""What an entry calls of Python."""
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Flags of a NumPy array."""
HEAD = object.__basicsize__
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48
"""Where an array object keeps what: the part of NumPy's binary interface that has never changed."""


@dataclass(frozen=True)
class ArrayOf:
    """An array argument. One that may be written is also accepted where it is only read."""

    dtype: np.dtype[Any]
    ndim: int
    writeable: bool

    def __str__(self) -> str:
        described = self.dtype.str if self.dtype.names is None else f"{self.dtype.descr}{self.dtype.itemsize}"
        return f"{described}[{self.ndim}]{'w' if self.writeable else ''}"


@dataclass(frozen=True)
class Number:
    """A whole number or a float."""

    letter: str

    def __str__(self) -> str:
        return self.letter


@dataclass(frozen=True)
class TupleOf:
    """A tuple of arguments; `made_by` is its class where its items have names."""

    items: tuple[Kind, ...]
    made_by: type

    def __str__(self) -> str:
        names = getattr(self.made_by, "_fields", "")
        return f"{names}({','.join(map(str, self.items))})"


INTEGER, FLOAT = Number("i"), Number("f")
Kind = ArrayOf | Number | TupleOf


def describe(value: Any) -> Kind:
    """What an argument is; whatever kernels do not take is refused."""
    if isinstance(value, np.ndarray):
        if not (value.flags.c_contiguous and value.flags.aligned):
            raise ValidationError(f"kernels take C-contiguous arrays, got strides {value.strides}")
        return ArrayOf(value.dtype, value.ndim, value.flags.writeable)
    if isinstance(value, tuple):
        return TupleOf(tuple(describe(item) for item in value), type(value))
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return INTEGER
    if isinstance(value, (float, np.floating)):
        return FLOAT
    raise ValidationError(f"kernels do not take {type(value).__name__}")


def leaves(kind: Kind) -> Iterator[ArrayOf | Number]:
    """The arrays and numbers of an argument, in order."""
    if isinstance(kind, TupleOf):
        for item in kind.items:
            yield from leaves(item)
    else:
        yield kind


def words(kind: ArrayOf | Number) -> int:
    """How many words of the block it takes."""
    return 1 + kind.ndim if isinstance(kind, ArrayOf) else 1


def emit_entry(kinds: tuple[Kind, ...], function: str, results: int | None) -> str:
    """The module, in LLVM's language, of `entry(self, args, count)`, a Python built-in that calls `function(block)`.

    `results` is how many whole numbers it returns, as a tuple; None for no result. `entry` answers with the object at
    `context[1]` where the arguments are not of these kinds. `context` is filled in by the process that loads it:
    `numpy.ndarray`, that object, None, then the dtype of each array.
    """
    from llvmlite import ir

    return str(_Entry(ir, kinds, function, results).module)


class _Entry:
    def __init__(self, ir: Any, kinds: tuple[Kind, ...], function: str, results: int | None) -> None:
        self.ir, self.module = ir, ir.Module("entry")
        self.pointer, self.i64, self.i32, self.double = (
            ir.PointerType(), ir.IntType(64), ir.IntType(32), ir.DoubleType(),
        )  # fmt: skip
        flat = [leaf for kind in kinds for leaf in leaves(kind)]
        arrays = sum(isinstance(leaf, ArrayOf) for leaf in flat)
        table = ir.ArrayType(self.i64, 3 + arrays)
        self.context = ir.GlobalVariable(self.module, table, "context")
        self.context.initializer = ir.Constant(table, None)
        arguments = [self.pointer, self.pointer, self.i64]
        entry = ir.Function(self.module, ir.FunctionType(self.pointer, arguments), "entry")
        self.builder = ir.IRBuilder(entry.append_basic_block())
        self.refuse, self.fail = entry.append_basic_block("refuse"), entry.append_basic_block("fail")

        size = max(sum(map(words, flat)), MAX_RESULTS)
        self.block = self.builder.alloca(self.i64, size)
        self.result, self.error = self.builder.alloca(self.pointer), self.builder.alloca(self.pointer)
        self.at, self.array = 0, 0
        self._need(self.builder.icmp_signed("==", entry.args[2], self.i64(len(kinds))))
        for i, kind in enumerate(kinds):
            self._take(kind, self._load(entry.args[1], 8 * i, self.pointer))
        self._run(function)
        self.builder.ret(self._result(results))

        self.builder.position_at_end(self.refuse)
        self.builder.ret(self._own(self._load(self.context, 8, self.pointer)))
        self.builder.position_at_end(self.fail)
        self.builder.ret(ir.Constant(self.pointer, None))

    # -- small things -------------------------------------------------------------------------------------------------
    def _call(self, name: str, result: Any, *arguments: Any) -> Any:
        known = self.module.globals.get(name)
        if known is None:
            kind = self.ir.FunctionType(result, [a.type for a in arguments])
            known = self.ir.Function(self.module, kind, name)
        return self.builder.call(known, arguments)

    def _address(self, base: Any, offset: int) -> Any:
        return self.builder.gep(base, [self.i64(offset)], source_etype=self.ir.IntType(8))

    def _load(self, base: Any, offset: int, kind: Any) -> Any:
        return self.builder.load(self._address(base, offset), typ=kind)

    def _put(self, value: Any) -> None:
        self.builder.store(value, self._address(self.block, 8 * self.at))
        self.at += 1

    def _need(self, condition: Any, otherwise: Any = None) -> None:
        """Goes on where the condition holds."""
        on = self.builder.append_basic_block()
        self.builder.cbranch(condition, on, otherwise or self.refuse)
        self.builder.position_at_end(on)

    def _own(self, thing: Any) -> Any:
        self._call("Py_IncRef", self.ir.VoidType(), thing)
        return thing

    # -- arguments ----------------------------------------------------------------------------------------------------
    def _take(self, kind: Kind, thing: Any) -> None:
        if isinstance(kind, TupleOf):
            length = self._call("PyTuple_Size", self.i64, thing)
            # Not a tuple at all: PyTuple_Size has raised an error.
            self._need(self.builder.icmp_signed(">=", length, self.i64(0)), self.fail)
            self._need(self.builder.icmp_signed("==", length, self.i64(len(kind.items))))
            for i, item in enumerate(kind.items):
                self._take(item, self._call("PyTuple_GetItem", self.pointer, thing, self.i64(i)))
        elif isinstance(kind, ArrayOf):
            self._take_array(kind, thing)
        else:
            self._take_number(kind, thing)

    def _take_array(self, kind: ArrayOf, thing: Any) -> None:
        b, same = self.builder, self.builder.icmp_unsigned
        itself = same("==", self._load(thing, HEAD - 8, self.i64), self._load(self.context, 0, self.i64))
        self._need(itself)
        dtype = self._load(self.context, 8 * (3 + self.array), self.i64)
        needed = self.i32(CONTIGUOUS | ALIGNED | (WRITEABLE if kind.writeable else 0))
        flags = b.and_(self._load(thing, FLAGS, self.i32), needed)
        fits = b.and_(same("==", self._load(thing, DESCR, self.i64), dtype), same("==", flags, needed))
        self._need(b.and_(fits, same("==", self._load(thing, NDIM, self.i32), self.i32(kind.ndim))))
        self._put(self._load(thing, DATA, self.i64))
        if kind.ndim:
            dimensions = self._load(thing, DIMENSIONS, self.pointer)
            for axis in range(kind.ndim):
                self._put(self._load(dimensions, 8 * axis, self.i64))
        self.array += 1

    def _take_number(self, kind: Number, thing: Any) -> None:
        if kind is INTEGER:
            value = self._call("PyLong_AsLongLong", self.i64, thing)
            suspect = self.builder.icmp_signed("==", value, self.i64(-1))
        else:
            value = self._call("PyFloat_AsDouble", self.double, thing)
            suspect = self.builder.fcmp_ordered("==", value, self.ir.Constant(self.double, -1.0))
        with self.builder.if_then(suspect, likely=False):
            error = self._call("PyErr_Occurred", self.pointer)
            none = self.ir.Constant(self.pointer, None)
            self._need(self.builder.icmp_unsigned("==", error, none), self.fail)
        self._put(self.builder.bitcast(value, self.i64))

    # -- the call -----------------------------------------------------------------------------------------------------
    def _run(self, function: str) -> None:
        state = self._call("PyEval_SaveThread", self.pointer)
        # Numba's own convention: where a result would go, where an error would, then the arguments.
        self._call(function, self.i32, self.result, self.error, self.block)
        self._call("PyEval_RestoreThread", self.ir.VoidType(), state)

    def _result(self, results: int | None) -> Any:
        if results is None:
            return self._own(self._load(self.context, 16, self.pointer))
        made = self._call("PyTuple_New", self.pointer, self.i64(results))
        for i in range(results):
            number = self._call("PyLong_FromLongLong", self.pointer, self._load(self.block, 8 * i, self.i64))
            self._call("PyTuple_SetItem", self.i32, made, self.i64(i), number)
        return made
