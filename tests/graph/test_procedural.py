"""Limbs that reach, heads that look."""

import numpy as np
import pytest
from worlds import BONES, character, still

import marrow as mw
from builders import rotations
from marrow.graph import Graph, LookAt, Parameter, PoseNode, TwoBoneIK
from marrow.math import quaternion

ARM = mw.Skeleton(
    ("root", "chest", "upper", "lower", "hand", "finger"),
    [-1, 0, 1, 2, 3, 4],
    mw.Pose(
        np.array([[0, 0, 0], [0, 1, 0], [0.2, 0.3, 0], [0.5, 0, 0.02], [0.4, 0, 0], [0.1, 0, 0]], np.float32),
        np.tile(np.array([0, 0, 0, 1], np.float32), (6, 1)),
        np.ones((6, 3), np.float32),
    ),
)
TARGET = {
    "goal": Parameter("vector"),
    "weight": Parameter(default=1.0),
    "pole": Parameter("vector", (0.0, -1.0, 0.0)),
}


def posed(rng):
    """An arm in some pose, bent at the elbow."""
    q = rotations(rng, (6,))
    q[3] = quaternion.from_axis_angle(np.array([0, 0, 1.0]), rng.uniform(0.2, 2.0))
    clip = mw.Clip("pose", ARM, [mw.Track(j, "rotation", [0.0, 1.0], [q[j], q[j]]) for j in range(6)])
    return mw.Character(ARM, (), [clip])


def reach(character, goal, **options):
    values = {k: options.pop(k) for k in ("weight", "pole") if isinstance(options.get(k), (float, tuple))}
    node = TwoBoneIK("pose", "hand", "goal", weight="weight", **options)
    animator = mw.Animator(character, Graph(node, TARGET))
    animator["goal"] = goal
    for name, value in values.items():
        animator[name] = value
    animator.update(0.0)
    return animator.model_matrices[..., 3].astype(float), animator


@pytest.mark.parametrize("seed", range(8))
def test_a_hand_reaches_what_is_within_reach(seed):
    rng = np.random.default_rng(seed)
    stick = posed(rng)
    shoulder = ARM.to_model(stick.clips["pose"].sample(0))[2, :, 3]
    goal = shoulder + 0.6 * rng.uniform(0.4, 1.4) * quaternion.rotate(
        rotations(rng, ()), np.array([1.0, 0, 0])
    )
    places, animator = reach(stick, goal)
    np.testing.assert_allclose(places[4], goal, atol=2e-5)
    np.testing.assert_allclose(places[2], shoulder, atol=1e-5)
    bones = np.linalg.norm(np.diff(places[2:5], axis=0), axis=1)
    np.testing.assert_allclose(bones, np.linalg.norm(ARM.rest.translation[3:5], axis=1), atol=1e-5)
    before = quaternion.from_matrix(ARM.to_model(stick.clips["pose"].sample(0))[4, :, :3])
    assert quaternion.angle(quaternion.from_matrix(animator.model_matrices[4, :, :3]), before) < 1e-3, (
        "faces as before"
    )


@pytest.mark.parametrize("seed", range(4))
def test_out_of_reach_it_points_at_the_target(seed):
    rng = np.random.default_rng(seed)
    goal = 20 * quaternion.rotate(rotations(rng, ()), np.array([1.0, 0, 0]))
    places, _ = reach(posed(rng), goal)
    way, arm = goal - places[2], places[4] - places[2]
    assert np.linalg.norm(arm) == pytest.approx(
        np.linalg.norm(ARM.rest.translation[3:5], axis=1).sum(), abs=1e-4
    )
    assert arm @ way == pytest.approx(np.linalg.norm(arm) * np.linalg.norm(way), rel=1e-5)


def test_stretch_lengthens_up_to_its_factor():
    rng = np.random.default_rng(3)
    whole = np.linalg.norm(ARM.rest.translation[3:5], axis=1).sum()
    for factor, goal in ((1.2, 1.1), (1.2, 5.0)):
        stick = posed(np.random.default_rng(3))
        shoulder = ARM.to_model(stick.clips["pose"].sample(0))[2, :, 3].astype(float)
        way = quaternion.rotate(rotations(rng, ()), np.array([1.0, 0, 0]))
        places, _ = reach(stick, shoulder + way * whole * goal, stretch=factor)
        assert np.linalg.norm(places[4] - places[2]) == pytest.approx(whole * min(factor, goal), abs=1e-4)


