"""Real files against the positions other engines agree on. The files are fetched (`make corpus`), the numbers are here."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import fetch
import golden_numbers
import numpy as np
import pytest

import marrow as mw
from surroundings import NO_CORPUS, corpus_folder, missing

ASSETS, ARRAYS = 34, 173


@cache
def assets() -> dict[str, dict[str, Any]]:
    return golden_numbers.load()


@cache
def character(name: str) -> mw.Character:
    path = corpus_folder() / assets()[name]["file"]
    if not path.is_file():
        missing(NO_CORPUS)
    return mw.load(path, cache=False)


def wrong(name: str, found: np.ndarray, array: dict[str, Any]) -> list[str]:
    return golden_numbers.compare(found, array, ordered=assets()[name]["ordered"])


def test_every_file_has_numbers_and_is_the_one_they_are_of(corpus: Path, motion: Path) -> None:
    assert len(assets()) == ASSETS
    assert sum(len(asset["arrays"]) for asset in assets().values()) == ARRAYS
    files = fetch.read_manifest()
    assert {f["name"] for f in files if "/" not in f["name"]} == {a["file"] for a in assets().values()}
    for file in files:
        assert file["licence"] and file["url"].startswith(fetch.PUBLIC)
        data = fetch.place_of(corpus, file["name"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"], file["name"]


@pytest.mark.parametrize("name", sorted(assets()))
def test_asset_deforms_as_other_engines_show_it(name: str) -> None:
    asset, who = assets()[name], character(name)
    found = []
    for array in asset["arrays"]:
        points = golden_numbers.positions(who, golden_numbers.pose_of(who, array), asset)
        found += [f"{array['clip_name']} at {array['t']:.4f} s: {w}" for w in wrong(name, points, array)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["Fox", "RiggedFigure", "Soldier", "blender_279_sausage_7400_binary"])
def test_an_error_of_a_millimetre_anywhere_on_a_man_is_seen(name: str) -> None:
    """What is kept is enough: whichever joint is off by 6e-4 of the diagonal, and a clip that is late by a frame."""
    asset, who = assets()[name], character(name)
    array = asset["arrays"][-2]
    pose = golden_numbers.pose_of(who, array)
    size = float(np.linalg.norm(np.diff(array["numbers"]["bounds"].astype(float), axis=0)))
    assert not wrong(name, mw.skin(who, pose).positions, array)
    model = who.skeleton.to_model(pose)
    held = {joint for mesh in who.meshes for joint in np.unique(mesh.joints[mesh.weights > 0.3]).tolist()}
    assert held
    for joint in held:
        moved = model.copy()
        moved[joint, :, 3] += 6e-4 * size / np.sqrt(3)
        assert wrong(name, mw.skin(who, moved).positions, array), who.skeleton.names[joint]
    late = golden_numbers.pose_of(who, {**array, "t": array["t"] + 1 / 120})
    assert wrong(name, mw.skin(who, late).positions, array)


class TestPacking:
    """Numbers packed from made-up positions, found right and wrong."""

    @pytest.fixture
    def cloud(self) -> np.ndarray:
        return np.random.default_rng(3).normal(size=(5000, 3)) * (0.3, 0.9, 0.2)

    def array(self, points: np.ndarray, *, ordered: bool = True, first: Any = ()) -> dict[str, Any]:
        kept = golden_numbers.pack([points], ordered=ordered, first=np.asarray(first))
        numbers = {key: value if key == "chosen" else value[0] for key, value in kept.items()}
        return {"P": len(points), "tol": 1e-4, "numbers": numbers}

    def test_the_same_positions_are_right_though_little_is_kept(self, cloud: np.ndarray) -> None:
        array = self.array(cloud)
        assert sum(n.nbytes for n in array["numbers"].values()) < 0.05 * cloud.nbytes
        assert golden_numbers.compare(cloud, array, ordered=True) == []
        assert golden_numbers.compare(cloud.astype(np.float32), array, ordered=True) == []

    def test_each_vertex_counts(self, cloud: np.ndarray) -> None:
        array, size = self.array(cloud), np.linalg.norm(np.ptp(cloud, axis=0))
        for vertex in range(0, len(cloud), 37):
            off = cloud.copy()
            off[vertex, vertex % 3] += 1e-3 * size
            assert golden_numbers.compare(off, array, ordered=True), vertex

    def test_chosen_vertices_count_more(self, cloud: np.ndarray) -> None:
        array = self.array(cloud, first=[17, 4000])
        for vertex in (17, 4000):
            off = cloud.copy()
            off[vertex] += 1.2e-4 * np.linalg.norm(np.ptp(cloud, axis=0)) / np.sqrt(3)
            assert golden_numbers.compare(off, array, ordered=True)

    def test_swapped_lost_and_broken_vertices_are_found(self, cloud: np.ndarray) -> None:
        array = self.array(cloud)
        for changed in (
            cloud[::-1],
            cloud[:-1],
            cloud * 1.0005,
            cloud + 3e-4,
            np.where(cloud > 1, np.nan, cloud),
        ):
            assert golden_numbers.compare(changed, array, ordered=True)

    def test_a_cloud_may_be_split_and_ordered_in_any_way_and_must_be_there(self, cloud: np.ndarray) -> None:
        whole, part = cloud[:500], cloud
        for points in (whole, part):
            array = self.array(points, ordered=False, first=points[None, :3])
            split = np.concatenate([points[::-1], points[::2]])
            assert golden_numbers.compare(split, array, ordered=False) == []
            outside = np.append(split, [[0, 0, 10.0]], 0)
            assert golden_numbers.compare(outside, array, ordered=False)
            assert golden_numbers.compare(points * 1.001, array, ordered=False)
        stray = np.append(whole, [[0.013, 0.017, 0.019]], 0)
        array = self.array(whole, ordered=False, first=whole[None, :0])
        assert "no engine has" in golden_numbers.compare(stray, array, ordered=False)[0]
