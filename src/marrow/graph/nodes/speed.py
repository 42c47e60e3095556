"""`Speed`: time passes faster or slower below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Speed"]


class Speed(Node, frozen=True):
    """Plays all clips of `source` at `speed` times their own speed."""

    source: AnyNode
    speed: Value

    def compile(self, compiler: Compiler, at: Place) -> Part:
        parts = compiler.children(at, [(self.source, ".source", at.scope)])
        compiler.row(at, kind=ct.SPEED, ref=compiler.builder.value(self.speed, f"{at.path}.speed"))
        return compiler.summed(at, parts)
