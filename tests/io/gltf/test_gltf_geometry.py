"""Primitives to meshes: sections, runs, instances, weights, morph targets."""

from __future__ import annotations

import numpy as np
import pytest
from maker import Maker, one_triangle, skinned_bar, triangle
from numpy.testing import assert_allclose

import marrow as mw
from marrow.errors import FormatError


def test_primitives_become_sections_with_their_own_vertices():
    maker = Maker(nodes=[{"mesh": 0}], materials=[{}, {}])
    shared = maker.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    first = {"attributes": {"POSITION": shared}, "indices": maker.indices([0, 1, 2]), "material": 1}
    second = {"attributes": {"POSITION": shared}, "indices": maker.indices([1, 3, 2, 0, 1, 2]), "material": 0}
    maker.add("meshes", {"name": "two", "primitives": [first, second]})
    (mesh,) = maker.load().meshes
    assert mesh.vertex_count == 8, "accessor order, once for each primitive"
    assert mesh.triangles.tolist() == [[0, 1, 2], [5, 7, 6], [4, 5, 6]]
    assert [(s.first, s.count, s.material) for s in mesh.sections] == [(0, 1, 1), (1, 2, 0)]


def test_runs_of_primitives_with_other_attributes_become_meshes_of_their_own():
    maker = Maker(nodes=[{"mesh": 0, "name": "node"}])
    uv = maker.accessor([[0, 0], [1, 0], [0, 1]])
    plain, mapped = triangle(maker), triangle(maker, TEXCOORD_0=uv)
    maker.add("meshes", {"name": "m", "primitives": [plain, plain, mapped, plain]})
    meshes = maker.load().meshes
    assert [(m.name, len(m.sections), len(m.uvs)) for m in meshes] == [
        ("m_0", 2, 0),
        ("m_1", 1, 1),
        ("m_2", 1, 0),
    ]
    assert all(m.node == 0 for m in meshes)


def test_mesh_under_several_nodes_shares_its_arrays():
    maker = Maker(nodes=[{"mesh": 0}, {"mesh": 0, "translation": [1, 0, 0]}])
    maker.add("meshes", {"name": "prop", "primitives": [triangle(maker)]})
    first, second = maker.load().meshes
    assert first.positions is second.positions
    assert first.normals is second.normals
    assert (first.node, second.node) == (0, 1)
    assert (first.joint_list.tolist(), second.joint_list.tolist()) == ([0], [1])


@pytest.mark.parametrize(
    ("mode", "indices", "expected"),
    [
        (4, [0, 1, 2, 2, 1, 3], [[0, 1, 2], [2, 1, 3]]),
        (5, [0, 1, 2, 3], [[0, 1, 2], [1, 3, 2]]),
        (5, [0, 1, 2, 2, 2, 3], [[0, 1, 2]]),
        (6, [0, 1, 2, 3], [[1, 2, 0], [2, 3, 0]]),
        (0, [0, 1, 2], []),
        (1, [0, 1], []),
        (3, [0, 1, 2], []),
    ],
)
def test_modes(mode, indices, expected):
    maker = Maker(nodes=[{"mesh": 0}])
    position = maker.accessor(np.eye(4)[:, :3])
    primitive = {"attributes": {"POSITION": position}, "mode": mode, "indices": maker.indices(indices)}
    maker.add("meshes", {"primitives": [primitive]})
    character = maker.load()
    assert character.meshes[0].triangles.tolist() == expected
    assert character.meshes[0].vertex_count == 4
    assert ("no triangles" in str(character.report)) == (mode < 4)


def test_primitive_without_indices_takes_its_vertices_in_order():
    assert one_triangle().load().meshes[0].triangles.tolist() == [[0, 1, 2]]


