"""`RootMotion`: what becomes of the travel in the clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.needs import Needs

__all__ = ["RootMotion"]


class RootMotion(Node, frozen=True):
    """Stands at the root of a graph. `"extract"` takes the travel of `joint` (the first root when left out) out of the
    poses, which then stay in place, and reports it as `animator.root_motion`; `"drop"` takes it out; `"keep"` leaves it
    in the poses and reports it too."""

    source: AnyNode
    mode: Literal["extract", "keep", "drop"] = "extract"
    joint: str | None = None

    def needs(self, needs: Needs) -> None:
        if self.joint is not None:
            needs.joints(self.joint)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        # Where it belongs the compiler takes it before anything else: it decides what the clips are.
        raise ValidationError(f"{at.path}: RootMotion belongs at the root of the graph")
