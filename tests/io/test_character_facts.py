"""What a loaded character knows: its file, the joints that deform, the pose it was bound in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import marrow as mw
from marrow.errors import ValidationError
from marrow.math import affine, quaternion


def test_a_character_knows_its_file_and_is_equal_without(tmp_path: Path) -> None:
    hero = mw.samples.mannequin()
    assert mw.Character(hero.skeleton).source == ""
    mw.save(hero, tmp_path / "hero.glb")
    loaded = [mw.load(tmp_path / "hero.glb", cache=cache) for cache in (False, True, True)]
    assert {c.source for c in loaded} == {str(tmp_path / "hero.glb")}
    (tmp_path / "other.glb").write_bytes((tmp_path / "hero.glb").read_bytes())
    other = mw.load(tmp_path / "other.glb")
    assert other.source == str(tmp_path / "other.glb")
    assert other == loaded[0] and hash(other) == hash(loaded[0])
    assert mw.load((tmp_path / "hero.glb").read_bytes()).source


def arm(rng: np.random.Generator) -> mw.Character:
    """Four joints at random, two of them bound to a mesh in another pose than they rest in; the third carries nothing."""
    turns = quaternion.normalize(rng.normal(size=(4, 4)))
    rest = mw.Pose(rng.normal(size=(4, 3)), turns, np.ones((4, 3)))
    bones = mw.Skeleton(("root", "upper", "lower", "end"), [-1, 0, 1, 2], rest)
    bound = mw.Pose(rng.normal(size=(4, 3)), quaternion.normalize(rng.normal(size=(4, 4))), np.ones((4, 3)))
    model = bones.to_model(bound).astype(np.float64)
    mesh = mw.Mesh(
        "skin",
        rng.normal(size=(3, 3)),
        [[0, 1, 2]],
        joints=[[0, 1], [1, 2], [0, 2]],
        weights=[[0.5, 0.5], [1, 0], [1, 0]],
        joint_list=[1, 2, 3],
        inverse_bind=affine.invert(model[1:]),
    )
    return mw.Character(bones, (mesh,)), model


def test_joints_that_move_vertices_deform() -> None:
    character, _ = arm(np.random.default_rng(3))
    # The joint `end` is in the list of the mesh, and no vertex has a weight for it.
    assert character.deforms.tolist() == [False, True, True, False]
    assert mw.samples.mannequin().deforms.sum() > 20


def test_the_bind_pose_is_where_the_mesh_was_bound() -> None:
    character, model = arm(np.random.default_rng(4))
    found = character.skeleton.to_model(character.bind_pose)
    assert_allclose(found[1:], model[1:], atol=1e-5)
    # Unbound joints stand to their parents as at rest: the root is where it rests.
    assert_allclose(found[0], character.skeleton.rest_model[0], atol=1e-6)
    # In it, skinning moves nothing.
    assert_allclose(
        mw.skin(character, character.bind_pose).positions, character.meshes[0].positions, atol=1e-5
    )


@pytest.mark.parametrize("wrong", [3, [1], {"a": object()}, {1: "a"}])
def test_plain_data_is_a_dictionary_of_it(wrong: Any) -> None:
    bones = mw.Skeleton(("a",), [-1])
    for made in (
        lambda: mw.Material(extensions=wrong),
        lambda: mw.Character(bones, vrm=wrong),
        lambda: mw.Character(bones, extras=wrong),
    ):
        with pytest.raises(ValidationError, match=r"Material|Character"):
            made()


@pytest.mark.parametrize("wrong", [3, {"hips": "a"}, {"hips": 7}, {"hips": 0, "spine": 0}, {1: 0}])
def test_bones_of_a_body_are_joints_of_their_own(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="bones"):
        mw.Skeleton(("a", "b"), [-1, 0], bones=wrong)
