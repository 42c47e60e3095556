"""How the limbs of two bodies are aligned at rest: for every joint of the target's arms and legs the turn that brings its
bone to the source's. Arms and legs go by the directions of their bones, upper arms also by the way elbows bend, hands by
where their fingers start, feet by where they point."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Skeleton
from marrow.motion.bone_map import BoneMap
from marrow.motion.posture import Posture, level_frame
from marrow.motion.rig import FINGERS, SIDES, find_rig

__all__ = ["hinge", "limb_turns", "unit"]

Array = NDArray[Any]
BENT, UNLIKELY = float(np.sin(np.radians(6.0))), float(np.radians(45.0))
"""An elbow bent by more than the first at rest shows the way it bends; one rolled by less than the second against the usual
does not show that it is."""


def unit(v: Array) -> Array:
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-12 else v


def _tip(skeleton: Skeleton, place: Array, joint: int) -> int:
    """The furthest child of a joint, -1 where there is none."""
    children = skeleton.children(joint)
    return max(children, key=lambda c: float(np.linalg.norm(place[c] - place[joint])), default=-1)


def limb_turns(bones: BoneMap, source: Posture, target: Posture, bodies: Array) -> dict[int, Array]:
    """For joints of limbs, the turn in the source's model space that brings the target's bone to the source's."""
    out: dict[int, Array] = {}

    def seen(d: Array) -> Array:
        return quaternion.rotate(bodies, d)

    def aim(joint: int, before: Array, theirs: Array, mine: Array) -> Array:
        turn = before
        if np.linalg.norm(theirs) > 1e-9 and np.linalg.norm(mine) > 1e-9:
            turn = quaternion.multiply(
                quaternion.between(quaternion.rotate(before, seen(theirs)), mine), before
            )
        out[joint] = turn
        return turn

    still = quaternion.identity(dtype=np.float64)
    for side in SIDES:
        for limb in ("arm", "leg"):
            name = f"{side}_{limb}"
            if name not in bones:
                continue
            s, t = bones[name].source, bones[name].target
            turn = still
            for k in range(min(2, len(s), len(t))):
                mine = _bone(bones.source, source, _both(bones, limb, side, 0), k)
                theirs = _bone(bones.target, target, _both(bones, limb, side, 1), k)
                turn = aim(t[k], turn, theirs, mine)
                if limb == "arm" and k == 0 and min(len(s), len(t)) > 2:
                    turn = out[t[0]] = _rolled(turn, mine, hinge(source, s), hinge(target, t), seen)
            if min(len(s), len(t)) < 3:
                continue
            if limb == "arm":
                hand = _hand(bones, source, target, side, s[2], t[2], turn, seen)
                if (name, 1) not in find_rig(bones.target).twists.values():
                    out[t[1]] = _half_way(turn, hand, source.place[s[2]] - source.place[s[1]])
                out[t[2]] = hand
                for finger in FINGERS:
                    _finger(bones, source, target, f"{side}_{finger}", hand, aim, out)
            else:
                _foot(bones, source, target, side, s[2], t[2], turn, bodies, out)
    return out


