"""The mannequin's shape: muscles as rounded cones and ellipsoids, part by part, smoothly united.

The parts are named because skin weights ask them too: which part a vertex belongs to is which part it is
nearest. All shapes are of the left half; the body is mirrored at x = 0 when it is polygonised.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from samples_modeller import rig
from samples_modeller.rig import FINGERS, LANDMARKS
from samples_modeller.sdf import (
    Array,
    Field,
    bounded,
    ellipsoid,
    half_space,
    round_cone,
    smooth_intersection,
    smooth_union,
)

__all__ = ["Parts", "parts"]


@dataclass(frozen=True)
class Parts:
    """The fields of the body's parts, and `whole`, the surface itself."""

    trunk: Field
    head: Field
    arm: Field
    palm: Field
    fingers: dict[str, Field]
    leg: Field
    whole: Field


def _frame(y: Array, z: Array) -> Array:
    """Axes with Y along a limb and Z to its front, as columns."""
    y = y / np.linalg.norm(y)
    z = z - y * (y @ z)
    z = z / np.linalg.norm(z)
    return np.column_stack([np.cross(y, z), y, z])


WEB_REACH = 0.016  # metres past the knuckles
FORWARD = np.array([0, 0, 1.0])


def _trunk() -> Field:
    torso = smooth_union(
        0.07,
        ellipsoid((0, 1.315, -0.012), (0.142, 0.165, 0.098)),  # ribcage
        ellipsoid((0, 1.13, -0.004), (0.104, 0.15, 0.076)),  # waist
        ellipsoid((0, 0.985, -0.004), (0.132, 0.098, 0.090)),  # pelvis
        round_cone((0.122, 1.355, -0.035), (0.070, 1.14, -0.03), 0.062, 0.042),  # latissimus
    )
    upper = smooth_union(
        0.045,
        torso,
        round_cone((0.0, 1.462, -0.044), (0.148, 1.427, -0.032), 0.047, 0.05),  # trapezius, shoulder girdle
        ellipsoid((0.074, 1.362, 0.050), (0.084, 0.060, 0.044)),  # pectorals
        ellipsoid((0.030, 1.17, 0.054), (0.034, 0.115, 0.026)),  # abdominals
    )
    return smooth_union(
        0.035,
        upper,
        ellipsoid((0.064, 0.935, -0.048), (0.076, 0.084, 0.062)),  # buttocks
        ellipsoid((0.0, 0.905, -0.004), (0.062, 0.056, 0.060)),  # groin
        round_cone((0, 1.43, -0.036), (0, 1.60, -0.008), 0.056, 0.048),  # neck
        round_cone((0.062, 1.452, -0.046), (0.014, 1.545, -0.028), 0.026, 0.026),  # neck muscles
    )


def _head() -> Field:
    skull = smooth_union(
        0.05,
        ellipsoid((0, 1.703, -0.012), (0.079, 0.097, 0.099)),
        ellipsoid((0, 1.645, 0.026), (0.061, 0.074, 0.066)),  # face
        ellipsoid((0, 1.590, 0.050), (0.029, 0.018, 0.028)),  # chin
        round_cone((0.050, 1.626, -0.006), (0.016, 1.592, 0.048), 0.018, 0.016),  # jaw line
    )
    face = smooth_union(
        0.03,
        skull,
        ellipsoid((0, 1.692, 0.042), (0.066, 0.026, 0.052)),  # visor
        round_cone((0, 1.664, 0.082), (0, 1.644, 0.092), 0.008, 0.0105),  # nose
        round_cone((0.0, 1.612, 0.070), (0.014, 1.610, 0.066), 0.010, 0.008),  # mouth
    )
    return smooth_union(
        0.012,
        face,
        ellipsoid(
            (0.078, 1.678, -0.014), (0.010, 0.030, 0.020), _frame(np.array([0.1, 1, -0.25]), FORWARD)
        ),  # ears
    )


