"""Feet of characters as files have them: clips that walk in place and tell of no contacts, joints in centimetres."""

import warnings

import numpy as np
import pytest

import marrow as mw
import terrain
from marrow.graph import FootLock, FootPlacement, Graph, RootMotion
from marrow.graph.soles import find_sole

HERO = mw.samples.mannequin()
FEET = [HERO.skeleton.index(name) for name in ("foot_l", "foot_r")]


def in_centimetres(character, clips=("walk",)):
    """The same body below a joint that is scaled by 1/100, as exporters of centimetres make it."""
    bones, rest = character.skeleton, character.skeleton.rest
    small = np.float32([[0.01] * 3])
    pose = mw.Pose(
        np.concatenate([np.zeros((1, 3), np.float32), 100 * rest.translation]),
        np.concatenate([np.float32([[0, 0, 0, 1]]), rest.rotation]),
        np.concatenate([small, rest.scale]),
    )
    parents = [-1, *(int(p) + 1 for p in bones.parents)]
    scaled = mw.Skeleton(("armature", *bones.names), parents, rest=pose)
    made = []
    for name in clips:
        clip = character.clips[name]
        tracks = [
            mw.Track(t.target + 1, t.path, t.times, t.values * (100 if t.path == "translation" else 1))
            for t in clip.tracks
        ]
        made.append(mw.Clip(name, scaled, tracks, events=clip.events))
    return mw.Character(scaled, clips=made)


def feet_on(character, ground, way, updates=75, rate=30, feet=("foot_l", "foot_r")):
    """Where the feet are over time, of a character that goes along `way` (places of its root)."""
    feet = [character.skeleton.index(name) for name in feet]
    animator = mw.Animator(character, Graph(RootMotion(FootPlacement(FootLock("walk")))))
    animator.ground, seen = ground, []
    for k in range(updates):
        animator.update(1 / rate)
        at = animator.root.translation if way is None else way[k]
        animator.root.set([at[0], float(ground(np.array([[at[0], at[2]]]))[0]), at[2]])
        seen.append(animator.model_matrices[feet, :, 3] + animator.root.translation)
    return np.array(seen)


def way_of(clip, updates=75, rate=30):
    """Where the root of a clip that travels is after each update."""
    animator, way = mw.Animator(HERO, Graph(RootMotion(clip))), []
    for _ in range(updates):
        animator.update(1 / rate)
        way.append(animator.root.translation)
    return way


@pytest.mark.filterwarnings("ignore:RootMotion:UserWarning")
@pytest.mark.parametrize("body", [lambda c: c, in_centimetres], ids=["metres", "centimetres"])
def test_feet_of_a_clip_in_place_without_events_swing_as_those_of_one_that_travels(body):
    walk = HERO.clips["walk"]
    travels = mw.Character(HERO.skeleton, clips=[walk])
    stays = mw.Character(HERO.skeleton, clips=[walk.in_place().replace(events=())])
    expected = feet_on(travels, terrain.stairs(), None)
    away = np.linalg.norm(feet_on(body(stays), terrain.stairs(), way_of("walk")) - expected, axis=-1)
    # Contacts are seen to a frame of the clip: for a moment one foot is on its way that the other has down.
    assert np.percentile(away, 90) < 0.002 and away.max() < 0.1


def test_the_tip_of_toes_is_where_it_is_on_joints_in_centimetres():
    plain, small = mw.Character(HERO.skeleton), in_centimetres(HERO)
    for foot in FEET:
        tips = []
        for character, tip in ((plain, foot), (small, foot + 1)):
            sole = find_sole(character, tip)
            toes = character.skeleton.rest_model[sole.toes].astype(float)
            tips.append(toes[:, :3] @ sole.front + toes[:, 3])
        np.testing.assert_allclose(tips[1], tips[0], atol=1e-4)


def hovering():
    """A walk in place 20 cm above its ground, on joints with other names: nothing is low, and no event tells."""
    bones = HERO.skeleton
    names = tuple(n.replace("_l", ".l").replace("_r", ".r") for n in bones.names)
    mine = mw.Skeleton(names, bones.parents, rest=bones.rest, morph_names=bones.morph_names)
    pelvis, walk = bones.index("pelvis"), HERO.clips["walk"].in_place()
    high = np.float32([0, 0.2, 0])
    tracks = [
        mw.Track(t.target, t.path, t.times, t.values + (high if (t.target, t.path) == (pelvis, "translation") else 0))
        for t in walk.tracks
    ]  # fmt: skip
    return mw.Character(mine, clips=[mw.Clip("walk", mine, tracks)])


def test_a_walk_whose_contacts_are_neither_told_nor_seen_is_named_and_events_mend_it():
    character, graph = hovering(), Graph(FootPlacement("walk"))
    with pytest.warns(UserWarning, match=r"root: 'walk': no events .* do not swing .*with_contacts"):
        mw.Animator(character, graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mw.Animator(character, graph)  # once is enough
        walk = character.clips["walk"].with_contacts(height=0.3)
        mw.Animator(character.with_clips(walk), graph)
        for name in ("walk", "idle", "jump"):
            if name in HERO.clips:
                mw.Animator(
                    HERO.replace(clips=[HERO.clips[name].replace(events=())]), Graph(FootPlacement(name))
                )


@pytest.mark.filterwarnings("ignore:RootMotion:UserWarning")
def test_events_of_contacts_tell_whatever_feet_are_called():
    character = hovering()
    told = character.with_clips(character.clips["walk"].with_contacts(height=0.3))
    found = feet_on(told, terrain.stairs(), way_of("walk"), feet=("foot.l", "foot.r"))
    travels = mw.Character(HERO.skeleton, clips=[HERO.clips["walk"]])
    away = found - [0.0, 0.2, 0.0] - feet_on(travels, terrain.stairs(), None)
    assert np.percentile(np.linalg.norm(away, axis=-1), 80) < 0.03


def test_root_motion_of_a_body_in_centimetres_is_in_metres_and_leaves_its_pose():
    plain = mw.Character(HERO.skeleton, clips=[HERO.clips["walk"]])
    animators = [mw.Animator(c, Graph(RootMotion("walk"))) for c in (plain, in_centimetres(plain))]
    for _ in range(40):
        for animator in animators:
            animator.update(1 / 30)
    one, other = animators
    assert one.root.translation[2] > 1
    np.testing.assert_allclose(other.root.translation, one.root.translation, atol=1e-4)
    np.testing.assert_allclose(other.model_matrices[1:, :, 3], one.model_matrices[:, :, 3], atol=1e-4)
