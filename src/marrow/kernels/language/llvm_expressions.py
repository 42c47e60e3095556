"""Expressions of the typed form, as LLVM. Arithmetic is exactly IEEE 754: nothing is contracted, reordered or approximated."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from llvmlite import ir as llvm

from marrow.kernels.language import ir
from marrow.kernels.language.llvm_values import (
    F32,
    F64,
    I1,
    I64,
    Value,
    load_from_frame,
    part_types,
    stored_type,
)
from marrow.kernels.language.types import BOOL, FLOAT, INTEGER, StructKind, TupleKind, words

__all__ = ["LlvmExpressions"]

_FLOATS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_WHOLES = {"+": "add", "-": "sub", "*": "mul", "<<": "shl", ">>": "ashr", "&": "and_", "|": "or_", "^": "xor"}


class LlvmExpressions:
    """Prints expressions at the end of a block of the function that is being printed, which is one of these."""

    builder: Any
    module: Any
    names: dict[str, Any]
    """Variables: their kind and slots in memory; what has one value for good: that."""

    def expression(self, node: Any) -> Value:
        value: Value = getattr(self, f"on_{type(node).__name__}")(node)
        return value

    def number(self, node: Any) -> Any:
        """The LLVM value of a single number."""
        return self.expression(node).parts[0]

    # -- names and parts ----------------------------------------------------------------------------------------------
    def on_Const(self, node: ir.Const) -> Value:
        types = {FLOAT: F64, INTEGER: I64, BOOL: I1}
        return Value(node.kind, (llvm.Constant(types[node.kind], node.value),))  # type: ignore[index]

    def on_Var(self, node: ir.Var) -> Value:
        known = self.names[node.name]
        return (
            known
            if isinstance(known, Value)
            else Value(node.kind, tuple(self.builder.load(s) for s in known))
        )

    def on_Pack(self, node: ir.Pack) -> Value:
        return Value(node.kind, tuple(p for i in node.items for p in self.expression(i).parts))

    def on_Item(self, node: ir.Item) -> Value:
        kinds: Any = node.value.kind.items  # type: ignore[union-attr]
        at = sum(len(part_types(k)) for k in kinds[: node.index])
        return Value(node.kind, self.expression(node.value).parts[at : at + len(part_types(node.kind))])

    def on_Field(self, node: ir.Field) -> Value:
        return self.struct_field(self.expression(node.struct), node.name)

    def struct_field(self, struct: Value, name: str) -> Value:
        assert isinstance(struct.kind, StructKind)
        at = 0
        for field, kind in struct.kind.fields:
            if field == name:
                return load_from_frame(self.builder, struct.parts[0], at, kind)
            at += words(kind)
        raise AssertionError(name)

    def on_Size(self, node: ir.Size) -> Value:
        return Value(INTEGER, (self.expression(node.array).parts[1 + node.axis],))

    # -- arrays and records -------------------------------------------------------------------------------------------
    def check(self, node: Any, index: Any, size: Any, axis: int, *, end: bool = False) -> None:
        """In the debug build, looks whether an index lies on its axis (or at its `end`)."""

    def offset(self, node: Any, array: Value) -> Any:
        """How many elements lie before the indexed one, or the first of the indexed row."""
        sizes = array.parts[1:]
        offset = self.number(node.indices[0])
        self.check(node, offset, sizes[0], 0)
        for axis in range(1, len(sizes)):
            offset = self.builder.mul(offset, sizes[axis])
            if axis < len(node.indices):
                index = self.number(node.indices[axis])
                self.check(node, index, sizes[axis], axis)
                offset = self.builder.add(offset, index)
        return offset

    def step(self, pointer: Any, offset: Any, dtype: np.dtype[Any]) -> Any:
        if dtype.names is not None:
            offset = self.builder.mul(offset, I64(dtype.itemsize))
        return self.builder.gep(pointer, [offset], inbounds=True)

    def address(self, node: Any) -> tuple[Any, np.dtype[Any]]:
        """Where an element, or a field of a record, lies."""
        if isinstance(node, ir.Member):
            record = self.expression(node.record)
            fields: Any = record.kind.dtype.fields  # type: ignore[union-attr]
            dtype, offset = fields[node.name][:2]
            base = dtype.subdtype[0] if dtype.subdtype else dtype
            address = self.builder.gep(record.parts[0], [I64(offset)], inbounds=True)
            if base.names is None:
                address = self.builder.bitcast(address, stored_type(base).as_pointer())
            return address, dtype
        array = self.expression(node.array)
        dtype = array.kind.dtype  # type: ignore[union-attr]
        return self.step(array.parts[0], self.offset(node, array), dtype), dtype

    def on_Rows(self, node: ir.Rows) -> Value:
        array = self.expression(node.array)
        pointer = self.step(array.parts[0], self.offset(node, array), node.kind.dtype)  # type: ignore[union-attr]
        return Value(node.kind, (pointer, *array.parts[1 + len(node.indices) :]))

    def on_Slice(self, node: ir.Slice) -> Value:
        array = self.expression(node.array)
        sizes = array.parts[1:]
        low, high = self.number(node.low), self.number(node.high)
        self.check(node, high, sizes[0], 0, end=True)
        self.check(node, low, high, 0, end=True)
        offset = low
        for size in sizes[1:]:
            offset = self.builder.mul(offset, size)
        pointer = self.step(array.parts[0], offset, array.kind.dtype)  # type: ignore[union-attr]
        return Value(node.kind, (pointer, self.builder.sub(high, low), *sizes[1:]))

    def on_Record(self, node: ir.Record) -> Value:
        return Value(node.kind, (self.address(node)[0],))

    def on_Element(self, node: ir.Element) -> Value:
        return self.load(*self.address(node))

    def on_Member(self, node: ir.Member) -> Value:
        address, dtype = self.address(node)
        if dtype.subdtype is not None:
            return Value(node.kind, (address, *(I64(n) for n in dtype.subdtype[1])))
        return Value(node.kind, (address,)) if dtype.names is not None else self.load(address, dtype)

    def load(self, address: Any, dtype: np.dtype[Any]) -> Value:
        number, stored = self.builder.load(address), stored_type(dtype)
        if dtype.kind == "f":
            return Value(FLOAT, (self.builder.fpext(number, F64) if stored is F32 else number,))
        if stored is not I64:
            number = (self.builder.zext if dtype.kind in "ub" else self.builder.sext)(number, I64)
        return Value(INTEGER, (number,))

    def store(self, number: Any, address: Any, dtype: np.dtype[Any]) -> None:
        stored = stored_type(dtype)
        if stored is F32:
            number = self.builder.fptrunc(number, F32)
        elif stored is not F64 and stored is not I64:
            number = self.builder.trunc(number, stored)
        self.builder.store(number, address)

    # -- arithmetic ---------------------------------------------------------------------------------------------------
    def on_Convert(self, node: ir.Convert) -> Value:
        value = self.expression(node.operand)
        number, build = value.parts[0], self.builder
        if node.kind == FLOAT:
            return Value(FLOAT, ((build.uitofp if value.kind == BOOL else build.sitofp)(number, F64),))
        if node.kind == INTEGER:
            return Value(INTEGER, (build.zext(number, I64),))
        if value.kind == INTEGER:
            return Value(BOOL, (build.icmp_signed("!=", number, I64(0)),))
        return Value(BOOL, (build.fcmp_unordered("!=", number, llvm.Constant(F64, 0.0)),))

    def on_Unary(self, node: ir.Unary) -> Value:
        number, build = self.number(node.operand), self.builder
        if node.op == "-":
            return Value(node.kind, (build.fneg(number) if node.kind == FLOAT else build.neg(number),))
        return Value(node.kind, (build.not_(number),))

    def on_Binary(self, node: ir.Binary) -> Value:
        x, y = self.number(node.left), self.number(node.right)
        if node.kind == FLOAT:
            return Value(FLOAT, (getattr(self.builder, _FLOATS[node.op])(x, y),))
        if node.op in ("//", "%"):
            return Value(INTEGER, (self.divided(node, x, y),))
        if node.op in ("<<", ">>") and not isinstance(node.right, ir.Const):
            y = self.builder.and_(y, I64(63))
        return Value(INTEGER, (getattr(self.builder, _WHOLES[node.op])(x, y),))

    def divided(self, node: ir.Binary, x: Any, y: Any) -> Any:
        """Down, as Python divides; by zero to zero. By -1, which processors refuse for the lowest number, it is the opposite."""
        build, divisor = self.builder, y
        careful = not isinstance(node.right, ir.Const) or node.right.value in (0, -1)
        if careful:
            opposite, none = build.icmp_signed("==", y, I64(-1)), build.icmp_signed("==", y, I64(0))
            divisor = build.select(build.or_(opposite, none), I64(1), y)
        quotient, rest = build.sdiv(x, divisor), build.srem(x, divisor)
        short = build.and_(
            build.icmp_signed("<", build.xor(rest, y), I64(0)), build.icmp_signed("!=", rest, I64(0))
        )
        if node.op == "%":
            return build.select(short, build.add(rest, y), rest)
        quotient = build.sub(quotient, build.zext(short, I64))
        if careful:
            quotient = build.select(opposite, build.neg(x), build.select(none, I64(0), quotient))
        return quotient

    # -- choices ------------------------------------------------------------------------------------------------------
    def compare(self, how: str, kind: Any, a: Any, b: Any) -> Any:
        if kind != FLOAT:
            return self.builder.icmp_signed(how, a, b)
        return (self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered)(how, a, b)

    def on_Compare(self, node: ir.Compare) -> Value:
        a, b = self.number(node.left), self.number(node.right)
        return Value(BOOL, (self.compare(node.op, node.left.kind, a, b),))

    def on_Among(self, node: ir.Among) -> Value:
        value = self.number(node.value)
        tests = [self.compare("==", node.value.kind, value, self.number(i)) for i in node.items]
        return Value(BOOL, (functools.reduce(self.builder.or_, tests),))

    def on_Logic(self, node: ir.Logic) -> Value:
        end = self.builder.append_basic_block()
        incoming = []
        for k, each in enumerate(node.tests):
            test = self.number(each)
            incoming.append((test, self.builder.block))
            if k + 1 < len(node.tests):
                on = self.builder.append_basic_block()
                self.builder.cbranch(test, *((end, on) if node.op == "or" else (on, end)))
                self.builder.position_at_end(on)
        self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(I1)
        for test, block in incoming:
            phi.add_incoming(test, block)
        return Value(BOOL, (phi,))

    def on_Select(self, node: ir.Select) -> Value:
        test = self.number(node.test)
        yes, no, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.cbranch(test, yes, no)
        results = []
        for block, branch in ((yes, node.yes), (no, node.no)):
            self.builder.position_at_end(block)
            results.append((self.expression(branch), self.builder.block))
            self.builder.branch(end)
        self.builder.position_at_end(end)
        parts = []
        for k, t in enumerate(part_types(node.kind)):
            phi = self.builder.phi(t)
            for value, block in results:
                phi.add_incoming(value.parts[k], block)
            parts.append(phi)
        return Value(node.kind, tuple(parts))

    # -- functions of the language itself -----------------------------------------------------------------------------
    def known(self, name: str, result: Any, numbers: list[Any]) -> Any:
        function = self.module.intrinsic(name, result, [n.type for n in numbers])
        return self.builder.call(function, numbers)

    def on_Intrinsic(self, node: ir.Intrinsic) -> Value:
        numbers, build = [self.number(a) for a in node.arguments], self.builder
        x, name = numbers[0], node.name
        if name in ("sqrt", "floor", "ceil", "fabs"):
            result = self.known(f"llvm.{name}.f64", F64, numbers)
        elif name in ("min", "max"):
            better = self.compare("<" if name == "min" else ">", node.kind, numbers[1], x)
            result = build.select(better, numbers[1], x)
        elif name == "abs":
            opposite = build.neg(x)
            result = build.select(build.icmp_signed(">", opposite, x), opposite, x)
        elif name == "int":
            result = self.known("llvm.fptosi.sat.i64.f64", I64, numbers)
        elif name == "single":
            result = build.fpext(build.fptrunc(x, F32), F64)
        elif name == "isnan":
            result = build.fcmp_unordered("uno", x, x)
        elif name == "isfinite":
            size = self.known("llvm.fabs.f64", F64, numbers)
            result = build.fcmp_ordered("<", size, llvm.Constant(F64, math.inf))
        elif name == "copysign":
            result = self.known("llvm.copysign.f64", F64, numbers)
        else:
            assert name == "ldexp", name
            shifted = build.shl(build.add(numbers[1], I64(1023)), I64(52))
            result = build.fmul(x, build.bitcast(shifted, F64))
        return Value(node.kind, (result,))

    def on_Call(self, node: ir.Call) -> Value:
        arguments = [p for a in node.arguments for p in self.expression(a).parts]
        returned = self.builder.call(self.module.function(node.function), arguments)
        self.called()
        if node.kind is None:
            return Value(TupleKind(()), ())
        count = len(part_types(node.kind))
        if count == 1:
            return Value(node.kind, (returned,))
        return Value(node.kind, tuple(self.builder.extract_value(returned, k) for k in range(count)))

    def called(self) -> None:
        """In the debug build, gives up where a function that was called found a wrong index."""
