"""`FullBodyIK`: brings hands, feet, head and hips to targets at once, by the whole body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value
from marrow.graph.nodes.ik_effectors import IKEffector, IKFloor, Limits, compile_ik, limits_of, require_limits
from marrow.graph.tables import Part, Place

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["FullBodyIK"]

MOST_EFFECTORS = 16


class FullBodyIK(Node, frozen=True):
    """Moves the hips and turns all joints between them and the `effectors` (up to 16, see `IKEffector`) so that each comes
    to its target: hands on a rail or a wheel, feet that stay, a head that looks. The same solver as `mw.ik.Solver`:
    `joints` (left out: all between the hips and the effectors), `hips` (how strongly they stay, or "pinned"), `posture`,
    `stiffness` and `limits` mean what they mean there; `limits="clips"` takes what the character's clips show and
    `margin` radians more. Each `floor` is a plane that some joints stay above (see `IKFloor`).

    The first update, and one in which a target jumps, begins at the pose and makes `steps` steps; others begin where the
    last one ended and make `warm_steps`. `weight` mixes."""

    source: AnyNode
    effectors: tuple[IKEffector, ...]
    joints: Names = ()
    hips: float | Literal["pinned"] = 1.0
    posture: float = 0.01
    stiffness: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    limits: Limits = None
    margin: float = 0.15
    floor: tuple[IKFloor, ...] = ()
    weight: Value = 1.0
    steps: int = 12
    warm_steps: int = 3

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        for effector in self.effectors:
            effector.require(requirements)
        requirements.joints(*self.joints, *self.stiffness, *(name for f in self.floor for name in f.joints))
        require_limits(requirements, self.limits)

    def says(self) -> list[str]:
        lines = []
        for e in self.effectors:
            given = [n for n in ("target", "rotation", "aim", "pole") if getattr(e, n) is not None]
            lines.append(f"{e.joint}: {', '.join(given) or 'held'}")
        return [
            *lines,
            *(f"{n} {v}" for n, v in self.settings() if n not in ("effectors", "limits", "floor")),
        ]

    def compile(self, compiler: Compiler, at: Place) -> Part:
        path = at.path
        if not 1 <= len(self.effectors) <= MOST_EFFECTORS:
            raise ValidationError(
                f"{path}.effectors: expected from 1 to {MOST_EFFECTORS}, got {len(self.effectors)}"
            )
        check_steps(self.steps, f"{path}.steps")
        check_steps(self.warm_steps, f"{path}.warm_steps")
        for name in self.joints:
            compiler.joint(name, f"{path}.joints")
        for name in self.stiffness:
            compiler.joint(name, f"{path}.stiffness")
        return compile_ik(
            compiler, at, self.source, self.effectors, weight=self.weight, steps=self.steps,
            warm_steps=self.warm_steps, listed=True, joints=self.joints or None,
            hips=math.inf if self.hips == "pinned" else self.hips, posture=self.posture, stiffness=self.stiffness,
            limits=limits_of(compiler, self.limits, self.margin, path), floor=self.floor,
        )  # fmt: skip


def check_steps(steps: int, path: str) -> None:
    if not 1 <= steps <= 100:
        raise ValidationError(f"{path}: expected from 1 to 100, got {steps}")
