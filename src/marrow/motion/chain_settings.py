"""What a profile asks of single chains, done to the tracks of the target frame by frame: less of the source's turning (FK),
ends where the source's are (IK), elbows and knees turned outwards (poles), ends that stay with another joint (pins)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.errors import UnknownNameError
from marrow.math import affine, quaternion, transform
from marrow.model import Pose
from marrow.motion.bone_map import RetargetError
from marrow.motion.limb_rotations import model_rotation
from marrow.motion.limbs import dense, move_end
from marrow.motion.profile import ChainProfile
from marrow.motion.retarget_rotations import LocalTracks, model_of

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["check_chains", "finish_chains", "reach_with_chains", "weigh_chains"]

Array = NDArray[Any]
Chains = Mapping[str, ChainProfile]


def check_chains(tool: Retargeter, chains: Chains, place: str) -> None:
    """Refuses what cannot be done: settings of limbs for chains that are none, unknown joints."""
    theirs = tool.chains("target")
    for name, said in chains.items():
        limb = (
            name in theirs and name.endswith(("_arm", "_leg")) and len(theirs[name]) > 2 and tool.map.humanoid
        )
        for field in ("ik", "stretch", "pole_degrees", "pin"):
            if getattr(said, field) and name in theirs and not limb:
                raise RetargetError(
                    f"{place}: chains.{name}.{field}: is for arms and legs of three joints, of bodies with two legs"
                )
        if said.pin:
            try:
                pin = tool.target.index(said.pin)
            except UnknownNameError as error:
                raise RetargetError(f"{place}: chains.{name}.pin: {error}") from None
            if limb and pin in tool.target.descendants(theirs[name][0]).tolist():
                raise RetargetError(
                    f"{place}: chains.{name}.pin: {said.pin!r} hangs from that limb, which cannot stay with itself"
                )


def weigh_chains(tool: Retargeter, chains: Chains, tracks: LocalTracks) -> None:
    """FK: each joint of a chain that share of the way from its rest to where the source has it."""
    for name, said in chains.items():
        if said.fk is None or said.fk == 1 or name not in tool.map:
            continue
        for j in tool.map[name].target:
            if (j, 1) in tracks:
                rest = quaternion.normalize(tool.target.rest.rotation[j].astype(np.float64))
                turned = quaternion.slerp(rest, tracks[j, 1].astype(np.float64), float(said.fk))
                tracks[j, 1] = turned.astype(np.float32)


def reach_with_chains(
    tool: Retargeter, chains: Chains, pose: Pose, world: Array, ground: float, tracks: LocalTracks
) -> None:
    """IK: the ends of arms and legs that share of the way to where the source's are, for the target's size."""
    count, made = len(pose), None
    for name, said, joints in _limbs(tool, chains):
        if not said.ik or len(tool.map[name].source) < 3:
            continue
        if made is None:
            body = dense(tool.target, tracks, count)
            made = body, to_model(tool.target, body)
        there = model_of(tool.source, pose, tool.map[name].source[2])[..., 3]
        goal = quaternion.rotate(world, there) * tool.scale
        goal[:, 1] -= ground * tool.scale
        if name.endswith("_leg"):
            goal[:, 1] += tool.feet_t.ankle - tool.feet_s.ankle * tool.scale
        shift = (goal - made[1][:, joints[2], :, 3]) * float(said.ik)
        _move(tool, name, joints, shift, said, *made, tracks)


def finish_chains(tool: Retargeter, chains: Chains, count: int, tracks: LocalTracks) -> None:
    """Poles, then pins."""
    for name, said, joints in _limbs(tool, chains):
        if said.pole_degrees:
            sign = 1.0 if name.startswith("left_") else -1.0
            _turn_pole(tool, joints, float(np.radians(said.pole_degrees)) * sign, count, tracks)
    for name, said, joints in _limbs(tool, chains):
        if said.pin:
            _hold(tool, name, joints, said, count, tracks)


def _limbs(tool: Retargeter, chains: Chains) -> Iterator[tuple[str, ChainProfile, tuple[int, ...]]]:
    for name, said in chains.items():
        if name in tool.map and name.endswith(("_arm", "_leg")) and len(tool.map[name].target) > 2:
            yield name, said, tool.map[name].target


def _move(
    tool: Retargeter, name: str, joints: tuple[int, ...], shift: Array, said: ChainProfile, body: Pose, model: Array,
    tracks: LocalTracks,
) -> None:  # fmt: skip
    bends = tool.rest_t.frame[:, 2] * (-1 if name.endswith("_arm") else 1)
    most = 1 + float(said.stretch or 0)
    move_end(tool.target, joints, shift.astype(np.float64), body, model, tracks, bends, most=most)


def _turn_pole(
    tool: Retargeter, joints: tuple[int, ...], angle: float, count: int, tracks: LocalTracks
) -> None:
    """Turns a limb about the line from its first joint to its end; the end stays where and as it is."""
    skeleton = tool.target
    body = dense(skeleton, tracks, count)
    upper, _, end = joints[:3]
    at = [model_of(skeleton, body, j)[..., 3] for j in (upper, end)]
    line = at[1] - at[0]
    length = np.sqrt((line * line).sum(-1, keepdims=True))
    turn = quaternion.from_axis_angle(line / np.maximum(length, 1e-12), np.full(count, angle))
    turn = np.where(length > 1e-9, turn, quaternion.identity(dtype=np.float64))
    own, kept = model_rotation(skeleton, body, upper), model_rotation(skeleton, body, end)
    _put_turn(tool, upper, quaternion.multiply(turn, own), body, tracks)
    _put_turn(tool, end, kept, body, tracks)


def _hold(
    tool: Retargeter, name: str, joints: tuple[int, ...], said: ChainProfile, count: int, tracks: LocalTracks
) -> None:
    """The end of a limb stays with a joint as both rest."""
    skeleton, end = tool.target, joints[2]
    pin = skeleton.index(said.pin or "")
    body = dense(skeleton, tracks, count)
    rest = skeleton.rest_model.astype(np.float64)
    goal = affine.multiply(
        model_of(skeleton, body, pin), affine.multiply(affine.invert(rest[pin]), rest[end])
    )
    model = to_model(skeleton, body)
    _move(tool, name, joints, goal[..., 3] - model[:, end, :, 3], said, body, model, tracks)
    _put_turn(tool, end, transform.decompose(goal)[1], body, tracks)


def _put_turn(tool: Retargeter, joint: int, turned: Array, body: Pose, tracks: LocalTracks) -> None:
    """Turns a joint in model space."""
    parent = int(tool.target.parents[joint])
    local = turned
    if parent >= 0:
        above = quaternion.conjugate(model_rotation(tool.target, body, parent))
        local = quaternion.normalize(quaternion.multiply(above, turned))
    tracks[joint, 1] = local.astype(np.float32)
    body.rotation[:, joint] = tracks[joint, 1]
