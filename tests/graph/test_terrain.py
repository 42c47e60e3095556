"""Feet on stairs, slopes, kerbs and bumps, measured on the skin (`tests/terrain.py`); rates and springs of the pelvis."""

import numpy as np
import pytest

import marrow as mw
import terrain
from marrow.graph import FootLock, FootPlacement, Graph, RootMotion
from marrow.graph.soles import find_sole

HERO = mw.samples.mannequin()
FEET = [HERO.skeleton.index("foot_l"), HERO.skeleton.index("foot_r")]
PELVIS = HERO.skeleton.index("pelvis")


@pytest.fixture(scope="module")
def flat():
    """The pelvis' acceleration on a plane."""
    return {c: terrain.walk(HERO, c, terrain.slope(0), seconds=1.4).pelvis for c in ("walk", "run")}


@pytest.mark.parametrize(
    ("clip", "ground", "swing"),
    [
        ("walk", "stairs up", 0.012),
        ("walk", "stairs down", 0.005),
        ("run", "stairs up", 0.015),
        ("run", "stairs down", 0.005),
        ("walk", "slope up", 0.005),
        ("walk", "slope down", 0.005),
        ("walk", "slope across", 0.005),
        ("run", "slope down", 0.005),
        ("walk", "bumps", 0.005),
        ("run", "kerbs", 0.005),
    ],
)
def test_feet_are_where_people_would_look_for_them(clip, ground, swing, flat):
    seen = terrain.walk(HERO, clip, terrain.GROUNDS[ground], seconds=2.3, warm_up=1.0)
    assert seen.stance_inside < 0.005 and seen.swing_inside < swing
    assert seen.pitch < 5 and seen.off < 0.0065 and seen.early < 0.03 and seen.slide < 0.006
    assert seen.pelvis < 3 * flat[clip]


@pytest.mark.parametrize(
    ("clip", "ground", "seconds"),
    [("walk_fast", "stairs down", 1.8), ("jog", "stairs up", 2.8), ("jog", "stairs down", 1.8)],
)
def test_feet_of_fast_gaits_are_not_inside_stairs(clip, ground, seconds):
    seen = terrain.walk(HERO, clip, terrain.GROUNDS[ground], seconds=seconds)
    assert seen.stance_inside < 0.005 and seen.swing_inside < 0.01
    assert seen.pitch < 5 and seen.off < 0.012 and seen.early < 0.05 and seen.slide < 0.005


def test_a_kerb_that_only_toes_reach_at_first_holds_the_foot_when_it_touches(flat):
    seen = terrain.walk(HERO, "walk", terrain.kerbs(), seconds=3.0, warm_up=2.4)
    assert seen.stance_inside < 0.01 and seen.pelvis < 3 * flat["walk"]


def test_a_foot_whose_toes_alone_are_on_a_step_goes_ahead_until_its_ball_is():
    sole = find_sole(HERO, FEET[0])
    still, placed = (mw.Animator(HERO, Graph(FootPlacement("idle"))) for _ in range(2))
    still.update(0.1)
    ball = still.model_matrices[HERO.skeleton.index("ball_l"), :, 3]
    still.ground, placed.ground = 0.0, lambda p: np.where(p[:, 1] > ball[2] + 0.07, 0.1, 0.0)
    for _ in range(20):
        still.update(0.1)
        placed.update(0.1)
    moved = placed.model_matrices[FEET[0], :, 3] - still.model_matrices[FEET[0], :, 3]
    np.testing.assert_allclose(moved[1], 0.1, atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(moved[[0, 2]]), sole.along[2], atol=2e-3)


def test_a_sole_is_that_of_the_skin_or_of_the_joints():
    sole = find_sole(HERO, FEET[0])
    body = max(HERO.meshes, key=lambda m: m.vertex_count)
    low = body.positions[(body.positions[:, 1] < 0.02) & (body.positions[:, 0] > 0)]
    assert abs(sole.along[0] + sole.along[2] - np.ptp(low[:, 2])) < 0.01
    bare = find_sole(mw.Character(HERO.skeleton), FEET[0])
    assert 0.1 < bare.along[0] < 0.25 and 0.03 < bare.along[2] < 0.1 and bare.toes == sole.toes


