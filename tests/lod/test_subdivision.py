"""Catmull-Clark against closed forms and a step written out polygon by polygon; characters with weights, seams, morphs."""

from __future__ import annotations

import numpy as np
import pytest

import builders
import marrow as mw
from marrow.errors import ResourceLimitError, ValidationError
from marrow.lod.subdivided_meshes import _polygons
from marrow.lod.subdivision import SHARP, Boundary, CagePolygons, Layer, smooth_normals, subdivide_polygons

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def cube(**changes):
    return CagePolygons(np.full(6, 4), SIDES.reshape(-1), **changes)


def plainly(points, faces):
    """One step as textbooks have it, polygon by polygon: the new quads as places. Borders are curves of their own."""
    face_points = [np.mean([points[i] for i in f], axis=0) for f in faces]
    edges: dict = {}
    for k, f in enumerate(faces):
        for a, b in zip(f, [*f[1:], f[0]]):
            edges.setdefault(frozenset((a, b)), []).append(k)
    edge_points = {}
    for edge, sides in edges.items():
        ends = [points[i] for i in edge]
        edge_points[edge] = np.mean(
            ends + [face_points[k] for k in sides] if len(sides) == 2 else ends, axis=0
        )
    moved = {}
    for i in range(len(points)):
        around = [k for k, f in enumerate(faces) if i in f]
        mine = [e for e in edges if i in e]
        rim = [e for e in mine if len(edges[e]) == 1]
        if rim:
            others = [points[next(j for j in e if j != i)] for e in rim]
            moved[i] = 0.75 * points[i] + 0.125 * (others[0] + others[1])
        else:
            n = len(mine)
            middle = np.mean([np.mean([points[j] for j in e], axis=0) for e in mine], axis=0)
            moved[i] = (
                np.mean([face_points[k] for k in around], axis=0) + 2 * middle + (n - 3) * points[i]
            ) / n
    quads = []
    for k, f in enumerate(faces):
        for before, a, after in zip([f[-1], *f[:-1]], f, [*f[1:], f[0]]):
            here = [
                moved[a],
                edge_points[frozenset((a, after))],
                face_points[k],
                edge_points[frozenset((before, a))],
            ]
            quads.append(here)
    return np.array(quads)


@pytest.mark.parametrize(
    "faces",
    [
        SIDES.tolist(),
        SIDES[:-1].tolist(),  # an open box
        [[0, 1, 3], [0, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]],
        [[0, 1, 3, 2], [0, 4, 5, 1]],
    ],
)
def test_a_step_is_that_of_the_textbook(faces):
    points = CUBE + np.random.default_rng(1).normal(scale=0.2, size=CUBE.shape)
    used = sorted({i for f in faces for i in f})
    points, faces = points[used], [[used.index(i) for i in f] for f in faces]
    polygons = CagePolygons(np.array([len(f) for f in faces]), np.concatenate(faces))
    quads, (step,), _, source = subdivide_polygons(polygons, 1)
    np.testing.assert_allclose(
        step(points)[quads.point].reshape(-1, 4, 3), plainly(points, faces), atol=1e-12
    )
    assert source.tolist() == [k for k, f in enumerate(faces) for _ in f]


def test_the_parts_of_a_step_sum_to_one_and_a_flat_grid_stays_flat():
    n = 6
    grid = np.arange(n * n).reshape(n, n)
    sides = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=-1).reshape(-1)
    polygons = CagePolygons(np.full((n - 1) ** 2, 4), sides)
    points = (
        np.stack([*np.meshgrid(np.arange(n), np.arange(n)), np.full((n, n), 7)], axis=-1).reshape(-1, 3) * 1.0
    )
    quads, steps, _, _ = subdivide_polygons(polygons, 2, boundary=Boundary.SHARP_CORNERS)
    for step in steps:
        np.testing.assert_allclose(step(np.ones((len(points), 1))), 1, atol=1e-12)
        points = step(points)
    assert np.abs(points[:, 2] - 7).max() < 1e-12
    assert len(quads.count) == 16 * (n - 1) ** 2
    assert {tuple(p) for p in np.round(points[:, :2], 9).tolist()} >= {(0, 0), (5, 0), (0, 5), (5, 5)}


def test_sharp_edges_stay_and_soft_ones_soften():
    whole = np.full(24, SHARP)
    _, steps, _, _ = subdivide_polygons(cube(crease=whole), 3)
    points = CUBE
    for step in steps:
        points = step(points)
    assert np.abs(np.abs(points).max(1) - 1).max() < 1e-12  # still a cube
    halves = []
    for sharpness in (0.0, 0.5, 1.0, 2.0):
        _, steps, _, _ = subdivide_polygons(cube(crease=np.full(24, sharpness)), 3)
        points = CUBE
        for step in steps:
            points = step(points)
        halves.append(np.linalg.norm(points, axis=1).max())
    assert halves == sorted(halves) and halves[0] < halves[1] < halves[2] < halves[3] < 3**0.5
    _, (step,), _, _ = subdivide_polygons(cube(point_crease=np.where(SIDES.reshape(-1) == 0, SHARP, 0.0)), 1)
    assert (np.abs(step(CUBE) - CUBE[0]).max(1) == 0).any()


