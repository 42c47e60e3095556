"""How large bodies are: stature, units, ankles, and whether two bodies have the same proportions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton
from marrow.motion.bone_map import BoneMap
from marrow.motion.posture import Posture, leg_length, legs_way, rest_posture, vertical

__all__ = [
    "ankle_height",
    "height_of",
    "metres",
    "same_legs",
    "same_trunk",
    "size_ratio",
    "stands_on_ground",
    "stands_on_joints",
    "stature",
    "unit_of",
    "wrong_unit",
]

Array = NDArray[Any]
PERSON = 1.75
"""How tall a person is, in metres, where a figure's size cannot be meant."""
UNITS = (0.01, 0.0254, 0.3048, 0.001, 10.0, 100.0, 1000.0)
"""Metres per unit, as files have them: centimetres, inches, feet, millimetres; and what was divided once too often."""
ALIKE = 0.06
"""Ways along the bones of trunk and arms that differ by less are the same."""
SMALL, LARGE = 1.15, 2.2
"""What people measure from their lowest joint to the highest: legs may be spread, and the top of a head is no joint."""


def stature(skeleton: Skeleton, rest: Posture, chains: Mapping[str, tuple[int, ...]]) -> float:
    """How tall a body is at rest along its own up, from the lowest joint to the highest; of one that does not rest on its
    legs, how tall somebody with such legs is."""
    if rest.frame[:, 1] @ legs_way(rest.place, chains) > -0.5:
        from marrow.motion.contacts import LEG

        return leg_length(rest.place, chains) * PERSON / LEG
    body = skeleton.descendants(chains["hips"][0])
    return float(np.ptp(rest.place[body] @ rest.frame[:, 1]))


def metres(height: float) -> float:
    """Metres per unit of a figure that tall: 1 for anything a character may be, else what makes a person of it."""
    if 0.3 <= height <= 6 or height <= 0:
        return 1.0
    for unit in (0.01, 0.0254, 0.3048, 0.001, 0.0254 / 0.45):
        if SMALL <= height * unit <= LARGE:
            return unit
    return PERSON / height


def unit_of(skeleton: Skeleton) -> float | None:
    """Metres per unit, as the size of the body tells; None where there is no body that does."""
    from marrow.motion.contacts import LEG
    from marrow.motion.rig import find_rig

    rig = find_rig(skeleton)
    if rig.complete:
        return metres(stature(skeleton, rest_posture(skeleton, rig.chains), rig.chains))
    if all(len(rig.chains.get(f"{side}_leg", ())) > 2 for side in ("left", "right")):
        # However the rest pose lies, bones are as long as they are.
        place = skeleton.rest_model[..., 3].astype(np.float64)
        return metres(leg_length(place, rig.chains) * PERSON / LEG)
    return None


def height_of(skeleton: Skeleton) -> float | None:
    """How tall a body is at rest, in units of its file; None where none is known."""
    from marrow.motion.rig import find_rig

    rig = find_rig(skeleton)
    return stature(skeleton, rest_posture(skeleton, rig.chains), rig.chains) if rig.complete else None


def wrong_unit(skeleton: Skeleton) -> float | None:
    """Metres per unit of a person of a size that none has, where a unit that people use makes a person's size of it; None
    for all others."""
    from marrow.motion.rig import find_rig

    unit = unit_of(skeleton) if find_rig(skeleton).kind == "humanoid" else None
    if unit is None or unit == 1:
        return None
    if unit in UNITS:
        return unit
    height = PERSON / unit  # no unit was found that fits
    return next((u for u in UNITS if 1.3 <= height * u <= 2.2), None)


def _foot_heights(
    skeleton: Skeleton, rest: Posture, chains: Mapping[str, tuple[int, ...]]
) -> tuple[float, float]:
    """How high the lowest joint of both feet and the ankles rest."""
    up = np.array([0.0, 1.0, 0.0]) if rest.frame[1, 1] > 0.5 else vertical(rest.frame)
    ankles = [chains[f"{s}_leg"][2] for s in ("left", "right")]
    below = np.concatenate([skeleton.descendants(j) for j in ankles])
    return float((rest.place[below] @ up).min()), float((rest.place[ankles] @ up).mean())


