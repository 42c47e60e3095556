"""Legs that end before their feet: rigs whose feet hang on the root, as exporters leave legs that inverse kinematics moved.

The lower leg ends at a joint without a mesh, and the foot is a joint elsewhere in the tree that lies there. As a motion
such a leg ends with its foot, which is where the turning is; as a character it ends with the joint below its shin, and the
foot goes where that goes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from marrow.model import Skeleton
from marrow.model._derived import derived
from marrow.motion.joint_names import labels
from marrow.motion.rig import SIDES, Rig, find_rig, missing_parts
from marrow.motion.tree import is_above

__all__ = ["body_of", "detached_feet"]

NEAR = 0.12
"""How far a foot may lie from the end of its shin at rest, in lengths of the leg."""
FEET = {f"{side} foot" for side in SIDES}


def detached_feet(skeleton: Skeleton) -> dict[int, int]:
    """Feet that hang elsewhere, and the end of the shin that each lies at; empty for most bodies."""
    found: dict[int, int] = derived(skeleton, "detached feet", lambda: _find(skeleton))
    return found


def body_of(skeleton: Skeleton, *, moves: bool) -> Rig:
    """The body of a skeleton, its legs whole where feet hang elsewhere; `moves`: as one that a motion was made for, whose
    ankles are its feet."""
    rig, feet = find_rig(skeleton), detached_feet(skeleton)
    if not feet:
        return rig
    chains = dict(rig.chains)
    told = labels(skeleton.names)
    for foot, end in feet.items():
        side = told[foot].side
        chains[f"{side}_leg"] = (*chains[f"{side}_leg"][:2], foot if moves else end)
        toes = [j for j in skeleton.children(foot) if told[j].part == "toes" and not told[j].end]
        if moves and toes:
            chains[f"{side}_toes"] = (toes[0],)
    note = "its feet hang on the root; they follow the ends of its legs"
    return replace(
        rig, kind="humanoid", chains=chains, missing=missing_parts(chains), notes=(*rig.notes, note)
    )


def _find(skeleton: Skeleton) -> dict[int, int]:
    rig = find_rig(skeleton)
    if not rig.missing or not {*rig.missing} <= FEET:
        return {}
    told, at = labels(skeleton.names), skeleton.rest_model[..., 3].astype(np.float64)
    out = {}
    for side in SIDES:
        upper, lower = rig.chains[f"{side}_leg"][:2]
        ends = skeleton.children(lower)
        feet = [
            j
            for j, label in enumerate(told)
            if label.part == "foot"
            and label.side == side
            and not label.end
            and not is_above(skeleton, lower, j)
        ]
        if not ends or not feet:
            return {}
        gap = np.linalg.norm(at[feet][:, None] - at[list(ends)], axis=-1)
        foot, end = np.unravel_index(int(np.argmin(gap)), gap.shape)
        reach = np.linalg.norm(at[lower] - at[upper]) + np.linalg.norm(at[ends[end]] - at[lower])
        if not gap[foot, end] <= NEAR * reach:
            return {}
        out[feet[foot]] = int(ends[end])
    return out
