"""Calls in the compiled subset: Python's and NumPy's elementary functions, lane blocks, and other functions of the subset."""

from __future__ import annotations

import ast
import functools
import inspect
import math
from typing import Any

import numpy as np
from llvmlite import ir

from marrow.kernels.language.choices import Choices
from marrow.kernels.language.kinds import BOOL, FLOAT, INTEGER, TupleKind
from marrow.kernels.language.values import F32, F64, I64, Value, part_types

__all__ = ["Calls"]


class Calls(Choices):
    """Expressions with calls."""

    def on_Call(self, node: ast.Call) -> Value:
        thing = self.outside(node.func)
        if node.keywords:
            self.fail("arguments are given by position")
        arguments = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                many = self.expression(a.value)
                assert isinstance(many.kind, TupleKind)
                arguments += [self.item(many, k) for k in range(len(many.kind.items))]
            else:
                arguments.append(self.expression(a))
        known = _CALLS.get(thing)
        if known is not None:
            result: Value = known(self, *arguments)
            return result
        if hasattr(thing, "emit_llvm"):
            thing.emit_llvm(self, arguments)
            return Value(TupleKind(()), ())
        if not inspect.isfunction(thing):
            self.fail(f"{ast.unparse(node.func)} cannot be called here")
        function, kind = self.translator.function(thing, tuple(a.kind for a in arguments))
        returned = self.builder.call(function, [p for a in arguments for p in a.parts])
        if kind is None:
            return Value(TupleKind(()), ())
        count = len(part_types(kind))
        if count == 1:
            return Value(kind, (returned,))
        return Value(kind, tuple(self.builder.extract_value(returned, k) for k in range(count)))

    def unary(self, name: str, value: Value) -> Value:
        function = self.translator.intrinsic(f"llvm.{name}.f64", F64, [F64])
        return Value(FLOAT, (self.builder.call(function, [self.cast(value, FLOAT).parts[0]]),))

    def length(self, value: Value) -> Value:
        if isinstance(value.kind, TupleKind):
            return self.constant(len(value.kind.items))
        return Value(INTEGER, (value.parts[1],))

    def extreme(self, how: str, *values: Value) -> Value:
        best = values[0]
        for value in values[1:]:
            a, b, kind = self.alike(best, value)
            better = self.compare(how, b, a)
            if better.known is not None:
                best = b if better.known else a
            else:
                best = Value(kind, (self.builder.select(better.parts[0], b.parts[0], a.parts[0]),))
        return best

    def absolute(self, value: Value) -> Value:
        if value.kind == FLOAT:
            return self.unary("fabs", value)
        return self.extreme(">", value, Value(INTEGER, (self.builder.neg(value.parts[0]),)))

    def to_integer(self, value: Value) -> Value:
        if value.kind != FLOAT:
            return self.cast(value, INTEGER)
        if value.known is not None:
            return self.constant(int(value.known))
        # What does not fit becomes the nearest that does; what is not a number becomes 0.
        function = self.translator.intrinsic("llvm.fptosi.sat.i64.f64", I64, [F64])
        return Value(INTEGER, (self.builder.call(function, [value.parts[0]]),))

    def to_float(self, value: Value) -> Value:
        return self.cast(value, FLOAT)

    def to_float32(self, value: Value) -> Value:
        single = self.builder.fptrunc(self.cast(value, FLOAT).parts[0], F32)
        return Value(FLOAT, (self.builder.fpext(single, F64),))

    def is_nan(self, value: Value) -> Value:
        number = self.cast(value, FLOAT).parts[0]
        return Value(BOOL, (self.builder.fcmp_unordered("uno", number, number),))

    def is_finite(self, value: Value) -> Value:
        size = self.unary("fabs", value).parts[0]
        return Value(BOOL, (self.builder.fcmp_ordered("<", size, ir.Constant(F64, math.inf)),))

    def ldexp(self, value: Value, power: Value) -> Value:
        """`value * 2 ** power` for powers of normal numbers."""
        shifted = self.builder.shl(self.builder.add(self.cast(power, INTEGER).parts[0], I64(1023)), I64(52))
        factor = self.builder.bitcast(shifted, F64)
        return Value(FLOAT, (self.builder.fmul(self.cast(value, FLOAT).parts[0], factor),))

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        function = self.translator.intrinsic("llvm.copysign.f64", F64, [F64, F64])
        arguments = [self.cast(v, FLOAT).parts[0] for v in (magnitude, sign)]
        return Value(FLOAT, (self.builder.call(function, arguments),))


_CALLS: dict[Any, Any] = {
    len: Calls.length,
    abs: Calls.absolute,
    int: Calls.to_integer,
    float: Calls.to_float,
    bool: Calls.truth,
    np.int64: Calls.to_integer,
    np.float64: Calls.to_float,
    np.float32: Calls.to_float32,
    min: functools.partial(lambda f, *v: f.extreme("<", *v)),
    max: functools.partial(lambda f, *v: f.extreme(">", *v)),
    math.isnan: Calls.is_nan,
    np.isnan: Calls.is_nan,
    math.isfinite: Calls.is_finite,
    math.copysign: Calls.copysign,
    math.ldexp: Calls.ldexp,
}
for _name, _functions in {
    "sqrt": (math.sqrt, np.sqrt),
    "floor": (np.floor,),
    "ceil": (np.ceil,),
    "fabs": (math.fabs,),
}.items():
    for _function in _functions:
        _CALLS[_function] = functools.partial(lambda name, f, v: f.unary(name, v), _name)
