"""Rotations in other forms against their definitions."""

import numpy as np
import pytest

from marrow.kernels.rotations import angular_velocities, euler_angles, rotation_vectors
from marrow.math import quaternion


def turns(count: int) -> np.ndarray:
    rng = np.random.default_rng(2)
    q = rng.normal(size=(count, 4)).astype(np.float32)
    q[: count // 4] *= np.float32(1e-30)
    q[count // 4 : count // 2, :3] *= np.float32(1e-9)  # hardly a turn
    q[3] = 0
    q[4] = 0, 0, 0, -1
    q[5] = 1, 0, 0, 0
    return q


def test_rotation_vectors_are_the_logarithm():
    q = turns(400)
    out = np.empty((400, 3), np.float32)
    rotation_vectors(q, out)
    np.testing.assert_allclose(out, quaternion.log(q.astype(np.float64)), atol=1e-6)


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_euler_angles_give_the_turn_back(order):
    q = quaternion.normalize(turns(400).astype(np.float64)).astype(np.float32)
    right = quaternion.from_euler(np.array([[0.3, np.pi / 2, 0.5], [1.0, -np.pi / 2, 0.2]]), order)
    q[6:8] = right  # locked
    out = np.empty((400, 3), np.float32)
    euler_angles(q, out, *("xyz".index(axis) for axis in order))
    assert (
        quaternion.angle(quaternion.from_euler(out.astype(np.float64), order), q.astype(np.float64)).max()
        < 2e-3
    )
    free = np.abs(np.abs(out[:, 1]) - np.pi / 2) > 1e-2
    exact = quaternion.to_euler(q.astype(np.float64), order)
    np.testing.assert_allclose(out[free], exact[free], atol=1e-5)


def test_angular_velocity_is_central_and_per_second():
    q = quaternion.normalize(turns(60).astype(np.float64)).astype(np.float32).reshape(20, 3, 4)
    out = np.empty((20, 3, 3), np.float32)
    angular_velocities(q, out, 30.0)
    wide = q.astype(np.float64)

    def per_second(a: np.ndarray, b: np.ndarray, rate: float) -> np.ndarray:
        return quaternion.log(quaternion.multiply(b, quaternion.conjugate(a))) * rate

    np.testing.assert_allclose(out[1:-1], per_second(wide[:-2], wide[2:], 15.0), atol=1e-3)
    np.testing.assert_allclose(out[0], per_second(wide[0], wide[1], 30.0), atol=1e-3)
    np.testing.assert_allclose(out[-1], per_second(wide[-2], wide[-1], 30.0), atol=1e-3)
    one = np.ones((1, 3, 3), np.float32)
    angular_velocities(q[:1].copy(), one, 30.0)
    assert not one.any()
