"""Clips: targets that pull for a while are reached, and the body goes there and back smoothly."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import ValidationError
from marrow.ik import Effector, Goal, Solver
from marrow.ik.clip_solving import spread
from marrow.samples import mannequin


def test_changes_are_spread_as_the_dense_system_says():
    rng = np.random.default_rng(0)
    T, stiffness = 12, 7.0
    values, weights = rng.normal(size=(T, 3)), np.where(np.arange(T) % 5 < 2, 100.0, 0.0)
    second = np.diff(np.eye(T), n=2, axis=0)
    dense = np.diag(weights + 1) + stiffness * second.T @ second
    np.testing.assert_allclose(
        spread(values, weights, stiffness), np.linalg.solve(dense, weights[:, None] * values), atol=1e-9
    )


def grab(smooth):
    """A hand that is at a place from 0.8 to 1.0 s of an idle clip."""
    hero = mannequin()
    clip = hero.clips["idle"]
    rate = 30.0
    times = np.linspace(0, clip.duration, clip.resampled(rate).frame_count)
    weight = ((times >= 0.8) & (times <= 1.0)).astype(float)
    solver = Solver(hero, [Effector("@left_hand"), Effector("@left_foot"), Effector("@right_foot")])
    found = solver.solve_clip(
        clip, {"@left_hand": Goal((0.35, 1.35, 0.3), weight=weight)}, rate=rate, smooth=smooth
    )
    places = hero.skeleton.to_model(found.clip.sample(times))[..., 3]
    return hero, found, weight, places[:, hero.skeleton.index("@left_hand")], places


def test_a_target_that_pulls_for_a_while_is_reached_smoothly():
    hero, found, weight, hand, places = grab(0.25)
    assert found.distance[weight > 0, 0].max() < 1e-4
    np.testing.assert_allclose(
        hand[weight > 0], np.tile((0.35, 1.35, 0.3), (int(weight.sum()), 1)), atol=2e-4
    )
    _, _, _, snapping, _ = grab(0.0)
    smooth, sudden = (np.abs(np.diff(h, n=2, axis=0)).max() for h in (hand, snapping))
    assert smooth < 0.25 * sudden
    # Feet stay where the clip has them, all the time.
    before = hero.skeleton.to_model(hero.clips["idle"].sample(found.times))[..., 3]
    foot = hero.skeleton.index("@left_foot")
    np.testing.assert_allclose(places[:, foot], before[:, foot], atol=2e-4)


def test_a_clip_of_another_skeleton_is_refused():
    hero = mannequin()
    other = mw.Skeleton(("a", "b"), [-1, 0])
    clip = mw.Clip.from_poses("still", other, other.rest.broadcast_to((3,)), 30.0)
    solver = Solver(hero, ["@left_hand"])
    with pytest.raises(ValidationError, match="retarget"):
        solver.solve_clip(clip, {})
    with pytest.raises(ValidationError, match="frames"):
        solver.solve_clip(hero.clips["idle"], {"@left_hand": np.zeros((3, 1, 3))})
