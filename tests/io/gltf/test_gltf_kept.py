"""What marrow does not use travels through it: extensions with their data, attributes, morphs of colours, scenes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from extension_files import FILES, PACKED, document_of, fate, found_in, on_the_page, table
from maker import Maker, load, one_triangle, triangle

import marrow as mw
from marrow.errors import UnknownNameError


def test_the_table_of_the_page_is_what_becomes_of_the_files(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    assert on_the_page() == table(), "run python tests/io/gltf/extension_files.py"
    files = []
    for name in FILES:
        files.append(tmp_path / f"{name}.glb")
        files[-1].write_bytes(fate(name)[2])
    wrong = errors_of(*files)
    # Pictures here are no pictures, and the validator is older than attributes of extensions.
    assert [e for e in wrong if "IMAGE" not in e and "splatting:ROTATION" not in e] == []
    assert not FILES.keys() & PACKED.keys()


@pytest.mark.parametrize("name", [n for n in FILES if fate(n)[0] == "kept"])
def test_what_is_kept_says_the_same_after_two_trips(name: str, tmp_path: Path) -> None:
    again = load(fate(name)[2])
    mw.save(again, tmp_path / "twice.glb")
    twice = (tmp_path / "twice.glb").read_bytes()
    assert load(twice) == again
    assert found_in(document_of(twice), name, []) == found_in(document_of(fate(name)[2]), name, [])


def test_bytes_of_an_extension_are_found_under_their_new_number(tmp_path: Path) -> None:
    maker = one_triangle()
    first = maker.view(b"other stuff.")
    maker.document["extensions"] = {
        "ACME_sound": {"clips": [{"bufferView": maker.view(b"ding"), "name": "bell"}], "version": 2}
    }
    maker.document["extensionsUsed"] = ["ACME_sound"]
    character = maker.load()
    assert "kept for other programs" in str(character.report)
    for options in ({}, {"compress": "quantized"}, {"compress": "draco"}, {"compress": True}):
        mw.save(character, tmp_path / "again.glb", **options)
        data = (tmp_path / "again.glb").read_bytes()
        document = document_of(data)
        (said,) = found_in(document, "ACME_sound", [])
        view = document["bufferViews"][said["clips"][0]["bufferView"]]
        start = 28 + int.from_bytes(data[12:16], "little") + view["byteOffset"]
        assert data[start : start + view["byteLength"]] == b"ding"
        assert said["version"] == 2 and "ACME_sound" in document["extensionsUsed"]
        assert load(data).extras["extensions"] == character.extras["extensions"]
    assert first == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"mesh": 0}, "a mesh by its number"),
        ({"bufferView": 99}, "does not exist"),
        ({"node": 7}, "outside the scene"),
        ({"at": "/nodes/0/rotation"}, "points into the file"),
        ({"joint": 3}, "'joint' means is not known"),
        ({"a": {"@bytes": "x"}}, "keys that marrow uses itself"),
    ],
)
def test_what_cannot_be_said_anew_is_a_line_and_nothing_of_it_is_left(body: dict, why: str) -> None:
    maker = one_triangle()
    maker.document["nodes"][0]["extensions"] = {"ACME_a": {"fine": 1.5}, "ACME_b": {"b": 1}}
    maker.document["extensions"] = {"ACME_a": body}
    maker.document["extensionsUsed"] = ["ACME_a", "ACME_b"]
    character = maker.load()
    assert why in str(character.report) and "ACME_a: not kept" in str(character.report)
    assert character.extras["extensions"] == {"joints": {"root": {"ACME_b": {"b": 1}}}}


def test_references_follow_what_they_refer_to(tmp_path: Path) -> None:
    """Nodes, materials and accessors, through a character whose joints are in another order than the nodes."""
    maker = Maker(
        nodes=[{"name": "leaf", "mesh": 0}, {"name": "root", "children": [0]}], scenes=[{"nodes": [1]}]
    )
    maker.add("meshes", {"primitives": [triangle(maker)]})
    maker.document["materials"] = [{"name": "a"}, {"name": "b"}]
    numbers = maker.accessor([[1, 2], [3, 4]], np.uint16)
    body = {"node": 0, "connectedNodes": [1, 0], "material": 1, "accessor": numbers, "on": True}
    maker.document["extensions"] = {"ACME_a": body}
    maker.document["extensionsUsed"] = ["ACME_a"]
    character = maker.load()
    mw.save(character, tmp_path / "again.glb")
    document = document_of((tmp_path / "again.glb").read_bytes())
    said = document["extensions"]["ACME_a"]
    assert [document["nodes"][n]["name"] for n in (said["node"], *said["connectedNodes"])] == [
        "leaf",
        "root",
        "leaf",
    ]
    assert said["material"] == 1 and said["on"] is True
    accessor = document["accessors"][said["accessor"]]
    assert (accessor["type"], accessor["count"], accessor["componentType"]) == ("VEC2", 2, 5123)
    # Fewer joints: what it refers to is gone, and that is said.
    alone = mw.Character(mw.Skeleton(("root",), [-1]), extras=character.extras)
    with pytest.warns(UserWarning, match="ACME_a.*left out"):
        mw.save(alone, tmp_path / "alone.glb")
    assert "extensions" not in document_of((tmp_path / "alone.glb").read_bytes())


def test_further_attributes_and_their_morphs_come_back_as_they_were(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    maker = one_triangle(NORMAL=[[0, 0, 1]] * 3, COLOR_0=[[1, 0, 0, 1]] * 3, TEXCOORD_0=[[0, 0]] * 3)
    primitive = maker.document["meshes"][0]["primitives"][0]
    primitive["attributes"] |= {
        "_HEAT": maker.accessor([[1.5], [2.5], [3.5]]),
        "_ID": maker.accessor([[1, 2, 3, 4]] * 3, np.uint8),
        "COLOR_1": maker.accessor([[65535, 0, 0, 65535]] * 3, np.uint16, normalized=True),
        "TEXCOORD_2": maker.accessor([[0.25, 0.5]] * 3),  # there is no TEXCOORD_1
    }
    primitive["targets"] = [
        {
            "POSITION": maker.accessor([[0, 0, 1]] * 3),
            "COLOR_0": maker.accessor([[-1, 1, 0, 0]] * 3),
            "TEXCOORD_0": maker.accessor([[0.5, 0.25]] * 3),
        }
    ]
    character = maker.load()
    mesh = character.meshes[0]
    assert mesh.attributes["_HEAT"].tolist() == [1.5, 2.5, 3.5]
    assert mesh.attributes["_ID"].dtype == np.uint8 and mesh.attributes["_ID"].shape == (3, 4)
    assert mesh.attributes["COLOR_1"].tolist() == [[1, 0, 0, 1]] * 3
    assert mesh.attributes["_TEXCOORD_2"].tolist() == [[0.25, 0.5]] * 3
    assert mesh.morph_targets[0].attributes["COLOR_0"].tolist() == [[-1, 1, 0, 0]] * 3
    mw.save(character, tmp_path / "again.glb")
    assert mw.load(tmp_path / "again.glb", cache=False) == character
    assert errors_of(tmp_path / "again.glb") == []
    for other in (character.meshes[0].reordered(), mw.lod.build(character, [0.5]).levels[0].meshes[0]):
        assert other.attributes.keys() == mesh.attributes.keys()


def test_attributes_that_are_no_vectors_or_do_not_fit_are_a_line() -> None:
    maker = one_triangle(_TOO_MANY=[[1], [2], [3], [4]], BITANGENT=[[0, 0, 1]] * 3)
    character = maker.load()
    assert character.meshes[0].attributes == {}
    assert "_TOO_MANY" in str(character.report) and "BITANGENT" in str(character.report)


def test_one_of_several_scenes_is_read(tmp_path: Path) -> None:
    maker = Maker(
        nodes=[{"name": "a"}, {"name": "b"}, {"name": "c"}],
        scenes=[{"nodes": [0], "name": "first"}, {"nodes": [1, 2], "name": "second"}],
        scene=0,
    )
    assert maker.load().skeleton.names == ("a",)
    assert "'first', 'second'" in str(maker.load().report) and "2 nodes lie outside" in str(
        maker.load().report
    )
    assert maker.load(scene="second").skeleton.names == ("b", "c") == maker.load(scene=1).skeleton.names
    with pytest.raises(UnknownNameError, match="no scene called 'secnd'; did you mean 'second'"):
        maker.load(scene="secnd")
    (tmp_path / "two.glb").write_bytes(maker.glb())
    assert [len(mw.load(tmp_path / "two.glb", scene=s).skeleton) for s in (0, 1, 0)] == [1, 2, 1]


def test_extensions_of_the_extras_that_make_no_sense_do_no_harm(tmp_path: Path) -> None:
    for nonsense in (
        [1],
        {"root": 3},
        {"joints": {"root": {"A": {"@bytes": "%"}}}},
        {"root": {"B": {"@image": -1}}},
    ):
        character = one_triangle().load().replace(extras={"extensions": nonsense})
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mw.save(character, tmp_path / "again.glb")
        assert json.dumps(document_of((tmp_path / "again.glb").read_bytes()))
        assert mw.load(tmp_path / "again.glb", cache=False).meshes == character.meshes


def test_constraints_are_the_same_bytes_the_second_time(tmp_path: Path) -> None:
    bones = mw.Skeleton(("root", "hand"), [-1, 0])
    kept = mw.graph.CopyTransform("hand", "root", ("translation",), "xz", space="model", weight=0.5)
    mw.save(mw.Character(bones, constraints=[kept], name="rig"), tmp_path / "a.glb")
    mw.save(mw.load(tmp_path / "a.glb", cache=False), tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()
