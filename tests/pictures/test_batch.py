"""`mw.render_batch`: many pictures in one call are those that single calls give, with the same numbers behind them."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import UnknownNameError, ValidationError
from marrow.pictures import picture

SIZE = (64, 48)
ALL = ("color", "depth", "normals", "ids", "parts", "materials", "joint_ids", "joints")


@pytest.fixture(scope="module", autouse=True)
def drawn(shared_renderer):
    """All pictures here are drawn by the renderer that tests share."""
    before = dict(picture._renderers)
    picture._renderers["forward"] = shared_renderer
    yield
    picture._renderers.clear()
    picture._renderers.update(before)


@pytest.fixture(scope="module")
def cast():
    return [make().levels[-1] for make in (mw.samples.mannequin, mw.samples.lizard)]


def test_a_batch_is_what_single_pictures_are(cast):
    hero, lizard = cast
    things, clips, times = [hero, lizard, hero], ["walk", 0, "run"], [0.2, 0.1, 0.4]
    cameras = ["front", "45,20", "side"]
    made = mw.render_batch(things, clip=clips, time=times, camera=cameras, size=SIZE, outputs=ALL)
    assert made.color.shape == (3, 48, 64, 4) and made.color.dtype == np.uint8
    assert made.depth.shape == (3, 48, 64) and made.normals.shape == (3, 48, 64, 3)
    assert len(made) == len(made.joints) == len(made.camera_matrices) == len(made.cameras) == 3
    for k in range(3):
        one = mw.render(things[k], clip=clips[k], time=times[k], camera=cameras[k], size=SIZE, outputs=ALL)
        for name in ("color", "depth", "normals", "ids", "joint_ids"):
            np.testing.assert_array_equal(made[name][k], one[name], err_msg=name)
        np.testing.assert_array_equal(made.joints[k][0].pixels, one.joints[0].pixels)
        # Numbers of parts and materials mean the same in every picture.
        for name, names in (("parts", "part_names"), ("materials", "material_names")):
            there = one[name] >= 0
            np.testing.assert_array_equal(made[name][k] >= 0, there)
            assert {(a, b) for a, b in zip(one[name][there], made[name][k][there])} == {
                (a, made[names].index(one[names][a])) for a in np.unique(one[name][there])
            }
    shown = {made.material_names[m] for m in np.unique(made.materials[made.materials >= 0])}
    assert {(hero.name, m.name) for m in hero.materials} & shown
    assert {(lizard.name, m.name) for m in lizard.materials} & shown


def test_poses_of_a_batch(cast):
    poses = cast[0].clips["run"].sample(np.array([0.0, 0.3]))
    made = mw.render_batch(cast[0], pose=poses, camera="front", size=SIZE)
    for k in range(2):
        one = mw.render(cast[0], pose=poses[k], camera="front", size=SIZE, outputs=("color", "depth", "ids"))
        np.testing.assert_array_equal(made.color[k], one.pixels)
        np.testing.assert_array_equal(made.depth[k], one.depth)


def test_a_seed_says_everything_that_is_not_said(cast):
    def go(**options):
        return mw.render_batch(cast[0], clip="walk", size=SIZE, **options)

    first, again, more, other = (
        go(count=2, seed=3),
        go(count=2, seed=3),
        go(count=3, seed=3),
        go(count=2, seed=4),
    )
    np.testing.assert_array_equal(first.color, again.color)
    np.testing.assert_array_equal(first.depth, again.depth)
    np.testing.assert_array_equal(
        first.color, more.color[:2]
    )  # picture k does not depend on how many there are
    assert not np.array_equal(first.color[0], first.color[1])
    assert not np.array_equal(first.depth, other.depth)
    assert (first.ids >= 0).any(axis=(1, 2)).all()
    said = go(seed=3, camera=["front", "front"], time=0.1)  # what is said stays
    np.testing.assert_array_equal(said.depth[0], said.depth[1])
    assert not np.array_equal(said.color[0], said.color[1])  # lights are by lot


def test_several_in_one_picture_and_what_is_asked_for(cast):
    pair = mw.Scene(mw.Actor(cast[0], clip="walk"), mw.Actor(cast[1]))
    made = mw.render_batch(pair, time=[0.0, 0.3], camera="front", size=SIZE, outputs="ids")
    assert set(np.unique(made.ids)) == {-1, 0, 1}
    assert "color" not in made and "depth" not in made
    with pytest.raises(UnknownNameError, match="ids"):
        made["color"]
    with pytest.raises(AttributeError, match="ids"):
        made.color  # noqa: B018


def test_words_for_what_does_not_fit(cast):
    for wrong, words in (
        ({"time": [0.0, 0.1], "camera": ["front"] * 3}, "time 2, camera 3"),
        ({"time": []}, "empty"),
        ({"time": [0.0, -1.0], "clip": "walk"}, "time"),
        ({"count": 0}, "count"),
        ({"seed": -1}, "seed"),
        ({"outputs": ()}, "outputs"),
    ):
        with pytest.raises(ValidationError, match=words):
            mw.render_batch(cast[0], size=SIZE, **wrong)
