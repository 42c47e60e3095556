"""`StrideWarp` and `OrientationWarp`: one walk for many speeds and directions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value, Vector
from marrow.graph.nodes.feet import _metres, require_feet
from marrow.graph.nodes.legs import STRIDE, compile_legs, find_legs
from marrow.graph.nodes.procedural import compile_procedural
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.limbs import CHAIN
from marrow.model._validate import angle

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["OrientationWarp", "StrideWarp"]


class StrideWarp(Node, frozen=True):
    """Makes the strides of `source` `scale` times as long, along `direction` (model space), without playing it
    faster: feet go further ahead of the hips and stay further behind, and the root travels that much more. The pelvis
    comes down, up to `drop` metres, where legs would not reach."""

    source: AnyNode
    scale: Value
    direction: Vector = (0.0, 0.0, 1.0)
    feet: Names = ()
    pelvis: str | None = None
    drop: float = 0.3
    stretch: float = 1.02
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        require_feet(requirements, self.feet)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        legs = find_legs(c, self.feet, self.pelvis, path)
        scale = c.builder.value(self.scale, f"{path}.scale")
        x, _, z = c.builder.vector(self.direction, f"{path}.direction")
        return compile_legs(
            c, at, self.source, self.weight, legs, STRIDE, stretch=self.stretch, stride=[scale, x, z],
            most_drop=_metres(self.drop, f"{path}.drop"), travel=ct.TRAVEL_SCALED, travel_ref=scale,
        )  # fmt: skip


class OrientationWarp(Node, frozen=True):
    """Turns the lower body by `angle` radians (to the left positive, `limit` at most), so that a walk ahead goes
    aslant: the joint `pelvis` turns, and the joints of `spine` turn back, each by its share, so that the upper body
    faces as before where the shares add up to one. The root travels in the new direction."""

    source: AnyNode
    angle: Value
    pelvis: str
    spine: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    limit: float = math.pi / 2
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        requirements.chain(self.pelvis, *self.spine)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        pelvis = c.joint(self.pelvis, f"{path}.pelvis")
        spine = [c.joint(name, f"{path}.spine") for name in self.spine]
        for joint in spine:
            if pelvis not in c.skeleton.ancestors(joint):
                raise ValidationError(
                    f"{path}.spine: {c.skeleton.names[joint]!r} must be below {self.pelvis!r}"
                )
        limit = angle(f"{path}.limit", self.limit, 0.0, math.pi)
        if not all(math.isfinite(s) for s in self.spine.values()):
            raise ValidationError(f"{path}.spine: expected shares, got {self.spine}")
        turn = _turn(c, self.angle, f"{path}.angle")
        nothing = c.builder.value(0.0, path)
        turned = sorted([(pelvis, 1.0), *zip(spine, (-s for s in self.spine.values()))])
        index = c.constants(
            CHAIN,
            count=len(turned),
            vectors=c.vectors,
            space=-1,
            memory=-1,
            header=0,
            axis=(0.0, 1.0, 0.0),
            limit=limit,
            rate=0.0,
            joints=[j for j, _ in turned],
            shares=[share for _, share in turned],
        )
        return compile_procedural(
            c, at, self.source, self.weight, code=kernel.TURN, index=index, refs=[turn, nothing, nothing],
            travel=ct.TRAVEL_TURNED, travel_ref=turn, limit=limit, factor=1.0,
        )  # fmt: skip


def _turn(c: Compiler, value: Value, path: str) -> int:
    """Where an angle is found. A parameter's default and bounds tell whether it is one."""
    said = [value] if not isinstance(value, str) else []
    parameter = c.graph.parameters.get(value) if isinstance(value, str) else None
    if parameter is not None and parameter.type == "float":
        said = [parameter.default, *(parameter.range or ()), *(parameter.wrap or ())]  # type: ignore[list-item]
    for number in said:
        angle(path, number, -math.tau, math.tau)
    return c.builder.value(value, path)
