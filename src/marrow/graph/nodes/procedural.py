"""What nodes share that change a finished pose: one operation with constants, vectors and a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Value
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["compile_procedural"]


def compile_procedural(
    c: Compiler, at: Place, source: AnyNode, weight: Value, *, code: int, index: int, refs: list[int]
) -> Part:
    """A node that changes `source` by the operation `code`, whose constants lie at `index` of the compiler's ints, and
    which is handed the values `refs` as vectors."""
    if at.scope.additive:
        raise ValidationError(f"{at.path}: it works on poses, not on differences")
    row = c.builder.add("procedurals", code, index, c.builder.link(refs), len(refs), c.vectors)
    c.vectors += len(refs)
    (base,) = c.children(at, [(source, ".source", Scope(c.region(), at.scope.sync))])
    c.row(at, kind=ct.PROCEDURAL, data=row, ref=c.builder.value(weight, f"{at.path}.weight"))
    return Part(at.number, base.depth, base.length + 2, True)
