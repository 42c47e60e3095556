"""`Switch`: one input, chosen by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Ease, Node, Value
from marrow.graph.nodes.state_machine import MachineLayout
from marrow.graph.tables import Part, Place, seconds

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Switch"]


class Switch(Node, frozen=True):
    """Shows the input whose number `index` is nearest to (a bool parameter chooses between two), cross-fading for
    `seconds` when that changes, or with `blend="inertia"` (and a `profile`) as `Transition` does. An input starts
    over when it comes up."""

    index: Value
    inputs: tuple[AnyNode, ...]
    seconds: float = 0.0
    ease: Ease = "smooth"
    blend: Literal["fade", "inertia"] = "fade"
    profile: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)

    colour: ClassVar[str] = "#fdf0dc"

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.profile)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.inputs:
            raise ValidationError(f"{at.path}.inputs: a switch needs at least one")
        seconds(self.seconds, f"{at.path}.seconds")
        inertia = self.blend == "inertia" and self.seconds > 0
        machine = MachineLayout(
            c,
            at,
            len(self.inputs),
            0,
            self.seconds > 0,
            switch=c.builder.value(self.index, f"{at.path}.index"),
            ease=self.ease,
            inertia=inertia,
            seconds=self.seconds,
            profile=self.profile,
        )
        parts = machine.children([(node, f".inputs[{k}]") for k, node in enumerate(self.inputs)])
        smoothed = isinstance(self.index, str) and c.graph.parameters[self.index].smoothing > 0
        for k, part in enumerate(parts):
            machine.state(k, part.node, careful=smoothed)
        return machine.finish(parts)
