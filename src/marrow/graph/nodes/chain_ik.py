"""`ChainIK`: bends a chain of joints (a tail, a tentacle, a spine) so that its end reaches a target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value, Vector
from marrow.graph.nodes.full_body_ik import check_steps
from marrow.graph.nodes.ik_effectors import IKEffector, Limits, compile_ik, limits_of, require_limits
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["ChainIK"]


class ChainIK(Node, frozen=True):
    """Turns the joints from `root` down to `tip` so that `tip` comes to `target`, each about as much as the others; nothing
    else moves. `rotation` (a rotation vector), `space`, `point` and `weight` are as in `IKEffector`; `stiffness` by joint,
    `limits`, `margin` and steps as in `FullBodyIK`. Out of reach, the chain stretches out towards the target."""

    source: AnyNode
    root: str
    tip: str
    target: Vector
    rotation: Vector | None = None
    space: str = "character"
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stiffness: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    limits: Limits = None
    margin: float = 0.15
    posture: float = 0.01
    weight: Value = 1.0
    steps: int = 12
    warm_steps: int = 3

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        requirements.chain(self.root, self.tip)
        requirements.joints(*self.stiffness)
        require_limits(requirements, self.limits)
        if self.space not in ("world", "character"):
            requirements.joints(self.space)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        check_steps(self.steps, f"{path}.steps")
        check_steps(self.warm_steps, f"{path}.warm_steps")
        root, tip = c.joint(self.root, f"{path}.root"), c.joint(self.tip, f"{path}.tip")
        above = c.skeleton.ancestors(tip)
        if root not in above:
            raise ValidationError(f"{path}.root: {self.root!r} is not above {self.tip!r}")
        chain = [tip, *above[: above.index(root) + 1]]
        for name in self.stiffness:
            c.joint(name, f"{path}.stiffness")
        end = IKEffector(self.tip, self.target, self.rotation, space=self.space, point=self.point)
        return compile_ik(
            c, at, self.source, [end], weight=self.weight, steps=self.steps, warm_steps=self.warm_steps, joints=chain,
            hips=math.inf, posture=self.posture, stiffness=self.stiffness,
            limits=limits_of(c, self.limits, self.margin, path),
        )  # fmt: skip
