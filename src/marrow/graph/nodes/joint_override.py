"""`JointOverride`: joints that code places."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.graph.nodes.base import AnyNode, Names, Node
from marrow.graph.nodes.function import compile_function
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["JointOverride"]


class JointOverride(Node, frozen=True):
    """Puts `joints` where `animator.overrides[name].set(...)` says: a turret that is aimed, a finger that is bent, what a
    network predicts. `mode="set"` replaces a joint's transform, `"offset"` adds to it; in the joint's own `space` or the
    model's. Until something is given, and where its weight is 0, `source` shows as it is."""

    source: AnyNode
    joints: Names
    mode: Literal["set", "offset"] = "set"
    space: Literal["local", "model"] = "local"

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.joints)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        if not self.name:
            raise ValidationError(
                f"{at.path}.name: an override goes by its name: JointOverride(..., name='turret')"
            )
        if not self.joints or len(set(self.joints)) != len(self.joints):
            raise ValidationError(f"{at.path}.joints: expected joints, each once, got {self.joints}")
        if at.scope.additive:
            raise ValidationError(f"{at.path}: an override works on poses, not on differences")
        for name in self.joints:
            compiler.joint(name, f"{at.path}.joints")
        return compile_function(compiler, at, self.source, FunctionEntry(at.path, self.name, (), self))
