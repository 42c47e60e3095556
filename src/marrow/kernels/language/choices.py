"""Comparisons, `and`, `or`, `in` and conditional expressions of the compiled subset, written as LLVM."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence

from marrow.kernels.language.expressions import Expressions
from marrow.kernels.language.kinds import BOOL, FLOAT, INTEGER, Kind, TupleKind
from marrow.kernels.language.values import I1, Value, loose, part_types

__all__ = ["Choices"]


class Choices(Expressions):
    """Expressions with choices."""

    def on_Compare(self, node: ast.Compare) -> Value:
        """A chain looks at the next operand only where all comparisons so far hold."""
        left = self.expression(node.left)

        def test(op: ast.cmpop, right_node: ast.expr) -> Value:
            nonlocal left
            before, left = left, self.expression(right_node)
            if isinstance(op, (ast.In, ast.NotIn)):
                return self.contained(before, left, isinstance(op, ast.NotIn))
            if type(op) not in _COMPARISONS:
                self.fail(f"{ast.unparse(node)} is not in the subset")
            return self.compare(_COMPARISONS[type(op)], before, left)

        pairs = list(zip(node.ops, node.comparators))
        if len(pairs) == 1:
            return test(*pairs[0])
        return self.one_by_one([functools.partial(test, *pair) for pair in pairs], until=False)

    def contained(self, value: Value, many: Value, negated: bool) -> Value:
        if not isinstance(many.kind, TupleKind):
            self.fail("`in` takes a tuple")
        items = [self.item(many, k) for k in range(len(many.kind.items))]  # type: ignore[union-attr]
        if not items:
            return self.constant(negated)
        found = functools.reduce(self.builder.or_, [self.compare("==", value, i).parts[0] for i in items])
        return Value(BOOL, (self.builder.not_(found) if negated else found,))

    def compare(self, how: str, left: Value, right: Value) -> Value:
        a, b, kind = self.alike(left, right)
        if a.known is not None and b.known is not None:
            x, y = a.known, b.known
            return self.constant(
                {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[how]
            )
        if kind == FLOAT:
            emit = self.builder.fcmp_unordered if how == "!=" else self.builder.fcmp_ordered
            return Value(BOOL, (emit(how, a.parts[0], b.parts[0]),))
        return Value(BOOL, (self.builder.icmp_signed(how, a.parts[0], b.parts[0]),))

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        """`and` and `or` look at the next operand only where it still matters."""

        def test(operand: ast.expr) -> Value:
            value = self.expression(operand)
            if value.kind != BOOL:
                self.fail(f"`and` and `or` take truth values: compare {ast.unparse(operand)} with 0")
            return value

        tests = [functools.partial(test, operand) for operand in node.values]
        return self.one_by_one(tests, until=isinstance(node.op, ast.Or))

    def one_by_one(self, tests: Sequence[Callable[[], Value]], *, until: bool) -> Value:
        """Makes tests until one gives `until`; the result is that of the last test made."""
        end = self.builder.append_basic_block()
        incoming = []
        for k, make in enumerate(tests):
            test = make().parts[0]
            incoming.append((test, self.builder.block))
            if k + 1 < len(tests):
                on = self.builder.append_basic_block()
                self.builder.cbranch(test, *((end, on) if until else (on, end)))
                self.builder.position_at_end(on)
        self.builder.branch(end)
        self.builder.position_at_end(end)
        phi = self.builder.phi(I1)
        for test, block in incoming:
            phi.add_incoming(test, block)
        return Value(BOOL, (phi,))

    def on_IfExp(self, node: ast.IfExp) -> Value:
        test = self.truth(self.expression(node.test))
        if test.known is not None:
            return self.expression(node.body if test.known else node.orelse)
        yes, no, end = (self.builder.append_basic_block() for _ in range(3))
        self.builder.cbranch(test.parts[0], yes, no)
        results = []
        for block, branch in ((yes, node.body), (no, node.orelse)):
            self.builder.position_at_end(block)
            results.append([self.expression(branch), self.builder.block])
        kinds = [r[0].kind for r in results]
        kind = kinds[0] if kinds[0] == kinds[1] else self._common(kinds)
        for result in results:
            self.builder.position_at_end(result[1])
            result[0] = self.cast(result[0], kind)
            result[1] = self.builder.block
            self.builder.branch(end)
        self.builder.position_at_end(end)
        parts = []
        for k, t in enumerate(part_types(kind)):
            phi = self.builder.phi(t)
            for value, block in results:
                phi.add_incoming(value.parts[k], block)
            parts.append(phi)
        return Value(kind, tuple(parts))

    def _common(self, kinds: Sequence[Kind]) -> Kind:
        if isinstance(kinds[0], TupleKind) and isinstance(kinds[1], TupleKind):
            return TupleKind(tuple(self._common(pair) for pair in zip(kinds[0].items, kinds[1].items)))
        return FLOAT if FLOAT in kinds else loose(kinds[0]) if loose(kinds[0]) == loose(kinds[1]) else INTEGER


_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
