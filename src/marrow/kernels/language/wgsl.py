"""From plain Python functions to WGSL: the third backend of kernels, for functions that one workgroup runs together.

The functions are those that `translate` compiles to LLVM. Floats are `real` here, which the shader makes float32
or float64, whole numbers have 32 bits. Lane formulas run one lane
to an invocation: `block.each(...)` goes through its range with all invocations of the workgroup. Everything else in a
function that uses lanes is computed by all of them alike, except for what writes to arrays: that is done by one,
between barriers. A loop over `parents_first` does the joints of one depth at once."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from marrow.kernels.language.dispatch import Dispatch
from marrow.kernels.language.hierarchy import parents_first
from marrow.kernels.language.kinds import FLOAT, INTEGER, TupleKind
from marrow.kernels.language.lanes import Block
from marrow.kernels.language.wgsl_analysis import (
    occurrences,
    overlaps,
    runs_together,
    source,
    uses_lanes,
    writes,
)
from marrow.kernels.language.wgsl_expressions import WgslExpressions
from marrow.kernels.language.wgsl_helpers import HELPERS, INSTEAD, needed
from marrow.kernels.language.wgsl_lanes import WgslEmitter
from marrow.kernels.language.wgsl_text import named
from marrow.kernels.language.wgsl_values import (
    WORLD,
    Part,
    TranslationError,
    UnrollError,
    Value,
    World,
    constant,
    item,
    struct_text,
    wgsl_type,
)

__all__ = ["TranslationError", "WgslTranslator", "runs_together"]


class WgslTranslator:
    """Writes functions, each once for the kinds of arguments it is called with."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._done: dict[Any, tuple[str, Any]] = {}
        self._names: set[str] = set()
        self._structs: dict[Any, str] = {}
        self._texts: list[str] = []
        self._helpers: dict[str, None] = {}

    def text(self) -> str:
        """All that was translated, what is called before what calls it."""
        helpers = [HELPERS[name] for name in self._helpers]
        barrier = [f"fn barrier() {{\n  {self.world.barrier}\n}}"] if self.world.barrier else []
        return "\n".join([*barrier, *helpers, *self._structs.values(), *self._texts]) + "\n"

    def help(self, name: str) -> None:
        """Notes that a helper is called."""
        self._helpers.update(dict.fromkeys(n for n in needed(name) if n in HELPERS))

    def declare(self, kind: Any) -> None:
        if isinstance(kind, TupleKind) and wgsl_type(kind).startswith("Tuple"):
            self._structs.setdefault(kind, struct_text(kind))

    def _unique(self, name: str, module: str) -> str:
        chosen = name if named(name) == name else f"{module.rsplit('.', 1)[-1]}_{name}"
        while chosen in self._names:
            chosen = f"{module.rsplit('.', 1)[-1]}_{chosen}"
        self._names.add(chosen)
        return chosen

    def function(self, function: Callable[..., Any], arguments: Sequence[Value]) -> tuple[str, Any]:
        """The name of a function in the shader, and the kind of its result."""
        key = (function, tuple((a.kind, a.text if a.fixed else "") for a in arguments))
        if key not in self._done:
            made = _Function(self, function, arguments)
            lines, result = made.translate()
            name = self._unique(function.__name__, function.__module__)
            self.declare(result)
            returns = "" if result is None else f" -> {wgsl_type(result)}"
            self._texts.append(
                "\n".join([f"fn {name}({', '.join(made.parameters)}){returns} {{", *lines, "}"])
            )
            self._done[key] = (name, result)
        return self._done[key]

    # -- what functions call ----------------------------------------------------------------------------------------
    def call(self, caller: Any, function: Callable[..., Any], arguments: list[Value]) -> Value:
        if function in INSTEAD:
            self.help(INSTEAD[function])
            return caller.helped(INSTEAD[function], FLOAT, [caller.cast(a, FLOAT).text for a in arguments])
        name, result = self.function(function, arguments)
        text = f"{name}({', '.join(_passed(caller, arguments))})"
        return Value(TupleKind(()), text) if result is None else Value(result, text)

    def each(self, caller: Any, name: str, block: Block, arguments: list[Value]) -> Value:
        """A lane formula for every number of a range."""
        first, last, _, *rest = arguments
        function = self._block(name, block, rest)
        given = ", ".join(["i", *_passed(caller, rest, single=True)])
        start = f"{first.text} + lane" if first.known != 0 else "lane"
        caller.say(f"for (var i = {start}; i < {last.text}; i += LANES) {{ {function}({given}); }}")
        return Value(TupleKind(()))

    def _block(self, name: str, block: Block, arguments: list[Value]) -> str:
        key = (block, tuple((a.kind, a.text if a.fixed else "") for a in arguments))
        if key not in self._done:
            formula: Any = block.formula
            plain = getattr(formula, "func", formula)
            names = list(inspect.signature(formula).parameters)[1:]
            emitter = WgslEmitter()
            parameters = ["i: i32"]
            lowered: list[Any] = []
            for label, value in zip(map(self.world.named, names[1:]), arguments):
                if value.fixed:
                    lowered.append(value.text)
                elif isinstance(value.kind, Part):
                    begins = f"{label}_at" if value.kind.moved else "0"
                    parameters += [f"{begins}: i32"] * value.kind.moved
                    lowered.append(self.world.array(Value(value.kind, begins)))
                else:
                    parameters.append(f"{label}: {'i32' if value.kind == INTEGER else 'f32'}")
                    lowered.append(label if value.kind == INTEGER else emitter.lane(label))
            formula(emitter, "i", *lowered)
            chosen = self._unique(name, plain.__module__)
            self._texts.append("\n".join([f"fn {chosen}({', '.join(parameters)}) {{", *emitter.text(), "}"]))
            self._done[key] = (chosen, None)
        return self._done[key][0]

    def dispatch(self, caller: Any, choice: Dispatch, arguments: list[Value]) -> Value:
        """One of several functions: those without lanes are run by one invocation."""
        number, *rest = arguments
        rest = [caller.kept(value) for value in rest]
        caller.say(f"switch {number.text} {{")
        world = self.world
        after = " barrier();" if world.barrier else ""
        for k, function in enumerate(choice.functions):
            if function in world.instead:
                caller.say(
                    f"  case {k}: {{ {world.instead[function]}({', '.join(_passed(caller, rest))}); }}"
                )
            elif function not in world.left_out:
                text = f"{self.call(caller, function, rest).text};"
                if world.barrier and not runs_together(function):
                    text = f"if (lane == 0) {{ {text} }}"
                caller.say(f"  case {k}: {{ {world.before}{text}{after} }}")
        caller.say("  default: {}")
        caller.say("}")
        return Value(TupleKind(()))


