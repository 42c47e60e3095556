"""Springs against what `@pixiv/three-vrm-springbone` made of the same worlds, recorded by `tools/check_springs.py`."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve()
RECORDED = json.loads(HERE.with_name("vrm_springs.json").read_text())
TOOL = runpy.run_path(str(HERE.parents[2] / "tools" / "check_springs.py"))


@pytest.mark.parametrize("world", RECORDED, ids=[f"{len(w['parents'])} joints" for w in RECORDED])
def test_chains_are_where_the_reference_has_them(world):
    every, theirs = world["every"], np.array(world["seen"])
    ours = TOOL["played"](world, np.arange(1, len(world["places"])) / 60)[every - 1 :: every]
    above, below = TOOL["bones"](world).T
    lengths = np.linalg.norm(theirs[:, below] - theirs[:, above], axis=-1)
    apart = np.linalg.norm((ours - theirs)[:, below] - (ours - theirs)[:, above], axis=-1)
    assert (apart / lengths).max() < 1e-4
    rigid = TOOL["played"](world | {"springBone": {}}, np.arange(1, 61) / 60)[every - 1 :: every]
    assert np.linalg.norm(ours - rigid, axis=-1).max() > 0.05
