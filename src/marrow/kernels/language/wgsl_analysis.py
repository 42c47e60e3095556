"""What the WGSL printer looks up in the typed form of a function before it prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marrow.kernels.language import ir

__all__ = ["hazard", "placements", "runs_together", "uses_lanes", "writes"]


def _trait(function: ir.IrFunction, name: str, find: Any) -> bool:
    if name not in function.traits:
        function.traits[name] = find(function.body)
    return bool(function.traits[name])


def uses_lanes(nodes: Any) -> bool:
    """Whether statements need all invocations of a workgroup."""
    return any(
        isinstance(n, (ir.Lanes, ir.Each, ir.Choose))
        or (isinstance(n, ir.For) and (n.parents is not None or n.beside))
        or (isinstance(n, ir.Call) and runs_together(n.function))
        for n in ir.walk(nodes)
    )


def runs_together(function: ir.IrFunction) -> bool:
    """Whether all invocations of a workgroup run a function, or one."""
    return _trait(function, "together", uses_lanes)


def writes(nodes: Any) -> bool:
    """Whether statements write to arrays."""
    return any(
        (isinstance(n, ir.Assign) and any(not isinstance(t, ir.Var) for t in n.targets))
        or (isinstance(n, ir.Call) and _trait(n.function, "writes", writes))
        for n in ir.walk(nodes)
    )


def hazard(node: ir.Assign) -> bool:
    """Whether a target, put in its place at once, would change a value that is evaluated later."""
    for k, target in enumerate(node.targets):
        later = list(ir.walk(node.values[k + 1 :]))
        if isinstance(target, ir.Var):
            if any(isinstance(n, ir.Var) and n.name == target.name for n in later):
                return True
        elif any(isinstance(n, (ir.Element, ir.Member, ir.Call)) for n in later):
            return True
    return False


def placements(function: ir.IrFunction) -> dict[str, str]:
    """How every variable is declared: `let` where it is assigned, `var` there, `var` at the `top` of the function, or by the `loop`s
    that count with it."""
    stores: dict[str, list[tuple[int, ...]]] = {name: [] for name in function.variables}
    places: dict[str, list[tuple[int, ...]]] = {name: [] for name in function.variables}
    counted: dict[str, bool] = dict.fromkeys(function.variables, True)

    def seen(name: str, path: tuple[int, ...], loops: tuple[str, ...]) -> None:
        if name in places:
            places[name].append(path)
            counted[name] = counted[name] and name in loops

    def expressions(nodes: Any, path: tuple[int, ...], loops: tuple[str, ...]) -> None:
        for n in ir.walk(nodes):
            if isinstance(n, ir.Var):
                seen(n.name, path, loops)

    def block(body: Sequence[Any], path: tuple[int, ...], loops: tuple[str, ...]) -> None:
        for number, s in enumerate(body):
            inner = (*path, number)
            if isinstance(s, ir.Assign):
                expressions(s.values, path, loops)
                for target in s.targets:
                    expressions(target, path, loops)
                    if isinstance(target, ir.Var):
                        stores[target.name].append(path)
                        counted[target.name] = False
            elif isinstance(s, ir.If):
                expressions(s.test, path, loops)
                block(s.body, (*inner, 0), loops)
                block(s.orelse, (*inner, 1), loops)
            elif isinstance(s, ir.While):
                expressions(s.test, path, loops)
                block(s.body, inner, loops)
            elif isinstance(s, ir.For):
                expressions((s.first, s.stop), path, loops)
                stores[s.variable].append(path)
                block(s.body, inner, (*loops, s.variable))
            else:
                expressions(s, path, loops)

    block(function.body, (), ())
    parameters = {name for name, _ in function.parameters}
    out = {}
    for name in function.variables:
        first = stores[name][0] if stores[name] else ()
        inside = all(p[: len(first)] == first for p in [*places[name], *stores[name]])
        if name in parameters:
            out[name] = "top"
        elif counted[name] and stores[name]:
            out[name] = "loop"
        elif not inside or any(isinstance(s, ir.For) and s.variable == name for s in ir.walk(function.body)):
            out[name] = "top"
        else:
            out[name] = "let" if len(stores[name]) == 1 else "var"
    return out
