"""The lizard: another body plan through the same engine."""

from __future__ import annotations

import measures
import numpy as np

import marrow as mw
from marrow.math import affine
from samples_modeller.reptile import LEGS, WALK_SPEED


def test_lizard_is_small_and_not_a_human(lizard):
    assert 20 <= len(lizard.skeleton) <= 40
    assert set(lizard.clips) == {"bask", "walk"}
    assert {"tail_08", "jaw", "hind_foot_r"} <= set(lizard.skeleton.names)


def test_lizard_skin_is_closed_clean_and_symmetric(lizard):
    (mesh,) = lizard.meshes
    assert measures.is_closed_manifold(mesh)
    facing, area = measures.face_normals(mesh)
    assert area.min() > 1e-8
    assert np.einsum("fi,fki->fk", facing, mesh.normals[mesh.triangles]).min() > 0.2
    positions = np.unique(mesh.positions, axis=0)
    np.testing.assert_array_equal(positions, np.unique(positions * np.float32([-1, 1, 1]), axis=0))
    np.testing.assert_allclose(mesh.weights.sum(1), 1, atol=1e-6)
    assert len(mesh.sections) >= 3


def test_lizard_walks_without_sliding(lizard):
    clip = lizard.clips["walk"]
    times = np.arange(0, 2 * clip.duration, 1 / 240)
    matrices = measures.model(lizard.skeleton, clip.sample(times, loop=True))
    # Looping repeats the travel of the root: put the second round where the first one ended.
    matrices[times >= clip.duration, :, 2, 3] += WALK_SPEED * clip.duration
    for leg, points in LEGS.items():
        for side, sign in (("l", 1), ("r", -1)):
            ankle = points[2] * [sign, 1, 1]
            path = measures.carried(lizard.skeleton, matrices, f"{leg}_foot_{side}", ankle)
            path[:, 1] -= points[2][1]
            assert measures.longest_slide(path[2:-2], 0.002) < 0.005
            assert path[:, 1].max() > 0.02


def test_lizard_clips_loop(lizard):
    for clip in lizard.clips.values():
        ends = measures.model(lizard.skeleton, clip.sample(np.array([0.0, clip.duration])))
        body = affine.multiply(affine.invert(ends[:, :1]), ends)
        np.testing.assert_allclose(body[1], body[0], atol=2e-3)


def test_lizard_can_be_skinned(lizard):
    clip = lizard.clips["walk"]
    surface = mw.skin(lizard, clip.sample(np.linspace(0, clip.duration, 5)))
    assert np.isfinite(surface.positions).all()
    assert surface.positions[..., 1].min() > -0.03
