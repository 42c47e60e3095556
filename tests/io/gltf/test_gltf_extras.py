"""Extras and copyright come through marrow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from maker import load, skinned_bar

import marrow as mw
from marrow.errors import ValidationError
from marrow.io import gltf
from marrow.io.source import LoadOptions, Source

NOTE: dict[str, Any] = {"author": "Ada", "tags": ["a", 1, None, {"deep": [True, 2.5]}]}


def noted() -> mw.Character:
    maker = skinned_bar()
    document = maker.document
    document["asset"] = {"version": "2.0", "copyright": "2024 Ada", "extras": {"studio": "x"}}
    document["materials"] = [{"name": "skin", "extras": NOTE}]
    for kind in ("nodes", "meshes", "animations"):
        document[kind][0]["extras"] = NOTE | {"kind": kind}
        document[kind][0].setdefault("name", f"the {kind}")
    return maker.load()


def test_extras_and_copyright_are_kept_and_written_again(tmp_path: Path) -> None:
    character = noted()
    assert character.extras["asset"] == {"copyright": "2024 Ada", "extras": {"studio": "x"}}
    assert set(character.extras) == {"asset", "joints", "meshes", "materials", "clips"}
    assert character.extras["materials"] == {"skin": NOTE}
    for suffix in (".glb", ".gltf"):
        gltf.write(character, tmp_path / f"a{suffix}")
        assert gltf.read(Source.open(tmp_path / f"a{suffix}"), LoadOptions()).extras == character.extras
    text = json.loads((tmp_path / "a.gltf").read_text())
    assert text["asset"]["copyright"] == "2024 Ada"
    mw.save(character, tmp_path / "a.marrow")
    assert mw.load(tmp_path / "a.marrow").extras == character.extras


@pytest.mark.parametrize("depth", [100, 100_000])
def test_extras_too_deep_cost_themselves_only(depth: int) -> None:
    document = json.loads(skinned_bar().gltf())
    document["nodes"][0]["extras"] = "HERE"
    text = json.dumps(document).replace('"HERE"', "[" * depth + "]" * depth)
    if depth > 1000:
        with pytest.raises(mw.MarrowError, match="nested"):
            load(text.encode(), name="folder/hero.gltf")
        return
    character = load(text.encode(), name="folder/hero.gltf")
    assert "joints" not in character.extras
    assert "nested" in str(character.report)


def test_extras_are_plain_data() -> None:
    skeleton = mw.Skeleton(("a",), [-1])
    mine = {"x": [1, 2]}
    character = mw.Character(skeleton, extras=mine)
    mine["x"].append(3)
    assert character.extras == {"x": [1, 2]}
    for wrong in ({"x": object()}, {1: 2}, {"x": {"y": {1}}}):
        with pytest.raises(ValidationError, match="extras"):
            mw.Character(skeleton, extras=wrong)


def test_the_root_that_a_skin_names_is_kept_and_written_again(tmp_path: Path) -> None:
    maker = skinned_bar()
    root = maker.document["skins"][0]["joints"][0]
    maker.document["skins"][0]["skeleton"] = root
    name = maker.document["nodes"][root].setdefault("name", "root")
    character = maker.load()
    assert [skin["skeleton"] for skin in character.extras["skins"].values()] == [name]
    gltf.write(character, tmp_path / "a.gltf")
    text = json.loads((tmp_path / "a.gltf").read_text())
    (skin,) = text["skins"]
    assert text["nodes"][skin["skeleton"]]["name"] == name
    # One that is not above all joints is no root: glTF refuses it.
    kept = next(iter(character.extras["skins"]))
    below = character.skeleton.names[-1]
    gltf.write(character.replace(extras={"skins": {kept: {"skeleton": below}}}), tmp_path / "b.gltf")
    assert "skeleton" not in json.loads((tmp_path / "b.gltf").read_text())["skins"][0]
