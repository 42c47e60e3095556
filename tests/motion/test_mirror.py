"""Mirrored motion."""

from __future__ import annotations

import numpy as np
import pytest
import rigs

import marrow as mw
from builders import pose as random_pose
from marrow.math import quaternion
from marrow.motion.mirror import mirror_map, mirrored_pose
from marrow.motion.names import other_side


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
