"""Rotations from the places of points: against bodies whose rotations are known."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
import point_worlds
from marrow.errors import ValidationError
from marrow.math import quaternion
from marrow.motion.point_body import body_of_skeleton, fitted_body, unlikely_body
from marrow.motion.point_layouts import LAYOUTS, NEEDED, point_name
from marrow.motion.point_solver import PointOn, PointSolver

NOT_SEEN = ("Thumb", "Index", "Middle", "Ring", "Little", "Hand", "head")


def rotations(model: np.ndarray) -> np.ndarray:
    return quaternion.from_matrix(np.asarray(model[..., :3], np.float64))


def test_rotations_and_places_come_back_from_places() -> None:
    hero, model = point_worlds.walker()
    skeleton = hero.skeleton
    joints = skeleton.descendants("@hips").tolist()
    solved = PointSolver(skeleton, joints).solve(model[:, joints][..., 3])
    found = skeleton.to_model(solved.pose)
    assert np.linalg.norm(found[:, joints][..., 3] - model[:, joints][..., 3], axis=-1).max() < 0.002
    body = [j for bone, j in skeleton.humanoid.items() if not any(w in bone for w in NOT_SEEN)]
    off = np.degrees(quaternion.angle(rotations(model[:, body]), rotations(found[:, body])))
    assert np.median(off) < 5 and np.median(off, axis=0).max() < 8


def arm(twist: float, bends: np.ndarray) -> tuple[mw.Skeleton, np.ndarray, np.ndarray]:
    """A body in T-pose that bends its left elbow, with the upper arm rolled: skeleton, rotations of that arm, places."""
    points = np.repeat(np.stack([_rest()[name] for name in NEEDED])[None], 3, axis=0)
    skeleton = fitted_body(NEEDED, points).skeleton
    T = len(bends)
    rest = skeleton.rest
    fields = (rest.translation, rest.rotation, rest.scale, rest.morphs)
    pose = mw.Pose(*(np.repeat(a[None], T, axis=0) for a in fields))
    model = skeleton.rest_model[:, :, 3].astype(np.float64)
    upper, lower = (skeleton.index(n) for n in ("left_shoulder", "left_elbow"))
    along = model[lower] - model[upper]
    straight = model[skeleton.index("left_wrist")] - model[lower]
    rotation = pose.rotation.copy()
    rotation[:, upper] = quaternion.from_axis_angle(along / np.linalg.norm(along), twist)
    # Straight is where the forearm goes on along the upper arm; from there it bends about -Y.
    on = quaternion.between(straight / np.linalg.norm(straight), along / np.linalg.norm(along))
    rotation[:, lower] = quaternion.multiply(quaternion.from_axis_angle([0.0, -1.0, 0.0], bends), on)
    pose = pose.replace(rotation=rotation)
    return skeleton, rotation[:, upper], skeleton.to_model(pose)[..., 3].astype(np.float64)


def _rest() -> dict[str, np.ndarray]:
    left = {"shoulder": (0.2, 1.4, 0), "elbow": (0.45, 1.4, 0), "wrist": (0.7, 1.4, 0), "hip": (0.1, 0.9, 0),
            "knee": (0.1, 0.5, 0.01), "ankle": (0.1, 0.1, 0)}  # fmt: skip
    out = {f"left_{n}": np.array(p, float) for n, p in left.items()}
    return out | {f"right_{n}": np.array((-p[0], *p[1:]), float) for n, p in left.items()}


def test_roll_of_an_arm_is_told_by_its_bend() -> None:
    for twist in (-1.0, 0.0, 0.7):
        skeleton, wanted, places = arm(twist, np.full(5, 0.8))
        solved = PointSolver(skeleton, range(len(skeleton))).solve(places)
        found = solved.pose.rotation[:, skeleton.index("left_shoulder")]
        assert np.degrees(quaternion.angle(found, wanted)).max() < 2


def test_roll_of_a_straight_arm_is_that_of_the_moments_around() -> None:
    bends = np.concatenate([np.full(4, 0.8), np.full(3, 0.005), np.full(4, 0.8)])
    skeleton, wanted, places = arm(0.9, bends)
    shaken = places.copy()
    shaken[5, skeleton.index("left_wrist"), 1] += 0.004  # as if the elbow bent upwards by a degree
    found = PointSolver(skeleton, range(len(skeleton))).solve(shaken).pose.rotation
    assert np.degrees(quaternion.angle(found[:, skeleton.index("left_shoulder")], wanted)).max() < 8


def test_a_knee_that_is_bent_back_a_little_does_not_turn_the_leg() -> None:
    rest = _rest()
    points = np.repeat(np.stack([rest[name] for name in NEEDED])[None], 4, axis=0)
    body = fitted_body(NEEDED, points)
    at = NEEDED.index("left_knee")
    points[2, at, 2] -= 0.03  # the knee behind the line from hip to ankle, by four degrees
    found = body.solve(points).pose.rotation[:, body.skeleton.index("left_hip")]
    assert np.degrees(quaternion.angle(found[2], found[1])) < 6


def test_a_turn_of_the_chest_is_shared_along_the_spine() -> None:
    rest = _rest()
    angles = np.radians([0.0, 30.0, 45.0])
    points = np.stack([np.stack([rest[name] for name in NEEDED])] * 3)
    for t, angle in enumerate(angles):
        for k, name in enumerate(NEEDED):
            if name.endswith(("shoulder", "elbow", "wrist")):
                points[t, k] = quaternion.rotate(
                    quaternion.from_axis_angle([0.0, 1.0, 0.0], angle), points[0, k]
                )
    body = fitted_body(NEEDED, points[:1])
    model = body.skeleton.to_model(body.solve(points).pose)
    for joint, share in (("pelvis", 0.0), ("spine1", 0.5), ("spine2", 1.0)):
        ahead = model[:, body.skeleton.index(joint)] @ np.array([0.0, 0.0, 1.0, 0.0])
        np.testing.assert_allclose(np.arctan2(ahead[:, 0], ahead[:, 2]), share * angles, atol=0.02)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_body_of_any_layout_follows_its_points(name: str) -> None:
    names = tuple(point for point in LAYOUTS[name].points if point)
    points = point_worlds.key_points(names)
    body = fitted_body(names, points)
    solved = body.solve(points)
    assert np.median(solved.distance) < 0.002 and solved.distance.max() < 0.02
    assert {"hips", "spine", "head", "leftUpperArm", "rightHand", "leftFoot"} <= set(body.skeleton.bones)
    again = body_of_skeleton(body.skeleton, names).solve(points)
    np.testing.assert_array_equal(again.pose.rotation, solved.pose.rotation)


@pytest.mark.parametrize("name", ["coco", "body25", "smpl-joints"])
def test_key_points_retargeted_onto_the_body_they_are_of_move_it_as_it_moved(name: str) -> None:
    hero, model = point_worlds.walker()
    names = tuple(point for point in LAYOUTS[name].points if point)
    points = point_worlds.key_points(names)
    body = fitted_body(names, points)
    clip = mw.Clip.from_poses("walk", body.skeleton, body.solve(points).pose, rate=30)
    found = hero.skeleton.to_model(mw.retarget(clip, onto=hero).sample(np.arange(31) / 30))
    limbs = [
        hero.skeleton.humanoid[f"{s}{b}"]
        for s in ("left", "right")
        for b in ("UpperArm", "LowerArm", "UpperLeg")
    ]
    off = np.degrees(quaternion.angle(rotations(model[:, limbs]), rotations(found[:, limbs])))
    assert np.median(off) < 5 and np.median(off, axis=0).max() < 8


def test_points_that_are_no_body_are_told_from_one() -> None:
    names = tuple(LAYOUTS["coco"].points)
    assert unlikely_body(names, point_worlds.key_points(names)) == ""
    mixed = np.random.default_rng(1).permutation(len(names))
    assert unlikely_body(names, point_worlds.key_points(names)[:, mixed]) != ""
    assert "left shoulder" in unlikely_body(names[:3], np.zeros((2, 3, 3)))


def test_wrong_calls_are_told() -> None:
    hero, _ = point_worlds.walker()
    with pytest.raises(ValidationError, match="at least one"):
        PointSolver(hero.skeleton, [])
    with pytest.raises(ValidationError, match="has no point"):
        PointSolver(hero.skeleton, [PointOn("@left_hand"), "@right_hand"])
    solver = PointSolver(hero.skeleton, ["@hips", "@head"])
    with pytest.raises(ValidationError, match=r"\(T, 2, 3\)"):
        solver.solve(np.zeros((4, 3, 3)))
    with pytest.raises(ValidationError, match="finite"):
        solver.solve(np.full((1, 2, 3), np.nan))


def test_names_of_markers_are_points() -> None:
    same = {
        "RKnee": "right_knee", "left_shoulder": "left_shoulder", "LShoulder": "left_shoulder", "wrist.r": "right_wrist",
        "Hip": "pelvis", "MidHip": "pelvis", "RBigToe": "right_big_toe", "subject:LHJC": "left_hip", "Nose": "nose",
        "left_foot_index": "left_foot", "LeftElbow": "left_elbow",
    }  # fmt: skip
    assert {given: point_name(given) for given in same} == same
    assert [point_name(n) for n in ("LASI", "C7", "sternum", "left", "")] == [None] * 5
