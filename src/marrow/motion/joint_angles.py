"""`joint_angles`: what the hinges of a robot do in a pose, as the numbers its motors take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import check_pose
from marrow.errors import ValidationError, WrongTypeError
from marrow.math import quaternion
from marrow.model import Character, Pose, Skeleton, _validate

__all__ = ["JointAngles", "joint_angles"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class JointAngles:
    """`names` of the hinges as the robot's file has them, `values (..., H)` in radians (metres for those that slide), and
    `rest (..., H)`: by how many radians each joint is turned about other axes, which its hinge cannot do."""

    names: tuple[str, ...]
    values: Array
    rest: Array


def joint_angles(body: Skeleton | Character, pose: Pose) -> JointAngles:
    """The angles of a robot's hinges in a pose, or in a batch of poses, counted from its rest pose."""
    if not isinstance(body, (Skeleton, Character)):
        raise WrongTypeError(f"joint_angles: expected a Skeleton or a Character, got {_validate.shown(body)}")
    skeleton = body.skeleton if isinstance(body, Character) else body
    _validate.instance("joint_angles", "pose", pose, Pose)
    check_pose(skeleton, pose)
    hinges = skeleton.hinges
    if not hinges:
        raise ValidationError("joint_angles: the skeleton has no hinges: it is of no robot (URDF, MJCF)")
    joints = [h.joint for h in hinges]
    axis = np.array([h.axis for h in hinges])
    slides = np.array([h.slides for h in hinges])
    rest = skeleton.rest.rotation[joints].astype(np.float64)
    turn = quaternion.multiply(
        quaternion.conjugate(rest), quaternion.normalize(pose.rotation[..., joints, :].astype(np.float64))
    )
    turn = np.where(turn[..., 3:] < 0, -turn, turn)
    along = (turn[..., :3] * axis).sum(-1)
    angle = 2 * np.arctan2(along, turn[..., 3])
    middle = np.array([(h.lower + h.upper) / 2 if np.isfinite(h.lower + h.upper) else 0.0 for h in hinges])
    # A turn and a whole one more look the same: the one that is nearest to the middle of the range is meant.
    angle = angle + 2 * np.pi * np.round((np.where(slides, 0.0, middle) - angle) / (2 * np.pi))
    moved = pose.translation[..., joints, :].astype(np.float64) - skeleton.rest.translation[joints]
    slid = (moved * quaternion.rotate(rest, axis)).sum(-1)
    others = np.linalg.norm(turn[..., :3] - along[..., None] * axis, axis=-1)
    whole = 2 * np.arcsin(np.clip(np.where(slides, np.linalg.norm(turn[..., :3], axis=-1), others), 0, 1))
    return JointAngles(tuple(h.name for h in hinges), np.where(slides, slid, angle), whole)
