"""`Retarget`: the pose of another animator, of another body, on this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry, SourceEntry
from marrow.graph.nodes.base import Node
from marrow.graph.nodes.function import compile_function
from marrow.graph.nodes.pose import PoseNode
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Retarget"]


class Retarget(Node, frozen=True):
    """The pose that another animator has at this moment, retargeted to this character: a graph of one body's clips plays on
    another. What it blends is blended before it is retargeted.

        lead = mw.Animator(mocap, graph, count=100)
        crowd = mw.Animator(hero, mw.Graph(RootMotion(Retarget("lead"))), count=100, sources={"lead": lead})
        lead.update(1 / 60)  # the source first
        crowd.update(1 / 60)

    `source` is the name that `sources` has for the animator: it has one instance, which all follow, or as many as this
    one. The profile beside the character counts (see `mw.retarget`), and the same skeleton gets a copy.

    Where the graph's root is a `RootMotion`, instances go where those of the source go, for their size; not with
    `travel=False`, which must be said where the pose is mixed with others."""

    source: str
    travel: bool = True

    colour: ClassVar[str] = "#e8f1fb"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.source:
            raise ValidationError(f"{at.path}.source: expected the name of another animator")
        if at.scope.additive:
            raise ValidationError(f"{at.path}: it shows poses, not differences")
        travels = self.travel and c.root_mode == "extract"
        if travels and not _is_whole(c.graph.root, self):
            raise ValidationError(
                f"{at.path}: the travel of another animator cannot be mixed with others: say travel=False, and set where "
                "instances are with root.set"
            )
        entry = FunctionEntry(at.path, self.source, (), source=SourceEntry(self.source, travels))
        return compile_function(c, at, PoseNode(), entry)


def _is_whole(root: Any, node: Node) -> bool:
    """Whether all that a graph shows is this node and what is laid over it."""
    while root is not node:
        if not isinstance(root, Node):
            return False
        below = getattr(root, "source", getattr(root, "base", None))
        if not isinstance(below, Node) or (len(root.children()) > 1 and not hasattr(root, "base")):
            return False
        root = below
    return True
