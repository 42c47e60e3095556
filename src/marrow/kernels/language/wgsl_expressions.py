"""Expressions of the typed form, as WGSL.

Floats are `real`, which the shader makes float32 or float64; whole numbers have 32 bits. What WGSL has no expression for (a choice
that calls something) becomes statements before; what stood left of it in the same expression is then evaluated before those.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from marrow.kernels.language import ir
from marrow.kernels.language.frontend_expressions import LanguageError
from marrow.kernels.language.types import BOOL, FLOAT, INTEGER, TupleKind
from marrow.kernels.language.wgsl_helpers import INSTEAD
from marrow.kernels.language.wgsl_text import ADD, ATOM, COMPARE, MULTIPLY, UNARY, whole
from marrow.kernels.language.wgsl_values import Text, WgslPlace, constant, flat, item, wgsl_type

__all__ = ["WgslExpressions"]

LOGIC = COMPARE - 1
LOWEST, HIGHEST = -(1 << 31), (1 << 31) - 1
_FUNCTIONS = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "fabs": "abs", "abs": "abs", "ldexp": "ldexp"}
_HELPERS = {"isnan": "is_nan", "isfinite": "is_finite", "copysign": "with_sign"}


class WgslExpressions:
    """Expressions of the function that is being printed; what statements they need before them go to `lines`."""

    printer: Any
    source: ir.IrFunction
    line: int
    names: dict[str, Text]
    lines: list[str]

    def error(self, message: str) -> LanguageError:
        return LanguageError(f"{self.source.file}:{self.line}, in {self.source.name}: {message}")

    def say(self, line: str) -> None:
        self.lines.append(line)

    def fresh(self) -> str:
        raise NotImplementedError

    # -- texts --------------------------------------------------------------------------------------------------------
    def expression(self, node: Any) -> Text:
        value: Text = getattr(self, f"on_{type(node).__name__}")(node)
        return value

    def operands(self, nodes: Sequence[Any]) -> list[Text]:
        """Expressions in order: where one needs statements, those before it are evaluated before these."""
        out: list[Text] = []
        for node in nodes:
            before = len(self.lines)
            value = self.expression(node)
            if len(self.lines) > before:
                after, self.lines = self.lines[before:], self.lines[:before]
                out = [self.pinned(v) for v in out]
                self.lines += after
            out.append(value)
        return out

    def pinned(self, value: Text) -> Text:
        """A value that stays what it is, whatever comes."""
        if value.steady or (value.place is not None and value.text == "" and value.place.at == "0"):
            return value
        if value.place is not None:
            return self.steady_place(value)
        if value.items is not None:
            return replace(value, items=tuple(self.pinned(i) for i in value.items), steady=True)
        name = self.fresh()
        self.say(f"let {name}{self.typed(value)} = {value.text};")
        return Text(value.kind, name, steady=True)

    def steady_place(self, value: Text, label: str = "") -> Text:
        """An array whose beginning and size stay what they are."""
        place = value.place
        assert place is not None
        if value.steady:
            return value
        at, size = place.at, place.size
        if at != "0" and not str(at).isidentifier() and not str(at).isdigit():
            name = f"{label}_at" if label else self.fresh()
            self.say(f"let {name} = {at};")
            at = name
        if size is not None and not size.isidentifier():
            name = f"{label}_size" if label else self.fresh()
            self.say(f"let {name} = {size};")
            size = name
        return replace(value, place=replace(place, at=at, size=size), steady=True)

    def packed(self, value: Text) -> str:
        """A value as one expression, also where it is a tuple of parts."""
        if value.items is None:
            return value.text
        if not flat(value.kind):
            raise self.error("WGSL has no type for tuples in tuples, or with arrays")
        self.printer.declare(value.kind)
        return f"{wgsl_type(value.kind)}({', '.join(self.packed(i) for i in value.items)})"

    def typed(self, value: Text) -> str:
        """The type of a variable, where its first value would not tell: plain numbers could be float32."""
        return ": real" if value.kind == FLOAT and value.known is not None else ""

    # -- names and parts ----------------------------------------------------------------------------------------------
    def on_Const(self, node: ir.Const) -> Text:
        if node.kind == INTEGER and not LOWEST <= node.value <= HIGHEST:
            raise self.error(f"{node.value} does not fit the 32 bits that whole numbers have in a shader")
        if node.kind == FLOAT and math.isnan(node.value):
            return self.helped("not_a_number", FLOAT, [])
        return constant(node.value)

    def on_Var(self, node: ir.Var) -> Text:
        return self.names[node.name]

    def on_Pack(self, node: ir.Pack) -> Text:
        items = tuple(self.operands(node.items))
        return Text(node.kind, items=items, steady=all(i.steady for i in items))

    def on_Item(self, node: ir.Item) -> Text:
        whole_value = self.expression(node.value)
        if isinstance(node.value, ir.Call):
            whole_value = self.pinned(whole_value)
        return item(whole_value, node.index)

    def on_Field(self, node: ir.Field) -> Text:
        value: Text | None = self.printer.world.value(node.name, node.kind)
        if value is None:
            raise self.error(
                f"a shader has no {node.struct.name if isinstance(node.struct, ir.Var) else 'struct'}.{node.name}"
            )
        return value

    def on_Size(self, node: ir.Size) -> Text:
        place = self.placed(node.array)
        size = str(self.printer.world.sizes(place)[node.axis])
        return Text(
            INTEGER,
            size,
            ATOM if " " not in size else ADD,
            fixed=place.size is None,
            steady=place.size is None or size.isidentifier(),
        )

    def placed(self, node: Any) -> WgslPlace:
        place = self.expression(node).place
        assert place is not None
        return place

    def indexed(self, node: Any) -> WgslPlace:
        """Where an element, a record or a row is."""
        array, *indices = self.operands([node.array, *node.indices])
        assert array.place is not None
        part: WgslPlace = self.printer.world.part(array.place, [i.text for i in indices])
        return part

    def on_Rows(self, node: ir.Rows) -> Text:
        return Text(node.kind, place=self.indexed(node))

    on_Record = on_Rows

    def on_Slice(self, node: ir.Slice) -> Text:
        array, low, high = self.operands([node.array, node.low, node.high])
        place = array.place
        assert place is not None
        begin = replace(self.printer.world.part(place, [low.text]), axes=place.axes, size=None)
        return Text(node.kind, place=replace(begin, size=str(whole(_known(high), "-", _known(low)))))

    def spot(self, node: Any) -> tuple[str, str]:
        """The letter and the text of one number in memory."""
        world = self.printer.world
        if isinstance(node, ir.Member):
            place = self.placed(node.record)
            letter, text = world.arrays[place.name].columns[node.name]
            return letter, text(str(place.at))
        place = self.indexed(node)
        owner = world.arrays[place.name]
        assert owner.place is not None
        return owner.letter, owner.place(str(place.at))

    def on_Element(self, node: Any) -> Text:
        letter, text = self.spot(node)
        return Text(FLOAT, f"real({text})") if letter == "f" else Text(INTEGER, text)

    on_Member = on_Element

    # -- arithmetic ---------------------------------------------------------------------------------------------------
    def on_Convert(self, node: ir.Convert) -> Text:
        value = self.expression(node.operand)
        if node.kind == BOOL:
            return Text(
                BOOL,
                f"{value.at(ADD)} != {'0.0' if value.kind == FLOAT else '0'}",
                COMPARE,
                steady=value.steady,
            )
        if node.kind == INTEGER:
            return Text(INTEGER, f"i32({value.text})", steady=value.steady)
        text = f"i32({value.text})" if value.kind == BOOL else value.text
        return Text(FLOAT, f"real({text})", steady=value.steady)

    def on_Unary(self, node: ir.Unary) -> Text:
        value = self.expression(node.operand)
        sign = {"-": "-", "~": "~", "not": "!"}[node.op]
        return Text(node.kind, f"{sign}{value.at(ATOM)}", UNARY, steady=value.steady)

    def on_Binary(self, node: ir.Binary) -> Text:
        a, b = self.operands([node.left, node.right])
        steady = a.steady and b.steady
        if node.op in ("//", "%"):
            name = "floor_quotient" if node.op == "//" else "floor_rest"
            self.printer.help(name)
            return Text(INTEGER, f"{name}({a.text}, {b.text})", steady=steady)
        if node.op in ("&", "|", "^"):
            return Text(INTEGER, f"({a.at(ATOM)} {node.op} {b.at(ATOM)})", steady=steady)
        if node.op in ("<<", ">>"):
            if b.known is None:
                return Text(INTEGER, f"({a.at(ATOM)} {node.op} (u32({b.text}) & 31u))", steady=steady)
            if not b.known <= 31:
                raise self.error("whole numbers have 32 bits in a shader: they are shifted by 31 at most")
            return Text(INTEGER, f"({a.at(ATOM)} {node.op} {b.known}u)", steady=steady)
        rank = ADD if node.op in "+-" else MULTIPLY
        if node.kind == INTEGER:
            result = str(whole(_known(a), node.op, _known(b)))
            fixed = all(v.fixed or v.known is not None for v in (a, b))
            return Text(INTEGER, result, rank if " " in result else ATOM, fixed=fixed, steady=steady)
        # Floats keep their order: what stands on the right was computed first.
        return Text(FLOAT, f"{a.at(rank)} {node.op} {b.at(rank + 1)}", rank, steady=steady)

    # -- choices ------------------------------------------------------------------------------------------------------
    def on_Compare(self, node: ir.Compare) -> Text:
        a, b = self.operands([node.left, node.right])
        return Text(BOOL, f"{a.at(ADD)} {node.op} {b.at(ADD)}", COMPARE, steady=a.steady and b.steady)

    def on_Among(self, node: ir.Among) -> Text:
        value, *items = self.operands([node.value, *node.items])
        value = self.pinned(value)
        return Text(BOOL, " || ".join(f"{value.at(ADD)} == {i.at(ADD)}" for i in items), LOGIC)

    def apart(self, node: Any) -> tuple[Text, list[str]]:
        """An expression, and the statements it needs."""
        outer, self.lines = self.lines, []
        value = self.expression(node)
        lines, self.lines = self.lines, outer
        return value, lines

    def on_Logic(self, node: ir.Logic) -> Text:
        first = self.expression(node.tests[0])
        rest = [self.apart(t) for t in node.tests[1:]]
        if not any(lines for _, lines in rest):
            sign = " && " if node.op == "and" else " || "
            tests = [first, *(t for t, _ in rest)]
            return Text(
                BOOL, sign.join(t.at(COMPARE) for t in tests), LOGIC, steady=all(t.steady for t in tests)
            )
        name = self.fresh()
        self.say(f"var {name} = {first.text};")
        for test, lines in rest:
            self.say(f"if ({'' if node.op == 'and' else '!'}{name}) {{")
            self.lines += [f"  {line}" for line in [*lines, f"{name} = {test.text};"]]
            self.say("}")
        return Text(BOOL, name, steady=True)

    def on_Select(self, node: ir.Select) -> Text:
        test = self.expression(node.test)
        (yes, yes_lines), (no, no_lines) = self.apart(node.yes), self.apart(node.no)
        if yes.place is not None:
            raise self.error(
                "a shader cannot choose between arrays: choose between numbers, or write two branches"
            )
        scalar = not isinstance(node.kind, TupleKind)
        if scalar and not ir.calls(node.yes, node.no) and not yes_lines and not no_lines:
            both = [f"real({v.text})" if self.typed(v) else v.text for v in (no, yes)]
            steady = test.steady and yes.steady and no.steady
            return Text(node.kind, f"select({both[0]}, {both[1]}, {test.text})", steady=steady)
        name = self.fresh()
        if flat(node.kind):
            self.printer.declare(node.kind)
            self.say(f"var {name}: {wgsl_type(node.kind)};")
        else:
            raise self.error("WGSL has no type for tuples in tuples, or with arrays")
        self.say(f"if ({test.text}) {{")
        self.lines += [f"  {line}" for line in [*yes_lines, f"{name} = {self.packed(yes)};"]]
        self.say("} else {")
        self.lines += [f"  {line}" for line in [*no_lines, f"{name} = {self.packed(no)};"]]
        self.say("}")
        return Text(node.kind, name, steady=True)

    # -- calls --------------------------------------------------------------------------------------------------------
    def on_Intrinsic(self, node: ir.Intrinsic) -> Text:
        values = self.operands(node.arguments)
        texts, name, steady = [v.text for v in values], node.name, all(v.steady for v in values)
        if name in ("min", "max"):
            if node.kind == FLOAT:
                name = "lesser" if name == "min" else "greater"
                self.printer.help(name)
        elif name == "int":
            name = "to_whole"
            self.printer.help(name)
        elif name == "single":
            return Text(FLOAT, f"real(f32({texts[0]}))", steady=steady)
        elif name in _HELPERS:
            return self.helped(_HELPERS[name], node.kind, values)
        else:
            name = _FUNCTIONS[name]
        return Text(node.kind, f"{name}({', '.join(texts)})", steady=steady)

    def helped(self, name: str, kind: Any, values: Sequence[Text]) -> Text:
        """A call of a helper that computes with float32."""
        self.printer.help(name)
        text = f"{name}({', '.join(f'f32({v.text})' for v in values)})"
        return Text(kind, f"real({text})" if kind == FLOAT else text, steady=all(v.steady for v in values))

    def on_Call(self, node: ir.Call) -> Text:
        arguments = self.operands(node.arguments)
        if node.function.python in INSTEAD:
            return self.helped(INSTEAD[node.function.python], FLOAT, arguments)
        name = self.printer.function(node.function, arguments)
        return Text(node.kind, f"{name}({', '.join(self.passed(arguments))})")

    def passed(self, arguments: Sequence[Text], *, single: bool = False) -> list[str]:
        """What is handed to a function (or to lanes: `single` precision): constants and whole arrays are not."""
        out: list[str] = []
        for value in arguments:
            if value.fixed or (value.place is None and not value.text and value.items is None):
                continue
            if value.place is not None:
                place = value.place
                out += [str(place.at)] * (place.at != "0") + [str(place.size)] * (place.size is not None)
            elif value.items is not None and not flat(value.kind):
                out += self.passed(value.items)
            else:
                text = self.packed(value)
                out.append(f"f32({text})" if single and value.kind == FLOAT else text)
        return out


def _known(value: Text) -> Any:
    return value.known if value.known is not None else value.text
