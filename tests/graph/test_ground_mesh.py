"""`GroundMesh`: rays down on triangles, against a float64 search of all of them that shares nothing with the tree."""

import pickle

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError, ValidationError
from marrow.graph import FootPlacement, Graph
from marrow.graph.ground_mesh import LEAF, GroundMesh
from marrow.kernels.ground_rays import ground_below
from marrow.samples import mannequin

HERO = mannequin()


def brute(positions, triangles, points, above, depth):
    """The highest triangle below each point by 3x3 linear systems, and how far inside of it the ray is."""
    a, b, c = np.asarray(positions, np.float64)[triangles].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    heights, normals, inside = (
        np.full(len(points), np.nan),
        np.zeros((len(points), 3)),
        np.full(len(points), np.inf),
    )
    for i, p in enumerate(points):
        with np.errstate(all="ignore"):
            y = a[:, 1] - (normal[:, 0] * (p[0] - a[:, 0]) + normal[:, 2] * (p[2] - a[:, 2])) / normal[:, 1]
            on = np.column_stack([np.full(len(a), p[0]), y, np.full(len(a), p[2])])
            area = (normal * normal).sum(1)
            share = [
                (np.cross(v - u, on - u) * normal).sum(1) / area for u, v in ((a, b), (b, c), (c, a))
            ]  # fmt: skip
        least = np.min(share, axis=0)
        met = (least >= 0) & (y <= p[1] + above) & (y >= p[1] - depth)
        near = np.nanmin(np.abs(np.stack([least, y - p[1] - above, y - p[1] + depth])), initial=np.inf)
        inside[i] = near
        if met.any():
            t = np.flatnonzero(met)[np.argmax(y[met])]
            heights[i] = y[t]
            normals[i] = normal[t] * np.sign(normal[t, 1]) / np.sqrt(area[t])
    return heights, normals, inside


def sheet(n=12, size=1.0, seed=0, turn=0.4):
    """A bumpy sheet of 2 (n - 1)^2 triangles, not along the axes; the heights of all vertices are known."""
    rng = np.random.default_rng(seed)
    u, v = np.meshgrid(np.linspace(-1, 1, n), np.linspace(-1, 1, n), indexing="ij")
    u, v = size * (u + rng.uniform(-0.3, 0.3, u.shape) / n), size * (v + rng.uniform(-0.3, 0.3, u.shape) / n)
    x, z = np.cos(turn) * u - np.sin(turn) * v, np.sin(turn) * u + np.cos(turn) * v
    positions = np.column_stack([x.ravel(), rng.uniform(-0.2, 0.2, n * n), z.ravel()]).astype(np.float32)
    k = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    return positions, np.concatenate(
        [np.column_stack([k, k + 1, k + n]), np.column_stack([k + 1, k + n + 1, k + n])]
    )


def box(low, high):
    """A closed box."""
    corners = np.array([[(high if k >> c & 1 else low)[c] for c in range(3)] for k in range(8)], float)
    faces = [(0, 2, 6, 4), (1, 5, 7, 3), (0, 4, 5, 1), (2, 3, 7, 6), (0, 1, 3, 2), (4, 6, 7, 5)]
    return corners, np.array([t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])


def joined(*parts):
    positions, triangles, first = [], [], 0
    for p, t in parts:
        positions.append(p)
        triangles.append(t + first)
        first += len(p)
    return np.concatenate(positions), np.concatenate(triangles)


def floor(y, half=5.0):
    return np.array([[-half, y, -half], [-half, y, half], [half, y, half], [half, y, -half]]), np.array(
        [[0, 1, 2], [0, 2, 3]]
    )


def stairs(rise=0.17, run=0.28, count=12):
    """Treads along +z from z = 0, each a level quad with the riser before it; a wide floor before and after."""
    parts = [(np.array([[-2.0, 0, -4], [-2, 0, 0], [2, 0, 0], [2, 0, -4]]), np.array([[0, 1, 2], [0, 2, 3]]))]
    for k in range(count):
        z, y = run * k, rise * k
        end = z + run if k < count - 1 else z + 8
        corners = [
            [-2, y, z],
            [2, y, z],
            [2, y + rise, z],
            [-2, y + rise, z],
            [-2, y + rise, end],
            [2, y + rise, end],
        ]
        parts.append((np.array(corners, float), np.array([[0, 1, 2], [0, 2, 3], [3, 2, 5], [3, 5, 4]])))
    return joined(*parts)


