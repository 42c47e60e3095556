"""Skinning with gradients: the kernels against the definition in float64, and the definition by finite differences."""

from __future__ import annotations

import itertools
import multiprocessing
from typing import Any

import numpy as np
import pytest

import marrow.torch as mt
import torch
from marrow.errors import ValidationError
from marrow.kernels import reference
from marrow.math import quaternion, transform
from marrow.torch import definitions

SHAPES = [(1, 1), (2, 3), (4, 7), (5, 2), (8, 40), (12, 1000)]


def some(
    B: int, V: int, J: int, K: int, *, own_points: bool = False, seed: int = 0, sets: int = 0
) -> tuple[Any, ...]:
    """Points, joints, weights and matrices; `sets` different sets of joints, or any."""
    g = torch.Generator().manual_seed(seed)
    if sets:
        joints = torch.randint(0, J, (sets, K), generator=g)[torch.randint(0, sets, (V,), generator=g)]
    else:
        joints = torch.randint(0, J, (V, K), generator=g)
    weights = torch.rand(V, K, generator=g)
    weights[::3, -1] = 0 if K > 1 else 1
    weights = weights / weights.sum(1, keepdim=True)
    points = torch.randn(*((B, V, 3) if own_points else (V, 3)), generator=g)
    return points, joints, weights, torch.randn(B, J, 3, 4, generator=g)


@pytest.mark.parametrize(("K", "J"), SHAPES)
@pytest.mark.parametrize("own_points", [False, True])
@pytest.mark.parametrize("sets", [0, 3])
def test_the_kernels_are_the_definition(K: int, J: int, own_points: bool, sets: int) -> None:
    points, joints, weights, matrices = some(3, 131, J, K, own_points=own_points, sets=sets)
    inputs = [t.clone().requires_grad_() for t in (points, weights, matrices)]
    exact = [t.double().requires_grad_() for t in (points, weights, matrices)]
    out = mt.skin(inputs[0], joints, inputs[1], inputs[2])
    wanted = definitions.carry(definitions.linear_matrices(joints, exact[1], exact[2]), exact[0])
    np.testing.assert_allclose(out.detach(), wanted.detach(), atol=2e-5)
    g = torch.randn(out.shape, generator=torch.Generator().manual_seed(1))
    for mine, theirs in zip(
        torch.autograd.grad(out, inputs, g), torch.autograd.grad(wanted, exact, g.double())
    ):
        np.testing.assert_allclose(mine, theirs, atol=2e-5 * max(1.0, float(theirs.abs().max())))
    # Without gradients influences of zero weight are left out: the same, to rounding.
    np.testing.assert_allclose(mt.skin(points, joints, weights, matrices), wanted.detach(), atol=2e-5)


@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion"])
def test_the_definition_is_that_of_the_reference(skinning: str) -> None:
    points, joints, weights, matrices = (t.numpy() for t in some(4, 50, 6, 3, seed=3))
    rigid = definitions.polar_rotation(torch.tensor(matrices[..., :3]).double()).numpy()
    matrices = np.concatenate([rigid * np.linspace(0.5, 2, 6)[:, None, None], matrices[..., 3:]], -1)
    pivots = np.random.default_rng(0).normal(size=(6, 3))
    if skinning == "linear":
        blended = reference.linear_matrices(matrices, joints, weights)
    else:
        blended = reference.dual_quaternion_matrices(matrices, pivots, joints, weights)
    normals = np.random.default_rng(1).normal(size=points.shape)
    p, n, _ = reference.skin(blended, points.astype(float), normals, None)
    mine = mt.skin(
        torch.tensor(points).double(), torch.tensor(joints), torch.tensor(weights).double(), torch.tensor(matrices),
        skinning=skinning, normals=torch.tensor(normals), pivots=torch.tensor(pivots),
    )  # fmt: skip
    np.testing.assert_allclose(mine[0], p, atol=1e-9)
    np.testing.assert_allclose(mine[1], n, atol=1e-9)


@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion"])
@pytest.mark.parametrize("with_normals", [False, True])
def test_gradients_by_finite_differences(skinning: str, with_normals: bool) -> None:
    points, joints, weights, matrices = (
        t.double() if t.is_floating_point() else t for t in some(2, 5, 3, 2, own_points=True)
    )
    turned = definitions.polar_rotation(matrices[..., :3])
    matrices = torch.cat([turned + 0.05 * matrices[..., :3], matrices[..., 3:]], -1)
    normals = torch.randn(5, 3, dtype=torch.float64) if with_normals else None

    def run(p: torch.Tensor, w: torch.Tensor, m: torch.Tensor) -> Any:
        return mt.skin(p, joints, w, m, skinning=skinning, normals=normals)

    inputs = tuple(t.clone().requires_grad_() for t in (points, weights, matrices))
    assert torch.autograd.gradcheck(run, inputs, atol=1e-6)
    if skinning == "linear" and not with_normals:
        assert torch.autograd.gradgradcheck(run, inputs, atol=1e-6)


