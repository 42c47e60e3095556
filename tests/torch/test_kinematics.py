"""Forward kinematics by levels, against a loop over joints in float64."""

from __future__ import annotations

import numpy as np
import pytest

import marrow.torch as mt
import torch
from marrow.errors import ValidationError
from marrow.kernels import reference
from marrow.math import affine

RNG = np.random.default_rng(8)


def random_tree(J: int, *, shuffled: bool = False) -> list[int]:
    parents = [-1] + [int(RNG.integers(-1, j)) for j in range(1, J)]
    if not shuffled:
        return parents
    order = RNG.permutation(J)
    place = np.argsort(order)
    return [-1 if parents[j] < 0 else int(place[parents[j]]) for j in order]


@pytest.mark.parametrize("J", [1, 2, 24, 200])
def test_levels_are_the_loop_over_joints(J: int) -> None:
    parents = random_tree(J)
    local = RNG.normal(size=(3, J, 3, 4))
    wanted = np.empty_like(local)
    for j, p in enumerate(parents):
        wanted[:, j] = local[:, j] if p < 0 else affine.multiply(wanted[:, p], local[:, j])
    out = mt.forward_kinematics(torch.tensor(local), parents)
    np.testing.assert_allclose(out, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(mt.forward_kinematics(torch.tensor(local), torch.tensor(parents)), out)


def test_parents_may_stand_anywhere() -> None:
    parents = random_tree(30, shuffled=True)
    local = torch.tensor(RNG.normal(size=(2, 2, 30, 3, 4)))
    out = mt.forward_kinematics(local, parents)
    for j, p in enumerate(parents):
        wanted = local[..., j, :, :] if p < 0 else mt.multiply_affine(out[..., p, :, :], local[..., j, :, :])
        np.testing.assert_allclose(out[..., j, :, :], wanted, rtol=1e-12, atol=1e-9)


def test_poses_as_the_engine_composes_them() -> None:
    parents = np.array(random_tree(9))
    t, q, s = RNG.normal(size=(4, 9, 3)), RNG.normal(size=(4, 9, 4)), RNG.normal(size=(4, 9, 3))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    local = mt.local_matrices(torch.tensor(t), torch.tensor(q), torch.tensor(s))
    np.testing.assert_allclose(
        mt.forward_kinematics(local, parents.tolist()),
        reference.to_model(parents, t, q, s),
        rtol=1e-9,
        atol=1e-9,
    )


def test_gradients_are_exact() -> None:
    parents = random_tree(6)
    local = torch.tensor(RNG.normal(size=(2, 6, 3, 4)), requires_grad=True)
    assert torch.autograd.gradcheck(lambda m: mt.forward_kinematics(m, parents), local)
    assert torch.autograd.gradgradcheck(lambda m: mt.forward_kinematics(m, parents), local)


def test_vmap_and_empty_batches() -> None:
    parents = random_tree(5)
    local = torch.tensor(RNG.normal(size=(4, 5, 3, 4)))
    one_by_one = torch.vmap(lambda m: mt.forward_kinematics(m, parents))(local)
    np.testing.assert_allclose(one_by_one, mt.forward_kinematics(local, parents), atol=1e-12)
    assert mt.forward_kinematics(local[:0], parents).shape == (0, 5, 3, 4)
    assert mt.forward_kinematics(local[:, :0], []).shape == (4, 0, 3, 4)


@pytest.mark.parametrize(
    ("parents", "words"),
    [([1, 0, -1], "circle"), ([-1, 0, 9], "parent 9"), ([-1, 0], "for 2 parents"), ([0, 0, 0], "circle")],
)
def test_trees_that_are_none(parents: list[int], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        mt.forward_kinematics(torch.zeros(3, 3, 4), parents)
