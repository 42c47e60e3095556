"""How the joints of two bodies stand to each other: for every mapped joint of the target the fixed turn `C` with

    R_target(t) = G  R_source(t)  C

in model space, where `G` turns the source's world into the target's. `C` is chosen so that both bodies, in their reference
postures, would look the same: trunks by their body frames; arms, legs, hands and fingers by the directions of their bones
(that is what aligns T- and A-poses); feet by where they point, since both stand flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Skeleton
from marrow.motion.mapping import BoneMap
from marrow.motion.posture import Posture, level_frame
from marrow.motion.rig import FINGERS, SIDES, find_rig

__all__ = ["Driver", "drivers", "hinge", "shares_frames", "unit", "world_turn"]

Array = NDArray[Any]
BENT, UNLIKELY = float(np.sin(np.radians(6.0))), float(np.radians(45.0))
"""An elbow bent by more than the first at rest shows the way it bends; one rolled by less than the second against the usual
does not show that it is."""


@dataclass(frozen=True, slots=True)
class Driver:
    """What turns a joint of the target: the source joint `a`, or a share `w` of the way from `a` to `b` below it, both
    measured from the reference posture; then the fixed turn `C (4,)`. `a` is -1 for the world itself."""

    a: int
    b: int
    w: float
    turn: Array


def unit(v: Array) -> Array:
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-12 else v


def world_turn(source: Posture, target: Posture, motion_up: Array | None = None) -> Array:
    """The turn `G (4,)` from the source's world to the target's: about the vertical, by quarter turns, so that both rest
    facing the same way. A source that rests and moves lying on an axis was made for another up axis and is set upright.
    `motion_up` is the mean direction of its spine while it moves."""
    up, forward = source.frame[:, 1], source.frame[:, 2]
    axis = _snap(up)
    lying = abs(axis[1]) < 0.5 and motion_up is not None and float(unit(motion_up) @ axis) > 0.8
    if not lying:
        # A rest pose that is no stance says where a body faces only if it is upright all the same.
        if min(_upright(source), _upright(target)) < 0.5:
            return quaternion.identity(dtype=np.float64)
        return _yaw(_snap_level(target.frame[:, 2]), _snap_level(forward))
    across = _snap(forward - axis * (forward @ axis))
    own = np.stack([np.cross(axis, across), axis, across], axis=1)
    front = _snap_level(target.frame[:, 2]) if target.frame[1, 1] > 0.5 else np.array([0.0, 0.0, 1.0])
    theirs = np.stack([np.cross([0.0, 1.0, 0.0], front), [0.0, 1.0, 0.0], front], axis=1)
    return quaternion.from_matrix(theirs @ own.T)


def _upright(posture: Posture) -> float:
    """How far a posture stands upright, 0 to 1; one that is no stance must do so clearly."""
    rise = float(posture.frame[1, 1])
    return rise if posture.stance or rise > 0.9 else 0.0


def _snap(v: Array) -> Array:
    out = np.zeros(3)
    k = int(np.argmax(np.abs(v)))
    out[k] = 1.0 if v[k] > 0 else -1.0
    return out


def _snap_level(v: Array) -> Array:
    return _snap(np.array([v[0], 0.0, v[2]]))


def _yaw(to: Array, of: Array) -> Array:
    angle = np.arctan2(to[0], to[2]) - np.arctan2(of[0], of[2])
    return quaternion.from_axis_angle([0.0, 1.0, 0.0], float(angle))


def drivers(
    bones: BoneMap, source: Posture, target: Posture, world: Array, *, shared: bool
) -> dict[int, Driver]:
    """The driver of every mapped joint of the target. `shared`: the joints' own axes agree, so nothing needs aligning."""
    bodies = quaternion.from_matrix(source.frame @ target.frame.T)
    aligned = {} if shared else _alignments(bones, source, target, bodies)
    out: dict[int, Driver] = {}
    for chain in bones:
        for t, a, b, w in _along(bones, chain.source, chain.target, chain.name, source.place, target.place):
            if chain.name == "root":
                own = quaternion.multiply(quaternion.conjugate(world), target.rotation[t])
            else:
                own = quaternion.multiply(bodies, target.rotation[t])
                if t in aligned:
                    own = quaternion.multiply(aligned[t], own)
            if b < 0:
                turn = quaternion.multiply(quaternion.conjugate(source.rotation[a]), own)
                if shared and chain.name != "root":
                    turn = quaternion.identity(dtype=np.float64)
            else:
                turn = own
            out[t] = Driver(a, b, w, turn)
    return out


