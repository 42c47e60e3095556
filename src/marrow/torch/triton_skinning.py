"""Linear blend skinning and its gradients on CUDA, in Triton.

Vertices are visited sorted by the joints they follow, so that the threads of a warp read the same matrices, and each
program keeps its vertices in registers over several poses. Sums over vertices (gradients of matrices) and over poses
(gradients of shared points and of weights) are made in pieces that are added in a fixed order: no atomics, the same
bits every time.
"""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import numpy as np

import torch
from marrow.torch.plans import Plan
from torch import Tensor

__all__ = ["available", "gradients", "skin"]

BLOCK, POSES, WARPS = 128, 4, 4
SUM_POSES = 32
"""How many poses one program adds up: the pieces that remain take 1/32 of the output."""
CHUNK = 512
"""How many influences of a joint one program adds up."""


@functools.cache
def available() -> bool:
    """Whether Triton can be imported."""
    return importlib.util.find_spec("triton") is not None


class _Sorted:
    """A plan on a device: vertices in the order of their joint sets, and each joint's influences in chunks."""

    def __init__(self, plan: Plan, joints: Tensor) -> None:
        device = joints.device
        V, K = joints.shape
        _, first = np.unique(plan.rows, return_index=True)
        # Few joint sets: threads side by side share matrices. As many as vertices: nothing to share, rows in order are
        # better.
        order = plan.rows[np.sort(first)].astype(np.int64) if plan.set_count * 8 <= V else np.arange(V)
        self.order = torch.from_numpy(order.astype(np.int32)).to(device)
        table = joints.cpu().numpy().astype(np.int64)
        counted = plan.counted
        # What does not count reads a matrix that does: its weight of zero must not meet a NaN of another joint.
        lead = np.take_along_axis(table, counted.argmax(1)[:, None], 1) if V else table[:, :1]
        padded = np.repeat(lead, -(-K // 4) * 4, axis=1)
        padded[:, :K] = np.where(counted, table, lead)
        groups = padded[order].reshape(V, -1, 4).transpose(1, 0, 2)
        self.joints = torch.from_numpy(np.ascontiguousarray(groups, np.int32)).to(device)
        """`(ceil(K / 4), V, 4)`"""
        # Influences by joint, each joint's in the order of the vertices.
        vertex, k = np.nonzero(counted[order])
        slot = order[vertex] * K + k
        joint = table.reshape(-1)[slot]
        by_joint = np.argsort(joint, kind="stable")
        self.slots = torch.from_numpy(slot[by_joint].astype(np.int32)).to(device)
        ends = np.searchsorted(joint[by_joint], np.arange(plan.most + 2))
        chunks = [
            (start, min(start + CHUNK, last))
            for first, last in zip(ends[:-1].tolist(), ends[1:].tolist())
            for start in range(first, last, CHUNK)
        ]
        counts = [-(-(b - a) // CHUNK) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist())]
        self.chunks = torch.tensor(chunks or [(0, 0)], dtype=torch.int32, device=device)
        self.chunk_count, self.most_chunks = len(chunks), max(counts, default=0)
        self.first_chunk = torch.tensor(
            np.concatenate([[0], np.cumsum(counts)]), dtype=torch.int32, device=device
        )


def _sorted(plan: Plan, joints: Tensor) -> _Sorted:
    kept = plan.__dict__.setdefault("_sorted", {})
    if joints.device not in kept:
        kept[joints.device] = _Sorted(plan, joints)
    return kept[joints.device]


def launch(
    name: str, grid: tuple[int, ...], tensors: tuple[Tensor, ...], numbers: tuple[int, ...], **constants: int
) -> None:
    """Runs a kernel. What Triton finds out about a call of known sizes is kept: asking again costs as much as a small
    kernel."""
    device = tensors[0].device
    if device.index != torch.cuda.current_device() and device.type == "cuda":
        with torch.cuda.device(device):
            launch(name, grid, tensors, numbers, **constants)
        return
    kernel = getattr(_kernels(), name)
    warps = constants.pop("warps", WARPS)
    fixed = tuple(constants.values())
    aligned = not any(t.data_ptr() % 16 for t in tensors)
    key = (name, device.index, numbers, fixed, warps)
    known = _compiled.get(key) if aligned else None
    if known is not None:
        known[(*grid, 1, 1)[:3]](*tensors, *numbers, *fixed)
        return
    compiled = kernel[grid](*tensors, *numbers, **constants, num_warps=warps)
    if aligned and hasattr(compiled, "__getitem__"):
        _compiled[key] = compiled


_compiled: dict[tuple[Any, ...], Any] = {}


def skin(plan: Plan, joints: Tensor, points: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """Points `(1 or B, V, 3)` under `matrices (B, J, 3, 4)`: `(B, V, 3)`."""
    B, J, V = len(matrices), matrices.shape[1], plan.vertices
    out = torch.empty((B, V, 3), dtype=torch.float32, device=points.device)
    if B and V:
        by, shared = _sorted(plan, joints), len(points) == 1
        launch(
            "forward", (_cdiv(V, BLOCK), _cdiv(B, POSES)), (by.order, by.joints, weights, matrices, points, out),
            (V, J, B, 0 if shared else V * 3), K=plan.influences, SHARED=shared, BLOCK=BLOCK, POSES=POSES,
        )  # fmt: skip
    return out


def gradients(
    plan: Plan,
    joints: Tensor,
    g: Tensor,
    points: Tensor,
    weights: Tensor,
    matrices: Tensor,
    wanted: tuple[bool, bool, bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Gradients of points, weights and matrices, those that are `wanted`."""
    B, J, V, K = len(matrices), matrices.shape[1], plan.vertices, plan.influences
    device, by, shared = points.device, _sorted(plan, joints), len(points) == 1
    stride = 0 if shared else V * 3
    blocks = _cdiv(V, BLOCK)
    to_points = to_weights = to_matrices = None
    if wanted[0]:
        poses = SUM_POSES if shared else POSES
        to_points = torch.empty((_cdiv(B, poses) if shared else B, V, 3), device=device)
        launch(
            "to_points", (blocks, _cdiv(B, poses)), (by.order, by.joints, weights, matrices, g, to_points),
            (V, J, B), K=K, SUM=shared, BLOCK=BLOCK, POSES=poses,
        )  # fmt: skip
        if shared:
            to_points = to_points.sum(0, keepdim=True)
    if wanted[1]:
        groups = _cdiv(B, SUM_POSES)
        pieces = torch.empty((groups, V, K), device=device)
        launch(
            "to_weights", (blocks, groups, K), (by.order, by.joints, matrices, points, g, pieces),
            (V, J, B, stride), K=K, BLOCK=BLOCK, POSES=SUM_POSES,
        )  # fmt: skip
        to_weights = pieces.sum(0)
    if wanted[2]:
        to_matrices = torch.empty((B, J, 3, 4), device=device)
        pieces = torch.empty((B, max(by.chunk_count, 1), 16), device=device)
        if by.chunk_count:
            launch(
                "to_matrices", (by.chunk_count, _cdiv(B, 8)), (by.slots, by.chunks, weights, points, g, pieces),
                (by.chunk_count, V, B, stride), K=K, CHUNK=CHUNK, POSES=8,
            )  # fmt: skip
        launch(
            "add_chunks", (J, _cdiv(B, 64)), (by.first_chunk, pieces, to_matrices),
            (plan.most, max(by.chunk_count, 1), J, B), MOST=by.most_chunks, POSES=64,
        )  # fmt: skip
    return to_points, to_weights, to_matrices


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


@functools.cache
def _kernels() -> Any:
    from marrow.torch import triton_kernels

    return triton_kernels
