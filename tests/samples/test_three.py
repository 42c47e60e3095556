"""The exported samples look the same in three.js."""

import subprocess

import numpy as np
import pytest

import marrow as mw


@pytest.mark.parametrize(
    ("name", "clip", "time"),
    [("mannequin", "run", 0.31), ("lizard", "walk", 0.4)],
)
def test_three_js_shows_what_marrow_shows(name, clip, time, node_tools, tmp_path):
    # three.js skins with four influences.
    who = mw.samples.mannequin(influences=4) if name == "mannequin" else mw.samples.load(name)
    meshes = tuple(mw.limit_influences(m, 4).mesh for m in who.meshes)
    who = who.replace(meshes=meshes, clips=(who.clips[clip],), reduced=())
    mw.save(who, tmp_path / "out.glb")
    done = subprocess.run(
        ["node", str(node_tools / "three-positions.mjs"), str(tmp_path / "out.glb"), clip, str(time)],
        capture_output=True,
        check=True,
    )
    theirs = np.frombuffer(done.stdout, np.float32).reshape(-1, 3)
    ours = mw.skin(who, who.clips[clip].sample(time)).positions
    assert len(theirs) == len(ours)
    np.testing.assert_allclose(theirs, ours, atol=2e-5)
