"""Feet without toes roll over the front of their sole: what stands is the skin that touches the ground, not a point."""

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

__all__ = ["rolled"]

Array = NDArray[Any]
NEAR = 0.006
"""Skin so much higher than the lowest (metres, for a person's leg) counts by a third of what that does."""


def rolled(tool: Retargeter, points: FeetPoints, model: Array) -> FeetPoints:
    """The points of the target's feet, where one has no toes with a ball that goes over the ground as the lowest skin of
    its front does. From frame to frame, that is: where it is in all means nothing."""
    soles, chains, skeleton = tool.soles_t, tool.chains("target"), tool.target
    if soles is None or len(model) < 2:
        return points
    known, stance = find_rig(skeleton).chains, tool._to
    place = points.place
    for k, side in enumerate(("left", "right")):
        sole, foot = soles.feet[k], chains[f"{side}_leg"][2]
        if sole is None or chains.get(f"{side}_toes") or known.get(f"{side}_toes"):
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
        place = place.copy() if place is points.place else place
        place[1:, k, 1, ::2] = place[0, k, 1, ::2] + np.cumsum(steps, axis=0)
    return points if place is points.place else replace(points, place=place)
