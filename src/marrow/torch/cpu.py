"""Linear blend skinning and its gradients on the CPU, by marrow's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import torch
from marrow.kernels.gradients import (
    GradientWork,
    skin_gradient_matrices,
    skin_gradient_points,
    skin_gradient_weights,
)
from marrow.kernels.language.kernel import FramePool
from marrow.kernels.skinning import SkinWork, skin_kernel
from marrow.skinning.threads import run_split
from marrow.torch.plans import Plan
from torch import Tensor

__all__ = ["gradients", "skin"]

SECONDS_PER_BLOCK = 30e-9
_KERNEL = skin_kernel("linear", 0)


def skin(plan: Plan, points: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """Points `(1 or B, V, 3)` under `matrices (B, J, 3, 4)`: `(B, V, 3)`."""
    B, V = len(matrices), plan.vertices
    out = torch.empty((B, V, 3), dtype=torch.float32)
    if not B or not V:
        return out
    blocks = plan.block_points(points).numpy()
    inputs = {
        "work.weights": plan.block_weights(weights).numpy(),
        "work.matrices": matrices.numpy(),
        "work.out_p": out.numpy(),
    }
    frames = _frames(plan, matrices.shape[1])
    at = _KERNEL.offsets["f0"]

    def run(f0: int, f1: int) -> None:
        frame = frames.take()
        # Points of their own for every pose: one pose at a time.
        step = 1 if len(blocks) > 1 else f1 - f0
        for f in range(f0, f1, step):
            for name, array in inputs.items():
                frame.lend(name, array)
            frame.lend("work.positions", blocks[f if len(blocks) > 1 else 0])
            frame.words[at], frame.words[at + 1] = f, f + step
            frame.run()
        frames.give(frame)

    run_split(run, B, B * plan.blocks * SECONDS_PER_BLOCK, torch.get_num_threads())
    return out


def _frames(plan: Plan, joints: int) -> FramePool:
    """Frames of the skinning kernel with a plan's blocks in them."""
    pools: dict[int, FramePool] = plan.__dict__.setdefault("_frames", {})
    if joints not in pools:
        none, no_index = np.zeros(0, np.float32), np.zeros(0, np.int32)
        work = SkinWork(
            ranges=plan.ranges, joint_start=plan.joint_start, joints=plan.joints, rows=plan.rows, runs=plan.runs,
            weights=none, positions=none, normals=none, tangents=none, shares=none,
            morph_start=np.zeros(plan.blocks + 1, np.int32), morph_target=no_index, morph_deltas=none,
            matrices=none, stretch=none, dual=none, morph_weights=none, out_p=none, out_n=none, out_t=none,
            P=joints, V=plan.vertices, targets=0,
        )  # fmt: skip
        pools[joints] = FramePool(lambda: _KERNEL.frame(work=work, f0=0, f1=0, b0=0, b1=plan.blocks))
    return pools[joints]


def gradients(
    plan: Plan, g: Tensor, points: Tensor, weights: Tensor, matrices: Tensor, wanted: tuple[bool, bool, bool]
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of points, weights and matrices, those that are `wanted`."""
    B, J = matrices.shape[:2]
    shared = len(points) == 1
    entries = len(plan.joints)
    blocks = plan.block_points(points)
    parts: dict[str, Any] = {
        "joint_start": plan.joint_start,
        "joints": plan.joints,
        "weights": plan.block_weights(weights).numpy(),
        "points": blocks.reshape(-1).numpy(),
        "matrices": matrices.reshape(-1).numpy(),
        "g": plan.block_points(g).reshape(-1).numpy(),
        "P": J,
        "blocks": plan.blocks,
        "point_stride": 0 if shared else plan.blocks * 48,
    }
    # The lanes that fill up the last block are copies: what would flow back through them is nobody's.
    if len(plan.copies):
        parts["g"].reshape(B, plan.blocks, 3, 16)[:, plan.copies // 16, :, plan.copies % 16] = 0

    def run(kernel: Any, out: Tensor, stride: int, f0: int, f1: int) -> None:
        kernel.frame(
            work=GradientWork(**parts, out=out.reshape(-1).numpy(), out_stride=stride), f0=f0, f1=f1
        ).run()

    def summed(kernel: Any, shape: tuple[int, ...]) -> Tensor:
        """What all poses add to: each thread has its own, and they are added in order."""
        pieces: dict[int, Tensor] = {}

        def part(f0: int, f1: int) -> None:
            pieces[f0] = torch.zeros(shape)
            run(kernel, pieces[f0], 0, f0, f1)

        split(part)
        total = torch.zeros(shape)
        for at in sorted(pieces):
            total += pieces[at]
        return total

    def split(part: Any) -> None:
        run_split(part, B, B * plan.blocks * SECONDS_PER_BLOCK * 2, torch.get_num_threads())

    to_points = to_weights = to_matrices = None
    if wanted[0]:
        size = plan.blocks * 48
        if shared:
            found = summed(skin_gradient_points, (1, size))
        else:
            found = torch.zeros((B, size))
            split(lambda a, b: run(skin_gradient_points, found, size, a, b))
        to_points = plan.vertex_points(found)
    if wanted[1]:
        to_weights = plan.vertex_weights(summed(skin_gradient_weights, (entries * 16,)))
    if wanted[2]:
        to_matrices = torch.empty((B, J, 3, 4))

        def some(f0: int, f1: int) -> None:
            # A few poses at a time: the lanes of one take 16 times what its matrices do.
            for a in range(f0, f1, 8):
                b = min(a + 8, f1)
                lanes = torch.zeros((b - a, J * 12, 16))
                piece = dict(parts)
                piece["g"] = parts["g"].reshape(B, -1)[a:b].reshape(-1)
                if not shared:
                    piece["points"] = parts["points"].reshape(B, -1)[a:b].reshape(-1)
                skin_gradient_matrices.frame(
                    work=GradientWork(**piece, out=lanes.reshape(-1).numpy(), out_stride=0), f0=0, f1=b - a
                ).run()
                to_matrices[a:b] = lanes.sum(-1).reshape(b - a, J, 3, 4)

        split(some)
    return to_points, to_weights, to_matrices
