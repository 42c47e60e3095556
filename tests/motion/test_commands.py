"""`marrow retarget` and `marrow clip`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import rigs

import marrow as mw
from marrow.cli.app import run

WALK = mw.samples.mannequin().clips["walk"].duration


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two motions and a character with other axes and names."""
    folder = tmp_path_factory.mktemp("files")
    hero = mw.samples.mannequin()
    for name in ("walk", "wave"):
        mw.save(hero, folder / f"{name}.bvh", clip=name)
    odd = rigs.other_axes(hero.replace(clips=()), np.random.default_rng(1))
    mw.save(rigs.renamed(odd, lambda n: f"rig:{n}"), folder / "odd.glb")
    return folder


def test_motions_onto_one_character(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "moves.glb"
    call = [
        "retarget",
        f"{files}/walk.bvh",
        f"{files}/wave.bvh",
        f"{files}/odd.glb",
        "-o",
        str(out),
        "--report",
    ]
    assert run(call) == 0
    text = capsys.readouterr().out
    assert "walk.bvh" in text and "drift" in text
    assert set(mw.load(out, cache=False).clips) == {"walk", "wave"}
    assert run(call) == 2, "what exists is kept"


def test_a_folder_gets_a_file_for_each_motion(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "many"
    motions = [f"{files}/walk.bvh", "lizard", f"{files}/wave.bvh"]
    assert run(["retarget", *motions, f"{files}/odd.glb", "-o", str(out), "--motion-only"]) == 1
    assert "four legs" in capsys.readouterr().err
    assert {p.name for p in out.iterdir()} == {"walk.glb", "wave.glb"}
    assert not mw.load(out / "walk.glb", cache=False).meshes


def test_the_map_is_shown_saved_edited_and_used(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    map_file = tmp_path / "map.json"
    motion, character = f"{files}/walk.bvh", f"{files}/odd.glb"
    assert run(["retarget", motion, character, "--show", "--save-map", str(map_file)]) == 0
    assert "left_arm" in capsys.readouterr().out
    bones = json.loads(map_file.read_text())
    del bones["chains"]["left_arm"]
    map_file.write_text(json.dumps(bones))
    assert run(["retarget", motion, character, "--map", str(map_file), "-o", str(tmp_path / "x.glb")]) == 1
    assert "left_arm" in capsys.readouterr().err


def test_the_profile_is_saved_edited_and_found(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    character = tmp_path / "odd.glb"
    character.write_bytes((files / "odd.glb").read_bytes())
    profile, call = tmp_path / "odd.retarget.json", ["retarget", f"{files}/wave.bvh", str(character)]
    assert run([*call, "--save-profile", str(profile)]) == 0
    assert run([*call, "--save-profile", str(profile)]) == 2, "what exists is kept"
    said = json.loads(profile.read_text())
    assert said["chains"]["right_arm"]["joints"][0] == "rig:upperarm_r"
    said["chains"]["right_arm"]["fk"] = 0.0
    profile.write_text(json.dumps(said))
    moved = []
    for more in ([], ["--ignore-profile"], ["--profile", str(profile)]):
        out = tmp_path / "out.glb"
        assert run([*call, "-o", str(out), "--force", "--no-contacts", *more]) == 0
        body = mw.load(out, cache=False)
        turned = body.clips[0].sample(np.linspace(0, 1, 9)).rotation[:, body.skeleton.index("rig:upperarm_r")]
        moved.append(float(np.abs(turned - turned[:1]).max()))
    assert moved[0] == moved[2] < 1e-6 < 0.01 < moved[1]
    assert "odd.retarget.json is used" in capsys.readouterr().err
    assert run([*call, "--show", "--profile", str(profile), "--ignore-profile"]) == 2
    profile.write_text("{}")
    assert run([*call, "--show"]) == 1
    assert "is no retarget profile" in capsys.readouterr().err


def test_limits_are_exit_codes(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["retarget", f"{files}/walk.bvh", f"{files}/odd.glb", "--report", "--json"]
    assert run(call) == 0
    told = json.loads(capsys.readouterr().out)
    drift = told[0]["clips"][0]["result"]["drift"]
    assert run([*call, "--max-drift", str(drift / 2)]) == 1
    assert "drift" in capsys.readouterr().err
    assert run([*call, "--max-drift", str(drift * 2)]) == 0
    capsys.readouterr()
    assert run([*call, "--max-reach", str(told[0]["clips"][0]["reach"] / 2)]) == 1
    assert "reach" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "clips"),
    [
        (["trim", "--start", "0.2", "--end", "0.6", "--clip", "walk"], {"walk": 0.4}),
        (["cut", "first=0:0.25", "second=0.25:0.75", "--clip", "walk"], {"first": 0.25, "second": 0.5}),
        (["split", "--at", "0.5", "--clip", "walk"], {"walk_1": 0.5, "walk_2": WALK - 0.5}),
        (["split", "--event", "foot_l", "--clip", "walk"], {"walk_1": None}),
        (["split", "--silence", "0.1", "--clip", "jump"], {}),
        (["additive", "--to", "0.1", "--clip", "wave"], {"wave": None}),
        (["join", "walk", "run", "--name", "both"], {"both": None}),
        (["loop", "--window", "0.1", "--clip", "attack"], {"attack": None}),
        (["in-place", "--clip", "walk"], {"walk": WALK}),
        (["travel", "--velocity", "0", "0", "1", "--clip", "walk"], {"walk": WALK}),
        (["reverse", "--clip", "wave"], {"wave": None}),
        (["retime", "--duration", "3", "--clip", "walk"], {"walk": 3.0}),
        (["smooth", "--method", "one-euro", "--clip", "walk"], {"walk": WALK}),
        (["retime", "--speed", "2", "--clip", "walk"], {"walk": WALK / 2}),
        (["resample", "--rate", "24", "--clip", "walk"], {"walk": WALK}),
        (["rename", "walk=stroll"], {"stroll": WALK}),
        (["mirror", "--clip", "strafe_left"], {"strafe_left": None}),
        (["smooth", "--cutoff", "8", "--method", "gauss", "--clip", "walk"], {"walk": WALK}),
        (["fill", "--clip", "walk"], {"walk": WALK}),
        (["contacts", "--clip", "walk"], {"walk": WALK}),
        (["keep", "--joint", "spine_01", "--below", "--clip", "walk"], {"walk": WALK}),
        (["strip", "--joint", "spine_01", "--clip", "walk"], {"walk": WALK}),
        (["reduce", "--error", "0.002", "--clip", "walk"], {"walk": WALK}),
    ],
)
def test_every_clip_tool_writes_a_file(
    arguments: list[str], clips: dict[str, float | None], tmp_path: Path
) -> None:
    out = tmp_path / "out.marrow"
    tool, *rest = arguments
    assert run(["clip", tool, "mannequin", str(out), *rest]) == 0
    made = mw.load(out, cache=False)
    for name, length in clips.items():
        assert length is None or made.clips[name].duration == pytest.approx(length, abs=0.02)
    assert len(made.clips) >= 22


def test_a_graph_run_becomes_a_clip_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, out = tmp_path / "hero.json", tmp_path / "out.marrow"
    mw.save_graph(mw.samples.mannequin_graph(), graph)
    call = ["clip", "run", "mannequin", str(out), "--graph", str(graph), "--seconds", "1.5"]
    steering = ["--set", "speed=2", "--set", "speed=0@1", "--trigger", "jump@0.5", "--name", "take"]
    assert run([*call, *steering]) == 0
    take = mw.load(out, cache=False).clips["take"]
    assert take.duration == pytest.approx(1.5) and take.key_rate == pytest.approx(30)
    way = take.sample([0.0, 1.0, 1.5]).translation[:, 0, 2]
    assert way[1] > 0.5 and way[2] - way[1] < way[1] - way[0], "it goes, and stops"
    for wrong, words in (("--set=speed", "NAME=VALUE"), ("--set=wind=1", "wind"), ("--trigger=a=1", "NAME")):
        assert run([*call, wrong, "--force"]) in (1, 2)
        assert words in capsys.readouterr().err


def test_wrong_calls_say_what_is_wrong(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for call, words in (
        (["retarget", "mannequin"], "MOTION"),
        (["retarget", "mannequin", "lizard"], "nothing to do"),
        (["clip", "trim", "mannequin", str(tmp_path / "a.xyz")], "xyz"),
        (["clip", "trim", "mannequin", str(tmp_path / "a.glb"), "--clip", "wolk"], "wolk"),
        (["clip", "cut", "mannequin", str(tmp_path / "a.glb"), "odd"], "NAME=START:END"),
        (["clip", "trim", "mannequin", str(tmp_path / "a.glb"), "--start", "99"], "start"),
        (
            [
                "retarget",
                f"{files}/walk.bvh",
                f"{files}/odd.glb",
                "-o",
                str(tmp_path / "a.glb"),
                "--map",
                "none.json",
            ],
            "none.json",
        ),
    ):
        assert run(call) in (1, 2), call
        assert words in capsys.readouterr().err, call
    assert not list(tmp_path.iterdir()), "nothing is written"