@pytest.mark.parametrize("sizes", [(1, 2, 3), (2, 1, 0), (1, 1e-9, 2), (1, -2, 3), (0, 0, 0)])
def test_the_turn_of_a_joint_is_that_of_the_specification(sizes: tuple[float, float, float]) -> None:
    """A flat joint has a turn too, and a gradient."""
    some = np.random.default_rng(3).normal(size=(2, 8, 4))
    turn, frame = quaternion.to_matrix(some / np.linalg.norm(some, axis=-1, keepdims=True))
    if min(map(abs, sizes)) < 1:
        frame = np.eye(3)  # rounding must not mirror it
    matrices = torch.tensor(turn @ frame * np.array(sizes, float) @ np.swapaxes(frame, -1, -2))
    found = definitions.polar_rotation(matrices.requires_grad_())
    np.testing.assert_allclose(found.detach(), transform.polar(matrices.detach().numpy())[0], atol=1e-6)
    assert torch.autograd.grad(found.square().mul(found).sum(), matrices)[0].isfinite().all()


def test_rigid_motions_have_finite_gradients() -> None:
    """Equal singular values, where a singular value decomposition has none."""
    points, joints, weights, _ = some(1, 9, 4, 2)
    matrices = torch.cat([torch.eye(3), torch.zeros(3, 1)], -1).expand(1, 4, 3, 4).clone().requires_grad_()
    out = mt.skin(points, joints, weights, matrices, skinning="dual_quaternion")
    (grad,) = torch.autograd.grad(out.square().sum(), matrices)
    np.testing.assert_allclose(out[0].detach(), points, atol=1e-6)
    assert torch.isfinite(grad).all() and grad.abs().max() > 0


def test_differentiating_twice_through_the_kernels() -> None:
    points, joints, weights, matrices = some(2, 40, 5, 4)
    points.requires_grad_()
    matrices.requires_grad_()
    out = mt.skin(points, joints, weights, matrices)
    (first,) = torch.autograd.grad(out.square().sum(), points, create_graph=True)
    second = torch.autograd.grad(first.square().sum(), matrices)[0]
    exact = [t.detach().double().requires_grad_() for t in (points, matrices)]
    wanted = definitions.carry(definitions.linear_matrices(joints, weights.double(), exact[1]), exact[0])
    (first,) = torch.autograd.grad(wanted.square().sum(), exact[0], create_graph=True)
    theirs = torch.autograd.grad(first.square().sum(), exact[1])[0]
    np.testing.assert_allclose(second, theirs, rtol=1e-3, atol=1e-3 * float(theirs.abs().max()))


def test_dense_weights_are_influences_of_all_joints() -> None:
    points, joints, weights, matrices = some(3, 30, 5, 3)
    dense = torch.zeros(30, 5).scatter_add_(1, joints, weights)
    wanted = mt.skin(points, joints, weights, matrices)
    np.testing.assert_allclose(mt.skin(points, None, dense, matrices), wanted, atol=1e-5)
    turns = mt.point_rotations(None, dense, matrices)
    np.testing.assert_allclose(turns.norm(dim=-1), np.ones((3, 30)), atol=1e-6)


def test_any_leading_axes_and_4x4_matrices() -> None:
    points, joints, weights, matrices = some(6, 20, 4, 2, own_points=True)
    flat = mt.skin(points, joints, weights, matrices)
    shaped = mt.skin(points.reshape(2, 3, 20, 3), joints, weights, matrices.reshape(2, 3, 4, 3, 4))
    np.testing.assert_array_equal(shaped.reshape(6, 20, 3), flat)
    last = torch.tensor([0.0, 0, 0, 1]).expand(6, 4, 1, 4)
    np.testing.assert_array_equal(mt.skin(points, joints, weights, torch.cat([matrices, last], -2)), flat)
    np.testing.assert_array_equal(mt.skin(points[0], joints, weights, matrices[0]), flat[0])
    many = mt.skin(points[:, None], joints, weights, matrices[None])  # (6, 1) and (1, 6)
    assert many.shape == (6, 6, 20, 3)
    np.testing.assert_array_equal(many[2, 2], flat[2])


