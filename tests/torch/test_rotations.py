"""Conversions against marrow's float64 arrays, and their gradients also at the singular points."""

from __future__ import annotations

import numpy as np
import pytest

import marrow.torch as mt
import torch
from marrow.errors import ValidationError
from marrow.math import quaternion, rotation6d
from marrow.torch import rotations as r

RNG = np.random.default_rng(5)
TURNS = torch.tensor(quaternion.normalize(RNG.normal(size=(20, 4))))
HALF = torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.6, 0.8, 0, 0]], dtype=torch.float64)
ALL = torch.cat([TURNS, HALF, torch.tensor([[0.0, 0, 0, 1], [0, 0, 0, -1]], dtype=torch.float64)])


def same_turn(a: torch.Tensor, b: torch.Tensor) -> None:
    assert ((a * b).sum(-1).abs() - 1).abs().max() < 1e-12


def test_matrices_are_those_of_the_arrays() -> None:
    m = r.quaternion_to_matrix(ALL)
    np.testing.assert_allclose(m, quaternion.to_matrix(ALL.numpy()), atol=1e-14)
    same_turn(r.matrix_to_quaternion(m), ALL)
    np.testing.assert_allclose(r.quaternion_to_matrix(3 * ALL), m, atol=1e-14)


def test_six_numbers_are_those_of_the_arrays() -> None:
    m = r.quaternion_to_matrix(ALL)
    six = r.matrix_to_rotation_6d(m)
    np.testing.assert_allclose(six, rotation6d.to_6d(ALL.numpy()), atol=1e-14)
    np.testing.assert_allclose(r.rotation_6d_to_matrix(six), m, atol=1e-14)
    noisy = six + 0.3 * torch.tensor(RNG.normal(size=six.shape))
    wanted = quaternion.to_matrix(rotation6d.from_6d(noisy.numpy()))
    np.testing.assert_allclose(r.rotation_6d_to_matrix(noisy), wanted, atol=1e-12)


@pytest.mark.parametrize(
    "six", [[0.0] * 6, [1, 0, 0, 2, 0, 0], [0, 0, 0, 0, 1, 0], [1e-20] * 6, [0, 3, 0, 0, -1, 0]]
)
def test_six_numbers_that_say_nothing_are_still_a_rotation(six: list[float]) -> None:
    values = torch.tensor(six, dtype=torch.float64, requires_grad=True)
    m = r.rotation_6d_to_matrix(values)
    np.testing.assert_allclose((m @ m.T).detach(), np.eye(3), atol=1e-12)
    assert torch.linalg.det(m) > 0
    (grad,) = torch.autograd.grad(m.sum(), values)
    assert torch.isfinite(grad).all()


def test_rotation_vectors_there_and_back() -> None:
    v = torch.tensor(RNG.normal(size=(30, 3)))
    v = v / v.norm(dim=-1, keepdim=True) * torch.linspace(0, np.pi - 1e-6, 30)[:, None]
    angle = v.norm(dim=-1).numpy()
    q = r.axis_angle_to_quaternion(v)
    axis = np.where(angle[:, None] > 0, v.numpy() / np.maximum(angle, 1e-300)[:, None], [1.0, 0, 0])
    np.testing.assert_allclose(q, quaternion.from_axis_angle(axis, angle), atol=1e-12)
    np.testing.assert_allclose(r.quaternion_to_axis_angle(q), v, atol=1e-9)
    np.testing.assert_allclose(r.quaternion_to_axis_angle(-q), v, atol=1e-9)


