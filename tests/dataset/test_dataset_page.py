"""The page about data sets: its code and its commands run, its table has all features."""

import re
import shlex
import warnings
from pathlib import Path

import pytest

import marrow as mw
from marrow.cli.app import run
from surroundings import needed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "dataset.md"


def blocks(language: str) -> list[str]:
    found = re.findall(r"```(\w*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return [text for kind, text in found if kind == language]


def test_the_code_and_the_commands_run(tmp_path, monkeypatch, capsys):
    needed("pyarrow")
    needed("torch")
    monkeypatch.chdir(tmp_path)
    person = mw.samples.mannequin().replace(meshes=(), materials=(), images=(), reduced=(), lod=None)
    for folder in ("mocap", "more"):
        Path(folder).mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("idle", "wave", "crouch", "jump", "attack", "walk"):
            mw.save(person.replace(clips=(person.clips[name],)), f"mocap/{name}.bvh")
    mw.save(mw.load("mocap/walk.bvh", cache=False), "more/walk.glb")
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("$ ")]
    assert len(lines) == 3
    for line in lines:
        assert run(shlex.split(line)[2:]) == 0, (line, capsys.readouterr().err)
    names: dict[str, object] = {}
    for code in blocks("python"):
        exec(compile(code, "dataset.md", "exec"), names)
    assert names["batch"]["positions"].shape[1:] == (32, len(names["made"].schema.joints), 3)
    assert names["mixed"].manifest.failed == 0 and names["mixed"].manifest.sources == 7


def test_the_table_has_every_feature(capsys):
    text = PAGE.read_text(encoding="utf-8")
    for name in mw.dataset.FEATURES:
        assert re.search(rf"^\| .*`{name}`", text, re.MULTILINE), name
    assert run(["dataset", "features"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in mw.dataset.FEATURES)


@pytest.mark.parametrize(
    "words", [["build"], ["build", "nothing", "-o", "out"], ["info", "nothing"], ["show", "x", "-o", "y.png"]]
)
def test_wrong_commands_are_one_line(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["dataset", *words]) in (1, 2)
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_check_finds_what_was_changed(clips, tmp_path, capsys):
    out = tmp_path / "out"
    build = [
        "dataset",
        "build",
        str(clips / "actor0"),
        "-o",
        str(out),
        "--joints",
        "!*_end",
        "--workers",
        "0",
        "--json",
    ]
    assert run(build) == 0
    assert '"rows"' in capsys.readouterr().out
    assert run(["dataset", "check", str(out)]) == 0
    assert run(["dataset", "info", str(out), "--report", "--json"]) == 0
    shard = next((out / "train").iterdir())
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    assert run(["dataset", "check", str(out)]) == 1
    assert "was changed" in capsys.readouterr().err
    shard.unlink()
    assert run(["dataset", "check", str(out), "--json"]) == 1
    assert "is missing" in capsys.readouterr().out
    assert run(build) == 0 and run(["dataset", "check", str(out)]) == 0  # what is gone is made again
