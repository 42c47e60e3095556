"""Forward kinematics on CUDA as one operator, in Triton."""

from __future__ import annotations

import functools
from typing import Any

import torch
from marrow.torch import triton_skinning
from marrow.torch.kinematics import by_levels, depths
from marrow.torch.triton_skinning import launch
from torch import Tensor

__all__ = ["forward_kinematics", "usable"]

BLOCK = 128


def usable(local: Tensor) -> bool:
    """Whether the operator takes this tensor: float32 on CUDA, where Triton is."""
    return local.device.type == "cuda" and local.dtype == torch.float32 and triton_skinning.available()


@functools.lru_cache(maxsize=256)
def _tables(parents: tuple[int, ...], device: torch.device) -> tuple[Tensor, Tensor, Tensor, int]:
    """Every joint's chain from its root, -1 at the end; an order in which parents come first; parents; the longest
    chain."""
    depth = depths(parents)
    most = max(depth) + 1
    chains = []
    for j in range(len(parents)):
        chain, at = [], j
        while at >= 0:
            chain.append(at)
            at = parents[at]
        chains.append(chain[::-1] + [-1] * (most - len(chain)))
    order = sorted(range(len(parents)), key=lambda j: depth[j])
    whole = {"dtype": torch.int32, "device": device}
    return torch.tensor(chains, **whole), torch.tensor(order, **whole), torch.tensor(parents, **whole), most


def forward_kinematics(local: Tensor, parents: tuple[int, ...]) -> Tensor:
    """Model-space matrices of `local (..., J, 3, 4)`."""
    flat = local.reshape(-1, *local.shape[-3:])
    if torch.compiler.is_compiling():
        return torch.ops.marrow.forward_kinematics(flat, list(parents)).reshape(local.shape)
    if torch._C._are_functorch_transforms_active():
        return by_levels(local, parents)
    return _Eager.apply(flat, list(parents)).reshape(local.shape)


def _forward(local: Tensor, parents: list[int]) -> Tensor:
    local = local.detach().contiguous()
    B, J = local.shape[:2]
    out = torch.empty_like(local)
    if B:
        chains, _, _, depth = _tables(tuple(parents), local.device)
        launch(
            "kinematics", (-(-B * J // BLOCK),), (chains, local, out), (J, B * J), DEPTH=depth, BLOCK=BLOCK
        )
    return out


def _gradient(g: Tensor, local: Tensor, model: Tensor, parents: list[int]) -> Tensor:
    total = g.detach().clone(memory_format=torch.contiguous_format)
    local, model = local.detach().contiguous(), model.detach().contiguous()
    B, J = local.shape[:2]
    out = torch.empty_like(local)
    if B:
        _, order, up, _ = _tables(tuple(parents), local.device)
        launch(
            "kinematics_gradient",
            (-(-B // 32),),
            (order, up, local, model, total, out),
            (B,),
            J=J,
            BLOCK=32,
            warps=1,
        )
    return out


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(inputs[0], output)
    ctx.parents = inputs[1]


def _through(run: Any, ctx: Any, g: Tensor) -> tuple[Tensor, None]:
    """Gradients by `run`, or through the definition where somebody wants to differentiate again."""
    local, model = ctx.saved_tensors
    if torch.is_grad_enabled():
        again = by_levels(local, tuple(ctx.parents))
        return torch.autograd.grad(again, local, g, create_graph=True)[0], None
    return run(g, local, model, ctx.parents), None


def _backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
    return _through(_gradient, ctx, g)


def _compiled_backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
    return _through(torch.ops.marrow.forward_kinematics_gradient, ctx, g)


class _Eager(torch.autograd.Function):
    """The operation as eager code calls it."""

    @staticmethod
    def forward(ctx: Any, local: Tensor, parents: list[int]) -> Tensor:
        out = _forward(local, parents)
        _keep(ctx, (local, parents), out)
        return out

    backward = staticmethod(_backward)


# As operators, for torch.compile, which must not look inside.
_operator = torch.library.custom_op("marrow::forward_kinematics", _forward, mutates_args=())
_operator.register_autograd(_compiled_backward, setup_context=_keep)
_gradient_operator = torch.library.custom_op(
    "marrow::forward_kinematics_gradient", _gradient, mutates_args=()
)


@_operator.register_fake
def _(local: Tensor, parents: list[int]) -> Tensor:
    return torch.empty_like(local)


@_gradient_operator.register_fake
def _(g: Tensor, local: Tensor, model: Tensor, parents: list[int]) -> Tensor:
    return torch.empty_like(local)
