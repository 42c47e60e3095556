"""A crowd posed and skinned on the GPU from end to end, against the CPU."""

import sys
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow import gpu
from marrow.errors import ValidationError

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lod"))
import level_worlds


def crowds(who, graph, count=12):
    made = []
    for _ in range(2):
        animator = mw.Animator(who, graph, count=count)
        animator["speed"] = np.linspace(0, 3.6, count)
        made.append(animator)
    return made


def test_crowd_to_vertices_without_leaving_the_gpu(device):
    who = mw.samples.mannequin()
    mine, cpu = crowds(who, mw.samples.mannequin_graph(), 6)
    crowd = gpu.Crowd(mine, device=device)
    skinner = gpu.Skinner(who, device, influences=4)
    for _ in range(3):
        crowd.update(1 / 30)
        cpu.update(1 / 30)
        skinner.update(crowd)
    want = cpu.skin(influences=4)
    got = skinner.surface()
    np.testing.assert_allclose(got.positions, want.positions, atol=3e-5)
    np.testing.assert_allclose(got.normals, want.normals, atol=3e-3)
    some = np.arange(6) == 2
    skinner.update(crowd, changed=some)
    np.testing.assert_array_equal(skinner.surface().positions, got.positions)
    other = gpu.Skinner(who, gpu.Device.best(limits={"max-bind-groups": 4}))
    with pytest.raises(ValidationError, match="another device"):
        other.update(crowd)


def test_levels_of_a_crowd_have_palettes_of_their_own(device):
    who = level_worlds.mannequin()
    mine, cpu = crowds(who, mw.samples.mannequin_graph(), 9)
    crowd = gpu.Crowd(mine, device=device)
    skinner, whole = gpu.Skinner(who, device), gpu.Skinner(who, device)
    rng = np.random.default_rng(3)
    for step in range(3):
        levels = rng.integers(-1, len(who.levels), 9)
        mine.levels = cpu.levels = levels
        crowd.update(0.05)
        cpu.update(0.05)
        skinner.update(crowd)
        whole.update(cpu)  # the same through whole palettes
        for group in cpu.evaluation.level_groups():
            want = mw.skin(
                group.character, group.matrices, morphs=group.morphs if group.morphs.size else None
            )
            for one in (skinner, whole):
                np.testing.assert_array_equal(one.levels[group.level].instances, group.instances)
                got = one.surface(group.level)
                np.testing.assert_allclose(got.positions, want.positions, atol=3e-5, err_msg=f"step {step}")
