"""Clip tools: pieces, time, travel, loops, filters, keys."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.math import quaternion
from marrow.motion import filters, reduce
from marrow.motion.root_motion import travel_speed

BONES = mw.Skeleton(("root", "arm"), [-1, 0])


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def mixed(seed: int = 0) -> mw.Clip:
    """Step, linear and cubic keys at uneven times, rotations among them."""
    rng = np.random.default_rng(seed)
    times = np.sort(rng.uniform(0, 2, 7)).astype(np.float32)
    turns = rng.normal(size=(7, 4))
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    return mw.Clip(
        "mixed", BONES,
        [
            mw.Track(0, "translation", times, rng.normal(size=(7, 3)), "linear"),
            mw.Track(0, "rotation", times, turns),
            mw.Track(1, "translation", times, rng.normal(size=(7, 3, 3)), "cubic"),
            mw.Track(1, "scale", times, rng.normal(size=(7, 3)), "step"),
        ],
        2.0, (mw.Event(0.5, "foot_l"), mw.Event(1.5, "foot_r")),
    )  # fmt: skip


def same(a: mw.Pose, b: mw.Pose, atol: float = 2e-5) -> None:
    np.testing.assert_allclose(a.translation, b.translation, atol=atol)
    assert quaternion.angle(a.rotation, b.rotation).max(initial=0) < 2e-3
    np.testing.assert_allclose(a.scale, b.scale, atol=atol)


@pytest.mark.parametrize("seed", range(4))
def test_a_piece_is_the_clip_between_two_times(seed: int) -> None:
    clip = mixed(seed)
    piece = clip.trimmed(0.37, 1.61)
    assert piece.duration == pytest.approx(1.24) and piece.start == pytest.approx(0.37)
    inside = np.linspace(0.001, 1.239, 57)
    same(piece.sample(inside), clip.sample(inside + 0.37))
    assert [(e.name, pytest.approx(e.time)) for e in piece.events] == [("foot_l", 0.13), ("foot_r", 1.13)]


def test_pieces_of_a_take_are_found_by_its_own_times() -> None:
    clip = mixed()
    half = clip.trimmed(0.5, 1.5)
    cuts = half.cut({"early": (0.6, 0.8), "late": (0.9, 1.4)})
    assert list(cuts) == ["early", "late"] and cuts["late"].name == "late"
    inside = np.linspace(0.01, 0.49, 9)
    same(cuts["late"].sample(inside), clip.sample(0.9 + inside))
    with pytest.raises(mw.MarrowError, match="start <= end"):
        half.cut({"outside": (0.0, 0.7)})
    with pytest.raises(mw.MarrowError, match="start, end"):
        half.cut({"odd": 3})  # type: ignore[dict-item]


@pytest.mark.parametrize("suffix", ["glb", "marrow"])
def test_files_remember_where_a_piece_began(hero: mw.Character, suffix: str, tmp_path) -> None:
    piece = hero.clips["walk"].trimmed(0.25, 0.5)
    mw.save(hero.replace(clips=[piece]), tmp_path / f"x.{suffix}")
    again = mw.load(tmp_path / f"x.{suffix}", cache=False).clips["walk"]
    assert again.start == pytest.approx(0.25)
    assert again.cut({"later": (0.3, 0.4)})["later"].start == pytest.approx(0.3)


def test_splitting_at_times_events_and_silence() -> None:
    clip = mixed()
    assert [p.duration for p in clip.split([0.5, 1.0])] == pytest.approx([0.5, 0.5, 1.0])
    assert [p.start for p in clip.split(event="foot_r")] == pytest.approx([0.0, 1.5])
    with pytest.raises(mw.MarrowError, match="no event"):
        clip.split(event="hand")
    times = np.arange(301) / 100
    move = np.zeros((301, 3))
    move[50:100, 0] = np.linspace(0, 1, 50)
    move[100:, 0] = 1
    move[200:250, 0] = np.linspace(1, 0, 50)
    move[250:, 0] = 0
    quiet = mw.Clip("two moves", mw.Skeleton(("a", "b"), [-1, 0], mw.Pose([[0, 0, 0], [0, 1.0, 0]], [[0, 0, 0, 1.0]] * 2,
    np.ones((2, 3)))),
                    [mw.Track(0, "translation", times, move)])  # fmt: skip
    parts = quiet.split(silence=0.3)
    assert len(parts) == 2
    assert [p.start for p in parts] == pytest.approx([0.49, 1.99], abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_backwards_and_backwards_again(seed: int) -> None:
    clip = mixed(seed)
    back = clip.reversed()
    # Steps hold the other way round at their edges: look between keys.
    keys = np.concatenate([clip.tracks.times, [0, 2]])
    inside = np.array([t for t in np.linspace(0, 2, 83) if np.abs(keys - t).min() > 1e-3])
    same(back.sample(2.0 - inside), clip.sample(inside))
    same(back.reversed().sample(inside), clip.sample(inside))
    assert [(e.name, e.time) for e in back.events] == [("foot_r", 0.5), ("foot_l", 1.5)]


def test_other_speeds_keep_the_curve() -> None:
    clip = mixed()
    fast = clip.retimed(4.0)
    assert fast.duration == pytest.approx(0.5)
    inside = np.linspace(0, 0.5, 31)
    same(fast.sample(inside), clip.sample(inside * 4), 1e-4)
    assert clip.retimed(duration=3.0).duration == pytest.approx(3.0)
    for bad in (
        {},
        {"speed": 1.0, "duration": 1.0},
        {"speed": 0.0},
        {"speed": -1.0},
        {"duration": float("nan")},
    ):
        with pytest.raises(mw.MarrowError, match="retimed"):
            clip.retimed(**bad)


def test_a_clip_from_poses_gives_them_back(hero: mw.Character) -> None:
    times = np.arange(20) / 24
    poses = hero.clips["run"].sample(times)
    clip = mw.Clip.from_poses("run", hero.skeleton, poses, 24)
    found = clip.sample(times)
    np.testing.assert_allclose(found.translation, poses.translation, atol=1e-5)
    assert quaternion.angle(found.rotation, poses.rotation).max() < 1e-3
    assert clip.key_rate == 24
    for bad in ({}, {"rate": 24, "times": times}, {"rate": 0}, {"times": times[:3]}):
        with pytest.raises(mw.MarrowError):
            mw.Clip.from_poses("run", hero.skeleton, poses, **bad)
    with pytest.raises(mw.MarrowError, match="shape"):
        mw.Clip.from_poses("run", hero.skeleton, poses[0], 24)


def test_keeping_and_stripping_joints(hero: mw.Character) -> None:
    clip = hero.clips["walk"]
    legs = clip.only(["thigh_l", "thigh_r"], below=True, morphs=False)
    rest = clip.without(["thigh_l", "thigh_r"], below=True)
    assert len(legs.tracks) + len(rest.tracks) == len(clip.tracks)
    assert {hero.skeleton.names[t.target] for t in legs.tracks} >= {"thigh_l", "calf_r", "foot_l"}
    assert legs.duration == clip.duration
    with pytest.raises(mw.MarrowError, match="no joint"):
        clip.only(["tail"])


def test_in_place_and_back_on_its_way(hero: mw.Character) -> None:
    walk = hero.clips["walk"]
    still = walk.in_place()
    times = np.linspace(0, walk.duration, 9)
    root = still.sample(times).translation[:, 0]
    np.testing.assert_allclose(root - root[0], 0, atol=1e-5)
    way = walk.sample(walk.duration).translation[0] - walk.sample(0.0).translation[0]
    speed = travel_speed(still)
    np.testing.assert_allclose(
        speed[[0, 2]], (way / walk.duration)[[0, 2]], atol=0.06 * np.linalg.norm(way) / walk.duration
    )
    gone = still.with_travel(way / walk.duration)
    end = gone.sample(walk.duration).translation[0] - gone.sample(0.0).translation[0]
    np.testing.assert_allclose(end, way, atol=1e-4)


def test_a_loop_ends_as_it_begins(hero: mw.Character) -> None:
    clip = hero.clips["attack"].trimmed(0.1, 0.7)
    loop = clip.looped(0.2)
    first, last = loop.sample(0.0), loop.sample(loop.duration)
    assert np.degrees(quaternion.angle(first.rotation, last.rotation)).max() < 0.05
    np.testing.assert_allclose(last.translation, first.translation, atol=1e-5)
    before = np.linspace(0, clip.duration - 0.21, 7)
    assert quaternion.angle(loop.sample(before).rotation, clip.sample(before).rotation).max() < 2e-3
    walk = hero.clips["walk"].looped()
    way = walk.sample(walk.duration).translation[0] - walk.sample(0.0).translation[0]
    assert way[2] > 1.0, "travel stays"
    assert (
        abs(
            hero.clips["walk"].looped(travel=False).sample(1.0).translation[0, 2]
            - walk.sample(0.0).translation[0, 2]
        )
        < 1e-3
    )


def test_one_clip_after_another(hero: mw.Character) -> None:
    walk, run = hero.clips["walk"], hero.clips["run"]
    both = walk.then(run, 0.2, name="both")
    assert both.name == "both" and both.duration == pytest.approx(walk.duration + run.duration - 0.2)
    early = np.linspace(0, walk.duration - 0.2, 7)
    same(both.sample(early), walk.sample(early), 2e-3)
    end = both.sample(both.duration).translation[0, 2]
    ways = [c.sample(c.duration).translation[0, 2] - c.sample(0.0).translation[0, 2] for c in (walk, run)]
    assert end == pytest.approx(ways[0] * (1 - 0.2 / walk.duration) + ways[1], abs=0.05)
    root = both.sample(np.linspace(0, both.duration, 200)).translation[:, 0, 2]
    assert (np.diff(root) > 0).all(), "it never steps back"
    with pytest.raises(mw.MarrowError, match="blend"):
        walk.then(run, 99.0)
    with pytest.raises(mw.MarrowError, match="skeleton"):
        walk.then(mixed())


def root_after(clip: mw.Clip) -> tuple[np.ndarray, float]:
    """Where the root ends, and its heading in degrees."""
    end = clip.sample(clip.duration)
    x, _, z = quaternion.rotate(end.rotation[0], np.array([0.0, 0.0, 1.0]))
    return end.translation[0], float(np.degrees(np.arctan2(x, z))) % 360


def test_a_clip_goes_on_the_way_a_turn_on_the_spot_ends(hero: mw.Character) -> None:
    turn, walk, idle = (hero.clips[n] for n in ("turn_left", "walk", "idle"))
    way = float(root_after(walk)[0][2])
    place, heading = root_after(turn.then(walk, 0.0))
    np.testing.assert_allclose(place, [way, 0, 0], atol=1e-3)
    assert heading == pytest.approx(90, abs=0.1)
    assert root_after(turn.then(turn, 0.0))[1] == pytest.approx(180, abs=0.1)
    assert root_after(turn.then(idle, 0.2))[1] == pytest.approx(90, abs=3)
    place, heading = root_after(idle.then(turn, 0.0).then(walk, 0.0).then(turn, 0.0).then(walk, 0.0))
    np.testing.assert_allclose(place, [way, 0, -way], atol=5e-3)
    assert heading == pytest.approx(180, abs=0.1)


def test_a_walk_led_by_the_hips_goes_on_with_one_led_by_the_root(hero: mw.Character) -> None:
    """The way a recording goes is in its hips; the root of what follows takes it up."""
    walk, bones = hero.clips["walk"], hero.skeleton
    way = float(root_after(walk)[0][2])
    pose = walk.sample(np.linspace(0, walk.duration, 31)).copy()
    pelvis = bones.index("pelvis")
    assert bones.parents[pelvis] == 0
    moved = pose.translation[:, 0].copy()
    pose.translation[:, 0] = 0
    pose.translation[:, pelvis] += quaternion.rotate(quaternion.conjugate(pose.rotation[:, 0]), moved)
    recorded = mw.Clip.from_poses("recorded", bones, pose, 30 / walk.duration)
    both = recorded.then(walk, 0.0)
    at = bones.to_model(both.sample(both.duration))[pelvis, :, 3]
    assert at[2] == pytest.approx(2 * way, abs=0.05)


def test_filters_take_out_what_trembles_and_leave_what_moves(hero: mw.Character) -> None:
    rate, t = 120.0, np.arange(480) / 120.0
    slow, fast = np.sin(2 * np.pi * 1.0 * t), 0.2 * np.sin(2 * np.pi * 30 * t)
    for found in (filters.butterworth(slow + fast, 6.0, rate), filters.gauss(slow + fast, 6.0, rate)):
        assert np.abs(found - slow)[40:-40].max() < 0.03
    ramp = filters.butterworth(t, 6.0, rate)
    np.testing.assert_allclose(
        ramp, t, atol=1e-3, err_msg="a steady motion is not touched, at its ends neither"
    )
    still = filters.one_euro(fast, rate, 1.0, 0.0)
    assert np.abs(still[240:]).max() < 0.02
    clip = hero.clips["walk"]
    for method in ("butterworth", "one-euro", "gauss"):
        smooth = clip.smoothed(12.0, method=method)
        pose = smooth.sample(np.linspace(0, clip.duration, 11))
        np.testing.assert_allclose(np.linalg.norm(pose.rotation, axis=-1), 1, atol=1e-4)
    with pytest.raises(mw.MarrowError, match="cutoff"):
        clip.smoothed(0)
    with pytest.raises(mw.MarrowError, match="method"):
        clip.smoothed(method="median")  # type: ignore[arg-type]


def test_gaps_are_bridged() -> None:
    times = np.arange(5) / 10
    turns = np.tile([0, 0, 0, 1.0], (5, 1))
    turns[2] = 0
    place = np.zeros((5, 3))
    place[:, 0] = np.arange(5)
    place[3] = np.nan
    clip = mw.Clip(
        "gaps", BONES, [mw.Track(0, "rotation", times, turns), mw.Track(0, "translation", times, place)]
    )
    whole = clip.filled()
    np.testing.assert_allclose(whole.sample(0.3).translation[0], [3, 0, 0], atol=1e-5)
    np.testing.assert_allclose(whole.sample(0.2).rotation[0], [0, 0, 0, 1], atol=1e-6)


def test_contacts_become_events(hero: mw.Character) -> None:
    made = hero.clips["walk"].replace(events=()).with_contacts()
    by_hand = {e.name: e.time for e in hero.clips["walk"].events}
    found = {e.name: e.time for e in made.events}
    assert {"foot_l", "foot_r", "foot_l_lift", "foot_r_lift"} >= set(found) and len(found) >= 3
    for name in {"foot_l", "foot_r"} & set(found) & set(by_hand):
        gap = abs(found[name] - by_hand[name])
        assert min(gap, hero.clips["walk"].duration - gap) < 0.12
    with pytest.raises(mw.MarrowError, match="two legs"):
        mixed().with_contacts()


@pytest.mark.parametrize("name", ["walk", "run", "jog", "jog_slow", "strafe_left", "walk_back"])
def test_a_loop_has_the_steps_at_its_seam(hero: mw.Character, name: str) -> None:
    clip = hero.clips[name]
    found = clip.replace(events=()).with_contacts().events
    assert sorted(e.name for e in found) == sorted(e.name for e in clip.events)
    by_hand = {e.name: e.time for e in clip.events}
    for e in found:
        gap = abs(e.time - by_hand[e.name])
        assert min(gap, clip.duration - gap) < 0.04, e
    turned = mw.Clip.from_poses(
        "part", hero.skeleton, clip.sample(np.linspace(0, 0.6 * clip.duration, 40)), 60
    )
    assert all(e.time > 0 for e in turned.with_contacts().events if not e.name.endswith("lift")), "no loop"


def test_a_clip_that_begins_and_ends_standing_has_no_step_there(hero: mw.Character) -> None:
    for name in ("idle", "turn_left", "jump", "attack"):
        events = hero.clips[name].replace(events=()).with_contacts().events
        assert all(0.1 < e.time < hero.clips[name].duration - 0.02 for e in events), (name, events)


@pytest.mark.parametrize("error", [0.0005, 0.002, 0.01])
def test_fewer_keys_within_the_error(hero: mw.Character, error: float) -> None:
    clip = hero.clips["run"].at_rate(120)
    made = reduce(clip, error, hero)
    assert made.error <= error and made.keys_after < 0.7 * made.keys_before
    times = np.linspace(0, clip.duration, 13)
    a, b = (mw.skin(hero, c.sample(times)).positions for c in (clip, made.clip))
    assert np.linalg.norm(a - b, axis=-1).max() <= error * 1.05
    with pytest.raises(mw.MarrowError, match="error"):
        clip.reduced(-1)


def test_a_graph_run_becomes_a_clip(hero: mw.Character) -> None:
    solo = mw.Animator(hero, mw.samples.mannequin_graph(), count=2)
    solo["speed"] = [0.0, 1.5]
    run = mw.Clip.from_run(solo, 1.5, 30, instance=1, name="walking")
    assert run.duration == pytest.approx(1.5) and run.name == "walking"
    way = run.sample(1.5).translation[0] - run.sample(0.0).translation[0]
    assert way[2] > 1.0
    still = mw.Clip.from_run(solo, 0.5, 30, instance=1, travel=False)
    assert abs(still.sample(0.5).translation[0, 2] - still.sample(0.0).translation[0, 2]) < 0.05


def test_a_run_keeps_the_times_of_events(hero: mw.Character) -> None:
    walk = hero.clips["walk"]
    animator = mw.Animator(hero, mw.Graph("walk"), count=2)
    run = mw.Clip.from_run(animator, 1.0, 7, instance=1)
    expected = sorted(
        (e.time + k * walk.duration, e.name)
        for k in (0, 1)
        for e in walk.events
        if e.time + k * walk.duration <= 1
    )
    assert [e.name for e in run.events] == [name for _, name in expected]
    np.testing.assert_allclose([e.time for e in run.events], [t for t, _ in expected], atol=1e-5)
    later = mw.Clip.from_run(animator, 0.8, 7, instance=1)  # the clock goes on; the clip begins anew
    first = next(e for e in later.events if e.name == "foot_r")
    assert first.time == pytest.approx(0.45 + walk.duration - 1.0, abs=1e-5)
    fast = mw.Animator(hero, mw.Graph("walk"))
    fast.speed = 2.0
    first = next(e for e in mw.Clip.from_run(fast, 0.4, 10).events if e.name == "foot_r")
    assert first.time == pytest.approx(0.225, abs=1e-5)


def test_many_clips_and_times_in_one_call(hero: mw.Character) -> None:
    clips = [hero.clips[n] for n in ("walk", "run", "wave")]
    rng = np.random.default_rng(0)
    which, time = rng.integers(0, 3, (4, 5)), rng.uniform(0, 1, (4, 5))
    pose = mw.sample_clips(clips, which, time, loop=True)
    assert pose.batch_shape == (4, 5)
    for i in np.ndindex(4, 5):
        one = clips[which[i]].sample(time[i], loop=True)
        np.testing.assert_array_equal(pose[i].rotation, one.rotation)
        np.testing.assert_array_equal(pose[i].morphs, one.morphs)
    with pytest.raises(mw.MarrowError, match="which"):
        mw.sample_clips(clips, [3], [0.0])
    with pytest.raises(mw.MarrowError, match="integers"):
        mw.sample_clips(clips, [0.5], [0.0])


def test_blending_any_number_of_poses(hero: mw.Character) -> None:
    walk, run = (hero.clips[n].sample(np.linspace(0, 0.5, 4)) for n in ("walk", "run"))
    np.testing.assert_allclose(mw.blend([walk, run], [1, 0]).rotation, walk.rotation, atol=1e-6)
    half = mw.blend([walk, run], [2, 2])
    assert (
        quaternion.angle(
            half.rotation, quaternion.slerp(walk.rotation, run.rotation, np.full((4, 61), 0.5))
        ).max()
        < 1e-3
    )
    np.testing.assert_allclose(half.translation, (walk.translation + run.translation) / 2, atol=1e-6)
    each = mw.blend([walk, run], np.array([[1, 0, 0.5, 1], [0, 1, 0.5, 0]]))
    np.testing.assert_allclose(each.translation[1], run.translation[1], atol=1e-6)
    flipped = walk.replace(rotation=-walk.rotation)
    assert quaternion.angle(mw.blend([walk, flipped], [0.5, 0.5]).rotation, walk.rotation).max() < 1e-3
    for bad in ([1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(mw.MarrowError, match="blend"):
            mw.blend([walk, run], bad)


@pytest.mark.parametrize("rows", [False, True])
def test_poses_go_to_six_numbers_and_back(hero: mw.Character, rows: bool) -> None:
    pose = hero.clips["attack"].sample(np.linspace(0, 1, 7))
    six = mw.motion.to_6d(pose, rows=rows)
    assert six.shape == (7, 61, 6)
    matrix = quaternion.to_matrix(pose.rotation)
    expected = (
        matrix[..., :2, :].reshape(7, 61, 6)
        if rows
        else np.concatenate([matrix[..., 0], matrix[..., 1]], axis=-1)
    )
    np.testing.assert_allclose(six, expected, atol=1e-6)
    back = mw.motion.from_6d(six * 3.0, hero.skeleton, pose.translation, rows=rows)
    assert quaternion.angle(back.rotation, pose.rotation).max() < 1e-3
    np.testing.assert_array_equal(back.translation, pose.translation)
    broken = mw.motion.from_6d(np.zeros((61, 6)), hero.skeleton)
    np.testing.assert_allclose(np.linalg.norm(broken.rotation, axis=-1), 1, atol=1e-5)
    with pytest.raises(mw.MarrowError, match="from_6d"):
        mw.motion.from_6d(np.zeros((3, 6)), hero.skeleton)
