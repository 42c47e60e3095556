"""`LimitJoints`: keeps joints inside their limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.nodes.ik_effectors import IKEffector, Limits, compile_ik, limits_of, require_limits
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["LimitJoints"]


class LimitJoints(Node, frozen=True):
    """Turns joints that are outside their `limits` back to them; others keep their rotation. Limits are `mw.ik.JointLimit`
    by joint, or `"clips"`: what the character's clips show and `margin` radians more. Above blends, layers and overrides
    it ends knees and elbows that bend the wrong way. `weight` mixes."""

    source: AnyNode
    limits: Limits
    margin: float = 0.15
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        require_limits(requirements, self.limits)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        if not self.limits:
            raise ValidationError(f'{path}.limits: expected limits by joint, or "clips"')
        limits = limits_of(c, self.limits, self.margin, path)
        limited = [] if limits is None else np.flatnonzero(limits.limited).tolist()
        # The solver knows the joints above its effectors.
        inner = {j for tip in limited for j in c.skeleton.ancestors(tip)}
        ends = [IKEffector(c.skeleton.names[j]) for j in limited if j not in inner]
        return compile_ik(
            c, at, self.source, ends, weight=self.weight, steps=0, warm_steps=0, joints=limited, hips=math.inf,
            limits=limits,
        )  # fmt: skip
