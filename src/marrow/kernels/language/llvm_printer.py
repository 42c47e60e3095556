"""Prints the typed form as LLVM: one module for some kernels, each function in it once."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from llvmlite import ir as llvm

from marrow.kernels.language import ir
from marrow.kernels.language.frontend import LanguageError, lower
from marrow.kernels.language.ir_text import expression_text
from marrow.kernels.language.llvm_expressions import LlvmExpressions
from marrow.kernels.language.llvm_lanes import emit_block
from marrow.kernels.language.llvm_values import I64, Value, load_from_frame, part_types, returned_type
from marrow.kernels.language.types import BOOL, INTEGER, Kind, TupleKind, words

__all__ = ["ModulePrinter"]

LANGUAGE = str(Path(__file__).parent)


class ModulePrinter:
    """Prints functions into an LLVM module. `checked` looks at every index: where one is wrong the function ends, and `@fault` says which
    of `sites` it was, the index, and the size of the axis. `unwound` has tables made by which the stack can be walked."""

    def __init__(self, module: Any, *, checked: bool = False, unwound: bool = False) -> None:
        self.module, self.attributes = module, ("uwtable",) if unwound else ()
        self._done: dict[ir.IrFunction, Any] = {}
        self.sites: list[str] = []
        self.fault: Any = None
        if checked:
            self.fault = llvm.GlobalVariable(module, llvm.ArrayType(I64, 3), "fault")
            self.fault.initializer = llvm.Constant(self.fault.value_type, [0, 0, 0])

    def function(self, function: ir.IrFunction) -> Any:
        """The LLVM function."""
        if function not in self._done:
            printer = _FunctionPrinter(self, function)
            self._done[function] = printer.llvm
            printer.print()
        return self._done[function]

    def intrinsic(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        known = self.module.globals.get(name)
        if known is None:
            known = llvm.Function(self.module, llvm.FunctionType(result, arguments), name)
        return known

    def entry(self, name: str, python: Callable[..., Any], kinds: Sequence[Kind], returns: int) -> Any:
        """`void name(frame)`: takes the arguments out of a frame, calls the function, and puts what it returns (whole
        numbers) behind the arguments."""
        outer = llvm.Function(self.module, llvm.FunctionType(llvm.VoidType(), [I64.as_pointer()]), name)
        # Nobody outside the module that it is linked into sees it, and nobody can put another in its place.
        outer.linkage = "hidden"
        for attribute in self.attributes:
            outer.attributes.add(attribute)
        builder = llvm.IRBuilder(outer.append_basic_block())
        frame, at, values = outer.args[0], 0, []
        for kind in kinds:
            values.append(load_from_frame(builder, frame, at, kind))
            at += words(kind)
        inner = lower(python, kinds)
        results = (
            inner.result.items
            if isinstance(inner.result, TupleKind)
            else (inner.result,)
            if inner.result
            else ()
        )
        if any(kind not in (INTEGER, BOOL) for kind in results) or len(results) != returns:
            raise LanguageError(
                f"{inner.file}, in {name}: a kernel returns as many whole numbers as it says: {returns}"
            )
        returned = builder.call(self.function(inner), [p for v in values for p in v.parts])
        for k, kind in enumerate(results):
            part = builder.extract_value(returned, k) if len(results) > 1 else returned
            part = builder.zext(part, I64) if kind == BOOL else part
            builder.store(part, builder.gep(frame, [I64(at + k)]))
        builder.ret_void()
        return outer


class _FunctionPrinter(LlvmExpressions):
    """One function being printed."""

    def __init__(self, module: ModulePrinter, function: ir.IrFunction) -> None:
        self.module, self.source = module, function
        types = [t for _, kind in function.parameters for t in part_types(kind)]
        label = module.module.get_unique_name(f"{function.module}.{function.name}")
        self.llvm = llvm.Function(
            module.module, llvm.FunctionType(returned_type(function.result), types), label
        )
        self.llvm.linkage = "internal"
        for attribute in (*function.attributes, *module.attributes):
            self.llvm.attributes.add(attribute)
        self.loops: list[tuple[Any, Any]] = []
        self.line = 0

    def print(self) -> None:
        entry = self.llvm.append_basic_block("entry")
        self.builder = llvm.IRBuilder(entry)
        self.names: dict[str, Any] = {}
        for name, kind in self.source.variables.items():
            self.names[name] = [self.builder.alloca(t, name=name) for t in part_types(kind)]
        at = 0
        for name, kind in self.source.parameters:
            count = len(part_types(kind))
            value = Value(kind, tuple(self.llvm.args[at : at + count]))
            at += count
            if name in self.names:
                self.put(name, value)
            else:
                self.names[name] = value
        self.statements(self.source.body)
        if not self.builder.block.is_terminated:
            if self.source.result is None:
                self.builder.ret_void()
            else:
                self.builder.unreachable()

    # -- the debug build ----------------------------------------------------------------------------------------------
    def _unless(self, fine: Any) -> Any:
        """Goes on where `fine`; the builder of what is done elsewhere, before the function ends."""
        good, bad = self.builder.append_basic_block(), self.builder.append_basic_block()
        self.builder.cbranch(fine, good, bad)
        self.builder.position_at_end(good)
        return llvm.IRBuilder(bad)

    def _give_up(self, builder: Any) -> None:
        if self.source.result is None:
            builder.ret_void()
        else:
            builder.ret(llvm.Constant(returned_type(self.source.result), None))

    def _look(self, site: str, index: Any, size: Any, *, end: bool = False) -> None:
        self.module.sites.append(site)
        wrong = self._unless(self.builder.icmp_unsigned("<=" if end else "<", index, size))
        for k, value in enumerate((I64(len(self.module.sites)), index, size)):
            wrong.store(value, wrong.gep(self.module.fault, [I64(0), I64(k)]))
        self._give_up(wrong)

    def check(self, node: Any, index: Any, size: Any, axis: int, *, end: bool = False) -> None:
        if self.module.fault is not None:
            place = f"{self.source.file}:{self.line}, in {self.source.name}"
            self._look(
                f"{place}: {expression_text(node)}, axis {axis} of {expression_text(node.array)}",
                index,
                size,
                end=end,
            )

    def check_lanes(self, name: str, offset: Any, lanes: int, size: Any) -> None:
        """The same for lane formulas: `lanes` neighbours of a flat array."""
        if self.module.fault is None:
            return
        frame: Any = sys._getframe(1)
        while frame.f_code.co_filename.startswith(LANGUAGE):
            frame = frame.f_back
        site = f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}: {lanes} of {name}"
        self._look(site, offset, size)
        if lanes > 1:
            self._look(site, self.builder.add(offset, I64(lanes - 1)), size)

    def lane_names(self, formula: Any, count: int) -> list[str]:
        """What a lane formula calls its arguments; only the debug build wants to know."""
        return (
            list(inspect.signature(formula).parameters)[1:] if self.module.fault is not None else [""] * count
        )

    def called(self) -> None:
        if self.module.fault is not None:
            found = self.builder.load(self.builder.gep(self.module.fault, [I64(0), I64(0)]))
            self._give_up(self._unless(self.builder.icmp_signed("==", found, I64(0))))

    def put(self, name: str, value: Value) -> None:
        for slot, part in zip(self.names[name], value.parts):
            self.builder.store(part, slot)

    # -- statements ---------------------------------------------------------------------------------------------------
    def statements(self, body: Sequence[Any]) -> None:
        for statement in body:
            if self.builder.block.is_terminated:
                return
            self.line = statement.line
            getattr(self, f"do_{type(statement).__name__}")(statement)

    def do_Let(self, node: ir.Let) -> None:
        self.names[node.name] = self.expression(node.value)

    def do_Do(self, node: ir.Do) -> None:
        self.expression(node.call)

    def do_Assign(self, node: ir.Assign) -> None:
        values = [self.expression(v) for v in node.values]
        for target, value in zip(node.targets, values):
            if isinstance(target, ir.Var):
                self.put(target.name, value)
            else:
                address, dtype = self.address(target)
                self.store(value.parts[0], address, dtype)

    def do_Return(self, node: ir.Return) -> None:
        if node.value is None:
            self.builder.ret_void()
            return
        value = self.expression(node.value)
        if len(value.parts) == 1:
            self.builder.ret(value.parts[0])
            return
        packed = llvm.Constant(returned_type(node.value.kind), llvm.Undefined)
        for k, part in enumerate(value.parts):
            packed = self.builder.insert_value(packed, part, k)
        self.builder.ret(packed)

    def do_If(self, node: ir.If) -> None:
        test = self.number(node.test)
        yes, end = self.builder.append_basic_block(), self.builder.append_basic_block()
        no = self.builder.append_basic_block() if node.orelse else end
        self.builder.cbranch(test, yes, no)
        for block, body in ((yes, node.body), (no, node.orelse)):
            if block is end:
                continue
            self.builder.position_at_end(block)
            self.statements(body)
            if not self.builder.block.is_terminated:
                self.builder.branch(end)
        self.builder.position_at_end(end)

    def do_While(self, node: ir.While) -> None:
        head, body, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.branch(head)
        self.builder.position_at_end(head)
        if isinstance(node.test, ir.Const):
            self.builder.branch(body)
        else:
            self.builder.cbranch(self.number(node.test), body, end)
        self._loop(body, head, end, lambda: self.statements(node.body))

    def do_For(self, node: ir.For) -> None:
        def body(index: Any) -> None:
            self.put(node.variable, Value(INTEGER, (index,)))
            self.statements(node.body)

        self._counted(self.number(node.first), self.number(node.stop), node.step, body)

    def _counted(self, first: Any, stop: Any, step: int, body: Callable[[Any], None]) -> None:
        """A loop over a range; `body` prints what is done for a number."""
        head, inside, turn, end = (self.builder.append_basic_block() for _ in range(4))
        before = self.builder.block
        self.builder.branch(head)
        self.builder.position_at_end(head)
        index = self.builder.phi(I64)
        index.add_incoming(first, before)
        self.builder.cbranch(self.builder.icmp_signed("<" if step > 0 else ">", index, stop), inside, end)
        self.builder.position_at_end(turn)
        index.add_incoming(self.builder.add(index, I64(step), flags=["nsw"]), turn)
        self.builder.branch(head)
        self._loop(inside, turn, end, lambda: body(index))

    def _loop(self, body: Any, again: Any, end: Any, write: Callable[[], None]) -> None:
        self.loops.append((again, end))
        self.builder.position_at_end(body)
        write()
        if not self.builder.block.is_terminated:
            self.builder.branch(again)
        self.loops.pop()
        self.builder.position_at_end(end)

    def do_Break(self, node: ir.Break) -> None:
        self.builder.branch(self.loops[-1][1])

    def do_Continue(self, node: ir.Continue) -> None:
        self.builder.branch(self.loops[-1][0])

    # -- lanes, choices -----------------------------------------------------------------------------------------------
    def do_Lanes(self, node: ir.Lanes) -> None:
        emit_block(node.block.formula, self, [self.expression(a) for a in node.arguments])

    def do_Each(self, node: ir.Each) -> None:
        first, last = self.number(node.first), self.number(node.last)
        arguments = [self.expression(a) for a in node.arguments]

        def body(index: Any) -> None:
            emit_block(node.block.formula, self, [Value(INTEGER, (index,)), *arguments])

        self._counted(first, last, node.step, body)

    def do_Choose(self, node: ir.Choose) -> None:
        number = self.number(node.number)
        arguments = [p for a in node.arguments for p in self.expression(a).parts]
        end = self.builder.append_basic_block()
        switch = self.builder.switch(number, end)
        for k, choice in enumerate(node.functions):
            block = self.builder.append_basic_block()
            switch.add_case(k, block)
            self.builder.position_at_end(block)
            self.builder.call(self.module.function(choice), arguments)
            self.called()
            self.builder.branch(end)
        self.builder.position_at_end(end)