@pytest.mark.parametrize("rate", [10, 30, 240])
def test_the_pelvis_follows_a_step_alike_at_any_rate(rate):
    """A lift rises by 20 cm at once; the spring is exact, so only the float32 of the state remains."""

    def height(rate):
        animator = mw.Animator(HERO, Graph(FootPlacement("idle", settle=0.0)))
        animator.ground = 0.0
        animator.update(0.1)
        assert animator.pose is not None
        animator.ground = 0.2
        for _ in range(round(0.3 * rate)):
            animator.update(1 / rate)
            assert animator.pose is not None
        return animator.model_matrices[PELVIS, 1, 3]

    assert 0.99 < height(60) < 1.2
    np.testing.assert_allclose(height(rate), height(60), atol=2e-4)


def test_walking_on_stairs_is_much_the_same_at_any_rate():
    ways = {
        r: terrain.walk(HERO, "walk", terrain.stairs(), seconds=2.0, rate=r).heights for r in (20, 60, 240)
    }
    often = np.array(ways[240])
    for rate, less in ((20, 0.03), (60, 0.01)):
        np.testing.assert_allclose(ways[rate], often[240 // rate - 1 :: 240 // rate], atol=less)


def test_ground_that_ends_leaves_feet_as_they_are():
    animator, plain = (
        mw.Animator(HERO, Graph(RootMotion(FootPlacement(FootLock("walk"))))) for _ in range(2)
    )
    animator.ground = lambda p: np.where(p[:, 1] < 0.8, 0.0, np.nan)
    plain.ground = 0.0
    for k in range(110):
        animator.update(1 / 60)
        plain.update(1 / 60)
        if k > 95:  # both feet have left it
            np.testing.assert_allclose(animator.model_matrices, plain.model_matrices, atol=1e-3)


def four_legged():
    """A table that walks: a trunk and four legs of two bones, feet at rest on y = 0."""
    names, parents, places = ["trunk"], [-1], [(0.0, 0.8, 0.0)]
    for side, x in (("l", 0.2), ("r", -0.2)):
        for end, z in (("front", 0.5), ("hind", -0.5)):
            for part, y in (("thigh", 0.8), ("shin", 0.42), ("foot", 0.05)):
                parents.append(0 if part == "thigh" else len(names) - 1)
                names.append(f"{part}_{end}_{side}")
                places.append((x, y, z + (0.02 if part == "shin" else 0.0)))
    local = [np.subtract(places[j], places[p] if p >= 0 else (0, 0, 0)) for j, p in enumerate(parents)]
    turns = np.tile(np.float32([0, 0, 0, 1]), (len(names), 1))
    rest = mw.Pose(np.array(local, np.float32), turns, np.ones((len(names), 3), np.float32))
    bones = mw.Skeleton(tuple(names), parents, rest=rest)
    still = mw.Clip("still", bones, [mw.Track(0, "translation", [0, 1], [places[0]] * 2)])
    return mw.Character(bones, clips=[still]), [j for j, n in enumerate(names) if n.startswith("foot")]


@pytest.mark.parametrize("degrees", [-15, 15])
def test_a_four_legged_body_pitches_with_the_slope_and_keeps_its_feet_on_it(degrees):
    character, feet = four_legged()
    rise = np.tan(np.radians(degrees))
    node = FootPlacement("still", tuple(character.skeleton.names[j] for j in feet))
    animator = mw.Animator(character, Graph(node))
    animator.ground = terrain.slope(degrees)
    for _ in range(60):
        animator.update(1 / 20)
    joints = animator.model_matrices
    # Ankles are 5 cm from the ground, along its normal.
    np.testing.assert_allclose(
        (joints[feet, 1, 3] - rise * joints[feet, 2, 3]) * np.cos(np.radians(degrees)), 0.05, atol=0.002
    )
    nose = np.degrees(np.arctan2(joints[0, 1, 2], joints[0, 2, 2]))
    np.testing.assert_allclose(nose, degrees, atol=1.5)


def test_legs_whose_frames_are_kept_are_solved_as_others(monkeypatch):
    def seen():
        animator = mw.Animator(HERO, Graph(RootMotion(FootPlacement(FootLock("walk")))))
        animator.ground = terrain.slope(12)
        return [animator.update(1 / 20) or animator.model_matrices for _ in range(12)]

    kept = seen()
    asked = []
    monkeypatch.setattr("marrow.graph.nodes.legs.are_apart", lambda *a: bool(asked.append(a)))
    np.testing.assert_allclose(kept, seen(), atol=2e-5)
    assert len(asked) == 2
