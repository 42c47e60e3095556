"""`CurveModify`: changes the curves that clips carry along."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["CurveModify"]

MODES = ("set", "add", "multiply", "min", "max")


class CurveModify(Node, frozen=True):
    """Shows `source` and changes `curves` of its clips, by name, each by a number or a parameter: it is set to that,
    that is added, it is multiplied by that, or no more (`"min"`) or no less (`"max"`) than that. As much as of this
    node is seen, times `weight`. A curve that no clip has begins with what its parameter says, or 0. Rules, nodes and
    `animator` see the changed ones."""

    source: AnyNode
    curves: dict[str, Value]
    mode: Literal["set", "add", "multiply", "min", "max"] = "set"
    weight: Value = 1.0

    colour: ClassVar[str] = "#e8f1fb"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, b = compiler, compiler.builder
        if not self.curves:
            raise ValidationError(f"{at.path}.curves: expected at least one")
        weight = b.value(self.weight, f"{at.path}.weight")
        told = {curve.name for s in c.bank.sampled for curve in s.source.curves}
        for name, value in self.curves.items():
            declared = b.parameters.get(name)
            if declared is not None and declared.type != "curve":
                raise ValidationError(
                    f"{at.path}.curves: {name!r} is a {declared.type} parameter, not a curve"
                )
            column = c.curve_column(name)
            amount = b.value(value, f"{at.path}.curves.{name}")
            b.add("curve_changes", at.number, column, MODES.index(self.mode), amount, weight, int(name not in told),
                  b.values[column])  # fmt: skip
        (part,) = c.children(at, [(self.source, ".source", at.scope)])
        return c.passed(at, part)
