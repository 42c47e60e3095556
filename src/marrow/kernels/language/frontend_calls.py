"""Calls in kernel functions: functions of the language itself, lane blocks, and other functions."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from marrow.kernels.language import ir
from marrow.kernels.language.constants import Constants
from marrow.kernels.language.dispatch import Dispatch
from marrow.kernels.language.frontend_expressions import HIGHEST, LOWEST, Expressions
from marrow.kernels.language.intrinsics import INTRINSICS, NAMES
from marrow.kernels.language.lanes import Block, EachBlock
from marrow.kernels.language.types import FLOAT, INTEGER, ArrayKind, StructKind, TupleKind, loose

__all__ = ["Calls"]


class Calls(Expressions):
    """Expressions with calls."""

    def add(self, statement: ir.Stmt) -> None:
        raise NotImplementedError

    def call(self, node: ast.Call, *, effect: bool = False) -> ir.Expr | None:
        """A call; None where it is a statement. Those stand alone (`effect`)."""
        thing = self.outside(node.func)
        if node.keywords:
            raise self.error("arguments are given by position")
        arguments = self.arguments(node)
        if isinstance(thing, (Block, EachBlock, Dispatch)):
            if not effect:
                raise self.error(f"{ast.unparse(node.func)} has no result: it stands on a line of its own")
            self._statement(thing, node, arguments)
            return None
        if isinstance(thing, Constants):
            return self.record(thing, arguments)
        name = NAMES.get(thing) if getattr(thing, "__hash__", None) else None
        if name is not None:
            return self.intrinsic(name, arguments)
        if not inspect.isfunction(thing):
            raise self.error(f"{ast.unparse(node.func)} cannot be called here")
        function = self.lowered_function(thing, arguments)
        return ir.Call(function, tuple(arguments), function.result)

    def lowered_function(self, function: Any, arguments: list[ir.Expr]) -> ir.IrFunction:
        from marrow.kernels.language.frontend import lower

        names = list(inspect.signature(function).parameters)
        if len(names) != len(arguments):
            raise self.error(f"{function.__name__} takes {len(names)} arguments, got {len(arguments)}")
        return lower(function, [a.kind for a in arguments])

    def record(self, record: Constants, arguments: list[ir.Expr]) -> ir.Expr:
        """`RECORD(work, at)`: the constants of an operation, to be read by name."""
        if len(arguments) != 2 or not isinstance(arguments[0].kind, StructKind) or ir.calls(*arguments):
            raise self.error(f"the constants of a {record.name} are read as RECORD(work, at)")
        work, at = arguments[0], self.cast(arguments[1], INTEGER)
        ints = ir.Field(work, "ints", loose(dict(work.kind.fields)["ints"]))  # type: ignore[union-attr]
        floats = ir.Element(ints, (at,), INTEGER) if record.has_floats else self.constant(0)
        return ir.Pack((work, at, floats), record.kind(work.kind))

    def arguments(self, node: ast.Call) -> list[ir.Expr]:
        out: list[ir.Expr] = []
        for a in node.args:
            if not isinstance(a, ast.Starred):
                out.append(self.expression(a))
                continue
            many = self.expression(a.value)
            if not isinstance(many.kind, TupleKind) or ir.calls(many):
                raise self.error(f"{ast.unparse(a)}: only a tuple that has a name can be spread")
            out += [self.item(many, k) for k in range(len(many.kind.items))]
        return out

    def _statement(self, thing: Any, node: ast.Call, arguments: list[ir.Expr]) -> None:
        line, name = self.line, ast.unparse(node.func).removesuffix(".each")
        if isinstance(thing, Block):
            self.add(ir.Lanes(thing, name, tuple(arguments), line))
        elif isinstance(thing, EachBlock):
            first, last, step, *rest = arguments
            if not isinstance(step, ir.Const):
                raise self.error("the step of each(...) is a constant")
            bounds = self.cast(first, INTEGER), self.cast(last, INTEGER)
            self.add(ir.Each(thing.block, name, *bounds, step.value, tuple(rest), line))
        else:
            number, *rest = arguments
            functions = tuple(self.lowered_function(f, rest) for f in thing.functions)
            self.add(ir.Choose(self.cast(number, INTEGER), functions, tuple(rest), line))

    # -- functions of the language itself -----------------------------------------------------------------------------
    def intrinsic(self, name: str, values: list[ir.Expr]) -> ir.Expr:
        count = INTRINSICS[name][1]
        if (count and len(values) != count) or len(values) < 1:
            raise self.error(f"{name} takes {count or 'at least one'} arguments, got {len(values)}")
        special = getattr(self, f"{name}_of", None)
        if special is not None:
            result: ir.Expr = special(*values)
            return result
        kinds = [FLOAT] * len(values) if name != "ldexp" else [FLOAT, INTEGER]
        return ir.Intrinsic(name, tuple(self.cast(v, k) for v, k in zip(values, kinds)), INTRINSICS[name][2])

    def length(self, value: ir.Expr) -> ir.Expr:
        if isinstance(value.kind, TupleKind):
            return self.constant(len(value.kind.items))
        if not isinstance(value.kind, ArrayKind):
            raise self.error("len takes an array or a tuple")
        return ir.Size(value, 0)

    len_of = length

    def _extreme(self, name: str, how: str, values: tuple[ir.Expr, ...]) -> ir.Expr:
        best = values[0]
        for value in values[1:]:
            a, b, kind = self.alike(best, value)
            better = self.compare(how, b, a)
            if isinstance(better, ir.Const):
                best = b if better.value else a
            else:
                best = ir.Intrinsic(name, (a, b), kind)
        return best

    def min_of(self, *values: ir.Expr) -> ir.Expr:
        return self._extreme("min", "<", values)

    def max_of(self, *values: ir.Expr) -> ir.Expr:
        return self._extreme("max", ">", values)

    def abs_of(self, value: ir.Expr) -> ir.Expr:
        if value.kind == FLOAT:
            return ir.Intrinsic("fabs", (value,), FLOAT)
        return ir.Intrinsic("abs", (self.cast(value, INTEGER),), INTEGER)

    def int_of(self, value: ir.Expr) -> ir.Expr:
        if value.kind != FLOAT:
            return self.cast(value, INTEGER)
        if isinstance(value, ir.Const):
            x = value.value
            return self.constant(
                0 if x != x else int(x) if abs(x) < 2.0**63 else HIGHEST if x > 0 else LOWEST
            )
        return ir.Intrinsic("int", (value,), INTEGER)

    def float_of(self, value: ir.Expr) -> ir.Expr:
        return self.cast(value, FLOAT)

    def bool_of(self, value: ir.Expr) -> ir.Expr:
        return self.truth(value)
