"""From a plain Python function to LLVM: a small compiler for the subset of Python that kernels are written in.

Scalars are float64, int64 and truth values; arrays of smaller types are storage, read as these and rounded when written. A
variable keeps the kind of its first value. There are tuples, arrays and views of their rows, records by field name,
`for ... in range`, `while`, `if`, and calls of other such functions, of lane blocks (`marrow.kernels.lanes`) and of a few
elementary functions. Arithmetic is exactly IEEE 754: nothing is contracted, reordered or approximated, so that the function
run by Python itself, and code for any processor, give the same bits.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from marrow.kernels.language.calls import Calls
from marrow.kernels.language.hierarchy import parents_first
from marrow.kernels.language.kinds import BOOL, INTEGER, Kind, TupleKind, words
from marrow.kernels.language.values import I64, TranslationError, Value, load_from_frame, loose, part_types

__all__ = ["TranslationError", "Translator", "Value"]

UNROLLED = 7
"""Loops of known length up to this are written out."""


@functools.cache
def _source(function: Callable[..., Any]) -> tuple[ast.FunctionDef, int]:
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError:
        name = f"{function.__module__}.{function.__qualname__}"
        raise TranslationError(
            f"{name}: its source cannot be read; kernels are written in files or notebooks"
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition, first


class Translator:
    """Translates functions into one LLVM module, each once for the kinds of arguments it is called with."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self._done: dict[Any, tuple[Any, Kind | None]] = {}

    def function(self, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> tuple[Any, Kind | None]:
        """The LLVM function, and the kind of its result."""
        kinds = tuple(loose(k) for k in kinds)
        key = (function, kinds)
        if key not in self._done:
            self._done[key] = _Function(self, function, kinds).translate()
        return self._done[key]

    def intrinsic(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, arguments), name)
        return known

    def entry(self, name: str, function: Callable[..., Any], kinds: Sequence[Kind]) -> Any:
        """`void name(frame)`: takes the arguments out of a frame, calls the function, and puts what it returns (whole
        numbers) behind the arguments."""
        outer = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [I64.as_pointer()]), name)
        builder = ir.IRBuilder(outer.append_basic_block())
        frame, at, values = outer.args[0], 0, []
        for kind in kinds:
            values.append(load_from_frame(builder, frame, at, kind))
            at += words(kind)
        inner, result = self.function(function, tuple(v.kind for v in values))
        returned = builder.call(inner, [p for v in values for p in v.parts])
        if result is not None:
            results = result.items if isinstance(result, TupleKind) else (result,)
            for k, kind in enumerate(results):
                if kind not in (INTEGER, BOOL):
                    raise TranslationError(f"{name}: a kernel returns whole numbers")
                part = builder.extract_value(returned, k) if isinstance(result, TupleKind) else returned
                part = builder.zext(part, I64) if kind == BOOL else part
                builder.store(part, builder.gep(frame, [I64(at + k)]))
        builder.ret_void()
        return outer


