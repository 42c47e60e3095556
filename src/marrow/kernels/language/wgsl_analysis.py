"""What the WGSL translator looks up in the source of a function before it writes it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

from marrow.kernels.language.dispatch import Dispatch
from marrow.kernels.language.hierarchy import parents_first
from marrow.kernels.language.lanes import Block, Each

__all__ = ["occurrences", "overlaps", "runs_together", "source", "uses_lanes", "writes"]


@cache
def source(function: Callable[..., Any]) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _meaning(function: Any, node: ast.expr) -> Any:
    if isinstance(node, ast.Attribute):
        return getattr(_meaning(function, node.value), node.attr, None)
    return function.__globals__.get(node.id) if isinstance(node, ast.Name) else None


def _called(function: Any, tree: ast.AST) -> list[Any]:
    return [_meaning(function, n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]


def uses_lanes(function: Any, tree: ast.AST) -> bool:
    """Whether a part of a function needs all invocations of a workgroup."""
    return any(
        isinstance(thing, (Each, Block, Dispatch))
        or thing is parents_first
        or (inspect.isfunction(thing) and uses_lanes(thing, source(thing)))
        for thing in _called(function, tree)
    )


def runs_together(function: Callable[..., Any]) -> bool:
    """Whether all invocations of a workgroup run a function, or one."""
    return uses_lanes(function, source(function))


def writes(function: Any, tree: ast.AST) -> bool:
    """Whether a part of a function writes to arrays."""
    stores = (n for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store))
    return any(True for _ in stores) or any(
        inspect.isfunction(thing) and writes(thing, source(thing)) for thing in _called(function, tree)
    )


def overlaps(target: ast.Tuple, value: ast.expr) -> bool:
    """Whether what is assigned could change what is assigned after it."""
    given = {n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    arrays = {
        ast.unparse(n.value)
        for n in ast.walk(target)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
    }
    read = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    return bool(given & read) or bool(arrays & read)


def occurrences(tree: ast.FunctionDef) -> dict[str, tuple[int, bool]]:
    """For every name: how often it is assigned, and whether it is only used in the block (or inner ones) of its first
    assignment."""
    found: dict[str, list[tuple[tuple[int, ...], bool]]] = {a.arg: [] for a in tree.args.args}
    targets = {
        n.target.id for n in ast.walk(tree) if isinstance(n, ast.For) and isinstance(n.target, ast.Name)
    }

    def visit(node: ast.AST, path: tuple[int, ...]) -> None:
        if isinstance(node, ast.Name):
            store = isinstance(node.ctx, ast.Store)
            found.setdefault(node.id, []).append((path, store))
        if isinstance(node, (ast.If, ast.For, ast.While)):
            visit(node.test if isinstance(node, (ast.If, ast.While)) else node.iter, path)
            for k, body in enumerate((node.body, node.orelse)):
                for statement in body:
                    visit(statement, (*path, id(node), k))
        elif isinstance(node, ast.Assign):
            visit(node.value, path)
            for target in node.targets:
                visit(target, path)
        elif isinstance(node, ast.AugAssign):
            visit(node.value, path)
            visit(node.target, path)
        else:
            for inner in ast.iter_child_nodes(node):
                visit(inner, path)

    for first_level in tree.body:
        visit(first_level, ())
    out = {}
    for name, places in found.items():
        stores = [path for path, store in places if store]
        first = stores[0] if stores else ()
        inside = all(path[: len(first)] == first for path, _ in places)
        out[name] = (0 if name in targets and len(stores) <= 0 else len(stores), inside)
    return out
