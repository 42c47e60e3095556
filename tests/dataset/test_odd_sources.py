"""Folders as people have them: links, names and files that are no sources cost one line each."""

import os
import warnings

import pytest
from motion_files import body, bytes_of, motion

import marrow as mw
from marrow import dataset
from marrow.cli.app import run


def take(path, seed=0, frames=20, skeleton=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    skeleton = skeleton or body()
    mw.save(mw.Character(skeleton, clips=[motion(skeleton, seed, frames, 30.0)]), path)


@pytest.fixture
def folder(tmp_path):
    """Two good takes among a link to nothing, two links in circles and a name of other bytes."""
    root = tmp_path / "in"
    take(root / "a" / "one.bvh", 1)
    take(root / "b" / "two.bvh", 2)
    (root / "dangling.bvh").symlink_to("nowhere.bvh")
    (root / "self.bvh").symlink_to("self.bvh")
    (root / "a" / "up").symlink_to("..")
    try:
        with open(os.fsencode(root) + b"/caf\xe9.bvh", "wb") as file:
            file.write((root / "a" / "one.bvh").read_bytes())
    except OSError:
        pytest.skip("this file system has no such names")
    return root


@pytest.mark.parametrize("pattern", ["", "**/*.bvh"])
def test_links_and_names_cost_a_line_each(folder, tmp_path, pattern):
    made = dataset.build(str(folder / pattern), tmp_path / "out", workers=0, split=1)
    errors = {s["name"]: s["error"] for s in made.sources() if "error" in s}
    assert set(errors) == {"dangling.bvh", "self.bvh", "a/up", "caf\\xe9.bvh"}
    assert "nowhere.bvh" in errors["dangling.bvh"] and "UTF-8" in errors["caf\\xe9.bvh"]
    assert len(made["train"]) == 2
    before = bytes_of(tmp_path / "out")
    again = [str(folder / pattern), tmp_path / "out"]
    dataset.build(*again, workers=0, split=1, progress=lambda p: pytest.fail("nothing is left to do"))
    assert bytes_of(tmp_path / "out") == before
    take(folder / "nowhere.bvh", 3)  # what the link names is there now
    made = dataset.build(*again, workers=0, split=1)
    assert {r["source"] for r in made["train"]} >= {"dangling.bvh", "nowhere.bvh"}


def test_links_to_folders_elsewhere_are_followed_once(tmp_path):
    take(tmp_path / "else" / "one.bvh")
    (tmp_path / "in").mkdir()
    for name in ("p", "q"):
        (tmp_path / "in" / name).symlink_to(tmp_path / "else")
    made = dataset.build(tmp_path / "in", tmp_path / "out", workers=0, split=1)
    assert [(s["name"], "error" in s) for s in made.sources()] == [("p/one.bvh", False), ("q", True)]


def test_commands_for_many_files_go_on(folder, tmp_path, capsys):
    calls = {
        "check": ["check", str(folder)],
        "convert": ["convert", str(folder), str(tmp_path / "c"), "--to", "glb"],
        "bake": ["bake", str(folder), "-o", str(tmp_path / "b"), "--what", "joints"],
        "npz": ["bake", str(folder), "-o", str(tmp_path / "b.npz"), "--what", "joints"],
    }
    for what, call in calls.items():
        code = run(call)
        told = capsys.readouterr().err
        assert code in (1, 2) and "fault inside" not in told, (what, told)
        for name in ("dangling.bvh", "self.bvh", "up", "caf\\xe9.bvh"):
            assert any(name in line for line in told.splitlines()), (what, name, told)
    assert sorted(p.stem for p in (tmp_path / "c").rglob("*.glb")) == ["one", "two"]


def test_what_is_left_out_is_counted(tmp_path, capsys):
    for k, frames in enumerate((10, 12, 14, 16, 40)):
        take(tmp_path / "in" / f"t{k}.bvh", k, frames)
    call = [
        "dataset",
        "build",
        str(tmp_path / "in"),
        "-o",
        str(tmp_path / "out"),
        "--workers",
        "0",
        "--window",
    ]
    assert run([*call, "20"]) == 0
    told = capsys.readouterr().err
    assert "4 clips of 4 sources left out: t0.bvh" in told and "fewer than a window of 20" in told
    assert "--failed" in told
    assert run([*call, "50"]) == 1  # not one row
    told = capsys.readouterr().err
    assert "5 clips of 5 sources left out" in told and "no rows" in told
    assert run(["dataset", "info", str(tmp_path / "out"), "--failed"]) == 0
    listed = capsys.readouterr().out
    assert all(f"t{k}.bvh: clip" in listed for k in range(5))


def test_the_skeleton_of_most_decides(tmp_path):
    root, out = tmp_path / "in", tmp_path / "out"
    two = mw.Skeleton(("root", "tip"), [-1, 0], mw.Pose.identity(2))
    for k in range(3):
        take(root / f"t{k}.bvh", k)
    take(root / "a_first.bvh", 7, skeleton=two)

    def built(place=out):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = dataset.build(root, place, workers=0, split=1, joints="!*_end")
        return made, " ".join(str(w.message) for w in told)

    made, told = built()
    assert len(made.schema.joints) == 19 and len(made) == 3
    assert "3 of 4" in told and "a_first.bvh is not" in told
    assert [s["name"] for s in made.sources() if "error" in s] == ["a_first.bvh"]
    before = (out / "_build" / "joints.json").stat().st_mtime_ns
    assert "3 of 4" in built()[1] and (out / "_build" / "joints.json").stat().st_mtime_ns == before
    for k in range(2):
        take(root / f"z{k}.bvh", k, skeleton=two)
    made, told = built()  # as many of either: the first by name
    assert made.schema.joints == ("root", "tip") and len(made) == 3
    assert "another skeleton than before" in told
    assert bytes_of(out) == bytes_of(built(tmp_path / "fresh")[0].store.folder)


def test_folders_count_whichever_way_they_are_named(tmp_path):
    for actor in range(8):
        for k in range(2):
            take(tmp_path / "in" / f"a{actor}" / f"t{actor}{k}.bvh", k, 4)
    options = {"features": "times", "split": (1, 1, 1), "split_by": "folder", "workers": 0}

    def split(made):
        return {s["name"].split("/")[-1]: s["split"] for s in made.sources()}

    whole = split(dataset.build(tmp_path / "in", tmp_path / "whole", **options))
    parts = split(dataset.build(sorted((tmp_path / "in").iterdir()), tmp_path / "parts", **options))
    assert whole == parts and len(set(whole.values())) > 1
    assert all(whole[f"t{a}0.bvh"] == whole[f"t{a}1.bvh"] for a in range(8))


@pytest.mark.parametrize("format", ["npz", "zarr"])
def test_a_damaged_shard_is_made_anew(tmp_path, format, capsys):
    if format == "zarr":
        pytest.importorskip("zarr")
    for k in range(3):
        take(tmp_path / "in" / f"t{k}.bvh", k)
    out = tmp_path / "out"
    options = {"workers": 0, "split": 1, "format": format}
    dataset.build(tmp_path / "in", out, **options)
    before = bytes_of(out)
    shard = max((p for p in (out / "train").rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 255
    shard.write_bytes(data)
    os.utime(shard, ns=(1, 1))
    assert run(["dataset", "check", str(out)]) == 1
    assert "same build" in capsys.readouterr().err
    dataset.build(tmp_path / "in", out, **options)
    assert bytes_of(out) == before and run(["dataset", "check", str(out)]) == 0
    os.utime(shard, ns=(2, 2))  # another time, the same bytes
    for _ in range(2):
        dataset.build(tmp_path / "in", out, progress=lambda p: pytest.fail("nothing to do"), **options)


def test_files_beside_a_source(tmp_path):
    take(tmp_path / "in" / "t.bvh")
    (tmp_path / "in" / "t.tags").write_text("slow walk, sad\nturn left\n")
    (tmp_path / "in" / "t.txt").write_bytes(b"he walks\ncaf\xe9\n")
    made = dataset.build(tmp_path / "in", tmp_path / "out", features="text tags times", workers=0, split=1)
    row = made["train"][0]
    assert list(row["tags"]) == ["slow walk", "sad", "turn left"]
    assert list(row["text"]) == ["he walks", "caf\ufffd"]
    (source,) = made.sources()
    assert any("t.txt is not UTF-8" in line for line in source["report"])


def test_wrong_calls_and_remedies_on_the_command_line(tmp_path, capsys):
    take(tmp_path / "in" / "t.bvh")
    good = str(tmp_path / "in")
    for call, words in (
        ([good, "--character", "nope.glb"], "nope.glb: no such file"),
        ([str(tmp_path / "nope")], "no such file or folder"),
        ([good, "--split", "-1,1,1"], "-1 is wrong"),
    ):
        assert run(["dataset", "build", *call, "-o", str(tmp_path / "out"), "--workers", "0"]) == 2
        assert words in capsys.readouterr().err
    text = (tmp_path / "in" / "t.bvh").read_text()
    still = [line if "Frame Time" not in line else "Frame Time: 0" for line in text.splitlines()]
    (tmp_path / "in" / "still.bvh").write_text("\n".join(still))
    assert run(["dataset", "build", good, "-o", str(tmp_path / "out"), "--workers", "0"]) == 1
    told = capsys.readouterr().err
    assert "rate=" not in told and "convert --rate" in told
    mended = str(tmp_path / "mended.bvh")
    assert run(["convert", str(tmp_path / "in" / "still.bvh"), mended, "--rate", "30"]) == 0
