"""Extensions that are rewritten as plain glTF."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from maker import Maker, one_triangle
from numpy.testing import assert_allclose

import marrow as mw
from marrow.errors import FormatError, ResourceLimitError


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
    ["/materials/0/pbrMetallicRoughness/baseColorFactor", "/nodes/0/extensions/x", "", "nodes/0/scale"],
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
