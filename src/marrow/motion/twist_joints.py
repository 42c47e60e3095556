"""Twist joints: a bone's turning about its own length, shared out along it.

The turning of a hand against its forearm grows along the forearm: a joint halfway gets half of it. That of an upper arm
against the shoulder is taken back towards the shoulder. Joints beside a bone (Unreal's `lowerarm_twist_01`) only follow;
joints inside it (Rigify's `upper_arm.L.001`) are turned, and what hangs from them is turned back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.math.elementary import arctan2, dot
from marrow.model import Skeleton
from marrow.motion.tree import path_down

__all__ = ["twist_rotations"]

Array = NDArray[Any]


def twist_rotations(
    target: Skeleton,
    chains: Mapping[str, tuple[int, ...]],
    twists: Mapping[int, tuple[str, int]],
    known: Mapping[int, Array],
    *,
    apart: bool = False,
    inside: bool = False,
) -> dict[int, Array]:
    """The turns `(T, 4)` of twist joints, and of the joints that are turned back for them. `apart`: they are of T bodies,
    not of one over time; `inside`: only those that limbs hang on."""
    out: dict[int, Array] = {}
    for part, k in dict.fromkeys(twists.values()):
        chain = chains.get(part, ())
        if len(chain) < 3:
            continue
        bone, following = chain[k], chain[k + 1]
        between = path_down(target, bone, following)[:-1]
        now = {**known, **out}
        if between:
            out |= _inside(target, bone, between, following, k, now, apart)
        if between or inside:
            continue
        for j in (j for j, where in twists.items() if where == (part, k)):
            if int(target.parents[j]) == bone and j not in known:
                out |= _beside(target, j, bone, following, k, now, apart)
    return out


def _axis(target: Skeleton, joint: int) -> tuple[Array, float]:
    """Where a joint is from its parent: direction and length."""
    offset = np.asarray(target.rest.translation[joint], np.float64)
    length = float(np.linalg.norm(offset))
    return (offset / length if length > 1e-9 else offset), length


def _rest(target: Skeleton, joint: int) -> Array:
    return quaternion.normalize(np.asarray(target.rest.rotation[joint], np.float64))


def _turning(
    target: Skeleton, bone: int, following: int, k: int, axis: Array, known: Mapping[int, Array], apart: bool
) -> Array:
    """The angle `(T,)` to be shared: that of the following joint against the bone (k 1), or of the bone itself (k 0)."""
    if k == 1:
        turned = quaternion.multiply(known[following], quaternion.conjugate(_rest(target, following)))
    else:
        turned = quaternion.multiply(quaternion.conjugate(_rest(target, bone)), known[bone])
    side, along = dot(turned[:, :3], axis), turned[:, 3]
    angle = 2 * (arctan2(side, along) if apart else np.arctan2(side, along))
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    # Near half a turn the short way may change from frame to frame: follow it instead of jumping.
    return angle if apart else np.unwrap(angle)


def _beside(
    target: Skeleton, j: int, bone: int, following: int, k: int, known: Mapping[int, Array], apart: bool
) -> dict[int, Array]:
    axis, length = _axis(target, following)
    if length < 1e-9 or (following if k == 1 else bone) not in known:
        return {}
    share = float(np.clip(np.asarray(target.rest.translation[j], np.float64) @ axis / length, 0.0, 1.0))
    angle = _turning(target, bone, following, k, axis, known, apart) * (share if k == 1 else share - 1.0)
    return {
        j: quaternion.multiply(quaternion.from_axis_angle(axis, angle), _rest(target, j)).astype(np.float32)
    }


def _inside(
    target: Skeleton,
    bone: int,
    inside: list[int],
    following: int,
    k: int,
    known: Mapping[int, Array],
    apart: bool,
) -> dict[int, Array]:
    steps = [_axis(target, j) for j in (*inside, following)]
    total = sum(length for _, length in steps)
    if total < 1e-9 or bone not in known or following not in known or any(j in known for j in inside):
        return {}
    axis = steps[0][0]
    out: dict[int, Array] = {}
    if k == 1:
        last = steps[-1][0]
        angle = _turning(target, bone, following, k, last, known, apart)
    else:
        angle = _turning(target, bone, following, k, axis, known, apart)
        out[bone] = quaternion.multiply(known[bone], quaternion.from_axis_angle(axis, -angle))
    share = 0.0
    for n, j in enumerate(inside):
        step = steps[n][1] / total
        along = steps[n + 1][0]  # in its own frame the bone goes on towards the next
        out[j] = quaternion.multiply(_rest(target, j), quaternion.from_axis_angle(along, angle * step))
        share += step
    back = angle * (-share if k == 1 else 1.0 - share)
    out[following] = quaternion.multiply(quaternion.from_axis_angle(steps[-1][0], back), known[following])
    return {j: values.astype(np.float32) for j, values in out.items()}
