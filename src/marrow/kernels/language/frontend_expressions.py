"""Expressions and places of kernel functions, in the typed form."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marrow.errors import MarrowError
from marrow.kernels.language import ir
from marrow.kernels.language.constants import RecordView
from marrow.kernels.language.types import (
    BOOL,
    FLOAT,
    INTEGER,
    ArrayKind,
    Kind,
    RecordKind,
    StructKind,
    TupleKind,
    described,
    loose,
)

__all__ = ["Expressions", "LanguageError"]

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
_SIGNS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "LShift": "<<", "RShift": ">>", "BitAnd": "&",
    "BitOr": "|", "BitXor": "^",
}  # fmt: skip
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
SHIFTS = 63
"""Bits that a number may be shifted by at most."""


class LanguageError(MarrowError):
    """A function says something that is not in the kernels' language."""


class Expressions:
    """Lowers expressions of the function that is being lowered, which is one of these."""

    python: Callable[..., Any]
    here: Any
    variables: dict[str, Kind]
    fixed: dict[str, ir.Const]
    sure: set[str]
    """Variables that have a value whichever way the function came here."""

    @property
    def line(self) -> int:
        raise NotImplementedError

    def call(self, node: ast.Call, *, effect: bool = False) -> ir.Expr | None:
        raise NotImplementedError

    def error(self, message: str) -> LanguageError:
        """What is wrong, and where."""
        file = self.python.__code__.co_filename  # type: ignore[attr-defined]
        return LanguageError(f"{file}:{self.line}, in {self.python.__name__}: {message}")

    # -- places -------------------------------------------------------------------------------------------------------
    def target(self, node: ast.expr, value: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
        """A single target, and the value as it goes there."""
        if isinstance(node, ast.Name):
            return self.named(node.id, value)
        if isinstance(node, ast.Subscript):
            place = self.place(node)
            return place, self.cast(value, place.kind)
        raise self.error(f"cannot assign to {ast.unparse(node)}")

    def named(self, name: str, value: ir.Expr) -> tuple[ir.Expr, ir.Expr]:
        kind = self.variables.setdefault(name, loose(value.kind))
        value = self.cast(value, kind, name)
        self.sure.add(name)
        return ir.Var(name, kind), value

    def place(self, node: ast.Subscript) -> Any:
        """One element, or one field of a record, that something is put into."""
        whole = self.expression(node.value)
        if not isinstance(whole.kind, (RecordKind, ArrayKind)):
            raise self.error(f"{ast.unparse(node.value)} is not an array")
        part = self.part(whole, node)
        if not isinstance(part, (ir.Element, ir.Member)) or part.kind not in (FLOAT, INTEGER):
            raise self.error("only single elements can be assigned: write a loop")
        return part

    def part(self, whole: ir.Expr, node: ast.Subscript) -> ir.Expr:
        """A field of a record; an element, a row, a record or a slice of an array."""
        kind: Any = whole.kind
        if isinstance(kind, RecordKind):
            name = node.slice.value if isinstance(node.slice, ast.Constant) else None
            fields: Any = kind.dtype.fields or {}
            if name not in fields:
                raise self.error(f"the record has no field {ast.unparse(node.slice)}: {', '.join(fields)}")
            return ir.Member(whole, str(name), held(fields[name][0]))
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) == 1 and isinstance(indices[0], ast.Slice):
            cut = indices[0]
            if cut.step is not None:
                raise self.error("slices have no step")
            low = self.index(cut.lower) if cut.lower else self.constant(0)
            return ir.Slice(whole, low, self.index(cut.upper) if cut.upper else ir.Size(whole, 0), kind)
        if len(indices) > kind.ndim:
            raise self.error(f"too many indices: {ast.unparse(node)}, where the array has {kind.ndim} axes")
        places = tuple(self.index(i) for i in indices)
        left = kind.ndim - len(indices)
        if left:
            return ir.Rows(whole, places, ArrayKind(kind.dtype, ("?",) * left))
        found = held(kind.dtype)
        return (
            ir.Record(whole, places, found)
            if isinstance(found, RecordKind)
            else ir.Element(whole, places, found)
        )

    def index(self, node: ast.expr) -> ir.Expr:
        """A place in an array. Negative ones, which Python counts from the end, are refused where they are known."""
        number = self.cast(self.expression(node), INTEGER)
        if isinstance(number, ir.Const) and number.value < 0:
            raise self.error(
                f"places are counted from the beginning: {ast.unparse(node)}; use len(...) - 1 for the last"
            )
        return number

    # -- kinds --------------------------------------------------------------------------------------------------------
    def constant(self, number: Any) -> ir.Const:
        if isinstance(number, (bool, np.bool_)):
            return ir.Const(bool(number), BOOL)
        if isinstance(number, (int, np.integer)):
            if not LOWEST <= number <= HIGHEST:
                raise self.error(f"{number} does not fit 64 bits")
            return ir.Const(int(number), INTEGER)
        if not isinstance(number, (float, np.floating)):
            raise self.error(f"{number!r} is not a number")
        return ir.Const(float(number), FLOAT)

    def cast(self, value: ir.Expr, kind: Kind, name: str = "") -> ir.Expr:
        if value.kind == kind:
            return value
        if (kind == FLOAT and value.kind in (INTEGER, BOOL)) or (kind == INTEGER and value.kind == BOOL):
            if isinstance(value, ir.Const):
                return self.constant(float(value.value) if kind == FLOAT else int(value.value))
            return ir.Convert(value, kind)
        both = isinstance(kind, TupleKind) and isinstance(value.kind, TupleKind)
        if both and len(kind.items) == len(value.kind.items):  # type: ignore[union-attr]
            if ir.calls(value) and not isinstance(value, ir.Pack):
                raise self.error("the kinds of a tuple differ from those expected: give it a name first")
            items = tuple(self.cast(self.item(value, k), inner, name) for k, inner in enumerate(kind.items))  # type: ignore[union-attr]
            return ir.Pack(items, kind)
        if isinstance(kind, ArrayKind) and value.kind is not None and loose(value.kind) == loose(kind):
            return value
        what = f"{name}: " if name else ""
        raise self.error(f"{what}expected {described(kind)}, got {described(value.kind)}")

    def truth(self, value: ir.Expr) -> ir.Expr:
        if value.kind == BOOL:
            return value
        if isinstance(value, ir.Const):
            return self.constant(bool(value.value))
        if value.kind not in (INTEGER, FLOAT):
            raise self.error("only numbers are true or false")
        return ir.Convert(value, BOOL)

    def alike(self, a: ir.Expr, b: ir.Expr) -> tuple[ir.Expr, ir.Expr, Kind]:
        """Two numbers as numbers of one kind."""
        kind = FLOAT if FLOAT in (a.kind, b.kind) else INTEGER
        return self.cast(a, kind), self.cast(b, kind), kind

    def item(self, value: ir.Expr, k: int) -> ir.Expr:
        kinds: Any = value.kind.items  # type: ignore[union-attr]
        if not -len(kinds) <= k < len(kinds):
            raise self.error(f"a tuple of {len(kinds)} has no item {k}")
        k %= len(kinds)
        if isinstance(value, ir.Pack) and not any(ir.calls(i) for j, i in enumerate(value.items) if j != k):
            return value.items[k]
        return ir.Item(value, k, kinds[k])

    # -- names --------------------------------------------------------------------------------------------------------
    def expression(self, node: ast.expr) -> ir.Expr:
        method = getattr(self, f"on_{type(node).__name__}", None)
        if method is None:
            raise self.error(f"{ast.unparse(node)} is not in the language")
        value: ir.Expr = method(node)
        return value

    def on_Call(self, node: ast.Call) -> ir.Expr:
        value = self.call(node)
        if value is None or value.kind is None:
            raise self.error(f"{ast.unparse(node)} returns nothing")
        return value

    def on_Constant(self, node: ast.Constant) -> ir.Expr:
        return self.constant(node.value)

    def on_Tuple(self, node: ast.Tuple) -> ir.Expr:
        return self.together([self.expression(e) for e in node.elts])

    def together(self, items: Sequence[ir.Expr]) -> ir.Expr:
        return ir.Pack(tuple(items), TupleKind(tuple(i.kind for i in items)))

    def on_Name(self, node: ast.Name) -> ir.Expr:
        if node.id in self.fixed:
            return self.fixed[node.id]
        if node.id in self.variables:
            if node.id not in self.sure:
                raise self.error(f"{node.id} may have no value here: assign one before the branch or loop")
            return ir.Var(node.id, self.variables[node.id])
        thing = self.outside(node)
        if isinstance(thing, tuple):
            return self.together([self.constant(t) for t in thing])
        if not isinstance(thing, (bool, int, float, np.number, np.bool_)):
            raise self.error(f"{node.id} is not a value")
        return self.constant(thing)

    def outside(self, node: ast.expr) -> Any:
        """What a name outside the function means; None for any other expression."""
        if isinstance(node, ast.Attribute):
            thing = self.outside(node.value)
            if not hasattr(thing, node.attr):
                raise self.error(f"there is no {ast.unparse(node)}")
            return getattr(thing, node.attr)
        if not isinstance(node, ast.Name) or node.id in self.variables or node.id in self.fixed:
            return None
        code = self.python.__code__  # type: ignore[attr-defined]
        for name, cell in zip(code.co_freevars, self.python.__closure__ or ()):  # type: ignore[attr-defined]
            if name == node.id:
                return cell.cell_contents
        world = self.python.__globals__  # type: ignore[attr-defined]
        if node.id in world:
            return world[node.id]
        if not hasattr(builtins, node.id):
            raise self.error(f"{node.id} has no value here")
        return getattr(builtins, node.id)

    def on_Attribute(self, node: ast.Attribute) -> ir.Expr:
        owner = node.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id not in self.variables:
            thing = self.outside(node)
            return (
                self.together([self.constant(t) for t in thing])
                if isinstance(thing, tuple)
                else self.constant(thing)
            )
        whole = self.expression(node.value)
        if isinstance(whole.kind, RecordView):
            return self.record_field(whole, node, [])
        if isinstance(whole.kind, ArrayKind) and node.attr == "shape":
            return self.together([ir.Size(whole, axis) for axis in range(whole.kind.ndim)])
        if isinstance(whole.kind, StructKind):
            fields = dict(whole.kind.fields)
            if node.attr not in fields:
                raise self.error(f"{whole.kind.made_by.__name__} has no {node.attr}")
            return ir.Field(whole, node.attr, loose(fields[node.attr]))
        raise self.error(f"there is no {ast.unparse(node)}")

    def record_field(self, view: ir.Expr, node: ast.Attribute, indices: list[ast.expr]) -> ir.Expr:
        """A number of the constants of an operation, or a tuple of them."""
        record: Any = view.kind.record  # type: ignore[union-attr]
        if node.attr not in record.fields:
            raise self.error(f"a {record.name} has no {node.attr}: {', '.join(record.fields)}")
        field = record.fields[node.attr]
        if len(indices) != bool(field.each) and not (
            len(indices) == bool(field.each) + 1 and field.width > 1
        ):
            raise self.error(
                f"{node.attr} of a {record.name} is indexed {'by what it has one each of' if field.each else 'as a tuple'}"
            )
        work, letter = self.item(view, 0), field.letter
        fields = dict(work.kind.fields)  # type: ignore[union-attr]
        array = ir.Field(
            work, "ints" if letter == "i" else "floats", loose(fields["ints" if letter == "i" else "floats"])
        )
        first, each = record.place(node.attr)
        at = self.item(view, 1 if letter == "i" else 2)

        def rows(what: str) -> ir.Expr:
            if what == "joints":
                return ir.Size(ir.Field(work, "parents", loose(fields["parents"])), 0)
            if what == "morphs":
                return ir.Field(work, "Mp", INTEGER)
            return self.record_field(view, ast.Attribute(node.value, what, ast.Load()), [])

        add, times = ast.Add(), ast.Mult()
        for width, what in each:
            at = self.binary(
                add, at, self.binary(times, rows(what), self.constant(width)) if width > 1 else rows(what)
            )
        inside: ir.Expr = self.constant(0)
        if field.each:
            inside = self.cast(self.expression(indices[0]), INTEGER)
            inside = self.binary(times, inside, self.constant(field.width)) if field.width > 1 else inside
        kind = INTEGER if letter == "i" else FLOAT

        def number(more: ir.Expr) -> ir.Expr:
            place = self.binary(
                add, self.binary(add, at, inside), self.binary(add, more, self.constant(first))
            )
            return ir.Element(array, (place,), kind)

        if len(indices) > bool(field.each):
            return number(self.cast(self.expression(indices[-1]), INTEGER))
        if field.width == 1:
            return number(self.constant(0))
        return self.together([number(self.constant(k)) for k in range(field.width)])

    def on_Subscript(self, node: ast.Subscript) -> ir.Expr:
        owner = node.value.value if isinstance(node.value, ast.Attribute) else None
        if isinstance(owner, ast.Name) and isinstance(self.variables.get(owner.id), RecordView):
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return self.record_field(self.expression(owner), node.value, indices)  # type: ignore[arg-type]
        whole = self.expression(node.value)
        if isinstance(whole.kind, TupleKind):
            index = self.expression(node.slice)
            if not isinstance(index, ir.Const):
                raise self.error(
                    "items of tuples are named by constants, or by the variable of a loop over a short range of constants"
                )
            return self.item(whole, index.value)
        if not isinstance(whole.kind, (ArrayKind, RecordKind)):
            raise self.error(f"{ast.unparse(node.value)} cannot be indexed")
        return self.part(whole, node)

    # -- arithmetic ---------------------------------------------------------------------------------------------------
    def on_UnaryOp(self, node: ast.UnaryOp) -> ir.Expr:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            test = self.truth(value)
            return (
                self.constant(not test.value) if isinstance(test, ir.Const) else ir.Unary("not", test, BOOL)
            )
        if value.kind not in (FLOAT, INTEGER, BOOL):
            raise self.error(f"{ast.unparse(node.operand)} is not a number")
        if isinstance(node.op, ast.USub):
            if isinstance(value, ir.Const):
                return self.constant(-value.value)
            return (
                ir.Unary("-", value, FLOAT)
                if value.kind == FLOAT
                else ir.Unary("-", self.cast(value, INTEGER), INTEGER)
            )
        if isinstance(node.op, ast.Invert):
            return ir.Unary("~", self.cast(value, INTEGER), INTEGER)
        return value

    def on_BinOp(self, node: ast.BinOp) -> ir.Expr:
        return self.binary(node.op, self.expression(node.left), self.expression(node.right))

    def binary(self, op: ast.operator, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        a, b, kind = self.alike(left, right)
        name = type(op).__name__
        sign = _SIGNS.get(name)
        if kind == FLOAT or name == "Div":
            if sign is None or sign not in "+-*/":
                raise self.error(f"{name} of floats is not in the language")
            return ir.Binary(sign, self.cast(a, FLOAT), self.cast(b, FLOAT), FLOAT)
        if sign is None:
            raise self.error(f"{name} is not in the language")
        if sign in ("<<", ">>") and isinstance(b, ir.Const) and not 0 <= b.value <= SHIFTS:
            raise self.error(f"numbers are shifted by 0 to {SHIFTS}: multiply or divide instead")
        if isinstance(a, ir.Const) and isinstance(b, ir.Const) and sign in ("+", "-", "*", "<<"):
            x, y = a.value, b.value
            return self.constant(
                x << y if sign == "<<" else x + y if sign == "+" else x - y if sign == "-" else x * y
            )
        return ir.Binary(sign, a, b, INTEGER)

    # -- choices ------------------------------------------------------------------------------------------------------
    def on_Compare(self, node: ast.Compare) -> ir.Expr:
        """A chain looks at the next operand only where all comparisons so far hold."""
        operands = [self.expression(o) for o in (node.left, *node.comparators)]
        if len(operands) > 2 and any(ir.calls(o) for o in operands[1:-1]):
            raise self.error("what stands in the middle of a comparison is used twice: give it a name first")
        tests = [self._test(node, op, a, b) for op, a, b in zip(node.ops, operands, operands[1:])]
        return tests[0] if len(tests) == 1 else ir.Logic("and", tuple(tests))

    def _test(self, node: ast.Compare, op: ast.cmpop, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        if isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(right, ir.Pack):
                raise self.error("`in` takes a tuple: `x in (1, 2)`")
            if not right.items:
                return self.constant(isinstance(op, ast.NotIn))
            kind = FLOAT if FLOAT in (left.kind, *(i.kind for i in right.items)) else INTEGER
            found = ir.Among(self.cast(left, kind), tuple(self.cast(i, kind) for i in right.items))
            return ir.Unary("not", found, BOOL) if isinstance(op, ast.NotIn) else found
        if type(op) not in _COMPARISONS:
            raise self.error(f"{ast.unparse(node)} is not in the language")
        return self.compare(_COMPARISONS[type(op)], left, right)

    def compare(self, how: str, left: ir.Expr, right: ir.Expr) -> ir.Expr:
        a, b, _ = self.alike(left, right)
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            x, y = a.value, b.value
            return self.constant(
                {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[how]
            )
        return ir.Compare(how, a, b)

    def on_BoolOp(self, node: ast.BoolOp) -> ir.Expr:
        """`and` and `or` look at the next operand only where it still matters."""
        tests = []
        for operand in node.values:
            test = self.expression(operand)
            if test.kind != BOOL:
                raise self.error(f"`and` and `or` take truth values: compare {ast.unparse(operand)} with 0")
            tests.append(test)
        return ir.Logic("or" if isinstance(node.op, ast.Or) else "and", tuple(tests))

    def on_IfExp(self, node: ast.IfExp) -> ir.Expr:
        test = self.truth(self.expression(node.test))
        if isinstance(test, ir.Const):
            return self.expression(node.body if test.value else node.orelse)
        yes, no = self.expression(node.body), self.expression(node.orelse)
        kind = self._common(yes.kind, no.kind)
        return ir.Select(test, self.cast(yes, kind), self.cast(no, kind), kind)

    def _common(self, a: Kind, b: Kind) -> Kind:
        if isinstance(a, TupleKind) and isinstance(b, TupleKind) and len(a.items) == len(b.items):
            return TupleKind(tuple(self._common(x, y) for x, y in zip(a.items, b.items)))
        if loose(a) == loose(b):
            return loose(a)
        return FLOAT if FLOAT in (a, b) else INTEGER


def held(dtype: np.dtype[Any]) -> Kind:
    """The kind of what lies in memory."""
    if dtype.subdtype is not None:
        return ArrayKind(dtype.subdtype[0], ("?",) * len(dtype.subdtype[1]))
    if dtype.names is not None:
        return RecordKind(dtype)
    return FLOAT if dtype.kind == "f" else INTEGER