def _along(
    bones: BoneMap, mine: tuple[int, ...], theirs: tuple[int, ...], name: str, at: Array, there: Array
) -> list[tuple[int, int, int, float]]:
    """For every joint of a target chain the source joints around its place along the chain: `(t, a, b, w)`; b -1 for a
    single joint."""
    if len(mine) == len(theirs) or name.endswith(("_arm", "_leg")):
        return [
            (t, s, -1, 0.0) for s, t in zip(mine, theirs)
        ]  # an arm without a hand is an upper and a lower arm
    # Chains begin at the joint they hang from: a spine at the hips, a neck at the last spine joint, a finger at the hand.
    above_s, above_t = int(bones.source.parents[mine[0]]), int(bones.target.parents[theirs[0]])
    full_s = [above_s, *mine] if above_s >= 0 else list(mine)
    full_t = [above_t, *theirs] if above_t >= 0 else list(theirs)
    us, ut = _normalised(at, full_s), _normalised(there, full_t)
    out = []
    for t, u in list(zip(full_t, ut))[1 if above_t >= 0 else 0 :]:
        k = (
            int(np.clip(np.searchsorted(us, u, side="right") - 1, 0, len(full_s) - 2))
            if len(full_s) > 1
            else 0
        )
        if len(full_s) == 1 or u >= us[-1] - 1e-6:
            out.append((t, full_s[-1], -1, 0.0))
            continue
        w = float((u - us[k]) / max(us[k + 1] - us[k], 1e-9))
        a, b = full_s[k], full_s[k + 1]
        if w < 1e-3:
            out.append((t, a, -1, 0.0))
        elif w > 1 - 1e-3:
            out.append((t, b, -1, 0.0))
        else:
            out.append((t, a, b, w))
    return out


def _normalised(at: Array, joints: list[int]) -> Array:
    steps = np.linalg.norm(np.diff(at[joints], axis=0), axis=-1)
    total = float(steps.sum())
    if total < 1e-9:
        return np.linspace(0, 1, len(joints))
    return np.concatenate([[0.0], np.cumsum(steps) / total])


def _tip(skeleton: Skeleton, place: Array, joint: int) -> int:
    """The furthest child of a joint, -1 where there is none."""
    children = skeleton.children(joint)
    return max(children, key=lambda c: float(np.linalg.norm(place[c] - place[joint])), default=-1)


def _alignments(bones: BoneMap, source: Posture, target: Posture, bodies: Array) -> dict[int, Array]:
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


def shares_frames(bones: BoneMap, source: Posture, target: Posture) -> tuple[bool, bool]:
    """Whether the joints of both skeletons have the same axes, roughly and exactly: every bone runs the same way in its
    joint's own frame. Then turns can be copied, whatever the rest poses look like."""
    angles = []
    mapped = {s: t for c in bones if len(c.source) == len(c.target) for s, t in zip(c.source, c.target)}
    for s, t in mapped.items():
        parent = int(bones.source.parents[s])
        if parent not in mapped or mapped[parent] != int(bones.target.parents[t]):
            continue
        mine = quaternion.rotate(
            quaternion.conjugate(source.rotation[parent]), source.place[s] - source.place[parent]
        )
        theirs = quaternion.rotate(
            quaternion.conjugate(target.rotation[mapped[parent]]),
            target.place[t] - target.place[mapped[parent]],
        )
        if min(np.linalg.norm(mine), np.linalg.norm(theirs)) > 1e-6:
            angles.append(np.degrees(np.arccos(np.clip(unit(mine) @ unit(theirs), -1, 1))))
    if len(angles) < 10:
        return False, False
    median, most = float(np.median(angles)), float(np.percentile(angles, 90))
    return median < 4 and most < 15, float(np.percentile(angles, 97)) < 0.5
