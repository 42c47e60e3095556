"""`marrow gpu` and `marrow bench gpu`."""

import json

import numpy as np

import marrow as mw
from marrow import gpu
from marrow.cli.app import run


def test_adapters_are_listed_the_chosen_one_marked(device, capsys):
    assert run(["gpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("0  ") and sum("<- chosen" in line for line in lines) == 1
    assert run(["gpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [a["name"] for a in found] == [a.name for a in gpu.adapters()]
    assert sum(a["chosen"] for a in found) == 1


def test_nothing_found_is_said_with_what_to_install(device, capsys, monkeypatch):
    monkeypatch.setattr("marrow.gpu.device.find_adapters", list)
    assert run(["gpu"]) == 1
    assert "mesa-vulkan-drivers" in capsys.readouterr().err


def test_what_is_measured_is_the_whole_crowd(device):
    from marrow.bench import gpu as bench

    who = bench.plain(mw.samples.lizard())
    assert not any(m.morph_targets for m in who.meshes)
    if device.has_timestamps:
        clock = gpu.Clock(device)
        skinner = gpu.Skinner(who, device, skinning="dual_quaternion")
        matrices = np.tile(np.eye(3, 4, dtype=np.float32), (2, len(who.palette), 1, 1))
        skinner.update(matrices, timer=clock)
        assert set(clock.seconds()) == {"skinning", "dual quaternions"}
        skinner.update(matrices, timer=clock)  # nothing changed, nothing to time
        assert clock.seconds() == {}
    call = bench.turning(np.arange(3), float)
    assert [call() for _ in range(4)] == [1, 2, 0, 1]
