"""The command line as a user meets it: output, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.math import quaternion

COMMANDS = ("info", "check", "convert", "bake", "samples", "cache", "cache info", "cache clear")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("MARROW_CACHE", str(tmp_path_factory.mktemp("cache")))


def hero() -> mw.Character:
    """Two joints, a skinned square with a material, two clips."""
    skeleton = mw.Skeleton(
        ("hips", "spine"),
        [-1, 0],
        mw.Pose.identity(2).replace(translation=np.array([[0, 1, 0], [0, 0.5, 0]], "f4")),
    )
    bind = np.zeros((2, 3, 4), "f4")
    bind[:, [0, 1, 2], [0, 1, 2]] = 1
    bind[:, 1, 3] = [-1, -1.5]
    mesh = mw.Mesh(
        "body",
        np.array([[0, 0, 0], [1, 0, 0], [1, 2, 0], [0, 2, 0]], "f4"),
        np.array([[0, 1, 2], [0, 2, 3]]),
        joints=np.array([[0, 1], [0, 1], [1, 0], [1, 0]]),
        weights=np.array([[1, 0], [1, 0], [0.75, 0.25], [1, 0]], "f4"),
        joint_list=[0, 1],
        inverse_bind=bind,
        normals=np.tile(np.float32([0, 0, 1]), (4, 1)),
        sections=(mw.Section(0, 2, 0),),
    )
    times = np.array([0, 0.5, 1], "f4")
    up = np.array([[0, 1, 0], [0, 2, 0], [0, 3, 0]], "f4")
    clips = (
        mw.Clip("Rise", skeleton, [mw.Track(0, "translation", times, up)], rate=2.0),
        mw.Clip("Sink", skeleton, [mw.Track(0, "translation", times, -up)], rate=2.0),
    )
    return mw.Character(skeleton, (mesh,), clips, (mw.Material("cloth"),), name="hero")


@pytest.fixture
def hero_file(tmp_path) -> Path:
    path = tmp_path / "hero.marrow"
    mw.save(hero(), path)
    return path


def call(capsys, *arguments: object) -> tuple[int, str, str]:
    code = run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    if code:
        assert err.startswith("error: ")
    return code, out, err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command, capsys):
    code, out, _ = call(capsys, *command.split(), "--help")
    assert code == 0
    assert "Usage: marrow" in out
    assert f"marrow {command.split()[0]}" in out.split("Example:")[1]


def test_help_names_all_commands_and_version_is_the_packages(capsys):
    _, out, _ = call(capsys, "--help")
    for command in ("info", "check", "convert", "bake", "cache", "samples"):
        assert command in out
    assert call(capsys, "--version")[1].strip() == mw.__version__


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["info"], "FILES"),
        (["nope"], "nope"),
        (["info", "x.glb", "--wat"], "--wat"),
        (["bake", "x.glb", "-o", "o.npz", "--what", "hair"], "hair"),
        (["convert", "a.glb"], "OUT"),
        (["info", "missing.glb"], "no such file"),
        (["check", "missing.glb"], "no such file"),
        (["convert", "missing.glb", "out.glb"], "no such file"),
        (["bake", "missing.glb", "-o", "out.npz"], "no such file"),
    ],
)
def test_wrong_calls_exit_2(arguments, says, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["bad.glb", "bad.fbx", "bad.bvh", "bad.marrow", "bad.xyz"])
@pytest.mark.parametrize("command", ["info", "check"])
def test_bad_files_exit_1_with_one_line(command, name, capsys, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"this is no character")
    code, _, err = call(capsys, command, path)
    assert code == 1
    assert name in err
    assert len(err.strip().splitlines()) == 1


def test_info_shows_joints_meshes_materials_and_clips(hero_file, capsys):
    code, out, _ = call(capsys, "info", hero_file)
    assert code == 0
    for words in (
        "hips",
        "spine",
        "body",
        "cloth",
        "1: 3, 2: 1",
        "Rise: 1.000 s at 2 keys/s",
        "2 triangles",
        "1 x 2 x 0 m",
    ):
        assert words in out


def test_info_as_json(hero_file, capsys):
    code, out, _ = call(capsys, "info", hero_file, hero_file, "--json")
    facts = json.loads(out)
    assert (code, len(facts)) == (0, 2)
    assert facts[0]["skeleton"]["names"] == ["hips", "spine"]
    assert facts[0]["meshes"][0]["influences"] == {"1": 3, "2": 1}
    assert facts[0]["clips"][1]["name"] == "Sink"
    assert facts[0]["size"]["extent"] == [1, 2, 0]
    assert facts[0]["format"] == "marrow"


def test_info_tells_the_rate_the_keys_are_at(capsys, tmp_path):
    skeleton = mw.Skeleton(("a",), [-1])
    places = np.zeros((4, 3))
    even = mw.Clip("even", skeleton, [mw.Track(0, "translation", np.arange(4) / 24, places)])
    uneven = mw.Clip("uneven", skeleton, [mw.Track(0, "translation", [0, 0.1, 0.15, 0.4], places)])
    still = mw.Clip("still", skeleton, [mw.Track(0, "translation", [0], places[:1])])
    mw.save(mw.Character(skeleton, clips=(even, uneven, still)), tmp_path / "clips.marrow")
    clips = json.loads(call(capsys, "info", tmp_path / "clips.marrow", "--json")[1])[0]["clips"]
    assert [c["rate"] for c in clips] == [24, None, None]
    assert [c.key_rate for c in (even, uneven, still)] == [24, None, None]


def test_info_goes_on_after_a_bad_file(hero_file, capsys, tmp_path):
    bad = tmp_path / "bad.glb"
    bad.write_bytes(b"glTF")
    code, out, err = call(capsys, "info", bad, hero_file)
    assert code == 1
    assert "bad.glb" in err
    assert "hips" in out


def test_check_finds_and_strict_fails(capsys, tmp_path):
    twins = mw.Skeleton(("a", "a"), [-1, 0])
    path = tmp_path / "twins.marrow"
    mw.save(mw.Character(twins), path)
    code, out, _ = call(capsys, "check", path)
    assert code == 0
    assert "duplicate-names" in out
    assert "rename them" in out
    assert run(["check", str(path), "--strict"]) == 1
    capsys.readouterr()
    findings = json.loads(call(capsys, "check", path, "--json")[1])[0]["findings"]
    assert {"rule", "severity", "place", "message", "remedy", "mended"} == set(findings[0])


def test_convert_keeps_what_was_asked_for(hero_file, capsys, tmp_path):
    target = tmp_path / "out.glb"
    code, out, _ = call(
        capsys, "convert", hero_file, target, "--clip", "Sink", "--max-influences", 1, "--scale", 2
    )
    assert code == 0
    assert "out.glb" in out
    again = mw.load(target)
    assert list(again.clips) == ["Sink"]
    assert again.meshes[0].influence_counts.max() == 1
    np.testing.assert_allclose(again.skeleton.rest.translation[again.skeleton.index("hips")], [0, 2, 0])


def test_convert_to_bvh_says_what_is_left_out(hero_file, capsys, tmp_path):
    target = tmp_path / "rise.bvh"
    code, _, err = call(capsys, "convert", hero_file, target, "--clip", "Rise", "--rate", 10)
    assert code == 0
    assert "note: " in err
    assert "meshes are left out" in err
    clip = mw.load(target).clips[0]
    assert clip.rate == pytest.approx(10)
    np.testing.assert_allclose(clip.sample(0.25).translation[0], [0, 1.5, 0], atol=1e-6)


def test_convert_takes_clips_of_other_files(hero_file, capsys, tmp_path):
    other = tmp_path / "more.bvh"
    run(["convert", str(hero_file), str(other), "--clip", "Rise"])
    capsys.readouterr()
    target = tmp_path / "both.marrow"
    assert call(capsys, "convert", hero_file, target, "--clips-from", other, other)[0] == 0
    assert len(mw.load(target).clips) >= 3


def test_convert_refuses_what_it_should(hero_file, capsys, tmp_path):
    exists = tmp_path / "there.glb"
    exists.write_bytes(b"precious")
    assert "exists already" in call(capsys, "convert", hero_file, exists)[2]
    assert exists.read_bytes() == b"precious"
    assert call(capsys, "convert", hero_file, exists, "--force")[0] == 0
    for target, says in (
        (tmp_path / "no" / "where.glb", "does not exist"),
        (tmp_path / "out.blend", "cannot write .blend"),
        (tmp_path / "out", "no suffix"),
        (tmp_path, "suffix"),
        (tmp_path / f"{'x' * 300}.glb", "too long"),
        (tmp_path / ("x" * 300) / "out.glb", "too long"),
    ):
        code, _, err = call(capsys, "convert", hero_file, target)
        assert (code, says in err) == (2, True), err
        assert "fault" not in err
    code, _, err = call(capsys, "convert", hero_file, tmp_path / "x.glb", "--clip", "Rize")
    assert code == 2
    assert "did you mean 'Rise'" in err
    code, _, err = call(capsys, "convert", hero_file, tmp_path / "x.bvh")
    assert code == 2
    assert "Rise, Sink" in err
    assert call(capsys, "convert", hero_file, tmp_path / "x.glb", "--scale", -1)[0] == 2
    longest = tmp_path / f"{'한' * 80}.glb"  # 244 octets of 255
    assert call(capsys, "convert", hero_file, longest)[0] == 0
    assert sorted(tmp_path.iterdir()) == sorted([hero_file, exists, longest])


def test_folders_that_cannot_be_written_are_named(hero_file, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    code, _, err = call(capsys, "convert", hero_file, tmp_path / "x.glb")
    assert code == 2
    assert "cannot be written" in err


def test_bake_into_npz(hero_file, capsys, tmp_path):
    target = tmp_path / "hero.npz"
    code, out, _ = call(
        capsys,
        "bake",
        hero_file,
        "-o",
        target,
        "--what",
        "vertices",
        "--what",
        "joints",
        "--what",
        "matrices",
        "--rate",
        4,
    )
    assert code == 0
    assert "2 clips" in out
    arrays = np.load(target, allow_pickle=False)
    assert arrays["Rise/times"].tolist() == [0, 0.25, 0.5, 0.75, 1]
    np.testing.assert_allclose(
        arrays["Rise/vertices"][2], np.add(hero().meshes[0].positions, [0, 1, 0]), atol=1e-6
    )
    np.testing.assert_allclose(arrays["Sink/joints"][4], [[0, -3, 0], [0, -2.5, 0]], atol=1e-6)
    assert arrays["Rise/matrices"].shape == (5, 2, 3, 4)
    np.testing.assert_allclose(
        arrays["Rise/matrices"][4, 0], [[1, 0, 0, 0], [0, 1, 0, 2], [0, 0, 1, 0]], atol=1e-6
    )
    assert arrays["triangles"].tolist() == [[0, 1, 2], [0, 2, 3]]
    assert arrays["joint_names"].tolist() == ["hips", "spine"]
    assert arrays["parents"].tolist() == [-1, 0]


def test_bake_into_shards(hero_file, capsys, tmp_path):
    from safetensors.numpy import load_file

    folder = tmp_path / "set"
    twin = tmp_path / "twin" / "hero.marrow"
    twin.parent.mkdir()
    twin.write_bytes(hero_file.read_bytes())
    code, out, _ = call(
        capsys, "bake", hero_file, twin, "-o", folder, "--clip", "Rise", "--times", "0,1", "--what", "joints"
    )
    assert code == 0
    assert "2 shards, 4 frames" in out
    index = json.loads((folder / "index.json").read_text())
    assert [shard["file"] for shard in index["shards"]] == [
        "hero.Rise.safetensors",
        "hero.Rise_2.safetensors",
    ]
    arrays = load_file(folder / "hero.Rise.safetensors")
    np.testing.assert_allclose(arrays["joints"][1], [[0, 3, 0], [0, 3.5, 0]], atol=1e-6)
    assert arrays["times"].tolist() == [0, 1]


def test_bake_goes_on_after_a_bad_file(hero_file, capsys, tmp_path):
    bad = tmp_path / "bad.glb"
    bad.write_bytes(b"glTF")
    folder = tmp_path / "set"
    code, _, err = call(capsys, "bake", bad, hero_file, "-o", folder)
    assert code == 1
    assert "bad.glb" in err
    assert (folder / "hero.Rise.safetensors").exists()


def test_bake_refuses_what_it_should(hero_file, capsys, tmp_path):
    target = tmp_path / "x.npz"
    for arguments, says in (
        ((hero_file, "-o", target, "--times", "soon"), "--times takes seconds"),
        ((hero_file, "-o", target, "--times", "0", "--rate", 2), "exclude"),
        ((hero_file, "-o", target, "--rate", 0), "--rate must be"),
        ((hero_file, "-o", target, "--clip", "Fly"), "there is no clip called 'Fly'"),
        ((hero_file, "-o", tmp_path / "x.obj"), ".npz"),
        ((hero_file, "-o", tmp_path), "not empty"),
        ((hero_file, "-o", tmp_path / "no" / "x.npz"), "does not exist"),
    ):
        code, _, err = call(capsys, "bake", *arguments)
        assert (code, says in err) == (2, True), err
    assert not target.exists()
    bones = tmp_path / "bones.marrow"
    mw.save(mw.Character(mw.Skeleton(("a",), [-1])), bones)
    assert "--what joints" in call(capsys, "bake", bones, "-o", target)[2]
    assert call(capsys, "bake", bones, "-o", target, "--what", "joints")[0] == 0
    assert np.load(target)["rest/joints"].shape == (1, 1, 3)


def test_cache_commands(capsys):
    code, out, _ = call(capsys, "cache", "info", "--json")
    assert code == 0
    assert json.loads(out)["path"] == os.path.join(os.environ["MARROW_CACHE"], "marrow-cache")
    assert "removed" in call(capsys, "cache", "clear")[1]


def test_clearing_a_cache_that_cannot_be_written_says_so_and_fails(capsys, monkeypatch, tmp_path):
    source = tmp_path / "walk.bvh"
    mw.save(mw.samples.mannequin(), source, clip="walk")
    mw.load(source)

    def refused(self, missing_ok=False):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "unlink", refused)
    code, out, err = call(capsys, "cache", "clear")
    assert code == 1
    assert out == ""
    assert "could not be deleted: Permission denied" in err


def test_samples_are_listed(capsys):
    assert set(json.loads(call(capsys, "samples", "--json")[1])) == set(mw.samples.NAMES)
    assert "mannequin" in call(capsys, "samples")[1]


def test_samples_stand_in_for_files(capsys, monkeypatch, tmp_path):
    (tmp_path / "built").mkdir()
    for name in mw.samples.NAMES:
        mw.save(hero(), tmp_path / "built" / f"{name}.marrow")
    monkeypatch.setattr(mw.samples, "BUILT", tmp_path / "built")
    monkeypatch.chdir(tmp_path)
    assert "hips" in call(capsys, "info", "mannequin")[1]
    assert call(capsys, "convert", "mannequin", "m.glb", "--scale", 2)[0] == 0
    np.testing.assert_allclose(mw.load("m.glb").meshes[0].positions[2], [2, 4, 0])
    assert "did you mean 'mannequin'" in call(capsys, "info", "manequin")[2]


def test_interrupting_exits_130(monkeypatch, capsys, hero_file):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("marrow.cli._files.open_character", interrupted)
    assert call(capsys, "info", hero_file)[0] == 130


def test_faults_inside_are_one_line_too(monkeypatch, capsys, hero_file):
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("wires\ncrossed")

    monkeypatch.setattr("marrow.cli._files.open_character", broken)
    code, _, err = call(capsys, "info", hero_file)
    assert code == 1
    assert "wires; crossed" in err
    monkeypatch.setenv("MARROW_TRACEBACK", "1")
    assert run(["info", str(hero_file)]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_the_installed_script_runs_and_leaves_the_kernel_compiler_alone(hero_file):
    code = (
        "import sys; from marrow.cli.app import run\n"
        f"code = run(['info', {str(hero_file)!r}]) or run(['check', {str(hero_file)!r}])\n"
        "heavy = {'numba', 'llvmlite', 'pxr', 'torch', 'ufbx'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    broken = subprocess.run(
        [sys.executable, "-m", "marrow.cli", "info", "nope.glb"], capture_output=True, text=True
    )
    assert (broken.returncode, broken.stderr) == (2, "error: nope.glb: no such file\n")


def test_convert_chooses_joints_for_bvh(capsys, tmp_path):
    code, _, _ = call(
        capsys,
        "convert",
        "mannequin",
        str(tmp_path / "a.bvh"),
        "--clip",
        "walk",
        "--joints",
        "pelvis",
        "spine*",
    )
    assert code == 0
    assert mw.load(tmp_path / "a.bvh").skeleton.names[0] == "pelvis"
    code, _, err = call(capsys, "convert", "mannequin", str(tmp_path / "a.glb"), "--joints", "pelvis")
    assert code == 2
    assert "--joints" in err


def test_convert_says_what_other_viewers_will_not_show(capsys, tmp_path):
    hero = mw.samples.mannequin()
    assert max(m.influences for m in hero.meshes) > 4
    mw.save(hero, tmp_path / "hero.marrow")
    _, _, err = call(capsys, "convert", str(tmp_path / "hero.marrow"), str(tmp_path / "a.glb"))
    assert "--influences 4" in err
    limited = hero.replace(meshes=tuple(mw.limit_influences(m, 4).mesh for m in hero.meshes))
    stated = float(re.search(r"up to (\S+) m off", err)[1])
    clip = hero.clips["run"]
    apart = mw.skin(hero, clip.sample(0.3)).positions - mw.skin(limited, clip.sample(0.3)).positions
    assert 0 < float(np.abs(apart).max()) <= 3 * stated
    _, _, err = call(
        capsys, "convert", str(tmp_path / "hero.marrow"), str(tmp_path / "b.glb"), "--influences", "4"
    )
    assert "influences" not in err
    turned = hero.replace(meshes=tuple(m.replace(skinning="dual_quaternion") for m in limited.meshes))
    mw.save(turned, tmp_path / "turned.marrow")
    _, _, err = call(capsys, "convert", str(tmp_path / "turned.marrow"), str(tmp_path / "c.glb"))
    assert "dual-quaternion" in err


@pytest.mark.parametrize("command", ["info", "check"])
def test_failures_appear_in_json(capsys, tmp_path, command):
    (tmp_path / "bad.glb").write_bytes(b"glTF but no more")
    code, out, _ = call(capsys, command, str(tmp_path / "bad.glb"), "mannequin", "--json")
    assert code == 1
    bad, good = json.loads(out)
    assert bad["file"].endswith("bad.glb")
    assert "cut off" in bad["error"]
    assert "error" not in good


def test_bake_many_files_into_one_npz_with_rotations(capsys, tmp_path):
    mw.save(mw.samples.mannequin(), tmp_path / "hero.marrow")
    (tmp_path / "bad.glb").write_bytes(b"glTF")
    code, out, err = call(
        capsys,
        "bake",
        str(tmp_path / "hero.marrow"),
        str(tmp_path / "bad.glb"),
        "mannequin",
        "-o",
        str(tmp_path / "a.npz"),
        "--what",
        "rotations",
        "--what",
        "6d",
        "--clip",
        "walk",
        "--rate",
        "5",
        "--json",
    )
    assert code == 1
    told = json.loads(out)
    assert [t.get("prefix") for t in told] == ["hero/", "mannequin/", None]
    assert "bad.glb" in told[-1]["source"]
    assert "error" in told[-1]
    assert "bad.glb" in err
    hero = mw.samples.mannequin()
    with np.load(tmp_path / "a.npz") as found:
        assert found["hero/joint_names"].tolist() == list(hero.skeleton.names)
        times, turns, two = (found[f"hero/walk/{n}"] for n in ("times", "rotations", "6d"))
        np.testing.assert_array_equal(found["mannequin/walk/6d"], two)
    pose = hero.clips["walk"].sample(times)
    np.testing.assert_allclose(turns, pose.rotation, atol=1e-6)
    assert two.shape == (*turns.shape[:-1], 6)
    # What a rotation does to the X and Y axes is its first two columns.
    for k, axis in enumerate(np.eye(3)[:2]):
        np.testing.assert_allclose(two[..., 3 * k : 3 * k + 3], quaternion.rotate(turns, axis), atol=1e-5)


def test_convert_writes_fbx_in_the_axes_and_units_that_are_asked_for(hero_file, capsys, tmp_path):
    out = tmp_path / "out.fbx"
    assert call(capsys, "convert", hero_file, out, "--axes", "unreal")[0] == 0
    assert call(capsys, "convert", hero_file, out, "--up", "z", "--units", "m", "--force")[0] == 0
    back = mw.load(out, cache=False)
    assert set(mw.load(hero_file).clips) == set(back.clips)
    assert "known: unreal" in call(capsys, "convert", hero_file, out, "--axes", "d3d", "--force")[2]
    code, _, err = call(capsys, "convert", hero_file, tmp_path / "out.glb", "--up", "z")
    assert (code, ".fbx files" in err) == (2, True)
