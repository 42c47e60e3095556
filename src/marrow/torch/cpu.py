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
from marrow.kernels.jobs import Job, worth
from marrow.kernels.language.kernel import CallFrame, FramePool, Kernel
from marrow.kernels.skinning import SkinWork, skin_kernel
from marrow.torch.plans import Plan
from torch import Tensor

__all__ = ["gradients", "skin"]

SECONDS_PER_BLOCK = 30e-9
SEVERAL = 32
"""Poses from which on they are shared out among threads, rather than the blocks of each."""
AT_ONCE = 64
"""Poses whose matrices get their gradients at once: before they are summed, the lanes of one take 16 times as much."""
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
    frame = frames.take()
    # Points of their own for every pose: one pose at a time.
    step = 1 if len(blocks) > 1 else B
    for f in range(0, B, step):
        for name, array in inputs.items():
            frame.lend(name, array)
        frame.lend("work.positions", blocks[f if len(blocks) > 1 else 0])
        words, at = frame.words, _KERNEL.offsets["f0"]
        words[at], words[at + 1], words[at + 2], words[at + 3] = f, f + step, 0, plan.blocks
        _run(frame, step >= SEVERAL, plan.blocks, step)
    frames.give(frame)
    return out


def _run(frame: CallFrame, by_pose: bool, blocks: int, poses: int) -> None:
    """A kernel over all its poses and blocks, on as many threads as that is worth: by poses, or by blocks."""
    workers = worth(poses * blocks * SECONDS_PER_BLOCK, torch.get_num_threads())
    at = frame.kernel.offsets["f0"] + (0 if by_pose else 2)
    begin, end = frame.words[at], frame.words[at + 1]
    job = Job(frame, *(("f0", "f1") if by_pose else ("b0", "b1")))
    job.run(begin, end, step=max(1, (end - begin) // (8 * workers)), workers=workers)


def _frames(plan: Plan, joints: int) -> FramePool[CallFrame]:
    """Frames of the skinning kernel with a plan's blocks in them."""
    pools: dict[int, FramePool[CallFrame]] = plan.__dict__.setdefault("_frames", {})
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

    def run(kernel: Kernel, out: Tensor, stride: int, poses: int, by_pose: bool, **other: Any) -> None:
        work = GradientWork(**{**parts, **other}, out=out.reshape(-1).numpy(), out_stride=stride)
        frame = kernel.frame(work=work, f0=0, f1=poses, b0=0, b1=plan.blocks)
        _run(frame, by_pose, 2 * plan.blocks, poses)

    to_points = to_weights = to_matrices = None
    # What poses add to is each block's own: blocks are shared out, and each goes through the poses in order.
    if wanted[0]:
        size = plan.blocks * 48
        found = torch.zeros((1 if shared else B, size))
        run(skin_gradient_points, found, 0 if shared else size, B, by_pose=False)
        to_points = plan.vertex_points(found)
    if wanted[1]:
        added = torch.zeros((entries * 16,))
        run(skin_gradient_weights, added, 0, B, by_pose=False)
        to_weights = plan.vertex_weights(added)
    if wanted[2]:
        to_matrices = torch.empty((B, J, 3, 4))
        for a in range(0, B, AT_ONCE):
            b = min(a + AT_ONCE, B)
            lanes = torch.zeros((b - a, J * 12, 16))
            own = {"g": parts["g"].reshape(B, -1)[a:b].reshape(-1)}
            if not shared:
                own["points"] = parts["points"].reshape(B, -1)[a:b].reshape(-1)
            run(skin_gradient_matrices, lanes, 0, b - a, by_pose=True, **own)
            to_matrices[a:b] = lanes.sum(-1).reshape(b - a, J, 3, 4)
    return to_points, to_weights, to_matrices
