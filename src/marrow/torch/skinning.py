"""`marrow.torch.skin` and its kin: points moved by joints, with gradients, for any tensors of the right shapes."""

from __future__ import annotations

import torch
from marrow.errors import ValidationError
from marrow.torch import definitions
from marrow.torch.operators import fast_linear, usable
from marrow.torch.tensor_checks import check_tensor, shape_error
from torch import Tensor

__all__ = ["point_rotations", "skin"]

METHODS = ("linear", "dual_quaternion")


def skin(
    points: Tensor,
    joints: Tensor | None,
    weights: Tensor,
    matrices: Tensor,
    *,
    skinning: str = "linear",
    normals: Tensor | None = None,
    pivots: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Moves `points` by skinning `matrices`; the result has the shape `(..., V, 3)`.

    `points` are `(V, 3)`, shared by the batch, or `(..., V, 3)`; `matrices (..., J, 3, 4)` or `(..., J, 4, 4)` take a
    point at rest to where a joint carries it. `joints (V, K)` are whole numbers and `weights (V, K)` say how much each
    counts; with `joints=None`, `weights` are dense, `(V, J)`. With `normals`, shaped like points, a pair comes back:
    points and unit normals.

    `skinning` "dual_quaternion" keeps volume where joints twist. Joints that also scale do so about `pivots (J, 3)`, where
    they are at rest (the origin, if not given).
    """
    points, joints, weights, matrices = _known(points, joints, weights, matrices)
    if skinning not in METHODS:
        raise ValidationError(f"skin: skinning must be one of {', '.join(METHODS)}, got {skinning!r}")
    if normals is not None:
        check_tensor("skin", "normals", normals, (points.shape[-2], 3), "shaped like points")
    out_type = torch.promote_types(points.dtype, matrices.dtype)
    # Half precision is a way to store; sums are made in float32.
    work_type = torch.promote_types(torch.promote_types(out_type, weights.dtype), torch.float32)
    points, weights, matrices = points.to(work_type), weights.to(work_type), matrices.to(work_type)
    if (
        skinning == "linear"
        and normals is None
        and joints is not None
        and usable(points, joints, weights, matrices)
    ):
        return fast_linear(points, joints, weights, matrices).to(out_type)
    _check_range("skin", joints, matrices)
    with torch.autocast(points.device.type, enabled=False):
        if skinning == "dual_quaternion":
            joints, weights = _sparse(joints, weights)
            where = matrices.new_zeros(matrices.shape[-3], 3) if pivots is None else pivots.to(work_type)
            used = torch.arange(matrices.shape[-3], device=matrices.device)
            blended = definitions.dual_quaternion_matrices(joints, weights, matrices, where, used)
        elif joints is None:
            blended = definitions.dense_matrices(weights, matrices)
        else:
            blended = definitions.linear_matrices(joints, weights, matrices)
        moved = definitions.carry(blended, points).to(out_type)
        if normals is None:
            return moved
        return moved, definitions.carry_normals(blended, normals.to(work_type)).to(out_type)


def point_rotations(joints: Tensor | None, weights: Tensor, matrices: Tensor) -> Tensor:
    """How each point turns, as unit quaternions `(..., V, 4)`: multiply a splat's own rotation by it from the left.

    The rotations of the joints are blended as dual-quaternion skinning blends them, whatever else `matrices` do.
    """
    check_tensor("point_rotations", "weights", weights, (None, None), "(V, K), or (V, J) when joints is None")
    _, joints, weights, matrices = _checked(weights.new_zeros(len(weights), 3), joints, weights, matrices)
    _check_range("point_rotations", joints, matrices)
    out_type = matrices.dtype
    work_type = torch.promote_types(torch.promote_types(out_type, weights.dtype), torch.float32)
    with torch.autocast(matrices.device.type, enabled=False):
        joints, weights = _sparse(joints, weights)
        return definitions.point_rotations(joints, weights.to(work_type), matrices.to(work_type)).to(out_type)


def _check_range(who: str, joints: Tensor | None, matrices: Tensor) -> None:
    """Refuses joints that there are no matrices for. Not on a GPU, which would have to be waited for, nor while a graph of
    operations is only being written down."""
    if joints is None or joints.device.type != "cpu" or not joints.numel() or torch.compiler.is_compiling():
        return
    if torch._C._functorch.is_functorch_wrapped_tensor(joints):
        return
    low, high = (int(v) for v in torch.aminmax(joints))
    if low < 0 or high >= matrices.shape[-3]:
        wrong = low if low < 0 else high
        raise ValidationError(
            f"{who}: joints has index {wrong}, but matrices has {matrices.shape[-3]} joints"
        )


def _sparse(joints: Tensor | None, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Dense weights as influences: every joint is one."""
    if joints is not None:
        return joints, weights
    V, J = weights.shape
    return torch.arange(J, device=weights.device).expand(V, J), weights


def _known(
    points: Tensor, joints: Tensor | None, weights: Tensor, matrices: Tensor
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    """As `_checked`, which costs as much as a small kernel: once for tensors of the same kinds and shapes."""
    if joints is None or torch.compiler.is_compiling():
        return _checked(points, joints, weights, matrices)
    try:
        key = tuple((t.shape, t.dtype, t.device) for t in (points, joints, weights, matrices))
    except AttributeError:
        return _checked(points, joints, weights, matrices)
    if key not in _seen or joints.dtype not in (torch.int64, torch.int32):
        checked = _checked(points, joints, weights, matrices)
        if len(_seen) > 4096:
            _seen.clear()
        _seen.add(key)
        return checked
    return points, joints, weights, matrices if matrices.shape[-2] == 3 else matrices[..., :3, :]


_seen: set[object] = set()


def _checked(
    points: Tensor, joints: Tensor | None, weights: Tensor, matrices: Tensor
) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
    check_tensor("skin", "points", points, (None, 3), "(V, 3) or (..., V, 3)")
    check_tensor("skin", "weights", weights, (None, None), "(V, K), or (V, J) when joints is None")
    V = points.shape[-2]
    if weights.ndim != 2 or weights.shape[0] != V:
        raise shape_error("skin", "weights", weights, f"a floating tensor ({V}, K) for {V} points")
    if not isinstance(matrices, Tensor) or matrices.shape[-2:] not in ((3, 4), (4, 4)):
        raise shape_error("skin", "matrices", matrices, "a floating tensor (..., J, 3, 4) or (..., J, 4, 4)")
    check_tensor("skin", "matrices", matrices, (None, None, 4), "(..., J, 3, 4)")
    matrices = matrices[..., :3, :]
    J = matrices.shape[-3]
    if joints is None:
        if weights.shape[1] != J:
            raise shape_error(
                "skin", "weights", weights, f"({V}, {J}) for {J} matrices, since joints is None"
            )
    else:
        if not isinstance(joints, Tensor) or joints.dtype not in (
            torch.int64,
            torch.int32,
            torch.int16,
            torch.uint8,
        ):
            raise shape_error("skin", "joints", joints, "a tensor of whole numbers (V, K)")
        if joints.shape != weights.shape:
            raise shape_error("skin", "joints", joints, f"of the shape of weights {tuple(weights.shape)}")
        if joints.shape[1] == 0:
            raise shape_error("skin", "joints", joints, "(V, K) with K at least 1")
        joints = joints if joints.dtype in (torch.int64, torch.int32) else joints.long()
    if (
        not points.device
        == weights.device
        == matrices.device
        == (points if joints is None else joints).device
    ):
        devices = {str(t.device) for t in (points, weights, matrices, points if joints is None else joints)}
        raise ValidationError(f"skin: all tensors must be on one device, got {', '.join(sorted(devices))}")
    if points.ndim == 2:
        return points, joints, weights, matrices
    try:
        torch.broadcast_shapes(points.shape[:-2], matrices.shape[:-3])
    except RuntimeError:
        raise ValidationError(
            f"skin: points {tuple(points.shape)} and matrices {tuple(matrices.shape)} have other leading axes"
        ) from None
    return points, joints, weights, matrices