def test_memory_order_does_not_matter() -> None:
    points, joints, weights, matrices = some(4, 33, 6, 4)
    wanted = mt.skin(points, joints, weights, matrices)
    turned = matrices.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0)
    assert not turned.is_contiguous()
    out = mt.skin(points.T.contiguous().T, joints.T.contiguous().T, weights.T.contiguous().T, turned)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize(("B", "V"), [(0, 10), (3, 0), (0, 0)])
def test_empty_batches_and_meshes(B: int, V: int) -> None:
    points, joints, weights, matrices = some(B, V, 4, 2)
    matrices.requires_grad_()
    out = mt.skin(points, joints, weights, matrices)
    assert out.shape == (B, V, 3)
    (grad,) = torch.autograd.grad(out.sum(), matrices)
    assert grad.shape == matrices.shape and not grad.any()


def test_weights_and_joints_may_change_in_place() -> None:
    points, joints, weights, matrices = some(2, 40, 5, 3)
    mt.skin(points, joints, weights, matrices)
    for _ in range(3):
        weights.copy_(torch.rand(weights.shape))  # also where they were zero
        joints.copy_(torch.randint(0, 5, joints.shape))
        wanted = definitions.carry(definitions.linear_matrices(joints, weights, matrices), points)
        np.testing.assert_allclose(mt.skin(points, joints, weights, matrices), wanted, atol=1e-5)


def test_another_joints_nan_stays_away() -> None:
    points, joints, weights, matrices = some(1, 40, 5, 2)
    joints[:, 0], joints[:, 1] = 1, 3
    weights[:20, 0], weights[:20, 1] = 1.0, 0.0
    weights[20:, 0], weights[20:, 1] = 0.5, 0.5
    matrices[:, 3] = np.nan
    out = mt.skin(points, joints, weights, matrices)
    assert torch.isfinite(out[:, :20]).all() and torch.isnan(out[:, 20:]).all()


def test_half_precision_is_storage_only() -> None:
    points, joints, weights, matrices = some(2, 50, 4, 4)
    low = [t.bfloat16() for t in (points, weights, matrices)]
    out = mt.skin(low[0], joints, low[1], low[2])
    assert out.dtype == torch.bfloat16
    wanted = mt.skin(low[0].float(), joints, low[1].float(), low[2].float())
    np.testing.assert_array_equal(out.float(), wanted.bfloat16().float())
    with torch.autocast("cpu", torch.bfloat16):
        np.testing.assert_array_equal(
            mt.skin(points, joints, weights, matrices), mt.skin(points, joints, weights, matrices)
        )
        assert mt.skin(points, joints, weights, matrices, skinning="dual_quaternion").dtype == torch.float32


@pytest.mark.parametrize("in_dims", list(itertools.product([None, 0], [0, 1])))
def test_vmap_is_one_more_axis(in_dims: tuple[int | None, int]) -> None:
    points, joints, weights, matrices = some(4, 12, 3, 2, own_points=in_dims[0] is not None)
    moved = matrices.movedim(0, in_dims[1])
    run = torch.vmap(lambda p, m: mt.skin(p, joints, weights, m), in_dims=in_dims)
    np.testing.assert_allclose(run(points, moved), mt.skin(points, joints, weights, matrices), atol=1e-6)
    grads = torch.vmap(
        torch.func.grad(lambda m, p: mt.skin(p, joints, weights, m).square().sum()), (0, in_dims[0])
    )
    m = matrices.clone().requires_grad_()
    wanted = torch.autograd.grad(mt.skin(points, joints, weights, m).square().sum(), m)[0]
    np.testing.assert_allclose(grads(matrices, points), wanted, atol=1e-4)


def test_jacobians() -> None:
    points, joints, weights, matrices = some(2, 5, 3, 2)
    run = torch.func.jacrev(lambda m: mt.skin(points, joints, weights, m))
    exact = torch.func.jacrev(
        lambda m: definitions.carry(definitions.linear_matrices(joints, weights, m), points)
    )
    np.testing.assert_allclose(run(matrices), exact(matrices), atol=1e-6)
    m = matrices.clone().requires_grad_()
    out = mt.skin(points, joints, weights, m)
    with pytest.raises(ValidationError, match=r"torch\.func"):
        torch.autograd.grad(out, m, torch.randn(3, *out.shape), is_grads_batched=True)


def test_compiled_code_runs_the_same_kernels() -> None:
    points, joints, weights, matrices = some(3, 30, 4, 4)

    def loss(p: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
        return mt.skin(p, joints, weights, m).square().sum()

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    results = []
    for run in (loss, compiled):
        p, m = points.clone().requires_grad_(), matrices.clone().requires_grad_()
        value = run(p, m)
        results.append([value, *torch.autograd.grad(value, (p, m))])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a.detach(), b.detach())


