"""Mirrored motion."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from builders import pose as random_pose
from marrow.graph import Mirror
from marrow.math import quaternion
from marrow.motion.joint_names import other_side
from marrow.motion.mirror import mirror_map, mirrored_pose


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("hand_l", "hand_r"),
        ("mixamorig:LeftArm", "mixamorig:RightArm"),
        ("Bip01 L Hand", "Bip01 R Hand"),
        ("lForeArm", "rForeArm"),
        ("DEF-thigh.L.001", "DEF-thigh.R.001"),
        ("L_Hip", "R_Hip"),
        ("LThumb", "RThumb"),
        ("spine_01", "spine_01"),
        ("Lower", "Lower"),
        ("footstep_left", "footstep_right"),
        ("head", "head"),
        ("J_Bip_L_Hand", "J_Bip_R_Hand"),
        ("left_wrist", "right_wrist"),
        ("leftUpperArm", "rightUpperArm"),
        ("tail", "tail"),
        ("Rleg", "Rleg"),
    ],
)
def test_names_of_the_other_side(name: str, other: str) -> None:
    assert other_side(name) == other
    assert other_side(other) == name


@pytest.mark.parametrize("clip", ["walk", "attack", "turn_left", "strafe_left"])
def test_a_mirrored_mirror_image_is_the_original(hero: mw.Character, clip: str) -> None:
    original = hero.clips[clip]
    again = original.mirrored().mirrored()
    assert again.events == original.events
    for a, b in zip(original.tracks, again.tracks):
        assert (a.target, a.path, a.interpolation) == (b.target, b.path, b.interpolation)
        np.testing.assert_allclose(b.values, a.values, atol=2e-6)


@pytest.mark.parametrize("clip", ["attack", "strafe_left", "wave"])
def test_joints_are_where_the_mirror_shows_them(hero: mw.Character, clip: str) -> None:
    """The mannequin is symmetric: every joint lies across from its partner, every frame's axes are its reflection."""
    original, mirror = hero.clips[clip], hero.clips[clip].mirrored()
    times = np.linspace(0, original.duration, 7)
    bones = hero.skeleton
    partner = [bones.index(other_side(n)) for n in bones.names]
    a, b = bones.to_model(original.sample(times))[..., 3], bones.to_model(mirror.sample(times))[..., 3]
    np.testing.assert_allclose(b, a[:, partner] * [-1, 1, 1], atol=1e-4)


def test_a_mirrored_walk_is_the_walk_half_a_cycle_later(hero: mw.Character) -> None:
    walk = hero.clips["walk"]
    mirror = walk.mirrored()
    half = walk.duration / 2
    times = np.linspace(0, walk.duration, 13)[:-1]
    bones = hero.skeleton
    both = [
        bones.index(n)
        for n in rigs.PARTS
        if n.split("_")[0] in ("pelvis", "spine", "thigh", "calf", "foot", "ball")
    ]

    def places(clip: mw.Clip, t: np.ndarray) -> np.ndarray:
        at = bones.to_model(clip.sample(t, loop=True))[..., 3]
        # Seen from the root, which travels; without the arms, one of which carries a baton.
        return (at - at[:, :1] * [1, 0, 1])[:, both]

    np.testing.assert_allclose(places(mirror, times), places(walk, times + half), atol=2e-3)
    steps = {e.name: e.time for e in walk.events}
    swapped = {e.name: e.time for e in mirror.events}
    for name, time in steps.items():
        assert swapped[other_side(name)] == time


def test_poses_and_clips_are_mirrored_alike_in_any_axes(hero: mw.Character) -> None:
    """Joint axes at random: the surface of the mirrored pose is the mirrored surface of the symmetric body's joints."""
    odd = rigs.other_axes(hero.replace(clips=()), np.random.default_rng(9)).skeleton
    rng = np.random.default_rng(3)
    pose = random_pose(rng, odd, (4,))
    mirror = mirror_map(odd)
    clip = mw.Clip.from_poses("random", odd, pose, 30)
    np.testing.assert_allclose(
        np.abs(clip.mirrored().sample(np.arange(4) / 30).rotation),
        np.abs(mirrored_pose(pose, mirror).rotation),
        atol=1e-5,
    )
    partner = mirror.partner
    a, b = odd.to_model(pose)[..., 3], odd.to_model(mirrored_pose(pose, mirror))[..., 3]
    np.testing.assert_allclose(b, a[:, partner] * [-1, 1, 1], atol=1e-3)
    back = mirrored_pose(mirrored_pose(pose, mirror), mirror)
    np.testing.assert_allclose(back.translation, pose.translation, atol=1e-5)
    assert quaternion.angle(back.rotation, pose.rotation).max() < 1e-3


def test_an_additive_clip_is_mirrored_as_what_it_was_made_from(hero: mw.Character) -> None:
    attack = hero.clips["attack"]
    a = mw.additive(attack, 0.0).mirrored()
    b = mw.additive(attack.mirrored(), 0.0)
    times = np.linspace(0, attack.duration, 5)
    pa, pb = a.sample(times), b.sample(times)
    np.testing.assert_allclose(pa.translation, pb.translation, atol=1e-5)
    assert quaternion.angle(pa.rotation, pb.rotation).max() < 1e-3


