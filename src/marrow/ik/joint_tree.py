"""The joints a solver works on: a tree of its own, without what no effector hangs on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.ik.effector import Effector
from marrow.kernels.ik.work import LIMITED, MOVES, TURNS
from marrow.model import Skeleton

__all__ = ["JointTree", "joint_tree", "limb_of"]

Array = NDArray[Any]
_LIMBS = {
    f"{side}{end}": (f"{side}{first}", f"{side}{mid}")
    for side in ("left", "right")
    for first, mid, end in (("UpperArm", "LowerArm", "Hand"), ("UpperLeg", "LowerLeg", "Foot"))
}


@dataclass(frozen=True)
class JointTree:
    """Nodes of a solver: 0 is the model space, the others are `joints` of the skeleton, parents first."""

    joints: Array
    parents: Array
    flags: Array
    node: Mapping[int, int]
    """The node of each joint that has one."""
    size: float
    """The body's size in metres: from where it moves to the furthest effector."""
    bones: float
    """The lengths of all bones but that of the joint which moves, together, in metres."""


def hips_of(skeleton: Skeleton, tips: Sequence[int]) -> int:
    """The joint that carries a body: its hips where it has some above all effectors, else the root of all."""
    paths = [[t, *skeleton.ancestors(t)] for t in tips]
    shared = [j for j in paths[0] if all(j in path for path in paths)] if paths else []
    hips = skeleton.humanoid.get("hips", -1)
    if hips in shared or not shared:
        return hips
    return shared[-1]


def joint_tree(
    skeleton: Skeleton,
    tips: Iterable[int],
    free: Iterable[int],
    mover: int,
    limited: Iterable[int],
    *,
    centred: int,
) -> JointTree:
    """The nodes from the roots to all `tips`; `free` joints turn, `mover` moves (-1: none), places are counted from
    where `centred` is."""
    used: set[int] = set()
    for tip in tips:
        used.update((tip, *skeleton.ancestors(tip)))
    joints = sorted(used)
    node = {j: i for i, j in enumerate(joints, 1)}
    parents = [0] + [node[p] if (p := int(skeleton.parents[j])) >= 0 else 0 for j in joints]
    free, limited = set(free), set(limited)
    flags = [0] + [
        TURNS * (j in free) | MOVES * (j == mover) | LIMITED * (j in free and j in limited) for j in joints
    ]
    place = skeleton.rest_model[:, :, 3].astype(np.float64)
    centre = place[mover] if mover >= 0 else place[joints[0]]
    size = float(np.linalg.norm(place[joints] - centre, axis=-1).max(initial=0.0))
    above = skeleton.parents[joints]
    ways = np.where((above < 0)[:, None], 0.0, place[joints] - place[above])
    bones = np.linalg.norm(ways, axis=-1)[[j != centred for j in joints]].sum()
    return JointTree(
        np.array([-1, *joints], np.int32), np.array(parents, np.int32), np.array(flags, np.int32), node,
        size if np.isfinite(size) and size > 1e-9 else 1.0, float(bones) if np.isfinite(bones) else 0.0,
    )  # fmt: skip


def limb_of(skeleton: Skeleton, effector: Effector, tip: int) -> tuple[int, int] | None:
    """The first and the middle joint of an effector's limb; None where it has none."""
    above = skeleton.ancestors(tip)
    if effector.limb is not None:
        first, mid = (skeleton.index(j) for j in effector.limb)
        if mid not in above or first not in skeleton.ancestors(mid):
            raise ValidationError(
                f"Effector({effector.joint!r}).limb: expected joints above it, the first above the middle; "
                f"got {effector.limb}"
            )
        return first, mid
    bones = skeleton.humanoid
    for end, (upper, lower) in _LIMBS.items():
        if bones.get(end) == tip and bones.get(upper) in above and bones.get(lower) in above:
            return bones[upper], bones[lower]
    return (above[1], above[0]) if len(above) > 1 else None
