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
from marrow.graph.tables import Part, Place
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.legs import LEG_SET, LEG_STATE, LEG_VECTORS
from marrow.math import quaternion, transform
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["GROUND", "HOLD", "SOME_FOOT", "STRIDE", "Legs", "compile_legs", "find_legs", "sole_points"]

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

        chains = find_rig(skeleton).chains
        for name, chain in chains.items():
            if name.endswith("_leg") and len(chain) >= 3:
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


def sole_points(skeleton: Skeleton, tip: int) -> tuple[Array, Array, float]:
    """Heel and ball of a foot in the frame of its joint, from the rest pose: on the sole below the joint, and where
    its foremost child is (the toes bend there); and how high that is over the sole. The same point where there is no
    such child."""
    rest = skeleton.rest_model.astype(np.float64)
    place = rest[tip, :, 3]
    children = skeleton.children(tip)
    toe = place
    if children:
        toe = rest[
            max(children, key=lambda j: float(np.linalg.norm(rest[j, [0, 2], 3] - place[[0, 2]]))), :, 3
        ]
    floor = min(0.0, float(toe[1])) if place[1] >= 0 else float(min(place[1], toe[1]))
    _, rotation, _ = transform.decompose(rest[tip])
    back = quaternion.conjugate(rotation)
    heel = np.array([place[0], floor, place[2]]) - place
    ball = toe - place if children else heel
    return quaternion.rotate(back, heel), quaternion.rotate(back, ball), float(place[1] + ball[1]) - floor


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
    radius: float = 0.0,
    let_go: float = 0.0,
    slow: float = 0.0,
    low: float = 0.0,
    most_turn: float = 0.0,
    most_step: float = 0.0,
    settle: float = 0.0,
    most_tilt: float = 0.0,
    most_drop: float = 0.0,
    **travel: Any,
) -> Part:
    """A node that moves the feet of `source`: see `kernels.operations.legs` for what the numbers mean."""
    path = at.path
    if not 1 <= stretch <= 2:
        raise ValidationError(f"{path}.stretch: expected a factor from 1 to 2, got {stretch}")
    count = len(legs.joints)
    keeps = what & (HOLD | GROUND)
    memory, header = (c.keep_state(1 + 2 * LEG_STATE * count), c.header()) if keeps else (-1, 0)
    constant = c.builder.value
    refs = stride or [constant(v, path) for v in (1.0, 0.0, 1.0)]
    for k in range(count):
        down = contacts[k] if contacts else constant(0.0, path)
        refs = [*refs, down, *(constant(v, path) for v in (0.0, 0.0, 1.0, 0.0))]
    soles = [sole_points(c.skeleton, tip) for tip in legs.tips]
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
        most_tilt=most_tilt,
        most_drop=most_drop,
        upper=upper,
        mid=mid,
        tip=tip,
        spare=[bend_direction(c.skeleton, *joints) for joints in legs.joints],
        heel=[s[0] for s in soles],
        ball=[s[1] for s in soles],
        rest=[s[2] for s in soles],
        over=[over_root(c.skeleton, j) for j in upper],
    )
    assert len(refs) == 3 + LEG_VECTORS * count
    return compile_procedural(c, at, source, weight, code=kernel.LEGS, index=index, refs=refs, **travel)
