"""Motion capture as it comes: units of its own, a T-pose before the motion, few files."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory):
    """The mannequin's walk in CMU's units, after one frame of its rest pose."""
    hero, folder = mw.samples.mannequin(), tmp_path_factory.mktemp("capture")
    clip, rest = hero.clips["run"], hero.skeleton.rest
    moving = clip.sample(np.arange(30) / 60)
    parts = {
        name: np.concatenate([getattr(rest, name)[None], getattr(moving, name)])
        for name in ("translation", "rotation", "scale")
    }
    made = mw.Clip.from_poses("take", hero.skeleton, mw.Pose(**parts), times=np.arange(31) / 60)
    mw.save(hero.replace(clips=[made]), folder / "take.bvh", scale=0.45 / 0.0254)
    return folder


def test_rows_are_in_metres_and_begin_with_the_motion(capture, tmp_path) -> None:
    data = mw.dataset.build(capture, tmp_path / "set", features="positions", rate=60, workers=0, split=1)
    (row,) = list(data["train"])
    at = row["positions"]
    assert at.shape[0] == 30
    assert 1.2 < np.ptp(at[0, :, 1]) < 2.0
    assert np.linalg.norm(np.diff(at, axis=0), axis=-1).max() * 60 < 15  # metres a second
    said = " ".join(line for source in data.sources() for line in source["report"])
    assert "0.05644" in said and "calibration" in said


def test_calibration_and_the_files_numbers_can_be_kept(capture, tmp_path) -> None:
    data = mw.dataset.build(
        capture,
        tmp_path / "set",
        features="positions",
        rate=60,
        workers=0,
        split=1,
        calibration="keep",
        scale=1,
    )
    (row,) = list(data["train"])
    assert row["positions"].shape[0] == 31
    assert np.ptp(row["positions"][0, :, 1]) > 20


def test_a_small_set_says_that_it_has_no_validation_part(capture, tmp_path) -> None:
    with pytest.warns(UserWarning, match="validation and test are empty: 1 source") as said:
        mw.dataset.build(
            capture, tmp_path / "set", features="positions", workers=0, split=(0.99, 0.005, 0.005)
        )
    assert "split=" in str(said[0].message)


def test_a_person_in_centimetres_is_made_metres_and_the_command_says_so(tmp_path, capsys) -> None:
    from marrow.cli.app import run

    hero = mw.samples.mannequin()
    times = np.arange(20) / 30
    clip = mw.Clip.from_poses("walk", hero.skeleton, hero.clips["walk"].sample(times), times=times)
    (tmp_path / "sources").mkdir()
    for name in ("tall.glb", "taller.glb"):
        mw.save(mw.Character(hero.skeleton, clips=[clip]), tmp_path / "metres.glb")
        mw.save(mw.load(tmp_path / "metres.glb", scale=100), tmp_path / "sources" / name)
    words = [
        "dataset",
        "build",
        str(tmp_path / "sources"),
        "-o",
        str(tmp_path / "set"),
        "--features",
        "positions",
    ]
    assert run([*words, "--workers", "0", "--split", "1,0,0"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "metres" in line]
    assert len(said) == 1 and "tall.glb and 1 more: lengths were made metres" in said[0]
    data = mw.dataset.open(tmp_path / "set")
    for row in data["train"]:
        assert 1.2 < np.ptp(row["positions"][0, :, 1]) < 2.0
    assert all("unit of the file is 0.01 m" in " ".join(s["report"]) for s in data.sources())


def test_a_file_without_the_clips_that_are_wanted_names_a_dozen_of_its_own(tmp_path) -> None:
    bones = mw.Skeleton(("hips", "spine"), [-1, 0])
    turn = mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 1, 0]])
    clips = [mw.Clip(f"take{k:02}", bones, (turn,)) for k in range(14)]
    mw.save(mw.Character(bones, clips=clips), tmp_path / "many.glb")
    data = mw.dataset.build(tmp_path / "many.glb", tmp_path / "set", clips="walk", workers=0, split=1)
    (source,) = data.sources()
    assert source["error"].endswith("take10, take11, ... (14 in all)")