def test_pairs_overrule_names_and_must_make_sense() -> None:
    bones = mw.Skeleton(("body", "wingA", "wingB", "fin_l"), [-1, 0, 0, 0])
    turn = np.array([[0, 0, 0.5, np.sqrt(0.75)]])
    clip = mw.Clip("flap", bones, [mw.Track(1, "rotation", [0.0], turn)])
    assert clip.mirrored().tracks[0].target == 1
    assert clip.mirrored({"wingA": "wingB"}).tracks[0].target == 2
    with pytest.raises(mw.MarrowError, match="no joint"):
        clip.mirrored({"wingA": "wingC"})
    crooked = mw.Skeleton(("body", "arm_l", "arm_r"), [-1, 0, 1])
    with pytest.raises(mw.MarrowError, match="pairs="):
        mw.Clip("x", crooked).mirrored()


def body(*names: str, parents: list[int] | None = None, side: float = 0.3) -> mw.Skeleton:
    """A middle joint, then joints in turn to its left and right."""
    at = np.zeros((len(names), 3))
    at[:, 1] = 1.0
    at[1::2, 0], at[2::2, 0] = side, -side
    J = len(names)
    parents = [-1] + [0] * (J - 1) if parents is None else parents
    local = at - np.where(np.array(parents)[:, None] >= 0, at[parents], 0)
    pose = mw.Pose(local, np.tile([0.0, 0, 0, 1], (J, 1)), np.ones((J, 3)))
    return mw.Skeleton(names, parents, pose)


@pytest.mark.parametrize(
    ("names", "parents"),
    [
        (("hip", "b_LeftHand_011", "b_RightHand_08"), None),
        (("hip", "Lefthand", "RightHand"), None),
        (("hip", "b_LeftLeg01_015", "b_RightLeg01_019", "b_LeftLeg02_1", "b_RightLeg02_0"), [-1, 0, 0, 1, 2]),
        (
            ("hip", "arm_L__4_", "arm_R", "arm_L__3_", "arm_R__2_", "arm_L__2_", "arm_R__3_"),
            [-1, 0, 0, 1, 2, 3, 4],
        ),
    ],
)
def test_partners_whose_names_differ_in_case_or_number(
    names: tuple[str, ...], parents: list[int] | None
) -> None:
    partner = mirror_map(body(*names, parents=parents)).partner.tolist()
    assert partner == [0, *(k for j in range(1, len(names), 2) for k in (j + 1, j))]


def test_a_skeleton_with_sides_but_without_known_names_is_refused() -> None:
    bones = body("hip", "flap one", "flap two")
    with pytest.raises(mw.MarrowError, match=r"pairs=.*flap"):
        mirror_map(bones)
    assert mirror_map(bones, {"flap one": "flap two"}).partner.tolist() == [0, 2, 1]
    hero = mw.Character(bones, clips=(mw.Clip("still", bones, duration=1.0),))
    with pytest.raises(mw.MarrowError, match="pairs="):
        mw.Animator(hero, mw.Graph(Mirror("still")))
    ambiguous = body("hip", "fin_l_1", "fin_r_2", "fin_l_3", "fin_r_4")
    with pytest.raises(mw.MarrowError, match="pairs="):
        mirror_map(ambiguous)
    with pytest.warns(UserWarning, match="no joint has a partner"):
        mirror_map(body("hip", "crank"))


def test_an_end_that_the_other_side_lacks_stays_as_it_is() -> None:
    names = ("hip", "hand_l", "hand_r", "hand_l_End")
    bones = body(*names, parents=[-1, 0, 0, 1])
    turn = quaternion.from_axis_angle([0.0, 1.0, 0.0], 0.7)
    pose = mw.Pose(bones.rest.translation, np.tile(turn, (4, 1)), bones.rest.scale)
    with pytest.warns(UserWarning, match="hand_l_End"):
        mirror = mirror_map(bones)
    assert mirror.partner.tolist() == [0, 2, 1, 3] and mirror.alone.tolist() == [False] * 3 + [True]
    clip = mw.Clip.from_poses(
        "turned",
        bones,
        mw.Pose(*(np.stack([v, v]) for v in (pose.translation, pose.rotation, pose.scale))),
        1,
    )
    for made in (mirrored_pose(pose, mirror), clip.mirrored().sample(0.0)):
        np.testing.assert_allclose(made.rotation[3], turn, atol=1e-6)
        np.testing.assert_allclose(made.translation, bones.rest.translation, atol=1e-6)
        np.testing.assert_allclose(made.rotation[1], turn * [1, -1, 1, 1], atol=1e-6)
    still = mirrored_pose(bones.rest, mirror)
    np.testing.assert_allclose(still.translation, bones.rest.translation, atol=1e-6)
    animator = mw.Animator(mw.Character(bones, clips=(clip,)), mw.Graph(Mirror("turned")))
    animator.update(0.1)
    shown = animator.pose[0] if animator.pose.batch_shape else animator.pose
    np.testing.assert_allclose(np.abs(shown.rotation[3]), np.abs(turn), atol=1e-5)
    longer = body("hip", "hand_l", "hand_r", "claw_l", "x", parents=[-1, 0, 0, 1, 3])
    with pytest.raises(mw.MarrowError, match="pairs="):
        mirror_map(longer)
