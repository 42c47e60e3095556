"""The front end: from the source of a plain Python function to the typed form (`ir`).

It is the one place that knows what a kernel function may say. Numbers are floats (float64), whole numbers and truth values; a variable
keeps the kind of its first value; there are tuples, arrays and views of their rows, records by field name, structs of arguments,
`for ... in range`, `while`, `if`, and calls of other such functions, of lane blocks and of the functions of `intrinsics`. What is not
in the language is refused with file, line, and what to do instead. docs/kernels.md says what everything means.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from marrow.kernels.language import ir
from marrow.kernels.language.frontend_calls import Calls
from marrow.kernels.language.frontend_expressions import LanguageError, held
from marrow.kernels.language.hierarchy import parents_first, side_by_side
from marrow.kernels.language.types import INTEGER, Kind, RecordKind, TupleKind, described, loose

__all__ = ["UNROLLED", "LanguageError", "lower"]

UNROLLED = 7
"""Loops of known length up to this are written out, so that tuples may be indexed by their variable."""

_lowering = threading.RLock()
_open: list[Callable[..., Any]] = []
"""Functions that are being lowered, each called by the one before."""


@functools.cache
def _source(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        name = f"{function.__module__}.{function.__qualname__}"
        raise LanguageError(
            f"{name}: its source cannot be read; kernels are written in files or notebooks"
        ) from None
    definition = ast.parse(textwrap.dedent("".join(lines))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition, first


def lower(function: Callable[..., Any], kinds: Sequence[Kind]) -> ir.IrFunction:
    """A function for arguments of these kinds, in the typed form; made once."""
    with _lowering:  # `_open` is one thread's at a time
        return _lower(function, tuple(loose(k) for k in kinds))


@functools.cache
def _lower(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> ir.IrFunction:
    if function in _open:
        path = " calls ".join(f.__name__ for f in [*_open[_open.index(function) :], function])
        raise LanguageError(
            f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}, in {function.__name__}: "  # type: ignore[attr-defined]
            f"{path}: functions that call themselves are not in the language: write a loop, with an array for a stack"
        )
    _open.append(function)
    try:
        return _Function(function, kinds).lowered()
    finally:
        _open.pop()


class _Function(Calls):
    """One function being lowered."""

    def __init__(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> None:
        self.python = function
        self.tree, self.first_line = _source(function)
        self.here: Any = self.tree
        names = [a.arg for a in self.tree.args.args]
        if len(names) != len(kinds):
            raise self.error(f"{function.__name__} takes {len(names)} arguments, got {len(kinds)}")
        self.parameters = tuple(zip(names, kinds))
        self.variables: dict[str, Kind] = dict(self.parameters)
        self.sure = set(names)
        self.fixed: dict[str, ir.Const] = {}
        self.statements: list[ir.Stmt] = []
        self.loops = 0
        self.result: Kind | None = None
        self.returned = False
        self.temporaries = 0

    def lowered(self) -> ir.IrFunction:
        ended = self.block(self.tree.body)
        if self.result is not None and not ended:
            raise self.error("some ways through the function return nothing: return a value at its end")
        body = _without_unread(tuple(self.statements))
        assigned = {
            t.name
            for s in ir.walk(body)
            if isinstance(s, ir.Assign)
            for t in s.targets
            if isinstance(t, ir.Var)
        }
        assigned |= {s.variable for s in ir.walk(body) if isinstance(s, ir.For)}
        return ir.IrFunction(
            self.python,
            self.python.__name__,
            self.python.__code__.co_filename,  # type: ignore[attr-defined]
            self.parameters,
            {n: k for n, k in self.variables.items() if n in assigned},
            body,
            self.result,
            tuple(getattr(self.python, "attributes", ())),
        )

    @property
    def line(self) -> int:
        return self.first_line + getattr(self.here, "lineno", 1) - 1

    def add(self, statement: ir.Stmt) -> None:
        self.statements.append(statement)

    def let(self, value: ir.Expr) -> ir.Expr:
        """A value under a name of its own, unless it has one that nothing changes."""
        if isinstance(value, ir.Const):
            return value
        self.temporaries += 1
        name = f"%{self.temporaries}"
        self.add(ir.Let(name, value, self.line))
        return ir.Var(name, value.kind)

    # -- statements ---------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Lowers statements; whether nothing comes after them."""
        for statement in body:
            self.here = statement
            method = getattr(self, f"do_{type(statement).__name__}", None)
            if method is None:
                raise self.error(f"{type(statement).__name__} is not in the language")
            if method(statement):
                return True
        return False

    def inner(self, body: Sequence[ast.stmt]) -> tuple[tuple[ir.Stmt, ...], bool]:
        """Statements of their own, and whether nothing comes after them."""
        outer, self.statements = self.statements, []
        ended = self.block(body)
        lowered, self.statements = tuple(self.statements), outer
        return lowered, ended

    def do_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        if not isinstance(node.value, ast.Call):
            raise self.error(f"{ast.unparse(node)} does nothing: assign it, or leave it out")
        value = self.call(node.value, effect=True)
        if isinstance(value, ir.Call):
            self.add(ir.Do(value, self.line))

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        if len(node.targets) > 1:
            value = self.let(value)
        for target in node.targets:
            self.assign(target, value)

    def assign(self, target: ast.expr, value: ir.Expr) -> None:
        if isinstance(value.kind, RecordKind) and isinstance(target, ast.Subscript):
            self.copy_record(target, value)
            return
        targets: list[ast.expr] = []
        values: list[ir.Expr] = []
        self._pair(target, value, targets, values)
        # Values are cast before any target changes.
        pairs = [self.target(t, v) for t, v in zip(targets, values)]
        self.add(ir.Assign(tuple(p[0] for p in pairs), tuple(p[1] for p in pairs), self.line))

    def copy_record(self, target: ast.Subscript, value: ir.Expr) -> None:
        """All fields of a record, one after the other."""
        place = self.part(self.expression(target.value), target)
        if place.kind != value.kind:
            raise self.error(f"a record of the same fields is expected: {ast.unparse(target)}")
        self.copy_fields(self.let(place), self.let(value))

    def copy_fields(self, place: ir.Expr, value: ir.Expr) -> None:
        """What a record holds: numbers, records, arrays of either, whose sizes are known."""
        fields: Any = value.kind.dtype.fields  # type: ignore[union-attr]
        for name, (dtype, *_) in fields.items():
            base, shape = dtype.subdtype or (dtype, ())
            parts: list[ir.Expr] = [ir.Member(e, name, held(dtype)) for e in (place, value)]
            for index in np.ndindex(shape):
                there, here = parts
                if shape:
                    at = tuple(self.constant(i) for i in index)
                    made = ir.Record if base.names is not None else ir.Element
                    there, here = (made(e, at, held(base)) for e in parts)
                if base.names is not None:
                    self.copy_fields(there, here)
                else:
                    self.add(ir.Assign((there,), (here,), self.line))

    def _pair(self, target: ast.expr, value: ir.Expr, targets: list[ast.expr], values: list[ir.Expr]) -> None:
        """Single targets with what goes there."""
        if not isinstance(target, ast.Tuple):
            targets.append(target)
            values.append(value)
            return
        if not isinstance(value.kind, TupleKind) or len(value.kind.items) != len(target.elts):
            raise self.error(
                f"a tuple of other length is expected: {ast.unparse(target)} takes {len(target.elts)} values"
            )
        if not isinstance(value, ir.Pack):
            value = self.let(value)
        for k, element in enumerate(target.elts):
            self._pair(element, self.item(value, k), targets, values)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            place = self.once(self.place(node.target))
            value = self.binary(node.op, place, self.expression(node.value))
            self.add(ir.Assign((place,), (self.cast(value, place.kind),), self.line))
        elif isinstance(node.target, ast.Name):
            present = self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            self.assign(node.target, self.binary(node.op, present, self.expression(node.value)))
        else:
            raise self.error(f"cannot assign to {ast.unparse(node.target)}")

    def once(self, place: Any) -> Any:
        """A place whose parts are evaluated once."""

        def kept(e: ir.Expr) -> ir.Expr:
            simple = isinstance(e, ir.Const | ir.Var) or (
                isinstance(e, ir.Field) and isinstance(e.struct, ir.Var)
            )
            return e if simple else self.let(e)

        if isinstance(place, ir.Member):
            return ir.Member(kept(place.record), place.name, place.kind)
        return ir.Element(kept(place.array), tuple(kept(i) for i in place.indices), place.kind)

    def do_Return(self, node: ast.Return) -> bool:
        if self.returned and (self.result is None) != (node.value is None):
            raise self.error("some returns have a value and some have none")
        self.returned = True
        if node.value is None:
            self.add(ir.Return(None, self.line))
            return True
        value = self.expression(node.value)
        if self.result is None:
            self.result = loose(value.kind)
        self.add(ir.Return(self.cast(value, self.result), self.line))
        return True

    def do_If(self, node: ast.If) -> bool:
        test = self.truth(self.expression(node.test))
        if isinstance(test, ir.Const):
            return self.block(node.body if test.value else node.orelse)
        line, before, after, parts, ended = self.line, self.sure, [], [], True
        for body in (node.body, node.orelse):
            self.sure = set(before)
            lowered, over = self.inner(body)
            parts.append(lowered)
            if not over:
                after.append(self.sure)
            ended = ended and over
        self.sure = set.intersection(*after) if after else before
        self.add(ir.If(test, parts[0], parts[1], line))
        return ended

    def do_While(self, node: ast.While) -> bool:
        if node.orelse:
            raise self.error("loops have no else")
        test, line = self.truth(self.expression(node.test)), self.line
        if isinstance(test, ir.Const) and not test.value:
            return False
        body = self._loop(node)
        self.add(ir.While(test, body, line))
        jumps = (n for s in node.body for n in _own_jumps(s))
        return isinstance(test, ir.Const) and not any(isinstance(n, ast.Break) for n in jumps)

    def _loop(self, node: ast.While | ast.For) -> tuple[ir.Stmt, ...]:
        before = set(self.sure)
        self.loops += 1
        body, _ = self.inner(node.body)
        self.loops -= 1
        self.sure = before
        return body

    def do_For(self, node: ast.For) -> None:
        over = self.outside(node.iter.func) if isinstance(node.iter, ast.Call) else None
        if over not in (range, parents_first, side_by_side):
            raise self.error("loops run over range(...), parents_first(...) or side_by_side(...)")
        if node.orelse or not isinstance(node.target, ast.Name):
            raise self.error("loops have one variable and no else")
        line, name = self.line, node.target.id
        given = [self.expression(a) for a in node.iter.args]  # type: ignore[attr-defined]
        parents = given[0] if over is parents_first else None
        if over is side_by_side and len(given) != 2:
            raise self.error("side_by_side(...) has first and last")
        if not 1 <= len(given) <= 3:
            raise self.error("a range has a stop; or first and stop; or first, stop and step")
        bounds = [self.cast(self.length(v) if over is parents_first else v, INTEGER) for v in given]
        first, stop = (self.constant(0), bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        step = 1
        if len(bounds) == 3:
            if not isinstance(bounds[2], ir.Const) or not bounds[2].value:
                raise self.error("the step of a range is a constant other than 0")
            step = bounds[2].value
        if self.variables.get(name, INTEGER) != INTEGER:
            raise self.error(
                f"{name}: loops count with whole numbers, and it is {described(self.variables[name])}: use another name"
            )
        known = None
        if isinstance(first, ir.Const) and isinstance(stop, ir.Const):
            known = range(first.value, stop.value, step)
        if known is not None and over is range and self._unrolls(node, known):
            for number in known:
                self.fixed[name] = self.constant(number)
                if self.block(node.body):
                    raise self.error("a loop that ends in its first round is no loop")
            if name in self.fixed:
                target, value = self.named(name, self.fixed.pop(name))
                self.add(ir.Assign((target,), (value,), line))
            return
        before = name in self.sure
        self.named(name, first)
        body = self._loop(node)
        if not before and not known:
            self.sure.discard(name)
        self.add(ir.For(name, first, stop, step, body, line, parents, over is side_by_side))

    def _unrolls(self, node: ast.For, known: range) -> bool:
        jumps = any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in ast.walk(node))
        assigned = any(
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == node.target.id  # type: ignore[attr-defined]
            for b in node.body
            for n in ast.walk(b)
        )
        return len(known) <= UNROLLED and not jumps and not assigned

    def do_Break(self, node: ast.Break) -> bool:
        self.add(ir.Break(self.line))
        return True

    def do_Continue(self, node: ast.Continue) -> bool:
        self.add(ir.Continue(self.line))
        return True


