"""The two-bone solve: reaches what can be reached, changes nothing it need not, folds the right way, and never jumps."""

from __future__ import annotations

import numpy as np

from marrow.math import quaternion
from marrow.motion.two_bone import reach


def ends(start, middle, end, found):
    """Where middle and end are after a solve."""
    grown = found.stretch[:, None]
    knee = start + quaternion.rotate(found.upper, middle - start) * grown
    return knee, knee + quaternion.rotate(found.lower, end - middle) * grown


def test_it_reaches_what_can_be_reached() -> None:
    rng = np.random.default_rng(0)
    start = rng.normal(size=(2000, 3))
    middle = start + rng.normal(size=start.shape)
    end = middle + rng.normal(size=start.shape)
    goal = end + rng.normal(0, 0.3, start.shape)
    la, lb = (np.linalg.norm(v, axis=1) for v in (middle - start, end - middle))
    far = np.linalg.norm(goal - start, axis=1)
    can = (far < 0.999 * (la + lb)) & (far > 1.001 * np.abs(la - lb))
    found = reach(start, middle, end, goal, most=1.0)
    assert found.error[can].max() < 1e-9
    knee, foot = ends(start, middle, end, found)
    np.testing.assert_allclose(foot[can], goal[can], atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(knee - start, axis=1), la, rtol=1e-9)


def test_a_limb_that_is_there_already_stays() -> None:
    rng = np.random.default_rng(1)
    start = np.zeros((500, 3))
    middle = start + np.array([0, -0.4, 0.05]) + rng.normal(0, 0.02, start.shape)
    end = middle + np.array([0, -0.4, -0.05]) + rng.normal(0, 0.02, start.shape)
    found = reach(start, middle, end, end, most=1.06, hint=np.tile([0, 0, 1.0], (500, 1)))
    assert np.degrees(quaternion.angle(found.upper, quaternion.identity())).max() < 2
    assert found.error.max() < 1e-9


def test_beyond_reach_it_is_lengthened_a_little_and_says_what_is_left() -> None:
    start, middle, end = np.zeros((2, 3)), np.tile([0, -0.4, 0.02], (2, 1)), np.tile([0, -0.8, 0.0], (2, 1))
    found = reach(start, middle, end, np.array([[0, -0.82, 0], [0, -1.0, 0.0]]), most=1.05)
    assert found.error[0] < 1e-9 and 1.02 < found.stretch[0] < 1.03
    assert found.stretch[1] == 1.05 and 0.15 < found.error[1] < 0.17


def test_an_overstretched_knee_folds_forward_without_a_jump() -> None:
    """A leg bent five degrees backwards is pushed together, by nothing at first and then by a fifth of its length."""
    T = 400
    back = np.radians(2.5)
    start = np.zeros((T, 3))
    middle = np.tile([0, -0.4 * np.cos(back), -0.4 * np.sin(back)], (T, 1))
    end = np.tile([0, -0.8 * np.cos(back), 0.0], (T, 1))
    goal = end + np.linspace(0, 0.16, T)[:, None] * [0, 1, 0]
    found = reach(start, middle, end, goal, most=1.06, hint=np.tile([0, 0, 1.0], (T, 1)))
    knee, foot = ends(start, middle, end, found)
    np.testing.assert_allclose(foot, goal, atol=1e-9)
    assert knee[-1, 2] > 0.1, "the knee is in front"
    assert np.linalg.norm(np.diff(knee, axis=0), axis=1).max() < 0.02, "and came there step by step"
    assert found.stretch.min() > 0.97
