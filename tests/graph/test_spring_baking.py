"""`bake_springs`: clips in which springs have swung."""

import numpy as np
import pytest
from test_springs import avatar, puppet, sway

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import ClipNode, Graph, Springs, bake_springs
from marrow.graph.spring_baking import swung


def test_a_baked_clip_shows_what_an_animator_does():
    who = avatar(sway)
    baked = bake_springs(who, "move")
    animator = mw.Animator(who, Graph(ClipNode("move", loop=False)))
    for k in range(1, 100):
        animator.update(1 / 60)
        if k % 7 == 0:
            np.testing.assert_allclose(baked.sample(k / 60).rotation, animator.pose.rotation, atol=2e-4)
    before = who.clips["move"]
    np.testing.assert_array_equal(baked.sample(0.7).translation, before.sample(0.7).translation)
    assert np.abs(baked.sample(0.7).rotation - before.sample(0.7).rotation).max() > 0.05


@pytest.mark.parametrize("rate", [12, 24, 30])
def test_few_keys_swing_as_many_do(rate):
    who = avatar(sway)
    few, many = bake_springs(who, "move", rate=rate), bake_springs(who, "move")
    for time in (0.5, 1.0, 1.5):
        np.testing.assert_allclose(few.sample(time).rotation, many.sample(time).rotation, atol=2e-3)


def test_a_clip_that_goes_round_begins_as_it_ends():
    who = avatar(lambda t: 0.2 * np.sin(np.pi * t)[:, None] * [1, 0, 0])
    baked = bake_springs(who, "move")
    first, last = baked.sample(0.0).rotation, baked.sample(2.0).rotation
    assert np.abs(first[2:] - [0, 0, 0, 1]).max() > 0.02
    np.testing.assert_allclose(first, last, atol=0.01)


def test_a_clip_that_travels_and_goes_round_begins_as_it_ends():
    who = avatar(lambda t: np.stack([0.1 * np.sin(2 * np.pi * t), 0 * t, 1.5 * t], axis=1))
    baked = bake_springs(who, "move")
    first, last = baked.sample(0.0).rotation, baked.sample(2.0).rotation
    assert np.abs(first[2:] - [0, 0, 0, 1]).max() > 0.02
    np.testing.assert_allclose(first, last, atol=0.01)


def test_any_rig_is_baked_with_chains_of_its_own():
    who = puppet(sway)
    assert swung(who, who.clips["move"]) is who.clips["move"]
    with pytest.raises(ValidationError, match="no springs of its own"):
        bake_springs(who, "move")
    baked = bake_springs(who, "move", Springs("move", ("hair0",)))
    assert np.abs(baked.sample(0.7).rotation[2:5] - [0, 0, 0, 1]).max() > 0.05


def test_pictures_of_a_clip_swing_unless_they_are_told_not_to():
    from marrow.scene.timed_scene import timed_scene_of

    who = avatar(sway)
    seen = timed_scene_of(who, clip="move", time=0.5)
    still = timed_scene_of(who, clip="move", time=0.5, springs=False)
    assert seen.scene.actors[0].clip is swung(who, who.clips["move"])
    assert still.scene.actors[0].clip is who.clips["move"]


def test_an_additive_clip_is_refused():
    who = avatar(sway)
    added = who.clips["move"].replace(additive=True)
    with pytest.raises(ValidationError, match="additive"):
        bake_springs(who, added)
    assert swung(who, added) is added