def test_missing_normals_are_smooth_and_weighted_by_area():
    maker = Maker(nodes=[{"mesh": 0}])
    # Two triangles over the edge 0-1: one in the XY plane of area 1/2, one in the XZ plane of area 3/2.
    position = maker.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 3]])
    maker.add(
        "meshes",
        {
            "primitives": [
                {"attributes": {"POSITION": position}, "indices": maker.indices([0, 1, 2, 0, 3, 1])}
            ]
        },
    )
    character = maker.load()
    normals = character.meshes[0].normals
    assert_allclose(normals[2], [0, 0, 1], atol=1e-7)
    assert_allclose(normals[3], [0, 1, 0], atol=1e-7)
    assert_allclose(normals[0], np.array([0, 3, 1]) / np.sqrt(10), atol=1e-6)
    assert "normals" in str(character.report)


def test_quantised_attributes_are_decoded():
    maker = Maker(
        nodes=[{"mesh": 0}],
        extensionsUsed=["KHR_mesh_quantization"],
        extensionsRequired=["KHR_mesh_quantization"],
    )
    position = np.zeros((3, 4), np.int16)
    position[:, :3] = [[0, 0, 0], [32767, 0, 0], [0, -32768, 100]]
    view = maker.view(position.tobytes(), byteStride=8)
    accessor = {"bufferView": view, "componentType": 5122, "count": 3, "type": "VEC3"}
    plain, fraction = (
        maker.add("accessors", accessor),
        maker.add("accessors", {**accessor, "normalized": True}),
    )
    color = maker.accessor(np.tile([255, 0, 51, 255], (3, 1)), np.uint8, normalized=True)
    maker.add(
        "meshes",
        {
            "primitives": [
                {"attributes": {"POSITION": plain, "COLOR_0": color}},
                {"attributes": {"POSITION": fraction, "COLOR_0": color}},
            ]
        },
    )
    (mesh,) = maker.load().meshes
    assert mesh.positions[:3].tolist() == [[0, 0, 0], [32767, 0, 0], [0, -32768, 100]]
    assert_allclose(mesh.positions[4:], [[1, 0, 0], [0, -1, 100 / 32767]], atol=1e-7)
    assert_allclose(mesh.colors[0], [1, 0, 0.2, 1], atol=1e-7)


def test_mesh_without_vertices_is_dropped_and_reported():
    maker = one_triangle()
    maker.document["accessors"][0]["count"] = 0
    character = maker.load()
    assert character.meshes == ()
    assert "no vertices" in str(character.report)


def test_colour_without_alpha_gets_it():
    mesh = one_triangle(COLOR_0=[[1, 0, 0], [0, 1, 0], [0, 0, 1]]).load().meshes[0]
    assert mesh.colors.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]]


def test_skinned_mesh_ignores_its_node_and_bends():
    character = skinned_bar().load()
    mesh = character.meshes[0]
    assert mesh.joint_list.tolist() == [1, 2]
    assert mesh.influences == 2, "columns nobody uses are left out"
    rest = mw.skin(character, character.skeleton.rest).positions
    assert_allclose(rest, mesh.positions, atol=1e-6)
    bent = mw.skin(character, character.clips["bend"].sample(1.0)).positions
    # The upper joint at (0, 1, 0) turns by a quarter about Z.
    assert_allclose(bent, [[0, 0, 0], [0, 1, 0], [-1, 1, 0], [-1, 2, 0]], atol=1e-6)


def test_weights_are_scaled_to_sum_to_one_and_reported():
    maker = skinned_bar()
    weights = np.array([[2, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0, 0, 0], [1, 0, 0, 0]], np.float32)
    maker.document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = maker.accessor(weights)
    character = maker.load()
    assert character.meshes[0].weights.tolist() == [[1, 0], [0.5, 0.5], [1, 0], [1, 0]]
    assert "2 vertices" in str(character.report)


