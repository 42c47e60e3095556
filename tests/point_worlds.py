"""Key points of a body whose every joint is known: the mannequin, walking."""

from __future__ import annotations

from functools import cache

import numpy as np

import marrow as mw

_BONES = {
    "pelvis": "hips", "spine1": "spine", "spine2": "chest", "spine3": "upperChest", "neck": "neck", "head": "head",
    **{
        f"{side}_{point}": side + bone
        for side in ("left", "right")
        for point, bone in (
            ("collar", "Shoulder"), ("shoulder", "UpperArm"), ("elbow", "LowerArm"), ("wrist", "Hand"), ("hip", "UpperLeg"),
            ("knee", "LowerLeg"), ("ankle", "Foot"), ("foot", "Toes"),
        )
    },
}  # fmt: skip
# Points that are no joints: the bone they are on, and where from it at rest (left side; the right is its mirror).
_ON_HEAD = {
    "nose": (0, 0.05, 0.12),
    "head_top": (0, 0.18, 0),
    "eye": (0.03, 0.08, 0.09),
    "ear": (0.075, 0.05, 0),
}
_ON_FOOT = {"heel": (0, -0.06, -0.05), "big_toe": (-0.02, -0.07, 0.17), "small_toe": (0.04, -0.07, 0.14)}
_ON_HAND = {"hand": 0.08, "index": 0.09, "pinky": 0.07, "thumb": 0.04}


@cache
def walker() -> tuple[mw.Character, np.ndarray]:
    """The mannequin and the model matrices `(T, J, 3, 4)` of 31 frames of its walk, 30 a second."""
    hero = mw.load("mannequin")
    times = np.arange(31) / 30 % hero.clips["walk"].duration
    return hero, hero.skeleton.to_model(hero.clips["walk"].sample(times)).astype(np.float64)


def key_points(names: tuple[str | None, ...]) -> np.ndarray:
    """Places `(31, P, 3)` of points by name; those without a name are at the head."""
    hero, model = walker()
    bones, rest = hero.skeleton.humanoid, hero.skeleton.rest_model.astype(np.float64)

    def on(bone: str, offset: np.ndarray) -> np.ndarray:
        j = bones[bone]
        turn = model[:, j, :, :3] @ np.linalg.inv(rest[j, :, :3])
        return model[:, j, :, 3] + turn @ offset

    out = []
    for name in names:
        side, _, part = (name or "head").rpartition("_")
        sign = np.array([-1.0 if side == "right" else 1.0, 1.0, 1.0])
        if name in _BONES:
            out.append(model[:, bones[_BONES[name]], :, 3])
        elif name in _ON_HEAD or part in _ON_HEAD:
            out.append(on("head", sign * _ON_HEAD[name if name in _ON_HEAD else part]))
        elif name is not None and name.partition("_")[2] in _ON_FOOT:
            side, _, part = name.partition("_")
            out.append(on(f"{side}Foot", np.array([-1.0 if side == "right" else 1.0, 1, 1]) * _ON_FOOT[part]))
        elif name is not None:
            hand, lower = bones[f"{side}Hand"], bones[f"{side}LowerArm"]
            along = rest[hand, :, 3] - rest[lower, :, 3]
            aside = {"index": 0.03, "thumb": 0.04, "pinky": -0.04}.get(part, 0.0) * np.array([0.0, 0.0, 1.0])
            out.append(on(f"{side}Hand", _ON_HAND[part] * along / np.linalg.norm(along) + aside))
        else:
            out.append(model[:, bones["head"], :, 3])
    return np.stack(out, axis=1)
