"""`PoseNode`: a pose that does not move."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from marrow.animation.bank import REST
from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["PoseNode"]


class PoseNode(Node, frozen=True):
    """The rest pose, or `clip` held at `time` seconds."""

    clip: str | None = None
    time: float = 0.0

    colour: ClassVar[str] = "#e8f1fb"

    def require(self, requirements: Requirements) -> None:
        if self.clip is not None:
            requirements.clip(self.clip, self.time)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        if self.clip is None:
            if at.scope.additive:
                raise ValidationError(f"{at.path}: the rest pose is not a difference; name an additive clip")
            return compiler.leaf(at, ct.POSE, clip=REST)
        entry = compiler.clip_entry(self.clip, at)
        duration = float(compiler.bank.duration[entry])
        if not 0 <= self.time <= duration:
            raise ValidationError(f"{at.path}.time: {self.clip!r} has {duration:g} seconds, got {self.time}")
        return compiler.leaf(at, ct.POSE, clip=entry, start=self.time)
