"""Measuring levels: what is looked for, and how little of it has to be."""

from __future__ import annotations

import numpy as np
from lod_worlds import distances

import marrow as mw
from marrow.lod.distance import SurfaceTree
from marrow.model import Clip, Mesh, MorphTarget, Pose, Skeleton, Track


def sheet(side: int) -> tuple[np.ndarray, np.ndarray]:
    """A wavy square of `side` x `side` vertices, and its triangles."""
    x, z = (a.ravel() for a in np.meshgrid(*[np.linspace(0, 1, side)] * 2, indexing="ij"))
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    a, b, c, d = corner, corner + 1, corner + side, corner + side + 1
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])
    return np.stack([x, 0.05 * np.sin(9 * x) * np.cos(7 * z), z], 1).astype(np.float32), triangles


def face(side: int = 24) -> mw.Character:
    """A sheet that a clip bends by two morphs, on a joint that stands still."""
    positions, triangles = sheet(side)
    x, z = positions[:, 0], positions[:, 2]
    shapes = [0.2 * np.exp(-30 * ((x - at) ** 2 + (z - 0.5) ** 2)) for at in (0.3, 0.7)]
    targets = [
        MorphTarget(f"bump {k}", k, np.stack([0 * x, y, 0 * x], 1).astype(np.float32))
        for k, y in enumerate(shapes)
    ]
    skeleton = Skeleton(("root",), [-1], Pose.identity(1, 2), ("bump 0", "bump 1"))
    times = np.linspace(0, 2, 21)
    tracks = [Track(k, "morph", times, np.sin((k + 2) * times) ** 2) for k in range(2)]
    mesh = Mesh.rigid("sheet", positions, triangles, 0, morph_targets=targets)
    return mw.Character(skeleton, (mesh,), (Clip("bend", skeleton, tracks),))


def test_a_point_that_is_near_enough_is_not_searched_any_further():
    positions, triangles = sheet(9)
    tree = SurfaceTree(positions, triangles)
    tree.fit(positions)
    points = np.random.default_rng(3).uniform(-0.3, 1.3, (500, 3)).astype(np.float32)
    exact = tree.distances(points, np.full(500, -1, np.int32))
    limit = float(np.median(exact))
    told = tree.distances(points, np.full(500, -1, np.int32), enough=limit)
    far = exact > limit
    assert np.array_equal(told[far], exact[far])
    assert (told[~far] >= exact[~far]).all() and (told[~far] <= limit * (1 + 1e-6)).all()
    assert (told[~far] > exact[~far]).any()


def test_the_bound_of_a_piece_holds_for_every_point_of_it():
    positions, triangles = sheet(9)
    tree = SurfaceTree(positions, triangles)
    tree.fit(positions)
    rng = np.random.default_rng(5)
    corners = (rng.uniform(0, 1, (60, 1, 3)) + rng.uniform(-0.1, 0.1, (60, 3, 3))).astype(np.float32)
    near = np.full(180, -1, np.int32)
    tree.distances(corners.reshape(-1, 3), near)
    bounds = tree.bounds(corners, near.reshape(-1, 3))
    shares = rng.dirichlet((1, 1, 1), 200).astype(np.float32)
    inside = np.einsum("sk,nkc->nsc", shares, corners)
    off = tree.distances(inside.reshape(-1, 3), np.full(60 * 200, -1, np.int32)).reshape(60, 200)
    assert (off.max(axis=1) <= bounds + 1e-6).all()


def test_few_points_tell_how_far_a_morphing_level_is_off(monkeypatch):
    """The poses of a morph clip are much alike: what one told is not worked out again for the next."""
    searched, search = [], SurfaceTree.distances

    def counted(self, points, guess, **how):
        if not how.get("enough"):
            searched.append(len(points))
        return search(self, points, guess, **how)

    character = face()
    plain = mw.lod.build(character, (0.2,), measure=False)
    monkeypatch.setattr(SurfaceTree, "distances", counted)
    found = mw.lod.measured(plain).reduced[0].lod
    assert 0.002 < found.error < 0.05
    poses, points = 61, 4 * character.vertex_count
    assert sum(searched) < poses * points


def test_the_error_of_a_morphing_level_is_no_less_than_any_pose_shows():
    character = mw.lod.build(face(16), (0.3,))
    level = character.levels[1]
    worst = 0.0
    for time in np.linspace(0, 2, 6):
        pose = character.clips["bend"].sample(time)
        theirs, ours = (mw.skin(c, pose).positions for c in (character, level))
        worst = max(worst, distances(theirs, ours, level.meshes[0].triangles).max())
    assert worst <= level.lod.error <= 2 * worst
