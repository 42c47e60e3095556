"""On CUDA: the Triton kernels against the definition on the CPU. Skipped where there is no such GPU."""

from __future__ import annotations

import numpy as np
import pytest

import marrow as mw
import marrow.torch as mt
import torch
from marrow.torch import definitions, triton_skinning

if not torch.cuda.is_available():
    pytest.skip("there is no CUDA GPU here", allow_module_level=True)

CASES = [
    (5, 1000, 9, 4, False),
    (33, 777, 20, 4, True),
    (3, 50, 5, 1, False),
    (7, 301, 1000, 8, True),
    (2, 64, 3, 12, False),
]


@pytest.mark.parametrize(("B", "V", "J", "K", "own_points"), CASES)
@pytest.mark.parametrize("sets", [0, 3])
def test_kernels_are_the_definition(B: int, V: int, J: int, K: int, own_points: bool, sets: int) -> None:
    assert triton_skinning.available()
    g = torch.Generator().manual_seed(B)
    joints = torch.randint(0, J, (sets or V, K), generator=g)
    if sets:
        joints = joints[torch.randint(0, sets, (V,), generator=g)]
    weights = torch.rand(V, K, generator=g)
    weights[::3, -1] = 0 if K > 1 else 1
    points = torch.randn(*((B, V, 3) if own_points else (V, 3)), generator=g)
    matrices = torch.randn(B, J, 3, 4, generator=g)
    mine = [t.cuda().requires_grad_() for t in (points, weights, matrices)]
    exact = [t.double().requires_grad_() for t in (points, weights, matrices)]
    out = mt.skin(mine[0], joints.cuda(), mine[1], mine[2])
    wanted = definitions.carry(definitions.linear_matrices(joints, exact[1], exact[2]), exact[0])
    np.testing.assert_allclose(out.detach().cpu(), wanted.detach(), atol=3e-5)
    flow = torch.randn(out.shape, generator=g)
    found = [torch.autograd.grad(out, mine, flow.cuda(), retain_graph=True) for _ in range(2)]
    for a, b, again in zip(found[0], torch.autograd.grad(wanted, exact, flow.double()), found[1]):
        np.testing.assert_allclose(a.cpu(), b, atol=3e-6 * max(1.0, float(b.abs().max())))
        assert torch.equal(a, again)  # sums in a fixed order


def test_nan_and_empty_batches() -> None:
    points, joints = torch.randn(40, 3).cuda(), torch.tensor([[1, 3]]).repeat(40, 1).cuda()
    weights = torch.tensor([[1.0, 0.0]]).repeat(40, 1).cuda()
    matrices = torch.randn(2, 5, 3, 4).cuda()
    matrices[:, 3] = torch.nan
    assert torch.isfinite(mt.skin(points, joints, weights, matrices)).all()
    empty = matrices[:0].requires_grad_()
    out = mt.skin(points, joints, weights, empty)
    assert out.shape == (0, 40, 3)
    assert torch.autograd.grad(out.sum(), empty)[0].shape == empty.shape


def test_kinematics_and_a_character() -> None:
    who = mw.samples.lizard()
    cpu = mt.CharacterModule(who).double()
    gpu = mt.CharacterModule(who).cuda()
    t = torch.tensor([0.1, 0.5])
    pose = gpu.sample(0, t.cuda())
    np.testing.assert_allclose(gpu.joints(pose).cpu(), cpu.joints(cpu.sample(0, t.double())), atol=1e-5)
    np.testing.assert_allclose(gpu.skin(pose).cpu(), cpu.skin(cpu.sample(0, t.double())), atol=1e-5)
    local = mt.local_matrices(pose.translation, pose.rotation, pose.scale).detach().requires_grad_()
    (mine,) = torch.autograd.grad(mt.forward_kinematics(local, gpu.parents).square().sum(), local)
    exact = local.detach().double().cpu().requires_grad_()
    (wanted,) = torch.autograd.grad(mt.forward_kinematics(exact, gpu.parents).square().sum(), exact)
    np.testing.assert_allclose(mine.cpu(), wanted, atol=1e-4 * float(wanted.abs().max()))


def test_nothing_waits_for_the_gpu() -> None:
    """A step that is recorded as a CUDA graph: recording fails where the host waits or copies."""
    points, joints = torch.randn(500, 3).cuda().requires_grad_(), torch.randint(0, 9, (500, 4)).cuda()
    weights, matrices = torch.rand(500, 4).cuda(), torch.randn(16, 9, 3, 4).cuda().requires_grad_()

    def step() -> tuple[torch.Tensor, ...]:
        model = mt.forward_kinematics(matrices, [-1, *range(8)])
        out = mt.skin(points, joints, weights, model)
        return torch.autograd.grad(out.square().sum(), (points, matrices))

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            wanted = step()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            found = step()
        graph.replay()
        stream.synchronize()
    for a, b in zip(found, wanted):
        assert torch.equal(a, b)
