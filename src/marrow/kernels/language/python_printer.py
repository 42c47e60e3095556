"""Prints the typed form as Python, whose lane formulas run in NumPy: the same bits as machine code, without a compiler.

Variables keep their names and statements their file and line, so that a debugger steps through the kernel's own source.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from marrow.kernels.language import ir
from marrow.kernels.language.python_runtime import HIGHEST, LOWEST, RUNTIME
from marrow.kernels.language.types import BOOL, FLOAT, INTEGER

__all__ = ["python_function", "python_text"]

_OPERATORS: dict[str, Any] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr,
    "^": ast.BitXor,
}  # fmt: skip
_COMPARISONS: dict[str, Any] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip
_INTRINSICS = {"min": "min", "max": "max", "fabs": "abs", "int": "_integer"}
LARGEST = float(np.finfo(np.float32).max)


def python_function(function: ir.IrFunction) -> Callable[..., Any]:
    """A function that Python runs; made once."""
    made: Callable[..., Any] | None = function.traits.get("python")
    if made is None:
        printer = _Printer(function)
        tree = printer.tree()
        exec(compile(tree, function.file, "exec"), printer.world)
        made = function.traits["python"] = printer.world[function.name]
    return made


def python_text(function: ir.IrFunction) -> str:
    """The function as Python, to look at."""
    return ast.unparse(_Printer(function).tree())


class _Printer:
    """Prints one function; `world` are the names it will see."""

    def __init__(self, function: ir.IrFunction) -> None:
        self.function = function
        self.world: dict[str, Any] = dict(RUNTIME)

    def tree(self) -> ast.Module:
        names = [ast.arg(name) for name, _ in self.function.parameters]
        arguments = ast.arguments([], names, None, [], [], None, [])
        body = self.block(self.function.body)
        first = self.function.python.__code__.co_firstlineno  # type: ignore[attr-defined]
        make: Any = ast.FunctionDef
        defined = make(
            self.function.name,
            arguments,
            body,
            [],
            lineno=first,
            end_lineno=first,
            col_offset=0,
            end_col_offset=0,
        )
        defined.type_params = []
        return ast.fix_missing_locations(ast.Module([defined], []))

    def held(self, name: str, thing: Any) -> ast.expr:
        """A name for something from outside."""
        label, count = f"_{name.replace('.', '_')}", 0
        while self.world.setdefault(label, thing) is not thing:
            count += 1
            label = f"_{name.replace('.', '_')}_{count}"
        return ast.Name(label, ast.Load())

    # -- statements ---------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[Any]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            made = getattr(self, f"do_{type(statement).__name__}")(statement)
            made.lineno = made.end_lineno = statement.line
            made.col_offset = made.end_col_offset = 0
            out.append(made)
        return out or [ast.Pass()]

    def do_Let(self, node: ir.Let) -> ast.stmt:
        return ast.Assign([ast.Name(_named(node.name), ast.Store())], self.whole(node.value))

    def do_Assign(self, node: ir.Assign) -> ast.stmt:
        targets = [self._target(t) for t in node.targets]
        values = [self._stored(t, v) for t, v in zip(node.targets, node.values)]
        if len(targets) == 1:
            return ast.Assign(targets, values[0])
        return ast.Assign([ast.Tuple(targets, ast.Store())], ast.Tuple(values, ast.Load()))

    def _target(self, target: Any) -> ast.expr:
        made: Any = self.expression(target)
        made.ctx = ast.Store()
        return made  # type: ignore[no-any-return]

    def _stored(self, target: Any, value: Any) -> ast.expr:
        """A value as a target takes it: memory of smaller types keeps the low bits, or the nearest float32."""
        dtype = _dtype(target)
        if dtype is None or dtype.kind == "b":
            return self.whole(value)
        if dtype.kind == "f":
            return (
                self.expression(value)
                if dtype.itemsize == 8
                else self._ranged(value, -LARGEST, LARGEST, "_single")
            )
        if dtype.itemsize == 8:
            return self.whole(value)
        info = np.iinfo(dtype)
        helper = "_wrap" if dtype.kind == "i" else "_unsigned"
        return self._ranged(value, int(info.min), int(info.max), helper, 8 * dtype.itemsize)

    def do_Do(self, node: ir.Do) -> ast.stmt:
        return ast.Expr(self.expression(node.call))

    def do_Return(self, node: ir.Return) -> ast.stmt:
        return ast.Return(None if node.value is None else self.whole(node.value))

    def do_If(self, node: ir.If) -> ast.stmt:
        orelse = self.block(node.orelse) if node.orelse else []
        return ast.If(self.expression(node.test), self.block(node.body), orelse)

    def do_While(self, node: ir.While) -> ast.stmt:
        return ast.While(self.expression(node.test), self.block(node.body), [])

    def do_For(self, node: ir.For) -> ast.stmt:
        bounds = [self.whole(node.first), self.whole(node.stop), ast.Constant(node.step)]
        over = _call("range", *bounds)
        return ast.For(ast.Name(_named(node.variable), ast.Store()), over, self.block(node.body), [])

    def do_Break(self, node: ir.Break) -> ast.stmt:
        return ast.Break()

    def do_Continue(self, node: ir.Continue) -> ast.stmt:
        return ast.Continue()

    def do_Lanes(self, node: ir.Lanes) -> ast.stmt:
        return ast.Expr(
            ast.Call(self.held(node.name, node.block), [self.whole(a) for a in node.arguments], [])
        )

    def do_Each(self, node: ir.Each) -> ast.stmt:
        bounds = [self.whole(node.first), self.whole(node.last), ast.Constant(node.step)]
        arguments = [self.whole(a) for a in node.arguments]
        return ast.Expr(ast.Call(self.held(f"{node.name}_each", node.block.each), [*bounds, *arguments], []))

    def do_Choose(self, node: ir.Choose) -> ast.stmt:
        functions = self.held("functions", tuple(python_function(f) for f in node.functions))
        return ast.Expr(
            _call("_choose", self.whole(node.number), functions, *map(self.whole, node.arguments))
        )

    # -- expressions --------------------------------------------------------------------------------------------------
    def expression(self, node: Any) -> ast.expr:
        made: ast.expr = getattr(self, f"on_{type(node).__name__}")(node)
        return made

    def whole(self, node: Any) -> ast.expr:
        """An expression whose value is looked at: a whole number is brought back to 64 bits. Sums and products, which keep their low
        bits whatever the high ones are, need that only in the end."""
        if node.kind == INTEGER and isinstance(node, (ir.Binary, ir.Unary)) and not _small(node):
            return self._ranged(node, LOWEST, HIGHEST, "_wrap")
        return self.expression(node)

    def _ranged(self, node: Any, low: Any, high: Any, helper: str, *more: int) -> ast.expr:
        """`x if low <= x <= high else helper(x)`."""
        if isinstance(node, ir.Const) and low <= node.value <= high:
            return self.expression(node)
        kept = ast.NamedExpr(ast.Name("_x", ast.Store()), self.expression(node))
        x = ast.Name("_x", ast.Load())
        test = ast.Compare(ast.Constant(low), [ast.LtE(), ast.LtE()], [kept, ast.Constant(high)])
        return ast.IfExp(test, x, _call(helper, x, *(ast.Constant(m) for m in more)))

    def on_Const(self, node: ir.Const) -> ast.expr:
        return ast.Constant(node.value)

    def on_Var(self, node: ir.Var) -> ast.expr:
        return ast.Name(_named(node.name), ast.Load())

    def on_Pack(self, node: ir.Pack) -> ast.expr:
        return ast.Tuple([self.whole(i) for i in node.items], ast.Load())

    def on_Item(self, node: ir.Item) -> ast.expr:
        return ast.Subscript(self.expression(node.value), ast.Constant(node.index), ast.Load())

    def on_Field(self, node: ir.Field) -> ast.expr:
        return ast.Attribute(self.expression(node.struct), node.name, ast.Load())

    def on_Size(self, node: ir.Size) -> ast.expr:
        shape = ast.Attribute(self.expression(node.array), "shape", ast.Load())
        return ast.Subscript(shape, ast.Constant(node.axis), ast.Load())

    def on_Element(self, node: Any) -> ast.expr:
        indices = [self.expression(i) for i in node.indices]
        index = indices[0] if len(indices) == 1 else ast.Tuple(indices, ast.Load())
        return ast.Subscript(self.expression(node.array), index, ast.Load())

    on_Rows = on_Record = on_Element

    def on_Slice(self, node: ir.Slice) -> ast.expr:
        cut = ast.Slice(self.expression(node.low), self.expression(node.high), None)
        return ast.Subscript(self.expression(node.array), cut, ast.Load())

    def on_Member(self, node: ir.Member) -> ast.expr:
        return ast.Subscript(self.expression(node.record), ast.Constant(node.name), ast.Load())

    def on_Convert(self, node: ir.Convert) -> ast.expr:
        if node.kind == BOOL:
            return ast.Compare(self.whole(node.operand), [ast.NotEq()], [ast.Constant(0)])
        return _call("float" if node.kind == FLOAT else "int", self.whole(node.operand))

    def on_Unary(self, node: ir.Unary) -> ast.expr:
        operator: Any = {"-": ast.USub, "~": ast.Invert, "not": ast.Not}[node.op]
        return ast.UnaryOp(operator(), self.expression(node.operand))

    def on_Binary(self, node: ir.Binary) -> ast.expr:
        known = isinstance(node.right, ir.Const) and node.right.value
        if node.op in ("//", "%"):
            return _call(
                "_floor_divide" if node.op == "//" else "_remainder",
                self.whole(node.left),
                self.whole(node.right),
            )
        if node.op == "/" and not known:
            return _call("_divide", self.expression(node.left), self.expression(node.right))
        left = self.whole(node.left) if node.op == ">>" else self.expression(node.left)
        right = self.expression(node.right)
        if node.op in ("<<", ">>") and not isinstance(node.right, ir.Const):
            right = ast.BinOp(right, ast.BitAnd(), ast.Constant(63))
        return ast.BinOp(left, _OPERATORS[node.op](), right)

    def on_Compare(self, node: ir.Compare) -> ast.expr:
        return ast.Compare(self.whole(node.left), [_COMPARISONS[node.op]()], [self.whole(node.right)])

    def on_Among(self, node: ir.Among) -> ast.expr:
        return _call("_among", self.whole(node.value), *map(self.whole, node.items))

    def on_Logic(self, node: ir.Logic) -> ast.expr:
        return ast.BoolOp(
            ast.And() if node.op == "and" else ast.Or(), [self.expression(t) for t in node.tests]
        )

    def on_Select(self, node: ir.Select) -> ast.expr:
        return ast.IfExp(self.expression(node.test), self.whole(node.yes), self.whole(node.no))

    def on_Intrinsic(self, node: ir.Intrinsic) -> ast.expr:
        arguments = [self.whole(a) for a in node.arguments]
        if node.name == "abs":
            return _call("_wrap", _call("abs", *arguments))
        return _call(_INTRINSICS.get(node.name, f"_{node.name}"), *arguments)

    def on_Call(self, node: ir.Call) -> ast.expr:
        function = self.held(node.function.name, python_function(node.function))
        return ast.Call(function, [self.whole(a) for a in node.arguments], [])


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _named(name: str) -> str:
    return name.replace("%", "_")


def _small(node: Any) -> bool:
    """Whether a whole number is known to fit 64 bits: divided numbers do, and bits of numbers that do."""
    if isinstance(node, ir.Unary):
        return node.op == "~" and _small(node.operand)
    if isinstance(node, ir.Binary):
        return node.op in ("//", "%") or (
            node.op in ("&", "|", "^", ">>") and _small(node.left) and _small(node.right)
        )
    return True


def _dtype(target: Any) -> np.dtype[Any] | None:
    if isinstance(target, ir.Element):
        kind: Any = target.array.kind
        return kind.dtype  # type: ignore[no-any-return]
    if isinstance(target, ir.Member):
        return target.record.kind.dtype.fields[target.name][0]  # type: ignore[union-attr, index, no-any-return]
    return None
