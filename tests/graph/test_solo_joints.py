"""Playback without a graph: joints that code places over it, and which clip plays."""

import copy

import numpy as np
import pytest
from worlds import about_z, character, ramp, still

import marrow as mw


def test_joints_are_placed_over_whatever_plays():
    stick = character(ramp("slide", 0, 2), still("one", 1.0, 40.0))
    solo, plain = mw.Animator(stick), mw.Animator(stick)
    for who in (solo, plain):
        who.play("slide")
        who.update(0.25)
    solo.overrides["arm"].set(rotation=about_z(70.0))
    for who in (solo, plain):
        who.update(0.25)
    arm = stick.skeleton.index("arm")
    np.testing.assert_allclose(solo.pose.rotation[arm], about_z(70.0), atol=1e-6)
    others = np.arange(len(stick.skeleton)) != arm
    np.testing.assert_array_equal(solo.pose.rotation[others], plain.pose.rotation[others])
    np.testing.assert_array_equal(solo.pose.translation, plain.pose.translation)
    assert (
        (solo.playback.clip, solo.playback.time)
        == (plain.playback.clip, plain.playback.time)
        == ("slide", 0.5)
    )
    solo.overrides["spine"].set(translation=[0, 5, 0], weight=0.5)  # and another
    solo.overrides["arm"].set(rotation=about_z(-20.0), weight=0.0)  # who has no weight shows what plays
    for who in (solo, plain):
        who.update(0.25)
    np.testing.assert_array_equal(solo.pose.rotation, plain.pose.rotation)
    assert solo.pose.translation[3].tolist() == pytest.approx([0, (5 + 0.5) / 2, 0])


def test_joints_are_placed_in_model_space_or_turned_further():
    stick = character(still("one", 1.0, 40.0))
    solo = mw.Animator(stick)
    solo.play("one")
    solo.overrides["arm"].set(rotation=about_z(10.0), space="model")
    solo.overrides["leg"].set(rotation=about_z(15.0), mode="offset")
    solo.update(0.1)
    turned = mw.math.quaternion.from_matrix(solo.model_matrices[4, :, :3])
    np.testing.assert_allclose(turned, about_z(10.0), atol=1e-5)
    np.testing.assert_allclose(solo.pose.rotation[2], about_z(55.0), atol=1e-6)
    solo.overrides["leg"].set(rotation=about_z(15.0), mode="set")
    solo.update(0.1)
    np.testing.assert_allclose(solo.pose.rotation[2], about_z(15.0), atol=1e-6)


def test_placing_a_joint_changes_nothing_else_of_the_moment():
    """Fades, held poses, events and windows that have begun go on as if nobody had asked."""
    clips = [ramp(f"c{k}", k, k + 3, events=((0.1, f"e{k}"),)) for k in range(7)]
    lasting = clips[5].replace(events=(mw.Event(0.05, "cut", duration=0.3),))
    stick = character(*clips[:5], lasting, clips[6])
    told = []
    for placed in (False, True):
        solo = mw.Animator(stick, count=2)
        story = []
        for k in range(7):
            solo.cross_fade(k, 0.5)
            solo.update(0.06)
            if placed and k == 5:
                solo.overrides["hand"].set(rotation=about_z(30.0))
            story += list(zip(solo.events.all.names, solo.events.all.kinds, solo.events.all.time.tolist()))
            story.append(solo.pose.translation[:, 1].tolist())
        told.append(story)
    assert told[0] == told[1] and any("cut" in str(line) for line in told[0])
    np.testing.assert_allclose(solo.pose.rotation[:, 5], [about_z(30.0)] * 2, atol=1e-6)
    twin = copy.deepcopy(solo)
    for who in (solo, twin):
        who.overrides["hand"].set(rotation=about_z(50.0))
        who.update(0.1)
    np.testing.assert_array_equal(twin.pose.rotation, solo.pose.rotation)


def test_wrong_overrides_are_refused_in_words():
    stick = character(still("one"))
    solo = mw.Animator(stick)
    with pytest.raises(mw.errors.UnknownNameError, match="did you mean 'arm'"):
        solo.overrides["arn"].set(rotation=about_z(1))
    with pytest.raises(mw.errors.ValidationError, match="mode"):
        solo.overrides["arm"].set(rotation=about_z(1), mode="add")
    with pytest.raises(mw.errors.ValidationError, match="rotation"):
        solo.overrides["arm"].set(rotation=[1, 2])
    graph = mw.Graph(mw.graph.JointOverride("one", ("arm",), name="aim"))
    with pytest.raises(mw.errors.ValidationError, match="mode and space"):
        mw.Animator(stick, graph).overrides["aim"].set(rotation=about_z(1), space="model")


def test_the_number_of_the_clip_is_told():
    stick = character(still("a"), still("b"), mw.additive(still("c", 3.0), still("a")))
    solo = mw.Animator(stick)
    assert solo.playback.clip_index is None
    for k, name in enumerate(stick.clips):
        solo.play(k)
        solo.update(0.1)
        assert (solo.playback.clip_index, solo.playback.clip) == (k, name)
    crowd = mw.Animator(stick, count=3)
    crowd.play("b", instances=[0, 2])
    assert crowd.playback.clip_index == [1, None, 1]


@pytest.mark.parametrize("graph", [None, mw.Graph(mw.graph.Slot("body", mw.graph.PoseNode()))])
def test_poses_do_not_depend_on_who_looked_before(graph):
    """More fades over one another than a slot has voices: the oldest become one pose, whether or not any was asked for."""
    stick = character(*(ramp(f"c{k}", k, k + 3) for k in range(7)))
    found = []
    for looks in (False, True):
        who = mw.Animator(stick, graph)
        for k in range(7):
            who.cross_fade(k, 0.5) if graph is None else who.slots["body"].play(k, seconds=0.5, loop=True)
            looked = [who.pose] if looks else []
            who.update(0.06)
            looked += [who.pose] if looks else []
        found.append(who.pose.translation[1].tolist())
    assert found[0] == found[1]
