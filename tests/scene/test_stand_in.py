"""A skeleton without a mesh has a body to look at: capsules along its bones, left and right in their colours."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.scene.stand_in import LEFT, MIDDLE, RIGHT, with_stand_in
from marrow.scene.timed_scene import timed_scene_of


@pytest.fixture(scope="module")
def bare() -> mw.Character:
    """The mannequin as a motion file has it."""
    return mw.samples.mannequin().replace(meshes=(), materials=(), images=())


def test_bones_have_capsules_that_follow_them(bare: mw.Character) -> None:
    made = with_stand_in(bare)
    (mesh,) = made.meshes
    assert mesh.influences == 1  # each part is stiff
    clip, skeleton = made.clips["run"], made.skeleton
    at = skeleton.to_model(clip.sample(0.3))[..., 3]
    surface = mw.skin(made, clip.sample(0.3)).positions
    for name in ("hand_l", "foot_r", "head", "calf_l"):
        j = skeleton.index(name)
        own = surface[mesh.joints[:, 0] == np.flatnonzero(mesh.joint_list == j)[0]]
        assert np.linalg.norm(own - at[j], axis=-1).min() < 0.15
    low, high = surface.min(axis=0), surface.max(axis=0)
    feet = [skeleton.index(name) for name in ("foot_l", "foot_r")]
    assert low[1] < at[feet, 1].min() and high[1] > at[skeleton.index("head"), 1] + 0.08


def test_left_and_right_are_told_apart(bare: mw.Character) -> None:
    made = with_stand_in(bare)
    (mesh,) = made.meshes
    colors = [made.materials[s.material].base_color[:3] for s in mesh.sections]
    assert colors == [pytest.approx(c) for c in (MIDDLE, LEFT, RIGHT)]
    skeleton = made.skeleton
    for section, side in zip(mesh.sections, ("", "_l", "_r")):
        used = np.unique(mesh.triangles[section.first : section.first + section.count])
        joints = {skeleton.names[j] for j in mesh.joint_list[mesh.joints[used, 0]]}
        assert joints and (not side or all(name.endswith(side) for name in joints))
        assert side or {"head", "pelvis"} <= joints


def test_it_is_drawn_where_there_is_no_mesh_and_only_there(bare: mw.Character) -> None:
    assert timed_scene_of(bare).has_surface
    assert timed_scene_of(bare.clips["run"]).has_surface
    hero = mw.samples.mannequin()
    assert timed_scene_of(hero).scene.actors[0].character is hero
    nothing = mw.Character(mw.Skeleton(("a",), [-1]))
    assert with_stand_in(nothing) is nothing  # a point has no bones


def test_triangles_look_outward(bare: mw.Character) -> None:
    (mesh,) = with_stand_in(bare).meshes
    a, b, c = (mesh.positions[mesh.triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    mean = mesh.normals[mesh.triangles].mean(axis=1)
    assert ((face * mean).sum(axis=-1) > 0).all()


def test_an_animal_and_a_rest_pose_that_is_no_stance_have_bodies_too() -> None:
    rng = np.random.default_rng(1)
    rest = mw.Pose.identity(12).replace(translation=rng.normal(size=(12, 3)).astype(np.float32))
    lump = mw.Character(mw.Skeleton(tuple(f"j{k}" for k in range(12)), [-1, *range(11)], rest))
    made = with_stand_in(lump)
    assert made.vertex_count and np.isfinite(made.meshes[0].positions).all()


def test_the_studio_sends_it_like_any_mesh(bare: mw.Character) -> None:
    from marrow.studio.actor import Origin, StudioActor

    actor = StudioActor(bare, 0, Origin("file", "walk.bvh"))
    sent = actor.asset.info
    assert sent.vertices > 0 and len(sent.materials) == 3
