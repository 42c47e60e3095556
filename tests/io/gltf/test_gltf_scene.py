"""Nodes to joints: order, transforms, skeletons outside the scene, trees that are none."""

from __future__ import annotations

import numpy as np
import pytest
from maker import Maker, skinned_bar

from marrow.errors import FormatError, MarrowError
from marrow.math import transform


def test_joints_are_the_nodes_of_the_scene_depth_first():
    nodes = [
        {"name": "a", "children": [3, 1]},
        {"name": "b"},
        {"name": "c"},
        {"name": "d", "children": [4]},
        {"name": "e"},
    ]
    skeleton = Maker(nodes=nodes, scenes=[{"nodes": [0]}]).load().skeleton
    assert skeleton.names == ("a", "d", "e", "b")
    assert skeleton.parents.tolist() == [-1, 0, 1, 0]


def test_default_scene_is_read_and_the_others_reported():
    character = Maker(
        nodes=[{"name": "a"}, {"name": "b"}], scenes=[{"nodes": [0]}, {"nodes": [1]}], scene=1
    ).load()
    assert character.skeleton.names == ("b",)
    assert "2 scenes" in str(character.report)


def test_file_without_scenes_is_read_from_its_roots():
    skeleton = Maker(nodes=[{"name": "a"}, {"name": "b", "children": [0]}]).load().skeleton
    assert skeleton.names == ("b", "a")


def test_empty_scene_gives_every_node():
    character = Maker(nodes=[{"name": "a", "children": [1]}, {"name": "b"}], scenes=[{"name": "none"}]).load()
    assert character.skeleton.names == ("a", "b")
    assert "empty" in str(character.report)


def test_matrix_nodes_become_translation_rotation_scale():
    t, s = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, -4.0])
    r = np.array([0.0, 0.6, 0.0, 0.8])
    matrix = np.eye(4)
    matrix[:3] = transform.compose(t, r, s)
    rest = Maker(nodes=[{"matrix": matrix.T.ravel().tolist()}]).load().skeleton.rest
    again = transform.compose(rest.translation[0], rest.rotation[0], rest.scale[0])
    assert np.allclose(again, matrix[:3], atol=1e-6)


def test_shear_in_a_matrix_is_reported():
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    character = Maker(nodes=[{"name": "bent", "matrix": matrix.T.ravel().tolist()}]).load()
    assert "bent" in str(character.report)
    assert "shear" in str(character.report)


def test_matrix_of_wrong_size_is_refused():
    with pytest.raises(FormatError, match="16 numbers"):
        Maker(nodes=[{"matrix": [1, 0, 0]}]).load()


def test_rotation_that_is_not_unit_is_mended_and_reported():
    character = Maker(nodes=[{"rotation": [0, 0, 0, 2]}, {"rotation": [0, 0, 0, 0]}]).load()
    assert character.skeleton.rest.rotation.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1]]
    assert "2 rotations" in str(character.report)


def test_joints_outside_the_scene_follow_with_their_ancestors():
    maker = skinned_bar()
    maker.document["nodes"].append({"name": "above", "children": [1], "translation": [0, 0, 7]})
    maker.document["nodes"].append({"name": "stranger"})
    maker.document["scenes"] = [{"nodes": [0]}]
    character = maker.load()
    assert character.skeleton.names == ("body", "above", "lower", "upper")
    assert character.skeleton.parents.tolist() == [-1, -1, 1, 2]
    assert character.meshes[0].joint_list.tolist() == [2, 3]
    assert "outside the scene" in str(character.report)


def test_duplicate_names_are_kept_and_reported():
    character = Maker(nodes=[{"name": "bone"}, {"name": "bone"}]).load()
    assert character.skeleton.names == ("bone", "bone")
    assert "'bone'" in str(character.report)


def test_camera_is_reported():
    assert "camera" in str(Maker(nodes=[{"camera": 0}], cameras=[{"type": "perspective"}]).load().report)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([{"children": [1]}, {"children": [0]}], "own ancestor"),
        ([{"children": [0]}], "own ancestor"),
        ([{"children": [2]}, {"children": [2]}, {}], "child of both"),
        ([{"children": [1, 1]}, {}], "child of both"),
        ([{"children": [5]}], "child 5 does not exist"),
    ],
)
def test_what_is_no_tree_is_refused(nodes, message):
    with pytest.raises(FormatError, match=message):
        Maker(nodes=nodes, scenes=[{"nodes": [0]}]).load()


def test_node_listed_twice_in_the_scene_is_refused():
    with pytest.raises(FormatError, match="twice"):
        Maker(nodes=[{"children": [1]}, {}], scenes=[{"nodes": [0, 1]}]).load()


def test_scene_that_does_not_exist_is_refused():
    with pytest.raises(FormatError, match="scenes"):
        Maker(nodes=[{}], scenes=[{"nodes": [0]}], scene=3).load()
    with pytest.raises(FormatError, match="nodes"):
        Maker(nodes=[{}], scenes=[{"nodes": [9]}]).load()


def test_chain_of_a_hundred_thousand_nodes_needs_no_recursion():
    count = 100_000
    nodes: list[dict] = [{"children": [i + 1]} for i in range(count - 1)]
    try:
        character = Maker(nodes=[*nodes, {}], scenes=[{"nodes": [0]}]).load()
    except MarrowError:
        return
    assert len(character.skeleton) == count


def test_scale_option_multiplies_every_length():
    maker = skinned_bar()
    whole, half = maker.load(), maker.load(scale=0.5)
    assert np.array_equal(half.skeleton.rest.translation, whole.skeleton.rest.translation * 0.5)
    assert np.array_equal(half.meshes[0].positions, whole.meshes[0].positions * 0.5)
    assert np.array_equal(half.meshes[0].inverse_bind[..., 3], whole.meshes[0].inverse_bind[..., 3] * 0.5)
    assert np.array_equal(half.meshes[0].inverse_bind[..., :3], whole.meshes[0].inverse_bind[..., :3])