@pytest.mark.parametrize("count", [1, 3, LEAF, LEAF + 1, 33, 700])
def test_random_triangles_agree_with_a_search_of_all(count):
    rng = np.random.default_rng(count)
    middle = rng.uniform(-2, 2, (count, 1, 3))
    size = rng.choice([0.1, 0.5, 3.0], (count, 1, 1))
    positions = (middle + size * rng.uniform(-1, 1, (count, 3, 3))).reshape(-1, 3).astype(np.float32)
    triangles = (
        rng.permutation(3 * count).reshape(-1, 3) if count < 5 else np.arange(3 * count).reshape(-1, 3)
    )
    points = rng.uniform(-2.5, 2.5, (150, 3))
    found = GroundMesh(positions, triangles).query(points, 0.7, depth=1.9)
    heights, normals, inside = brute(positions, triangles, points, 0.7, 1.9)
    sure = inside > 1e-5
    assert sure.mean() > 0.9
    np.testing.assert_array_equal(found.hit[sure], np.isfinite(heights[sure]))
    hit = sure & found.hit
    np.testing.assert_allclose(found.heights[hit], heights[hit], atol=3e-5)
    np.testing.assert_allclose(found.normals[hit], normals[hit], atol=3e-5)
    assert np.isnan(found.heights[~found.hit]).all() and (found.normals[~found.hit] == [0, 1, 0]).all()


@pytest.mark.parametrize("away", [(0, 0, 0), (3217.3, 77.7, -9876.1)])
def test_no_ray_falls_between_triangles(away):
    """Exactly through every vertex and along every edge of a sheet: there is ground, as high as the edge."""
    positions, triangles = sheet()
    places = positions.astype(np.float64) + away
    mesh = GroundMesh(places, triangles)
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    t = np.concatenate([[0.0, 0.5, 1.0], np.random.default_rng(1).random(17)])
    points = places[edges[:, 0], None] * (1 - t[:, None]) + places[edges[:, 1], None] * t[:, None]
    n = 12
    rim = [k for k in range(n * n) if k // n in (0, n - 1) or k % n in (0, n - 1)]
    inner = ~np.isin(edges, rim).any(axis=1)
    found = mesh.query(points[inner].reshape(-1, 3), 1.0)
    assert found.hit.all()
    np.testing.assert_allclose(found.heights, points[inner][..., 1].ravel(), atol=1e-5 if any(away) else 1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=1), 1.0)
    assert (found.normals[:, 1] > 0).all()


def test_on_an_edge_the_flatter_triangle_counts():
    ridge = np.array([[0.0, 1, 0], [0, 1, 1], [2, 1, 0], [2, 1, 1], [-1, 0, 0], [-1, 0, 1]])
    triangles = np.array([[4, 0, 1], [4, 1, 5], [0, 2, 1], [2, 3, 1]])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        found = GroundMesh(ridge, triangles[order]).query([[0.0, 1.2, 0.3], [0.0, 1.2, 0.0]], 1.0)
        assert found.normals.tolist() == [[0, 1, 0]] * 2 and found.heights.tolist() == [1, 1]


def test_ceilings_and_floors_above_are_not_taken():
    house = GroundMesh(*joined(floor(0.0), floor(2.5), floor(5.0)))
    points = [[0.5, y, 0.2] for y in (0.0, 0.3, 2.6, 4.9, 5.2, 1.3, -1.0)]
    found = house.query(points, 0.5)
    assert found.hit.tolist() == [True, True, True, True, True, False, False]
    np.testing.assert_allclose(found.heights[:5], [0, 0, 2.5, 5, 5])
    assert house.query(points, 0.5, depth=np.inf).heights[5] == 0.0
    assert house.query(points, np.inf).heights.tolist() == [5.0] * 7


def test_walls_are_no_ground():
    """Rays along the sides of a crate that stands on the floor, and along its edges."""
    ground = GroundMesh(*joined(floor(0.0), box((-1.0, 0.0, -1.0), (1.0, 0.5, 1.0))))
    found = ground.query([[1.0, 0.2, 0.3], [1.0, 0.2, 1.0], [1.0 + 1e-9, 0.2, 0.3], [0.0, 0.2, 0.0]], 1.0)
    assert found.hit.all() and (found.normals == [0, 1, 0]).all()
    np.testing.assert_allclose(found.heights, [0.5, 0.5, 0.0, 0.5])
    crate, sides = box((-1.0, 0.0, -1.0), (1.0, 0.5, 1.0))
    crate[crate[:, 1] > 0] *= [1 - 1e-4, 1, 1]  # its sides lean by a hundredth of a degree
    found = GroundMesh(*joined(floor(0.0), (crate, sides))).query([[1 - 0.5e-4, 0.2, 0.3]], 1.0)
    assert found.heights.tolist() == [0.0] and found.normals.tolist() == [[0, 1, 0]]