class _Function(Calls):
    """One function being translated."""

    def __init__(self, translator: Translator, function: Callable[..., Any], kinds: tuple[Kind, ...]) -> None:
        self.translator, self.python = translator, function
        self.tree, self.first_line = _source(function)
        self.here: Any = self.tree
        names = [a.arg for a in self.tree.args.args]
        if len(names) != len(kinds):
            raise TranslationError(f"{function.__name__} takes {len(names)} arguments, got {len(kinds)}")
        module = translator.module
        types = [t for kind in kinds for t in part_types(kind)]
        label = module.get_unique_name(f"{function.__module__.rsplit('.', 1)[-1]}.{function.__name__}")
        self.llvm = ir.Function(module, ir.FunctionType(ir.VoidType(), types), label)
        self.llvm.linkage = "internal"
        for attribute in getattr(function, "attributes", ()):
            self.llvm.attributes.add(attribute)
        self.entry = self.llvm.append_basic_block("entry")
        self.allocas = ir.IRBuilder(self.entry)
        self.builder = ir.IRBuilder(self.llvm.append_basic_block("body"))
        self.body = self.builder.block
        self.variables: dict[str, tuple[Kind, list[Any]]] = {}
        self.sure: set[str] = set()
        self.fixed: dict[str, Value] = {}
        self.loops: list[tuple[Any, Any]] = []
        self.result: Kind | None = None
        self.returned = False
        at = 0
        for name, kind in zip(names, kinds):
            count = len(part_types(kind))
            self.assign_name(name, Value(kind, tuple(self.llvm.args[at : at + count])))
            at += count

    def translate(self) -> tuple[Any, Kind | None]:
        self.statements(self.tree.body)
        if not self.builder.block.is_terminated:
            if self.result is not None and not self._unreachable():
                self.fail("some ways through the function return nothing")
            if self.result is not None:
                self.builder.unreachable()
            else:
                self.builder.ret_void()
        self.allocas.branch(self.body)
        if self.result is not None:
            types = part_types(self.result)
            returned = types[0] if len(types) == 1 else ir.LiteralStructType(types)
            self.llvm.ftype = ir.FunctionType(returned, self.llvm.ftype.args)
            self.llvm.type = self.llvm.ftype.as_pointer()
            self.llvm.return_value = ir.ReturnValue(self.llvm, returned)
        return self.llvm, self.result

    def _unreachable(self) -> bool:
        """Whether nothing leads to the present block."""
        block = self.builder.block
        text = f'label %"{block.name}"'
        return not any(text in str(b.terminator) for b in self.llvm.blocks if b.terminator is not None)

    # -- statements ---------------------------------------------------------------------------------------------------
    def statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if self.builder.block.is_terminated:
                return
            self.here = statement
            method = getattr(self, f"do_{type(statement).__name__}", None)
            if method is None:
                raise self.error(f"{type(statement).__name__} is not in the subset")
            method(statement)

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def do_Pass(self, node: ast.Pass) -> None:
        pass

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Subscript):
            place = self.place(node.target)
            self.store(place, self.binary(node.op, self.load(*place), self.expression(node.value)))
        elif isinstance(node.target, ast.Name):
            present = self.expression(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            self.assign(node.target, self.binary(node.op, present, self.expression(node.value)))
        else:
            self.fail(f"cannot assign to {ast.unparse(node.target)}")

    def do_Return(self, node: ast.Return) -> None:
        if self.returned and (self.result is None) != (node.value is None):
            self.fail("some returns have a value and some have none")
        self.returned = True
        if node.value is None:
            self.builder.ret_void()
            return
        value = self.expression(node.value)
        if self.result is None:
            self.result = value.kind
        value = self.cast(value, self.result)
        if len(value.parts) == 1:
            self.builder.ret(value.parts[0])
            return
        packed = ir.Constant(ir.LiteralStructType(part_types(self.result)), ir.Undefined)
        for k, part in enumerate(value.parts):
            packed = self.builder.insert_value(packed, part, k)
        self.builder.ret(packed)

    def do_If(self, node: ast.If) -> None:
        test = self.truth(self.expression(node.test))
        if test.known is not None:
            self.statements(node.body if test.known else node.orelse)
            return
        yes, end = self.builder.append_basic_block(), self.builder.append_basic_block()
        no = self.builder.append_basic_block() if node.orelse else end
        self.builder.cbranch(test.parts[0], yes, no)
        before, after = self.sure, []
        for block, body in ((yes, node.body), (no, node.orelse)):
            self.sure = set(before)
            if body:
                self.builder.position_at_end(block)
                self.statements(body)
            if not body or not self.builder.block.is_terminated:
                after.append(self.sure)
            if body and not self.builder.block.is_terminated:
                self.builder.branch(end)
        self.sure = set.intersection(*after) if after else before
        self.builder.position_at_end(end)

    def do_While(self, node: ast.While) -> None:
        if node.orelse:
            self.fail("loops have no else")
        head, body, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        test = self.truth(self.expression(node.test))
        if test.known:
            self.builder.branch(body)
        else:
            self.builder.cbranch(test.parts[0], body, end)
        self._loop(body, head, end, lambda: self.statements(node.body))

    def do_For(self, node: ast.For) -> None:
        over = self.outside(node.iter.func) if isinstance(node.iter, ast.Call) else None
        if over not in (range, parents_first):
            self.fail("loops run over range(...) or parents_first(...)")
        if node.orelse or not isinstance(node.target, ast.Name):
            self.fail("loops have one variable and no else")
        given = [self.expression(a) for a in node.iter.args]  # type: ignore[attr-defined]
        bounds = [self.cast(self.length(v) if over is parents_first else v, INTEGER) for v in given]
        first, stop = (Value(INTEGER, (I64(0),), 0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].known if len(bounds) == 3 else 1
        if not step:
            self.fail("the step of a range is a constant")
        if first.known is not None and stop.known is not None and self._unrolls(node, first, stop, step):
            name = node.target.id  # type: ignore[attr-defined]
            for number in range(first.known, stop.known, step):
                self.fixed[name] = self.constant(number)
                self.statements(node.body)
            if name in self.fixed:
                self.assign_name(name, self.fixed.pop(name))
            return

        def body(index: Value) -> None:
            self.assign(node.target, index)
            self.statements(node.body)

        self.counted(first, stop, step, body)
        if first.known is not None and stop.known is not None and range(first.known, stop.known, step):
            self.sure.add(node.target.id)  # type: ignore[attr-defined]

    def _unrolls(self, node: ast.For, first: Value, stop: Value, step: int) -> bool:
        """Short loops are written out, so that tuples may be indexed by their variable."""
        jumps = any(isinstance(n, (ast.Break, ast.Continue, ast.Return)) for n in ast.walk(node))
        assigned = any(
            isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == node.target.id  # type: ignore[attr-defined]
            for b in node.body
            for n in ast.walk(b)
        )
        return len(range(first.known, stop.known, step)) <= UNROLLED and not jumps and not assigned

    def counted(self, first: Value, stop: Value, step: int, body: Callable[[Value], None]) -> None:
        """A loop over a range; `body` writes what is done for a number."""
        head, inside, turn, end = (self.builder.append_basic_block() for _ in range(4))
        start, limit = self.cast(first, INTEGER).parts[0], self.cast(stop, INTEGER).parts[0]
        before = self.builder.block
        self.builder.branch(head)
        self.builder.position_at_end(head)
        index = self.builder.phi(I64)
        index.add_incoming(start, before)
        self.builder.cbranch(self.builder.icmp_signed("<" if step > 0 else ">", index, limit), inside, end)
        self.builder.position_at_end(turn)
        index.add_incoming(self.builder.add(index, I64(step), flags=["nsw"]), turn)
        self.builder.branch(head)
        self._loop(inside, turn, end, lambda: body(Value(INTEGER, (index,))))

    def _loop(self, body: Any, again: Any, end: Any, write: Callable[[], None]) -> None:
        self.loops.append((again, end))
        self.builder.position_at_end(body)
        before = set(self.sure)
        write()
        self.sure = before
        if not self.builder.block.is_terminated:
            self.builder.branch(again)
        self.loops.pop()
        self.builder.position_at_end(end)

    def do_Break(self, node: ast.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def do_Continue(self, node: ast.Continue) -> None:
        self.builder.branch(self.loops[-1][0])
