"""`ClipNode`: plays a clip."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node, Value, told
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["ClipNode"]

ROLES = ("weight", "leader", "follower")


class ClipNode(Node, frozen=True):
    """Plays `clip` at `speed` (negative: backwards), round and round or once, from `start` seconds (left out: from its
    beginning, or from its end where the speed is a negative number).

    `sync=True` takes part in the sync group of the blend around it, if that has one; a name joins the group of that name
    wherever it is used; False keeps its own time. In its group the heaviest clip leads, and all say by weight how fast
    it goes; `role="leader"` leads alone whenever it is seen, `"follower"` only keeps in step, where anything else is
    there to follow.
    """

    clip: str
    speed: Value = 1.0
    loop: bool = True
    start: float | None = None
    sync: bool | str = True
    role: Literal["weight", "leader", "follower"] = "weight"

    colour: ClassVar[str] = "#e8f1fb"

    def says(self) -> list[str]:
        return [self.clip, *(f"{name} {told(value)}" for name, value in self.settings() if name != "clip")]

    def require(self, requirements: Requirements) -> None:
        requirements.clip(self.clip, self.start or 0.0)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        entry = c.clip_entry(self.clip, at)
        duration = float(c.bank.duration[entry])
        backwards = not isinstance(self.speed, str) and self.speed < 0
        start = self.start if self.start is not None else duration if backwards else 0.0
        if not 0 <= start <= duration:
            raise ValidationError(f"{at.path}.start: {self.clip!r} has {duration:g} seconds, got {start}")
        speed = c.builder.value(self.speed, f"{at.path}.speed")
        part = c.leaf(
            at,
            ct.CLIP,
            clip=entry,
            loop=int(self.loop),
            speed=speed,
            start=start,
            role=ROLES.index(self.role),
        )
        group = self.sync if isinstance(self.sync, str) else at.scope.sync if self.sync else None
        if isinstance(self.sync, str) and not self.loop:
            raise ValidationError(f"{at.path}.sync: a clip that plays once cannot keep in step with others")
        if self.role != "weight" and group is None:
            raise ValidationError(
                f"{at.path}.role: it keeps in step with nothing; name a group with sync, or put it into a blend space"
            )
        if group is not None and self.loop and duration > 0:
            c.groups.setdefault(group, []).append(len(c.leaves) - 1)
        return part
