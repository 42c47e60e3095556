"""Crowds at levels of detail in the studio: what pages are sent, and that it is what the engine makes of it."""

from __future__ import annotations

import numpy as np
import pytest
from studio_world import small_actor

import marrow as mw
from lod.level_worlds import mannequin
from marrow.scene.camera import Camera
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.assets import describe
from marrow.studio.frames import unpack_frame
from marrow.studio.levels import LevelPlan
from marrow.studio.session import Session

N = 120


def look(eye=(0.0, 3.0, -25.0), pixels=1.0, picked=-1):
    camera = Camera.perspective(eye, (0.0, 1.0, 0.0), height=720)
    view = [*camera.view.ravel().tolist(), 0.0, 0.0, 0.0, 1.0]
    return p.Look(view, camera.projection.ravel().tolist(), 720.0, pixels, picked)


@pytest.fixture
def crowd():
    session = Session()
    session.put(StudioActor(mannequin(), 0, Origin("python", "hero"), graph=mw.samples.mannequin_graph()))
    session.apply(p.SetCount(N))
    session.apply(p.Spread(True))
    session.tick(1 / 60)
    return session


def shown(session):
    session.look()
    return session.pictures[0]


def test_a_page_that_looks_is_sent_levels(crowd):
    assert shown(crowd).matrices is not None, "nobody looks: all in full"
    crowd.look_from("page", look())
    assert crowd.changed
    picture = shown(crowd)
    members = np.concatenate([g.instances for g in picture.groups])
    assert sorted(members.tolist()) == list(range(N)) and len(picture.groups) > 1
    full = crowd.main.animator
    levels = crowd.main.animator.levels
    twin = mw.Animator(full.character, full.evaluation.compiled, count=N)
    twin.restore(full.snapshot())
    for group in picture.groups:
        E = group.matrices.shape[1]
        assert len(mannequin().levels[group.level].skeleton) == E
        np.testing.assert_allclose(group.matrices, twin.matrices[group.instances][:, :E], atol=1e-5)
        assert (levels[group.instances] == group.level).all()
    frame = unpack_frame(picture.packed(True))
    assert [(k, who.tolist()) for k, who, _ in frame.groups] == [
        (g.level, g.instances.tolist()) for g in picture.groups
    ]


def test_far_crowds_are_sent_less(crowd):
    sizes = []
    for distance in (4, 12, 400):
        crowd.look_from("page", look((0.0, 3.0, -distance)))
        sizes.append(len(shown(crowd).packed(False)))
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 0.3 * 4 * 12 * N * len(mannequin().palette)
    near = look((0.0, 3.0, -4.0))
    crowd.look_from("another page", near)
    assert len(shown(crowd).packed(False)) == sizes[0], "the page that sees more decides"
    crowd.look_from("another page", None)
    assert len(shown(crowd).packed(False)) == sizes[2]


def test_a_forced_level_wins_and_the_picked_one_is_whole(crowd):
    crowd.look_from("page", look((0.0, 3.0, -400.0), picked=5))
    assert shown(crowd).of(5)[0] == 0 and shown(crowd).of(6)[0] == 3
    crowd.apply(p.SetLevel(2))
    assert {g.level for g in shown(crowd).groups} == {2} and crowd.state().level == 2
    crowd.apply(p.SetLevel(200))
    assert {g.level for g in shown(crowd).groups} == {3}
    crowd.apply(p.SetLevel(-1))
    assert len(shown(crowd).groups) == 2


def test_one_character_and_one_without_levels_are_sent_in_full(crowd):
    crowd.look_from("page", look())
    crowd.apply(p.SetCount(1))
    crowd.tick(0.0)
    assert shown(crowd).matrices.shape[0] == 1
    plain = Session()
    plain.put(small_actor())
    plain.apply(p.SetCount(20))
    plain.tick(0.0)
    plain.look_from("page", look())
    assert shown(plain).matrices.shape[0] == 20 and describe(plain.main.character, 0, None).info.levels == []


def test_the_description_has_what_a_page_draws():
    character = mannequin()
    info = describe(character, 0, None).info
    assert [l.triangles for l in info.levels] == [l.triangle_count for l in character.levels[1:]]
    for level, made in zip(info.levels, character.levels[1:]):
        assert level.entries == level.joints == len(made.skeleton)
        for mesh, described in zip(made.meshes, level.meshes):
            assert described.vertices == mesh.vertex_count
            assert all(t.weight >= 0 for t in described.morph_targets)
    assert LevelPlan(character).usable


def test_a_level_that_is_bound_otherwise_is_not_drawn():
    """The page knows one palette: a level whose meshes have other bind poses is left out, and those after it."""
    character = mannequin()
    moved = []
    for k, level in enumerate(character.reduced):
        mesh = level.meshes[0]
        binds = mesh.inverse_bind + (0.25 if k == 1 else 0.0)
        meshes = (mesh.replace(inverse_bind=binds.astype(np.float32)), *level.meshes[1:])
        moved.append(type(level)(meshes, level.lod, level.report))
    plan = LevelPlan(character.replace(reduced=tuple(moved)))
    assert len(plan) == 2 and plan.usable
    assert plan.select([], 1.0, np.zeros((3, 3, 4)), 3, -1).tolist() == [1, 1, 1]
