"""`RootMotion`: what becomes of the travel in the clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Axis", "RootMotion"]

Axis = Literal["x", "y", "z", "yaw", "tilt"]


class RootMotion(Node, frozen=True):
    """Stands at the root of a graph. `"extract"` takes the travel of `joint` (left out: the first root, or what travels
    below it where that stands still) out of the poses, which then stay in place, and reports it as
    `animator.root.motion`; `"drop"` takes it out; `"keep"` leaves it in the poses and reports it too.

    `axes` say what of the joint's motion is travel: along the ground and about the vertical, as it stands; so that hips
    keep their bob. `"y"` adds rising and falling, `"tilt"` all other turning. `smooth` evens the travel out over so many
    seconds: sway, and hips that turn with every step, then stay in the pose. Left out: a second where the root is itself
    a part of the body (no `joint` is named, and hips carry all), otherwise nothing.

    `travel="slots"`: only what plays in slots travels, for a game that moves characters itself and lets an attack or a
    vault carry them. `State(root_motion=False)` does so for one state."""

    source: AnyNode
    mode: Literal["extract", "keep", "drop"] = "extract"
    joint: str | None = None
    axes: tuple[Axis, ...] = ("x", "z", "yaw")
    smooth: float | None = None
    travel: Literal["all", "slots"] = "all"

    def check(self, path: str) -> None:
        """Refuses what makes no sense."""
        if self.smooth is not None and not 0 <= self.smooth <= 60:
            raise ValidationError(f"{path}.smooth: expected 0 to 60 seconds, got {self.smooth}")
        if not self.axes or len(set(self.axes)) != len(self.axes):
            raise ValidationError(f"{path}.axes: expected some of {', '.join(get_args(Axis))}, each once")
        if "tilt" in self.axes and "yaw" not in self.axes:
            raise ValidationError(f"{path}.axes: tilt comes with yaw")

    def require(self, requirements: Requirements) -> None:
        if self.joint is not None:
            requirements.joints(self.joint)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        # Where it belongs the compiler takes it before anything else: it decides what the clips are.
        raise ValidationError(f"{at.path}: RootMotion belongs at the root of the graph")