def _without_unread(body: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
    """Statements without numbers that nobody reads: the last ones of variables whose loops were written out."""
    nodes = list(ir.walk(body))
    occurs = Counter(n.name for n in nodes if isinstance(n, ir.Var))
    stored = Counter(
        t.name for n in nodes if isinstance(n, ir.Assign) for t in n.targets if isinstance(t, ir.Var)
    )
    counted = {n.variable for n in nodes if isinstance(n, ir.For)}

    def idle(s: Any) -> bool:
        return (
            isinstance(s, ir.Assign)
            and all(
                isinstance(t, ir.Var) and occurs[t.name] == stored[t.name] and t.name not in counted
                for t in s.targets
            )
            and all(isinstance(v, ir.Const) for v in s.values)
        )

    def kept(statements: tuple[ir.Stmt, ...]) -> tuple[ir.Stmt, ...]:
        out: list[ir.Stmt] = []
        for s in statements:
            if isinstance(s, ir.If):
                s = replace(s, body=kept(s.body), orelse=kept(s.orelse))
            elif isinstance(s, (ir.While, ir.For)):
                s = replace(s, body=kept(s.body))
            if not idle(s):
                out.append(s)
        return tuple(out)

    return kept(body)


def _own_jumps(statement: ast.stmt) -> list[ast.stmt]:
    """Breaks of the loop that a statement stands in."""
    if isinstance(statement, (ast.For, ast.While)):
        return []
    if isinstance(statement, ast.If):
        return [n for s in [*statement.body, *statement.orelse] for n in _own_jumps(s)]
    return [statement] if isinstance(statement, ast.Break) else []
