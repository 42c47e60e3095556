"""Whether a body stands in a T-pose at rest, and a body of the same proportions that does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Pose, Skeleton

__all__ = ["stands_in_t", "t_posed"]

Array = NDArray[Any]
NEAR = np.cos(np.radians(12.0))
_LEFT, _RIGHT, _DOWN = np.array([1.0, 0, 0]), np.array([-1.0, 0, 0]), np.array([0, -1.0, 0])
_STRAIGHT = tuple(
    (f"{side}{a}", f"{side}{b}", way)
    for side, out in (("left", _LEFT), ("right", _RIGHT))
    for a, b, way in (
        ("UpperArm", "LowerArm", out), ("LowerArm", "Hand", out),
        ("UpperLeg", "LowerLeg", _DOWN), ("LowerLeg", "Foot", _DOWN),
    )
)  # fmt: skip


def _places(skeleton: Skeleton) -> Array:
    return np.asarray(skeleton.to_model(skeleton.rest), np.float64)[:, :, 3]


def _unit(v: Array) -> Array:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))


def stands_in_t(skeleton: Skeleton, bones: Mapping[str, int]) -> bool:
    """Whether the arms point to the sides and the legs down, the body looking along +Z."""
    places = _places(skeleton)
    return all(
        float(_unit(places[bones[b]] - places[bones[a]]) @ way) >= NEAR
        for a, b, way in _STRAIGHT
        if a in bones and b in bones
    )


def t_posed(skeleton: Skeleton) -> Skeleton:
    """The bones of a body (`skeleton.humanoid`) as a skeleton in T-pose, without rotations, looking along +Z."""
    bones = dict(skeleton.humanoid)
    joints = sorted(set(bones.values()))
    above = [next((a for a in skeleton.ancestors(j) if a in set(joints)), -1) for j in joints]
    places = _places(skeleton)
    left = places[bones["leftUpperLeg"]] - places[bones["rightUpperLeg"]]
    left[1] = 0.0
    left = _unit(left) if np.linalg.norm(left) > 1e-6 else _LEFT
    turn = np.stack([left, [0.0, 1.0, 0.0], np.cross(left, [0.0, 1.0, 0.0])])
    places = places @ turn.T
    straight = {bones[a]: (bones[b], way) for a, b, way in _STRAIGHT if a in bones and b in bones}
    swing = {-1: np.array([0.0, 0.0, 0.0, 1.0])}
    translation = np.zeros((len(joints), 3))
    for i, (j, parent) in enumerate(zip(joints, above)):
        way = places[j] - (places[parent] if parent >= 0 else 0.0)
        translation[i] = quaternion.rotate(swing[parent], way)
        if j in straight:
            end, wanted = straight[j]
            now = quaternion.rotate(swing[parent], _unit(places[end] - places[j]))
            swing[j] = quaternion.multiply(_arc(now, wanted), swing[parent])
        else:
            swing[j] = swing[parent]
    count = len(joints)
    rest = Pose(
        translation.astype(np.float32),
        np.tile(np.array([0, 0, 0, 1], np.float32), (count, 1)),
        np.ones((count, 3), np.float32),
        np.zeros(0, np.float32),
    )
    parents = np.array([joints.index(a) if a >= 0 else -1 for a in above], np.int32)
    names = tuple(skeleton.names[j] for j in joints)
    return Skeleton(names, parents, rest, bones={bone: joints.index(j) for bone, j in bones.items()})


def _arc(start: Array, end: Array) -> Array:
    """The shortest rotation from one direction to another."""
    w = 1.0 + float(start @ end)
    if w < 1e-9:
        return np.array([0.0, 0.0, 1.0, 0.0])
    return np.asarray(quaternion.normalize(np.array([*np.cross(start, end), w])))
