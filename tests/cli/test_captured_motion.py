"""Motion capture that is converted or baked: its unit, its size and its calibration pose are said, its take has a name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mannequin's run after one frame of its rest pose: as a BVH in CMU's units, and as a GLB in centimetres."""
    hero, place = mw.samples.mannequin(), tmp_path_factory.mktemp("capture")
    moving = hero.clips["run"].sample(np.arange(20) / 60)
    parts = {
        name: np.concatenate([getattr(hero.skeleton.rest, name)[None], getattr(moving, name)])
        for name in ("translation", "rotation", "scale")
    }
    clip = mw.Clip.from_poses("take", hero.skeleton, mw.Pose(**parts), times=np.arange(21) / 60)
    bones = mw.Character(hero.skeleton, clips=[clip])
    mw.save(bones, place / "jog.bvh", scale=0.45 / 0.0254)
    mw.save(bones, place / "metres.glb")
    mw.save(mw.load(place / "metres.glb", scale=100), place / "giant.glb")
    return place


def call(capsys, *arguments: object) -> tuple[str, list[str]]:
    assert run([str(a) for a in arguments]) == 0
    out = capsys.readouterr()
    return out.out, out.err.splitlines()


def test_convert_says_the_unit_and_the_calibration_pose_and_names_the_take(capsys, folder, tmp_path):
    _, lines = call(capsys, "convert", folder / "jog.bvh", tmp_path / "a.glb")
    unit, pose = lines
    assert "a unit is 0.05644 m" in unit and "m tall; --units metres" in unit
    assert "clip 'jog': the first frame is a calibration pose" in pose and "--calibration drop" in pose
    (clip,) = mw.load(tmp_path / "a.glb").clips.values()
    assert clip.name == "jog" and round(clip.duration * 60) == 20


def test_what_the_notes_name_mends_it(capsys, folder, tmp_path):
    options = ("--units", "metres", "--calibration", "drop", "--clip", "clip_0")
    out, lines = call(capsys, "convert", folder / "jog.bvh", tmp_path / "b.glb", *options, "--json")
    (said,) = json.loads(out)["notes"]
    assert lines == [] and "1 frame of a calibration pose before the motion left out" in said
    made = mw.load(tmp_path / "b.glb")
    assert round(made.clips["jog"].duration * 60) == 19
    assert 1.2 < np.ptp(made.skeleton.rest_model[:, 1, 3]) < 2
    quiet = ("--units", "metres", "--calibration", "keep")
    assert call(capsys, "convert", folder / "jog.bvh", tmp_path / "c.glb", *quiet)[1] == []


@pytest.mark.parametrize("out", ["baked.npz", "shards"])
def test_bake_says_the_same(capsys, folder, tmp_path, out):
    target = tmp_path / out
    words = ("bake", folder / "jog.bvh", "--what", "joints", "-o", target)
    told, lines = call(capsys, *words, "--json")
    assert "0.05644 m" in lines[0] and "calibration pose" in lines[1] and len(lines) == 2
    (entry,) = json.loads(told)
    assert entry["clip"] == "jog" and entry["frames"] == 21 and len(entry["notes"]) == 2
    told, lines = call(capsys, *words, "--json", "-f", "--units", "metres", "--calibration", "drop")
    (entry,) = json.loads(told)
    assert entry["frames"] == 20 and len(lines) == 1 and "left out" in lines[0]


def test_a_person_of_a_giants_size_is_said(capsys, folder, tmp_path):
    keep = ("--calibration", "keep")
    (line,) = call(capsys, "convert", folder / "giant.glb", tmp_path / "d.glb", *keep)[1]
    assert "its size is not a person's: 1" in line and "--scale 0.01 makes it 1." in line
    assert call(capsys, "convert", folder / "metres.glb", tmp_path / "e.glb", *keep)[1] == []
    scaled = call(capsys, "convert", folder / "giant.glb", tmp_path / "f.glb", *keep, "--scale", "0.01")
    assert scaled[1] == []


def test_a_bvh_that_was_mended_is_not_changed_when_mended_again(capsys, tmp_path):
    hero = mw.samples.mannequin()
    times = np.arange(int(hero.clips["walk"].duration * 30) - 1) / 30  # it nearly loops
    clip = mw.Clip.from_poses("walk", hero.skeleton, hero.clips["walk"].sample(times), times=times)
    first, once, twice = (tmp_path / name for name in ("first.bvh", "once.bvh", "twice.bvh"))
    mw.save(mw.Character(hero.skeleton, clips=[clip]), first, scale=100)
    out, _ = call(capsys, "mend", first, once)
    assert "was made metres" in out and "constant-tracks" not in out  # a BVH has a key in every frame
    out, _ = call(capsys, "mend", once, twice)
    assert "  mended " not in out
    assert twice.read_bytes() == once.read_bytes()
    out, _ = call(capsys, "mend", once, tmp_path / "short.glb")
    assert "constant-tracks" in out, "where keys can be left out they are"
    assert list(mw.load(tmp_path / "short.glb").clips) == ["once"]
