"""`LookAt`: turns a head, or aims a chain of joints, at a target."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value, Vector
from marrow.graph.nodes.procedural import compile_procedural, target_space
from marrow.graph.tables import Part, Place
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.limbs import CHAIN, LOOK_STATE
from marrow.math import quaternion, transform
from marrow.math.elementary import dot
from marrow.model._validate import angle
from marrow.motion.facing import ahead_of

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["LookAt"]

FASTEST = 8 * math.pi
"""Radians a second: no head and no turret turns faster, and a number above is one of degrees."""


class LookAt(Node, frozen=True):
    """Turns `joints`, listed from the body outward with each one's share of what is left to turn, until the last of them
    looks at `target`, a place in `space`: that of the character (model space), that of the world (see
    `animator.root`), or in the frame of the joint of that name. `axis` is the last joint's own direction that looks;
    when left out, the one that looks ahead in the rest pose (see `Character.facing`). It turns at most `limit` radians
    away from where it looks in the pose, and at most `speed` radians per second (left out: at once), seen from the body;
    at the same speed at any frame rate."""

    source: AnyNode
    joints: dict[str, float]
    target: Vector
    axis: tuple[float, float, float] | None = None
    limit: float = math.pi / 2
    weight: Value = 1.0
    space: str = "character"
    speed: float | None = None

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        if self.space not in ("world", "character"):
            requirements.joints(self.space)
        requirements.chain(*self.joints)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        if not self.joints:
            raise ValidationError(f"{path}.joints: expected at least one")
        joints = [c.joint(name, f"{path}.joints") for name in self.joints]
        for a, b in itertools.pairwise(joints):
            if a not in c.skeleton.ancestors(b):
                names = c.skeleton.names
                raise ValidationError(
                    f"{path}.joints: {names[a]!r} must be above {names[b]!r}: list from the body outward"
                )
        shares = list(self.joints.values())
        if not all(0 <= s <= 1 for s in shares):
            raise ValidationError(f"{path}.joints: shares must be from 0 to 1, got {shares}")
        limit = angle(f"{path}.limit", self.limit, 0.0, math.pi)
        if self.axis is None:
            _, rotation, _ = transform.decompose(c.skeleton.rest_model[joints[-1]].astype(np.float64))
            axis = quaternion.rotate(quaternion.conjugate(rotation), ahead_of(c.skeleton))
        else:
            axis = np.array(self.axis, np.float64)
            if not np.isfinite(axis).all() or dot(axis, axis) < 1e-18:
                raise ValidationError(f"{path}.axis: expected a direction, got {self.axis}")
            axis = axis / np.sqrt(dot(axis, axis))
        target = c.builder.vector(self.target, f"{path}.target")
        if self.speed is not None and not angle(
            f"{path}.speed", self.speed, 0.0, FASTEST, unit="radians a second (left out: at once)"
        ):
            raise ValidationError(f"{path}.speed: expected more than 0 radians a second")
        memory, header = (-1, 0) if self.speed is None else (c.keep_state(1 + 2 * LOOK_STATE), c.header())
        space = target_space(c, self.space, path, (target, False))
        index = c.constants(
            CHAIN, count=len(joints), vectors=c.vectors, space=space, memory=memory, header=header, axis=axis, limit=limit,
            rate=self.speed or 0.0, joints=joints, shares=shares,
        )  # fmt: skip
        return compile_procedural(c, at, self.source, self.weight, code=kernel.LOOK, index=index, refs=target)
