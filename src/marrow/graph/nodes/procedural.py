"""What nodes share that change a finished pose: one operation with constants, vectors and a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Value
from marrow.graph.root_transforms import WorldVector
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["compile_procedural", "target_space"]


def target_space(c: Compiler, space: str, path: str, *vectors: tuple[list[int], bool]) -> int:
    """The joint in whose frame vectors are given, -1 for model space. Those given in the world are noted: each as the
    values it is made of, and whether it is a direction; they come one behind the other, from the next column of the
    vectors on."""
    if space == "world":
        for k, (refs, direction) in enumerate(vectors):
            x, y, z = refs
            c.world_vectors.append(WorldVector(c.vectors + 3 * k, (x, y, z), direction))
    if space in ("world", "character"):
        return -1
    return c.joint(space, f"{path}.space")


def compile_procedural(
    c: Compiler,
    at: Place,
    source: AnyNode,
    weight: Value,
    *,
    code: int,
    index: int,
    refs: list[int],
    travel: int = ct.TRAVEL_KEPT,
    travel_ref: int = 0,
    limit: float = 0.0,
    factor: float = 1.0,
    share: int = -1,
) -> Part:
    """A node that changes `source` by the operation `code`, whose constants lie at `index` of the compiler's ints, and
    which is handed the values `refs` as vectors. `travel` says what becomes of the root's travel, by the value
    `travel_ref`. `share` is the column of a curve that the weight is multiplied by, -1 for none."""
    if at.scope.additive:
        raise ValidationError(f"{at.path}: it works on poses, not on differences")
    row = c.builder.add(
        "procedurals",
        code,
        index,
        c.builder.link(refs),
        len(refs),
        c.vectors,
        travel,
        travel_ref,
        share,
        limit,
        factor,
    )
    c.vectors += len(refs)
    (base,) = c.children(at, [(source, ".source", Scope(c.region(), at.scope.sync))])
    c.row(at, kind=ct.PROCEDURAL, data=row, ref=c.builder.value(weight, f"{at.path}.weight"))
    return Part(at.number, base.depth, base.length + 2, True)
