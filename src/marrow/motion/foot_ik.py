"""Feet that were planted stay planted: after motion was taken to other proportions, legs are bent so that heel and ball
hold still where they did in the source, and neither they nor the points of a mesh's sole sink into the ground.

A foot keeps its turning; where it must be is found in `foot_locking.py`. Legs that become too short are made longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.contacts import LEG, FeetPoints, carriers, feet_points, planted_frames
from marrow.motion.foot_locking import FootPath, clear, hold
from marrow.motion.limbs import dense, move_end
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.soles import Soles

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["lowest_parts", "plant_feet", "source_points"]

Array = NDArray[Any]


def source_points(tool: Retargeter, pose: Pose, world: Array, model: Array | None = None) -> FeetPoints:
    """The source's feet in the target's world: turned and scaled, over the ground. `model` are the source's matrices, where
    they are at hand."""
    points = feet_points(tool.source, pose if model is None else model, tool.chains("source"), tool.feet_s)
    place = quaternion.rotate(world, points.place)
    place[..., 1] -= tool.ground(pose, world)
    return FeetPoints(place * tool.scale, points.rest * tool.scale, points.leg * tool.scale)


def plant_feet(tool: Retargeter, pose: Pose, world: Array, tracks: LocalTracks, times: Array) -> None:
    """Changes `tracks` so that the feet of the target stand where and when those of the source do.

    First each foot goes where the source's is, seen from the hip and scaled by the legs (thighs and shins may share a leg's
    length differently); then it is held while it stands.
    """
    source = to_model(tool.source, pose)
    theirs = source_points(tool, pose, world, source)
    stands = carriers(theirs, planted_frames(theirs, times), times)
    chains = tool.chains("target")
    body = dense(tool.target, tracks, len(times))
    model = to_model(tool.target, body)
    mine = feet_points(tool.target, model, chains, tool.feet_t)
    lowest = lowest_parts(mine, tool.soles_t, model)
    for k, side in enumerate(("left", "right")):
        there = quaternion.rotate(world, _leg(source, tool.map[f"{side}_leg"].source)) * tool.scale
        shift = there - _leg(model, chains[f"{side}_leg"])
        foot = FootPath(
            times, mine.place[:, k] + shift[:, None], mine.height[:, k].min(axis=1) + shift[:, 1],
            theirs.place[:, k], theirs.height[:, k], stands[:, k], mine.leg / LEG,
        )  # fmt: skip
        shift += hold(foot)
        shift[:, 1] += clear(-(lowest[:, k] + shift[:, 1]), times)
        if np.abs(shift).max(initial=0.0) > 1e-5 * mine.leg:
            move_end(tool.target, chains[f"{side}_leg"], shift, body, model, tracks, tool.rest_t.frame[:, 2])


def lowest_parts(points: FeetPoints, soles: Soles | None, model: Array) -> Array:
    """How high the lowest part of each foot is over the ground, `(T, 2)`: heel, ball, and the sole of a mesh."""
    joints = points.height.min(axis=-1)
    return joints if soles is None else np.minimum(joints, soles.heights(model))


def _leg(model: Array, chain: tuple[int, ...]) -> Array:
    """From the hip to the ankle, `(T, 3)`."""
    return (model[:, chain[2], :, 3] - model[:, chain[0], :, 3]).astype(np.float64)
