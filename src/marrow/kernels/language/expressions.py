"""Expressions and places of the compiled subset of Python, written as LLVM."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
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
    StructKind,
    TupleKind,
    words,
)
from marrow.kernels.language.values import (
    F32,
    F64,
    I1,
    I32,
    I64,
    TranslationError,
    Value,
    described,
    load_from_frame,
    loose,
    part_types,
    stored_type,
)

__all__ = ["Expressions"]


class Expressions:
    """Writes expressions at the end of a block. What they stand in, the function, is one of these."""

    builder: Any
    allocas: Any
    translator: Any
    python: Callable[..., Any]
    first_line: int
    here: Any
    variables: dict[str, tuple[Kind, list[Any]]]
    fixed: dict[str, Value]
    sure: set[str]
    """Variables that have a value whichever way the function came here."""

    def on_Call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def error(self, message: str) -> TranslationError:
        """What is wrong, and where."""
        line = self.first_line + getattr(self.here, "lineno", 1) - 1
        file = self.python.__code__.co_filename  # type: ignore[attr-defined]
        return TranslationError(f"{file}:{line}, in {self.python.__name__}: {message}")

    def fail(self, message: str) -> None:
        raise self.error(message)

    # -- assignment ---------------------------------------------------------------------------------------------------
    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.assign_name(target.id, value)
        elif isinstance(target, ast.Tuple):
            if not isinstance(value.kind, TupleKind) or len(value.kind.items) != len(target.elts):
                self.fail("a tuple of other length is expected")
            for k, element in enumerate(target.elts):
                self.assign(element, self.item(value, k))
        elif isinstance(target, ast.Subscript):
            self.store(self.place(target), value)
        else:
            self.fail(f"cannot assign to {ast.unparse(target)}")

    def assign_name(self, name: str, value: Value) -> None:
        if name not in self.variables:
            kind = loose(value.kind)
            slots = [self.allocas.alloca(t, name=name) for t in part_types(kind)]
            self.variables[name] = (kind, slots)
        kind, slots = self.variables[name]
        for slot, part in zip(slots, self.cast(value, kind, name).parts):
            self.builder.store(part, slot)
        self.sure.add(name)

    def store(self, place: tuple[Any, np.dtype[Any]], value: Value) -> None:
        address, dtype = place
        if dtype.names is not None:
            self.copy_record(address, dtype, value)
            return
        what = FLOAT if dtype.kind == "f" else INTEGER
        number = self.cast(value, what, rounded=False).parts[0]
        kind = stored_type(dtype)
        if kind is F32:
            number = self.builder.fptrunc(number, F32)
        elif kind is not F64 and kind is not I64:
            number = self.builder.trunc(number, kind)
        self.builder.store(number, address)

    def copy_record(self, address: Any, dtype: np.dtype[Any], value: Value) -> None:
        """All of a record, word by word."""
        if not isinstance(value.kind, RecordKind) or value.kind.dtype != dtype:
            self.fail(f"a record of the same fields is expected: {', '.join(dtype.names or ())}")
        word = I64 if dtype.alignment == 8 else I32
        pointers = [self.builder.bitcast(p, word.as_pointer()) for p in (value.parts[0], address)]
        for k in range(dtype.itemsize // dtype.alignment):
            here, there = (self.builder.gep(p, [I64(k)], inbounds=True) for p in pointers)
            self.builder.store(self.builder.load(here), there)

    def place(self, node: ast.Subscript) -> tuple[Any, np.dtype[Any]]:
        """The address of one element, or of one field of a record."""
        whole = self.expression(node.value)
        if isinstance(whole.kind, RecordKind):
            return self.field(whole, node)
        if not isinstance(whole.kind, ArrayKind):
            self.fail(f"{ast.unparse(node.value)} is not an array")
        element = self.element(whole, node)
        assert isinstance(element.kind, ArrayKind)
        if element.kind.ndim:
            self.fail("only single elements can be assigned")
        return element.parts[0], element.kind.dtype

    def field(self, record: Value, node: ast.Subscript) -> tuple[Any, np.dtype[Any]]:
        assert isinstance(record.kind, RecordKind)
        name = node.slice.value if isinstance(node.slice, ast.Constant) else None
        fields: Any = record.kind.dtype.fields or {}
        if name not in fields:
            self.fail(f"the record has no field {ast.unparse(node.slice)}: {', '.join(fields)}")
        dtype, offset = fields[name][:2]
        base = dtype.subdtype[0] if dtype.subdtype else dtype
        address = self.builder.gep(record.parts[0], [I64(offset)], inbounds=True)
        if base.names is None:
            address = self.builder.bitcast(address, stored_type(base).as_pointer())
        return address, dtype

    def element(self, array: Value, node: ast.Subscript) -> Value:
        """An array with fewer axes: those indexed are gone, a slice of the first axis is a view."""
        kind = array.kind
        assert isinstance(kind, ArrayKind)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        sizes, pointer = list(array.parts[1:]), array.parts[0]
        if len(indices) == 1 and isinstance(indices[0], ast.Slice):
            cut = indices[0]
            if cut.step is not None:
                self.fail("slices have no step")
            low = self.index(cut.lower) if cut.lower else I64(0)
            high = self.index(cut.upper) if cut.upper else sizes[0]
            offset = low
            for size in sizes[1:]:
                offset = self.builder.mul(offset, size)
            return Value(
                kind, (self._step(pointer, offset, kind.dtype), self.builder.sub(high, low), *sizes[1:])
            )
        if len(indices) > kind.ndim:
            self.fail(f"too many indices: {ast.unparse(node)}")
        offset = self.index(indices[0])
        for axis in range(1, kind.ndim):
            offset = self.builder.mul(offset, sizes[axis])
            if axis < len(indices):
                offset = self.builder.add(offset, self.index(indices[axis]))
        left = kind.ndim - len(indices)
        return Value(
            ArrayKind(kind.dtype, ("?",) * left),
            (self._step(pointer, offset, kind.dtype), *sizes[len(indices) :]),
        )

    def index(self, node: ast.expr) -> Any:
        """A place in an array. Negative ones, which Python counts from the end, are refused where they are known."""
        number = self.cast(self.expression(node), INTEGER)
        if number.known is not None and number.known < 0:
            self.fail(f"places are counted from the beginning: {ast.unparse(node)}")
        return number.parts[0]

    def _step(self, pointer: Any, offset: Any, dtype: np.dtype[Any]) -> Any:
        if dtype.names is not None:
            offset = self.builder.mul(offset, I64(dtype.itemsize))
        return self.builder.gep(pointer, [offset], inbounds=True)

    # -- kinds --------------------------------------------------------------------------------------------------------
    def constant(self, number: Any) -> Value:
        if isinstance(number, (bool, np.bool_)):
            return Value(BOOL, (I1(int(number)),), bool(number))
        if isinstance(number, (int, np.integer)):
            return Value(INTEGER, (I64(int(number)),), int(number))
        return Value(FLOAT, (ir.Constant(F64, float(number)),), float(number))

    def cast(self, value: Value, kind: Kind, name: str = "", *, rounded: bool = True) -> Value:
        if value.kind == kind:
            return value
        if kind == FLOAT and value.kind in (INTEGER, BOOL):
            if value.known is not None:
                return self.constant(float(value.known))
            unsigned = value.kind == BOOL
            convert = self.builder.uitofp if unsigned else self.builder.sitofp
            return Value(FLOAT, (convert(value.parts[0], F64),))
        if kind == INTEGER and value.kind == BOOL:
            return Value(INTEGER, (self.builder.zext(value.parts[0], I64),))
        both = isinstance(kind, TupleKind) and isinstance(value.kind, TupleKind)
        if both and len(kind.items) == len(value.kind.items):  # type: ignore[union-attr]
            items = [self.cast(self.item(value, k), inner, name) for k, inner in enumerate(kind.items)]  # type: ignore[union-attr]
            return Value(kind, tuple(p for i in items for p in i.parts))
        if isinstance(kind, ArrayKind) and loose(value.kind) == loose(kind):
            return value
        what = f"{name}: " if name else ""
        self.fail(f"{what}expected {described(kind)}, got {described(value.kind)}")
        raise AssertionError

    def truth(self, value: Value) -> Value:
        if value.kind == BOOL:
            return value
        if value.known is not None:
            return self.constant(bool(value.known))
        if value.kind == INTEGER:
            return Value(BOOL, (self.builder.icmp_signed("!=", value.parts[0], I64(0)),))
        if value.kind == FLOAT:
            zero = ir.Constant(F64, 0.0)
            return Value(BOOL, (self.builder.fcmp_unordered("!=", value.parts[0], zero),))
        self.fail("only numbers are true or false")
        raise AssertionError

    def alike(self, a: Value, b: Value) -> tuple[Value, Value, Kind]:
        """Two numbers as numbers of one kind."""
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INTEGER
        return self.cast(a, kind), self.cast(b, kind), kind

    def item(self, value: Value, k: int) -> Value:
        assert isinstance(value.kind, TupleKind)
        kinds = value.kind.items
        if not -len(kinds) <= k < len(kinds):
            self.fail(f"a tuple of {len(kinds)} has no item {k}")
        k %= len(kinds)
        at = sum(len(part_types(kind)) for kind in kinds[:k])
        known = value.known[k] if isinstance(value.known, tuple) else None
        return Value(kinds[k], value.parts[at : at + len(part_types(kinds[k]))], known)

    # -- expressions --------------------------------------------------------------------------------------------------
    def expression(self, node: ast.expr) -> Value:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.error(f"{ast.unparse(node)} is not in the subset")
        value: Value = method(node)
        return value

    def on_Constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, (bool, int, float)):
            self.fail(f"{node.value!r} is not a number")
        return self.constant(node.value)

    def on_Tuple(self, node: ast.Tuple) -> Value:
        return self.together([self.expression(e) for e in node.elts])

    def together(self, items: Sequence[Value]) -> Value:
        known = tuple(i.known for i in items)
        return Value(TupleKind(tuple(i.kind for i in items)), tuple(p for i in items for p in i.parts), known)

    def on_Name(self, node: ast.Name) -> Value:
        if node.id in self.fixed:
            return self.fixed[node.id]
        if node.id in self.variables:
            if node.id not in self.sure:
                self.fail(f"{node.id} may have no value here")
            kind, slots = self.variables[node.id]
            return Value(kind, tuple(self.builder.load(slot) for slot in slots))
        thing = self.outside(node)
        if isinstance(thing, (bool, int, float, np.number, np.bool_)):
            return self.constant(thing)
        if isinstance(thing, tuple):
            return self.together([self.constant(t) for t in thing])
        self.fail(f"{node.id} is not a value")
        raise AssertionError

    def outside(self, node: ast.expr) -> Any:
        """What a name outside the function means."""
        if isinstance(node, ast.Attribute):
            thing = self.outside(node.value)
            if not hasattr(thing, node.attr):
                self.fail(f"there is no {ast.unparse(node)}")
            return getattr(thing, node.attr)
        if not isinstance(node, ast.Name) or node.id in self.variables or node.id in self.fixed:
            return None
        code = self.python.__code__  # type: ignore[attr-defined]
        closure = self.python.__closure__ or ()  # type: ignore[attr-defined]
        for name, cell in zip(code.co_freevars, closure):
            if name == node.id:
                return cell.cell_contents
        world = self.python.__globals__  # type: ignore[attr-defined]
        if node.id in world:
            return world[node.id]
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
        self.fail(f"{node.id} has no value here")
        return None

    def on_Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in self.variables:
            whole = self.expression(node.value)
            if isinstance(whole.kind, StructKind):
                return self.struct_field(whole, node.attr)
            if isinstance(whole.kind, ArrayKind) and node.attr == "shape":
                return Value(TupleKind((INTEGER,) * whole.kind.ndim), whole.parts[1:])
            self.fail(f"there is no {ast.unparse(node)}")
        return self.constant(self.outside(node))

    def struct_field(self, struct: Value, name: str) -> Value:
        assert isinstance(struct.kind, StructKind)
        at = 0
        for field, kind in struct.kind.fields:
            if field == name:
                return load_from_frame(self.builder, struct.parts[0], at, kind)
            at += words(kind)
        self.fail(f"{struct.kind.made_by.__name__} has no {name}")
        raise AssertionError

    def on_Subscript(self, node: ast.Subscript) -> Value:
        whole = self.expression(node.value)
        if isinstance(whole.kind, TupleKind):
            index = self.expression(node.slice)
            if index.known is None:
                self.fail("items of tuples are named by constants")
            return self.item(whole, index.known)
        if isinstance(whole.kind, RecordKind):
            address, dtype = self.field(whole, node)
        elif isinstance(whole.kind, ArrayKind):
            part = self.element(whole, node)
            assert isinstance(part.kind, ArrayKind)
            if part.kind.ndim:
                return part
            address, dtype = part.parts[0], part.kind.dtype
        else:
            self.fail(f"{ast.unparse(node.value)} cannot be indexed")
        return self.load(address, dtype)

    def load(self, address: Any, dtype: np.dtype[Any]) -> Value:
        if dtype.subdtype is not None:
            base, shape = dtype.subdtype
            return Value(ArrayKind(base, ("?",) * len(shape)), (address, *(I64(n) for n in shape)))
        if dtype.names is not None:
            return Value(RecordKind(dtype), (address,))
        number, kind = self.builder.load(address), stored_type(dtype)
        if dtype.kind == "f":
            return Value(FLOAT, (self.builder.fpext(number, F64) if kind is F32 else number,))
        if kind is not I64:
            number = (self.builder.zext if dtype.kind in "ub" else self.builder.sext)(number, I64)
        return Value(INTEGER, (number,))

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            test = self.truth(value)
            if test.known is not None:
                return self.constant(not test.known)
            return Value(BOOL, (self.builder.not_(test.parts[0]),))
        if isinstance(node.op, ast.USub):
            if value.known is not None:
                return self.constant(-value.known)
            if value.kind == FLOAT:
                return Value(FLOAT, (self.builder.fneg(value.parts[0]),))
            return Value(INTEGER, (self.builder.neg(self.cast(value, INTEGER).parts[0]),))
        if isinstance(node.op, ast.Invert):
            return Value(INTEGER, (self.builder.not_(self.cast(value, INTEGER).parts[0]),))
        return value

    def on_BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(node.op, self.expression(node.left), self.expression(node.right))

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        a, b, kind = self.alike(left, right)
        name = type(op).__name__
        if kind == FLOAT or name == "Div":
            a, b = self.cast(a, FLOAT), self.cast(b, FLOAT)
            emit = {"Add": "fadd", "Sub": "fsub", "Mult": "fmul", "Div": "fdiv"}.get(name)
            if emit is None:
                self.fail(f"{name} of floats is not in the subset")
            return Value(FLOAT, (getattr(self.builder, emit)(a.parts[0], b.parts[0]),))  # type: ignore[arg-type]
        x, y = a.parts[0], b.parts[0]
        if a.known is not None and b.known is not None and name in ("Add", "Sub", "Mult"):
            return self.constant(
                {"Add": a.known + b.known, "Sub": a.known - b.known, "Mult": a.known * b.known}[name]
            )
        if name in ("FloorDiv", "Mod"):
            if b.known is None or b.known in (0, -1):
                return self.careful_division(name, x, y)
            quotient, rest = self.builder.sdiv(x, y), self.builder.srem(x, y)
            other_sign = self.builder.icmp_signed("<", self.builder.xor(rest, y), I64(0))
            short = self.builder.and_(other_sign, self.builder.icmp_signed("!=", rest, I64(0)))
            if name == "Mod":
                return Value(INTEGER, (self.builder.select(short, self.builder.add(rest, y), rest),))
            return Value(INTEGER, (self.builder.sub(quotient, self.builder.zext(short, I64)),))
        emit = {
            "Add": "add", "Sub": "sub", "Mult": "mul", "RShift": "ashr", "LShift": "shl", "BitAnd": "and_", "BitOr": "or_",
            "BitXor": "xor",
        }.get(name)  # fmt: skip
        if emit is None:
            self.fail(f"{name} is not in the subset")
        flags = {"flags": ["nsw"]} if name in ("Add", "Sub", "Mult") else {}
        return Value(INTEGER, (getattr(self.builder, emit)(x, y, **flags),))  # type: ignore[arg-type]

    def careful_division(self, name: str, x: Any, y: Any) -> Value:
        """By a number that may be zero (the result is zero then) or -1 (which the processor refuses for one number)."""
        build = self.builder
        opposite, none = build.icmp_signed("==", y, I64(-1)), build.icmp_signed("==", y, I64(0))
        safe = Value(INTEGER, (build.select(build.or_(opposite, none), I64(1), y),))
        quotient, rest = build.sdiv(x, safe.parts[0]), build.srem(x, safe.parts[0])
        short = build.and_(
            build.icmp_signed("<", build.xor(rest, y), I64(0)), build.icmp_signed("!=", rest, I64(0))
        )
        if name == "Mod":
            return Value(INTEGER, (build.select(short, build.add(rest, y), rest),))
        quotient = build.sub(quotient, build.zext(short, I64))
        quotient = build.select(opposite, build.neg(x), build.select(none, I64(0), quotient))
        return Value(INTEGER, (quotient,))