def _both(bones: BoneMap, limb: str, side: str, which: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The joints of a limb and of its partner, in the source (0) or the target (1)."""
    names = f"{side}_{limb}", f"{'right' if side == 'left' else 'left'}_{limb}"
    chains = [(bones[n].source, bones[n].target)[which] if n in bones else () for n in names]
    return chains[0], chains[1]


def _bone(
    skeleton: Skeleton, posture: Posture, limbs: tuple[tuple[int, ...], tuple[int, ...]], k: int
) -> Array:
    """The k-th bone of a limb: to its next joint, else to what hangs from it, else as the other side's, mirrored; zero
    where nothing says it."""
    limb, other = limbs
    place = posture.place
    end = limb[k + 1] if k + 1 < len(limb) else _tip(skeleton, place, limb[k])
    if end >= 0:
        return np.asarray(place[end] - place[limb[k]])
    if k + 1 < len(other):
        across, way = posture.frame[:, 0], place[other[k + 1]] - place[other[k]]
        return np.asarray(way - 2 * across * (way @ across))
    return np.zeros(3)


def hinge(posture: Posture, limb: tuple[int, ...], *, knee: bool = False) -> tuple[Array, bool]:
    """The axis an elbow or a knee bends about, and whether the posture shows it: where the limb rests straight, forearms
    bend forwards and shins backwards."""
    upper, lower = (unit(posture.place[b] - posture.place[a]) for a, b in pairwise(limb[:3]))
    axis = np.cross(upper, lower)
    if np.linalg.norm(axis) > BENT:
        return unit(axis), True
    return unit(np.cross(upper, posture.frame[:, 2] * (-1 if knee else 1))), False


def _rolled(
    turn: Array, along: Array, mine: tuple[Array, bool], theirs: tuple[Array, bool], seen: Any
) -> Array:
    """`turn` with as much roll about the upper arm as makes both elbows bend the same way (a rest pose with palms forward
    has its arms rolled). Where only one of them shows its way, a small difference says nothing."""
    axis = unit(along)
    wanted, found = mine[0], quaternion.rotate(turn, seen(theirs[0]))
    angle = float(
        np.arctan2(np.cross(found, wanted) @ axis, found @ wanted - (found @ axis) * (wanted @ axis))
    )
    if not (mine[1] and theirs[1]) and (not (mine[1] or theirs[1]) or abs(angle) < UNLIKELY):
        return turn
    return quaternion.multiply(quaternion.from_axis_angle(axis, angle), turn)


def _half_way(lower: Array, hand: Array, along: Array) -> Array:
    """A forearm without twist joints takes half of what its hand is rolled against it at rest."""
    axis = unit(along)
    between = quaternion.multiply(hand, quaternion.conjugate(lower))
    angle = 2 * np.arctan2(between[:3] @ axis, between[3])
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return quaternion.multiply(quaternion.from_axis_angle(axis, float(angle) / 2), lower)


def _hand(
    bones: BoneMap, source: Posture, target: Posture, side: str, s: int, t: int, turn: Array, seen: Any
) -> Array:
    """Hands by where their fingers start: the middle of them gives the direction, their row the palm."""
    rows = [f for f in FINGERS[1:] if f"{side}_{f}" in bones]
    if not rows:
        return turn
    mine = np.array([source.place[bones[f"{side}_{f}"].source[0]] - source.place[s] for f in rows])
    theirs = np.array([target.place[bones[f"{side}_{f}"].target[0]] - target.place[t] for f in rows])
    if min(np.linalg.norm(mine.mean(0)), np.linalg.norm(theirs.mean(0))) < 1e-9:
        return turn
    d_s, d_t = unit(mine.mean(0)), quaternion.rotate(turn, seen(unit(theirs.mean(0))))
    turn = quaternion.multiply(quaternion.between(d_t, d_s), turn)
    if len(rows) < 2:
        return turn
    across_s = mine[0] - mine[-1]
    across_t = quaternion.rotate(turn, seen(theirs[0] - theirs[-1]))
    flat_s, flat_t = across_s - d_s * (across_s @ d_s), across_t - d_s * (across_t @ d_s)
    if min(np.linalg.norm(flat_s), np.linalg.norm(flat_t)) < 1e-6:
        return turn
    angle = np.arctan2(np.cross(flat_t, flat_s) @ d_s, flat_t @ flat_s)
    return quaternion.multiply(quaternion.from_axis_angle(d_s, float(angle)), turn)


def _finger(
    bones: BoneMap, source: Posture, target: Posture, name: str, turn: Array, aim: Any, out: dict[int, Array]
) -> None:
    if name not in bones:
        return
    s, t = bones[name].source, bones[name].target
    if len(s) != len(t):
        for joint in t:
            out[joint] = turn
        return
    for k in range(len(s)):
        a = s[k + 1] if k + 1 < len(s) else _tip(bones.source, source.place, s[k])
        b = t[k + 1] if k + 1 < len(t) else _tip(bones.target, target.place, t[k])
        if a < 0 or b < 0:
            out[t[k]] = turn
        else:
            turn = aim(t[k], turn, target.place[b] - target.place[t[k]], source.place[a] - source.place[s[k]])


def _apart(posture: Posture, a: int, b: int) -> bool:
    return float(np.linalg.norm(posture.place[a] - posture.place[b])) > 1e-9


def _foot(
    bones: BoneMap, source: Posture, target: Posture, side: str, s: int, t: int, turn: Array, bodies: Array,
    out: dict[int, Array],
) -> None:  # fmt: skip
    """Feet of two bodies that stand are flat on the ground: only where they point is aligned. A foot caught in motion is
    aligned by its bone."""
    toes = f"{side}_toes"
    a = bones[toes].source[0] if toes in bones else _tip(bones.source, source.place, s)
    b = bones[toes].target[0] if toes in bones else _tip(bones.target, target.place, t)
    joints = [t, *(bones[toes].target if toes in bones else ())]
    flat = source.flat and target.flat
    if flat:
        # The ground is level, however their trunks lean.
        upright = quaternion.from_matrix(level_frame(source.frame) @ level_frame(target.frame).T)
        turn = quaternion.multiply(upright, quaternion.conjugate(bodies))
    if a >= 0 and b >= 0 and _apart(source, a, s) and _apart(target, b, t):
        mine = source.place[a] - source.place[s]
        theirs = quaternion.rotate(quaternion.multiply(turn, bodies), target.place[b] - target.place[t])
        if not flat:
            turn = quaternion.multiply(quaternion.between(theirs, mine), turn)
        else:
            up = level_frame(source.frame)[:, 1]
            mine, theirs = mine - up * (mine @ up), theirs - up * (theirs @ up)
            if min(np.linalg.norm(mine), np.linalg.norm(theirs)) > 1e-6:
                angle = np.arctan2(np.cross(theirs, mine) @ up, theirs @ mine)
                turn = quaternion.multiply(quaternion.from_axis_angle(up, float(angle)), turn)
    for joint in joints:
        out[joint] = turn