def test_seams_stay_and_uvs_inside_are_smoothed():
    flat = np.tile([[0, 0], [1, 0], [1, 1], [0, 1]], (6, 1)).astype(float)
    layer = Layer(flat, np.arange(24))
    _, _, (uv,), _ = subdivide_polygons(cube(), 2, (layer,))
    found = uv.values[uv.index].reshape(6, 16, 4, 2)
    assert (found.min(axis=(1, 2)) == 0).all() and (found.max(axis=(1, 2)) == 1).all()
    corners = {tuple(p) for p in found[0].reshape(-1, 2).tolist()}
    assert corners == {(a / 4, b / 4) for a in range(5) for b in range(5)}
    _, _, (smooth,), _ = subdivide_polygons(cube(), 1, (layer,), layer_boundary=Boundary.SHARP_NONE)
    assert [0.125, 0.125] in smooth.values.tolist() and [0.0, 0.0] not in smooth.values.tolist()


def test_edges_of_three_polygons_and_fans_that_meet_in_a_point_stay_in_place():
    points = np.array(
        [[0, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [-1, 1, 0], [-1, 0, 0], [0, 1, 1], [0, 0, 1]], float
    )
    faces = np.array([[0, 1, 2, 3], [1, 0, 5, 4], [0, 1, 6, 7]])
    _, steps, _, _ = subdivide_polygons(CagePolygons(np.full(3, 4), faces.reshape(-1)), 2)
    assert np.isfinite(steps[1](steps[0](points))).all()
    assert any(np.array_equal(p, [0, 0, 0]) for p in steps[0](points))
    bow = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [-1, 0], [-1, -1], [0, -1]], float)
    tie = CagePolygons(np.array([4, 4]), np.array([0, 1, 2, 3, 0, 4, 5, 6]))
    made, (step,), _, _ = subdivide_polygons(tie, 1)
    at = step(np.c_[bow, np.zeros(7)])
    assert made.point[0] == made.point[16] and not at[made.point[0]].any()


def test_normals_are_of_length_one_and_point_outside():
    quads, (step,), _, _ = subdivide_polygons(cube(), 1)
    points = step(CUBE)
    normals = smooth_normals(quads, points)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1)
    assert abs(abs((normals * points).sum(1)) / np.linalg.norm(points, axis=1)).min() > 0.9


def test_quads_that_were_cut_are_found_again():
    quads = SIDES.astype(np.uint32)
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    mesh = mw.Mesh.rigid("box", CUBE, triangles, 0)
    count, corner, section = _polygons(mesh)
    assert count.tolist() == [4] * 6 and not section.any()
    assert {tuple(sorted(q)) for q in corner.reshape(6, 4).tolist()} == {
        tuple(sorted(q)) for q in SIDES.tolist()
    }


def test_a_subdivided_character_keeps_weights_seams_sections_and_morphs():
    hero = builders.character(3, morphs=2)
    rng = np.random.default_rng(1)
    triangles = rng.permuted(np.tile(np.arange(60), (40, 1)), axis=1)[:, :3]
    mesh = hero.meshes[0].replace(
        triangles=triangles,
        uvs=(rng.random((60, 2)),),
        colors=rng.random((60, 4)),
        sections=(mw.Section(0, 15, 1), mw.Section(15, 25, 0)),
    )
    hero = hero.replace(meshes=(mesh,), materials=(mw.Material("a"), mw.Material("b")))
    fine = mw.subdivide(hero, 1)
    assert len(fine.meshes) == len(hero.meshes) and fine.skeleton == hero.skeleton
    for old, new in zip(hero.meshes, fine.meshes):
        np.testing.assert_allclose(new.weights.sum(1), 1, atol=1e-5)
        assert [s.material for s in new.sections] == [s.material for s in old.sections]
        assert sum(s.count for s in new.sections) == new.triangle_count
        assert [t.name for t in new.morph_targets] == [t.name for t in old.morph_targets]
        assert len(new.uvs) == len(old.uvs) and (new.colors is None) == (old.colors is None)
        assert new.normals is not None and new.vertex_count > old.vertex_count
    assert "subdivided 1 times" in str(fine.report)


def test_skinning_and_subdividing_may_change_places_where_every_vertex_has_one_joint():
    """A rigid mesh moved and then subdivided is the one subdivided and then moved."""
    skeleton = mw.Skeleton(("root",), np.array([-1], np.int32))
    quads = SIDES[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    box = mw.Character(skeleton, (mw.Mesh.rigid("box", CUBE, quads, 0),))
    pose = skeleton.rest.replace(translation=np.array([[1, 2, 3]], np.float32))
    fine = mw.skin(mw.subdivide(box, 2), pose).positions
    still = mw.subdivide(box, 2).meshes[0].positions
    np.testing.assert_allclose(fine, still + np.array([1, 2, 3]), atol=1e-6)
    assert mw.subdivide(box, 0) is box


def test_too_much_is_refused():
    box = mw.Character(
        mw.Skeleton(("root",), np.array([-1], np.int32)),
        (mw.Mesh.rigid("box", np.zeros((3, 3)), [[0, 1, 2]], 0),),
    )
    with pytest.raises(ValidationError, match="at most 6"):
        mw.subdivide(box, 7)
    many = mw.Mesh.rigid("many", np.zeros((3, 3)), np.tile([[0, 1, 2]], (100_000, 1)), 0)
    with pytest.raises(ResourceLimitError, match="corners"):
        mw.subdivide(box.replace(meshes=(many,)), 5)
