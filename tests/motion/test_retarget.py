"""Retargeting, analytic cases first: where the right answer is known, it must come out."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.math import quaternion
from marrow.motion import RetargetError

CLIPS = ("walk", "attack", "turn_left")


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def moments(clip: mw.Clip, count: int = 5) -> np.ndarray:
    return np.linspace(0, clip.duration, count)


def assert_same_surface(
    hero: mw.Character, clip: mw.Clip, other: mw.Character, made: mw.Clip, atol: float = 2e-4
) -> None:
    times = moments(clip, 4)
    pose = clip.sample(times).replace(morphs=np.zeros((4, len(hero.skeleton.morph_names)), np.float32))
    np.testing.assert_allclose(
        mw.skin(other, made.sample(times)).positions, mw.skin(hero, pose).positions, atol=atol
    )


VARIANTS = {
    "axes": lambda c: rigs.other_axes(c, np.random.default_rng(1)),
    "order": lambda c: rigs.reordered(c, np.random.default_rng(2)),
    "centimetres": rigs.centimetres,
    "namespace": lambda c: rigs.renamed(c, lambda n: f"rig:{n}"),
    "names": lambda c: rigs.renamed(c, lambda n: n.replace("_l", ".L").replace("_r", ".R").title()),
    "all": lambda c: rigs.centimetres(
        rigs.reordered(rigs.other_axes(c, np.random.default_rng(3)), np.random.default_rng(4))
    ),
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("clip", CLIPS)
def test_a_rig_against_itself_gives_the_same_surface(hero: mw.Character, variant: str, clip: str) -> None:
    other = VARIANTS[variant](hero.replace(clips=()))
    made = mw.retarget(hero.clips[clip], onto=other)
    assert_same_surface(hero, hero.clips[clip], other, made)


@pytest.mark.parametrize("variant", ["axes", "centimetres", "all"])
def test_there_and_back_again_is_the_same_motion(hero: mw.Character, variant: str) -> None:
    other = VARIANTS[variant](hero.replace(clips=()))
    clip = hero.clips["attack"]
    back = mw.retarget(mw.retarget(clip, onto=other), onto=hero)
    times = moments(clip, 9)
    expected, found = (hero.skeleton.to_model(c.sample(times)) for c in (clip, back))
    np.testing.assert_allclose(found, expected, atol=3e-4)


def test_the_same_skeleton_gets_its_own_keys(hero: mw.Character) -> None:
    clip = hero.clips["walk"]
    assert mw.retarget(clip, onto=hero) is clip
    twin = rigs.renamed(hero.replace(clips=()), lambda n: n)
    made = mw.retarget(clip, onto=twin)
    assert made.skeleton is twin.skeleton
    assert made.events == clip.events
    for a, b in zip((t for t in clip.tracks if t.path != "morph"), made.tracks):
        assert a.path == b.path and a.interpolation == b.interpolation
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.times, b.times)


@pytest.mark.parametrize("moment", [0.1, 0.4])
def test_a_rest_pose_caught_in_motion_does_not_matter_where_joints_have_the_same_axes(
    hero: mw.Character, moment: float
) -> None:
    """The rest pose of the target is a moment of a run; its joints' axes are the mannequin's."""
    clip = hero.clips["walk"]
    bones = rigs.resting_in(hero.skeleton, hero.clips["run"].sample(moment))
    made = mw.retarget(clip, onto=bones)
    times = moments(clip)
    expected, found = hero.skeleton.to_model(clip.sample(times)), bones.to_model(made.sample(times))
    body = [hero.skeleton.index(n) for n in rigs.PARTS]
    angles = quaternion.angle(
        quaternion.from_matrix(found[:, body, :, :3]), quaternion.from_matrix(expected[:, body, :, :3])
    )
    assert np.degrees(angles).max() < 0.1


@pytest.mark.parametrize("amount", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("side", ["onto a character", "onto a skeleton", "from a skeleton"])
def test_rest_rotations_at_random_change_nothing(hero: mw.Character, amount: float, side: str) -> None:
    """Every joint below the hips rests turned by up to `amount` radians: the surface is the same all the same."""
    rng = np.random.default_rng(int(10 * amount))
    old = hero.skeleton
    axes = rng.normal(size=(len(old), 3))
    turns = quaternion.from_axis_angle(
        axes / np.linalg.norm(axes, axis=1, keepdims=True), rng.uniform(-amount, amount, len(old))
    )
    turns[:2] = [0, 0, 0, 1]
    rest = old.rest.replace(rotation=quaternion.multiply(old.rest.rotation, turns))
    bones = mw.Skeleton(old.names, old.parents, rest, old.morph_names)
    clip = hero.clips["attack"]
    if side == "from a skeleton":
        every = mw.Clip.from_poses(
            "attack",
            bones,
            clip.sample(np.linspace(0, clip.duration, 30)),
            times=np.linspace(0, clip.duration, 30),
        )
        made, who = mw.retarget(every, onto=hero.replace(clips=())), hero
    else:
        who = hero.replace(skeleton=bones, clips=())
        made = mw.retarget(clip, onto=who if side == "onto a character" else bones)
    times = clip.duration / 29 * np.array([3, 12, 20])
    poses = [
        c.sample(times).replace(morphs=np.zeros((3, len(old.morph_names)), np.float32)) for c in (made, clip)
    ]
    np.testing.assert_allclose(mw.skin(who, poses[0]).positions, mw.skin(hero, poses[1]).positions, atol=5e-4)


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_who_rests_facing_another_way_moves_facing_that_way(hero: mw.Character, degrees: float) -> None:
    turn = quaternion.from_axis_angle([0.0, 1.0, 0.0], np.radians(degrees))
    bones = rigs.facing(hero, turn)
    clip = hero.clips["walk"]
    made = mw.retarget(clip, onto=bones)
    times = moments(clip)
    expected = quaternion.rotate(turn, hero.skeleton.to_model(clip.sample(times))[..., 3].astype(float))
    np.testing.assert_allclose(bones.to_model(made.sample(times))[..., 3], expected, atol=3e-4)


def test_motion_made_for_another_up_axis_is_set_upright(hero: mw.Character) -> None:
    """A figure that rests and walks along Z: the source of a file whose up axis nobody converted."""
    lying = quaternion.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2)
    bones = rigs.facing(hero, lying)
    clip = hero.clips["walk"]
    times = np.linspace(0, clip.duration, 31)
    pose = clip.sample(times)
    root = hero.skeleton.index("root")
    pose.rotation[:, root] = quaternion.multiply(lying, pose.rotation[:, root])
    pose.translation[:, root] = quaternion.rotate(lying, pose.translation[:, root])
    source = mw.Clip.from_poses("walk", bones, pose.replace(morphs=None), times=times)
    made = mw.retarget(source, onto=hero.replace(clips=()))
    found = hero.skeleton.to_model(made.sample(times))[..., 3]
    expected = hero.skeleton.to_model(clip.sample(times))[..., 3]
    np.testing.assert_allclose(found[..., 1], expected[..., 1], atol=2e-3)


def test_arms_of_a_t_pose_and_an_a_pose_point_the_same_way(hero: mw.Character) -> None:
    """The target rests with level arms: every limb of the result points where the mannequin's does."""
    pose = hero.skeleton.rest.copy()
    level = hero.skeleton.rest_model[..., 3].astype(float)
    for side, sign in (("l", 1), ("r", -1)):
        upper, hand = (hero.skeleton.index(f"{n}_{side}") for n in ("upperarm", "hand"))
        d = level[hand] - level[upper]
        turn = quaternion.between(d, [sign, 0.0, 0.0])
        parent = hero.skeleton.rest_model[hero.skeleton.parents[upper], :, :3].astype(float)
        own = quaternion.from_matrix(parent)
        pose.rotation[upper] = quaternion.multiply(
            quaternion.multiply(quaternion.conjugate(own), quaternion.multiply(turn, own)),
            pose.rotation[upper],
        )
    tee = rigs.resting_in(hero.skeleton, pose)
    fresh = rigs.body({n: f"x{n}" for n in rigs.PARTS}, axes=np.random.default_rng(5))
    assert len(fresh) == len(rigs.PARTS)
    renamed = mw.Skeleton(tuple(f"rig_{n}" for n in tee.names), tee.parents, tee.rest)
    clip = hero.clips["attack"]
    made = mw.retarget(clip, onto=renamed, contacts=False)
    times = moments(clip, 9)
    a, b = hero.skeleton.to_model(clip.sample(times))[..., 3], renamed.to_model(made.sample(times))[..., 3]
    for upper, lower in (("upperarm", "lowerarm"), ("lowerarm", "hand"), ("thigh", "calf"), ("calf", "foot")):
        for side in "lr":
            i, j = hero.skeleton.index(f"{upper}_{side}"), hero.skeleton.index(f"{lower}_{side}")
            da, db = a[:, j] - a[:, i], b[:, j] - b[:, i]
            cosine = (da * db).sum(-1) / np.linalg.norm(da, axis=-1) / np.linalg.norm(db, axis=-1)
            assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 0.1