def test_rotations_of_points_are_those_of_their_joints() -> None:
    _, joints, weights, matrices = some(3, 25, 4, 2)
    turns = definitions.polar_rotation(matrices[..., :3])
    matrices = torch.cat([1.7 * turns, matrices[..., 3:]], -1)
    alone = torch.zeros_like(weights)
    alone[:, 0] = 1
    q = mt.point_rotations(joints, alone, matrices)
    np.testing.assert_allclose(mt.quaternion_to_matrix(q), turns[:, joints[:, 0]], atol=1e-5)
    mixed = mt.point_rotations(joints, weights, matrices)
    np.testing.assert_allclose(mixed.norm(dim=-1), np.ones((3, 25)), atol=1e-6)


HOSTILE = {
    "points": (lambda a: a | {"points": torch.zeros(20, 2)}, "points must be"),
    "points type": (lambda a: a | {"points": torch.zeros(20, 3, dtype=torch.int64)}, "points must be"),
    "weights": (lambda a: a | {"weights": torch.rand(19, 2)}, "weights must be .*20"),
    "joints type": (lambda a: a | {"joints": torch.zeros(20, 2)}, "joints must be a tensor of whole numbers"),
    "joints shape": (lambda a: a | {"joints": torch.zeros(20, 3, dtype=torch.int64)}, "joints must be of the shape"),
    "joint too large": (lambda a: a | {"joints": torch.full((20, 2), 7)}, "index 7, but matrices has 4 joints"),
    "negative joint": (lambda a: a | {"joints": torch.full((20, 2), -1)}, "index -1"),
    "matrices": (lambda a: a | {"matrices": torch.zeros(3, 4, 3, 3)}, "matrices must be"),
    "batch": (lambda a: a | {"points": torch.zeros(2, 20, 3)}, "leading axes"),
    "skinning": (lambda a: a | {"skinning": "magic"}, "skinning must be one of"),
    "dense": (lambda a: a | {"joints": None}, "since joints is None"),
    "no influences": (
        lambda a: a | {"joints": torch.zeros(20, 0, dtype=torch.int64), "weights": torch.zeros(20, 0)}, "K at least 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", [-1, 4, 1000, 2**32 + 1])
@pytest.mark.parametrize(
    "how", ["float32", "float64", "normals", "dual_quaternion", "learned", "point_rotations"]
)
def test_joints_that_there_are_no_matrices_for_are_refused(how: str, wrong: int) -> None:
    """Whichever way the tensors go, also where the influence has no weight."""
    joints = torch.zeros(6, 2, dtype=torch.int64)
    joints[3, 1] = wrong
    kind = torch.float64 if how == "float64" else torch.float32
    points, weights = torch.rand(6, 3, dtype=kind), torch.tensor([[1.0, 0.0]], dtype=kind).repeat(6, 1)
    matrices = torch.eye(3, 4, dtype=kind).repeat(2, 4, 1, 1)
    options: dict[str, Any] = {"normals": points} if how == "normals" else {}
    if how == "dual_quaternion":
        options["skinning"] = how
    weights.requires_grad_(how == "learned")
    run: Any = lambda: mt.skin(points, joints, weights, matrices, **options)  # noqa: E731
    if how == "point_rotations":
        run = lambda: mt.point_rotations(joints, weights, matrices)  # noqa: E731
    with pytest.raises(ValidationError, match=f"index {wrong}"):
        run()


@pytest.mark.parametrize("case", HOSTILE)
def test_errors_name_the_tensor(case: str) -> None:
    points, joints, weights, matrices = some(3, 20, 4, 2)
    change, words = HOSTILE[case]
    given = change({"points": points, "joints": joints, "weights": weights, "matrices": matrices})
    with pytest.raises(ValidationError, match=words):
        mt.skin(**given)


def _in_worker(queue: Any, given: tuple[Any, ...]) -> None:
    torch.set_num_threads(2)
    queue.put(mt.skin(*given).numpy())


@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_workers_of_a_data_loader(how: str) -> None:
    given = some(64, 3000, 5, 3)
    wanted = mt.skin(*given)  # threads of this process are running when the child is forked
    context = multiprocessing.get_context(how)
    queue = context.Queue()
    worker = context.Process(target=_in_worker, args=(queue, given))
    worker.start()
    np.testing.assert_array_equal(queue.get(timeout=240), wanted)
    worker.join()
