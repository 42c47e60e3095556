"""`SavedPose`: a pose that was saved while the graph ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["SavedPose"]


class SavedPose(Node, frozen=True):
    """The pose that `animator.instances.save_pose(pose)` saved last, of each instance its own; the rest pose until then.
    To get up from wherever a ragdoll fell, or to fade from a moment that is over."""

    pose: str

    colour: ClassVar[str] = "#e8f1fb"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.pose:
            raise ValidationError(f"{at.path}.pose: expected the name of a saved pose")
        if at.scope.additive:
            raise ValidationError(f"{at.path}: a saved pose is not a difference")
        if self.pose not in c.saved:
            c.saved[self.pose] = c.keep(c.pose_size)
        c.row(at, kind=ct.SAVED, ref=c.saved[self.pose])
        return Part(at.number, 1, 2, True)
