"""Targets in the world, in the frame of a joint; a look that turns no faster than it may; additions in model space; blend
profiles."""

import numpy as np
import pytest
from worlds import BONES, about_z, character, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    Additive,
    Blend,
    Graph,
    LookAt,
    Parameter,
    PoseNode,
    RootMotion,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
)
from marrow.math import affine, quaternion

HERO = mw.samples.mannequin()
GOAL = {"goal": Parameter("vector"), "pole": Parameter("vector", (0.0, -1.0, 0.0))}
UP = np.array([0.0, 1.0, 0.0])


def joint(animator, name):
    return animator.model_matrices[..., HERO.skeleton.index(name), :, :].astype(float)


def test_a_hand_reaches_a_place_in_the_world():
    node = TwoBoneIK("idle", "hand_l", "goal", "pole", space="world")
    crowd = mw.Animator(HERO, Graph(node, GOAL), count=3)
    rng = np.random.default_rng(0)
    places, turns = rng.normal(size=(3, 3)) * 1000, quaternion.from_axis_angle(UP, rng.uniform(-3, 3, 3))
    own = np.array([0.35, 1.2, 0.3])
    crowd["goal"] = quaternion.rotate(turns, np.tile(own, (3, 1))) + places
    crowd["pole"] = quaternion.rotate(turns, np.tile([0.0, -1, 0.2], (3, 1)))
    crowd.root.set(places, turns)
    crowd.update(1 / 60)
    np.testing.assert_allclose(joint(crowd, "hand_l")[:, :, 3], np.tile(own, (3, 1)), atol=2e-5)
    same = mw.Animator(HERO, Graph(TwoBoneIK("idle", "hand_l", tuple(own), (0.0, -1.0, 0.2))))
    same.update(1 / 60)
    np.testing.assert_allclose(crowd.model_matrices[0], same.model_matrices, atol=1e-5)


def test_a_hand_holds_on_to_the_other():
    node = TwoBoneIK("idle", "hand_l", (0.0, 0.12, 0.05), space="hand_r", stretch=2.0)
    animator = mw.Animator(HERO, Graph(node))
    for _ in range(10):
        animator.update(0.1)
        grip = affine.apply(joint(animator, "hand_r"), np.array([[0.0, 0.12, 0.05]]))[0]
        np.testing.assert_allclose(joint(animator, "hand_l")[:, 3], grip, atol=2e-5)


def test_a_head_looks_at_a_place_in_the_world():
    node = LookAt(RootMotion("walk").source, {"head": 1.0}, "goal", space="world", limit=np.pi)
    animator = mw.Animator(HERO, Graph(RootMotion(node), GOAL))
    animator["goal"] = [3.0, 1.0, 4.0]
    animator.root.set([5.0, 0, 0], quaternion.from_axis_angle(UP, np.array(1.0)))
    for _ in range(10):
        animator.update(1 / 30)
        m = animator.root.matrices
        head = affine.multiply(m, joint(animator, "head"))
        way = np.array([3.0, 1, 4]) - head[:, 3]
        rest = HERO.skeleton.rest_model[HERO.skeleton.index("head"), :, :3].astype(float)
        ahead = head[:, :3] @ (rest.T @ [0, 0, 1.0])
        assert np.degrees(np.arccos(np.clip(ahead @ way / np.linalg.norm(way), -1, 1))) < 0.05


def gaze(animator):
    rest = HERO.skeleton.rest_model[HERO.skeleton.index("head"), :, :3].astype(float)
    return joint(animator, "head")[:, :3] @ (rest.T @ [0, 0, 1.0])


def angle(a, b):
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


@pytest.mark.parametrize("rate", [15, 60, 240])
def test_a_look_turns_at_its_speed_at_any_frame_rate(rate):
    node = LookAt(
        PoseNode("idle"), {"neck": 0.5, "head": 1.0}, "goal", limit=np.radians(120), speed=np.radians(90)
    )
    animator = mw.Animator(HERO, Graph(node, GOAL))
    animator["goal"] = [0.0, 1.6, 100.0]
    for _ in range(round(rate)):
        animator.update(1 / rate)
    first = gaze(animator)
    animator["goal"] = [200.0, 1.6, 0.0]
    for k in range(1, round(0.8 * rate) + 1):
        animator.update(1 / rate)
        assert angle(first, gaze(animator)) == pytest.approx(90.0 * k / rate, abs=0.05)
    for _ in range(rate):
        animator.update(1 / rate)
    at = joint(animator, "head")[:, 3]
    assert angle(gaze(animator), np.array([200.0, 1.6, 0.0]) - at) < 0.02


