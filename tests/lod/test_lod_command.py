"""`marrow lod`, and what `info`, `check` and `convert` know of levels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from lod_worlds import arm

import marrow as mw
from marrow.cli.app import run
from marrow.io.lint import lint
from surroundings import needed

needed("meshoptimizer")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.glb"
    mw.save(arm(rings=16, sides=10), path)
    return path


def test_levels_are_made_told_and_shown_again(file, tmp_path, capsys):
    out = tmp_path / "out.glb"
    wishes = ["--triangles", "0.5", "60", "--joints", "5", "3", "--influences", "2", "1", "--keep", "wrist"]
    assert run(["lod", str(file), "-o", str(out), *wishes]) == 0
    told, progress = capsys.readouterr()
    assert "worst error" in told and "mm" in told and "100 %" in progress
    back = mw.load(out, cache=False)
    assert [level.lod.joints for level in back.levels] == [6, 5, 4]  # what is kept keeps what is above it
    assert back.levels[2].triangle_count <= 62 and "wrist" in back.levels[2].skeleton.names
    assert run(["lod", str(out)]) == 0
    assert capsys.readouterr().out == told
    assert run(["lod", str(out), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert [f["joints"] for f in figures] == [6, 5, 4] and figures[1]["error"] == back.levels[1].lod.error
    assert run(["info", str(out)]) == 0
    assert "levels of detail  3" in capsys.readouterr().out
    assert run(["check", str(out)]) == 0


def test_screen_sizes_are_set_when_levels_are_made_or_afterwards(file, tmp_path, capsys):
    made, changed = tmp_path / "made.glb", tmp_path / "changed.marrow"
    sizes = ["--screen-sizes", "0.5", "0.2", "--hysteresis", "0"]
    assert run(["lod", str(file), "-o", str(made), "--triangles", "0.5", "0.2", *sizes]) == 0
    assert capsys.readouterr().out.split()[-1] == "0.2"
    back = mw.load(made, cache=False)
    assert [l.lod.screen_size for l in back.reduced] == [0.5, 0.2]
    assert [l.lod.hysteresis for l in back.reduced] == [0.0, 0.0]
    assert run(["lod", str(made), "-o", str(changed), "--screen-sizes", "0.4", "0.1"]) == 0
    other = mw.load(changed, cache=False)
    assert [l.lod.screen_size for l in other.reduced] == [0.4, 0.1]
    assert [l.meshes for l in other.reduced] == [l.meshes for l in back.reduced]
    assert run(["lod", str(changed), "-o", str(changed), "--hysteresis", "0.2", "0.3", "-f"]) == 0
    other = mw.load(changed, cache=False)
    assert [(l.lod.screen_size, l.lod.hysteresis) for l in other.reduced] == [(0.4, 0.2), (0.1, 0.3)]
    folder = tmp_path / "all"
    assert run(["lod", str(made), str(file), "-o", str(folder), "--screen-sizes", "0.4", "0.1"]) != 0
    assert [l.lod.screen_size for l in mw.load(folder / "made.glb").reduced] == [0.4, 0.1]
    assert "3 levels" in capsys.readouterr().err  # the other gets three, and two sizes are too few


def test_one_file_a_level(file, tmp_path, capsys):
    for suffix in (".glb", ".marrow"):
        out = tmp_path / f"out{suffix}"
        assert run(["lod", str(file), "-o", str(out), "--triangles", "0.5", "0.2", "--split"]) == 0
        counts = [mw.load(tmp_path / f"out{k}{suffix}").triangle_count for k in ("", "_lod1", "_lod2")]
        assert counts == sorted(counts, reverse=True) and counts[0] == arm(rings=16, sides=10).triangle_count
        assert run(["lod", str(file), "-o", str(out), "--triangles", "0.5", "--split"]) == 2
        assert "exists already" in capsys.readouterr().err
    assert run(["lod", str(file), "-o", str(tmp_path / "all.glb"), "--error", "0.01"]) == 0
    assert run(["convert", str(tmp_path / "all.glb"), str(tmp_path / "each.glb"), "--split"]) == 0
    assert (tmp_path / "each_lod1.glb").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--triangles", "0.5"], "-o OUT"),
        (["-o", "x.glb", "--triangles", "1.5"], "whole number"),
        (["-o", "x.glb", "--triangles", "0.5", "--error", "0.1"], "not both"),
        (["-o", "x.glb", "--keep", "elbw"], "elbow"),
        (["-o", "x.obj", "--split"], "--split"),
        (["--screen-sizes", "0.5"], "-o OUT"),
        (["-o", "x.glb", "--screen-sizes", "0.5", "0.2"], "3 levels"),
        (["-o", "x.glb", "--triangles", "0.5", "--hysteresis", "0.1", "0.2"], "1 level"),
        (["-o", "x.glb", "--triangles", "0.5", "--screen-sizes", "-1"], "sizes"),
        (["-o", "x.glb", "--split", "--screen-sizes", "0.5"], "--split"),
    ],
)
def test_wrong_calls_say_what_is_wrong(file, monkeypatch, tmp_path, capsys, options, said):
    monkeypatch.chdir(tmp_path)
    assert run(["lod", str(file), *options]) == 2
    assert said in capsys.readouterr().err


def test_check_finds_levels_that_help_nobody(tmp_path, capsys):
    hero = arm(rings=16, sides=10)
    same = mw.Level(hero.meshes, mw.Lod.of(hero.meshes, 6, screen_size=0.1))
    figures = {"error": 0.1, "mean_error": 0.1, "size": 1.0, "screen_size": 0.2}
    worse = mw.Level(hero.meshes, mw.Lod.of(hero.meshes, 6, **figures))
    mw.save(hero.replace(reduced=(same, worse)), tmp_path / "arm.marrow")
    assert run(["check", str(tmp_path / "arm.marrow"), "--strict"]) == 1
    text = capsys.readouterr().out
    for rule in ("level-saves-nothing", "level-not-measured", "level-screen-size"):
        assert rule in text, rule
    # No file holds numbers that are not finite; a character that was made by hand may.
    broken = hero.meshes[0].positions.copy()
    broken[0] = np.nan
    bad = (hero.meshes[0].replace(positions=broken),)
    found = lint(hero.replace(reduced=(same, mw.Level(bad, mw.Lod.of(bad, 6, **figures)))))
    assert [f.place for f in found if f.rule == "not-finite"] == ["level 2, mesh 'arm'"]
