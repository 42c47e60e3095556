"""A T-pose before the motion, as capture studios leave it: found by how it jumps, left out, and said."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.motion import Retargeter
from marrow.motion.calibration import calibration_frames


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def with_pose_first(clip: mw.Clip, pose: mw.Pose, frames: int = 1, rate: float = 60.0) -> mw.Clip:
    """`clip` after some frames of `pose`."""
    times = np.arange(round(clip.duration * rate) + 1) / rate
    moving = clip.sample(times)
    parts = {}
    for name in ("translation", "rotation", "scale"):
        still = np.repeat(getattr(pose, name)[None], frames, axis=0)
        parts[name] = np.concatenate([still, getattr(moving, name)])
    count = len(times) + frames
    return mw.Clip.from_poses(clip.name, clip.skeleton, mw.Pose(**parts), times=np.arange(count) / rate)


def bare(pose: mw.Pose) -> mw.Pose:
    return mw.Pose(pose.translation, pose.rotation, pose.scale)


@pytest.mark.parametrize("frames", [1, 4])
def test_a_pose_that_jumps_into_the_motion_is_left_out(hero: mw.Character, frames: int) -> None:
    """The mannequin rests in an A-pose; its run begins with bent arms and legs."""
    clip = with_pose_first(hero.clips["run"], bare(hero.skeleton.rest), frames)
    assert calibration_frames(clip) == frames
    cut = clip.without_calibration()
    assert cut.duration == pytest.approx(hero.clips["run"].duration, abs=0.01)
    assert cut.key_rate == pytest.approx(60.0, rel=1e-3)
    expected = clip.skeleton.to_model(clip.sample(np.arange(frames, frames + 20) / 60))
    np.testing.assert_allclose(clip.skeleton.to_model(cut.sample(np.arange(20) / 60)), expected, atol=1e-4)
    np.testing.assert_allclose(clip.skeleton.to_model(cut.sample(0.0)), expected[0], atol=1e-6)


def test_a_clip_that_moves_smoothly_out_of_its_rest_pose_stays_whole(hero: mw.Character) -> None:
    rest = with_pose_first(hero.clips["run"], bare(hero.skeleton.rest), 30)
    smooth = mw.Clip.from_poses(
        "begin",
        hero.skeleton,
        mw.blend([bare(hero.skeleton.rest), bare(rest.sample(0.5))], np.array([1.0, 0.0])).broadcast_to((2,)),
        times=[0.0, 0.1],
    ).then(rest.trimmed(0.5), 0.1, follow=False, rate=60)
    assert calibration_frames(smooth) == 0
    assert smooth.without_calibration() is smooth


def test_no_clip_of_the_samples_is_taken_for_one(hero: mw.Character) -> None:
    assert [c.name for c in hero.clips.values() if calibration_frames(c)] == []


def test_a_jump_from_a_pose_of_the_motion_is_not_one(hero: mw.Character) -> None:
    """A cut in the motion itself: its first frame is no rest, T or A pose."""
    clip = with_pose_first(hero.clips["run"], bare(hero.clips["attack"].sample(0.4)))
    assert calibration_frames(clip) == 0


def test_a_pose_library_stays_whole(hero: mw.Character) -> None:
    """Few frames, each a pose of its own: no motion goes on after the jump."""
    poses = [bare(hero.skeleton.rest), *(bare(hero.clips["run"].sample(t)) for t in (0.1, 0.3, 0.5))]
    parts = {n: np.stack([getattr(p, n) for p in poses]) for n in ("translation", "rotation", "scale")}
    clip = mw.Clip.from_poses("poses", hero.skeleton, mw.Pose(**parts), times=np.arange(4) / 30)
    assert calibration_frames(clip) == 0


def test_retargeting_leaves_it_out_and_says_so(hero: mw.Character) -> None:
    clip = with_pose_first(hero.clips["run"], bare(hero.skeleton.rest))
    names = [n.replace("_l", ".L").replace("_r", ".R") for n in hero.skeleton.names]
    skeleton = mw.Skeleton(tuple(names), hero.skeleton.parents, bare(hero.skeleton.rest))
    for onto in (hero, mw.Character(skeleton)):
        tool = Retargeter(clip.skeleton, onto)
        made = tool.retarget(clip)
        assert made.duration == pytest.approx(clip.duration - 1 / 60, abs=1e-4)
        (line,) = [line for line in tool.report if "calibration" in line.message]
        assert line.kind == "dropped" and "run" in line.place and "1 frame" in line.message
        quality = tool.quality(clip, made)
        assert quality is not None and quality.reach < 0.05
        kept = tool.retarget(clip, calibration="keep")
        assert kept.duration == pytest.approx(clip.duration)
    with pytest.raises(ValidationError, match="calibration"):
        mw.retarget(clip, onto=hero, calibration="yes")
    with pytest.warns(UserWarning, match="calibration"):
        assert mw.retarget(clip, onto=hero).duration < clip.duration - 0.01


def test_clips_of_another_file_come_without_it(hero: mw.Character, tmp_path) -> None:
    clip = with_pose_first(hero.clips["run"], bare(hero.skeleton.rest))
    mw.save(hero.replace(clips=[clip]), tmp_path / "capture.bvh")
    mw.save(hero.replace(clips=[]), tmp_path / "hero.marrow")
    both = mw.load(tmp_path / "hero.marrow", clips=tmp_path / "capture.bvh", cache=False)
    (made,) = both.clips.values()
    assert made.duration == pytest.approx(clip.duration - 1 / 60, abs=1e-4)
    assert any(line.kind == "dropped" and "calibration" in line.message for line in both.report)
    kept = mw.load(tmp_path / "hero.marrow", clips=tmp_path / "capture.bvh", calibration="keep", cache=False)
    assert kept.clips[0].duration == pytest.approx(clip.duration, abs=1e-4)


def test_check_names_it(hero: mw.Character) -> None:
    clip = with_pose_first(hero.clips["run"], bare(hero.skeleton.rest))
    from marrow.io.lint import lint

    found = lint(hero.replace(clips=[clip]))
    (one,) = [f for f in found if f.rule == "calibration-frame"]
    assert "run" in one.place and "without_calibration" in one.remedy
    assert not [f for f in found if f.rule == "pop" and f.time is not None and f.time < 0.05]
