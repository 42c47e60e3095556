"""The typed form as text: what `print(lower(function, kinds))` shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from marrow.kernels.language import ir
from marrow.kernels.language.types import ScalarKind, StructKind, TupleKind

__all__ = ["expression_text", "text"]


def text(function: ir.IrFunction) -> str:
    parameters = ", ".join(f"{name}: {_kind(kind)}" for name, kind in function.parameters)
    result = "" if function.result is None else f" -> {_kind(function.result)}"
    variables = [f"  var {name}: {_kind(kind)}" for name, kind in function.variables.items()]
    return "\n".join(
        [f"function {function.name}({parameters}){result}", *variables, *_block(function.body, "  ")]
    )


def _kind(kind: Any) -> str:
    if isinstance(kind, ScalarKind):
        return {"f": "float", "i": "int", "b": "bool"}[kind.letter]
    if isinstance(kind, TupleKind):
        return f"({', '.join(map(_kind, kind.items))})"
    return kind.made_by.__name__ if isinstance(kind, StructKind) else str(kind)


def _block(body: Sequence[Any], indent: str) -> Iterator[str]:
    for s in body:
        inner = indent + "  "
        if isinstance(s, ir.If):
            yield f"{indent}if {expression_text(s.test)}"
            yield from _block(s.body, inner)
            if s.orelse:
                yield f"{indent}else"
                yield from _block(s.orelse, inner)
        elif isinstance(s, ir.While):
            yield f"{indent}while {expression_text(s.test)}"
            yield from _block(s.body, inner)
        elif isinstance(s, ir.For):
            over = " side by side" if s.beside else "" if s.parents is None else " parents first"
            yield f"{indent}for {s.variable} from {expression_text(s.first)} to {expression_text(s.stop)} step {s.step}{over}"
            yield from _block(s.body, inner)
        else:
            yield indent + _statement(s)


def _statement(s: Any) -> str:
    if isinstance(s, ir.Let):
        return f"let {s.name} = {expression_text(s.value)}"
    if isinstance(s, ir.Assign):
        return f"{_list(s.targets)} = {_list(s.values)}"
    if isinstance(s, ir.Do):
        return expression_text(s.call)
    if isinstance(s, ir.Return):
        return "return" if s.value is None else f"return {expression_text(s.value)}"
    if isinstance(s, ir.Lanes):
        return f"lanes {s.name}({_list(s.arguments)})"
    if isinstance(s, ir.Each):
        return f"lanes {s.name}({_list(s.arguments)}) from {expression_text(s.first)} to {expression_text(s.last)} step {s.step}"
    if isinstance(s, ir.Choose):
        names = ", ".join(f.name for f in s.functions)
        return f"choose {expression_text(s.number)} of {names} ({_list(s.arguments)})"
    return type(s).__name__.lower()


def _list(nodes: Sequence[Any]) -> str:
    return ", ".join(map(expression_text, nodes))


def expression_text(e: Any) -> str:
    if isinstance(e, ir.Const):
        return repr(e.value)
    if isinstance(e, ir.Var):
        return e.name
    if isinstance(e, ir.Unary):
        return (
            f"{e.op} {expression_text(e.operand)}" if e.op == "not" else f"{e.op}{expression_text(e.operand)}"
        )
    if isinstance(e, (ir.Binary, ir.Compare)):
        return f"({expression_text(e.left)} {e.op} {expression_text(e.right)})"
    if isinstance(e, ir.Among):
        return f"({expression_text(e.value)} in {_list(e.items)})"
    if isinstance(e, ir.Logic):
        return f"({f' {e.op} '.join(map(expression_text, e.tests))})"
    if isinstance(e, ir.Select):
        return f"({expression_text(e.yes)} if {expression_text(e.test)} else {expression_text(e.no)})"
    if isinstance(e, ir.Convert):
        return f"{_kind(e.kind)}({expression_text(e.operand)})"
    if isinstance(e, ir.Intrinsic):
        return f"{e.name}({_list(e.arguments)})"
    if isinstance(e, ir.Pack):
        return f"({_list(e.items)})"
    if isinstance(e, ir.Item):
        return f"{expression_text(e.value)}.{e.index}"
    if isinstance(e, ir.Field):
        return f"{expression_text(e.struct)}.{e.name}"
    if isinstance(e, ir.Size):
        return f"size({expression_text(e.array)}, {e.axis})"
    if isinstance(e, ir.Slice):
        return f"{expression_text(e.array)}[{expression_text(e.low)}:{expression_text(e.high)}]"
    if isinstance(e, ir.Member):
        return f"{expression_text(e.record)}.{e.name}"
    if isinstance(e, ir.Call):
        return f"{e.function.name}({_list(e.arguments)})"
    return f"{expression_text(e.array)}[{_list(e.indices)}]"
