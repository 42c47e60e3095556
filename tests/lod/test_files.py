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
WISHES = {"joints": (5, ("wrist",)), "influences": (2, 1), "keep": {1: ["wrist"]}, "poses": False}
LEVELS = mw.lod.with_screen_sizes(
    mw.lod.build(arm(), (0.4, 60), **WISHES), (0.4, 0.1), hysteresis=(0.05, 0.2)
)


def test_marrow_files_hold_levels_exactly(tmp_path):
    mw.save(LEVELS, tmp_path / "arm.marrow")
    back = mw.load(tmp_path / "arm.marrow")
    assert back == LEVELS and back.levels == LEVELS.levels
    assert [level.lod.screen_size for level in back.levels] == [None, 0.4, 0.1]
    level = LEVELS.levels[2]
    mw.save(level, tmp_path / "far.marrow")
    assert mw.load(tmp_path / "far.marrow") == level


@pytest.mark.parametrize("suffix", [".marrow", ".glb"])
def test_files_say_how_levels_are_used_and_how_they_were_made(tmp_path, suffix):
    mw.save(LEVELS, tmp_path / f"arm{suffix}")
    back = mw.load(tmp_path / f"arm{suffix}", cache=False)
    assert [level.lod.hysteresis for level in back.levels] == [None, 0.05, 0.2]
    first, second = (level.lod.reduction for level in back.reduced)
    assert first == mw.lod.Reduction(0.4, joints=5, influences=2, keep=("wrist",), poses=False)
    assert second == mw.lod.Reduction(60, joints=("wrist",), influences=1, poses=False)
    assert type(second.triangles) is int
    # Asked for again, the same comes out.
    again = mw.lod.build(arm(), **mw.lod.settings(back), measure=False)
    for mine, theirs in zip(again.reduced, LEVELS.reduced):
        assert mine.meshes == theirs.meshes and mine.lod.reduction == theirs.lod.reduction
    with pytest.raises(mw.MarrowError, match="no levels"):
        mw.lod.settings(arm())
    unknown = back.replace(reduced=tuple(l.replace(lod=l.lod.replace(reduction=None)) for l in back.reduced))
    with pytest.raises(mw.MarrowError, match="not known"):
        mw.lod.settings(unknown)


def test_materials_of_levels_are_kept_by_name(tmp_path):
    body = arm()
    named = body.replace(materials=(mw.Material("skin"), mw.Material("nail"), mw.Material("nail")))
    section = mw.Section(0, len(body.meshes[0].triangles), 0)
    named = named.replace(meshes=(body.meshes[0].replace(sections=(section,)), *body.meshes[1:]))
    built = mw.lod.build(named, (0.5, 0.4), materials={2: {"skin": 2, 1: None}}, measure=False)
    assert [level.lod.reduction.materials for level in built.reduced] == [(), (("skin", 2), (1, None))]
    assert mw.lod.settings(built)["materials"] == {2: {"skin": 2, 1: None}}
    mw.save(built, tmp_path / "arm.marrow")
    assert mw.load(tmp_path / "arm.marrow") == built


def test_errors_that_were_asked_for_follow_into_other_units():
    built = mw.lod.build(arm(rings=8), error=(0.02,), poses=False)
    assert mw.io.scaling.scaled(built, 100.0).reduced[0].lod.reduction.error == pytest.approx(2.0)


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
