"""Commands over many files: the same results from one process or several, done once, done again where something changed."""

import json
import os
import shutil

import pytest
from motion_files import bytes_of

import marrow as mw
from marrow.cli.app import run
from surroundings import needed


def contents(folder):
    return {n: d for n, d in bytes_of(folder).items() if not n.startswith(".marrow/")}


@pytest.fixture
def few(clips, tmp_path):
    """Nine files, one of them broken, that a test may change."""
    shutil.copytree(clips / "actor3", tmp_path / "in")
    return tmp_path / "in"


def test_convert_many_into_a_folder_and_again(few, tmp_path, capsys):
    for workers, out in (("0", "one"), ("2", "two")):
        code = run(["convert", str(few), str(tmp_path / out), "--to", "marrow", "--workers", workers])
        said = capsys.readouterr()
        assert code == 1 and "take_0007.glb" in said.err and "2 failed" in said.out
    made = contents(tmp_path / "one")
    assert made == contents(tmp_path / "two") and len(made) == 5
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "one").glob("take*.marrow")}
    # The same command again does what failed, and nothing else; a change does its own file.
    changed = few / "take_0003.bvh"
    changed.write_text(changed.read_text().replace("Frame Time: 0.0", "Frame Time: 0.1"))
    assert run(["convert", str(few), str(tmp_path / "one"), "--to", "marrow"]) == 1
    assert "4 of them before" in capsys.readouterr().out
    after = {p: p.stat().st_mtime_ns for p in before}
    assert [p.name for p in before if before[p] != after[p]] == ["take_0003.marrow"]
    (tmp_path / "one" / "take_0011.marrow").unlink()
    run(["convert", str(few), str(tmp_path / "one"), "--to", "marrow"])
    assert (tmp_path / "one" / "take_0011.marrow").exists()
    # Another option is another result.
    run(["convert", str(few), str(tmp_path / "one"), "--to", "marrow", "--scale", "2"])
    assert "before" not in capsys.readouterr().out.splitlines()[-1]
    heights = [
        mw.load(tmp_path / f / "take_0011.marrow").skeleton.rest.translation[0, 1] for f in ("one", "two")
    ]
    assert heights[0] == pytest.approx(2 * heights[1])


def test_neighbours_count_too(tmp_path, capsys):
    """A .gltf whose buffer beside it changes is converted again."""
    hero = mw.samples.lizard()
    folder = tmp_path / "in"
    folder.mkdir()
    mw.save(hero, folder / "hero.gltf")
    call = ["convert", str(folder), str(tmp_path / "out"), "--to", "glb"]
    assert run(call) == 0 and run(call) == 0
    assert "1 of them before" in capsys.readouterr().out
    beside = [p for p in folder.iterdir() if p.suffix == ".bin"]
    assert beside
    os.utime(beside[0])
    assert run(call) == 0
    assert "1 of them before" in capsys.readouterr().out  # the same bytes at another time
    data = bytearray(beside[0].read_bytes())
    data[100] ^= 1
    beside[0].write_bytes(data)
    run(call)
    assert "before" not in capsys.readouterr().out


def test_bake_and_check_with_workers_say_what_one_process_says(few, tmp_path, capsys):
    told = []
    for workers in ("0", "2"):
        out = tmp_path / f"bake{workers}"
        assert (
            run(["bake", str(few), "-o", str(out), "--what", "joints", "--workers", workers, "--json"]) == 1
        )
        baked = json.loads(capsys.readouterr().out)
        assert run(["check", str(few), "--workers", workers, "--json"]) == 1
        told.append((contents(out), baked, json.loads(capsys.readouterr().out)))
    assert told[0] == told[1]
    index = json.loads((tmp_path / "bake0" / "index.json").read_text())
    assert [s["file"] for s in index["shards"]] == [s["file"] for s in told[0][1] if "file" in s]


def test_lod_of_many(tmp_path, capsys):
    """Two small balls that one joint moves."""
    needed("meshoptimizer")
    trimesh = needed("trimesh")
    folder = tmp_path / "in"
    folder.mkdir()
    ball = trimesh.creation.icosphere(subdivisions=2)
    bones = mw.Skeleton(("root",), [-1])
    mesh = mw.Mesh.rigid("ball", ball.vertices, ball.faces, 0)
    for name in ("a", "b"):
        mw.save(mw.Character(bones, meshes=[mesh], name=name), folder / f"{name}.marrow")
    call = ["lod", str(folder), "-o", str(tmp_path / "out"), "--triangles", "0.3", "--workers", "1"]
    assert run(call) == 0
    assert "2 files" in capsys.readouterr().out
    assert len(mw.load(tmp_path / "out" / "a.glb", cache=False).levels) == 2


def test_wrong_calls_for_many_files(few, tmp_path, capsys):
    for words, says in (
        (["convert", str(few), str(tmp_path / "a.glb")], "need a folder"),
        (["convert", str(few), str(tmp_path / "a"), "--to", "xyz"], "cannot write"),
        (["convert", str(few), str(tmp_path / "a"), "--to", "gltf"], "one file for each"),
        (["convert", "mannequin", str(tmp_path / "a.glb"), "--workers", "2"], "several files"),
        (["convert", str(few), str(few), "--to", "glb"], "not empty"),
        (["bake", str(few), "-o", str(tmp_path / "a.npz"), "--workers", "2"], "for a folder"),
        (["lod", str(few), str(few)], "-o FOLDER"),
        (["check", str(tmp_path / "none*.glb")], "no files that marrow reads"),
    ):
        assert run(words) in (1, 2), words
        assert says in capsys.readouterr().err, words
