"""The mannequin's skeleton: where its joints are, how their axes lie, its sockets and morph channels.

Joint axes, the same on every joint: +Y runs along the bone, +Z is its front (forward for trunk, arms and
legs, the palm for hands and fingers, the top for feet), +X completes the frame. A positive turn about +X
therefore swings a bone towards its front: it bows the spine, raises an arm or a leg forward, curls a finger,
lifts the toes. Right-hand joints are the mirror images of the left: equal turns about X mirror each other,
turns about Y and Z mirror with the opposite sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from marrow.math import affine, quaternion, transform
from marrow.model import Skeleton, Socket
from samples_modeller.joints import Joint, both_sides, rest_pose
from samples_modeller.sdf import Array

__all__ = ["FINGERS", "LANDMARKS", "MORPHS", "Hand", "bind_frames", "hand_frame", "skeleton"]

MORPHS = ("breathe", "fist_l", "fist_r", "smile", "blink")

LANDMARKS: dict[str, tuple[float, float, float]] = {
    "pelvis": (0.0, 0.985, -0.005),
    "spine_01": (0.0, 1.065, -0.008),
    "spine_02": (0.0, 1.185, -0.012),
    "spine_03": (0.0, 1.305, -0.022),
    "neck": (0.0, 1.475, -0.03),
    "head": (0.0, 1.575, -0.008),
    "head_top": (0.0, 1.80, 0.0),
    "clavicle": (0.028, 1.425, -0.005),
    "shoulder": (0.178, 1.42, -0.026),
    "hip": (0.092, 0.925, -0.002),
    "knee": (0.1, 0.5, 0.014),
    "ankle": (0.105, 0.085, -0.022),
    "ball": (0.112, 0.026, 0.105),
    "toe": (0.114, 0.02, 0.185),
    "heel": (0.105, 0.0, -0.06),
}
UPPERARM_LENGTH, LOWERARM_LENGTH = 0.285, 0.25
ARM_SLOPE = np.radians(47.0)  # below the horizontal: shoulders deform best from the middle of their range
ELBOW_BEND = np.radians(7.0)  # a little flexion tells every solver which way the elbow goes


@dataclass(frozen=True)
class Finger:
    """Where a finger starts in the hand (along, towards the thumb, towards the palm), where it points, how
    long its three bones are and how thick it is at knuckle and tip."""

    start: tuple[float, float, float]
    spread: float
    dip: float
    lengths: tuple[float, float, float]
    radii: tuple[float, float]
    curl: float = 7.0


FINGERS: dict[str, Finger] = {
    "thumb": Finger((0.026, 0.026, 0.010), 43, 20, (0.046, 0.034, 0.028), (0.0135, 0.0095), 6),
    "index": Finger((0.093, 0.031, 0.0), 7.5, 2, (0.043, 0.027, 0.022), (0.0098, 0.0078)),
    "middle": Finger((0.097, 0.0095, -0.001), 1.5, 2, (0.047, 0.030, 0.023), (0.0098, 0.0078)),
    "ring": Finger((0.092, -0.012, 0.0), -5.0, 2, (0.043, 0.028, 0.022), (0.0094, 0.0075)),
    "pinky": Finger((0.081, -0.032, 0.002), -12.5, 2, (0.034, 0.022, 0.020), (0.0086, 0.0068)),
}


@dataclass(frozen=True)
class Hand:
    """The left hand's own axes in model space: along the fingers, towards the thumb, out of the palm."""

    wrist: Array
    along: Array
    thumb: Array
    palm: Array

    def point(self, local: Array | tuple[float, ...]) -> Array:
        return self.wrist + self.vector(local)

    def vector(self, local: Array | tuple[float, ...]) -> Array:
        a, t, n = np.moveaxis(np.asarray(local, float), -1, 0)
        return a[..., None] * self.along + t[..., None] * self.thumb + n[..., None] * self.palm


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


@cache
def arm_points() -> tuple[Array, Array, Array]:
    """Shoulder, elbow and wrist of the left arm."""
    shoulder = np.array(LANDMARKS["shoulder"])
    along = np.array([np.cos(ARM_SLOPE), -np.sin(ARM_SLOPE), 0])
    elbow = shoulder + UPPERARM_LENGTH * along
    forearm = np.cos(ELBOW_BEND) * along + np.sin(ELBOW_BEND) * np.array([0, 0, 1.0])
    return shoulder, elbow, elbow + LOWERARM_LENGTH * forearm


@cache
def hand_frame() -> Hand:
    """The left hand: it goes on where the forearm points, thumb forward, palm to the thigh."""
    _, elbow, wrist = arm_points()
    along = _unit(wrist - elbow)
    thumb = _unit(np.array([0, 0, 1.0]) - along * along[2])
    return Hand(wrist, along, thumb, np.cross(along, thumb))


