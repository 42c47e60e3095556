"""Hands that touch each other in the source touch in the target, and hands on the ground stay on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.limbs import dense, ease, move_end
from marrow.motion.transfer import LocalTracks

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["keep_hands"]

Array = NDArray[Any]


def keep_hands(tool: Retargeter, pose: Pose, world: Array, tracks: LocalTracks, times: Array) -> None:
    """Hands that touch each other in the source touch in the target; hands on the ground stay on it."""
    if any(
        len(tool.map[f"{s}_arm"].source) < 3 or len(tool.map[f"{s}_arm"].target) < 3
        for s in ("left", "right")
    ):
        return
    theirs = to_model(tool.source, pose)[..., 3][
        :, [tool.map[f"{s}_arm"].source[2] for s in ("left", "right")]
    ]
    place = quaternion.rotate(world, theirs.astype(np.float64)) * tool.scale
    place[..., 1] -= tool.ground(pose, world) * tool.scale
    chains = tool.chains("target")
    body = dense(tool.target, tracks, len(times))
    model = to_model(tool.target, body)
    hands = [chains[f"{s}_arm"][2] for s in ("left", "right")]
    mine = model[..., 3][:, hands].astype(np.float64)
    leg = tool.leg_t
    apart = place[:, 0] - place[:, 1]
    near = ease(2 - np.linalg.norm(apart, axis=-1) / (0.25 * leg))[:, None]
    shift = np.zeros_like(mine)
    pull = (apart - (mine[:, 0] - mine[:, 1])) / 2 * near
    shift[:, 0], shift[:, 1] = pull, -pull
    low = ease(2 - place[..., 1] / (0.15 * leg))
    shift[..., 1] += (place[..., 1] - mine[..., 1] - shift[..., 1]) * low
    for k, side in enumerate(("left", "right")):
        if np.abs(shift[:, k]).max(initial=0.0) > 1e-5:
            move_end(
                tool.target, chains[f"{side}_arm"], shift[:, k], body, model, tracks, -tool.rest_t.frame[:, 2]
            )
