"""`PoseNode`: a pose that does not move."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from marrow.animation.bank import REST
from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node, Value
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["PoseNode"]


class PoseNode(Node, frozen=True):
    """The rest pose, or `clip` held at `time` seconds: a number, or a parameter that moves it to and fro (an aim, a
    lever, a face by how far a door is open). It passes no events and goes nowhere; outside the clip its ends are held."""

    clip: str | None = None
    time: Value = 0.0

    colour: ClassVar[str] = "#e8f1fb"

    def require(self, requirements: Requirements) -> None:
        if self.clip is not None:
            requirements.clip(self.clip, 0.0 if isinstance(self.time, str) else self.time)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        if self.clip is None:
            if at.scope.additive:
                raise ValidationError(f"{at.path}: the rest pose is not a difference; name an additive clip")
            return compiler.leaf(at, ct.POSE, clip=REST)
        entry = compiler.clip_entry(self.clip, at)
        duration = float(compiler.bank.duration[entry])
        if isinstance(self.time, str):
            time = compiler.builder.value(self.time, f"{at.path}.time")
            return compiler.leaf(at, ct.POSE, clip=entry, speed=time, matches=1)
        if not 0 <= self.time <= duration:
            raise ValidationError(f"{at.path}.time: {self.clip!r} has {duration:g} seconds, got {self.time}")
        return compiler.leaf(at, ct.POSE, clip=entry, start=self.time)
