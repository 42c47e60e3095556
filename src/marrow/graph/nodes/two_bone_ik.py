"""`TwoBoneIK`: bends a limb so that its end reaches a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["TwoBoneIK"]

Vector = str | tuple[float, float, float]
"""A vector parameter by name, or a constant."""


class TwoBoneIK(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Turns the parent and grandparent of the joint `tip` (or `mid` and `upper`, where other joints lie between) so that
    `tip` comes to `target`, in model space. The limb bends towards `pole` (a direction in model space), or as it does in
    the pose. `bend` is the range in degrees that the middle joint may be away from straight: out of reach or past the
    range, the limb points at the target. `stretch` lets it lengthen up to that factor to reach. `weight` mixes; the tip
    keeps the way it faces when `keep_rotation`."""

    source: AnyNode
    tip: str
    target: Vector
    pole: Vector | None = None
    weight: Value = 1.0
    bend: tuple[float, float] = (0.0, 180.0)
    stretch: float = 1.0
    keep_rotation: bool = True
    mid: str | None = None
    upper: str | None = None
