"""Rest poses that differ in more than their axes: arms rolled, hands missing, feet caught in a step, trunks that lean."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from builders import rotations
from marrow.math import affine, quaternion, transform
from marrow.motion import Retargeter

SAME = {n: n for n in rigs.PARTS}


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def turned_rest(bones: mw.Skeleton, pose: mw.Pose, seed: int = 0) -> tuple[mw.Skeleton, np.ndarray]:
    """The same body resting in `pose`, every joint's axes turned at random (by `turn (J, 4)`), other names."""
    turn = rotations(np.random.default_rng(seed), (len(bones),))
    model = affine.multiply(
        bones.to_model(pose).astype(float),
        transform.compose(np.zeros((len(bones), 3)), turn, np.ones((len(bones), 3))),
    )
    names = tuple(f"other:{n}" for n in bones.names)
    return mw.Skeleton(names, bones.parents, rigs.model_to_rest(bones.parents, model)), turn


def off_by(
    mine: mw.Skeleton, clip: mw.Clip, theirs: mw.Skeleton, made: mw.Clip, turn: np.ndarray, parts
) -> float:
    """The most degrees by which a bone of `theirs`, whose axes are `turn` from those of `mine`, is turned another way."""
    times = np.linspace(0, clip.duration, 7)
    joints = [mine.index(p) for p in parts]
    a, b = (
        quaternion.from_matrix(s.to_model(c.sample(times))[:, joints, :, :3].astype(float))
        for s, c in ((mine, clip), (theirs, made))
    )
    return float(np.degrees(quaternion.angle(b, quaternion.multiply(a, turn[joints]))).max())


@pytest.mark.parametrize("degrees", [-90, 30, 90])
def test_arms_that_rest_rolled_move_as_if_they_did_not(hero: mw.Character, degrees: float) -> None:
    """Palms forward: the whole arm is rolled about itself at rest."""
    bones = hero.skeleton
    pose = bones.rest.copy()
    for side, sign in (("l", 1), ("r", -1)):
        upper, lower = bones.index(f"upperarm_{side}"), bones.index(f"lowerarm_{side}")
        along = bones.rest.translation[lower] / np.linalg.norm(bones.rest.translation[lower])
        roll = quaternion.from_axis_angle(along, np.radians(degrees * sign))
        pose.rotation[upper] = quaternion.multiply(pose.rotation[upper], roll)
    other, turn = turned_rest(bones, pose)
    clip = hero.clips["wave"]
    made = mw.retarget(clip, onto=other)
    arms = [f"{p}_{s}" for p in ("upperarm", "lowerarm", "hand", "index_01", "thumb_02") for s in "lr"]
    assert off_by(bones, clip, other, made, turn, arms) < 0.1


def test_a_forearm_without_twist_joints_takes_half_of_a_hand_rolled_at_rest() -> None:
    bones = rigs.body(SAME, root="root")
    pose = bones.rest.copy()
    hand, lower = bones.index("hand_l"), bones.index("lowerarm_l")
    along = bones.rest.translation[hand] / np.linalg.norm(bones.rest.translation[hand])
    pose.rotation[hand] = quaternion.from_axis_angle(along, np.radians(80))
    other, turn = turned_rest(bones, pose, 1)
    still = mw.Clip.from_poses("still", bones, bones.rest.broadcast_to((2,)), 30)
    made = mw.retarget(still, onto=other)
    assert off_by(bones, still, other, made, turn, ["hand_l", "upperarm_l"]) < 0.1
    assert off_by(bones, still, other, made, turn, ["lowerarm_l"]) == pytest.approx(40, abs=0.1)
    assert lower != hand


def test_an_arm_without_a_hand_is_an_upper_and_a_lower_arm(hero: mw.Character) -> None:
    """The right forearm ends in nothing: its direction at rest is taken from the left one."""
    without = {n: n for n in rigs.PARTS if not (n.endswith("_r") and n.split("_")[0] in ("hand", *FINGERS))}
    clip = hero.clips["attack"]
    times = np.linspace(0, clip.duration, 9)
    turn, whole = (rigs.body(names, axes=np.random.default_rng(4), root="root") for names in (without, SAME))
    made = mw.retarget(clip, onto=turn)
    a = hero.skeleton.to_model(clip.sample(times))[..., 3]
    b = turn.to_model(made.sample(times))
    for upper, lower in (
        ("upperarm_r", "lowerarm_r"),
        ("upperarm_l", "lowerarm_l"),
        ("lowerarm_l", "hand_l"),
    ):
        da = a[:, hero.skeleton.index(lower)] - a[:, hero.skeleton.index(upper)]
        db = b[:, turn.index(lower), :, 3] - b[:, turn.index(upper), :, 3]
        np.testing.assert_allclose(db, da, atol=2e-3)
    # Where the hand would be.
    at = turn.rest_model[turn.index("lowerarm_r")].astype(float)
    wrist = whole.rest_model[whole.index("hand_r"), :, 3]
    inside = affine.apply(affine.invert(at), wrist[None].astype(float))[0]
    end = affine.apply(b[:, turn.index("lowerarm_r")].astype(float), inside)[:, 0]
    np.testing.assert_allclose(end, a[:, hero.skeleton.index("hand_r")], atol=2e-3)


FINGERS = ("thumb", "index", "middle", "ring", "pinky")


