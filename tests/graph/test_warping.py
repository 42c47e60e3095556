"""`StrideWarp`, `OrientationWarp`, `DistanceMatch`: one clip for many speeds, directions and distances."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    ClipNode,
    DistanceMatch,
    Graph,
    Mirror,
    OrientationWarp,
    Parameter,
    RootMotion,
    StrideWarp,
    load_graph,
    save_graph,
)
from marrow.math import quaternion

HERO = mw.samples.mannequin()
BONES = HERO.skeleton
BALLS = [BONES.index("ball_l"), BONES.index("ball_r")]
FEET = [BONES.index("foot_l"), BONES.index("foot_r")]
ANY = {"x": Parameter()}


def slide(animator, frames=108, dt=1 / 120):
    """How far balls of feet that lie flat on the ground move in the world, the worst of all steps."""
    worst, start = 0.0, [None, None]
    for _ in range(frames):
        animator.update(dt)
        m = animator.root.matrices
        places = animator.model_matrices[BALLS, :, 3].astype(float) @ m[:, :3].T + m[:, 3]
        heights = animator.model_matrices[FEET, 1, 3]
        for k in range(2):
            if heights[k] > 0.0862:
                start[k] = None
            elif start[k] is None:
                start[k] = places[k]
            else:
                worst = max(worst, float(np.linalg.norm(places[k] - start[k])))
    return worst


@pytest.mark.parametrize("scale", [0.5, 0.8, 1.25])
def test_a_longer_stride_goes_further_and_does_not_slide(scale):
    animator = mw.Animator(HERO, Graph(RootMotion(StrideWarp("walk", "x")), {"x": Parameter(default=scale)}))
    assert slide(animator) < 0.004
    assert animator.root.translation[2] == pytest.approx(1.25 * scale * 0.9, rel=1e-3)
    plain = mw.Animator(HERO, Graph(RootMotion("walk")))
    plain.update(1 / 120 * 108)
    away = (
        animator.model_matrices[BONES.index("head"), :, 3] - plain.model_matrices[BONES.index("head"), :, 3]
    )
    assert abs(away[1]) < (0.05 if scale > 1 else 1e-3)


def test_a_stride_of_one_changes_nothing():
    mine, plain = (
        mw.Animator(HERO, Graph(RootMotion(n))) for n in (StrideWarp("walk", 1.0), ClipNode("walk"))
    )
    for _ in range(20):
        mine.update(0.05)
        plain.update(0.05)
        np.testing.assert_array_equal(mine.matrices, plain.matrices)


@pytest.mark.parametrize("degrees", [-70.0, 35.0])
def test_a_turned_lower_body_walks_aslant(degrees):
    spine = {"spine_01": 0.4, "spine_02": 0.3, "spine_03": 0.3}
    node = OrientationWarp("walk", "x", "pelvis", spine)
    animator = mw.Animator(HERO, Graph(RootMotion(node), {"x": Parameter(default=np.radians(degrees))}))
    assert slide(animator) < 0.004
    angle = np.radians(degrees)
    way = animator.root.translation
    np.testing.assert_allclose(way[[0, 2]] / 1.125, [np.sin(angle), np.cos(angle)], atol=2e-3)
    plain = mw.Animator(HERO, Graph(RootMotion("walk")))
    for _ in range(108):
        plain.update(1 / 120)
    head, pelvis = BONES.index("head"), BONES.index("pelvis")
    np.testing.assert_allclose(
        animator.model_matrices[head, :, :3], plain.model_matrices[head, :, :3], atol=1e-4
    )
    turn = animator.model_matrices[pelvis, :, :3] @ plain.model_matrices[pelvis, :, :3].T
    wanted = quaternion.to_matrix(quaternion.from_axis_angle(np.array([0, 1.0, 0]), angle))
    np.testing.assert_allclose(turn, wanted, atol=1e-5)


def test_travel_in_a_mirror_turns_the_other_way():
    def way(node):
        animator = mw.Animator(HERO, Graph(RootMotion(node)))
        animator.update(0.9)
        return animator.root.translation

    warp = OrientationWarp("strafe_left", 0.7, "pelvis")
    np.testing.assert_allclose(way(Mirror(warp)), way(warp) * [-1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(
        way(OrientationWarp(Mirror("strafe_left"), -0.7, "pelvis")), way(warp) * [-1, 1, 1], atol=1e-6
    )


# -- distances ------------------------------------------------------------------------------------------------------------


def stop():
    """Two metres in 2 s, slower and slower, then 0.5 s in which the head nods."""
    times = np.linspace(0, 2.5, 76)
    way = 2 - 2 * np.clip(1 - times / 2, 0, 1) ** 2
    places = np.stack([0 * way, 0 * way, way], axis=1)
    nod = quaternion.from_axis_angle(np.array([1.0, 0, 0]), np.clip(times - 2, 0, 1))
    head = mw.Skeleton(("root", "head"), [-1, 0])
    tracks = [mw.Track(0, "translation", times, places), mw.Track(1, "rotation", times, nod)]
    return mw.Character(head, (), [mw.Clip("stop", head, tracks, events=(mw.Event(1.0, "brake"),))])


@pytest.mark.parametrize("rate", [10, 60, 144])
def test_a_clip_by_distance_is_where_the_distance_says(rate):
    animator = mw.Animator(
        stop(), Graph(RootMotion(DistanceMatch("stop", "x")), {"x": Parameter(default=2.0)})
    )
    brakes, left = 0, 2.0
    animator.update(0.0)
    for k in range(1, rate + 1):
        left = 2.0 * (1 - k / rate)  # twice as fast as the clip, and at an even speed
        animator["x"] = left
        animator.update(1 / rate)
        brakes += len(animator.events.where("brake"))
        assert animator.root.translation[2] == pytest.approx(2 - left, abs=2e-3)
        clip = next(iter(animator.evaluation.inspect().clips.values()))
        if left > 0:
            assert 2 - 2 * (1 - clip.time / 2) ** 2 == pytest.approx(2 - left, abs=2e-3)
    assert brakes == 1
    for _ in range(rate):
        animator.update(0.5 / rate)
    assert next(iter(animator.evaluation.inspect().clips.values())).time == pytest.approx(2.5, abs=1e-3)


def test_distance_since_the_start_and_by_a_curve():
    character = stop()
    animator = mw.Animator(character, Graph(DistanceMatch("stop", "x", "start"), ANY))
    for distance, time in ((0.0, 0.0), (1.5, 1.0), (0.875, 0.5)):
        animator["x"] = distance
        animator.update(0.01)
        assert next(iter(animator.evaluation.inspect().clips.values())).time == pytest.approx(time, abs=1e-3)
    clip = character.clips["stop"].replace(curves=(mw.Curve("height", [0.0, 1.0], [-3.0, 0.0]),))
    landing = mw.Character(character.skeleton, (), [clip])
    animator = mw.Animator(
        landing, Graph(DistanceMatch("stop", "x", curve="height"), {"x": Parameter(default=3.0)})
    )
    animator["x"] = 1.5
    animator.update(0.01)
    assert next(iter(animator.evaluation.inspect().clips.values())).time == pytest.approx(0.5)


@pytest.mark.parametrize("value", [-5.0, 1e9])
def test_odd_distances_are_held_at_an_end(value):
    animator = mw.Animator(stop(), Graph(DistanceMatch("stop", "x"), {"x": Parameter(default=1.0)}))
    animator["x"] = value
    animator.update(0.1)
    assert 0 <= next(iter(animator.evaluation.inspect().clips.values())).time <= 2.5
    assert np.isfinite(animator.pose.translation).all()


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (DistanceMatch("idle", 1.0), "does not travel"),
        (DistanceMatch("walk", 1.0, curve="far"), "no curve 'far'"),
        (OrientationWarp("walk", 0.0, "pelvis", {"thigh_l": 1.0, "root": 1.0}), "must be below"),
        (OrientationWarp("walk", 0.0, "pelvis", limit=500.0), "limit"),
        (OrientationWarp("walk", 0.0, "hips"), "hips"),
        (StrideWarp("walk", "fast"), "fast"),
        (StrideWarp("walk", 1.0, drop=float("nan")), "drop"),
    ],
)
def test_wrong_warps_are_refused_in_words(node, words, tmp_path):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(HERO, Graph(node, ANY))


def test_they_are_files(tmp_path):
    for node in (
        StrideWarp("walk", "x", (1.0, 0.0, 0.0), ("foot_l",)),
        OrientationWarp("walk", "x", "pelvis", {"spine_01": 1.0}),
        DistanceMatch("walk", "x", "start"),
    ):
        save_graph(Graph(node, ANY), tmp_path / "g.json")
        assert load_graph(tmp_path / "g.json") == Graph(node, ANY)


def test_travel_below_a_root_that_stands_still_is_root_motion():
    names = ("armature", "hips", "chest", "head", "leg")
    rest = mw.Pose(
        np.float32([[0, 0, 0], [0, 1, 0], [0, 0.3, 0], [0, 0.3, 0], [0, -0.5, 0]]),
        np.tile(np.float32([0, 0, 0, 1]), (5, 1)),
        np.ones((5, 3), np.float32),
    )
    bones = mw.Skeleton(names, [-1, 0, 1, 2, 1], rest=rest)
    walk = mw.Clip("walk", bones, [mw.Track(1, "translation", [0, 1], [[0, 1, 0], [0, 1, 1.5]])])
    wave = mw.Clip("wave", bones, [mw.Track(3, "translation", [0, 1], [[0, 0.3, 0], [0.5, 0.3, 0]])])
    for clips, travels in (([walk, wave], 0.75), ([wave], 0.0)):
        animator = mw.Animator(mw.Character(bones, clips=clips), Graph(RootMotion(clips[0].name, smooth=0.0)))
        animator.update(0.5)
        np.testing.assert_allclose(animator.root.translation, [0, 0, travels], atol=1e-6)
        np.testing.assert_allclose(animator.model_matrices[1, :, 3], [0, 1, 0], atol=1e-6)
