"""Expressions of the kernels' subset of Python, written as WGSL."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
from typing import Any

import numpy as np

from marrow.kernels.language.kinds import BOOL, FLOAT, INTEGER, TupleKind
from marrow.kernels.language.lanes import Each
from marrow.kernels.language.wgsl_helpers import HELPERS
from marrow.kernels.language.wgsl_text import ADD, ATOM, COMPARE, MULTIPLY, UNARY, whole
from marrow.kernels.language.wgsl_values import (
    WORLD,
    Part,
    Record,
    TranslationError,
    UnrollError,
    Value,
    constant,
    item,
    wgsl_type,
)

__all__ = ["WgslExpressions"]

LOGIC = COMPARE - 1
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_DIVISIONS = {ast.FloorDiv: "floor_quotient", ast.Mod: "floor_rest"}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


class WgslExpressions:
    """Expressions of a function; what statements they need before them go to `lines`."""

    translator: Any
    python: Any
    here: Any
    names: dict[str, Value]
    lines: list[str]

    def fail(self, message: str) -> TranslationError:
        line = self.python.__code__.co_firstlineno + getattr(self.here, "lineno", 1) - 1
        return TranslationError(f"{self.python.__code__.co_filename}:{line}: {message}")

    # -- kinds ------------------------------------------------------------------------------------------------------
    def cast(self, value: Value, kind: Any) -> Value:
        if value.kind == kind:
            return value
        if value.known is not None and kind in (FLOAT, INTEGER):
            return constant(float(value.known) if kind == FLOAT else int(value.known))
        if kind == FLOAT and value.kind in (INTEGER, BOOL):
            return Value(FLOAT, f"real({value.text})")
        if kind == INTEGER and value.kind == BOOL:
            return Value(INTEGER, f"i32({value.text})")
        if isinstance(kind, TupleKind) and isinstance(value.kind, TupleKind):
            items = tuple(self.cast(item(value, k), inner) for k, inner in enumerate(kind.items))
            return Value(kind, items=items)
        raise self.fail(f"expected {kind}, got {value.kind}")

    def alike(self, a: Value, b: Value) -> tuple[Value, Value, Any]:
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INTEGER
        return self.cast(a, kind), self.cast(b, kind), kind

    def truth(self, value: Value) -> Value:
        if value.kind == BOOL:
            return value
        if value.known is not None:
            return constant(bool(value.known))
        return Value(BOOL, f"{value.at(ADD)} != {'0.0' if value.kind == FLOAT else '0'}", COMPARE)

    def whole_text(self, value: Value) -> str:
        """A value as one expression, also where it is a tuple of parts."""
        if value.items is None:
            return value.text
        self.translator.declare(value.kind)
        return f"{wgsl_type(value.kind)}({', '.join(self.whole_text(i) for i in value.items)})"

    def together(self, items: list[Value]) -> Value:
        known = tuple(i.known for i in items)
        return Value(TupleKind(tuple(i.kind for i in items)), known=known, items=tuple(items))

    # -- names ------------------------------------------------------------------------------------------------------
    def expression(self, node: ast.expr) -> Value:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.fail(f"{ast.unparse(node)} has no counterpart in WGSL")
        value: Value = method(node)
        return value

    def on_Constant(self, node: ast.Constant) -> Value:
        return constant(node.value)

    def on_Tuple(self, node: ast.Tuple) -> Value:
        return self.together([self.expression(e) for e in node.elts])

    def on_Name(self, node: ast.Name) -> Value:
        if node.id in self.names:
            return self.names[node.id]
        thing = self.outside(node)
        if isinstance(thing, tuple):
            return self.together([constant(t) for t in thing])
        if not isinstance(thing, (bool, int, float, np.number)):
            raise self.fail(f"{node.id} has no value here")
        return constant(thing)

    def outside(self, node: ast.expr) -> Any:
        """What a name outside the function means."""
        if isinstance(node, ast.Attribute):
            return getattr(self.outside(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self.names:
            return None
        closure = zip(self.python.__code__.co_freevars, self.python.__closure__ or ())
        world = {**vars(builtins), **self.python.__globals__, **{n: c.cell_contents for n, c in closure}}
        return world.get(node.id)

    def on_Attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id in self.names:
            owner = self.names[node.value.id]
            if owner.kind == WORLD:
                value: Value | None = self.translator.world.value(node.attr)
                if value is None:
                    raise self.fail(f"a shader has no {ast.unparse(node)}")
                return value
            if isinstance(owner.kind, Part) and node.attr == "shape":
                sizes = self.translator.world.arrays[owner.kind.name].sizes
                return self.together([Value(INTEGER, str(s)) for s in sizes])
            raise self.fail(f"there is no {ast.unparse(node)}")
        return constant(self.outside(node))

    def on_Subscript(self, node: ast.Subscript) -> Value:
        whole_value = self.expression(node.value)
        if isinstance(whole_value.kind, TupleKind):
            index = self.expression(node.slice)
            if index.known is None:
                raise UnrollError(str(self.fail("items of tuples are named by constants")))
            return item(whole_value, index.known)
        return self.element(whole_value, node)

    def element(self, array: Value, node: ast.Subscript) -> Value:
        """An element of an array or a record, or a row of an array."""
        world = self.translator.world
        if isinstance(array.kind, Record):
            letter, place = world.arrays[array.kind.name].columns[ast.literal_eval(node.slice)]
            return self.loaded(letter, place(array.text))
        if not isinstance(array.kind, Part):
            raise self.fail(f"{ast.unparse(node.value)} cannot be indexed")
        nodes = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        at, axes = world.offset(array, [self.cast(self.expression(i), INTEGER).text for i in nodes])
        owner = world.arrays[array.kind.name]
        if axes:
            return Value(Part(array.kind.name, axes, True), str(at))
        if owner.columns:
            return Value(Record(array.kind.name), str(at))
        assert owner.place is not None
        return self.loaded(owner.letter, owner.place(str(at)))

    def loaded(self, letter: str, text: str) -> Value:
        """What lies in an array: float32 numbers, read as those the function computes with."""
        return Value(FLOAT, f"real({text})") if letter == "f" else Value(INTEGER, text)

    # -- arithmetic -------------------------------------------------------------------------------------------------
    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            test = self.truth(value)
            return (
                constant(not test.known)
                if test.known is not None
                else Value(BOOL, f"!{test.at(ATOM)}", UNARY)
            )
        if value.known is not None and isinstance(node.op, ast.USub):
            return constant(-value.known)
        sign = {ast.USub: "-", ast.Invert: "~"}.get(type(node.op), "")
        return Value(value.kind, f"{sign}{value.at(ATOM)}", UNARY)

    def on_BinOp(self, node: ast.BinOp) -> Value:
        return self.binary(node.op, self.expression(node.left), self.expression(node.right))

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        a, b, kind = self.alike(left, right)
        if isinstance(op, ast.Div):
            a, b, kind = self.cast(a, FLOAT), self.cast(b, FLOAT), FLOAT
        if type(op) in _BITS and kind == INTEGER:
            return Value(INTEGER, f"({a.at(ATOM)} {_BITS[type(op)]} {b.at(ATOM)})")
        if type(op) in _DIVISIONS and kind == INTEGER:
            self.translator.help(_DIVISIONS[type(op)])
            return Value(INTEGER, f"{_DIVISIONS[type(op)]}({a.text}, {b.text})")
        if type(op) not in _SIGNS:
            raise self.fail(f"{type(op).__name__} has no counterpart in WGSL")
        sign = _SIGNS[type(op)]
        rank = ADD if sign in "+-" else MULTIPLY
        if kind == INTEGER and sign != "/":
            known = [v.known if v.known is not None else v.text for v in (a, b)]
            result = whole(known[0], sign, known[1])
            if not isinstance(result, str):
                return constant(int(result))
            fixed = all(v.fixed or v.known is not None for v in (a, b))
            return Value(INTEGER, result, rank if " " in result else ATOM, fixed=fixed)
        # Floats keep their order: what stands on the right was computed first.
        return Value(kind, f"{a.at(rank)} {sign} {b.at(rank + 1)}", rank)

    # -- choices ----------------------------------------------------------------------------------------------------
    def on_Compare(self, node: ast.Compare) -> Value:
        left, tests = self.expression(node.left), []
        for op, right_node in zip(node.ops, node.comparators):
            right = self.expression(right_node)
            if isinstance(op, (ast.In, ast.NotIn)):
                raise self.fail("`in` has no counterpart in WGSL")
            tests.append(self.compare(_COMPARISONS[type(op)], left, right))
            left = right
        return tests[0] if len(tests) == 1 else self._logic("&&", tests)

    def compare(self, how: str, left: Value, right: Value) -> Value:
        a, b, _ = self.alike(left, right)
        if a.known is not None and b.known is not None:
            return constant(
                bool(
                    eval(f"a {how} b", {"a": a.known, "b": b.known})  # two numbers and an operator of ours
                )
            )
        return Value(BOOL, f"{a.at(ADD)} {how} {b.at(ADD)}", COMPARE)

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        return self._logic(
            "&&" if isinstance(node.op, ast.And) else "||", [self.expression(v) for v in node.values]
        )

    def _logic(self, sign: str, tests: list[Value]) -> Value:
        return Value(BOOL, f" {sign} ".join(self.truth(t).at(COMPARE) for t in tests), LOGIC)

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test = self.truth(self.expression(node.test))
        if test.known is not None:
            return self.expression(node.body if test.known else node.orelse)
        outer, self.lines = self.lines, []
        yes, yes_lines = self.expression(node.body), self.lines
        self.lines = []
        no, no_lines = self.expression(node.orelse), self.lines
        self.lines = outer
        kind = self._common(yes.kind, no.kind)
        yes, no = self.cast(yes, kind), self.cast(no, kind)
        scalar = not isinstance(kind, TupleKind)
        calls = any(isinstance(n, ast.Call) for side in (node.body, node.orelse) for n in ast.walk(side))
        if scalar and not calls and not yes_lines and not no_lines:
            both = [f"real({v.text})" if self.typed(v) else v.text for v in (no, yes)]
            return Value(kind, f"select({both[0]}, {both[1]}, {test.text})")
        self.translator.declare(kind)
        name = self.fresh()
        self.say(
            f"var {name}{self.typed(no)} = {self.whole_text(no)};"
            if not no_lines
            else f"var {name}: {wgsl_type(kind)};"
        )
        self.say(f"if ({test.text}) {{")
        self.lines += [f"  {line}" for line in yes_lines]
        self.say(f"  {name} = {self.whole_text(yes)};")
        if no_lines:
            self.say("} else {")
            self.lines += [f"  {line}" for line in no_lines]
            self.say(f"  {name} = {self.whole_text(no)};")
        self.say("}")
        return Value(kind, name)

    def _common(self, a: Any, b: Any) -> Any:
        if isinstance(a, TupleKind) and isinstance(b, TupleKind):
            return TupleKind(tuple(self._common(x, y) for x, y in zip(a.items, b.items)))
        return a if a == b else FLOAT if FLOAT in (a, b) else INTEGER

    def typed(self, value: Value) -> str:
        """The type of a variable, where its first value would not tell: plain numbers could be float32."""
        return ": real" if value.kind == FLOAT and value.known is not None else ""

    def fresh(self) -> str:
        raise NotImplementedError

    def say(self, line: str) -> None:
        self.lines.append(line)

    # -- calls ------------------------------------------------------------------------------------------------------
    def on_Call(self, node: ast.Call) -> Value:
        thing = self.outside(node.func)
        if node.keywords:
            raise self.fail("arguments are given by position")
        arguments: list[Value] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                many = self.expression(a.value)
                arguments += [item(many, k) for k in range(len(many.kind.items))]
            else:
                arguments.append(self.expression(a))
        if isinstance(thing, Each):
            assert isinstance(node.func, ast.Attribute)
            return self.translator.each(self, ast.unparse(node.func.value), thing.block, arguments)
        if hasattr(thing, "functions"):
            return self.translator.dispatch(self, thing, arguments)
        if inspect.isfunction(thing):
            return self.translator.call(self, thing, arguments)
        return self._builtin(thing, node, arguments)

    def _builtin(self, thing: Any, node: ast.Call, values: list[Value]) -> Value:
        if thing is len:
            kind = values[0].kind
            if isinstance(kind, TupleKind):
                return constant(len(kind.items))
            sizes = self.translator.world.arrays[kind.name].sizes
            return Value(INTEGER, str(sizes[len(sizes) - kind.axes]), fixed=True)
        if thing in (min, max):
            best = values[0]
            for value in values[1:]:
                a, b, kind = self.alike(best, value)
                best = Value(kind, f"{thing.__name__}({a.text}, {b.text})")
            return best
        if thing is abs:
            return Value(values[0].kind, f"abs({values[0].text})")
        if thing in (int, np.int64):
            return Value(INTEGER, f"i32({values[0].text})") if values[0].kind == FLOAT else values[0]
        if thing in (float, np.float64, np.float32):
            return self.cast(values[0], FLOAT)
        floats = [self.cast(v, FLOAT).text for v in values]
        if thing in _FUNCTIONS:
            name, kind = _FUNCTIONS[thing]
            self.translator.help(name)
            if name in HELPERS:
                return self.helped(name, kind, floats)
            return Value(kind, f"{name}({', '.join(floats)})")
        raise self.fail(f"{ast.unparse(node.func)} cannot be called in a shader")

    def helped(self, name: str, kind: Any, floats: list[str]) -> Value:
        """A call of a helper, which computes with float32."""
        text = f"{name}({', '.join(f'f32({f})' for f in floats)})"
        return Value(kind, f"real({text})" if kind == FLOAT else text)


_FUNCTIONS: dict[Any, tuple[str, Any]] = {
    math.sqrt: ("sqrt", FLOAT),
    np.sqrt: ("sqrt", FLOAT),
    np.floor: ("floor", FLOAT),
    np.ceil: ("ceil", FLOAT),
    math.fabs: ("abs", FLOAT),
    math.isfinite: ("is_finite", BOOL),
    math.isnan: ("is_nan", BOOL),
    np.isnan: ("is_nan", BOOL),
    math.copysign: ("with_sign", FLOAT),
}