def test_feet_of_a_rest_pose_caught_in_a_step_are_found_flat_in_the_motion(hero: mw.Character) -> None:
    """A walk that rests in the middle of a step, as exporters leave it, on a body with longer legs: the feet turn as those
    of the walk that rests standing, and the knees bend no more."""
    bones, clip = hero.skeleton, hero.clips["walk"]
    caught, _ = turned_rest(bones, clip.sample(0.2), 2)
    walk = mw.retarget(clip, onto=caught)
    stranger = rigs.body({n: n for n in SAME}, place=lambda _, p: p * [1, 1.1, 1], root="root")
    times = np.linspace(0, clip.duration, 9)
    a, b = (
        stranger.to_model(mw.retarget(c, onto=stranger).sample(times)).astype(float) for c in (clip, walk)
    )
    for part, most in (("foot_l", 5.0), ("foot_r", 5.0), ("calf_l", 6.0), ("thigh_r", 6.0)):
        j = stranger.index(part)
        turns = [quaternion.from_matrix(m[:, j, :, :3]) for m in (a, b)]
        assert np.degrees(quaternion.angle(*turns)).max() < most, part


def test_feet_stay_level_however_the_trunk_leans_at_rest(hero: mw.Character) -> None:
    """A body that slouches at rest: its shoulders are further forward, its feet flat all the same."""
    lean = rigs.body(SAME, place=lambda _, p: p + np.array([0, 0, max(p[1] - 0.95, 0) * 0.3]), root="root")
    still = mw.Clip.from_poses("still", hero.skeleton, hero.skeleton.rest.broadcast_to((2,)), 30)
    made = mw.retarget(still, onto=lean, contacts=False)
    for part in ("foot_l", "foot_r"):
        found = quaternion.from_matrix(lean.to_model(made.sample(0.0))[lean.index(part), :, :3].astype(float))
        assert np.degrees(quaternion.angle(found, quaternion.identity())) < 0.1  # as it rests


def test_the_sole_of_a_mesh_does_not_sink(hero: mw.Character) -> None:
    """Feet that reach further than their joints: against every vertex of the foot, skinned."""
    names = rigs.renamed(hero, lambda n: f"b:{n}")
    other = names.replace(skeleton=names.skeleton)
    tool = Retargeter(rigs.body(SAME, place=lambda _, p: p * [1, 1.2, 1], root="root"), other)
    assert tool.soles_t is not None
    pose = other.skeleton.rest.broadcast_to((4,)).copy()
    foot = other.skeleton.index("b:foot_l")
    for k, degrees in enumerate((0, 20, 40, -30)):
        tilt = quaternion.from_axis_angle(
            other.skeleton.rest_model[foot, :, :3].T.astype(float) @ [1.0, 0, 0], np.radians(degrees)
        )
        pose.rotation[k, foot] = quaternion.multiply(pose.rotation[k, foot].astype(float), tilt)
    found = tool.soles_t.heights(other.skeleton.to_model(pose))[:, 0]
    body = other.meshes[0]
    below = np.isin(body.joint_list, other.skeleton.descendants(foot))
    mine = (body.weights * below[body.joints]).sum(axis=1) > 0.999
    lowest = mw.skin(other, pose).positions[:, : body.vertex_count][:, mine, 1].min(axis=1)
    np.testing.assert_allclose(found, lowest - min(lowest[0], 0), atol=0.012)


def test_scale_goes_across_along_the_axes_of_the_other_joint(hero: mw.Character) -> None:
    """A head that grows, a hand that grows along the fingers only: the surface is the same on axes at quarter turns."""
    bones = hero.skeleton
    pose = hero.clips["idle"].sample(np.arange(3) / 30)
    pose.scale[:, bones.index("head")] = 1.3
    pose.scale[1, bones.index("hand_l")] = [1.2, 0.9, 1.1]
    clip = mw.Clip.from_poses("big head", bones, pose, 30)
    quarter = quaternion.from_axis_angle([0.0, 0, 1], np.pi / 2)
    turn = transform.compose(
        np.zeros((len(bones), 3)), np.tile(quarter, (len(bones), 1)), np.ones((len(bones), 3))
    )
    model = affine.multiply(bones.rest_model.astype(float), turn)
    other = rigs.rebound(
        hero, mw.Skeleton(bones.names, bones.parents, rigs.model_to_rest(bones.parents, model)),
        np.arange(len(bones)), turn,
    )  # fmt: skip
    tool = Retargeter(hero, other, clip=clip)
    made = tool.retarget(clip)
    assert not any("scale" in line.message for line in tool.report)
    plain = clip.sample([0.0, 1 / 30]).replace(morphs=np.zeros((2, len(bones.morph_names)), np.float32))
    np.testing.assert_allclose(
        mw.skin(other, made.sample([0.0, 1 / 30])).positions, mw.skin(hero, plain).positions, atol=3e-4
    )


def test_scale_that_cannot_go_across_is_said(hero: mw.Character) -> None:
    bones = hero.skeleton
    pose = hero.clips["idle"].sample(np.arange(3) / 30)
    pose.scale[:, bones.index("pelvis")] = 1.3
    pose.scale[:, bones.index("hand_l")] = [1.5, 1, 1]
    clip = mw.Clip.from_poses("odd", bones, pose, 30)
    tool = Retargeter(hero, rigs.other_axes(hero.replace(clips=()), np.random.default_rng(7)))
    tool.retarget(clip)
    assert any(r.kind == "dropped" and "scale" in r.message and "pelvis" in r.message for r in tool.report)
    assert any(r.kind == "warning" and "axes" in r.message and "hand_l" in r.message for r in tool.report)