def _arm() -> Field:
    shoulder, elbow, wrist = rig.arm_points()
    upper = _frame(elbow - shoulder, FORWARD)
    lower = _frame(wrist - elbow, FORWARD)
    hand = rig.hand_frame()

    def on(frame: Array, start: Array, along: float, side: float = 0.0, front: float = 0.0) -> Array:
        return start + frame @ np.array([side, along, front])

    # The frame's +X points down and in on the left arm, so a negative side is the outside of the shoulder.
    muscles = smooth_union(
        0.035,
        round_cone(shoulder, on(upper, shoulder, 0.15), 0.050, 0.042),
        round_cone(on(upper, shoulder, 0.15), elbow, 0.041, 0.036),
        ellipsoid(on(upper, shoulder, 0.045, -0.012, -0.002), (0.049, 0.088, 0.056), upper),  # deltoid
        ellipsoid(on(upper, shoulder, 0.155, 0.0, 0.014), (0.036, 0.080, 0.036), upper),  # biceps
        ellipsoid(on(upper, shoulder, 0.145, 0.0, -0.014), (0.036, 0.090, 0.036), upper),  # triceps
    )
    forearm = smooth_union(
        0.03,
        muscles,
        round_cone(elbow, on(lower, elbow, 0.085), 0.036, 0.040),
        round_cone(on(lower, elbow, 0.085), on(lower, elbow, 0.20), 0.039, 0.0275),
        ellipsoid(on(lower, elbow, 0.075, -0.006, 0.005), (0.037, 0.078, 0.036), lower),  # forearm muscles
    )
    # Towards the wrist the arm is flat in the plane of the palm.
    flat = 0.8 * hand.palm
    return smooth_union(
        0.03,
        forearm,
        round_cone(on(lower, elbow, 0.19), wrist + 0.012 * hand.along, 0.0275, 0.027, flatten=flat),
    )


def _palm() -> Field:
    hand = rig.hand_frame()
    flat = 0.62 * hand.palm
    bones = [
        round_cone(
            hand.point((0.012, 0.010, 0.0)), hand.point((0.086, 0.026, 0.001)), 0.0205, 0.0175, flatten=flat
        ),
        round_cone(
            hand.point((0.012, 0.0, -0.001)), hand.point((0.089, 0.006, -0.001)), 0.022, 0.0175, flatten=flat
        ),
        round_cone(
            hand.point((0.012, -0.010, 0.0)), hand.point((0.083, -0.013, 0.0)), 0.0205, 0.0165, flatten=flat
        ),
        round_cone(
            hand.point((0.014, -0.016, 0.001)),
            hand.point((0.072, -0.029, 0.002)),
            0.018,
            0.0145,
            flatten=flat,
        ),
    ]
    ball_of_thumb = round_cone(
        hand.point((0.020, 0.014, 0.006)), hand.point((0.05, 0.036, 0.014)), 0.0165, 0.0135
    )
    return smooth_union(0.014, *bones, ball_of_thumb, *_webs())


def _webs() -> list[Field]:
    """Skin between neighbouring fingers: it keeps the clefts round enough for the grid."""
    names = [name for name in FINGERS if name != "thumb"]
    points = [rig.finger_points(name) for name in names]
    starts = [p[0] + WEB_REACH * (p[1] - p[0]) / np.linalg.norm(p[1] - p[0]) for p in points]
    return [round_cone(a, b, 0.0072, 0.0072) for a, b in pairwise(starts)]


def _finger(name: str) -> Field:
    points = rig.finger_points(name)
    r0, r1 = FINGERS[name].radii
    radii = np.interp([0, 0.45, 0.75, 1], [0, 1], [r0, r1])
    ends = points.copy()
    ends[3] += (
        (points[2] - points[3]) / np.linalg.norm(points[2] - points[3]) * radii[3]
    )  # round tip inside the bone
    cones = [round_cone(ends[k], ends[k + 1], radii[k], radii[k + 1]) for k in range(3)]
    return smooth_union(0.004, *cones)


