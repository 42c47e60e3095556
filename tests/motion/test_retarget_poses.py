"""Poses that are taken to another body while they are made: as clips are, one by one or many at once."""

from __future__ import annotations

import numpy as np
import pytest
import rigs
from families import FAMILIES

import marrow as mw
from marrow.errors import ValidationError, WrongTypeError
from marrow.math import quaternion
from marrow.motion import ChainProfile, Retargeter

TIMES = np.linspace(0.0, 0.9, 33)


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def _longer(skeleton: mw.Skeleton, joints: dict[str, float]) -> mw.Skeleton:
    """Joints that many times as far from those they hang from."""
    offsets = skeleton.rest.translation.copy()
    for name, factor in joints.items():
        offsets[skeleton.index(name)] *= factor
    return rigs.resting_in(skeleton, skeleton.rest.replace(translation=offsets))


def bodies(hero: mw.Character) -> dict[str, mw.Character]:
    rng = np.random.default_rng(3)
    plain = hero.replace(clips=(), reduced=())
    return {
        "other axes": rigs.other_axes(plain, rng),
        "re-ordered": rigs.reordered(plain, rng),
        "renamed": rigs.renamed(plain, lambda n: f"rig:{n}"),
        "centimetres": rigs.centimetres(plain),
        "turned round": mw.Character(rigs.facing(plain, np.array([0.0, 1.0, 0.0, 0.0]))),
        "longer legs": mw.Character(_longer(plain.skeleton, {"calf_l": 1.3, "calf_r": 1.3, "hand_l": 0.8})),
        "biped": mw.Character(rigs.body(FAMILIES["biped"])),
        "mixamo": mw.Character(rigs.body(FAMILIES["mixamo"])),
        "itself": plain,
    }


@pytest.mark.parametrize("name", ["walk", "wave"])
@pytest.mark.parametrize(
    "body",
    [
        "other axes",
        "re-ordered",
        "renamed",
        "centimetres",
        "turned round",
        "longer legs",
        "biped",
        "mixamo",
        "itself",
    ],
)
def test_a_pose_is_what_the_clip_is_at_that_moment(hero: mw.Character, body: str, name: str) -> None:
    target = bodies(hero)[body]
    tool = Retargeter(hero, target)
    clip = hero.clips[name]
    made = tool.retarget_pose(clip.sample(TIMES))
    there = target.skeleton.to_model(mw.retarget(clip, target, source=hero, contacts=False).sample(TIMES))
    here = target.skeleton.to_model(made)
    assert np.abs(here[..., 3] - there[..., 3]).max() < 2e-4
    assert np.abs(here - there)[..., :3].max() < 2e-3


def test_animals_go_as_their_clips_go() -> None:
    lizard = mw.samples.load("lizard")
    other = rigs.renamed(
        rigs.other_axes(lizard.replace(clips=(), reduced=()), np.random.default_rng(4)), lambda n: f"rig:{n}"
    )
    clip = lizard.clips[0]
    times = np.linspace(0.0, clip.duration, 9)
    here = other.skeleton.to_model(Retargeter(lizard, other).retarget_pose(clip.sample(times)))
    made = mw.retarget(clip, other, source=lizard, contacts=False)
    assert np.abs(here - other.skeleton.to_model(made.sample(times))).max() < 1e-3


def test_many_poses_have_the_bits_of_single_ones(hero: mw.Character) -> None:
    profile = mw.RetargetProfile(
        chains={
            "left_arm": ChainProfile(fk=0.7, pole_degrees=20.0),
            "right_arm": ChainProfile(ik=0.5, stretch=0.1),
        }
    )
    target = bodies(hero)["other axes"]
    for said in (None, profile):
        tool = Retargeter(hero, target, profile=said)
        poses = hero.clips["wave"].sample(TIMES)
        poses.scale[3, 20] *= 1.3
        many = tool.retarget_pose(poses)
        for k in (0, 3, 17, 32):
            one = tool.retarget_pose(poses[k])
            assert one.batch_shape == ()
            for part in ("translation", "rotation", "scale", "morphs"):
                assert np.array_equal(getattr(one, part), getattr(many[k], part)), (said, k, part)


def test_a_mix_is_retargeted_as_a_mix(hero: mw.Character) -> None:
    """Half way between two poses of the source: hands and feet are where the source's are."""
    a, b = (hero.clips[n].sample(0.3) for n in ("walk", "attack"))
    mixed = mw.blend((a, b), (0.5, 0.5))
    target = bodies(hero)["other axes"]
    made = Retargeter(hero, target).retarget_pose(mixed)
    names = ("hand_l", "hand_r", "foot_l", "head")
    here = target.skeleton.to_model(made)[[target.skeleton.index(n) for n in names], :, 3]
    there = hero.skeleton.to_model(mixed)[[hero.skeleton.index(n) for n in names], :, 3]
    assert np.abs(here - there).max() < 2e-4


def test_morphs_of_a_pose_go_by_name() -> None:
    theirs = mw.Skeleton(("root",), (-1,), morph_names=("blink", "jawOpen"))
    face = mw.Skeleton(("root",), (-1,), morph_names=("mouth_open", "blink"))
    pose = theirs.rest.copy()
    pose.morphs[:] = (0.25, 0.75)
    tool = Retargeter(theirs, face, profile=mw.RetargetProfile(morphs={"jawOpen": "mouth_open"}))
    assert tool.retarget_pose(pose).morphs.tolist() == [0.75, 0.25]


def test_what_is_no_pose_of_the_source_is_refused(hero: mw.Character) -> None:
    other = rigs.body(FAMILIES["biped"])
    tool = Retargeter(hero, other)
    with pytest.raises(WrongTypeError, match="pose"):
        tool.retarget_pose(hero.clips["walk"])  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="has 52 joints, the source 61"):
        tool.retarget_pose(other.rest)
    broken = hero.clips["walk"].sample(0.0).copy()
    broken.rotation[4] = np.nan
    with pytest.raises(ValidationError, match="not finite"):
        tool.retarget_pose(broken)
    assert quaternion.angle(tool.retarget_pose(hero.skeleton.rest).rotation, other.rest.rotation).max() < 1.0
