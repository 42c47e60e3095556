"""Rotations, transforms and affine matrices: algebra that must hold for any input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import rotations
from marrow.math import affine, dual_quaternion, quaternion, transform

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
def test_product_of_quaternions_rotates_like_product_of_matrices(seed):
    rng = np.random.default_rng(seed)
    a, b, v = rotations(rng, (5,)), rotations(rng, (5,)), rng.normal(size=(5, 3))
    by_matrix = quaternion.to_matrix(a) @ quaternion.to_matrix(b) @ v[..., None]
    np.testing.assert_allclose(quaternion.rotate(quaternion.multiply(a, b), v), by_matrix[..., 0], atol=1e-12)


@given(seeds)
def test_matrix_and_back_is_the_same_rotation(seed):
    q = rotations(np.random.default_rng(seed), (20,))
    assert quaternion.angle(quaternion.from_matrix(quaternion.to_matrix(q)), q).max() < 1e-7


def test_matrix_and_back_at_half_turns():
    half_turns = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.6, 0.8, 0, 0]], float)
    back = quaternion.from_matrix(quaternion.to_matrix(half_turns))
    assert quaternion.angle(back, half_turns).max() < 1e-12


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"])
def test_euler_angles_come_back(order):
    rng = np.random.default_rng(3)
    angles = rng.uniform([-3, -1.5, -3], [3, 1.5, 3], (50, 3))
    q = quaternion.from_euler(angles, order)
    np.testing.assert_allclose(quaternion.to_euler(q, order), angles, atol=1e-9)
    locked = quaternion.from_euler([[0.3, np.pi / 2, 0.4], [0.3, -np.pi / 2, 0.4]], order)
    again = quaternion.from_euler(quaternion.to_euler(locked, order), order)
    assert quaternion.angle(again, locked).max() < 1e-6


def test_euler_order_is_intrinsic():
    z_then_x = quaternion.from_euler([np.pi / 2, np.pi / 2], "zx")
    # X(90) takes y to z, then Z(90) leaves z alone.
    np.testing.assert_allclose(quaternion.rotate(z_then_x, [0, 1, 0]), [0, 0, 1], atol=1e-12)


def test_slerp_keeps_speed_and_takes_the_short_way():
    a, b = quaternion.identity(dtype=np.float64), quaternion.from_axis_angle([0.0, 0, 1], 1.2)
    for sign in (1, -1):
        part = quaternion.slerp(a, sign * b, np.linspace(0, 1, 5))
        np.testing.assert_allclose(quaternion.angle(a, part), np.linspace(0, 1.2, 5), atol=1e-9)


def test_zero_quaternion_normalises_to_identity():
    np.testing.assert_array_equal(quaternion.normalize([0.0, 0, 0, 0]), [0, 0, 0, 1])


def test_between_opposite_directions_is_a_half_turn():
    q = quaternion.between([0.0, 1, 0], [0.0, -1, 0])
    np.testing.assert_allclose(quaternion.rotate(q, [0, 1, 0]), [0, -1, 0], atol=1e-12)


def test_wxyz_is_a_reordering():
    np.testing.assert_array_equal(quaternion.from_wxyz([1, 2, 3, 4]), [2, 3, 4, 1])
    np.testing.assert_array_equal(quaternion.to_wxyz([2, 3, 4, 1]), [1, 2, 3, 4])


@given(seeds, st.booleans())
def test_decompose_undoes_compose(seed, mirrored):
    rng = np.random.default_rng(seed)
    t, q, s = rng.normal(size=(8, 3)), rotations(rng, (8,)), rng.uniform(0.1, 3, (8, 3))
    if mirrored:
        s[:, rng.integers(3)] *= -1
    m = transform.compose(t, q, s)
    np.testing.assert_allclose(transform.compose(*transform.decompose(m)), m, atol=1e-10)


def test_decompose_survives_zero_scale():
    m = transform.compose(np.zeros(3), rotations(np.random.default_rng(0), ()), [0.0, 0, 0])
    t, q, s = transform.decompose(m)
    assert (
        np.isfinite(q).all() and np.linalg.norm(q) == pytest.approx(1) and (s == 0).all() and (t == 0).all()
    )


@given(seeds)
def test_inverse_undoes(seed):
    rng = np.random.default_rng(seed)
    m = transform.compose(rng.normal(size=(4, 3)), rotations(rng, (4,)), rng.uniform(0.5, 2, (4, 3)))
    np.testing.assert_allclose(affine.multiply(affine.invert(m), m), affine.identity((4,)), atol=1e-9)


@given(seeds)
def test_cofactor_carries_cross_products(seed):
    rng = np.random.default_rng(seed)
    m, a, b = rng.normal(size=(3, 4)), rng.normal(size=3), rng.normal(size=3)
    np.testing.assert_allclose(
        affine.cofactor(m) @ np.cross(a, b), np.cross(m[:, :3] @ a, m[:, :3] @ b), atol=1e-9
    )


@given(seeds)
def test_polar_gives_rotation_and_symmetric_stretch(seed):
    m = np.random.default_rng(seed).normal(size=(6, 3, 3))
    r, s = transform.polar(m)
    np.testing.assert_allclose(np.linalg.det(r), 1, atol=1e-9)
    np.testing.assert_allclose(r @ s, m, atol=1e-9)
    np.testing.assert_allclose(s, np.swapaxes(s, -1, -2), atol=1e-9)


@given(seeds)
def test_dual_quaternion_is_the_rigid_motion(seed):
    rng = np.random.default_rng(seed)
    q, t, p = rotations(rng, (7,)), rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    dq = dual_quaternion.from_rigid(q, t)
    np.testing.assert_allclose(dual_quaternion.apply(dq, p), quaternion.rotate(q, p) + t, atol=1e-12)
    np.testing.assert_allclose(dual_quaternion.to_rigid(dual_quaternion.normalize(3 * dq))[1], t, atol=1e-9)


def test_polar_of_what_is_not_finite_is_nan_and_disturbs_no_other():
    m = np.stack([np.eye(3), np.full((3, 3), np.nan), 2 * np.eye(3)])
    m[1, 0, 0] = np.inf
    rotation, stretch = transform.polar(m)
    assert np.isnan(rotation[1]).all() and np.isnan(stretch[1]).all()
    np.testing.assert_allclose(rotation[[0, 2]], [np.eye(3)] * 2)
    np.testing.assert_allclose(stretch[[0, 2]], [np.eye(3), 2 * np.eye(3)])


def test_the_nearest_rotation_brings_points_back_even_in_a_plane_or_mirrored():
    rng = np.random.default_rng(4)
    turn = quaternion.to_matrix(quaternion.normalize(rng.normal(size=(20, 4))))
    for flat in ([1, 1, 1], [1, 1, 0]):  # points in space, and in a plane
        points = rng.normal(size=(30, 3)) * flat
        found = transform.nearest_rotation(turn @ (points.T @ points))
        np.testing.assert_allclose(found, turn, atol=1e-9)
    # It maximises the trace, and stays a rotation where the best map would mirror.
    wanted = rng.normal(size=(20, 3, 3))
    best = transform.nearest_rotation(wanted)
    np.testing.assert_allclose(np.linalg.det(best), 1, atol=1e-9)
    for _ in range(30):
        other = quaternion.to_matrix(quaternion.normalize(rng.normal(size=(20, 4))))
        assert (np.einsum("nij,nij->n", other, wanted) <= np.einsum("nij,nij->n", best, wanted) + 1e-9).all()
