"""What nodes share that put feet somewhere: which joints are legs, what a sole is, and the one operation that moves
them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Value
from marrow.graph.nodes.procedural import compile_procedural
from marrow.graph.nodes.two_bone_ik import bend_direction
from marrow.graph.soles import find_sole, sole_points
from marrow.graph.tables import Part, Place
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.footholds import NO_GROUND, PROBES
from marrow.kernels.operations.legs import BODY_STATE, LEG_SET, LEG_STATE, LEG_VECTORS
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = [
    "GROUND",
    "HOLD",
    "SOME_FOOT",
    "STRIDE",
    "Legs",
    "compile_legs",
    "find_legs",
    "find_spine",
    "has_legs_ahead",
]

Array = NDArray[Any]
STRIDE, HOLD, GROUND = 1, 2, 4
SOME_FOOT = "a foot"
"""What placeholders have where a graph names no feet."""


@dataclass(frozen=True)
class Legs:
    """The joints of legs, upper, mid and tip of each, and the joint that carries them (-1: none)."""

    joints: tuple[tuple[int, int, int], ...]
    pelvis: int

    @property
    def tips(self) -> tuple[int, ...]:
        return tuple(tip for _, _, tip in self.joints)


def find_legs(c: Compiler, feet: Names, pelvis: str | None, path: str) -> Legs:
    """The legs that end in `feet`: each two joints above. Without feet, those of the body that the skeleton has."""
    skeleton = c.skeleton
    if len(set(feet)) != len(feet):
        raise ValidationError(f"{path}.feet: expected joints, each once, got {feet}")
    found: list[tuple[int, int, int]] = []
    if not feet and c.standalone:
        feet = (SOME_FOOT,)
    if not feet:
        from marrow.motion.rig import find_rig

        rig = find_rig(skeleton)
        limbs = ("_leg", "_arm") if rig.kind == "quadruped" else ("_leg",)
        for name, chain in rig.chains.items():
            if name.endswith(limbs) and len(chain) >= 3:
                found.append((chain[0], chain[1], chain[2]))
        if not found:
            raise ValidationError(
                f"{path}.feet: the skeleton has no legs that go by their names: name its feet"
            )
    for name in feet:
        tip = c.joint(name, f"{path}.feet")
        above = skeleton.ancestors(tip)
        if len(above) < 2:
            raise ValidationError(f"{path}.feet: {name!r} has fewer than two joints above it")
        found.append((above[1], above[0], tip))
    if pelvis is not None:
        carrier = c.joint(pelvis, f"{path}.pelvis")
        for upper, _, _ in found:
            if carrier not in skeleton.ancestors(upper):
                raise ValidationError(f"{path}.pelvis: {pelvis!r} must be above {skeleton.names[upper]!r}")
        return Legs(tuple(found), carrier)
    shared = [set(skeleton.ancestors(upper)) for upper, _, _ in found]
    common = [j for j in skeleton.ancestors(found[0][0]) if all(j in s for s in shared)]
    return Legs(tuple(found), common[0] if common else -1)


def find_spine(c: Compiler, legs: Legs) -> int:
    """The joint that carries the upper body of who walks upright: below the pelvis, above no leg. -1: none."""
    skeleton = c.skeleton
    if legs.pelvis < 0 or len(legs.joints) != 2:
        return -1
    legged = {j for upper, _, _ in legs.joints for j in (upper, *skeleton.ancestors(upper))}
    high = skeleton.rest_model[:, 1, 3]
    found = [
        j
        for j in skeleton.children(legs.pelvis)
        if j not in legged
        and high[[j, *skeleton.descendants(j).tolist()]].max() > high[legs.pelvis] + 0.2 * high.max()
    ]
    return int(found[0]) if len(found) == 1 else -1


def has_legs_ahead(c: Compiler, legs: Legs) -> bool:
    """Whether some legs are ahead of others, as on four-legged bodies: these pitch with the ground."""
    places = np.array([c.skeleton.rest_model[upper, :, 3] for upper, _, _ in legs.joints])
    return legs.pelvis >= 0 and bool(np.ptp(places[:, 2]) > 0.3 * abs(float(places[:, 1].mean())))


def are_apart(skeleton: Skeleton, legs: Legs, spine: int) -> bool:
    """Whether no leg hangs on another or on the spine, and all on the pelvis."""
    chains = [{tip, *skeleton.ancestors(tip)} for tip in legs.tips]
    return all(
        (legs.pelvis < 0 or legs.pelvis in skeleton.ancestors(joints[0]))
        and spine not in chain
        and not any(chain & set(other) for k, other in enumerate(legs.joints) if k != i)
        for i, (joints, chain) in enumerate(zip(legs.joints, chains))
    )


def over_root(skeleton: Skeleton, joint: int) -> list[float]:
    """Where a joint rests over its root, x and z."""
    root = skeleton.ancestors(joint)[-1] if skeleton.ancestors(joint) else joint
    away = skeleton.rest_model[joint, :, 3] - skeleton.rest_model[root, :, 3]
    return [float(away[0]), float(away[2])]


def compile_legs(
    c: Compiler,
    at: Place,
    source: AnyNode,
    weight: Value,
    legs: Legs,
    what: int,
    *,
    stretch: float,
    stride: list[int] | None = None,
    contacts: list[int] | None = None,
    landings: list[tuple[int, int, int]] | None = None,
    radius: float = 0.0,
    let_go: float = 0.0,
    slow: float = 0.0,
    low: float = 0.0,
    most_turn: float = 0.0,
    most_step: float = 0.0,
    settle: float = 0.0,
    steepest: float = 0.0,
    most_drop: float = 0.0,
    ease: float = 0.0,
    lean: float = 0.0,
    spine: int = -1,
    pitches: bool = False,
    **travel: Any,
) -> Part:
    """A node that moves the feet of `source`: see `kernels.operations.legs` for what the numbers mean."""
    path = at.path
    if not 1 <= stretch <= 2:
        raise ValidationError(f"{path}.stretch: expected a factor from 1 to 2, got {stretch}")
    count = len(legs.joints)
    keeps = what & (HOLD | GROUND)
    memory, header = (
        (c.keep_state(1 + 2 * (LEG_STATE * count + BODY_STATE)), c.header()) if keeps else (-1, 0)
    )
    constant = c.builder.value
    refs = stride or [constant(v, path) for v in (1.0, 0.0, 1.0)]
    for k in range(count):
        down = contacts[k] if contacts else constant(0.0, path)
        lands = landings[k] if landings else [constant(0.0, path)] * 3
        refs = [*refs, down, *lands, *[constant(NO_GROUND, path)] * PROBES]
    points = [sole_points(c.skeleton, tip) for tip in legs.tips]
    soles = [find_sole(c.character, tip) for tip in legs.tips]
    upper, mid, tip = zip(*legs.joints)
    index = c.constants(
        LEG_SET,
        count=count,
        pelvis=legs.pelvis,
        vectors=c.vectors,
        memory=memory,
        header=header,
        what=what,
        stretch=stretch,
        radius=radius,
        let_go=let_go,
        slow=slow,
        low=low,
        most_turn=most_turn,
        most_step=most_step,
        settle=settle,
        steepest=steepest,
        most_drop=most_drop,
        ease=ease,
        lean=lean,
        spine=spine,
        pitches=pitches,
        apart=are_apart(c.skeleton, legs, spine),
        upper=upper,
        mid=mid,
        tip=tip,
        spare=[bend_direction(c.skeleton, *joints) for joints in legs.joints],
        heel=[p[0] for p in points],
        # The ground is asked for around the ball of the sole: without toes that is no joint, but the middle of it.
        ball=[s.ball if s.toes == tip else p[1] for p, s, tip in zip(points, soles, legs.tips)],
        rest=[p[2] for p in points],
        over=[over_root(c.skeleton, j) for j in upper],
        forward=[s.forward for s in soles],
        sole=[s.along for s in soles],
        wide=[s.wide for s in soles],
        back=[s.back for s in soles],
        toes=[s.toes for s in soles],
        front=[s.front for s in soles],
    )
    assert len(refs) == 3 + LEG_VECTORS * count
    return compile_procedural(c, at, source, weight, code=kernel.LEGS, index=index, refs=refs, **travel)
