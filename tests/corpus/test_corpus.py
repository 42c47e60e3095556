"""Every asset of the shared corpus against the positions other engines agree on.

The manifest (`goldens.json`) names the clips, the times and the tolerance of each array, relative to the
diagonal of the golden points. Vertices are compared in file order for glTF and as unordered clouds for FBX;
joints by name.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

import marrow as mw
from surroundings import missing

DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
CORPUS = Path(os.environ.get("MARROW_CORPUS", DEFAULT))
ASSETS = 34
ARRAYS = 173


@cache
def manifest() -> dict[str, dict[str, Any]]:
    path = CORPUS / "goldens.json"
    if not path.is_file():
        return {}
    return {asset["asset"]: asset for asset in json.loads(path.read_text())["assets"]}


def relative_error(points: np.ndarray, golden: np.ndarray, ordered: bool) -> float:
    """The largest distance as a share of the golden diagonal; of two clouds, the Hausdorff distance."""
    p, g = np.asarray(points, np.float64).reshape(-1, 3), np.asarray(golden, np.float64).reshape(-1, 3)
    assert np.isfinite(p).all()
    diagonal = float(np.linalg.norm(g.max(0) - g.min(0))) or 1.0
    if ordered:
        assert p.shape == g.shape
        return float(np.linalg.norm(p - g, axis=1).max() / diagonal)
    there, back = cKDTree(g).query(p)[0].max(), cKDTree(p).query(g)[0].max()
    return float(max(there, back) / diagonal)


def pose_of(character: mw.Character, array: dict[str, Any]) -> mw.Pose:
    """The pose an array was taken in. A stack without curves is no clip: the character stands as its file
    rests.
    """
    if array["clip"] is None:
        return character.skeleton.rest
    name = array["clip_name"]
    for candidate in (name, f"clip_{array['clip']}"):
        if candidate in character.clips:
            return character.clips[candidate].sample(array["t"])
    if len(character.clips) == 1:
        return character.clips[0].sample(array["t"])
    assert array["sample"] == "static", f"no clip {name!r} among {list(character.clips)}"
    return character.skeleton.rest


def points_of(character: mw.Character, pose: mw.Pose, asset: dict[str, Any]) -> np.ndarray:
    if asset["kind"] == "joints":
        matrices = character.skeleton.to_model(pose)
        return matrices[[character.skeleton.index(name) for name in asset["names"]], :, 3]
    return mw.skin(character, pose).positions


def test_the_corpus_is_whole(corpus: Path) -> None:
    assert len(manifest()) == ASSETS
    assert sum(len(asset["arrays"]) for asset in manifest().values()) == ARRAYS


@pytest.mark.parametrize("name", sorted(manifest()) or ["missing"])
def test_asset_deforms_as_other_engines_show_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name not in manifest():
        missing(f"no corpus at {CORPUS}: set MARROW_CORPUS to a folder with goldens.json")
    monkeypatch.setenv("MARROW_CACHE", "off")
    asset = manifest()[name]
    character = mw.load(CORPUS / asset["file"])
    goldens = np.load(CORPUS / "goldens" / f"{name}.npz")
    wrong = []
    for key, array in asset["arrays"].items():
        points = points_of(character, pose_of(character, array), asset)
        error = relative_error(points, goldens[key], asset["ordered"])
        if not error <= array["tol"]:
            wrong.append(f"{key} at {array['t']:.4f} s: {error:.2g} > {array['tol']:.2g}")
    assert not wrong, "\n".join(wrong)
