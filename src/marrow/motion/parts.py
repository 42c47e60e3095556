"""Parts of a body by what they are: `"@spine"`, `"@left_hand"` stand for a joint wherever a joint is named.

The bones are VRM's (and Unity's): `leftUpperArm` is written `@left_upper_arm`, or `@leftUpperArm`. What a file says of its
bones comes first (`skeleton.bones`), then the body that was found in the rig (`find_rig`), on two legs or four: on four,
the arms are the front legs.
"""

from __future__ import annotations

import re

from marrow.errors import UnknownNameError
from marrow.model import Skeleton
from marrow.model._derived import derived
from marrow.motion.joint_names import bare, labels
from marrow.motion.rig import FINGERS, SIDES, Rig, find_rig

__all__ = ["PARTS", "found_bones", "joint_called", "part_joint"]

_LIMBS = {
    "shoulder": ("Shoulder",),
    "arm": ("UpperArm", "LowerArm", "Hand"),
    "leg": ("UpperLeg", "LowerLeg", "Foot"),
    "toes": ("Toes",),
    "thumb": ("ThumbMetacarpal", "ThumbProximal", "ThumbDistal"),
    **{f: tuple(f.capitalize() + p for p in ("Proximal", "Intermediate", "Distal")) for f in FINGERS[1:]},
}
_TORSO = ("hips", "spine", "chest", "upperChest", "neck", "head", "jaw")
_INSTEAD = {"upperChest": ("chest", "spine"), "chest": ("spine",), "neck": ("head",)}
"""What serves where a rig has fewer joints in its trunk."""


def _snake(bone: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", bone).lower()


def _parts() -> dict[str, str]:
    """The bone of every part. The short names of limbs mean their first joint, and so all that hangs on it."""
    out = {_snake(bone): bone for bone in _TORSO}
    for side in SIDES:
        out[f"{side}_eye"] = f"{side}Eye"
        for limb, bones in _LIMBS.items():
            out[f"{side}_{limb}"] = side + bones[0]
            out |= {_snake(side + bone): side + bone for bone in bones}
    return {f"@{part}": bone for part, bone in {"root": "root", **out}.items()}


_FEW = 8
PARTS: dict[str, str] = _parts()
"""The parts that joints may be named by, each with its bone in VRM's words. `@left_arm`, `@left_leg`, `@left_thumb`, ...
are the first joints of these limbs; `@root` is the topmost joint above the hips."""


def found_bones(skeleton: Skeleton) -> dict[str, int]:
    """The bones of a body in a skeleton, by VRM's names; empty for what stands on no two legs."""
    rig = find_rig(skeleton)
    found = _bones(rig) if rig.complete else {}
    first = {joint: bone for bone, joint in reversed(found.items())}
    return {bone: joint for bone, joint in found.items() if bone != "root" and first[joint] == bone}


def part_joint(skeleton: Skeleton, name: str) -> int | None:
    """The joint that is a part such as `@head`; None where there is no such part, or not in this rig."""
    bone = PARTS.get("@" + _snake(name[1:]))
    if bone is None:
        return None
    known: dict[str, int] = derived(
        skeleton, "parts", lambda: {**_bones(find_rig(skeleton)), **skeleton.bones}
    )
    return next((known[b] for b in (bone, *_INSTEAD.get(bone, ())) if b in known), None)


def joint_called(skeleton: Skeleton, name: str) -> int:
    """The joint that is the part `name`; for any other name, and for parts that are not there, the error that helps."""
    if not name.startswith("@"):
        listed = ""
        if len(skeleton) > _FEW:
            some = ", ".join(skeleton.names[:_FEW])
            listed = f"known: {some}, ... ({len(skeleton)} in all); '@spine', '@left_hand' and such name parts of any body"
        raise UnknownNameError("joint", name, skeleton.names, _near(skeleton, name), listed)
    found = part_joint(skeleton, name)
    if found is not None:
        return found
    if "@" + _snake(name[1:]) not in PARTS:
        raise UnknownNameError("part", name, PARTS, (), _LISTED)
    mine = [part for part in PARTS if part_joint(skeleton, part) is not None]
    listed = "it has " + ", ".join(mine) if mine else "no body was found in it: name its joints"
    raise UnknownNameError("part of this skeleton", name, (), listed=listed)


_LISTED = ("parts: " + ", ".join(p for p in PARTS if "_right_" not in f"_{p[1:]}_")).replace(
    "@left_eye", "(each left one also right:) @left_eye"
)


def _near(skeleton: Skeleton, name: str) -> list[str]:
    """Joints that mean what `name` says: `Spine` is `mixamorig:Spine`, `left_hand` is `hand_l`."""
    wanted = bare(name).lower()
    found = [n for n in skeleton.names if bare(n).lower() == wanted]
    if not found:
        *told, said = labels([*skeleton.names, name])
        if said.part:
            same = [
                n
                for n, t in zip(skeleton.names, told)
                if (t.side, t.group, t.part) == (said.side, said.group, said.part)
                and not (t.helper or t.end or t.twist)
            ]
            found = [
                n for n, t in zip(skeleton.names, told) if n in same and t.numbers == said.numbers
            ] or same
    return list(dict.fromkeys(found))[:3]


def _bones(rig: Rig) -> dict[str, int]:
    """The joints of a rig by VRM's names."""
    spine, head = rig.chains.get("spine", ()), rig.chains.get("head", ())
    out = {
        "root": rig.joint("root"),
        "hips": rig.joint("hips"),
        "spine": rig.joint("spine"),
        "head": rig.joint("head", -1),
    }
    if len(spine) > 1:
        out["chest"] = spine[len(spine) // 2]
    if len(spine) > 2:
        out["upperChest"] = spine[-1]
    if len(head) > 1:
        out["neck"] = head[0]
    for side in SIDES:
        for limb, bones in _LIMBS.items():
            out |= {side + bone: j for bone, j in zip(bones, rig.chains.get(f"{side}_{limb}", ()))}
    return {bone: j for bone, j in out.items() if j >= 0}
