"""Prints the typed form as WGSL, for functions that one workgroup runs together.

Lane formulas run one lane to an invocation: `block.each(...)` goes through its range with all invocations of the workgroup. Where
each invocation is a lane of its own (`World.lane`), a formula that stands alone is run for that lane.
Everything else in a function that uses lanes is computed by all of them alike, except for what writes to arrays: that is done by
one, between barriers. A loop over `parents_first` does the joints of one depth at once, one over `side_by_side` all rounds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from marrow.kernels.language import ir
from marrow.kernels.language.frontend import lower
from marrow.kernels.language.types import FLOAT, INTEGER, Kind, StructKind, TupleKind
from marrow.kernels.language.wgsl_analysis import hazard, placements, runs_together, uses_lanes, writes
from marrow.kernels.language.wgsl_expressions import WgslExpressions
from marrow.kernels.language.wgsl_helpers import HELPERS, needed
from marrow.kernels.language.wgsl_lanes import WgslEmitter
from marrow.kernels.language.wgsl_text import named
from marrow.kernels.language.wgsl_values import Text, WgslPlace, World, flat, struct_text, wgsl_type

__all__ = ["WgslPrinter"]


class WgslPrinter:
    """Prints functions, each once for the arrays it is called with."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._done: dict[Any, str] = {}
        self._names: set[str] = set()
        self._structs: dict[Any, str] = {}
        self._texts: list[str] = []
        self._helpers: dict[str, None] = {}

    def text(self) -> str:
        """All that was printed, what is called before what calls it."""
        helpers = [HELPERS[name] for name in self._helpers]
        barrier = [f"fn barrier() {{\n  {self.world.barrier}\n}}"] if self.world.barrier else []
        return "\n".join([*barrier, *helpers, *self._structs.values(), *self._texts]) + "\n"

    def help(self, name: str) -> None:
        """Notes that a helper is called."""
        self._helpers.update(dict.fromkeys(needed(name)))

    def declare(self, kind: Any) -> None:
        if isinstance(kind, TupleKind) and wgsl_type(kind).startswith("Tuple"):
            self._structs.setdefault(kind, struct_text(kind))

    def root(self, python: Callable[..., Any], kinds: Sequence[Kind]) -> str:
        """A function that the shader calls: structs of arguments are the world, numbers are handed to it. Its name."""
        arguments = [Text(k, steady=True) if isinstance(k, StructKind) else Text(k, "given") for k in kinds]
        return self.function(lower(python, kinds), arguments)

    def _unique(self, name: str, module: str) -> str:
        chosen = name if named(name) == name else f"{module.rsplit('.', 1)[-1]}_{name}"
        while chosen in self._names:
            chosen = f"{module.rsplit('.', 1)[-1]}_{chosen}"
        self._names.add(chosen)
        return chosen

    def function(self, function: ir.IrFunction, arguments: Sequence[Text]) -> str:
        """The name of a function in the shader."""
        given = [
            replace(a, fixed=False) if name in function.variables else a
            for (name, _), a in zip(function.parameters, arguments)
        ]
        key = (function, tuple(map(_static, given)))
        if key not in self._done:
            printer = _FunctionPrinter(self, function, given)
            lines = printer.printed()
            returns = ""
            if function.result is not None:
                if not flat(function.result):
                    raise printer.error(
                        "a function of a shader returns numbers, not arrays or tuples in tuples"
                    )
                self.declare(function.result)
                returns = f" -> {wgsl_type(function.result)}"
            name = self._unique(function.name, function.module)
            self._texts.append(
                "\n".join([f"fn {name}({', '.join(printer.parameters)}){returns} {{", *lines, "}"])
            )
            self._done[key] = name
        return self._done[key]

    def block(self, node: ir.Each | ir.Lanes, arguments: Sequence[Text]) -> str:
        """The name of a lane formula in the shader."""
        own = isinstance(node, ir.Lanes)
        key = (node.block, own, tuple(map(_static, arguments)))
        if key not in self._done:
            formula: Any = node.block.formula
            names = list(inspect.signature(formula).parameters)[1:]
            emitter = WgslEmitter(lane=self.world.lane if own else "")
            parameters = [] if own else ["i: i32"]
            lowered: list[Any] = [] if own else ["i"]
            for label, value in zip(map(self.world.named, names if own else names[1:]), arguments):
                if value.fixed:
                    lowered.append(f"f32({value.text})" if value.kind == FLOAT else value.text)
                elif isinstance(value.kind, StructKind):
                    lowered.append(_Fields(self.world, value.kind))
                elif value.place is not None:
                    begins = f"{label}_at" if value.place.at != "0" else "0"
                    parameters += [f"{begins}: i32"] * (begins != "0")
                    parameters += [f"{label}_size: i32"] * (value.place.size is not None)
                    lowered.append(self.world.array(replace(value.place, at=begins)))
                else:
                    parameters.append(f"{label}: {'i32' if value.kind == INTEGER else 'f32'}")
                    lowered.append(label if value.kind == INTEGER else emitter.lane(label))
            formula(emitter, *lowered)
            chosen = self._unique(node.name, getattr(formula, "func", formula).__module__)
            self._texts.append("\n".join([f"fn {chosen}({', '.join(parameters)}) {{", *emitter.text(), "}"]))
            self._done[key] = chosen
        return self._done[key]


