"""`StandIn`: a body that turns freely, with the proportions of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Pose, Skeleton
from marrow.motion.robot_body import RobotBody

__all__ = ["StandIn"]

Array = NDArray[Any]
LEG_SLACK, ARM_SLACK = 0.012, 0.02
"""Of a limb: how much shorter than it is it counts as."""


class StandIn:
    """Its `skeleton`, which joint is which of its `bones`, and where these are on the robot at rest: `points (B, 3)`."""

    def __init__(self, robot: Skeleton, body: RobotBody) -> None:
        place = robot.rest_model[..., 3].astype(np.float64)
        names: list[str] = []
        parents: list[int] = []
        at: list[Array] = []
        bones: dict[str, int] = {}

        def add(bone: str, name: str, parent: int, where: Any) -> int:
            made = name
            while made in names:
                made += "'"
            names.append(made)
            parents.append(parent)
            at.append(np.asarray(where, np.float64) - [0.0, body.sole, 0.0])
            if bone:
                bones[bone] = len(names) - 1
            return len(names) - 1

        legs = [body.limbs[f"{s}_leg"] for s in ("left", "right")]
        arms = [body.limbs[f"{s}_arm"] for s in ("left", "right")]
        hips = np.mean([place[leg.upper] for leg in legs], axis=0)
        neck = np.mean([place[arm.upper] for arm in arms], axis=0)
        up = neck - hips
        own = robot.names
        top = add("hips", own[body.pelvis], -1, hips)
        spine = add("spine", "spine", top, hips + 0.2 * up)
        chest = add(
            "chest", own[body.chest] if body.chest != body.pelvis else "chest", spine, hips + 0.5 * up
        )
        throat = add("neck", "neck", chest, neck + 0.1 * up)
        add("head", own[body.head] if body.head >= 0 else "head", throat, neck + 0.35 * up)
        for side, leg, arm in zip(("left", "right"), legs, arms):
            j = add(f"{side}UpperLeg", own[leg.upper], top, place[leg.upper])
            j = add(f"{side}LowerLeg", own[leg.middle], j, place[leg.middle])
            foot = j = add(f"{side}Foot", own[leg.end], j, leg.tip)
            add("", f"{side} toe", foot, [leg.tip[0], body.sole, leg.tip[2] + 0.7 * body.toe])
            j = add(f"{side}UpperArm", own[arm.upper], chest, place[arm.upper])
            j = add(f"{side}LowerArm", own[arm.middle], j, place[arm.middle])
            add(f"{side}Hand", own[arm.end] if arm.end != arm.middle else f"{side} hand", j, arm.tip)
        points = np.array(at)
        self.points, self.bones = points + np.array([0.0, body.sole, 0.0]), bones
        self._slacken(points)
        above = np.array(parents)
        offsets = np.where(above[:, None] >= 0, points - points[above], points)
        rest = Pose.identity(len(names)).replace(translation=offsets.astype(np.float32))
        self.skeleton = Skeleton(tuple(names), above.astype(np.int32), rest, bones=bones)

    def _slacken(self, points: Array) -> None:
        """Makes the limbs of the stand-in shorter than the robot's, which so never have to be quite straight."""
        foot, knee, hip = (
            [self.bones[f"{side}{bone}"] for side in ("left", "right")]
            for bone in ("Foot", "LowerLeg", "UpperLeg")
        )
        ankle, top = float(points[foot, 1].mean()), float(points[hip, 1].mean())
        drop = LEG_SLACK * (top - ankle)
        higher = [j for j in range(len(points)) if j not in (*foot, *knee, *(f + 1 for f in foot))]
        points[higher, 1] -= drop
        points[knee, 1] -= drop * (points[knee, 1] - ankle) / max(top - ankle, 1e-9)
        for side in ("left", "right"):
            shoulder, elbow, hand = (self.bones[side + bone] for bone in ("UpperArm", "LowerArm", "Hand"))
            for j in (elbow, hand):
                points[j] = points[shoulder] + (1 - ARM_SLACK) * (points[j] - points[shoulder])
