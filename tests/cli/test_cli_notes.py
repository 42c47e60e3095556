"""What the writers warn of is one line on stderr, like everything else the command has to say."""

import subprocess
import sys

import numpy as np

import marrow as mw


def test_a_writers_warning_is_a_note(tmp_path):
    bones = mw.Skeleton(("root",), [-1])
    body = mw.Mesh.rigid("box", np.eye(3), [[0, 1, 2]], 0, colors=np.full((3, 4), 2.0))
    mw.save(mw.Character(bones, (body,)), tmp_path / "bright.marrow")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "marrow",
            "convert",
            str(tmp_path / "bright.marrow"),
            str(tmp_path / "bright.glb"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("note: ") and "clamped" in line