def test_a_quadruped_is_refused_with_the_reason(hero: mw.Character) -> None:
    lizard = mw.samples.lizard()
    with pytest.raises(RetargetError, match="four legs"):
        mw.retarget(lizard.clips[0], onto=hero)
    with pytest.raises(RetargetError, match="four legs"):
        mw.retarget(hero.clips["walk"], onto=lizard)


def test_what_is_missing_is_named(hero: mw.Character) -> None:
    names = {n: n for n in rigs.PARTS if n not in ("calf_l", "foot_l", "ball_l", "lowerarm_r", "hand_r")}
    broken = rigs.body(names)
    with pytest.raises(RetargetError, match="left lower leg") as error:
        mw.retarget(
            hero.clips["walk"],
            onto=mw.Skeleton(tuple(f"{n}_jnt" for n in broken.names), broken.parents, broken.rest),
        )
    assert "right lower arm" in str(error.value)


def test_a_difference_stays_a_difference(hero: mw.Character) -> None:
    """An additive clip, taken across and added to a retargeted pose, is that pose with the clip added before."""
    other = rigs.other_axes(hero.replace(clips=()), np.random.default_rng(8))
    wave = hero.clips["wave"]
    delta = mw.additive(wave, hero.skeleton.rest)
    made = mw.retarget(delta, onto=other)
    assert made.additive and made.events == wave.events
    times = np.linspace(0, wave.duration, 5)
    own = made.sample(times)
    rest = other.skeleton.rest
    found = mw.Pose(
        rest.translation + own.translation,
        quaternion.multiply(rest.rotation, own.rotation),
        rest.scale * own.scale,
    )
    expected = mw.retarget(wave, onto=other).sample(times)
    np.testing.assert_allclose(
        other.skeleton.to_model(found)[..., 3], other.skeleton.to_model(expected)[..., 3], atol=1e-3
    )


