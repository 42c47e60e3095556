"""`RootMotion`: what becomes of the travel in the clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.needs import Needs

__all__ = ["Axis", "RootMotion"]

Axis = Literal["x", "y", "z", "yaw", "tilt"]


class RootMotion(Node, frozen=True):
    """Stands at the root of a graph. `"extract"` takes the travel of `joint` (the first root when left out) out of the
    poses, which then stay in place, and reports it as `animator.root_motion`; `"drop"` takes it out; `"keep"` leaves it
    in the poses and reports it too.

    `axes` say what of the joint's motion is travel: along the ground and about the vertical, as it stands; so that hips
    keep their bob and sway. `"y"` adds rising and falling, `"tilt"` all other turning."""

    source: AnyNode
    mode: Literal["extract", "keep", "drop"] = "extract"
    joint: str | None = None
    axes: tuple[Axis, ...] = ("x", "z", "yaw")

    def check(self, path: str) -> None:
        """Refuses axes that make no sense."""
        if not self.axes or len(set(self.axes)) != len(self.axes):
            raise ValidationError(f"{path}.axes: expected some of {', '.join(get_args(Axis))}, each once")
        if "tilt" in self.axes and "yaw" not in self.axes:
            raise ValidationError(f"{path}.axes: tilt comes with yaw")

    def needs(self, needs: Needs) -> None:
        if self.joint is not None:
            needs.joints(self.joint)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        # Where it belongs the compiler takes it before anything else: it decides what the clips are.
        raise ValidationError(f"{at.path}: RootMotion belongs at the root of the graph")