class _Fields:
    """A struct of arguments as a lane formula sees it."""

    def __init__(self, world: World, kind: StructKind) -> None:
        self._world, self._kind = world, kind

    def __getattr__(self, name: str) -> Any:
        value = self._world.value(name, None)
        if value is None:
            raise AttributeError(f"a shader has no {name}")
        return value.text if value.place is None else self._world.array(value.place)


def _static(value: Text) -> Any:
    """What a function is printed for, of an argument."""
    if value.place is not None:
        return value.place.static
    if value.items is not None and not flat(value.kind):
        return tuple(map(_static, value.items))
    return value.text if value.fixed else None


class _FunctionPrinter(WgslExpressions):
    """One function being printed."""

    def __init__(self, printer: WgslPrinter, function: ir.IrFunction, arguments: Sequence[Text]) -> None:
        self.printer, self.source = printer, function
        self.line = function.python.__code__.co_firstlineno  # type: ignore[attr-defined]
        self.together = bool(printer.world.barrier) and runs_together(function)
        self.names: dict[str, Text] = {}
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self._hoisted: list[str] = []
        self._count = 0
        self._how = placements(function)
        self._taken = {self._label(n) for n in [*function.variables, *dict(function.parameters)]}
        for (name, kind), value in zip(function.parameters, arguments):
            self.names[name] = self._parameter(self._label(name), kind, value, name in function.variables)

    def _label(self, name: str) -> str:
        return self.printer.world.named(name.replace("%", "t_"))

    def _parameter(self, label: str, kind: Any, value: Text, assigned: bool) -> Text:
        """What a parameter is called inside."""
        if value.fixed or isinstance(kind, StructKind):
            return value

        def given(name: str, kind_name: str) -> str:
            inside = f"{name}_given" if assigned else name
            self.parameters.append(f"{inside}: {kind_name}")
            if assigned:
                self._hoisted.append(f"var {name} = {inside};")
            return name

        if value.place is not None:
            place = value.place
            at = given(f"{label}_at", "i32") if place.at != "0" else "0"
            size = given(f"{label}_size", "i32") if place.size is not None else None
            return Text(kind, place=replace(place, at=at, size=size), steady=not assigned)
        if value.items is not None and not flat(kind):
            items = tuple(
                self._parameter(f"{label}_{k}", inner, i, assigned)
                for k, (inner, i) in enumerate(zip(kind.items, value.items))
            )
            return Text(kind, items=items, steady=not assigned)
        self.printer.declare(kind)
        return Text(kind, given(label, wgsl_type(kind)), steady=not assigned)

    def printed(self) -> list[str]:
        body = self.block(self.source.body)
        if self.source.result is not None and not isinstance(self.source.body[-1], ir.Return):
            body.append(f"return {wgsl_type(self.source.result)}();")
        return [f"  {line}" for line in [*self._hoisted, *body]]

    def fresh(self) -> str:
        self._count += 1
        name = f"t{self._count}"
        return name if name not in self._taken else self.fresh()

    # -- statements -------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[Any]) -> list[str]:
        """The statements in one pair of braces."""
        outer, self.lines = self.lines, []
        run = list(body)
        while run:
            alone = []
            while run and self._by_one(run[0]):
                alone.append(run.pop(0))
            if alone:
                self._alone(alone)
            elif run:
                statement = run.pop(0)
                self.line = statement.line
                getattr(self, f"do_{type(statement).__name__}")(statement)
        lines, self.lines = self.lines, outer
        return lines

    def inner(self, body: Sequence[Any]) -> None:
        self.lines += [f"  {line}" for line in self.block(body)]

    def _by_one(self, statement: Any) -> bool:
        return self.together and not uses_lanes(statement) and writes(statement)

    def _alone(self, statements: list[Any]) -> None:
        """Statements that one invocation runs."""
        self.together = False
        # What is kept for the next update lies in a buffer, which has a barrier of its own.
        kept = any(
            (isinstance(n, ir.Field) and n.name == "memory")
            or (isinstance(n, ir.Var) and n.name in self.names and _lies_in(self.names[n.name], "memory"))
            for n in ir.walk(tuple(statements))
        )
        barrier = "storageBarrier();" if kept and "storageBarrier" not in self.printer.world.barrier else ""
        self.say(f"barrier();{barrier}")
        self.say("if (lane == 0) {")
        self.inner(statements)
        self.say("}")
        self.say(f"barrier();{barrier}")
        self.together = True

    def do_Let(self, node: ir.Let) -> None:
        value, label = self.expression(node.value), self._label(node.name)
        self.names[node.name] = self._constant(value, label)

    def _constant(self, value: Text, label: str) -> Text:
        """A value under a name that it keeps."""
        if value.place is not None:
            return self.steady_place(value, label)
        if value.items is not None and not flat(value.kind):
            items = tuple(self._constant(i, f"{label}_{k}") for k, i in enumerate(value.items))
            return replace(value, items=items, steady=True)
        if value.fixed or isinstance(value.kind, StructKind):
            return value
        self.printer.declare(value.kind)
        self.say(f"let {label}{self.typed(value)} = {self.packed(value)};")
        return Text(value.kind, label, steady=True)

    def do_Do(self, node: ir.Do) -> None:
        if isinstance(node.call, ir.Call):
            called, world = node.call.function, self.printer.world
            if called.python in world.left_out:
                return
            if called.python in world.stand_ins:
                stand_in = lower(world.stand_ins[called.python], [kind for _, kind in called.parameters])
                node = replace(node, call=replace(node.call, function=stand_in))
        call = self.expression(node.call)
        self.say(f"{'' if node.call.kind is None else '_ = '}{call.text};")

    def do_Assign(self, node: ir.Assign) -> None:
        if len(node.targets) > 1 and hazard(node):
            values = [self.pinned(v) for v in self.operands(node.values)]
            for target, value in zip(node.targets, values):
                self._put(target, value)
            return
        for target, given in zip(node.targets, node.values):
            self._put(target, self.expression(given))

    def _put(self, target: Any, value: Text) -> None:
        if not isinstance(target, ir.Var):
            letter, text = self.spot(target)
            self.say(f"{text} = f32({value.text});" if letter == "f" else f"{text} = {value.text};")
            return
        name, how = target.name, self._how[target.name]
        label = self._label(name)
        if how == "let":
            self.names[name] = self._constant(value, label)
        else:
            self.names[name] = self._changed(label, value, self.names.get(name), how)

    def _changed(self, label: str, value: Text, before: Text | None, how: str) -> Text:
        """Puts a value into a variable, which is declared where it has its first."""
        if value.place is not None:
            return self._moved(label, value, before)
        if isinstance(value.kind, StructKind):
            return value
        if not flat(value.kind):
            assert value.items is not None
            parts = (
                before.items
                if before is not None and before.items is not None
                else (None,) * len(value.items)
            )
            items = tuple(
                self._changed(f"{label}_{k}", i, p, "top") for k, (i, p) in enumerate(zip(value.items, parts))
            )
            return Text(value.kind, items=items)
        self.printer.declare(value.kind)
        if before is None and how == "var":
            self.say(f"var {label}{self.typed(value)} = {self.packed(value)};")
        else:
            if before is None:
                self._hoisted.append(f"var {label}: {wgsl_type(value.kind)};")
            self.say(f"{label} = {self.packed(value)};")
        return Text(value.kind, label)

    def _moved(self, label: str, value: Text, before: Text | None) -> Text:
        """An array variable that changes: it stays with one array of the shader, but begins somewhere else."""
        place = value.place
        assert place is not None
        if before is None:
            self._hoisted += [f"var {label}_at: i32;", f"var {label}_size: i32;"]
            before = Text(value.kind, place=WgslPlace(place.name, place.axes, f"{label}_at", f"{label}_size"))
        assert before.place is not None
        if (before.place.name, before.place.axes) != (place.name, place.axes):
            raise self.error(
                "in a shader a variable stays with one array: use another name for another array"
            )
        if before.place.at != f"{label}_at" or before.place.size is None:
            raise self.error(
                "in a shader an argument that is an array keeps it: use a name of its own for another"
            )
        self.say(f"{label}_at = {place.at};")
        if place.axes:
            self.say(f"{label}_size = {self.printer.world.sizes(place)[0]};")
        return before

    def do_Return(self, node: ir.Return) -> None:
        self.say("return;" if node.value is None else f"return {self.packed(self.expression(node.value))};")

    def do_If(self, node: ir.If) -> None:
        self.say(f"if ({self.expression(node.test).text}) {{")
        self.inner(node.body)
        if node.orelse:
            self.say("} else {")
            self.inner(node.orelse)
        self.say("}")

    def do_While(self, node: ir.While) -> None:
        test, lines = self.apart(node.test)
        if lines:
            self.say("loop {")
            self.lines += [f"  {line}" for line in [*lines, f"if (!({test.text})) {{ break; }}"]]
        else:
            self.say(f"while ({test.text}) {{")
        self.inner(node.body)
        self.say("}")

    def do_For(self, node: ir.For) -> None:
        label = self._label(node.variable)
        if node.parents is not None and self.together:
            self._levels(node, label)
            return
        if node.beside and self.together:
            self._beside(node, label)
            return
        first, stop = self.operands([node.first, node.stop])
        if not stop.steady:
            stop = self.pinned(stop)
        local = self._how[node.variable] == "loop"
        counter = label if local else self.fresh()
        on = f"{counter}++" if node.step == 1 else f"{counter} += {node.step}"
        self.say(
            f"for (var {counter} = {first.text}; {counter} {'<' if node.step > 0 else '>'} {stop.text}; {on}) {{"
        )
        if local:
            self.names[node.variable] = Text(INTEGER, label, steady=True)
            self.inner(node.body)
        else:
            if node.variable not in self.names:
                self._hoisted.append(f"var {label}: i32;")
                self.names[node.variable] = Text(INTEGER, label)
            self.say(f"  {label} = {counter};")
            self.inner(node.body)
        self.say("}")

    def _levels(self, node: ir.For, label: str) -> None:
        """Joints of one depth at once, then a barrier."""
        if self._how[node.variable] != "loop":
            raise self.error(
                "the variable of a loop over parents_first(...) is used in it alone, and not assigned"
            )
        count, start, joint = self.printer.world.levels
        self.say("barrier();")
        self.say(f"for (var level = 0; level < {count}; level++) {{")
        self.say(f"  for (var k = {start('level')} + lane; k < {start('level + 1')}; k += LANES) {{")
        self.say(f"    let {label} = {joint('k')};")
        self.names[node.variable] = Text(INTEGER, label, steady=True)
        self.together = False
        self.lines += [f"    {line}" for line in self.block(node.body)]
        self.together = True
        self.say("  }")
        self.say("  barrier();")
        self.say("}")

    def _beside(self, node: ir.For, label: str) -> None:
        """A round to an invocation."""
        if self._how[node.variable] != "loop":
            raise self.error(
                "the variable of a loop over side_by_side(...) is used in it alone, and not assigned"
            )
        first, stop = self.operands([node.first, node.stop])
        stop = stop if stop.steady else self.pinned(stop)
        start = "lane" if first.known == 0 else f"{first.at(1)} + lane"
        self.say(f"for (var {label} = {start}; {label} < {stop.text}; {label} += LANES) {{")
        self.names[node.variable] = Text(INTEGER, label, steady=True)
        self.together = False
        self.inner(node.body)
        self.together = True
        self.say("}")

    def do_Break(self, node: ir.Break) -> None:
        self.say("break;")

    def do_Continue(self, node: ir.Continue) -> None:
        self.say("continue;")

    # -- lanes, choices -----------------------------------------------------------------------------------------------
    def do_Lanes(self, node: ir.Lanes) -> None:
        if not self.printer.world.lane:
            raise self.error(f"{node.name} has no counterpart in a shader: say {node.name}.each(...)")
        arguments = self.operands(node.arguments)
        name = self.printer.block(node, arguments)
        self.say(f"{name}({', '.join(self.passed(arguments, single=True))});")

    def do_Each(self, node: ir.Each) -> None:
        first, last, *rest = self.operands([node.first, node.last, *node.arguments])
        last = self.pinned(last)
        name = self.printer.block(node, rest)
        start = "lane" if first.known == 0 else f"{first.at(1)} + lane"
        given = ", ".join(["i", *self.passed(rest, single=True)])
        self.say(f"for (var i = {start}; i < {last.text}; i += LANES) {{ {name}({given}); }}")

    def do_Choose(self, node: ir.Choose) -> None:
        """Functions without lanes are run by one invocation."""
        number, *rest = self.operands([node.number, *node.arguments])
        rest = [self.pinned(value) for value in rest]
        world = self.printer.world
        after = " barrier();" if world.barrier else ""
        self.say(f"switch {number.text} {{")
        for k, function in enumerate(node.functions):
            if function.python in world.instead:
                self.say(
                    f"  case {k}: {{ {world.instead[function.python]}({', '.join(self.passed(rest))}); }}"
                )
            elif function.python not in world.left_out:
                text = f"{self.printer.function(function, rest)}({', '.join(self.passed(rest))});"
                if world.barrier and not runs_together(function):
                    text = f"if (lane == 0) {{ {text} }}"
                self.say(f"  case {k}: {{ {world.before}{text}{after} }}")
        self.say("  default: {}")
        self.say("}")


def _lies_in(value: Text, name: str) -> bool:
    return value.place is not None and value.place.name == name