def test_the_elbow_stays_within_its_range():
    for goal, expected in ((0.05, 100.0), (5.0, 20.0)):
        stick = posed(np.random.default_rng(0))
        shoulder = ARM.to_model(stick.clips["pose"].sample(0))[2, :, 3].astype(float)
        places, _ = reach(stick, shoulder + np.array([goal, 0, 0]), bend=(np.radians(20), np.radians(100)))
        a, b = places[3] - places[2], places[4] - places[3]
        bend = np.degrees(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
        assert bend == pytest.approx(expected, abs=0.05)


def test_the_elbow_follows_its_pole():
    stick = posed(np.random.default_rng(5))
    shoulder = ARM.to_model(stick.clips["pose"].sample(0))[2, :, 3].astype(float)
    for pole in ((0.0, -1.0, 0.0), (0.0, 1.0, 0.3)):
        node = TwoBoneIK("pose", "hand", "goal", pole="pole")
        animator = mw.Animator(stick, Graph(node, TARGET))
        animator["goal"], animator["pole"] = shoulder + np.array([0.5, 0, 0.1]), pole
        animator.update(0)
        places = animator.model_matrices[..., 3].astype(float)
        line = places[4] - places[2]
        bow = (places[3] - places[2]) - line * ((places[3] - places[2]) @ line) / (line @ line)
        side = np.array(pole) - line * (np.array(pole) @ line) / (line @ line)
        assert bow @ side == pytest.approx(np.linalg.norm(bow) * np.linalg.norm(side), rel=1e-4)


def test_weight_zero_changes_nothing_and_half_is_on_the_way():
    stick = posed(np.random.default_rng(2))
    plain, _ = reach(stick, (0.3, 1.2, 0.4), weight=0.0)
    np.testing.assert_allclose(plain, ARM.to_model(stick.clips["pose"].sample(0))[..., 3], atol=1e-6)
    half, _ = reach(stick, (0.3, 1.2, 0.4), weight=0.5)
    full, _ = reach(stick, (0.3, 1.2, 0.4), weight=1.0)
    assert np.linalg.norm(half[4] - full[4]) < np.linalg.norm(plain[4] - full[4])


def test_odd_targets_do_not_break_it():
    stick = posed(np.random.default_rng(2))
    shoulder = ARM.to_model(stick.clips["pose"].sample(0))[2, :, 3]
    for goal in (shoulder, (np.inf, 0, 0), (1e9, 1e9, 1e9), (0, 0, 0)):
        places, animator = reach(stick, goal)
        assert np.isfinite(places).all()
        assert np.isfinite(animator.pose.rotation).all()


STICK = character(still("zero"))


def looking(target, **options):
    node = LookAt(PoseNode(), {"spine": 0.3, "arm": 1.0}, "goal", weight="weight", **options)
    animator = mw.Animator(STICK, Graph(node, TARGET))
    animator["goal"] = target
    animator.update(0)
    return animator.model_matrices.astype(float)


@pytest.mark.parametrize("target", [(1.0, 2.0, 3.0), (-2.0, 1.0, 1.0), (0.3, 4.0, 0.5)])
def test_the_last_joint_looks_at_the_target(target):
    model = looking(target, limit=np.pi)
    way = np.array(target) - model[4, :, 3]
    np.testing.assert_allclose(model[4, :, 2], way / np.linalg.norm(way), atol=1e-5)
    assert np.degrees(np.arccos(np.clip(model[3, 2, 2], -1, 1))) > 1, "the spine helps"
    np.testing.assert_array_equal(model[1, :, :3], np.eye(3))


def test_it_turns_no_further_than_its_limit():
    model = looking((5.0, 1.8, -4.0), limit=np.radians(40))
    assert np.degrees(np.arccos(model[4, 2, 2])) == pytest.approx(40, abs=0.05)
    for target in ((0.2, 1.8, -3.0), (np.inf, 0, 0), (0.2, 1.8, 0.0)):
        assert np.isfinite(looking(target)).all()


assert BONES.names[4] == "arm"
