"""`TwoBoneIK`: bends a limb so that its end reaches a target."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.compiled import ReachEntry
from marrow.graph.nodes.base import AnyNode, Node, Value, Vector
from marrow.graph.nodes.procedural import compile_procedural, target_space
from marrow.graph.tables import Part, Place
from marrow.graph.warp_windows import reach_column, window_events
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.limbs import LIMB
from marrow.math import quaternion, transform
from marrow.math.elementary import dot
from marrow.model._validate import angle
from marrow.model.skeleton import Skeleton
from marrow.motion.facing import ahead_of

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["TwoBoneIK"]


class TwoBoneIK(Node, frozen=True):
    """Turns the parent and grandparent of the joint `tip` (or `mid` and `upper`, where other joints lie between) so that
    `tip` comes to `target`. The limb bends towards `pole` (a direction), or as it does in the pose. Both are given in
    `space`: that of the character (model space), that of the world (see `animator.root`), or in the frame of the
    joint of that name as it is before the limb moves: a hand that holds the rifle in the other one.

    `bend` is the range in radians that the middle joint may be away from straight: out of reach or past the range, the limb
    points at the target. `stretch` lets it lengthen up to that factor to reach. `weight` mixes; the tip keeps the way
    it faces when `keep_rotation`.

    With a `window` of the clips, as `WarpTo` has it, it reaches for the target in that time only: from nothing where the
    window begins to all of it where it ends, and lets go in the `release` seconds after that."""

    source: AnyNode
    tip: str
    target: Vector
    pole: Vector | None = None
    weight: Value = 1.0
    bend: tuple[float, float] = (0.0, math.pi)
    stretch: float = 1.0
    keep_rotation: bool = True
    mid: str | None = None
    upper: str | None = None
    space: str = "character"
    window: str | tuple[Value, Value] | None = None
    release: float = 0.2

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        if self.space not in ("world", "character"):
            requirements.joints(self.space)
        if self.window is not None:
            requirements.events.update(window_events(self.window))
        requirements.chain(self.upper or f"{self.tip} (upper)", self.mid or f"{self.tip} (mid)", self.tip)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        upper, mid, tip = self._joints(c, path)
        low, high = (angle(f"{path}.bend", v, 0.0, math.pi) for v in self.bend)
        if not low < high:
            raise ValidationError(f"{path}.bend: expected (least, most) radians, got {self.bend}")
        if not 1 <= self.stretch <= 10:
            raise ValidationError(f"{path}.stretch: expected a factor from 1 to 10, got {self.stretch}")
        target = c.builder.vector(self.target, f"{path}.target")
        pole = c.builder.vector(self.pole if self.pole is not None else (0.0, 0.0, 0.0), f"{path}.pole")
        space = target_space(c, self.space, path, (target, False), (pole, True))
        index = c.constants(
            LIMB,
            upper=upper,
            mid=mid,
            tip=tip,
            vectors=c.vectors,
            space=space,
            bend=(low, high),
            stretch=self.stretch,
            keep_rotation=self.keep_rotation,
            has_pole=self.pole is not None,
            spare=bend_direction(c.skeleton, upper, mid, tip),
        )
        share = -1
        if self.window is not None:
            share = reach_column(c, self.window, self.release, at.number, path)
            if self.space == "world":
                c.reaches.append(ReachEntry(path, c.skeleton.names[tip], tuple(target), share))
        return compile_procedural(
            c, at, self.source, self.weight, code=kernel.REACH, index=index, refs=target + pole, share=share
        )

    def _joints(self, c: Compiler, path: str) -> tuple[int, int, int]:
        skeleton = c.skeleton
        tip = c.joint(self.tip, f"{path}.tip")
        above = skeleton.ancestors(tip)
        chosen: list[int] = []
        for field, given, rest in (("mid", self.mid, above), ("upper", self.upper, above[1:])):
            if given is not None:
                chosen.append(c.joint(given, f"{path}.{field}"))
            elif rest:
                chosen.append(rest[0] if field == "mid" else skeleton.ancestors(chosen[0])[0])
            else:
                raise ValidationError(f"{path}.tip: {self.tip!r} has fewer than two joints above it")
        mid, upper = chosen
        if mid not in above or upper not in skeleton.ancestors(mid):
            raise ValidationError(f"{path}: expected upper above mid above tip in the skeleton")
        return upper, mid, tip


def bend_direction(skeleton: Skeleton, upper: int, mid: int, tip: int) -> list[float]:
    """The way a limb bends in the rest pose, in the frame of its upper joint: elbow off the line from end to end."""
    rest = skeleton.rest_model.astype(np.float64)
    a, b, t = rest[upper, :, 3], rest[mid, :, 3], rest[tip, :, 3]
    line = t - a
    bow = (b - a) - line * (float(dot(b - a, line)) / max(float(dot(line, line)), 1e-12))
    if dot(bow, bow) < 1e-8 * dot(b - a, b - a):
        # Straight as built: legs bend forward, and that is as good a guess as any.
        bow = ahead_of(skeleton)
    _, rotation, _ = transform.decompose(rest[upper])
    own = quaternion.rotate(quaternion.conjugate(rotation), bow)
    size = float(np.sqrt(dot(own, own)))
    # A joint that is scaled to nothing has no frame.
    return [float(v) for v in own / size] if size > 0 and np.isfinite(own).all() else [0.0, 0.0, 1.0]
