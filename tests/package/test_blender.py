"""The Blender add-on: its way to marrow without Blender, and all of it inside `bpy` where that is at hand.

`bpy` is 370 MB and wants a Python of its own: MARROW_BPY names one that has it (see docs/blender.md).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

import marrow as mw

ROOT = Path(__file__).resolve().parents[2]
ADDON = ROOT / "extras" / "blender"
MARROW = f"{sys.executable} -m marrow"


@pytest.fixture(scope="module")
def bridge() -> ModuleType:
    import importlib.util

    spec = importlib.util.spec_from_file_location("marrow_tools_bridge", ADDON / "marrow_tools" / "bridge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def test_the_command_is_a_path_a_name_or_a_line(bridge: ModuleType) -> None:
    assert bridge.command(sys.executable) == [sys.executable]
    assert bridge.command(MARROW)[1:] == ["-m", "marrow"]
    with pytest.raises(bridge.BridgeError, match="pip install marrow-engine"):
        bridge.command("no-such-marrow --x")


def test_a_file_goes_through_marrow(
    bridge: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", "/nowhere")  # as Blender sets it for itself
    out = tmp_path / "out.glb"
    source = tmp_path / "take.bvh"
    source.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\nFrames: 1\n"
        "Frame Time: 0.1\n0 0 90\n"
    )
    bridge.run(MARROW, bridge.convert_arguments(str(source), str(out)))
    assert mw.load(out).skeleton.names[0] == "a"
    with pytest.raises(bridge.BridgeError, match=r"nothing\.glb"):
        bridge.run(MARROW, bridge.convert_arguments(str(tmp_path / "nothing.glb"), str(out)))
    found = bridge.findings(bridge.run(MARROW, bridge.check_arguments(str(out))))
    assert all(f.severity in ("error", "warning", "info") and f.message for f in found)


def test_findings_and_levels_are_read(bridge: ModuleType, tmp_path: Path) -> None:
    rows = [
        {
            "findings": [
                {"severity": "info", "message": "b"},
                {"severity": "error", "place": "x", "message": "a"},
            ]
        }
    ]
    assert [str(f) for f in bridge.findings(json.dumps(rows))] == ["error: x: a", "info: b"]
    assert bridge.findings('[{"error": "cannot be read"}]')[0].severity == "error"
    with pytest.raises(bridge.BridgeError, match="no list"):
        bridge.findings("oops")
    with pytest.raises(bridge.BridgeError, match="above 0 and below 1"):
        bridge.level_arguments("a", "b", [0.5, 2])
    for name in ("l.glb", "l_lod1.glb", "l_lod2.glb", "l_lod4.glb"):
        (tmp_path / name).touch()
    assert [p.name for p in bridge.level_files(str(tmp_path / "l.glb"))] == ["l_lod1.glb", "l_lod2.glb"]
    assert set(bridge.WRITES) <= {s for form in mw.io.registry.FORMATS for s in form.writes}


def everything_inside_of_blender(corpus: Path, tmp_path: Path) -> None:
    python = os.environ["MARROW_BPY"]
    character, motion = corpus / "Xbot.glb", corpus.parent / "motion" / "cmu_jog.bvh"
    session = Path(__file__).with_name("blender_session.py")
    done = subprocess.run(
        [python, str(session), str(ADDON), MARROW, str(character), str(motion), str(tmp_path)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    said = json.loads((tmp_path / "said.json").read_text())
    xbot = mw.load(character)
    assert said["actions"] == sorted(xbot.clips)

    def same(rows: list[dict[str, list[float]]], clip: mw.Clip, frames: list[int], atol: float) -> None:
        for frame, row in zip(frames, rows):
            model = xbot.skeleton.to_model(clip.sample(frame / 24))[:, :, 3]
            for name, (x, y, z) in row.items():  # Z is up in Blender
                assert_allclose([x, z, -y], model[xbot.skeleton.index(name)], atol=atol, err_msg=name)

    same(said["opened"], xbot.clips["walk"], [0, 5, 10], 2e-5)
    jog = mw.retarget(mw.load(motion).in_metres().clips[0], xbot)
    same(said["motion"], jog, [0, 12, 24], 1e-4)
    assert said["check"] and "must end in" in said["refused"]
    sent = mw.load(tmp_path / "sent.fbx")
    assert said["retargeted"] in sent.clips and set(xbot.clips) <= set(sent.clips)
    assert len(sent.meshes) == len(xbot.meshes)
    whole = sum(len(m.triangles) for m in xbot.meshes)
    assert 0.2 * whole < said["triangles"][0] < 0.5 * whole
    assert np.isfinite(sent.meshes[0].positions).all()


# `bpy` is no part of what the tests install: there is a test where somebody has it.
if os.environ.get("MARROW_BPY"):
    test_everything_inside_of_blender = everything_inside_of_blender
