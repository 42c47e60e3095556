"""Clips that walk in place: the foot that moves backward at the pace of the walk stands."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.graph import ClipNode, Graph, RootMotion
from marrow.motion import Retargeter
from marrow.motion.contacts import clip_contacts
from marrow.motion.frames import frame_times


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


@pytest.mark.parametrize("name", ["walk", "run"])
def test_contacts_are_those_of_the_same_clip_with_travel(hero: mw.Character, name: str) -> None:
    travels = hero.clips[name].replace(events=())
    stays = travels.in_place()
    found, expected = stays.with_contacts().events, travels.with_contacts().events
    assert expected and [e.name for e in found] == [e.name for e in expected]
    np.testing.assert_allclose([e.time for e in found], [e.time for e in expected], atol=0.051)
    times = frame_times(travels)
    same = clip_contacts(stays, times)[1].any(-1) == clip_contacts(travels, times)[1].any(-1)
    assert same.mean() > 0.85


def test_a_body_that_stands_has_the_contacts_it_had(hero: mw.Character) -> None:
    idle = hero.clips["idle"]
    assert clip_contacts(idle, frame_times(idle))[1].any(-1).mean() > 0.95


def test_root_motion_without_travel_says_so_once(hero: mw.Character) -> None:
    clips = [hero.clips["walk"].in_place().renamed("stroll"), hero.clips["idle"]]
    mine = hero.replace(clips=clips)
    graph = Graph(RootMotion(ClipNode("stroll")))
    with pytest.warns(UserWarning, match=r"'stroll'.*in place.*with_travel\(\)"):
        mw.Animator(mine, graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.Animator(mine, graph)


@pytest.mark.parametrize("name", ["walk", "idle"])
def test_root_motion_of_travel_or_of_standing_says_nothing(hero: mw.Character, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.Animator(hero.replace(clips=[hero.clips[name]]), Graph(RootMotion(ClipNode(name))))


def test_with_clips_adds_and_replaces(hero: mw.Character) -> None:
    walk = hero.clips["walk"].with_travel()
    more = hero.with_clips(walk, hero.clips["idle"].renamed("rest"))
    assert len(more.clips) == len(hero.clips) + 1
    assert more.clips["walk"] is walk and "rest" in more.clips
    assert list(more.clips)[: len(hero.clips)] == list(hero.clips)  # a clip of the same name takes its place
    other = mw.Skeleton(("a",), [-1])
    with pytest.raises(mw.errors.ValidationError, match=r"another skeleton.*retarget"):
        hero.with_clips(mw.Clip("x", other))
    with pytest.raises(mw.errors.MarrowError, match="expected"):
        hero.with_clips("walk")  # type: ignore[arg-type]


def test_travel_goes_on_the_joint_that_root_motion_takes_it_from(hero: mw.Character) -> None:
    """Blender writes the armature as a node above the root."""
    bones, walk = hero.skeleton, hero.clips["walk"].in_place()
    above = mw.Pose.identity(1, bones.rest.morph_count)
    frames = walk.sample(np.arange(0.0, walk.duration, 1 / 30))

    def under_rig(pose: mw.Pose) -> mw.Pose:
        wide = above.broadcast_to(pose.batch_shape)
        return pose.replace(
            **{
                k: np.concatenate([getattr(wide, k), getattr(pose, k)], axis=-2)
                for k in ("translation", "rotation", "scale")
            }
        )

    rig = mw.Skeleton(
        ("Rig", *bones.names),
        np.concatenate([[-1], bones.parents + 1]),
        under_rig(bones.rest),
        bones.morph_names,
    )
    clip = mw.Clip.from_poses("walk", rig, under_rig(frames), 30).with_travel((0, 0, 1.2))
    walker = mw.Animator(mw.Character(rig, clips=(clip,)), Graph(RootMotion("walk")))
    for _ in range(30):
        walker.update(1 / 60)
    np.testing.assert_allclose(walker.root.translation, (0, 0, 0.6), atol=0.01)


@pytest.mark.parametrize("name", ["walk", "run"])
def test_a_walk_in_place_is_planted_and_judged_on_the_ground_that_passes(
    hero: mw.Character, name: str
) -> None:
    """On legs that are wider apart with other shins: hardly a slide, as of the clip that travels."""
    bones = rigs.body(
        {n: n for n in rigs.PARTS},
        place=lambda n, p: p - [0, 0.06, 0] if n.startswith("calf") else p,
        root="root",
    )
    tool = Retargeter(hero.skeleton, bones)
    clip = hero.clips[name].in_place()
    quality = tool.quality(clip, tool.retarget(clip))
    assert quality is not None and quality.source.skate < 0.35 and quality.result.skate < 0.35
    assert quality.result.drift < 0.005
