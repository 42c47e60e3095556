"""Other worlds: everything a character does there is what it does here, seen in other axes."""

from __future__ import annotations

import numpy as np
import pytest
from io_worlds import everything

import marrow as mw
from marrow.errors import MarrowError
from marrow.io.axes import WORLDS, converted

NAMED = sorted(WORLDS)


def moved(character: mw.Character, time: float) -> mw.Surface:
    pose = character.clips[0].sample(time) if character.clips else character.skeleton.rest
    return mw.skin(character, pose)


@pytest.mark.parametrize("world", NAMED)
def test_the_skinned_surface_is_the_same_one_in_other_axes(world: str) -> None:
    C, s = WORLDS[world].matrix, 1 / WORLDS[world].metres
    here = everything()
    there = converted(here, world)
    for time in (0.0, 0.37, 0.9):
        a, b = moved(here, time), moved(there, time)
        size = float(np.abs(a.positions).max()) * s
        np.testing.assert_allclose(b.positions, a.positions @ C.T * s, atol=2e-6 * size)
        want = a.normals @ C.T
        # The body is pressed flat: which side is outside is left to rounding there, and nowhere else.
        side = np.where((b.normals * want).sum(axis=1) < 0, -1.0, 1.0)
        assert (side[here.meshes[0].vertex_count :] > 0).all()
        np.testing.assert_allclose(b.normals, side[:, None] * want, atol=2e-5)
        np.testing.assert_allclose(b.tangents[:, :3], a.tangents[:, :3] @ C.T, atol=2e-5)
        np.testing.assert_allclose(b.tangents[:, 3], side * a.tangents[:, 3] * np.linalg.det(C), atol=0)


@pytest.mark.parametrize("world", NAMED)
def test_normals_stand_where_the_corners_say(world: str) -> None:
    hero = converted(mw.samples.mannequin(), world)
    for mesh in hero.meshes:
        a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(float) for k in range(3))
        side = np.cross(b - a, c - a)
        mean = mesh.normals[mesh.triangles].mean(axis=1)
        big = np.linalg.norm(side, axis=1) > 1e-3 * np.linalg.norm(side, axis=1).max()
        assert ((side * mean).sum(1)[big] > 0).mean() > 0.99


@pytest.mark.parametrize("world", NAMED)
def test_there_and_back_is_where_it_was(world: str) -> None:
    here = everything()
    back = converted(converted(here, world), world, back=True)
    np.testing.assert_allclose(back.skeleton.rest.translation, here.skeleton.rest.translation, rtol=1e-6)
    np.testing.assert_array_equal(back.skeleton.rest.rotation, here.skeleton.rest.rotation)
    for a, b in zip(back.meshes, here.meshes):
        np.testing.assert_allclose(a.positions, b.positions, rtol=1e-6)
        np.testing.assert_array_equal(a.triangles, b.triangles)
        np.testing.assert_allclose(a.inverse_bind, b.inverse_bind, rtol=1e-6)
    for a, b in zip(back.clips.values(), here.clips.values()):
        np.testing.assert_allclose(a.tracks.values, b.tracks.values, rtol=1e-6)


@pytest.mark.parametrize(
    ("world", "forward", "up", "left"),
    [
        ("blender", (0, -1, 0), (0, 0, 1), (1, 0, 0)),
        ("unreal", (100, 0, 0), (0, 0, 100), (0, -100, 0)),  # Unreal's Y is to the right
        ("unity", (0, 0, 1), (0, 1, 0), (-1, 0, 0)),  # Unity's X is to the right
        ("d3d", (0, 0, 1), (0, 1, 0), (-1, 0, 0)),
    ],
)
def test_worlds_are_what_their_manuals_say(world: str, forward: tuple, up: tuple, left: tuple) -> None:
    skeleton = mw.Skeleton(
        ("forward", "up", "left"),
        [-1, -1, -1],
        mw.Pose.identity(3).replace(translation=[[0, 0, 1], [0, 1, 0], [1, 0, 0]]),
    )
    there = mw.Character(skeleton).converted(world)
    np.testing.assert_allclose(there.skeleton.rest.translation, [forward, up, left])


def test_axes_one_by_one_are_the_world_of_that_name() -> None:
    here = everything()
    one = here.converted(up="z", handedness="left", units="cm")
    other = here.converted("unreal")
    np.testing.assert_array_equal(one.skeleton.rest.translation, other.skeleton.rest.translation)
    assert here.converted() is here


@pytest.mark.parametrize(
    "options",
    [
        {"up": "w"},
        {"up": "y", "forward": "-y"},
        {"handedness": "both"},
        {"units": "parsec"},
        {"units": 0},
        {"world": "narnia"},
        {"world": "unity", "up": "z"},
    ],
)
def test_what_is_no_space_is_refused(options: dict) -> None:
    with pytest.raises(MarrowError):
        everything().converted(**options)
