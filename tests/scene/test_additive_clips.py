"""A difference has no shape of its own: an additive clip is shown over the rest pose, wherever it is shown."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
from marrow.scene.actor_state import actor_states, model_matrices
from marrow.scene.scene import Actor, Scene
from marrow.scene.views.motion import trail_points


@pytest.fixture(scope="module")
def hero() -> mw.Character:
    return mw.samples.mannequin()


def played(hero: mw.Character, time: float) -> np.ndarray:
    """Joints as an animator plays the clip, which is over the rest pose."""
    animator = mw.Animator(hero)
    animator.play("breathe", start=time)
    animator.update(0.0)
    return np.asarray(hero.skeleton.to_model(animator.pose)).reshape(-1, 3, 4)


def test_an_actor_shows_it_over_the_rest_pose(hero: mw.Character) -> None:
    clip = hero.clips["breathe"]
    assert clip.additive
    for time in (0.0, 0.6):
        (state,) = actor_states(Scene(Actor(hero, clip=clip, time=time)))
        np.testing.assert_allclose(model_matrices(state)[0], played(hero, time), atol=2e-3)
    _, _, points = trail_points(clip, "head")
    np.testing.assert_allclose(points[0, 0], played(hero, 0.0)[hero.skeleton.index("head"), :, 3], atol=2e-3)


def test_a_surface_file_has_it_over_the_rest_pose(hero: mw.Character, tmp_path) -> None:
    mw.save(hero, tmp_path / "breathe.obj", clip="breathe", time=0.6)
    mw.save(hero, tmp_path / "rest.obj")
    tall = []
    for name in ("breathe", "rest"):
        lines = (tmp_path / f"{name}.obj").read_text().splitlines()
        tall.append(np.ptp([float(line.split()[2]) for line in lines if line.startswith("v ")]))
    assert tall[0] == pytest.approx(tall[1], abs=0.05)
