"""How the joints of two bodies stand to each other: for every mapped joint of the target the fixed turn `C` with

    R_target(t) = G  R_source(t)  C

in model space, where `G` turns the source's world into the target's. `C` is chosen so that both bodies, in their reference
postures, would look the same: trunks by their body frames; arms, legs, hands and fingers by the directions of their bones
(that is what aligns T- and A-poses); feet by where they point, since both stand flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.motion.bone_map import BoneMap
from marrow.motion.detached_feet import detached_feet
from marrow.motion.limb_alignment import limb_turns, unit
from marrow.motion.posture import Posture

__all__ = ["Driver", "drivers", "lies", "shares_frames", "world_turn"]

Array = NDArray[Any]
ROLLED = 60.0
"""Degrees between the axes of two joints that cannot come from a pose."""


@dataclass(frozen=True, slots=True)
class Driver:
    """What turns a joint of the target: the source joint `a`, or a share `w` of the way from `a` to `b` below it, both
    measured from the reference posture; then the fixed turn `C (4,)`. `a` is -1 for the world itself."""

    a: int
    b: int
    w: float
    turn: Array


def world_turn(source: Posture, target: Posture, motion_up: Array | None = None) -> Array:
    """The turn `G (4,)` from the source's world to the target's: about the vertical, by quarter turns, so that both rest
    facing the same way. A source that rests and moves lying on an axis was made for another up axis and is set upright.
    `motion_up` is the mean direction of its spine while it moves."""
    up, forward = source.frame[:, 1], source.frame[:, 2]
    axis = _snap(up)
    lying = lies(source) and motion_up is not None and _along_axis(unit(motion_up), axis)
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


def lies(posture: Posture) -> bool:
    """Whether a body rests lying on an axis: then its motion says whether it was made for another up axis."""
    return bool(abs(_snap(posture.frame[:, 1])[1]) < 0.5)


def _along_axis(up: Array, axis: Array) -> bool:
    """Whether a spine that points to `up` on the whole stands along an axis rather than along y; it may lean."""
    return float(up @ axis) > max(0.5, abs(float(up[1])) + 0.3)


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
    aligned = {} if shared else limb_turns(bones, source, target, bodies)
    out: dict[int, Driver] = {}
    # The foot of one and the end of a shin of the other are not the same joint.
    feet, ends = {*detached_feet(bones.source)}, {*detached_feet(bones.target).values()}
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
                if shared and chain.name != "root" and a not in feet and t not in ends:
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


def shares_frames(bones: BoneMap, source: Posture, target: Posture) -> tuple[bool, bool]:
    """Whether the joints of both skeletons have the same axes, roughly and exactly: every bone runs the same way in its
    joint's own frame. Then turns can be copied, whatever the rest poses look like."""
    angles, ways = list[float](), list[Array]()
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
            ways.append(unit(mine))
    if len(angles) < 10 or (_along_one_axis(ways) and _rolled_apart(bones, source, target)):
        return False, False
    median, most = float(np.median(angles)), float(np.percentile(angles, 90))
    return median < 4 and most < 15, float(np.percentile(angles, 97)) < 0.5


def _along_one_axis(ways: list[Array]) -> bool:
    """Whether bones run one way in their joints, but for one or two."""
    return bool((np.array(ways) @ unit(np.mean(ways, axis=0)) < 0.98).sum() < 3)


def _rolled_apart(bones: BoneMap, source: Posture, target: Posture) -> bool:
    """Whether hips and thighs of two bodies are rolled otherwise: bones along one axis of their joints, as Blender makes
    them, say nothing of the other two. The body's left is the same in any pose, but for how far a leg is spread."""
    apart = []
    for part in ("hips", "left_leg", "right_leg"):
        sides = []
        for which, body in (("source", source), ("target", target)):
            joint = getattr(bones[part], which)[0]
            sides.append(quaternion.rotate(quaternion.conjugate(body.rotation[joint]), body.frame[:, 0]))
        apart.append(np.degrees(np.arccos(np.clip(unit(sides[0]) @ unit(sides[1]), -1, 1))))
    return max(apart) > ROLLED
