"""Linear blend skinning as one Torch operator with gradients: by marrow's kernels on the CPU, by Triton on CUDA."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from marrow.errors import ValidationError
from marrow.torch import definitions
from marrow.torch.plans import plan_of

__all__ = ["fast_linear", "usable"]


def usable(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor) -> bool:
    """Whether the operator takes these tensors: float32 on the CPU, or on CUDA where Triton is."""
    if any(t.dtype != torch.float32 for t in (points, weights, matrices)):
        return False
    if points.device.type == "cpu":
        return True
    from marrow.torch import triton_skinning

    return points.device.type == "cuda" and triton_skinning.available()


def fast_linear(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """`definitions.carry(definitions.linear_matrices(...), points)` by the operator."""
    batch = torch.broadcast_shapes(points.shape[:-2], matrices.shape[:-3])
    V, J = points.shape[-2], matrices.shape[-3]
    shared = points.ndim == 2 or all(size == 1 for size in points.shape[:-2])
    flat = points.reshape(1, V, 3) if shared else points.expand(*batch, V, 3).reshape(-1, V, 3)
    palette = matrices.expand(*batch, J, 3, 4).reshape(-1, J, 3, 4)
    out = torch.ops.marrow.skin_linear(flat, joints, weights, palette, weights.requires_grad)
    return out.reshape(*batch, V, 3)


@torch.library.custom_op("marrow::skin_linear", mutates_args=())
def _skin(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool) -> Tensor:
    plan = plan_of(joints, weights, learned)
    _check_range(plan.most, matrices)
    points, weights, matrices = (t.detach().contiguous() for t in (points, weights, matrices))
    if points.device.type == "cuda":
        from marrow.torch import triton_skinning

        return triton_skinning.skin(plan, joints, points, weights, matrices)
    from marrow.torch import cpu

    return cpu.skin(plan, points, weights, matrices)


@_skin.register_fake
def _(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool) -> Tensor:
    return matrices.new_empty((matrices.shape[0], points.shape[1], 3))


@torch.library.custom_op("marrow::skin_linear_gradients", mutates_args=())
def _gradients(
    g: Tensor, points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool, wanted: list[bool]
) -> list[Tensor]:
    plan = plan_of(joints, weights, learned)
    g, points, weights, matrices = (t.detach().contiguous() for t in (g, points, weights, matrices))
    asked = (wanted[0], wanted[1], wanted[2])
    if points.device.type == "cuda":
        from marrow.torch import triton_skinning

        found = triton_skinning.gradients(plan, joints, g, points, weights, matrices, asked)
    else:
        from marrow.torch import cpu

        found = cpu.gradients(plan, g, points, weights, matrices, asked)
    return [f for f in found if f is not None]


@_gradients.register_fake
def _(
    g: Tensor, points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool, wanted: list[bool]
) -> list[Tensor]:
    return [torch.empty_like(t) for t, want in zip((points, weights, matrices), wanted) if want]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    points, joints, weights, matrices, learned = inputs
    ctx.save_for_backward(points, joints, weights, matrices)
    ctx.learned = learned


def _backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    points, joints, weights, matrices = ctx.saved_tensors
    wanted = [ctx.needs_input_grad[0], ctx.needs_input_grad[2], ctx.needs_input_grad[3]]
    if torch.is_grad_enabled():
        # Somebody wants to differentiate again: through the definition.
        with torch.enable_grad():
            out = definitions.carry(definitions.linear_matrices(joints, weights, matrices), points)
            asked = [t for t, want in zip((points, weights, matrices), wanted) if want]
            found = list(torch.autograd.grad(out, asked, g, create_graph=True, allow_unused=True))
    else:
        found = list(
            torch.ops.marrow.skin_linear_gradients(g, points, joints, weights, matrices, ctx.learned, wanted)
        )
    to_points, to_weights, to_matrices = (found.pop(0) if want else None for want in wanted)
    return to_points, None, to_weights, to_matrices, None


_skin.register_autograd(_backward, setup_context=_keep)


def _check_range(most: int, matrices: Tensor) -> None:
    if most >= matrices.shape[1] and matrices.shape[0]:
        raise ValidationError(f"skin: joints has index {most}, but matrices has {matrices.shape[1]} joints")
