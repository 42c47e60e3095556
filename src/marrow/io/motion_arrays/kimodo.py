"""Kimodo's archives: places and rotations of all joints in the world (`posed_joints`, `global_rot_mats`), of SOMA's 77
or 30 joints, SMPL-X's 22 or the 34 of a Unitree G1. Rotations are exact; bones are where the joints' places say."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, Skeleton
from marrow.report import ReportBuilder

__all__ = ["RATE", "read_kimodo"]

Array = NDArray[Any]
RATE = 30.0
G1_HEAD = (0.0, 0.42, 0.0)
_FINGERS = ("Index", "Middle", "Ring", "Pinky")
_G1_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_G1_ARM = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow",
    "wrist_roll",
    "wrist_pitch",
    "wrist_yaw",
    "hand_roll",
)
Tree = list[tuple[str, str]]


def _soma(full: bool) -> Tree:
    out: Tree = [("Hips", "")]

    def chain(above: str, *names: str) -> None:
        for name in names:
            out.append((name, above))
            above = name

    chain("Hips", "Spine1", "Spine2", "Chest", "Neck1", "Neck2", "Head")
    out += [(name, "Head") for name in ("HeadEnd", "Jaw", "LeftEye", "RightEye") if full or name != "HeadEnd"]
    for side in ("Left", "Right"):
        hand = f"{side}Hand"
        chain("Chest", f"{side}Shoulder", f"{side}Arm", f"{side}ForeArm", hand)
        if not full:
            out += [(f"{hand}ThumbEnd", hand), (f"{hand}MiddleEnd", hand)]
            continue
        chain(hand, *(f"{hand}Thumb{k}" for k in (1, 2, 3, "End")))
        for finger in _FINGERS:
            chain(hand, *(f"{hand}{finger}{k}" for k in (1, 2, 3, 4, "End")))
    for side in ("Left", "Right"):
        chain(
            "Hips",
            *(f"{side}{part}" for part in ("Leg", "Shin", "Foot", "ToeBase", "ToeEnd")[: 5 if full else 4]),
        )
    return out


def _g1() -> Tree:
    out: Tree = [("pelvis_skel", "")]

    def chain(above: str, *names: str) -> None:
        for name in names:
            out.append((name, above))
            above = name

    for side in ("left", "right"):
        chain("pelvis_skel", *(f"{side}_{part}_skel" for part in _G1_LEG), f"{side}_toe_base")
    chain("pelvis_skel", "waist_yaw_skel", "waist_roll_skel", "waist_pitch_skel")
    for side in ("left", "right"):
        chain("waist_pitch_skel", *(f"{side}_{part}_skel" for part in _G1_ARM))
    return out


def _smplx() -> Tree:
    from marrow.io.smpl import joints

    table = joints(22)
    return [(name, table[parent][0] if parent >= 0 else "") for name, parent, _ in table]


_SOMA_BONES = {
    "hips": "Hips",
    "spine": "Spine1",
    "chest": "Spine2",
    "upperChest": "Chest",
    "neck": "Neck1",
    "head": "Head",
}
_SOMA_SIDES = {
    "Shoulder": "Shoulder", "UpperArm": "Arm", "LowerArm": "ForeArm", "Hand": "Hand", "UpperLeg": "Leg", "LowerLeg": "Shin",
    "Foot": "Foot", "Toes": "ToeBase",
    "ThumbMetacarpal": "HandThumb1", "ThumbProximal": "HandThumb2", "ThumbDistal": "HandThumb3",
    **{
        f"{'Little' if f == 'Pinky' else f}{part}": f"Hand{f}{k}"
        for f in _FINGERS for k, part in ((2, "Proximal"), (3, "Intermediate"), (4, "Distal"))
    },
}  # fmt: skip
_G1_SIDES = {
    "UpperLeg": "hip_yaw_skel", "LowerLeg": "knee_skel", "Foot": "ankle_roll_skel", "Toes": "toe_base",
    "UpperArm": "shoulder_yaw_skel", "LowerArm": "elbow_skel", "Hand": "wrist_yaw_skel",
}  # fmt: skip


def _known(J: int) -> tuple[str, Tree, dict[str, str]]:
    if J in (30, 77):
        bones = dict(_SOMA_BONES)
        bones |= {
            f"{s}{bone}": f"{s.capitalize()}{part}"
            for s in ("left", "right")
            for bone, part in _SOMA_SIDES.items()
        }
        return f"SOMA's {J} joints", _soma(J == 77), bones
    if J == 34:
        bones = {"hips": "pelvis_skel", "spine": "waist_yaw_skel", "chest": "waist_pitch_skel"}
        bones |= {f"{s}{bone}": f"{s}_{part}" for s in ("left", "right") for bone, part in _G1_SIDES.items()}
        return "the 34 joints of a Unitree G1", _g1(), bones
    if J == 22:
        return "SMPL-X's 22 joints", _smplx(), {}
    raise ValueError(f"{J} joints: SOMA has 77 or 30, SMPL-X 22, G1 34")


def read_kimodo(arrays: dict[str, Array], rate: float | None, path: Any, report: ReportBuilder) -> Character:
    """The skeleton and the clip (or clips) of an archive."""
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise FormatError("is not made of finite numbers", path=path, place=name)
    places = arrays["posed_joints"].astype(np.float64)
    J = places.shape[-2] if places.ndim in (3, 4) else 0
    try:
        words, tree, named = _known(J)
    except ValueError as error:
        raise FormatError(f"posed_joints is {places.shape}: {error}", path=path) from None
    order = {name: k for k, (name, _) in enumerate(tree)}
    parents = np.array([order.get(parent, -1) for _, parent in tree], np.int32)
    places = places.reshape(-1, *places.shape[-3:]) if places.ndim == 4 else places[None]
    turns = _turns(arrays, places.shape, parents, path)
    if not places.size:
        raise FormatError("has no frames", path=path, place="posed_joints")
    # Where a joint is on its parent: the same in all frames.
    on = np.einsum("btjki,btjk->btji", turns[:, :, parents[1:]], places[:, :, 1:] - places[:, :, parents[1:]])
    offsets = np.zeros((J, 3))
    offsets[1:] = np.median(on.reshape(-1, J - 1, 3), axis=0)
    off = float(np.abs(on - offsets[1:]).max())
    if off > 0.02:
        report.add(
            "warning",
            "posed_joints",
            f"bones change by up to {1000 * off:.0f} mm; rotations are kept, places follow them",
        )
    if J == 34:
        tree, named = [*tree, ("head", "waist_pitch_skel")], {**named, "head": "head"}
        parents, offsets, order = (
            np.append(parents, order["waist_pitch_skel"]),
            np.vstack([offsets, G1_HEAD]),
            {**order, "head": J},
        )
        turns = np.concatenate([turns, turns[:, :, parents[-1:]]], axis=2)
        report.add("info", "head", "a joint for the head was added, rigid with the trunk as the robot's is")
        J += 1
    heights = offsets.copy()
    for k in range(1, J):
        heights[k] += heights[parents[k]]
    offsets[0, 1] = -heights[:, 1].min()
    rest = Pose.identity(J).replace(translation=offsets.astype(np.float32))
    bones = {bone: order[name] for bone, name in named.items() if name in order}
    skeleton = Skeleton(tuple(name for name, _ in tree), parents, rest, bones=bones)
    told = "as it was said" if rate else "Kimodo's own"
    rate = rate or RATE
    report.add("info", "motion", f"Kimodo, {words}; {rate:g} frames a second ({told}), metres, Y up")
    clips = []
    for k in range(len(places)):
        world = quaternion.from_matrix(turns[k])
        local = world.copy()
        above = world[:, parents[1:]]
        local[:, 1:] = quaternion.multiply(quaternion.conjugate(above), world[:, 1:])
        near = np.einsum("tjc,tjc->tj", local[1:], local[:-1])
        local[1:] *= np.cumprod(np.where(near < 0, -1.0, 1.0), axis=0)[..., None]
        translation = np.repeat(rest.translation[None], len(local), axis=0)
        translation[:, 0] = places[k, :, 0]
        pose = Pose(translation.astype(np.float32), local.astype(np.float32), np.ones((len(local), J, 3), np.float32),
                    np.zeros((len(local), 0), np.float32))  # fmt: skip
        name = "motion" if len(places) == 1 else f"motion_{k}"
        clips.append(Clip.from_poses(name, skeleton, pose, rate=rate))
    return Character(skeleton, clips=clips)  # type: ignore[arg-type]


def _turns(arrays: dict[str, Array], shape: tuple[int, ...], parents: Array, path: Any) -> Array:
    """Rotations of all joints in the world `(B, T, J, 3, 3)`."""
    name = "global_rot_mats" if "global_rot_mats" in arrays else "local_rot_mats"
    if name not in arrays:
        raise FormatError(
            "has places of joints and no rotations (global_rot_mats, local_rot_mats)", path=path
        )
    turns = arrays[name].astype(np.float64)
    if turns.shape[-4:-2] != shape[1:3] or turns.size != np.prod(shape) * 3 or turns.shape[-2:] != (3, 3):
        raise FormatError(f"is {turns.shape}, posed_joints is {shape[1:]}", path=path, place=name)
    turns = turns.reshape(*shape, 3)
    square = np.einsum("...ki,...kj->...ij", turns, turns) - np.eye(3)
    if np.abs(square).max(initial=0) > 0.05:
        raise FormatError("are no rotations", path=path, place=name)
    if name == "local_rot_mats":
        for j, p in enumerate(parents.tolist()):
            if p >= 0:
                turns[:, :, j] = turns[:, :, p] @ turns[:, :, j]
    return turns