def _leg() -> Field:
    hip, knee, ankle = (np.array(LANDMARKS[k]) for k in ("hip", "knee", "ankle"))
    thigh, shank = _frame(knee - hip, FORWARD), _frame(ankle - knee, FORWARD)

    def on(frame: Array, start: Array, along: float, side: float = 0.0, front: float = 0.0) -> Array:
        return start + frame @ np.array([side, along, front])

    upper = smooth_union(
        0.05,
        round_cone(hip + np.array([0.004, 0.01, 0.0]), on(thigh, hip, 0.22, -0.002), 0.073, 0.058),
        round_cone(on(thigh, hip, 0.22, -0.002), knee, 0.057, 0.044),
        ellipsoid(on(thigh, hip, 0.17, -0.009, 0.024), (0.054, 0.165, 0.049), thigh),  # quadriceps
        ellipsoid(on(thigh, hip, 0.17, -0.001, -0.022), (0.052, 0.155, 0.047), thigh),  # hamstrings
        ellipsoid(on(thigh, hip, 0.345, 0.026, 0.012), (0.028, 0.055, 0.032), thigh),  # vastus medialis
    )
    lower = smooth_union(
        0.03,
        upper,
        ellipsoid(knee + np.array([0.0, 0.004, 0.022]), (0.034, 0.042, 0.030)),  # kneecap
        round_cone(knee, on(shank, knee, 0.13, 0, -0.004), 0.045, 0.046),
        round_cone(on(shank, knee, 0.13, 0, -0.004), ankle + np.array([0, 0.02, 0]), 0.046, 0.031),
        ellipsoid(on(shank, knee, 0.115, 0.012, -0.024), (0.036, 0.090, 0.034), shank),  # calf, inner head
        ellipsoid(on(shank, knee, 0.105, -0.014, -0.022), (0.034, 0.082, 0.032), shank),  # calf, outer head
    )
    return smooth_union(0.032, lower, _foot())


def _foot() -> Field:
    ankle, ball = np.array(LANDMARKS["ankle"]), np.array(LANDMARKS["ball"])
    x = ankle[0]
    foot = smooth_union(
        0.035,
        ellipsoid((x, 0.034, -0.045), (0.034, 0.042, 0.040)),  # heel
        round_cone((x, 0.080, -0.026), (x + 0.004, 0.040, 0.070), 0.033, 0.030),  # instep
        round_cone(
            (x, 0.028, -0.03), (ball[0], 0.024, 0.09), 0.034, 0.040, flatten=(0, 0.75, 0)
        ),  # outer edge
        ellipsoid((ball[0], 0.022, 0.118), (0.047, 0.030, 0.055)),  # ball of the foot
        ellipsoid((ball[0] - 0.012, 0.018, 0.160), (0.027, 0.024, 0.036)),  # big toe
        ellipsoid((ball[0] + 0.016, 0.016, 0.148), (0.026, 0.021, 0.034)),  # the other toes
    )
    return smooth_intersection(0.012, foot, half_space((0, 0, 0), (0, -1, 0)))


@cache
def parts() -> Parts:
    """The body's fields."""
    trunk = bounded(_trunk(), (-0.24, 0.80, -0.18), (0.24, 1.64, 0.16))
    head = bounded(_head(), (-0.11, 1.55, -0.13), (0.11, 1.82, 0.13))
    leg = bounded(_leg(), (-0.02, -0.01, -0.12), (0.22, 1.04, 0.21))
    shoulder, _, wrist = rig.arm_points()
    arm = bounded(
        _arm(), (shoulder[0] - 0.08, wrist[1] - 0.06, -0.12), (wrist[0] + 0.06, shoulder[1] + 0.08, 0.09)
    )
    hand = rig.hand_frame()
    reach = hand.point(
        np.array([(a, t, n) for a in (-0.02, 0.11) for t in (-0.05, 0.06) for n in (-0.025, 0.035)])
    )
    palm = bounded(_palm(), reach.min(0), reach.max(0))
    fingers = {}
    for name in FINGERS:
        points = rig.finger_points(name)
        fingers[name] = bounded(_finger(name), points.min(0) - 0.02, points.max(0) + 0.02, 0.03)
    thumbed = smooth_union(0.012, palm, fingers["thumb"])
    hand_field = smooth_union(0.008, thumbed, *(fingers[name] for name in FINGERS if name != "thumb"))
    whole = smooth_union(
        0.035,
        smooth_union(0.045, trunk, leg),
        smooth_union(0.014, arm, hand_field),
    )
    whole = smooth_union(0.025, whole, head)
    return Parts(trunk, head, arm, palm, fingers, leg, whole)
