"""What stands is the skin that touches the ground, not a point of a joint: the skin under heel and ball, which may go with
the shin a little, and of feet without toes, which roll over the front of their sole, whatever is the lowest there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.motion.contacts import LEG, FeetPoints
from marrow.motion.rig import find_rig

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["on_skin"]

Array = NDArray[Any]
NEAR = 0.006
"""Skin so much higher than the lowest (metres, for a person's leg) counts by a third of what that does."""


def on_skin(tool: Retargeter, points: FeetPoints, model: Array) -> FeetPoints:
    """The points of the target's feet as the skin under them goes over the ground; where one has no toes, the ball as the
    lowest skin of its front does, from frame to frame, that is: where it is in all means nothing."""
    soles, chains, skeleton = tool.soles_t, tool.chains("target"), tool.target
    if soles is None or len(model) < 2:
        return points
    known, stance = find_rig(skeleton).chains, tool._to
    place = points.place.copy()
    for k, side in enumerate(("left", "right")):
        sole, foot = soles.feet[k], chains[f"{side}_leg"][2]
        if sole is None:
            continue
        place[:, k, :, ::2] = sole.stood_on(model)[..., ::2]
        if chains.get(f"{side}_toes") or known.get(f"{side}_toes"):
            continue
        rest = skeleton.rest_model.astype(np.float64)
        ahead = quaternion.rotate(quaternion.conjugate(stance.rotation[foot]), stance.frame[:, 2])
        front = (soles.places(rest[None], k)[0] - rest[foot, :, 3]) @ (rest[foot, :, :3] @ ahead) > 0
        if not front.any():
            continue
        skin = sole.places(model, front)
        height = skin[..., 1] - sole.ground[front]
        height = height[:-1] + height[1:]
        share = np.exp((height.min(axis=1, keepdims=True) - height) / (2 * NEAR * tool.leg_t / LEG))
        share /= share.sum(axis=1, keepdims=True)
        steps = np.einsum("tp,tpi->ti", share, np.diff(skin[..., ::2], axis=0))
        place[1:, k, 1, ::2] = place[0, k, 1, ::2] + np.cumsum(steps, axis=0)
    return replace(points, place=place)
