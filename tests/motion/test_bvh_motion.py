"""Motion of a BVH, which knows no rest rotations, for characters that do."""

import numpy as np
import pytest

import marrow as mw
from marrow.io.clips import share_of_joints


@pytest.fixture(scope="module")
def hero():
    return mw.samples.mannequin()


@pytest.mark.parametrize("clip", ["walk", "turn_left", "attack"])
def test_a_clip_comes_back_through_a_bvh(hero, tmp_path, clip):
    """Joints have axes of their own, hips sway, the root travels and turns: all of it is seen as before."""
    mw.save(hero, tmp_path / "motion.bvh", clip=clip)
    mw.save(hero.replace(clips=[]), tmp_path / "hero.glb")
    again = mw.load(tmp_path / "hero.glb", clips=tmp_path / "motion.bvh", cache=False)
    (motion,) = again.clips.values()
    for time in np.linspace(0, hero.clips[clip].duration, 7):
        expected = hero.skeleton.to_model(hero.clips[clip].sample(time))
        found = again.skeleton.to_model(motion.sample(time))
        np.testing.assert_allclose(found, expected, atol=2e-5)


def test_a_bvh_in_centimetres_fits_a_character_in_metres(hero, tmp_path):
    mw.save(hero, tmp_path / "motion.bvh", clip="walk", scale=100)
    mw.save(hero.replace(clips=[]), tmp_path / "hero.glb")
    again = mw.load(tmp_path / "hero.glb", clips=tmp_path / "motion.bvh", cache=False)
    (motion,) = again.clips.values()
    expected = hero.skeleton.to_model(hero.clips["walk"].sample(0.4))
    np.testing.assert_allclose(again.skeleton.to_model(motion.sample(0.4)), expected, atol=2e-4)
    assert any("taken 0.01 times" in line.message for line in again.report)


def test_joints_between_and_below_keep_their_rest(tmp_path):
    """A joint that the motion does not know is carried along by its parent."""
    half = np.sqrt(0.5)
    rest = mw.Pose(
        np.array([[0, 0, 0], [0, 1.0, 0], [0, 1.0, 0]]),
        np.array([[half, 0, 0, half], [0, half, 0, half], [0, 0, half, half]]),
        np.ones((3, 3)),
    )
    own = mw.Skeleton(("a", "between", "b"), [-1, 0, 1], rest)
    source = mw.Skeleton(("a", "b"), [-1, 0])
    times = np.array([0.0, 1.0])
    spin = mw.Track(0, "rotation", times, np.array([[0, 0, 0, 1.0], [0, half, 0, half]]))
    mw.save(mw.Character(source, (), [mw.Clip("spin", source, [spin])]), tmp_path / "x.bvh", clip="spin")
    mw.save(mw.Character(own), tmp_path / "own.marrow")
    both = mw.load(tmp_path / "own.marrow", clips=tmp_path / "x.bvh", cache=False)
    (clip,) = both.clips.values()
    turned = own.to_model(clip.sample(1.0))
    quarter = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0.0]])
    np.testing.assert_allclose(turned[..., :3], quarter @ own.rest_model[..., :3], atol=1e-5)


def test_how_much_of_a_motion_fits(hero):
    bones = mw.Skeleton(("pelvis", "tail"), [-1, 0])
    times, turn = np.array([0.0, 1.0]), np.array([[0, 0, 0, 1.0], [0, 1.0, 0, 0]])
    wag = mw.Clip("wag", bones, [mw.Track(j, "rotation", times, turn) for j in (0, 1)])
    assert share_of_joints(hero, mw.Character(bones, (), [wag])) == 0.5
    assert share_of_joints(hero, mw.Character(bones)) == 0.0
    assert share_of_joints(hero, hero) == 1.0