def test_a_look_that_comes_back_begins_where_the_head_is():
    node = LookAt(
        PoseNode("idle"), {"head": 1.0}, "goal", weight="on", limit=np.radians(120), speed=np.radians(45)
    )
    animator = mw.Animator(HERO, Graph(node, {**GOAL, "on": Parameter(default=1.0)}))
    animator["goal"] = [9.0, 1.6, 0.0]
    animator.update(1.0)
    animator.update(1.0)
    animator["on"] = 0.0
    animator.update(0.1)
    ahead = gaze(animator)
    animator["on"] = 1.0
    animator.update(0.1)
    assert angle(ahead, gaze(animator)) == pytest.approx(4.5, abs=0.05)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (TwoBoneIK("idle", "hand_l", (0, 0, 0), space="nowhere"), "nowhere"),
        (LookAt("idle", {"head": 1.0}, (0, 0, 0), space="moon"), "moon"),
        (LookAt("idle", {"head": 1.0}, (0, 0, 0), speed=0.0), "speed"),
        (Additive("idle", "breathe", space="model"), "additive"),
        (Additive("idle", "breathe", reference="idle"), "reference"),
        (Additive("idle", "walk", space="model", reference="nothing"), "nothing"),
        (Switch(0.0, ("idle", "walk"), seconds=0.2, profile={"head": 0.5}), "inertia"),
        (Switch(0.0, ("idle", "walk"), 0.2, blend="inertia", profile={"head": 2.0}), "share"),
        (Switch(0.0, ("idle", "walk"), 0.2, blend="inertia", profile={"nobody": 0.5}), "nobody"),
    ],
)
def test_wrong_spaces_are_refused_in_words(node, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(HERO, Graph(node))


# -- additions in model space ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lean", [0.0, 50.0])
def test_an_addition_in_model_space_does_not_mind_what_is_below(lean):
    """A hand that is turned by 30 degrees in model space is so whether the body leans or not."""
    turned = mw.Clip("turned", BONES, [mw.Track(4, "rotation", [0, 1], [about_z(30)] * 2)])
    body = mw.Clip(
        "body",
        BONES,
        [
            mw.Track(
                1,
                "rotation",
                [0, 1],
                [quaternion.from_axis_angle(np.array([1.0, 0, 0]), np.radians(lean))] * 2,
            )
        ],
    )
    stick = character(turned, body)
    plain, mine = (
        mw.Animator(stick, Graph(n)) for n in (PoseNode("body"), Additive("body", "turned", space="model"))
    )
    plain.update(0.1)
    mine.update(0.1)
    before, after = (a.model_matrices[4, :, :3].astype(float) for a in (plain, mine))
    wanted = quaternion.to_matrix(about_z(30))
    np.testing.assert_allclose(after @ before.T, wanted, atol=1e-5)
    np.testing.assert_allclose(
        mine.model_matrices[5, :, :3] @ plain.model_matrices[5, :, :3].T, wanted, atol=1e-5
    )


def test_an_aim_of_full_poses_is_added_to_any_walk():
    aim = Blend(("aim_left", "aim_right"), ("x",))
    node = Additive("walk", aim, joints=("spine_01",), space="model", reference="aim_center")
    animator = mw.Animator(HERO, Graph(node, {"x": Parameter(default=0.5)}))
    plain = mw.Animator(HERO, Graph("walk"))
    head = HERO.skeleton.index("head")
    for share, sign in ((0.0, 1), (1.0, -1)):
        animator["x"] = share
        animator.update(0.1)
        plain.update(0.1)
        turn = animator.model_matrices[head, :, :3] @ plain.model_matrices[head, :, :3].T
        assert sign * np.degrees(np.arctan2(turn[0, 2], turn[2, 2])) > 20
        legs = [HERO.skeleton.index(n) for n in ("pelvis", "thigh_l", "foot_r")]
        np.testing.assert_array_equal(animator.model_matrices[legs], plain.model_matrices[legs])


# -- blend profiles -------------------------------------------------------------------------------------------------------


def test_joints_of_a_profile_arrive_earlier():
    clips = character(still("a", 0.0, 0.0), still("b", 1.0, 60.0))
    profile = {"spine": 0.5, "hand": 0.0}
    moves = StateMachine(
        {"a": State("a"), "b": State("b")},
        (Transition("a", "b", ("go",), 0.4, blend="inertia", profile=profile),),
    )
    animator = mw.Animator(clips, Graph(moves, {"go": Parameter("bool", False)}))
    animator.update(0.1)
    animator["go"] = True
    seen = []
    for _ in range(8):
        animator.update(0.05)
        seen.append(animator.pose.translation[:, 0].copy())
    seen = np.array(seen)
    plain = mw.Animator(
        clips, Graph(Switch("go", ("a", "b"), 0.4, blend="inertia"), {"go": Parameter("bool", False)})
    )
    plain.update(0.1)
    plain["go"] = True
    twice = mw.Animator(
        clips, Graph(Switch("go", ("a", "b"), 0.2, blend="inertia"), {"go": Parameter("bool", False)})
    )
    twice.update(0.1)
    twice["go"] = True
    for k in range(8):
        plain.update(0.05)
        twice.update(0.05)
        # leg: as without a profile; spine and arm below it: as if in half the time; hand: at once.
        np.testing.assert_allclose(seen[k, :3], plain.pose.translation[:3, 0], atol=1e-6)
        np.testing.assert_allclose(seen[k, 3:5], twice.pose.translation[3:5, 0], atol=1e-6)
        assert seen[k, 5] == pytest.approx(1.0)


def test_switches_have_profiles_too():
    clips = character(still("a", 0.0), still("b", 1.0))
    node = Switch("go", ("a", "b"), 0.4, blend="inertia", profile={"arm": 0.25})
    animator = mw.Animator(clips, Graph(node, {"go": Parameter("bool", False)}))
    animator.update(0.1)
    animator["go"] = True
    animator.update(0.1)
    assert animator.pose.translation[4, 0] == pytest.approx(1.0, abs=1e-6)
    assert animator.pose.translation[3, 0] < 0.9
