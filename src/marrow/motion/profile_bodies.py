"""What a profile says of a body: its chains in place of those that are found, the pose it is compared in; and the profile
that is made of what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.sampling import sample
from marrow.errors import UnknownNameError, WrongTypeError, told_at_the_call
from marrow.math import quaternion
from marrow.model import Character, Pose, Skeleton
from marrow.model._validate import shown
from marrow.motion.bone_map import PARTS, RetargetError
from marrow.motion.detached_feet import body_of
from marrow.motion.joint_names import words
from marrow.motion.posture import Posture, bind_posture, body_frame, model_rotations, posture, rest_posture
from marrow.motion.profile import ChainProfile, RetargetPose, RetargetProfile
from marrow.motion.rig import Rig, missing_parts

__all__ = ["body_with", "pose_of_profile", "retarget_profile"]

Array = NDArray[Any]


@told_at_the_call
def retarget_profile(character: Character | Skeleton) -> RetargetProfile:
    """The profile that retargeting goes by as long as there is none: the chains that are found, and the pose the body is
    compared in. To be saved beside the character, and edited:

        mw.retarget_profile(hero).save("hero.retarget.json")
    """
    if not isinstance(character, (Character, Skeleton)):
        raise WrongTypeError(f"retarget_profile: expected a Character or a Skeleton, got {shown(character)}")
    skeleton = character.skeleton if isinstance(character, Character) else character
    rig = _with_tail(body_of(skeleton, moves=False))
    names = skeleton.names
    order = {part: k for k, part in enumerate(PARTS)}
    chains = {
        part: ChainProfile(joints=tuple(names[j] for j in rig.chains[part]))
        for part in sorted(rig.chains, key=lambda p: (order.get(p, len(order)), p))
    }
    pose = None
    if rig.complete and isinstance(character, Character):
        found = posture(skeleton, rig.chains, character)
        pose = RetargetPose(of="bind") if found.of == "bind pose" else None
    return RetargetProfile(pose=pose, chains=chains)


def _with_tail(rig: Rig) -> Rig:
    """With the chain of joints that are called so: rigs are found without their tails."""
    if "tail" in rig.chains:
        return rig
    skeleton, taken = rig.skeleton, {j for chain in rig.chains.values() for j in chain}
    own = {j for j, name in enumerate(skeleton.names) if "tail" in words(name) and j not in taken}
    if not own:
        return rig
    chain = [min(own, key=lambda j: (int(skeleton.depth[j]), j))]
    while below := [j for j in skeleton.children(chain[-1]) if j in own]:
        chain.append(below[0])
    return replace(rig, chains={**rig.chains, "tail": tuple(chain)})


def body_with(
    skeleton: Skeleton, profile: RetargetProfile | None, place: str, *, moves: bool, tail: bool = False
) -> tuple[Rig, bool]:
    """The body of a skeleton, with the chains that its profile names, and whether those are others than what is found.
    `tail`: with its tail, which a profile names."""
    rig, plain = body_of(skeleton, moves=moves), _with_tail(body_of(skeleton, moves=False))
    if tail:
        rig = _with_tail(rig)
    chains, changed = dict(rig.chains), False
    for name, said in ({} if profile is None else profile.chains).items():
        if said.joints is None:
            continue
        try:
            joints = tuple(skeleton.index(joint) for joint in said.joints)
        except UnknownNameError as error:
            raise RetargetError(f"{place}: chains.{name}.joints: {error}") from None
        if joints == plain.chains.get(name, ()):
            continue
        changed = True
        chains.pop(name, None)
        if joints:
            chains[name] = joints
    if not changed:
        return rig, False
    missing = missing_parts(chains)
    kind = "humanoid" if not missing and rig.kind == "other" else rig.kind
    return replace(rig, chains=chains, missing=missing, kind=kind, by="map"), True


def pose_of_profile(
    said: RetargetPose, place: str, skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], character: Character | None
) -> Posture:  # fmt: skip
    """The posture that a profile wants a body to be compared in."""
    where = f"{place}: pose"
    if said.clip is not None:
        if character is None or said.clip not in character.clips:
            known = UnknownNameError("clip", said.clip, [] if character is None else list(character.clips))
            raise RetargetError(f"{where}.clip: {known}")
        clip = character.clips[said.clip]
        if said.time > clip.duration or clip.additive:
            why = "is additive: no pose" if clip.additive else f"has {clip.duration:g} seconds"
            raise RetargetError(f"{where}.time: clip {said.clip!r} {why}, got {said.time:g}")
        found = _posture_of(skeleton, sample(clip, said.time), chains)
    elif said.of == "bind":
        bound = None if character is None else bind_posture(character, rest_posture(skeleton, chains), chains)
        if bound is None:
            raise RetargetError(f"{where}.of: no mesh is bound to all joints of arms and legs: use rest")
        found = bound
    else:
        found = rest_posture(skeleton, chains)
    return _turned(found, said, where, skeleton, chains)


def _posture_of(skeleton: Skeleton, pose: Pose, chains: Mapping[str, tuple[int, ...]]) -> Posture:
    """The posture of a pose, its feet at the height of the rest pose's."""
    from marrow.animation.kinematics import to_model

    turned = model_rotations(quaternion.normalize(pose.rotation.astype(np.float64)), skeleton.parents)
    place = to_model(skeleton, pose)[..., 3].astype(np.float64)
    return Posture(turned, place, body_frame(place, chains), True, "profile")


def _turned(
    found: Posture, said: RetargetPose, where: str, skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]
) -> Posture:
    rotation, place = np.array(found.rotation), np.array(found.place)
    turns: dict[int, Array] = {}
    for name, degrees in said.turns_degrees.items():
        try:
            joint = skeleton.index(name)
        except UnknownNameError as error:
            raise RetargetError(f"{where}.turns_degrees: {error}") from None
        turn = quaternion.identity(dtype=np.float64)
        for axis, angle in zip(np.eye(3), degrees):
            turn = quaternion.multiply(quaternion.from_axis_angle(axis, float(np.radians(angle))), turn)
        turns[joint] = turn
    for joint in sorted(turns, reverse=True):  # from the ends inwards: a turn takes along what hangs below
        below = np.asarray(skeleton.descendants(joint))
        rotation[below] = quaternion.multiply(turns[joint], rotation[below])
        place[below] = place[joint] + quaternion.rotate(turns[joint], place[below] - place[joint])
    return Posture(rotation, place, body_frame(place, chains), True, "profile")
