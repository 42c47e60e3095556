"""Bodies of other sizes, proportions and counts of bones, written here so that the right answer is known."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from families import FAMILIES

import marrow as mw
from marrow.math import quaternion
from marrow.motion import Retargeter
from marrow.motion.foot_ik import BentLimb

SAME = {n: n for n in rigs.PARTS}


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def at(skeleton: mw.Skeleton, clip: mw.Clip, times: np.ndarray) -> np.ndarray:
    return skeleton.to_model(clip.sample(times))[..., 3].astype(float)


@pytest.mark.parametrize("size", [0.55, 1.0, 1.9])
def test_another_size_is_the_same_motion_scaled(hero: mw.Character, size: float) -> None:
    """Hips and head as high for the length of the legs, to a hundredth; travel as long."""
    bones = rigs.body(FAMILIES["mixamo"], place=lambda _, p: p * size, axes=np.random.default_rng(1))
    clip = hero.clips["walk"]
    made = mw.retarget(clip, onto=bones)
    times = np.linspace(0, clip.duration, 9)
    a, b = at(hero.skeleton, clip, times), at(bones, made, times)
    for ours, theirs in (
        ("pelvis", "mixamorig:Hips"),
        ("head", "mixamorig:Head"),
        ("foot_l", "mixamorig:LeftFoot"),
    ):
        np.testing.assert_allclose(
            b[:, bones.index(theirs)] / size, a[:, hero.skeleton.index(ours)], atol=2e-3
        )


def longer_legs(name: str, p: np.ndarray) -> np.ndarray:
    """Legs a quarter longer, the rest lifted."""
    hips = 0.925
    return np.array([p[0], p[1] * 1.25 if p[1] < hips else p[1] + 0.25 * hips, p[2]])


def short_shins(name: str, p: np.ndarray) -> np.ndarray:
    """Knees lower, arms longer, shoulders wider."""
    if name.startswith("calf"):
        return p - [0, 0.06, 0]
    if name.split("_")[0] in ("upperarm", "lowerarm", "hand", "thumb", "index", "middle", "ring", "pinky"):
        return p * [1.15, 1, 1]
    return p


@pytest.mark.parametrize("place", [longer_legs, short_shins])
@pytest.mark.parametrize("clip", ["walk", "run", "attack"])
def test_feet_stay_planted_on_other_legs(hero: mw.Character, place, clip: str) -> None:
    bones = rigs.body(SAME, place=place, axes=np.random.default_rng(2), root="root")
    motion = hero.clips[clip]
    tool = Retargeter(hero.skeleton, bones, clip=motion)
    assert not tool.same_proportions
    quality = tool.quality(motion, tool.retarget(motion))
    assert quality is not None
    assert quality.result.drift <= 0.005 and quality.result.sink <= 0.005
    assert quality.result.skate <= quality.source.skate
    assert quality.stretch < 1.06 and quality.knees == 0


@pytest.mark.parametrize("rate", [8.0, 24.0, 240.0])
def test_feet_stay_planted_at_other_frame_rates(hero: mw.Character, rate: float) -> None:
    bones = rigs.body(SAME, place=longer_legs, axes=np.random.default_rng(2), root="root")
    for name in ("walk", "turn_left"):
        motion = hero.clips[name]
        tool = Retargeter(hero.skeleton, bones, clip=motion)
        made = tool.retarget(motion, rate=rate)
        quality = tool.quality(motion, made)
        assert quality is not None and made.key_rate == pytest.approx(rate, rel=0.1)
        assert quality.result.drift <= 0.005 and quality.result.sink <= 0.005
        assert quality.result.skate <= quality.source.skate


def test_a_root_that_travels_travels_on(hero: mw.Character) -> None:
    """Travel of the root stays on the root, scaled by the legs; the hips stay over it."""
    bones = rigs.body(SAME, place=longer_legs, root="root")
    made = mw.retarget(hero.clips["walk"], onto=bones)
    times = np.linspace(0, 1, 5)
    root = made.sample(times).translation[:, bones.index("root"), 2]
    own = hero.clips["walk"].sample(times).translation[:, 0, 2]
    np.testing.assert_allclose(root, own * 1.25, rtol=0.02, atol=1e-3)
    without = rigs.body(SAME, place=longer_legs)
    hips = mw.retarget(hero.clips["walk"], onto=without, contacts=False).sample(times).translation[:, 0, 2]
    seen = at(hero.skeleton, hero.clips["walk"], times)[:, hero.skeleton.index("pelvis"), 2]
    np.testing.assert_allclose(hips - hips[0], (seen - seen[0]) * 1.25, atol=5e-3)


def test_missing_collar_bones_and_toes_do_not_matter(hero: mw.Character) -> None:
    names = {n: n for n in rigs.PARTS if not n.startswith(("clavicle", "ball"))}
    bones = rigs.body(names, axes=np.random.default_rng(3))
    clip = hero.clips["wave"]
    made = mw.retarget(clip, onto=bones)
    times = np.linspace(0, clip.duration, 7)
    a, b = at(hero.skeleton, clip, times), at(bones, made, times)
    for side in "lr":
        da, db = (
            p[:, s.index(f"hand_{side}")] - p[:, s.index(f"upperarm_{side}")]
            for p, s in ((a, hero.skeleton), (b, bones))
        )
        np.testing.assert_allclose(db, da, atol=2e-3)


def test_more_spine_bones_bend_as_much_in_all(hero: mw.Character) -> None:
    """Six spine bones and three neck bones: chest and head end up turned as those of three and one."""
    names: dict = dict(SAME)
    for k in (1, 2, 3):
        names[f"spine_0{k}"] = (f"spine_0{2 * k - 1}", f"spine_0{2 * k}")
    names["neck"] = ("neck_01", "neck_02", "neck_03")
    bones = rigs.body(names)
    clip = hero.clips["attack"]
    made = mw.retarget(clip, onto=bones)
    times = np.linspace(0, clip.duration, 9)
    mine, theirs = hero.skeleton.to_model(clip.sample(times)), bones.to_model(made.sample(times))
    for ours, other in (("head", "head"), ("hand_l", "hand_l"), ("upperarm_r", "upperarm_r")):
        i, j = hero.skeleton.index(ours), bones.index(other)
        rest = quaternion.from_matrix(hero.skeleton.rest_model[i, :, :3].astype(float))
        turned = quaternion.multiply(
            quaternion.from_matrix(mine[:, i, :, :3].astype(float)), quaternion.conjugate(rest)
        )
        found = quaternion.from_matrix(theirs[:, j, :, :3].astype(float))  # its axes rest along the model's
        assert np.degrees(quaternion.angle(found, turned)).max() < 0.1
    bent = made.sample(times).rotation[:, [bones.index(f"spine_0{k}") for k in range(1, 7)]]
    assert (np.degrees(quaternion.angle(bent, quaternion.identity())).max(axis=0) > 0.5).all(), (
        "every bone takes its share"
    )


def test_hands_that_meet_still_meet(hero: mw.Character) -> None:
    """Hands held together in front, on a body with longer arms."""
    bones = rigs.body(SAME, place=short_shins, root="root")
    skeleton = hero.skeleton
    pose = skeleton.rest.broadcast_to((30,)).copy()
    model = skeleton.rest_model.astype(float)
    goal = np.array([0.0, 1.15, 0.32])
    for side, sign in (("l", 1), ("r", -1)):
        upper = skeleton.index(f"upperarm_{side}")
        hand = skeleton.index(f"hand_{side}")
        turn = quaternion.between(
            model[hand, :, 3] - model[upper, :, 3], goal + np.array([0.05 * sign, 0, 0]) - model[upper, :, 3]
        )
        above = quaternion.from_matrix(model[skeleton.parents[upper], :, :3])
        own = quaternion.multiply(turn, quaternion.from_matrix(model[upper, :, :3]))
        pose.rotation[:, upper] = quaternion.multiply(quaternion.conjugate(above), own)
    clip = mw.Clip.from_poses("clap", skeleton, pose, 30)

    def gap(who: mw.Skeleton, motion: mw.Clip) -> float:
        p = at(who, motion, np.array([0.5]))[0]
        return float(np.linalg.norm(p[who.index("hand_l")] - p[who.index("hand_r")]))

    wanted = gap(skeleton, clip)
    loose, kept = (gap(bones, mw.retarget(clip, onto=bones, hands=h)) for h in (False, "auto"))
    assert abs(kept - wanted) < 0.02 < abs(loose - wanted)


def test_hands_on_the_ground_stay_there(hero: mw.Character) -> None:
    """On all fours, rocking: on a body with longer arms the hands stay on the ground and in place, and no longer slide."""
    skeleton = hero.skeleton
    frames = 40
    pose = skeleton.rest.broadcast_to((frames,)).copy()
    bow = quaternion.from_axis_angle([1.0, 0, 0], np.radians(75))
    pelvis, spine = skeleton.index("pelvis"), skeleton.index("spine_01")
    above = quaternion.from_matrix(skeleton.rest_model[pelvis, :, :3].astype(float))
    own = quaternion.from_matrix(skeleton.rest_model[spine, :, :3].astype(float))
    pose.rotation[:, spine] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(bow, own))
    pose.translation[:, pelvis] += [0, -0.6, 0]
    pose.translation[:, pelvis, 2] += 0.06 * np.sin(np.linspace(0, 2 * np.pi, frames))
    for side, sign in (("l", 1), ("r", -1)):
        foot = skeleton.rest_model[skeleton.index(f"foot_{side}"), :, 3]
        for parts, goal, bends in (
            (("thigh", "calf", "foot"), foot, [0, 0, 1.0]),
            (("upperarm", "lowerarm", "hand"), np.array([0.22 * sign, 0.09, 0.48]), [0, 0, -1.0]),
        ):
            model = skeleton.to_model(pose)
            chain = tuple(skeleton.index(f"{p}_{side}") for p in parts)
            moves = np.zeros((frames, 9))
            moves[:, :3] = goal - model[:, chain[2], :, 3]
            for (joint, _), turns in (
                BentLimb(skeleton, chain, pose, model, np.array(bends)).bent(moves, 0).items()
            ):
                pose.rotation[:, joint] = turns
    clip = mw.Clip.from_poses("rock", skeleton, pose, 30)
    bones = rigs.body(SAME, place=short_shins, root="root")
    times = np.arange(frames) / 30
    wrists = [bones.index("hand_l"), bones.index("hand_r")]
    wanted = at(skeleton, clip, times)[:, [skeleton.index("hand_l"), skeleton.index("hand_r")]]
    assert np.ptp(wanted, axis=0).max() < 1e-3, "they stand in the source"
    loose, kept = (
        at(bones, mw.retarget(clip, onto=bones, hands=h), times)[:, wrists] for h in (False, "auto")
    )
    scale = Retargeter(hero.skeleton, bones).scale
    assert np.ptp(kept, axis=0).max() < 0.005 < np.ptp(loose, axis=0).max()
    np.testing.assert_allclose(kept[..., 1], wanted[..., 1] * scale, atol=0.005)


def test_twist_joints_share_the_turning_of_their_bone() -> None:
    """A hand turned by 80 degrees about its forearm: a twist joint halfway gets 40, and nothing else moves it."""
    hero = mw.samples.mannequin().skeleton
    clip_source = rigs.body(SAME)
    hand = clip_source.index("hand_l")
    lower = clip_source.index("lowerarm_l")
    rest = clip_source.rest_model.astype(float)
    axis = rest[hand, :, 3] - rest[lower, :, 3]
    axis /= np.linalg.norm(axis)
    pose = clip_source.rest.broadcast_to((2,)).copy()
    pose.rotation[1, hand] = quaternion.from_axis_angle(axis, np.radians(80))
    clip = mw.Clip.from_poses("twist", clip_source, pose, 30)
    made = mw.retarget(clip, onto=hero, contacts=False)
    j = hero.index("lowerarm_twist_01_l")
    turned = made.sample([0.0, 1 / 30]).rotation[:, j]
    share = np.linalg.norm(hero.rest.translation[j]) / np.linalg.norm(
        hero.rest.translation[hero.index("hand_l")]
    )
    assert np.degrees(quaternion.angle(turned[0], turned[1])) == pytest.approx(80 * share, abs=0.5)


def test_segments_inside_a_bone_share_its_turning_and_leave_the_rest_alone(hero: mw.Character) -> None:
    """Rigify's arm of two segments a bone: hands and elbows are where they would be, the skin between turns gradually."""
    whole = {n: n for n in rigs.PARTS}
    cut = dict(whole)
    for side in "lr":
        for part in ("upperarm", "lowerarm", "thigh", "calf"):
            cut[f"{part}_{side}"] = (f"{part}_{side}", f"{part}_{side}.001")
    one, two = rigs.body(whole, root="root"), rigs.body(cut, root="root")
    clip = mw.retarget(hero.clips["attack"], onto=one)  # of a body that has no twist joints
    times = np.arange(
        0, clip.duration, 6 / clip.key_rate
    )  # at frames: between them each joint turns its own way
    a, b = one.to_model(clip.sample(times)), two.to_model(mw.retarget(clip, onto=two).sample(times))
    for part in ("hand", "foot", "lowerarm", "calf"):
        for side in "lr":
            i, j = one.index(f"{part}_{side}"), two.index(f"{part}_{side}")
            np.testing.assert_allclose(b[:, j, :, 3], a[:, i, :, 3], atol=2e-4)
    for part in ("hand", "foot"):
        i, j = one.index(f"{part}_l"), two.index(f"{part}_l")
        np.testing.assert_allclose(b[:, j, :, :3], a[:, i, :, :3], atol=2e-4)
    # Seen along the forearm: the second segment lies halfway between the first and the hand.
    q = [
        quaternion.from_matrix(b[:, two.index(n), :, :3].astype(float))
        for n in ("lowerarm_r", "lowerarm_r.001", "hand_r")
    ]
    axis = two.rest.translation[two.index("hand_r")] / np.linalg.norm(
        two.rest.translation[two.index("hand_r")]
    )

    def about(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        d = quaternion.multiply(quaternion.conjugate(x), y)
        return np.unwrap(2 * np.arctan2(d[:, :3] @ axis, d[:, 3]))

    np.testing.assert_allclose(about(q[0], q[1]), about(q[0], q[2]) / 2, atol=0.02)


def test_joints_that_stand_for_feet_and_hands_follow_them(hero: mw.Character) -> None:
    """Unreal's ik_ joints: under joints of their own at the root, each goes where its limb ends."""
    plain = rigs.body(SAME, place=longer_legs, root="root")
    model = plain.rest_model.astype(float)
    names, parents, spots = list(plain.names), plain.parents.tolist(), list(model)
    for name, above, like in (
        ("ik_foot_root", "root", None), ("ik_foot_l", "ik_foot_root", "foot_l"), ("ik_foot_r", "ik_foot_root", "foot_r"),
        ("ik_hand_root", "root", None), ("ik_hand_gun", "ik_hand_root", "hand_r"), ("ik_hand_l", "ik_hand_gun", "hand_l"),
        ("ik_hand_r", "ik_hand_gun", "hand_r"),
    ):  # fmt: skip
        names.append(name)
        parents.append(names.index(above))
        spots.append(model[plain.index(like)] if like else model[0])
    bones = mw.Skeleton(tuple(names), parents, rigs.model_to_rest(np.array(parents), np.array(spots)))
    made = mw.retarget(hero.clips["attack"], onto=bones)
    found = bones.to_model(made.sample(np.linspace(0, 1, 7)))
    for end in ("foot_l", "foot_r", "hand_l", "hand_r"):
        np.testing.assert_allclose(found[:, bones.index(f"ik_{end}")], found[:, bones.index(end)], atol=1e-4)


@pytest.mark.parametrize("frames", [1, 2, 3, 5])
def test_very_short_clips_go_across(hero: mw.Character, frames: int) -> None:
    bones = rigs.body(SAME, place=longer_legs, root="root")
    clip = mw.Clip.from_poses("short", hero.skeleton, hero.clips["walk"].sample(np.arange(frames) / 30), 30)
    made = mw.retarget(clip, onto=bones)
    assert made.duration == pytest.approx(clip.duration)
    assert np.isfinite(made.tracks.values).all()
    for tool in (
        made.looped,
        made.mirrored,
        made.reversed,
        made.in_place,
        made.smoothed,
        made.filled,
        made.with_contacts,
        made.reduced,
    ):
        assert np.isfinite(tool().tracks.values).all()


def test_a_mirrored_skeleton_is_refused(hero: mw.Character) -> None:
    bones = rigs.body(SAME, root="root")
    flipped = bones.rest.copy()
    flipped.scale[0, 0] = -1
    with pytest.raises(mw.MarrowError, match="negative scale"):
        mw.retarget(hero.clips["walk"], onto=rigs.resting_in(bones, flipped))


def test_a_clip_without_a_skeleton_is_refused(hero: mw.Character) -> None:
    with pytest.raises(mw.MarrowError, match="no skeleton"):
        mw.retarget(mw.Clip("nothing", mw.Skeleton((), [])), onto=hero)
    with pytest.raises(mw.MarrowError, match="no skeleton"):
        mw.retarget(hero.clips["walk"], onto=mw.Skeleton((), []))


def test_the_benchmark_measures_what_it_says(hero: mw.Character) -> None:
    """Its stranger is a body of other proportions, fully mapped, and every contestant runs."""
    from marrow.bench.motion import contests, stranger

    tool = Retargeter(hero, stranger(hero.skeleton))
    assert not tool.same_proportions and len(tool.map["left_thumb"].target) == 3
    for contest in contests():
        assert all(r.runs >= 1 for r in contest.run(0.0, rounds=1))