def test_unweighted_vertices_follow_the_node_of_the_mesh():
    maker = skinned_bar()
    weights = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]], np.float32)
    maker.document["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = maker.accessor(weights)
    character = maker.load()
    positions = mw.skin(character, character.skeleton.rest).positions
    assert_allclose(positions[3], [6, 2, 0], atol=1e-6)
    assert_allclose(positions[:3], [[0, 0, 0], [0, 1, 0], [0, 2, 0]], atol=1e-6)
    assert "no weights" in str(character.report)


def test_second_set_of_influences_counts():
    maker = skinned_bar()
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = maker.accessor(np.tile([0.2, 0, 0, 0], (4, 1)))
    attributes["JOINTS_1"] = maker.accessor(np.tile([1, 0, 0, 0], (4, 1)), np.uint16)
    attributes["WEIGHTS_1"] = maker.accessor(np.tile([0.8, 0, 0, 0], (4, 1)))
    mesh = maker.load().meshes[0]
    assert mesh.influences == 5
    assert_allclose(mesh.weights[0], [0.2, 0, 0, 0, 0.8])
    assert mesh.joints[0].tolist() == [0, 0, 0, 0, 1]


def test_joint_outside_the_skin_is_an_error_only_with_weight():
    maker = skinned_bar()
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    joints = np.array([[0, 99, 0, 0], [0, 1, 0, 0], [1, 0, 99, 0], [1, 0, 0, 0]])
    attributes["JOINTS_0"] = maker.accessor(joints, np.uint8)
    assert maker.load().meshes[0].joints.max() == 1
    attributes["JOINTS_0"] = maker.accessor(np.full((4, 4), 99), np.uint8)
    with pytest.raises(FormatError, match="99 is out of range"):
        maker.load()


def test_missing_inverse_bind_matrices_are_the_identity():
    maker = skinned_bar()
    del maker.document["skins"][0]["inverseBindMatrices"]
    assert np.array_equal(maker.load().meshes[0].inverse_bind, np.tile(np.eye(4)[:3], (2, 1, 1)))


def test_weights_without_a_skin_move_as_a_whole():
    maker = skinned_bar()
    del maker.document["nodes"][0]["skin"]
    character = maker.load()
    assert character.meshes[0].joint_list.tolist() == [0]
    assert "no skin" in str(character.report)


def test_numbers_that_are_not_finite_are_mended_and_reported():
    character = one_triangle(NORMAL=[[np.nan, 0, 1], [0, 0, 1], [0, 0, 1]]).load()
    assert np.isfinite(character.meshes[0].normals).all()
    assert "not finite" in str(character.report)


def morphing(**mesh) -> Maker:
    maker = Maker(nodes=[{"name": "face", "mesh": 0}, {"name": "twin", "mesh": 0, "weights": [0, 0.5]}])
    primitive = triangle(maker)
    primitive["targets"] = [
        {"POSITION": maker.accessor([[0, 0, 1], [0, 0, 0], [0, 0, 0]])},
        {
            "POSITION": maker.accessor([[0, 0, 0], [0, 2, 0], [0, 0, 0]]),
            "NORMAL": maker.accessor(np.ones((3, 3))),
        },
    ]
    maker.add("meshes", {"name": "head", "primitives": [primitive], **mesh})
    return maker


def test_each_node_and_target_has_a_morph_channel():
    skeleton = morphing(weights=[0.25, 0]).load().skeleton
    assert skeleton.morph_names == ("head_0", "head_1", "head_0_2", "head_1_2")
    assert skeleton.rest.morphs.tolist() == [0.25, 0, 0, 0.5], "a node's weights go before those of its mesh"


def test_target_names_come_from_the_extras():
    character = morphing(extras={"targetNames": ["smile", "frown"]}).load()
    assert character.skeleton.morph_names == ("smile", "frown", "smile_2", "frown_2")
    assert [t.name for t in character.meshes[1].morph_targets] == ["smile", "frown"]
    assert [t.channel for t in character.meshes[1].morph_targets] == [2, 3]


def test_target_names_that_are_no_names_are_passed_over():
    assert morphing(extras={"targetNames": 7}).load().skeleton.morph_names[0] == "head_0"


def test_morph_targets_move_vertices():
    character = morphing().load()
    rest = character.skeleton.rest
    positions = mw.skin(character, rest.replace(morphs=np.array([2, 0.5, 0, 0], np.float32))).positions
    assert_allclose(positions[:3], [[0, 0, 2], [1, 1, 0], [0, 1, 0]], atol=1e-6)
    assert_allclose(positions[3:], [[0, 0, 0], [1, 0, 0], [0, 1, 0]], atol=1e-6)


def test_sparse_target_stays_sparse():
    maker = Maker(nodes=[{"mesh": 0}])
    primitive = triangle(maker)
    at, values = (
        maker.view(np.array([2], np.uint8).tobytes()),
        maker.view(np.array([[1, 2, 3]], np.float32).tobytes()),
    )
    sparse = {
        "count": 1,
        "indices": {"bufferView": at, "componentType": 5121},
        "values": {"bufferView": values},
    }
    delta = maker.add("accessors", {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    primitive["targets"] = [{"POSITION": delta}]
    maker.add("meshes", {"primitives": [primitive]})
    (target,) = maker.load().meshes[0].morph_targets
    assert target.vertices.tolist() == [2]
    assert target.dense(3).tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 3]]


def test_target_with_sparse_positions_and_dense_normals():
    maker = Maker(nodes=[{"mesh": 0}])
    primitive = triangle(maker)
    sparse = {
        "count": 1,
        "indices": {"bufferView": maker.view(np.array([2], np.uint8).tobytes()), "componentType": 5121},
        "values": {"bufferView": maker.view(np.array([[1, 2, 3]], np.float32).tobytes())},
    }
    delta = maker.add("accessors", {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse})
    primitive["targets"] = [{"POSITION": delta, "NORMAL": maker.accessor(np.ones((3, 3)))}]
    maker.add("meshes", {"primitives": [primitive]})
    (target,) = maker.load().meshes[0].morph_targets
    assert target.dense(3).tolist() == [[0, 0, 0], [0, 0, 0], [1, 2, 3]]
    assert target.dense(3, "normals").tolist() == [[1, 1, 1]] * 3


def test_targets_over_several_primitives_are_laid_end_to_end():
    maker = Maker(nodes=[{"mesh": 0}])
    first, second = triangle(maker), triangle(maker)
    first["targets"] = [{"POSITION": maker.accessor(np.ones((3, 3)))}]
    second["targets"] = [{"NORMAL": maker.accessor(np.full((3, 3), 2))}]
    maker.add("meshes", {"primitives": [first, second]})
    (target,) = maker.load().meshes[0].morph_targets
    assert target.positions[:, 0].tolist() == [1, 1, 1, 0, 0, 0]
    assert target.normals[:, 0].tolist() == [0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": {}}, "no POSITION"),
        ({"attributes": {"POSITION": 44}}, r"accessors\[44\]"),
        ({"indices": 0}, "unsigned integers"),
        ({"mode": 9}, "mode 9"),
        ({"material": 0}, "materials"),
        ({"targets": [{"POSITION": 99}]}, r"accessors\[99\]"),
    ],
)
def test_primitives_that_point_nowhere_are_refused(change, message):
    maker = one_triangle()
    maker.document["meshes"][0]["primitives"][0] |= change
    with pytest.raises(FormatError, match=message):
        maker.load()


def test_index_outside_the_vertices_is_refused():
    maker = one_triangle()
    maker.document["meshes"][0]["primitives"][0]["indices"] = maker.indices([0, 1, 3])
    with pytest.raises(FormatError, match="index 3 is out of range"):
        maker.load()


def test_attributes_of_different_lengths_are_refused():
    with pytest.raises(FormatError, match="3 and 2 vertices"):
        one_triangle(NORMAL=[[0, 0, 1], [0, 0, 1]]).load()


@pytest.mark.parametrize("part", ["mesh", "skin"])
def test_node_that_points_nowhere_is_refused(part):
    maker = skinned_bar()
    maker.document["nodes"][0][part] = 12
    with pytest.raises(FormatError, match="12"):
        maker.load()