def stands_on_ground(skeleton: Skeleton, rest: Posture, chains: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether the rest pose stands on the model's ground; that of a BVH hangs from its hips at zero."""
    low, _ = _foot_heights(skeleton, rest, chains)
    leg = leg_length(rest.place, chains)
    return -0.04 * leg <= low <= 0.15 * leg


def stands_on_joints(skeleton: Skeleton, rest: Posture, chains: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether a joint of its feet is where the rest pose has its ground: bones alone were set down there, and how thick the
    foot is about them is not known."""
    low, _ = _foot_heights(skeleton, rest, chains)
    return abs(low) < 0.003 * leg_length(rest.place, chains)


def ankle_height(skeleton: Skeleton, rest: Posture, chains: Mapping[str, tuple[int, ...]]) -> float:
    """How high the ankles are over the ground when the body stands."""
    low, ankle = _foot_heights(skeleton, rest, chains)
    if stands_on_ground(skeleton, rest, chains):
        return ankle
    return ankle - low + 0.03 * leg_length(rest.place, chains)


def same_trunk(a: Array, b: Array, bones: BoneMap, ratio: float) -> bool:
    """Whether trunk, shoulders and arms of both bodies are the same but for their size."""

    names = [n for n in ("left_arm", "right_arm", "head") if n in bones]

    def lengths(skeleton: Skeleton, place: Array, hips: int, chains: list[tuple[int, ...]]) -> Array:
        """Along the bones, which no pose changes: to the ends of the trunk, and of the arms."""
        out = []
        for name, chain in zip(names, chains):
            for joint in chain[-1:] if name == "head" else chain[:3]:
                path = [joint, *skeleton.ancestors(joint)]
                path = path[: path.index(hips) + 1] if hips in path else path
                out.append(float(np.linalg.norm(np.diff(place[path], axis=0), axis=-1).sum()))
        return np.array(out)

    mine = lengths(bones.source, a, bones["hips"].source[0], [bones[n].source for n in names])
    theirs = lengths(bones.target, b, bones["hips"].target[0], [bones[n].target for n in names])
    return len(mine) == len(theirs) and bool((np.abs(theirs - ratio * mine) < ALIKE * ratio * mine).all())


def same_legs(a: Array, b: Array, bones: BoneMap, ratio: float) -> bool:
    """Whether the legs and hips of both bodies are the same but for their size."""
    for side in ("left_leg", "right_leg"):
        s, t = bones[side].source[:3], bones[side].target[:3]
        for k in range(2):
            mine, theirs = np.linalg.norm(a[s[k + 1]] - a[s[k]]), np.linalg.norm(b[t[k + 1]] - b[t[k]])
            if abs(theirs - ratio * mine) > 2e-3 * ratio * mine:
                return False
    wide = [
        float(np.linalg.norm(p[legs[0]] - p[legs[1]]))
        for p, legs in (
            (a, (bones["left_leg"].source[0], bones["right_leg"].source[0])),
            (b, (bones["left_leg"].target[0], bones["right_leg"].target[0])),
        )
    ]
    return bool(abs(wide[1] - ratio * wide[0]) < 5e-3 * ratio * max(wide[0], 1e-9))


def size_ratio(bones: BoneMap, a: Array, b: Array) -> float:
    """How much larger the target is, by how far its mapped joints are from their middle. Exactly 1 where about equal."""
    s, t = [c.source[0] for c in bones], [c.target[0] for c in bones]
    spread = [float(np.sqrt(((p - p.mean(0)) ** 2).sum(-1).mean())) for p in (a[s], b[t])]
    ratio = spread[1] / spread[0] if spread[0] > 1e-9 and spread[1] > 1e-9 else 1.0
    return 1.0 if abs(ratio - 1) < 0.02 else ratio