def _passed(caller: Any, arguments: Sequence[Value], *, single: bool = False) -> list[str]:
    """What is handed to a function (or to lanes: `single` precision): constants and whole arrays are not."""
    out = []
    for value in arguments:
        if value.fixed or value.kind == WORLD or (isinstance(value.kind, Part) and not value.kind.moved):
            continue
        text = value.text if isinstance(value.kind, Part) else caller.whole_text(value)
        out.append(f"f32({text})" if single and value.kind == FLOAT else text)
    return out


class _Function(WgslExpressions):
    """One function being written."""

    def __init__(
        self, translator: WgslTranslator, function: Callable[..., Any], arguments: Sequence[Value]
    ) -> None:
        self.translator, self.python, self.tree = translator, function, source(function)
        self.here: Any = self.tree
        self.together_run = bool(translator.world.barrier) and uses_lanes(function, self.tree)
        self.names: dict[str, Value] = {}
        self.lines: list[str] = []
        self.parameters: list[str] = []
        self.result: Any = None
        self._hoisted: list[str] = []
        self._temporaries = 0
        self._variables: set[str] = set()
        self._outer: set[str] = set()
        self._uses = occurrences(self.tree)
        for node, value in zip(self.tree.args.args, arguments):
            self._parameter(node.arg, value)

    def _parameter(self, name: str, value: Value) -> None:
        label = self.translator.world.named(name)
        if value.fixed or value.kind == WORLD:
            self.names[name] = value
        elif isinstance(value.kind, Part):
            self.parameters += [f"{label}_at: i32"] * value.kind.moved
            self.names[name] = Value(value.kind, f"{label}_at" if value.kind.moved else "0")
        else:
            self.translator.declare(value.kind)
            given = f"{label}_given" if self._uses[name][0] else label
            self.parameters.append(f"{given}: {wgsl_type(value.kind)}")
            self.names[name] = Value(value.kind, label)
            if given != label:
                self._hoisted.append(f"var {label} = {given};")
                self._variables.add(name)
                self._outer.add(name)

    def translate(self) -> tuple[list[str], Any]:
        body = self.block(self.tree.body, ())
        return [f"  {line}" for line in [*self._hoisted, *body]], self.result

    def fresh(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    # -- statements -------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[ast.stmt], path: tuple[int, ...]) -> list[str]:
        """The statements in one pair of braces."""
        outer, self.lines = self.lines, []
        kept, declared = dict(self.names), set(self._variables)
        run = list(body)
        while run:
            alone = []
            while run and self._by_one(run[0]):
                alone.append(run.pop(0))
            if alone:
                self._alone(alone, path)
            elif run:
                self._statement(run.pop(0), path)
        lines, self.lines = self.lines, outer
        # Names given inside are gone; variables that are declared outside stay.
        self._variables &= declared | self._outer
        self.names = {n: v for n, v in self.names.items() if n in kept or n in self._variables}
        return lines

    def _by_one(self, statement: ast.stmt) -> bool:
        return self.together_run and not uses_lanes(self.python, statement) and writes(self.python, statement)

    def _alone(self, statements: list[ast.stmt], path: tuple[int, ...]) -> None:
        """Statements that one invocation runs."""
        self.together_run = False
        # What is kept for the next update lies in a buffer, which has a barrier of its own.
        kept = any(
            isinstance(n, ast.Attribute) and n.attr == "memory" for s in statements for n in ast.walk(s)
        )
        barrier = (
            "storageBarrier();" if kept and "storageBarrier" not in self.translator.world.barrier else ""
        )
        self.say(f"barrier();{barrier}")
        self.say("if (lane == 0) {")
        self.lines += [f"  {line}" for line in self.block(statements, path)]
        self.say("}")
        self.say(f"barrier();{barrier}")
        self.together_run = True

    def _statement(self, statement: ast.stmt, path: tuple[int, ...]) -> None:
        self.here = statement
        method = getattr(self, f"do_{type(statement).__name__}", None)
        if method is None:
            raise self.fail(f"{type(statement).__name__} has no counterpart in WGSL")
        method(statement, (*path, id(statement)))

    def do_Expr(self, node: ast.Expr, path: tuple[int, ...]) -> None:
        if not isinstance(node.value, ast.Constant):
            value = self.expression(node.value)
            if value.text:
                self.say(
                    f"{value.text};"
                    if isinstance(value.kind, TupleKind) and not value.kind.items
                    else f"_ = {value.text};"
                )

    def do_Pass(self, node: ast.Pass, path: tuple[int, ...]) -> None:
        pass

    def do_Assign(self, node: ast.Assign, path: tuple[int, ...]) -> None:
        value = self.expression(node.value)
        target = node.targets[0]
        if len(node.targets) != 1:
            raise self.fail("one assignment at a time")
        if not isinstance(target, ast.Tuple):
            self._assign(target, value)
            return
        items = [item(value, k) for k in range(len(target.elts))]
        if value.items is None and "(" in value.text:
            whole = Value(value.kind, self.fresh())
            self.say(f"let {whole.text} = {value.text};")
            items = [item(whole, k) for k in range(len(target.elts))]
        elif len(items) > 1 and overlaps(target, node.value):
            items = [self._copied(i) for i in items]
        for one, part in zip(target.elts, items):
            self._assign(one, part)

    def kept(self, value: Value) -> Value:
        """A value under a name of its own, unless it has one."""
        if value.fixed or value.known is not None or value.kind == WORLD or isinstance(value.kind, Part):
            return value
        return value if value.text.isidentifier() else self._copied(value)

    def _copied(self, value: Value) -> Value:
        if value.known is not None or value.fixed or isinstance(value.kind, Part):
            return value
        name = self.fresh()
        self.say(f"let {name} = {self.whole_text(value)};")
        return Value(value.kind, name)

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript):
            self._store(target, value)
            return
        if not isinstance(target, ast.Name):
            raise self.fail(f"cannot assign to {ast.unparse(target)}")
        name, label = target.id, self.translator.world.named(target.id)
        stores, inside = self._uses[name]
        if not isinstance(value.kind, TupleKind) and (
            isinstance(value.kind, Part) or value.fixed or value.text == ""
        ):
            self.names[name] = value
            return
        if name in self._variables:
            known = self.names[name]
            self.say(f"{label} = {self.whole_text(self.cast(value, known.kind))};")
            return
        if not isinstance(value.kind, TupleKind) and value.kind not in _NUMBERS:
            self.names[name] = value  # a record: a place that is read field by field
            return
        self.translator.declare(value.kind)
        if stores > 1 or not inside:
            self._variables.add(name)
            if inside:
                self.say(f"var {label}{self.typed(value)} = {self.whole_text(value)};")
            else:
                self._outer.add(name)
                self._hoisted.append(f"var {label}: {wgsl_type(value.kind)};")
                self.say(f"{label} = {self.whole_text(value)};")
        else:
            self.say(f"let {label}{self.typed(value)} = {self.whole_text(value)};")
        self.names[name] = Value(value.kind, label)

    def _store(self, target: ast.Subscript, value: Value) -> None:
        place = self.element(self.expression(target.value), target)
        text = self.cast(value, place.kind).text
        if place.kind == FLOAT:
            place, text = Value(FLOAT, place.text.removeprefix("real(").removesuffix(")")), f"f32({text})"
        self.say(f"{place.text} = {text};")

    def do_AugAssign(self, node: ast.AugAssign, path: tuple[int, ...]) -> None:
        if isinstance(node.target, ast.Subscript):
            present = self.element(self.expression(node.target.value), node.target)
            self._store(node.target, self.binary(node.op, present, self.expression(node.value)))
            return
        place = self.expression(node.target)
        value = self.binary(node.op, place, self.expression(node.value))
        self.say(f"{place.text} = {self.cast(value, place.kind).text};")

    def do_Return(self, node: ast.Return, path: tuple[int, ...]) -> None:
        if node.value is None:
            self.say("return;")
            return
        value = self.expression(node.value)
        self.result = self.result or value.kind
        self.say(f"return {self.whole_text(self.cast(value, self.result))};")

    def do_If(self, node: ast.If, path: tuple[int, ...]) -> None:
        test = self.truth(self.expression(node.test))
        if test.known is not None:
            for statement in node.body if test.known else node.orelse:
                self._statement(statement, path)
            return
        self.say(f"if ({test.text}) {{")
        self._inner(node.body, (*path, 0))
        if node.orelse:
            self.say("} else {")
            self._inner(node.orelse, (*path, 1))
        self.say("}")

    def _inner(self, body: Sequence[ast.stmt], path: tuple[int, ...]) -> None:
        self.lines += [f"  {line}" for line in self.block(body, path)]

    def do_While(self, node: ast.While, path: tuple[int, ...]) -> None:
        before = len(self.lines)
        test = self.truth(self.expression(node.test))
        if len(self.lines) != before:
            raise self.fail("the test of a loop is one expression")
        self.say(f"while ({test.text}) {{")
        self._inner(node.body, path)
        self.say("}")

    def do_For(self, node: ast.For, path: tuple[int, ...]) -> None:
        assert isinstance(node.target, ast.Name)
        assert isinstance(node.iter, ast.Call)
        name, label = node.target.id, self.translator.world.named(node.target.id)
        if self.outside(node.iter.func) is parents_first:
            self._levels(node, name, label, path)
            return
        bounds = [self.cast(self.expression(a), INTEGER) for a in node.iter.args]
        first, stop = (constant(0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].known if len(bounds) == 3 else 1
        if not step:
            raise self.fail("the step of a range is a constant")
        kept = (
            list(self.lines),
            dict(self.names),
            set(self._variables),
            set(self._outer),
            list(self._hoisted),
        )
        try:
            self.names[name] = Value(INTEGER, label)
            on = f"{label}++" if step == 1 else f"{label} += {step}"
            sign = "<" if step > 0 else ">"
            self.say(f"for (var {label} = {first.text}; {label} {sign} {stop.text}; {on}) {{")
            self._inner(node.body, path)
            self.say("}")
        except UnrollError:
            # Items of tuples are named by constants: such loops are written out.
            if first.known is None or stop.known is None:
                raise
            self.lines, self.names, self._variables, self._outer, self._hoisted = kept
            for number in range(first.known, stop.known, step):
                self.names[name] = constant(number)
                self.say("{")
                self._inner(node.body, path)
                self.say("}")

    def _levels(self, node: ast.For, name: str, label: str, path: tuple[int, ...]) -> None:
        """Joints of one depth at once, then a barrier."""
        count, start, joint = self.translator.world.levels
        self.say("barrier();")
        self.say(f"for (var level = 0; level < {count}; level++) {{")
        self.say(f"  for (var k = {start('level')} + lane; k < {start('level + 1')}; k += LANES) {{")
        self.say(f"    let {label} = {joint('k')};")
        self.names[name] = Value(INTEGER, label)
        self.together_run = False
        self.lines += [f"    {line}" for line in self.block(node.body, path)]
        self.together_run = True
        self.say("  }")
        self.say("  barrier();")
        self.say("}")

    def do_Break(self, node: ast.Break, path: tuple[int, ...]) -> None:
        self.say("break;")

    def do_Continue(self, node: ast.Continue, path: tuple[int, ...]) -> None:
        self.say("continue;")


_NUMBERS = (INTEGER, constant(0.5).kind, constant(True).kind)