def test_a_riser_that_leans_by_a_hair_leaves_no_gap():
    """The treads end at both sides of a riser that is 0.1 mm thick as seen from above: a ray down on it meets it."""
    positions, triangles = stairs(count=2)
    positions[4 : 4 + 6][2:4, 2] += 1e-4
    found = GroundMesh(positions, triangles).query([[0.0, 0.0, 0.5e-4]], 1.0)
    assert found.hit.all() and 0 <= found.heights[0] <= 0.17


def test_holes_have_no_ground_and_leave_feet_alone():
    mesh = GroundMesh([[2, 0, 2], [2, 0, 4], [4, 0, 2]], [[0, 1, 2]])
    assert not mesh.query([[0, 0, 0], [3.9, 0, 3.9], [np.nan, 0, 2.1], [2.1, np.nan, 2.1]], np.inf).hit.any()
    animator, plain = mw.Animator(HERO, Graph(FootPlacement("walk"))), mw.Animator(HERO, Graph("walk"))
    animator.ground = mesh
    for _ in range(5):
        animator.update(1 / 30)
        plain.update(1 / 30)
    np.testing.assert_array_equal(animator.matrices, plain.matrices)


def test_triangles_without_area_change_nothing():
    positions, triangles = sheet(6)
    spoiled = np.concatenate([triangles[:, [0, 0, 1]], triangles, triangles[:, [2, 2, 2]]])
    points = np.random.default_rng(2).uniform(-0.6, 0.6, (200, 3))
    for a, b in zip(
        GroundMesh(positions, spoiled).query(points, 2.0), GroundMesh(positions, triangles).query(points, 2.0)
    ):
        np.testing.assert_array_equal(a, b)


def test_threads_and_pieces_give_the_same_bits():
    mesh = GroundMesh(*sheet(30))
    points = np.random.default_rng(3).uniform(-1, 1, (3000, 3))
    whole = mesh.query(points, 2.0)
    pieces = zip(*(mesh.query(some, 2.0) for some in np.split(points, 10)))
    for other in (mesh.query(points, 2.0, threads=4), map(np.concatenate, pieces)):
        for a, b in zip(whole, other):
            np.testing.assert_array_equal(a, b)


def test_python_gives_the_bits_of_machine_code():
    mesh = GroundMesh(*sheet(9))
    points = np.random.default_rng(4).uniform(-1.1, 1.1, (60, 3))
    whole = mesh.query(points, 0.3, depth=0.5)
    heights, normals, hit = np.zeros(60), np.zeros((60, 3)), np.zeros(60, np.uint8)
    frame = ground_below.frame(
        boxes=mesh._boxes, corners=mesh._corners, points=points - mesh._origin, heights=heights, normals=normals, hit=hit,
        nodes=np.zeros(64, np.int32), leaf=LEAF, above=0.3, depth=0.5, start=0, stop=60,
    )  # fmt: skip
    ground_below.run_plainly(frame)
    np.testing.assert_array_equal(heights + mesh._origin[1], whole.heights)
    np.testing.assert_array_equal(normals, whole.normals)
    np.testing.assert_array_equal(hit != 0, whole.hit)
    assert 0 < hit.sum() < 60


@pytest.mark.parametrize(
    ("positions", "triangles", "words"),
    [
        ([[0, 0, 0], [1, 0, 0], [0, np.nan, 1]], [[0, 1, 2]], "triangle 0 has a corner that is not finite"),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, 1, 2], [0, 1, 3]], "triangle 1 is .*3 vertices"),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0, -1, 2]], "triangle 0"),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], "nothing to stand on"),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 1]], np.zeros((0, 3), int), "nothing to stand on"),
        ([[0, 0, 0], [1e300, 0, 0], [0, 0, 1]], [[0, 1, 2]], "single precision"),
        ([[0, 0], [1, 0]], [[0, 1, 0]], "positions"),
        ([[0, 0, 0], [1, 0, 0], [0, 0, 1]], [[0.5, 1, 2]], "whole numbers"),
        (None, [[0, 1, 2]], "positions"),
    ],
)
def test_hostile_meshes_are_refused_in_words(positions, triangles, words):
    with pytest.raises(ValidationError, match=words):
        GroundMesh(positions, triangles)


def test_wrong_points_and_reaches_are_refused_in_words():
    mesh = GroundMesh(*floor(0.0))
    for points, reach in (([1.0, 2, 3], 1.0), ([[0, 0, 0.0]], -1.0), ([[0, 0, 0.0]], "far"), ("here", 1.0)):
        with pytest.raises(ValidationError, match=r"GroundMesh\.query"):
            mesh.query(points, reach)
    assert mesh.query(np.zeros((0, 3)), 1.0).heights.shape == (0,)


