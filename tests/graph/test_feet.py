"""Feet that stay where they stand and stand on the ground: `FootLock`, `FootPlacement`, and places in the world."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError, ValidationError
from marrow.graph import (
    ClipNode,
    DistanceMatch,
    FootLock,
    FootPlacement,
    Graph,
    HeightField,
    Mirror,
    Parameter,
    RootMotion,
    State,
    StateMachine,
    StrideWarp,
    Transition,
    load_graph,
    save_graph,
)
from marrow.graph.compiler import check_standalone
from marrow.math import quaternion

HERO = mw.samples.mannequin()
BALLS = [HERO.skeleton.index("ball_l"), HERO.skeleton.index("ball_r")]
FEET = [HERO.skeleton.index("foot_l"), HERO.skeleton.index("foot_r")]
UP = np.array([0.0, 1.0, 0.0])


def yaw(angle):
    return quaternion.from_axis_angle(UP, np.asarray(angle, np.float64))


def world(animator, joints):
    """Where joints are in the world, `(..., k, 3)`."""
    m = animator.root.matrices
    local = animator.model_matrices[..., joints, :, 3].astype(float)
    return np.einsum("...ij,...kj->...ki", m[..., :3], local) + m[..., None, :, 3]


def hurry(animator, dt, factor):
    """An update in which the character is moved `factor` times as far as its clips say."""
    before = animator.root.translation
    animator.update(dt)
    animator.root.set(before + factor * (animator.root.translation - before))


def slides(animator, seconds, rate, factor, contacts=("foot_l contact", "foot_r contact")):
    """How far the balls of feet move while they are down and so is the heel, the worst of all steps."""
    worst, start = 0.0, [None, None]
    for _ in range(round(seconds * rate)):
        hurry(animator, 1 / rate, factor)
        balls, feet = world(animator, BALLS), world(animator, FEET)
        for k in range(2):
            down = animator.curves[contacts[k]] > 0.5 if contacts else feet[k, 1] < 0.0865
            if not down or feet[k, 1] > 0.0865:
                start[k] = None
            elif start[k] is None:
                start[k] = balls[k]
            else:
                worst = max(worst, float(np.linalg.norm((balls[k] - start[k])[[0, 2]])))
    return worst


def test_a_locked_foot_stays_where_it_is_however_the_character_is_moved():
    graph = Graph(RootMotion(FootLock("walk")))
    assert slides(mw.Animator(HERO, graph), 4.0, 60, 1.12) < 2e-4
    loose = mw.Animator(HERO, Graph(RootMotion(FootLock("walk", weight=0.0))))
    assert slides(loose, 4.0, 60, 1.12) > 0.03


def test_a_foot_is_locked_by_its_speed_as_well():
    graph = Graph(RootMotion(FootLock("walk", by="speed")))
    assert slides(mw.Animator(HERO, graph), 3.0, 60, 1.1, contacts=None) < 0.012
    assert slides(mw.Animator(HERO, Graph(RootMotion("walk"))), 3.0, 60, 1.1, contacts=None) > 0.025


@pytest.mark.parametrize("rate", [24, 37.0, 144])
def test_locked_feet_are_the_same_at_any_frame_rate(rate):
    """The moment a foot is taken hold of is that of an update, so what remains is how far it moves in one frame while it
    lands: it is the ball that is compared, in mid-stance."""

    def stance(rate):
        animator = mw.Animator(HERO, Graph(RootMotion(FootLock("walk"))))
        for _ in range(round(1.2 * rate)):
            hurry(animator, 1 / rate, 1.1)
        hurry(animator, 1.2 - round(1.2 * rate) / rate, 1.1) if round(
            1.2 * rate
        ) / rate < 1.2 - 1e-9 else None
        return world(animator, BALLS)[0]

    np.testing.assert_allclose(stance(rate), stance(240), atol=6e-3)


def test_a_foot_that_strays_too_far_is_let_go_and_never_held_further_than_the_radius():
    animator = mw.Animator(HERO, Graph(RootMotion(FootLock("walk", radius=0.05, drop=0.0))))
    plain = mw.Animator(HERO, Graph(RootMotion("walk")))
    worst = 0.0
    for _ in range(180):
        hurry(animator, 1 / 60, 1.6)
        plain.update(1 / 60)
        away = animator.model_matrices[FEET, :, 3] - plain.model_matrices[FEET, :, 3]
        worst = max(worst, float(np.linalg.norm(away[:, [0, 2]], axis=1).max()))
    assert 0.04 < worst < 0.0502


def test_a_jump_in_the_world_moves_feet_no_further_than_the_radius():
    animator = mw.Animator(HERO, Graph(RootMotion(FootPlacement(FootLock("idle")))))
    animator.ground = lambda p: np.zeros(len(p))
    for _ in range(10):
        animator.update(1 / 60)
    before = animator.model_matrices[FEET, :, 3].copy()
    animator.update(1 / 60)
    animator.root.set([100.0, 0, 50.0], yaw(2.0))
    assert np.abs(animator.model_matrices[FEET, :, 3] - before).max() < 0.16
    for _ in range(60):
        animator.update(1 / 60)
    np.testing.assert_allclose(animator.model_matrices[FEET, :, 3], before, atol=0.01)


def test_a_foot_that_stands_does_not_turn_with_the_body():
    animator = mw.Animator(HERO, Graph(RootMotion(FootLock("idle"))))
    animator.update(1 / 60)
    angle, first = 0.0, None
    for k in range(30):
        animator.update(1 / 60)
        angle += 0.012
        animator.root.set(rotation=yaw(angle))
        turn = animator.root.matrices[:, :3] @ animator.model_matrices[FEET, :, :3]
        toes = turn[:, :, 2] if first is not None else turn[:, :, 2].copy()
        if k == 0:
            first = turn
        else:
            np.testing.assert_allclose(
                turn @ np.swapaxes(first, 1, 2), np.tile(np.eye(3), (2, 1, 1)), atol=0.03
            )
        assert toes is not None


@pytest.mark.parametrize("threads", [1, 2])
def test_a_crowd_is_its_instances_one_by_one_bit_for_bit(threads):
    graph = Graph(
        RootMotion(FootPlacement(FootLock(ClipNode("walk", speed="rate")))), {"rate": Parameter(default=1.0)}
    )
    rates = np.linspace(0.6, 1.4, 5)
    ground = HeightField(np.random.default_rng(1).uniform(0, 0.3, (9, 9)), 0.7, (-3.0, -1.0))
    crowd = mw.Animator(HERO, graph, count=5, threads=threads)
    crowd["rate"], crowd.ground = rates, ground
    crowd.root.set(np.arange(15).reshape(5, 3) * 0.1, yaw(rates))
    singles = []
    for n, rate in enumerate(rates):
        one = mw.Animator(HERO, graph)
        one["rate"], one.ground = rate, ground
        one.root.set(np.arange(15).reshape(5, 3)[n] * 0.1, yaw(rate))
        singles.append(one)
    for _ in range(25):
        crowd.update(1 / 30)
        for one in singles:
            one.update(1 / 30)
    for n, one in enumerate(singles):
        np.testing.assert_array_equal(crowd.model_matrices[n], one.model_matrices)


def test_it_makes_no_difference_who_asks_when_and_moments_come_back():
    graph = Graph(RootMotion(FootPlacement(FootLock("walk"))))
    asked, unasked = mw.Animator(HERO, graph), mw.Animator(HERO, graph)
    for animator in (asked, unasked):
        animator.ground = lambda p: 0.2 * p[:, 1]
    assert asked.pose is not None
    for k in range(60):
        asked.update(1 / 60)
        unasked.update(1 / 60)
        assert asked.pose is not None and len(asked.matrices) == len(asked.model_matrices)
        if k == 20:
            moment = asked.snapshot()
    end = asked.model_matrices.copy()
    np.testing.assert_array_equal(end, unasked.model_matrices)
    asked.restore(moment)
    for _ in range(39):
        asked.update(1 / 60)
    np.testing.assert_array_equal(asked.model_matrices, end)


def test_a_lock_inside_an_inertialised_state_keeps_its_place():
    states = {"go": State(FootLock("walk")), "stop": State(FootLock("idle"))}
    moves = StateMachine(states, (Transition("go", "stop", ("halt",), 0.3, blend="inertia"),))
    animator = mw.Animator(HERO, Graph(RootMotion(moves), {"halt": Parameter("bool", False)}))
    before, worst = None, 0.0
    for k in range(120):
        animator["halt"] = k > 60
        animator.update(1 / 60)
        places = world(animator, FEET)
        if before is not None:
            worst = max(worst, float(np.abs(places - before).max()))
        before = places
    assert worst < 0.09  # nothing jumps: a swinging foot moves 60 mm in a frame


# -- the ground -----------------------------------------------------------------------------------------------------------


def soles(animator):
    """The lowest point of the whole skin over the ground, in metres."""
    m = animator.root.matrices
    skin = animator.skin().positions.astype(float)
    at = skin @ m[:, :3].T + m[:, 3]
    return float((at[:, 1] - animator.ground(at[:, [0, 2]])).min())


@pytest.mark.parametrize("degrees", [-20, 12, 20])
@pytest.mark.parametrize("heading", [0.0, 1.1])
def test_feet_stand_on_a_slope(degrees, heading):
    slope = np.tan(np.radians(degrees))
    animator = mw.Animator(HERO, Graph(RootMotion(FootPlacement("walk"))))
    plain = mw.Animator(HERO, Graph(RootMotion("walk")))
    animator.ground = lambda p: slope * p[:, 1]
    animator.root.set(rotation=yaw(heading))
    deepest, lowest, without = 0.0, [], 0.0
    for _ in range(54):
        animator.update(1 / 30)
        plain.update(1 / 30)
        there = animator.root.translation
        animator.root.set([there[0], slope * there[2], there[2]])
        plain.root.set(animator.root.translation, animator.root.rotation)
        deepest = min(deepest, soles(animator))
        lowest.append(soles(animator))
        plain.ground = animator.ground
        without = min(without, soles(plain))
    assert deepest > -0.005 and np.median(lowest) < 0.01
    assert without < -0.05


def test_the_pelvis_comes_down_so_that_the_lower_foot_reaches():
    animator = mw.Animator(HERO, Graph(FootPlacement("idle")))
    animator.ground = lambda p: np.where(p[:, 0] > 0, 0.0, -0.25)  # the left foot is on a step
    for _ in range(60):
        animator.update(1 / 60)
    plain = mw.Animator(HERO, Graph("idle"))
    for _ in range(60):
        plain.update(1 / 60)
    moved = animator.model_matrices[:, :, 3] - plain.model_matrices[:, :, 3]
    pelvis = HERO.skeleton.index("pelvis")
    assert -0.26 < moved[pelvis, 1] < -0.2
    np.testing.assert_allclose(moved[FEET, 1], [0.0, -0.25], atol=2e-3)


def test_both_feet_rise_and_the_body_with_them():
    animator = mw.Animator(HERO, Graph(FootPlacement("idle")), count=2)
    animator.ground = [0.3, -0.2]
    for _ in range(60):
        animator.update(1 / 60)
    plain = mw.Animator(HERO, Graph("idle"))
    for _ in range(60):
        plain.update(1 / 60)
    moved = animator.model_matrices[:, :, :, 3] - plain.model_matrices[:, :, 3]
    np.testing.assert_allclose(moved[0, :, 1][1:], 0.3, atol=2e-3)
    np.testing.assert_allclose(moved[1][FEET, 1], -0.2, atol=2e-3)


@pytest.mark.parametrize(
    "ground",
    [None, np.nan, lambda p: np.full(len(p), np.nan), lambda p: np.full(len(p), np.inf)],
    ids=["none", "nan", "nans", "infinite"],
)
def test_without_ground_poses_stay_as_they_are(ground):
    animator, plain = mw.Animator(HERO, Graph(FootPlacement("walk"))), mw.Animator(HERO, Graph("walk"))
    animator.ground = ground
    for _ in range(10):
        animator.update(1 / 30)
        plain.update(1 / 30)
        np.testing.assert_array_equal(animator.matrices, plain.matrices)


def test_a_leg_that_cannot_reach_gives_a_sound_pose():
    animator = mw.Animator(HERO, Graph(FootPlacement("walk", step=5.0, drop=0.1, stretch=1.1)))
    rng = np.random.default_rng(0)
    animator.ground = lambda p: rng.uniform(-3, 3, len(p))
    for _ in range(60):
        animator.update(1 / 30)
        assert np.isfinite(animator.matrices).all()
        thigh, foot = (HERO.skeleton.index(n) for n in ("thigh_l", "foot_l"))
        reach = np.linalg.norm(animator.model_matrices[thigh, :, 3] - animator.model_matrices[foot, :, 3])
        assert reach < 1.1 * 0.9


def test_a_height_field_is_straight_between_its_points():
    field = HeightField([[0.0, 1.0], [2.0, 5.0]], 2.0, (10.0, 20.0))
    places = np.array([[10, 20], [12, 20], [10, 22], [12, 22], [11, 20], [11, 21], [0, 0], [99, 99.0]])
    np.testing.assert_allclose(field(places), [0, 1, 2, 5, 0.5, 2.0, 0, 5])


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (FootLock("walk", ("foot_l", "foot_l")), "each once"),
        (FootLock("walk", ("root",)), "fewer than two joints"),
        (FootLock("walk", ("nobody",)), "nobody"),
        (FootLock("walk", radius=-1.0), "radius"),
        (FootLock("walk", contacts={"hand_l": ("a", "b")}), "none of the feet"),
        (FootLock("walk", stretch=0.5), "stretch"),
        (FootPlacement("walk", tilt=float("nan")), "tilt"),
        (FootPlacement("walk", pelvis="head"), "must be above"),
        (FootPlacement("walk", settle=-1.0), "settle"),
    ],
)
def test_wrong_feet_are_refused_in_words(node, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(HERO, Graph(node))


def test_wrong_ground_and_places_are_refused_in_words():
    animator = mw.Animator(HERO, Graph(FootPlacement("walk")), count=2)
    for ground in ("grass", [1.0, 2.0, 3.0]):
        with pytest.raises(ValidationError, match="ground"):
            animator.ground = ground
    animator.ground = lambda p: [1.0]
    animator.update(0.1)
    with pytest.raises(ValidationError, match="ground"):
        animator.pose  # noqa: B018
    with pytest.raises(ValidationError, match=r"root\.set: translation"):
        animator.root.set([1.0, 2.0])
    with pytest.raises(ValidationError, match="finite"):
        animator.root.set([np.nan, 0, 0])
    with pytest.raises(ValidationError, match="unit quaternions"):
        animator.root.set(rotation=[1.0, 1, 1, 1])
    for heights, spacing in ((np.zeros(3), 1.0), (np.zeros((2, 2)), 0.0)):
        with pytest.raises(ValidationError, match="HeightField"):
            HeightField(heights, spacing)


def test_graphs_with_feet_are_files(tmp_path):
    graph = Graph(RootMotion(FootPlacement(FootLock("walk", ("foot_l", "foot_r"), by="speed"), drop=0.2)))
    save_graph(graph, tmp_path / "feet.json")
    assert load_graph(tmp_path / "feet.json") == graph
    for node in (
        FootLock("walk"),
        FootPlacement("walk"),
        Mirror("walk"),
        StrideWarp("walk", 1.0),
        DistanceMatch("walk", 1.0),
    ):
        check_standalone(Graph(RootMotion(node)))
    with pytest.raises(MarrowError, match="radius"):
        check_standalone(Graph(FootLock("walk", radius=-1.0, contacts={"left": ("down", "up")})))


def test_places_go_where_the_root_goes_and_where_they_are_put():
    animator = mw.Animator(HERO, Graph(RootMotion("walk")), count=2)
    animator.root.set([[0, 0, 0], [5, 1, 5]], yaw([0.0, np.pi / 2]))
    for _ in range(60):
        animator.update(1 / 60)
    np.testing.assert_allclose(animator.root.translation, [[0, 0, 1.25], [6.25, 1, 5]], atol=0.02)
    animator.root.set([0.0, 0, 0], instances=[1])
    np.testing.assert_allclose(animator.root.translation[1], 0)
    kept = mw.Animator(HERO, Graph(RootMotion("walk", mode="keep")))
    kept.update(1.0)
    np.testing.assert_array_equal(kept.root.translation, 0)


def test_instances_that_come_and_go_keep_their_places_and_feet():
    graph = Graph(
        RootMotion(FootPlacement(FootLock(ClipNode("walk", speed="rate")))), {"rate": Parameter(default=1.0)}
    )

    def crowd(count):
        made = mw.Animator(HERO, graph, count=count)
        made["rate"] = np.linspace(0.8, 1.2, 3)[:count]
        made.ground = lambda p: 0.1 * p[:, 1]
        return made

    mine, other = crowd(3), crowd(3)
    for k in range(40):
        if k == 10:
            mine.instances.add(2)
        if k == 20:
            mine.instances.remove([3, 4])
        if k == 30:
            mine.replace_graph(graph)
        mine.update(1 / 30)
        other.update(1 / 30)
        if k < 30:
            np.testing.assert_array_equal(mine.model_matrices[:3], other.model_matrices)
    np.testing.assert_allclose(mine.root.translation, other.root.translation, atol=1e-9)
    there = mine.root.translation[1]
    mine.instances.reset([1])
    np.testing.assert_array_equal(mine.root.translation[1], there)
    assert np.isfinite(mine.matrices).all()


def test_rarely_updated_feet_are_held_over_the_whole_time():
    animator = mw.Animator(HERO, Graph(RootMotion(FootLock("walk"))))
    often = mw.Animator(HERO, Graph(RootMotion(FootLock("walk"))))
    animator.instances.update_every = 3
    for _ in range(60):
        animator.update(1 / 60)
        often.update(1 / 60)
        assert np.isfinite(animator.matrices).all()
    np.testing.assert_allclose(animator.root.translation[2], often.root.translation[2], atol=0.06)