def test_a_single_pose_goes_across(hero: mw.Character) -> None:
    still = mw.Clip.from_poses("pose", hero.skeleton, hero.clips["wave"].sample([0.9]), 30)
    other = rigs.other_axes(hero.replace(clips=()), np.random.default_rng(6))
    made = mw.retarget(still, onto=other)
    assert made.duration == 0
    assert_same_surface(hero, still, other, made)


def test_bad_calls_are_refused_in_words(hero: mw.Character) -> None:
    with pytest.raises(mw.MarrowError, match="scale"):
        mw.retarget(hero.clips["walk"], onto=hero, scale=-1)
    empty = mw.Clip("nothing", mw.Skeleton((), []))
    with pytest.raises(mw.MarrowError):
        mw.retarget(empty, onto=hero, map={"format": "marrow bone map", "version": 1, "chains": {}})


def test_the_rate_that_was_asked_for_holds_on_the_same_skeleton_too():
    lizard = mw.samples.lizard()
    clip = lizard.clips["walk"]
    made = mw.retarget(clip, lizard, rate=10)
    times = np.unique(np.concatenate([track.times for track in made.tracks]))
    assert np.diff(times).min() > 0.09
    for wrong in (-1, 0, float("nan")):
        with pytest.raises(mw.MarrowError):
            mw.retarget(clip, lizard, rate=wrong)
