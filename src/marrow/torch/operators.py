"""Linear blend skinning as one Torch operation with gradients: by marrow's kernels on the CPU, by Triton on CUDA."""

from __future__ import annotations

from typing import Any

import torch
from marrow.errors import ValidationError
from marrow.torch import cpu, definitions, triton_skinning
from marrow.torch.plans import plan_of
from torch import Tensor

__all__ = ["fast_linear", "usable"]


def usable(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor) -> bool:
    """Whether the fast way takes these tensors: float32 on the CPU, or on CUDA where Triton is."""
    if not points.dtype == weights.dtype == matrices.dtype == torch.float32:
        return False
    kind = points.device.type
    return kind == "cpu" or (kind == "cuda" and triton_skinning.available())


def fast_linear(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """`definitions.carry(definitions.linear_matrices(...), points)`."""
    if torch.compiler.is_compiling():
        run = torch.ops.marrow.skin_linear
    else:
        run = _Transformed.apply if torch._C._are_functorch_transforms_active() else _Eager.apply
    if points.ndim == 2 and matrices.ndim == 4:
        return run(points[None], joints, weights, matrices, weights.requires_grad)
    batch = torch.broadcast_shapes(points.shape[:-2], matrices.shape[:-3])
    V, J = points.shape[-2], matrices.shape[-3]
    shared = all(size == 1 for size in points.shape[:-2])
    flat = points.reshape(1, V, 3) if shared else points.expand(*batch, V, 3).reshape(-1, V, 3)
    palette = matrices.expand(*batch, J, 3, 4).reshape(-1, J, 3, 4)
    return run(flat, joints, weights, palette, weights.requires_grad).reshape(*batch, V, 3)


def _forward(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool) -> Tensor:
    plan = plan_of(joints, weights, learned)
    if plan.most >= matrices.shape[1] and matrices.shape[0]:
        raise ValidationError(
            f"skin: joints has index {plan.most}, but matrices has {matrices.shape[1]} joints"
        )
    points, weights, matrices = points.contiguous(), weights.contiguous(), matrices.contiguous()
    if points.device.type == "cuda":
        return triton_skinning.skin(plan, joints, points, weights, matrices)
    return cpu.skin(plan, points.detach(), weights.detach(), matrices.detach())


def _gradients(
    g: Tensor,
    points: Tensor,
    joints: Tensor,
    weights: Tensor,
    matrices: Tensor,
    learned: bool,
    wanted: list[bool],
) -> list[Tensor]:
    plan = plan_of(joints, weights, learned)
    g, points, weights, matrices = (t.detach().contiguous() for t in (g, points, weights, matrices))
    asked = (wanted[0], wanted[1], wanted[2])
    if not g.numel():
        return [torch.zeros_like(t) for t, want in zip((points, weights, matrices), asked) if want]
    if points.device.type == "cuda":
        found = triton_skinning.gradients(plan, joints, g, points, weights, matrices, asked)
    else:
        found = cpu.gradients(plan, g, points, weights, matrices, asked)
    return [f for f in found if f is not None]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    points, joints, weights, matrices, learned = inputs
    ctx.save_for_backward(points, joints, weights, matrices)
    ctx.learned = learned


def written_out(
    g: Tensor, points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, wanted: list[bool]
) -> list[Tensor]:
    """The gradients in plain Torch operations: they can be differentiated again and batched."""
    found = []
    homogeneous = torch.cat([points, torch.ones_like(points[..., :1])], -1)
    if wanted[0]:
        blended = definitions.linear_matrices(joints, weights, matrices)
        back = (blended[..., :3] * g[..., None]).sum(-2)
        found.append(back.sum(0, keepdim=True) if len(points) == 1 else back)
    if wanted[1]:
        columns = []
        for k in range(joints.shape[1]):
            moved = (matrices.index_select(-3, joints[:, k]) * homogeneous[..., None, :]).sum(-1)
            columns.append((moved * g).sum(-1).sum(0))
        found.append(torch.stack(columns, -1))
    if wanted[2]:
        total = torch.zeros_like(matrices).flatten(-2)
        outer = (g[..., :, None] * homogeneous[..., None, :]).flatten(-2)
        for k in range(joints.shape[1]):
            total = total.index_add(-2, joints[:, k], weights[:, k, None] * outer)
        found.append(total.unflatten(-1, (3, 4)))
    return found


def _through(run: Any, ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Gradients by `run`, or written out where somebody wants to differentiate or to batch them."""
    points, joints, weights, matrices = ctx.saved_tensors
    wanted = [ctx.needs_input_grad[0], ctx.needs_input_grad[2], ctx.needs_input_grad[3]]
    if torch._C._functorch.is_legacy_batchedtensor(g):
        raise ValidationError(
            "skin: is_grads_batched and vectorize=True batch gradients in an old way that is not supported; use "
            "torch.func.jacrev or torch.func.vmap"
        )
    if run is None or torch.is_grad_enabled() or torch._C._functorch.is_batchedtensor(g):
        found = written_out(g, points, joints, weights, matrices, wanted)
    else:
        found = list(run(g, points, joints, weights, matrices, ctx.learned, wanted))
    to_points, to_weights, to_matrices = (found.pop(0) if want else None for want in wanted)
    return to_points, None, to_weights, to_matrices, None


def _backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    return _through(_gradients, ctx, g)


def _transformed_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    return _through(None, ctx, g)


def _compiled_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    return _through(torch.ops.marrow.skin_linear_gradients, ctx, g)


class _Eager(torch.autograd.Function):
    """The operation as eager code calls it."""

    @staticmethod
    def forward(
        ctx: Any, points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool
    ) -> Tensor:
        _keep(ctx, (points, joints, weights, matrices, learned), points)
        return _forward(points, joints, weights, matrices, learned)

    backward = staticmethod(_backward)


class _Transformed(torch.autograd.Function):
    """The same as `torch.func` wants it, which costs a tenth of a millisecond more."""

    forward = staticmethod(_forward)
    setup_context = staticmethod(_keep)
    backward = staticmethod(_transformed_backward)

    @staticmethod
    def vmap(
        info: Any, dims: tuple[int | None, ...], points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor,
        learned: bool,
    ) -> tuple[Tensor, int]:  # fmt: skip
        """A further batch axis is one more leading axis of points and matrices."""
        if dims[1] is not None or dims[2] is not None:
            raise ValidationError("skin: under vmap, joints and weights must be the same for the whole batch")
        N = info.batch_size

        def lifted(t: Tensor, dim: int | None) -> Tensor:
            return t.expand(N, *t.shape) if dim is None else t.movedim(dim, 0)

        palette = lifted(matrices, dims[3])
        B = palette.shape[1]
        flat = (
            points if dims[0] is None and len(points) == 1 else lifted(points, dims[0]).expand(N, B, -1, -1)
        )
        flat = flat.reshape(-1, *flat.shape[-2:])
        out = _Transformed.apply(flat, joints, weights, palette.reshape(-1, *palette.shape[2:]), learned)
        return out.reshape(N, B, *out.shape[1:]), 0


# As operators, for torch.compile, which must not look inside.
_operator = torch.library.custom_op("marrow::skin_linear", _forward, mutates_args=())
_operator.register_autograd(_compiled_backward, setup_context=_keep)
_gradient_operator = torch.library.custom_op("marrow::skin_linear_gradients", _gradients, mutates_args=())


@_operator.register_fake
def _(points: Tensor, joints: Tensor, weights: Tensor, matrices: Tensor, learned: bool) -> Tensor:
    return matrices.new_empty((matrices.shape[0], points.shape[1], 3))


@_gradient_operator.register_fake
def _(
    g: Tensor,
    points: Tensor,
    joints: Tensor,
    weights: Tensor,
    matrices: Tensor,
    learned: bool,
    wanted: list[bool],
) -> list[Tensor]:
    return [torch.empty_like(t) for t, want in zip((points, weights, matrices), wanted) if want]