@pytest.mark.parametrize("order", ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"])
def test_euler_angles_are_products_of_turns_about_axes(order: str) -> None:
    angles = torch.tensor(RNG.uniform(-1.4, 1.4, (12, 3)))
    axes = {"X": [1.0, 0, 0], "Y": [0, 1.0, 0], "Z": [0, 0, 1.0]}
    wanted = np.eye(3)
    for i, letter in enumerate(order):
        turn = quaternion.to_matrix(quaternion.from_axis_angle(np.array(axes[letter]), angles[:, i].numpy()))
        wanted = wanted @ turn
    q = r.euler_to_quaternion(angles, order)
    np.testing.assert_allclose(r.quaternion_to_matrix(q), wanted, atol=1e-12)
    np.testing.assert_allclose(r.quaternion_to_euler(q, order), angles, atol=1e-9)
    for middle in (np.pi / 2, -np.pi / 2):  # gimbal lock
        locked = torch.tensor([0.4, middle, 0.7], dtype=torch.float64)
        q = r.euler_to_quaternion(locked, order).requires_grad_()
        back = r.quaternion_to_euler(q, order)
        same = r.quaternion_to_matrix(r.euler_to_quaternion(back, order))
        np.testing.assert_allclose(same.detach(), r.quaternion_to_matrix(q).detach(), atol=1e-6)
        assert torch.isfinite(torch.autograd.grad(back.sum(), q)[0]).all()


CONVERSIONS = {
    "quaternion_to_matrix": (r.quaternion_to_matrix, ALL),
    "matrix_to_quaternion": (r.matrix_to_quaternion, r.quaternion_to_matrix(TURNS)),
    "rotation_6d_to_matrix": (r.rotation_6d_to_matrix, torch.tensor(RNG.normal(size=(6, 6)))),
    "axis_angle_to_quaternion": (r.axis_angle_to_quaternion, torch.tensor(RNG.normal(size=(6, 3)))),
    "quaternion_to_axis_angle": (r.quaternion_to_axis_angle, TURNS),
    "euler_to_quaternion": (r.euler_to_quaternion, torch.tensor(RNG.normal(size=(6, 3)))),
    "quaternion_to_euler": (r.quaternion_to_euler, TURNS[:6]),
    "small axis_angle": (r.axis_angle_to_quaternion, torch.tensor(RNG.normal(size=(6, 3))) * 1e-3),
    "no axis_angle": (r.axis_angle_to_quaternion, torch.zeros(2, 3, dtype=torch.float64)),
    "multiply": (lambda q: r.multiply(q, q.flip(0)), TURNS),
    "rotate": (lambda q: r.rotate(q, torch.ones(3, dtype=torch.float64)), TURNS),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_gradients_are_exact(name: str) -> None:
    convert, values = CONVERSIONS[name]
    assert torch.autograd.gradcheck(convert, values.clone().requires_grad_())


@pytest.mark.parametrize(
    "name", ["quaternion_to_matrix", "rotation_6d_to_matrix", "axis_angle_to_quaternion"]
)
def test_second_derivatives_are_exact(name: str) -> None:
    convert, values = CONVERSIONS[name]
    assert torch.autograd.gradgradcheck(convert, values[:3].clone().requires_grad_())


@pytest.mark.parametrize(
    ("convert", "values"),
    [
        (r.quaternion_to_matrix, torch.zeros(4)),
        (r.quaternion_to_axis_angle, torch.tensor([0.0, 0, 0, 1])),
        (r.quaternion_to_axis_angle, torch.zeros(4)),
        (r.quaternion_to_axis_angle, torch.tensor([1.0, 0, 0, 0])),
        (r.axis_angle_to_quaternion, torch.zeros(3)),
        (r.matrix_to_quaternion, torch.zeros(3, 3)),
        (r.matrix_to_quaternion, torch.diag(torch.tensor([1.0, -1, -1]))),
        (lambda q: r.rotate(q, torch.ones(3)), torch.zeros(4)),
    ],
)
def test_singular_points_are_finite(convert: object, values: torch.Tensor) -> None:
    x = values.clone().requires_grad_()
    out = convert(x)  # type: ignore[operator]
    (grad,) = torch.autograd.grad(out.sum(), x)
    assert torch.isfinite(out).all() and torch.isfinite(grad).all()


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(
        ValidationError, match=r"quaternion_to_matrix: q must be .*\(\.\.\., 4\), got \(5, 3\)"
    ):
        mt.quaternion_to_matrix(torch.zeros(5, 3))
    with pytest.raises(ValidationError, match="got ndarray"):
        mt.quaternion_to_matrix(np.zeros((5, 4)))  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="order"):
        mt.euler_to_quaternion(torch.zeros(3), "XXZ")
