"""Functions of the subset for Python to run: their own source, with IEEE arithmetic where Python would raise an error.

Python refuses to divide by zero, to take the root of what is negative and to make a whole number of what is none; machine code
gives what IEEE 754 says (`translate`). So that both give the same bits, those few operations are replaced before Python
compiles the function.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from marrow.kernels.language.dispatch import Dispatch

__all__ = ["exact"]

LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1


def divided(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def floor_divided(a: int, b: int) -> int:
    return a // b if b else 0


def rest(a: int, b: int) -> int:
    return a % b if b else 0


def integer(x: float) -> int:
    """What does not fit becomes the nearest that does; what is not a number becomes 0."""
    if type(x) is int:
        return x
    if x != x:
        return 0
    return int(min(max(x, LOWEST), HIGHEST)) if abs(x) < 9.3e18 else (HIGHEST if x > 0 else LOWEST)


def root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else (math.nan if x < 0 else x)


def scaled(x: float, power: int) -> float:
    return x * 2.0**power


def single(x: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float32(x))


_INSTEAD: dict[Any, Callable[..., Any]] = {
    int: integer,
    np.int64: integer,
    np.float64: float,
    np.float32: single,
    math.sqrt: root,
    np.sqrt: root,
    np.floor: lambda x: float(np.floor(x)),
    np.ceil: lambda x: float(np.ceil(x)),
    np.isnan: math.isnan,
    math.ldexp: scaled,
}
_OPERATORS = {ast.Div: "divided", ast.FloorDiv: "floor_divided", ast.Mod: "rest"}


@functools.cache
def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as machine code would compute it; itself where its source is not to be had."""
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        return function
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    writer = _Writer(function)
    tree = ast.fix_missing_locations(writer.visit(tree))
    ast.increment_lineno(tree, first - 1)
    exec(compile(tree, inspect.getsourcefile(function) or "<kernel>", "exec"), writer.world)
    made: Callable[..., Any] = writer.world[definition.name]
    return made


class _Writer(ast.NodeTransformer):
    """Rewrites one function; `world` are the names it will see."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code: Any = function.__code__  # type: ignore[attr-defined]
        cells = [cell.cell_contents for cell in function.__closure__ or ()]  # type: ignore[attr-defined]
        self.local = {*code.co_varnames, *code.co_cellvars}
        self.world = {**function.__globals__, **dict(zip(code.co_freevars, cells))}  # type: ignore[attr-defined]
        self.world |= {"_divided": divided, "_floor_divided": floor_divided, "_rest": rest}

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        safe = isinstance(node.right, ast.Constant) and node.right.value
        name = None if safe else _OPERATORS.get(type(node.op))
        return node if name is None else ast.Call(_name(f"_{name}"), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if type(node.op) not in _OPERATORS:
            return self.generic_visit(node)
        present: Any = ast.parse(ast.unparse(node.target), mode="eval").body
        return self.visit(
            ast.Assign([node.target], ast.BinOp(present, node.op, node.value), lineno=node.lineno)
        )

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        meant = self._meaning(node.func)
        if isinstance(meant, Dispatch):
            meant = Dispatch([exact(f) for f in meant.functions])
        elif inspect.isfunction(meant):
            meant = exact(meant)
        elif inspect.ismodule(meant) or meant.__hash__ is None or meant not in _INSTEAD:
            return node
        else:
            meant = _INSTEAD[meant]
        name = f"_{ast.unparse(node.func).replace('.', '_')}"
        self.world[name] = meant
        node.func = _name(name)
        return node

    def _meaning(self, node: ast.expr) -> Any:
        """What a name outside the function means; None for any other expression."""
        if isinstance(node, ast.Attribute):
            return getattr(self._meaning(node.value), node.attr, None)
        if not isinstance(node, ast.Name) or node.id in self.local:
            return None
        return self.world.get(node.id, getattr(builtins, node.id, None))


def _name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())
