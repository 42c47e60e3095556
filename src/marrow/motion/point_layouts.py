"""Orders in which tools write the key points of a body, in one set of names; and the names that markers and columns have.

A layout is a list of points. `left_foot` is the ball of a foot, `head` the joint that carries the head, `neck` the base of
the neck.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["LAYOUTS", "NEEDED", "PointLayout", "named_points", "point_name"]

NEEDED = tuple(
    f"{side}_{part}"
    for part in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle")
    for side in ("left", "right")
)
"""The points without which there is no body."""


@dataclass(frozen=True)
class PointLayout:
    """An order of points: what it is called, in words, its points (None: a point that is not used), the frames a second
    that its recordings usually have, and the axis that points up in them (None: it is looked for)."""

    name: str
    words: str
    points: tuple[str | None, ...]
    rate: float = 30.0
    up: Literal["y", "z", "-y", None] = None


def _sides(*words: str) -> tuple[str, ...]:
    return tuple(f"{side}_{word}" for word in words for side in ("left", "right"))


_SMPL = [
    "pelvis",
    "left_hip",
    "right_hip",
    "spine1",
    "left_knee",
    "right_knee",
    "spine2",
    "left_ankle",
    "right_ankle",
    "spine3",
    "left_foot",
    "right_foot",
    "neck",
    "left_collar",
    "right_collar",
    "head",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
]
_H36M = [
    "pelvis",
    "right_hip",
    "right_knee",
    "right_ankle",
    "left_hip",
    "left_knee",
    "left_ankle",
    "spine1",
    "neck",
    "nose",
    "head_top",
    "left_shoulder",
    "left_elbow",
    "left_wrist",
    "right_shoulder",
    "right_elbow",
    "right_wrist",
]
_BODY_25 = [
    "nose",
    "neck",
    "right_shoulder",
    "right_elbow",
    "right_wrist",
    "left_shoulder",
    "left_elbow",
    "left_wrist",
    "pelvis",
    "right_hip",
    "right_knee",
    "right_ankle",
    "left_hip",
    "left_knee",
    "left_ankle",
    "right_eye",
    "left_eye",
    "right_ear",
    "left_ear",
    "left_big_toe",
    "left_small_toe",
    "left_heel",
    "right_big_toe",
    "right_small_toe",
    "right_heel",
]
_FACE = ("nose", None, "left_eye", None, None, "right_eye", None, "left_ear", "right_ear", None, None)

LAYOUTS: dict[str, PointLayout] = {
    layout.name: layout
    for layout in (
        PointLayout("smpl-joints", "the 22 joints of SMPL (HumanML3D, MDM)", tuple(_SMPL), 20.0),
        PointLayout("smpl24-joints", "the 24 joints of SMPL", (*_SMPL, "left_hand", "right_hand"), 30.0),
        PointLayout("coco", "the 17 key points of COCO", ("nose", *_sides(
            "eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle"))),
        PointLayout("h36m", "the 17 joints of Human3.6M", tuple(_H36M), 50.0),
        PointLayout("mediapipe", "the 33 landmarks of MediaPipe", (*_FACE, *_sides(
            "shoulder", "elbow", "wrist", "pinky", "index", "thumb", "hip", "knee", "ankle", "heel", "foot"))),
        PointLayout("body25", "the 25 key points of OpenPose's BODY_25", tuple(_BODY_25)),
    )
}  # fmt: skip
"""The layouts that are known, by what `motion=` calls them."""

_SIDE = {"l": "left", "left": "left", "r": "right", "right": "right"}
_WORDS = {
    "pelvis": "pelvis", "hips": "pelvis", "midhip": "pelvis", "root": "pelvis", "hipcenter": "pelvis",
    "spine": "spine1", "spine1": "spine1", "spine2": "spine2", "spine3": "spine3", "torso": "spine1",
    "thorax": "neck", "neck": "neck", "head": "head_top", "headtop": "head_top", "nose": "nose",
    "shoulder": "shoulder", "elbow": "elbow", "wrist": "wrist", "hip": "hip", "knee": "knee", "ankle": "ankle",
    "upperarm": "shoulder", "lowerarm": "elbow", "forearm": "elbow", "upperleg": "hip", "lowerleg": "knee",
    "eye": "eye", "ear": "ear", "heel": "heel", "bigtoe": "big_toe", "smalltoe": "small_toe", "footindex": "foot",
    "foot": "foot", "toe": "foot", "toes": "foot", "toebase": "foot", "collar": "collar", "clavicle": "collar",
    "index": "index", "indexfinger": "index", "pinky": "pinky", "thumb": "thumb", "hand": "hand",
    # Joint centres of motion-capture models.
    "hjc": "hip", "kjc": "knee", "ajc": "ankle", "sjc": "shoulder", "ejc": "elbow", "wjc": "wrist",
}  # fmt: skip
_PAIRED = {
    name.partition("_")[2]
    for layout in LAYOUTS.values()
    for name in layout.points
    if name and name.startswith("left_")
} | {"collar", "hand"}
_ALONE = {"pelvis", "spine1", "spine2", "spine3", "neck", "head", "head_top", "nose"}


def point_name(given: str) -> str | None:
    """The point that a marker, a column or a key means: `RKnee`, `right_knee`, `knee_r`, `R.Knee`; None for others."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", given.rpartition(":")[2].strip())
    words = [w for w in re.split(r"[^a-z0-9]+", text.lower()) if w]
    side = ""
    for at in (0, -1):
        if words and words[at] in _SIDE and (len(words) > 1):
            side = _SIDE[words.pop(at)]
            break
    joined = "".join(words)
    if not side and joined not in _WORDS and joined[:1] in "lr" and joined[1:] in _WORDS:
        side, joined = _SIDE[joined[0]], joined[1:]
    word = _WORDS.get(joined)
    if word is None:
        return None
    if side:
        return f"{side}_{word}" if word in _PAIRED else None
    return word if word in _ALONE else "pelvis" if word == "hip" else None


def named_points(names: Sequence[str]) -> dict[str, int]:
    """The column of each point that a name means, the first of several. Suits (Xsens) name segments, which begin where a
    joint is: a shoulder beside an upper arm is a collar bone, a hand without a wrist begins at it, a foot at the ankle."""
    given = [point_name(name) for name in names]
    words = ["".join(c for c in name.lower() if c.isalnum()) for name in names]
    suit = any("upperarm" in w for w in words) and any("shoulder" in w for w in words)
    lower = any("forearm" in w or "lowerarm" in w for w in words)
    if suit and lower and not any("ankle" in w or "wrist" in w for w in words):
        for k, word in enumerate(words):
            side, _, part = (given[k] or "").partition("_")
            if "shoulder" in word:
                given[k] = f"{side}_collar"
            elif part in ("hand", "foot"):
                given[k] = (
                    f"{side}_wrist" if part == "hand" else f"{side}_{'foot' if 'toe' in word else 'ankle'}"
                )
    out: dict[str, int] = {}
    for k, known in enumerate(given):
        if known is not None:
            out.setdefault(known, k)
    return out
