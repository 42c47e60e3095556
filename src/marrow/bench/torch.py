"""`marrow bench torch`: skinning with gradients, against the formulation of the smplx package in the same run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import marrow.torch as mt
import torch
from marrow.bench.harness import Contest
from torch import Tensor

__all__ = ["contests", "measurements"]

SETS = 180
"""How many sets of joints a real body has."""
ON_CPU = (64, 10_475, 55)
ON_CUDA = ((256, 10_475, 55), (1_024, 6_890, 24), (32, 200_000, 55))
FORWARD, BOTH = 1 / 10, 1 / 5
KINEMATICS = (4_096, 55)


def data(B: int, V: int, J: int, sets: int, device: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Points, joints, weights and matrices of a made-up body; with `sets` 0 every vertex has joints of its own."""
    g = torch.Generator().manual_seed(0)
    if sets:
        kinds = torch.stack([torch.randperm(J, generator=g)[:4] for _ in range(sets)])
        joints = kinds[torch.sort(torch.randint(0, sets, (V,), generator=g)).values]
    else:
        joints = torch.randint(0, J, (V, 4), generator=g)
    weights = torch.rand(V, 4, generator=g)
    weights = weights / weights.sum(1, keepdim=True)
    parts = (torch.randn(V, 3, generator=g), joints, weights, torch.randn(B, J, 3, 4, generator=g))
    return tuple(t.to(device) for t in parts)


def smplx(points: Tensor, dense: Tensor, matrices: Tensor) -> Tensor:
    """`smplx.lbs`: dense weights times 4x4 matrices, then the product with the points."""
    B, J = matrices.shape[:2]
    square = torch.nn.functional.pad(matrices, (0, 0, 0, 1))
    square[:, :, 3, 3] = 1
    whole = torch.matmul(dense.expand(B, -1, -1), square.view(B, J, 16))
    homogeneous = torch.nn.functional.pad(points.expand(B, -1, 3), (0, 1), value=1.0)
    return torch.matmul(whole.view(B, -1, 4, 4), homogeneous[..., None])[..., :3, 0]


def _both(run: Callable[[Tensor, Tensor], Tensor], points: Tensor, matrices: Tensor) -> Callable[[], object]:
    """Forward and backward, to points and matrices."""
    p, m = points.clone().requires_grad_(), matrices.clone().requires_grad_()
    g = torch.ones(len(matrices), len(points), 3, device=points.device)
    return lambda: torch.autograd.grad(run(p, m), (p, m), g)


def _quiet(run: Callable[[Tensor, Tensor], Tensor], points: Tensor, matrices: Tensor) -> Callable[[], object]:
    def call() -> object:
        with torch.no_grad():
            return run(points, matrices)

    return call


def _pair(B: int, V: int, J: int, sets: int, device: str) -> tuple[Any, Any, Tensor, Tensor]:
    points, joints, weights, matrices = data(B, V, J, sets, device)
    dense = torch.zeros(V, J, device=device).scatter_add_(1, joints, weights)
    ours = lambda p, m: mt.skin(p, joints, weights, m)  # noqa: E731
    theirs = lambda p, m: smplx(p, dense, m)  # noqa: E731
    return ours, theirs, points, matrices


def contests() -> list[Contest]:
    """On the CPU, all on as many threads as Torch has."""
    B, V, J = ON_CPU
    ours, theirs, points, matrices = _pair(B, V, J, SETS, "cpu")
    title = f"CPU, {B} poses x {V:,} vertices x {J} joints"
    forward = Contest(f"{title}: forward", "vertex", B * V)
    both = Contest(f"{title}: forward and backward", "vertex", B * V)
    for contest, make, goal in ((forward, _quiet, FORWARD), (both, _both, BOTH)):
        contest.entries["marrow"] = make(ours, points, matrices)
        contest.entries["Torch, smplx formulation"] = make(theirs, points, matrices)
        contest.goals["Torch, smplx formulation"] = goal
    return [forward, both]


def measurements() -> dict[str, Any]:
    """On CUDA, where there is one: the GPU's own time, calls recorded as a CUDA graph, and the memory they need."""
    if not torch.cuda.is_available():
        return {"measured on": {"no CUDA here": ""}}
    out: dict[str, Any] = {"measured on": {f"{torch.cuda.get_device_name()}, Torch {torch.__version__}": ""}}
    for (B, V, J), sets in ((shape, sets) for shape in ON_CUDA for sets in (SETS, 0)):
        ours, theirs, points, matrices = _pair(B, V, J, sets, "cuda")
        written = torch.empty(B, V, 3, device="cuda")
        rows: dict[str, Any] = {"writing the output once": on_gpu(partial(written.fill_, 1.0))}
        rows["forward"] = on_gpu(_quiet(ours, points, matrices))
        rows["forward, smplx formulation"] = on_gpu(_quiet(theirs, points, matrices))
        rows["forward and backward"] = on_gpu(_both(ours, points, matrices))
        rows["forward and backward, smplx formulation"] = on_gpu(_both(theirs, points, matrices))
        faster = [
            rows[f"{what}, smplx formulation"] / rows[what] for what in ("forward", "forward and backward")
        ]
        rows["smplx takes"] = f"{faster[0]:.0f}x, with backward {faster[1]:.0f}x"
        rows["forward takes"] = f"{rows['forward'] / rows['writing the output once']:.2f}x writing the output"
        rows["memory beside inputs and outputs"] = f"{extra_memory(ours, points, matrices):.1%} of the output"
        who = f"{SETS} joint sets" if sets else "joints at random"
        out[f"{B:,} x {V:,} x {J}, {who}"] = rows
        del written, points, matrices, ours, theirs
    B, J = KINEMATICS
    local = torch.randn(B, J, 3, 4, device="cuda")
    parents = [-1, *((j - 1) // 2 for j in range(1, J))]
    copy = torch.empty_like(local)
    rows = {
        "forward kinematics": on_gpu(lambda: mt.forward_kinematics(local, parents)),
        "copying the matrices": on_gpu(lambda: copy.copy_(local)),
    }
    rows["it takes"] = f"{rows['forward kinematics'] / rows['copying the matrices']:.2f}x copying"
    out[f"kinematics, {B:,} x {J}"] = rows
    return out


def on_gpu(call: Callable[[], object], repeats: int = 10, rounds: int = 12) -> float:
    """Seconds of GPU time for one call: `repeats` of them recorded as a graph, so that Python has no part in it. Recording
    works only where nothing waits for the GPU."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(repeats):
                call()
        best = float("inf")
        for _ in range(rounds):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            best = min(best, begin.elapsed_time(end) * 1e-3 / repeats)
    return best


def extra_memory(run: Callable[[Tensor, Tensor], Tensor], points: Tensor, matrices: Tensor) -> float:
    """The most memory a forward and backward pass takes beside what comes out, as a share of the skinned points."""
    p, m = points.clone().requires_grad_(), matrices.clone().requires_grad_()
    g = torch.ones(len(matrices), len(points), 3, device=points.device)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    out = run(p, m)
    found = torch.autograd.grad(out, (p, m), g)
    torch.cuda.synchronize()
    results = sum(t.numel() * 4 for t in (out, *found))
    return (torch.cuda.max_memory_allocated() - before - results) / (out.numel() * 4)
