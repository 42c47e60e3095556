"""Joints that stand for the end of a limb, as Unreal's `ik_foot_l` and `ik_hand_r` do, and feet that hang on the root: they
go where the limb's end goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.math import affine, transform
from marrow.model import Skeleton
from marrow.model._derived import derived
from marrow.motion.detached_feet import detached_feet
from marrow.motion.joint_names import labels, words
from marrow.motion.limbs import dense
from marrow.motion.posture import leg_length
from marrow.motion.retarget_rotations import LocalTracks, model_of
from marrow.motion.tree import common_ancestor, is_above

__all__ = ["follow_limbs", "followers"]

Array = NDArray[Any]
NEAR = 0.03
"""How far a joint beside the trunk may lie from the one it follows, in lengths of a leg."""


def followers(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> dict[int, int]:
    """Joints called `ik` of a foot or hand, feet that hang elsewhere, and the joint each follows; parents first. The gun is
    in the right hand. Joints of the trunk that hang elsewhere and lie on one of the body: those of Rigify that carry
    the skin (`DEF-spine`), beside the ones that move."""
    ends = {chain[2] for part, chain in chains.items() if part.endswith("_leg") and len(chain) > 2}
    out = {foot: end for foot, end in detached_feet(skeleton).items() if end in ends}
    hips = chains["hips"][0]
    out |= _beside_trunk(skeleton, chains)
    for j, name in enumerate(skeleton.names):
        said = set(words(name))
        if "ik" not in said or is_above(skeleton, hips, j):
            continue
        side = "left" if {"l", "left"} & said else "right" if {"r", "right"} & said or "gun" in said else ""
        limb = "leg" if "foot" in said else "arm" if "hand" in said else ""
        chain = chains.get(f"{side}_{limb}", ()) if side and limb else ()
        if len(chain) > 2:
            out[j] = chain[2]
    return dict(sorted(out.items()))


def _beside_trunk(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> dict[int, int]:
    """Joints named as a trunk's that neither carry the body nor hang on it, and the joint that lies where each does."""
    tops = [chains[part][0] for part in ("hips", "spine", "left_leg", "right_leg") if chains.get(part)]
    top = tops[0]
    for joint in tops[1:]:
        top = common_ancestor(skeleton, top, joint)
    if top < 0:
        return {}
    told = labels(skeleton.names)
    beside = [
        j for j, label in enumerate(told)
        if label.group == "torso" and label.part != "root" and not is_above(skeleton, top, j)
        and not is_above(skeleton, j, top)
    ]  # fmt: skip
    if not beside:
        return {}
    at = skeleton.rest_model[..., 3].astype(np.float64)
    body = skeleton.descendants(top)
    near = NEAR * leg_length(at, chains)
    moved = {j for chain in chains.values() for j in chain}
    out = {}
    for j in beside:
        gap = np.linalg.norm(at[body] - at[j], axis=-1)
        there = [int(k) for k in body[gap < near]]
        # Of several in one place the one that is moved, and of those the outermost.
        if there:
            out[j] = max(there, key=lambda k: (k in moved, k))
    return out


def follow_limbs(
    skeleton: Skeleton,
    chains: Mapping[str, tuple[int, ...]],
    tracks: LocalTracks,
    count: int,
    others: Mapping[int, int],
) -> None:
    """Adds tracks of the followers that have none, and of `others` with the joint each follows."""
    named = derived(skeleton, "ik joints", lambda: tuple(n for n in skeleton.names if "ik" in words(n)))
    beside = derived(skeleton, "beside the trunk", lambda: bool(_beside_trunk(skeleton, chains)))
    if not named and not beside and not others and not detached_feet(skeleton):
        return
    found = {
        j: limb for j, limb in (followers(skeleton, chains) | {**others}).items() if (j, 1) not in tracks
    }
    if not found:
        return
    body = dense(skeleton, tracks, count)
    model = to_model(skeleton, body)
    rest = skeleton.rest_model.astype(np.float64)
    for j, limb in found.items():
        wanted = affine.multiply(
            model[:, limb].astype(np.float64), affine.multiply(affine.invert(rest[limb]), rest[j])
        )
        parent = int(skeleton.parents[j])
        if parent >= 0:
            wanted = affine.multiply(affine.invert(model_of(skeleton, body, parent)), wanted)
        place, turn, _ = transform.decompose(wanted)
        tracks[j, 0], tracks[j, 1] = place.astype(np.float32), turn.astype(np.float32)
        body.translation[:, j], body.rotation[:, j] = tracks[j, 0], tracks[j, 1]
