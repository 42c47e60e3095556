"""Hands that touch each other in the source touch in the target, and hands on the ground stay on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.contacts import LEG, LOW, FeetPoints, carriers, planted_frames
from marrow.motion.foot_locking import FootPath, hold
from marrow.motion.limbs import dense, ease, move_end
from marrow.motion.retarget_rotations import LocalTracks

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["keep_hands"]

Array = NDArray[Any]


TOUCHING, PALM = 0.25, 0.1
"""Hands closer than the first (metres, for a person's leg) touch; one that leans on the ground has its wrist this high."""


def keep_hands(tool: Retargeter, pose: Pose, world: Array, tracks: LocalTracks, times: Array) -> bool:
    """Hands that touch each other in the source touch in the target; hands on the ground stay on it, where they are. False
    where an arm has no hand."""
    arms = [tool.map[f"{s}_arm"] for s in ("left", "right")]
    if min(len(c) for arm in arms for c in (arm.source, arm.target)) < 3:
        return False
    size = tool.leg_t / LEG
    there = to_model(tool.source, pose)[..., 3][:, [arm.source[2] for arm in arms]]
    place = quaternion.rotate(world, there.astype(np.float64)) * tool.scale
    place[..., 1] -= tool.ground(pose, world) * tool.scale
    body = dense(tool.target, tracks, len(times))
    model = to_model(tool.target, body)
    mine = model[..., 3][:, [arm.target[2] for arm in arms]].astype(np.float64)
    apart = place[:, 0] - place[:, 1]
    near = ease(2 - np.linalg.norm(apart, axis=-1) / (TOUCHING * size))[:, None]
    pull = (apart - (mine[:, 0] - mine[:, 1])) / 2 * near
    shift = np.stack([pull, -pull], axis=1)
    shift[..., 1] += (place - mine - shift)[..., 1] * ease(2 - place[..., 1] / (1.5 * PALM * size))
    _hold(place, mine + shift, shift, times, size)
    for k, arm in enumerate(arms):
        if np.abs(shift[:, k]).max(initial=0.0) > 1e-5:
            move_end(tool.target, arm.target, shift[:, k], body, model, tracks, -tool.rest_t.frame[:, 2])
    return True


def _hold(theirs: Array, mine: Array, shift: Array, times: Array, size: float) -> None:
    """Adds to `shift (T, 2, 3)` what holds hands in place that stand on the ground in the source. A hand is a foot of one
    point."""
    points = FeetPoints(np.stack([theirs, theirs], axis=2), np.full((2, 2), PALM * size), LEG * size)
    stands = carriers(points, planted_frames(points, times), times)
    for k in range(2):
        place = np.stack([mine[:, k], mine[:, k]], axis=1)
        own = mine[:, k, 1] - PALM * size
        hand = FootPath(times, place, own, points.place[:, k], points.height[:, k], stands[:, k], size)
        if (points.height[:, k] < LOW * size).any():
            shift[:, k, ::2] += hold(hand)[:, ::2]