@cache
def finger_points(name: str) -> Array:
    """The three joints and the tip of a left finger, `(4, 3)`."""
    finger, hand = FINGERS[name], hand_frame()
    points = [np.array(finger.start)]
    for k, length in enumerate(finger.lengths):
        spread, dip = np.radians(finger.spread), np.radians(finger.dip + k * finger.curl)
        step = np.array([np.cos(dip) * np.cos(spread), np.cos(dip) * np.sin(spread), np.sin(dip)])
        points.append(points[-1] + length * step)
    return hand.point(np.array(points))


def _left_joints() -> list[Joint]:
    """Joints of the middle and the left, parents first."""
    at = {k: np.array(v) for k, v in LANDMARKS.items()}
    up, forward = np.array([0, 1.0, 0]), np.array([0, 0, 1.0])
    shoulder, elbow, wrist = arm_points()
    hand = hand_frame()
    joints = [
        Joint("root", "", np.zeros(3), up, forward),
        Joint("pelvis", "root", at["pelvis"], at["pelvis"] + up, forward),
    ]

    def add(name: str, parent: str, position: Array, toward: Array, front: Array = forward) -> None:
        joints.append(Joint(name, parent, position, toward, front))

    trunk = ["pelvis", "spine_01", "spine_02", "spine_03", "neck", "head", "head_top"]
    for parent, name, following in zip(trunk, trunk[1:], trunk[2:]):
        add(name, parent, at[name], at[following])
    add("clavicle_l", "spine_03", at["clavicle"], shoulder)
    add("upperarm_l", "clavicle_l", shoulder, elbow)
    add("upperarm_twist_01_l", "upperarm_l", shoulder + 0.12 * (elbow - shoulder), elbow)
    add("lowerarm_l", "upperarm_l", elbow, wrist)
    add("lowerarm_twist_01_l", "lowerarm_l", elbow + 0.55 * (wrist - elbow), wrist)
    add("hand_l", "lowerarm_l", wrist, wrist + hand.along, hand.palm)
    for finger in FINGERS:
        points = finger_points(finger)
        # A thumb closes across the palm, not into it.
        front = hand.palm if finger != "thumb" else hand.vector((0.25, -0.75, 0.6))
        parent = "hand_l"
        for k in range(3):
            name = f"{finger}_0{k + 1}_l"
            add(name, parent, points[k], points[k + 1], front)
            parent = name
    add("thigh_l", "pelvis", at["hip"], at["knee"])
    add("thigh_twist_01_l", "thigh_l", at["hip"] + 0.15 * (at["knee"] - at["hip"]), at["knee"])
    add("calf_l", "thigh_l", at["knee"], at["ankle"])
    add("calf_twist_01_l", "calf_l", at["knee"] + 0.55 * (at["ankle"] - at["knee"]), at["ankle"])
    add("foot_l", "calf_l", at["ankle"], at["ball"], up)
    add("ball_l", "foot_l", at["ball"], at["toe"], up)
    return joints


@cache
def bind_frames() -> tuple[tuple[str, ...], Array, Array]:
    """Names, parents `(J,)` and bind matrices `(J, 3, 4)` in model space."""
    return both_sides(_left_joints())


@cache
def skeleton() -> Skeleton:
    """The skeleton with its rest pose (the bind pose), morph channels and sockets."""
    names, parents, bind = bind_frames()
    rest = rest_pose(parents, bind, len(MORPHS))
    return Skeleton(names, parents, rest, MORPHS, tuple(_sockets(names, bind)))


def _sockets(names: tuple[str, ...], bind: Array) -> list[Socket]:
    """`hand_l_grip` and `hand_r_grip` have +Y out of the thumb's side of a closed fist; `head_top` and
    `back` are upright."""
    hand = hand_frame()
    grip_y = _unit(hand.vector((0.66, 1.0, 0.05)))
    grip_z = hand.palm - grip_y * (hand.palm @ grip_y)
    grip = np.column_stack(
        [np.cross(grip_y, _unit(grip_z)), grip_y, _unit(grip_z), hand.point((0.083, 0.0, 0.021))]
    )
    upright = np.column_stack([np.eye(3), np.zeros(3)])
    head_top, back = upright.copy(), upright.copy()
    head_top[:, 3] = LANDMARKS["head_top"]
    back[:, 3] = (0.0, 1.30, -0.135)
    grip_right = grip * np.array([[-1.0], [1.0], [1.0]])
    grip_right[:, 0] *= -1
    places = [
        ("hand_l_grip", "hand_l", grip),
        ("hand_r_grip", "hand_r", grip_right),
        ("head_top", "head", head_top),
        ("back", "spine_03", back),
    ]
    sockets = []
    for name, joint, frame in places:
        j = names.index(joint)
        translation, rotation, _ = transform.decompose(affine.multiply(affine.invert(bind[j]), frame))
        sockets.append(Socket(name, j, translation, quaternion.normalize(rotation)))
    return sockets
