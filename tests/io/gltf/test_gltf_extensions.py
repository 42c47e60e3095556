"""Extensions that are rewritten as plain glTF."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from maker import Maker, one_triangle
from numpy.testing import assert_allclose

import marrow as mw
from marrow.animation.visibility import visible_meshes
from marrow.errors import FormatError, ResourceLimitError, UnknownNameError


def require(maker: Maker, *names: str) -> None:
    maker.document["extensionsUsed"] = list(names)
    maker.document["extensionsRequired"] = list(names)


def instanced(**attributes: Any) -> Maker:
    maker = one_triangle()
    found = {name: maker.accessor(np.asarray(values, np.float32)) for name, values in attributes.items()}
    maker.document["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": found}}
    require(maker, "EXT_mesh_gpu_instancing")
    return maker


def test_instances_become_nodes_at_their_places() -> None:
    half = np.sqrt(0.5)
    maker = instanced(
        TRANSLATION=[[1, 0, 0], [0, 2, 0]],
        ROTATION=[[0, 0, 0, 1], [0, 0, half, half]],
        SCALE=[[1, 1, 1], [2, 2, 2]],
    )
    plain = mw.skin(one_triangle().load(), one_triangle().load().skeleton.rest).positions
    character = maker.load()
    assert len(character.meshes) == 2
    found = mw.skin(character, character.skeleton.rest).positions.reshape(2, -1, 3)
    assert_allclose(found[0], plain + np.array([1, 0, 0]), atol=1e-6)
    turned = np.stack([-plain[:, 1], plain[:, 0], plain[:, 2]], axis=1) * 2 + [0, 2, 0]
    assert_allclose(found[1], turned, atol=1e-6)
    assert "2 instances" in str(character.report)


def test_instances_that_do_not_fit_are_refused() -> None:
    with pytest.raises(FormatError, match="different lengths"):
        instanced(TRANSLATION=[[1, 0, 0]], SCALE=[[1, 1, 1], [2, 2, 2]]).load()
    with pytest.raises(FormatError, match="finite"):
        instanced(TRANSLATION=[[np.nan, 0, 0]]).load()


def test_a_million_instances_are_refused() -> None:
    maker = instanced(TRANSLATION=[[1, 0, 0]])
    maker.document["accessors"].append({"componentType": 5126, "count": 1_000_000, "type": "VEC3"})
    found = maker.document["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]
    found["TRANSLATION"] = len(maker.document["accessors"]) - 1
    with pytest.raises(ResourceLimitError, match="nodes"):
        maker.load()


def pointed(pointer: str) -> Maker:
    maker = one_triangle()
    times = maker.accessor(np.array([[0.0], [1.0]], np.float32))
    values = maker.accessor(np.array([[0, 0, 0], [0, 3, 0]], np.float32))
    target = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": pointer}}}
    maker.document["animations"] = [
        {"channels": [{"sampler": 0, "target": target}], "samplers": [{"input": times, "output": values}]}
    ]
    require(maker, "KHR_animation_pointer")
    return maker


def test_a_pointer_to_a_transform_is_a_plain_channel() -> None:
    clip = pointed("/nodes/0/translation").load().clips[0]
    assert_allclose(clip.sample(0.5).translation[0], [0, 1.5, 0])


@pytest.mark.parametrize(
    "pointer",
    ["/cameras/0/perspective/yfov", "/nodes/0/extensions/x", "", "nodes/0/scale", "/meshes/0/scale"],
)
def test_a_pointer_to_anything_else_is_a_line(pointer: str) -> None:
    character = pointed(pointer).load()
    assert not character.clips
    assert "not kept" in str(character.report)


def test_a_pointer_to_a_node_that_does_not_exist_does_no_harm() -> None:
    assert not pointed("/nodes/99/scale").load().clips


def test_hidden_nodes_hide_what_is_below_them(tmp_path: Any) -> None:
    maker = one_triangle()
    maker.document["nodes"] = [
        {"children": [1], "extensions": {"KHR_node_visibility": {"visible": False}}},
        {"mesh": 0},
        {"mesh": 0, "extensions": {"KHR_node_visibility": {"visible": True}}},
    ]
    maker.document["scenes"] = [{"nodes": [0, 2]}]
    require(maker, "KHR_node_visibility")
    character = maker.load()
    assert [m.visible for m in character.meshes] == [False, True]
    mw.save(character, tmp_path / "out.glb")
    again = mw.load(tmp_path / "out.glb")
    assert [m.visible for m in again.meshes] == [False, True]
    assert b"KHR_node_visibility" in (tmp_path / "out.glb").read_bytes()


def sampled(pointer: str, times: list[float], values: Any, dtype: Any = np.float32, **sampler: str) -> Maker:
    maker = pointed(pointer)
    accessors = {"input": maker.accessor(np.array(times)[:, None]), "output": maker.accessor(values, dtype)}
    maker.document["animations"][0]["samplers"] = [accessors | sampler]
    return maker


def test_weights_of_a_mesh_are_those_of_every_node_that_shows_it() -> None:
    maker = sampled("/meshes/0/weights", [0, 1], [[0], [1]])
    maker.document["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": maker.accessor(np.ones((3, 3)))}]
    maker.document["nodes"].append({"name": "twin", "mesh": 0})
    maker.document["scenes"][0]["nodes"].append(1)
    clip = maker.load().clips[0]
    assert_allclose(clip.sample(0.25).morphs, [0.25, 0.25])


VISIBLE = "/nodes/0/extensions/KHR_node_visibility/visible"


def test_visibility_is_a_curve_and_hides_what_is_below(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    maker = sampled(VISIBLE, [0, 1, 2], [[1], [0], [1]], np.uint8, interpolation="STEP")
    maker.document["nodes"][0] |= {"children": [1], "extensions": {"KHR_node_visibility": {"visible": True}}}
    maker.document["nodes"].append({"name": "child", "mesh": 0})
    maker.document["nodes"].append({"name": "other", "mesh": 0})
    maker.document["scenes"][0]["nodes"].append(2)
    require(maker, "KHR_animation_pointer", "KHR_node_visibility")
    character = maker.load()
    (curve,) = character.clips[0].curves
    assert curve.name == "visibility:root"
    shown = visible_meshes(character, character.clips[0], [0, 0.999, 1, 1.5, 2, 5])
    assert shown[:, :2].tolist() == [[True] * 2, [True] * 2, [False] * 2, [False] * 2, [True] * 2, [True] * 2]
    assert shown[:, 2].all()
    mw.save(character, tmp_path / "x.glb")
    again = mw.load(tmp_path / "x.glb", cache=False)
    assert again.clips == character.clips
    (_, times), (_, values) = channels_of(tmp_path / "x.glb", VISIBLE)
    assert times.ravel().tolist() == [0, 1, 2] and values.ravel().tolist() == [1, 0, 1]
    assert not errors_of(tmp_path / "x.glb")


def test_numbers_of_materials_are_curves_and_channels_again(
    tmp_path: Path, errors_of: Callable[..., list[str]]
) -> None:
    pointer = "/materials/0/pbrMetallicRoughness/baseColorFactor"
    maker = sampled(pointer, [0, 1], [[1, 0, 0, 1], [0, 1, 0, 1]])
    maker.document["meshes"][0]["primitives"][0]["material"] = maker.add("materials", {"name": "paint"})
    character = maker.load()
    curves = {c.name: c for c in character.clips[0].curves}
    assert curves[f"{pointer}[1]"].sample(0.25) == pytest.approx(0.25)
    mw.save(character, tmp_path / "x.glb")
    assert mw.load(tmp_path / "x.glb", cache=False).clips == character.clips
    values = channels_of(tmp_path / "x.glb", pointer)[1][1]
    assert_allclose(values, [[1, 0, 0, 1], [0, 1, 0, 1]])
    assert not errors_of(tmp_path / "x.glb")
    # A spline becomes straight lines that keep to it.
    spline = sampled(
        "/materials/0/pbrMetallicRoughness/roughnessFactor",
        [0, 2],
        [[0], [0], [2], [-1], [1], [0]],
        interpolation="CUBICSPLINE",
    )
    spline.add("materials", {})
    (curve,) = spline.load().clips[0].curves
    for t in np.linspace(0, 2, 7):
        u = t / 2
        exact = (u**3 - 2 * u**2 + u) * 2 * 2 + (-2 * u**3 + 3 * u**2) + (u**3 - u**2) * 2 * -1
        assert curve.sample(t) == pytest.approx(exact, abs=1e-3)


def channels_of(path: Path, pointer: str) -> list[tuple[str, np.ndarray]]:
    """Times and values of the channel with that pointer, read without marrow."""
    data = path.read_bytes()
    (size,) = struct.unpack("<I", data[12:16])
    document, blob = json.loads(data[20 : 20 + size]), data[28 + size :]
    for animation in document["animations"]:
        for channel in animation["channels"]:
            found = channel["target"].get("extensions", {}).get("KHR_animation_pointer", {})
            if found.get("pointer") == pointer:
                sampler, out = animation["samplers"][channel["sampler"]], []
                for end in ("input", "output"):
                    accessor = document["accessors"][sampler[end]]
                    start = document["bufferViews"][accessor["bufferView"]]["byteOffset"]
                    kind = {5121: np.uint8, 5126: np.float32}[accessor["componentType"]]
                    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
                    values = np.frombuffer(blob, kind, accessor["count"] * width, start).reshape(-1, width)
                    out.append((end, values))
                return out
    raise AssertionError(f"no channel points at {pointer}")


def variants() -> Maker:
    maker = one_triangle()
    for name in ("plain", "red", "blue"):
        maker.add("materials", {"name": name})
    maker.document["extensions"] = {
        "KHR_materials_variants": {"variants": [{"name": "day"}, {"name": "night"}, {}]}
    }
    mappings = [{"material": 1, "variants": [0, 2]}, {"material": 2, "variants": [1]}]
    primitive = maker.document["meshes"][0]["primitives"][0]
    primitive |= {"material": 0, "extensions": {"KHR_materials_variants": {"mappings": mappings}}}
    maker.document["extensionsUsed"] = ["KHR_materials_variants"]
    return maker


def test_variants_of_materials_are_kept(tmp_path: Path, errors_of: Callable[..., list[str]]) -> None:
    character = variants().load()
    assert character.variants == ("day", "night", "variant_2")
    assert character.meshes[0].sections[0].variants == (1, 2, 1)
    night = character.with_variant("night")
    assert night.meshes[0].sections[0].material == 2
    assert character.with_variant(None) == character
    with pytest.raises(UnknownNameError, match="did you mean 'night'"):
        character.with_variant("nigth")
    for name in ("x.glb", "x.marrow"):
        mw.save(character, tmp_path / name)
        again = mw.load(tmp_path / name, cache=False)
        assert (again.variants, again.meshes) == (character.variants, character.meshes)
    assert not errors_of(tmp_path / "x.glb")
    maker = variants()
    found = maker.document["meshes"][0]["primitives"][0]["extensions"]["KHR_materials_variants"]
    found["mappings"][0]["material"] = 9
    with pytest.raises(FormatError, match=r"materials\[9\]"):
        maker.load()
