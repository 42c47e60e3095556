"""Levels of detail in files."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from lod_worlds import arm

import marrow as mw
from surroundings import needed

needed("meshoptimizer")
LEVELS = mw.lod.with_screen_sizes(
    mw.lod.build(arm(), (0.4, 0.1), joints=(5, 3), influences=(2, 1)), (0.4, 0.1)
)


def test_marrow_files_hold_levels_exactly(tmp_path):
    mw.save(LEVELS, tmp_path / "arm.marrow")
    back = mw.load(tmp_path / "arm.marrow")
    assert back == LEVELS and back.levels == LEVELS.levels
    assert [level.lod.screen_size for level in back.levels] == [None, 0.4, 0.1]
    level = LEVELS.levels[2]
    mw.save(level, tmp_path / "far.marrow")
    assert mw.load(tmp_path / "far.marrow") == level


@pytest.mark.parametrize(
    "change", [lambda c: c.converted("unreal"), lambda c: mw.io.scaling.scaled(c, 100.0)]
)
def test_levels_follow_into_other_axes_and_units(change):
    turned = change(LEVELS)
    assert len(turned.levels) == 3
    for old, new in zip(LEVELS.reduced, turned.reduced):
        assert new.lod.error == pytest.approx(100 * old.lod.error) and new.lod.joints == old.lod.joints
    time = 0.4
    for old, new in zip(LEVELS.levels, turned.levels):
        a, b = (mw.skin(c, c.clips["bend"].sample(time)).positions for c in (old, new))
        size = [np.linalg.norm(p - p[0], axis=1) for p in (a, b)]
        np.testing.assert_allclose(100 * size[0], size[1], rtol=1e-4, atol=1e-3)


def test_fewer_influences_on_loading_are_fewer_at_every_level(tmp_path):
    mw.save(mw.lod.build(arm(), (0.4,)), tmp_path / "arm.glb")
    assert [level.lod.influences for level in mw.load(tmp_path / "arm.glb", influences=2).levels] == [2, 2]


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_gltf_has_levels_as_msft_lod(tmp_path, suffix):
    mw.save(LEVELS, tmp_path / f"arm{suffix}")
    back = mw.load(tmp_path / f"arm{suffix}", cache=False)
    assert len(back.levels) == 3 and back.skeleton == LEVELS.skeleton
    for mine, theirs in zip(back.levels, LEVELS.levels):
        assert mine.lod == theirs.lod
        assert mine.skeleton.names == theirs.skeleton.names
        for a, b in zip(mine.meshes, theirs.meshes):
            assert a == b
        pose = theirs.clips["bend"].sample(0.3)
        assert np.array_equal(mw.skin(mine, pose).positions, mw.skin(theirs, pose).positions)


def test_levels_one_a_file(tmp_path):
    mw.save(LEVELS, tmp_path / "arm.glb", levels="split")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.glb", "arm_lod1.glb", "arm_lod2.glb"]
    for k, name in enumerate(("arm", "arm_lod1", "arm_lod2")):
        back = mw.load(tmp_path / f"{name}.glb", cache=False)
        assert len(back.levels) == 1 and back.triangle_count == LEVELS.levels[k].triangle_count
        assert back.skeleton.names == LEVELS.levels[k].skeleton.names and list(back.clips) == ["bend", "wave"]


def test_levels_can_be_left_out(tmp_path):
    mw.save(LEVELS, tmp_path / "arm.glb", levels="none")
    assert len(mw.load(tmp_path / "arm.glb", cache=False).levels) == 1


def test_a_lone_level_is_a_plain_file(tmp_path):
    level = LEVELS.levels[1]
    mw.save(level, tmp_path / "one.glb")
    assert mw.load(tmp_path / "one.glb", cache=False).meshes == level.meshes
    assert dataclasses.replace(level).lod == level.lod


def test_msft_lod_of_other_programs(tmp_path):
    """Levels as Microsoft's own example has them: plain nodes, screen coverage, no notes of marrow's."""
    mw.save(LEVELS, tmp_path / "arm.gltf")
    document = json.loads((tmp_path / "arm.gltf").read_text())
    assert document["extensionsUsed"] == ["MSFT_lod"]
    (named,) = [n for n in document["nodes"] if "MSFT_lod" in n.get("extensions", {})]
    ids = named["extensions"]["MSFT_lod"]["ids"]
    assert len(ids) == 2 and named["extras"]["MSFT_screencoverage"] == [0.4, 0.1, 0.0]
    assert not set(ids) & set(document["scenes"][0]["nodes"])
    for node in document["nodes"]:
        node.get("extras", {}).pop("marrow", None)
    document["scenes"][0].pop("extras", None)
    (tmp_path / "plain.gltf").write_text(json.dumps(document))
    back = mw.load(tmp_path / "plain.gltf", cache=False)
    assert [level.lod.triangles for level in back.levels] == [level.lod.triangles for level in LEVELS.levels]
    assert [level.lod.screen_size for level in back.levels] == [None, 0.4, 0.1]
    assert back.levels[1].lod.error is None and back.levels[2].lod.joints == len(back.skeleton)
    assert mw.lod.measured(back).levels[2].lod.error == pytest.approx(LEVELS.levels[2].lod.error, rel=0.05)


@pytest.mark.parametrize("ids", [[99], [-1], "no", [0, 0], None])
def test_damaged_msft_lod_is_said(tmp_path, ids):
    mw.save(LEVELS, tmp_path / "arm.gltf")
    document = json.loads((tmp_path / "arm.gltf").read_text())
    (named,) = [n for n in document["nodes"] if "MSFT_lod" in n.get("extensions", {})]
    named["extensions"]["MSFT_lod"] = {"ids": ids}
    (tmp_path / "arm.gltf").write_text(json.dumps(document))
    if ids == [0, 0]:
        back = mw.load(tmp_path / "arm.gltf", cache=False)
        assert len(back.levels) == 1 and "levels of detail" in str(back.report)
    else:
        with pytest.raises(mw.errors.FormatError, match="node"):
            mw.load(tmp_path / "arm.gltf", cache=False)
