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
from marrow.motion.joint_names import words
from marrow.motion.limbs import dense
from marrow.motion.retarget_rotations import LocalTracks, model_of
from marrow.motion.tree import is_above

__all__ = ["follow_limbs", "followers"]

Array = NDArray[Any]


def followers(skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]]) -> dict[int, int]:
    """Joints called `ik` of a foot or hand, feet that hang elsewhere, and the joint each follows; parents first. The gun is
    in the right hand."""
    ends = {chain[2] for part, chain in chains.items() if part.endswith("_leg") and len(chain) > 2}
    out = {foot: end for foot, end in detached_feet(skeleton).items() if end in ends}
    hips = chains["hips"][0]
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


def follow_limbs(
    skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], tracks: LocalTracks, count: int
) -> None:
    """Adds tracks of the followers that have none."""
    named = derived(skeleton, "ik joints", lambda: tuple(n for n in skeleton.names if "ik" in words(n)))
    if not named and not detached_feet(skeleton):
        return
    found = {j: limb for j, limb in followers(skeleton, chains).items() if (j, 1) not in tracks}
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
