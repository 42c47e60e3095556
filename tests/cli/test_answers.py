"""Commands answer as expected: `mend`, what `check` shows first, names of samples and takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.errors import WrongTypeError
from marrow.io.clips import named_clips

BONES = mw.Skeleton(("hips", "spine"), [-1, 0])


def character(*clips: str, still: int = 1) -> mw.Character:
    turn = np.array([[0, 0, 0, 1], [0, 0, 1, 0]], "f4")
    tracks = [mw.Track(j, "rotation", [0, 1], turn) for j in (0, 1)]
    same = [mw.Track(0, "scale", [0, 1], [[1, 1, 1]] * 2)] * still
    return mw.Character(BONES, clips=[mw.Clip(name, BONES, (*tracks, *same)) for name in clips or ("walk",)])


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A file with a track that never changes, and two joints of one name."""
    twins = mw.Skeleton(("a", "a"), [-1, 0])
    made = character()
    clip = made.clips["walk"].replace(skeleton=twins)
    mw.save(mw.Character(twins, clips=[clip]), tmp_path / "wrong.marrow")
    return tmp_path / "wrong.marrow"


def call(capsys, *arguments: object) -> tuple[int, str, str]:
    code = run([str(a) for a in arguments])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_mend_writes_the_file_and_says_what_it_did_and_left(capsys, wrong, tmp_path):
    target = tmp_path / "mended.glb"
    code, out, _ = call(capsys, "mend", wrong, target)
    assert code == 0
    assert "mended clip 'walk': 1 keys of 1 tracks" in out
    assert "left skeleton: 1 joint names occur more than once" in out
    keys = [len(track.times) for track in mw.load(target).clips["walk"].tracks]
    assert sorted(keys) == [1, 2, 2]
    assert call(capsys, "mend", wrong, target)[0] == 2, "the file exists"
    code, out, _ = call(capsys, "mend", wrong, target, "--json", "--force", "--skip", "constant-tracks")
    told = json.loads(out)
    assert told["mended"] == [] and {line["kind"] for line in told["left"]} == {"warning", "info"}
    code, _, err = call(capsys, "mend", wrong, target, "-f", "--skip", "constant-track")
    assert code == 2 and "constant-tracks" in err


def test_check_shows_what_matters_and_folds_the_rest(capsys, wrong):
    _, out, _ = call(capsys, "check", wrong)
    assert "duplicate-names" in out and "1 more: constant-tracks (--all shows them)" in out
    assert "marrow mend does what is safe about constant-tracks" in out
    _, out, _ = call(capsys, "check", wrong, "--all")
    assert "info clip 'walk': 1 of 3 tracks never change" in out and "more:" not in out


def test_check_shows_the_first_of_many_findings_of_one_rule(capsys, tmp_path):
    empty = [mw.Clip(f"take{k}", BONES) for k in range(9)]
    mw.save(mw.Character(BONES, clips=empty), tmp_path / "takes.marrow")
    _, out, _ = call(capsys, "check", tmp_path / "takes.marrow")
    assert out.count("it has no tracks") == 3 and "6 more: empty-clip 6" in out


def test_a_sample_is_loaded_by_its_name_and_a_file_of_that_name_comes_first(tmp_path, monkeypatch):
    assert mw.load("mannequin") == mw.samples.mannequin()
    assert mw.load("lizard", scale=2.0).skeleton.rest.translation.max() == pytest.approx(
        2 * mw.samples.lizard().skeleton.rest.translation.max()
    )
    monkeypatch.chdir(tmp_path)
    mw.save(character(), "own.marrow")
    Path("own.marrow").rename("mannequin")
    assert mw.load("mannequin").skeleton.names == BONES.names


def test_takes_keep_their_names():
    def called(name: str) -> str:
        return named_clips([character(name).clips[name]], Path("file.fbx"), set())[0].name

    for name in ("clip_wave", "animation_run_fast", "Take 7"):
        assert called(name) == name
    for name in ("mixamo.com", "clip_0", "Animation_12", "Take 001"):
        assert called(name) == "file"


def test_a_flag_is_no_number():
    walk = character().clips["walk"]
    with pytest.raises(WrongTypeError, match="contacts: expected True or False, got 7"):
        mw.retarget(walk, onto=character(), contacts=7)


def test_quiet_prints_nothing_of_what_went_well(capsys, wrong, tmp_path):
    code, out, err = call(capsys, "convert", wrong, tmp_path / "a.glb", "--quiet")
    assert (code, out, err) == (0, "", "") and (tmp_path / "a.glb").exists()
    assert call(capsys, "-q", "mend", wrong, tmp_path / "b.glb") == (0, "", "")
    assert call(capsys, "clip", "reverse", wrong, tmp_path / "c.glb", "-q") == (0, "", "")
    code, out, err = call(capsys, "check", wrong, "-q")
    assert (code, out.count("\n")) == (0, 1) and "1 warning" in out
    code, out, err = call(capsys, "convert", wrong, tmp_path / "a.glb", "--quiet")
    assert (code, out) == (2, "") and "exists already" in err


def test_convert_tells_a_script_what_it_wrote(capsys, wrong, tmp_path):
    code, out, _ = call(capsys, "convert", wrong, tmp_path / "a.glb", "--json")
    told = json.loads(out)
    assert code == 0 and told["source"] == str(wrong) and told["file"].endswith("a.glb")
    assert "glTF" in told["text"] and isinstance(told["notes"], list)


def test_a_command_that_takes_long_says_what_it_does(monkeypatch):
    from threading import Event

    from marrow.cli import _progress

    lines: list[str] = []
    seen = Event()

    def write(line: str) -> None:
        lines.append(line)
        if "second" in line:
            seen.set()

    monkeypatch.setattr(_progress, "on_terminal", lambda: True)
    monkeypatch.setattr(_progress, "write_over", write)
    monkeypatch.setattr(_progress, "QUIET", 0.0)
    monkeypatch.setattr(_progress, "EVERY", 0.001)
    with _progress.working("first") as turn_to:
        turn_to("second, 2 of 2")
        assert seen.wait(20)
    assert lines[-1] == "" and not lines[-2].strip(), "the line is taken away"