def test_a_vertex_that_no_triangle_uses_does_not_matter():
    positions, triangles = floor(0.5)
    mesh = GroundMesh(np.concatenate([positions, [[np.nan, np.inf, 1e300]]]), triangles)
    assert mesh.query([[0, 0, 0]], 1.0).heights.tolist() == [0.5]


def prop(positions, triangles, name="stairs"):
    """A file's worth of triangles: half as high, carried by a joint that lifts and doubles it."""
    bones = mw.Skeleton((name,), [-1], mw.Pose([[0, 1, 0]], [[0, 0, 0, 1]], [[2, 2, 2]]))
    return mw.Character(bones, (mw.Mesh.rigid(name, (positions - [0, 1, 0]) / 2, triangles, 0),), name=name)


def test_a_mesh_a_character_and_a_file_are_ground(tmp_path):
    positions, triangles = stairs()
    character = prop(positions, triangles)
    mw.save(character, tmp_path / "stairs.glb")
    mesh = mw.Mesh.rigid("stairs", positions, triangles, 0)
    animator = mw.Animator(HERO)
    points = np.random.default_rng(5).uniform([-1, -1, -1], [1, 3, 5], (50, 3))
    wanted = GroundMesh(positions, triangles).query(points, 4.0)
    for ground in (
        mesh,
        character,
        tmp_path / "stairs.glb",
        str(tmp_path / "stairs.glb"),
        GroundMesh(positions, triangles),
    ):
        animator.ground = ground
        assert isinstance(animator.ground, mw.GroundMesh)
        found = animator.ground.query(points, 4.0)
        assert found.hit.all()
        np.testing.assert_allclose(found.heights, wanted.heights, atol=1e-5)
    animator.ground = character
    kept = animator.ground
    animator.ground = character
    assert animator.ground is kept  # the tree of an asset is built once


def test_what_is_no_ground_is_told_in_words(tmp_path):
    animator = mw.Animator(HERO, count=2)
    (tmp_path / "broken.glb").write_bytes(b"glTF")
    bones = mw.Character(mw.Skeleton(("hips",), [-1]), name="bones")
    for ground, words in (
        (str(tmp_path / "none.glb"), "none.glb"),
        (tmp_path / "broken.glb", "broken.glb"),
        (bones, "'bones' has no triangles"),
        (np.zeros((4, 5)), "HeightField"),
        ({"height": 1}, "GroundMesh"),
    ):
        with pytest.raises(MarrowError, match=f"ground: .*{words}"):
            animator.ground = ground
    assert animator.ground is None


def test_feet_stand_on_a_mesh_as_on_the_function_of_its_heights():
    positions, triangles = stairs()

    def heights(places):
        return 0.17 * np.clip(np.floor(places[:, 1] / 0.28) + 1, 0, 12)

    by_mesh, by_function = (mw.Animator(HERO, Graph(FootPlacement("idle")), count=5) for _ in range(2))
    by_mesh.ground, by_function.ground = GroundMesh(positions, triangles), heights
    z = np.linspace(-1.0, 2.7, 5)
    places = np.column_stack([np.zeros(5), heights(np.column_stack([z, z])), z])
    for crowd in (by_mesh, by_function):
        crowd.root.set(places)
        for _ in range(10):
            crowd.update(1 / 30)
    np.testing.assert_allclose(by_mesh.model_matrices, by_function.model_matrices, atol=1e-4)
    assert np.ptp(by_mesh.model_matrices[:, HERO.skeleton.index("foot_l"), 1, 3]) > 0.1


def test_ground_that_is_replaced_between_frames_is_followed():
    animator = mw.Animator(HERO, Graph(FootPlacement("idle", settle=0.0)))
    foot = HERO.skeleton.index("foot_l")
    heights = []
    for y in (0.0, 0.2, -0.1):
        animator.ground = GroundMesh(*floor(y))
        for _ in range(60):
            animator.update(1 / 30)
        heights.append(animator.model_matrices[foot, 1, 3])
    np.testing.assert_allclose(np.diff(heights), [0.2, -0.3], atol=0.01)


def test_a_snapshot_with_a_mesh_is_kept_in_a_file():
    animator = mw.Animator(HERO, Graph(FootPlacement("idle")))
    animator.ground = GroundMesh(*floor(0.1))
    animator.update(1 / 30)
    kept = pickle.loads(pickle.dumps(animator.snapshot()))
    animator.ground = None
    animator.restore(kept)
    assert animator.ground.query([[0, 0, 0]], 1.0).heights[0] == pytest.approx(0.1)
