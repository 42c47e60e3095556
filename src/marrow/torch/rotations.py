"""Rotations as tensors: quaternions (x, y, z, w), matrices, six numbers, axis-angle and Euler angles, with any leading
axes.

Every conversion has finite values and finite gradients everywhere, also where the formula of the textbook divides zero by
zero: no rotation at all, a half turn, a zero quaternion, gimbal lock.
"""

from __future__ import annotations

import torch
from marrow.torch.tensor_checks import check_last
from torch import Tensor

__all__ = [
    "axis_angle_to_quaternion",
    "euler_to_quaternion",
    "matrix_to_quaternion",
    "matrix_to_rotation_6d",
    "multiply",
    "quaternion_to_axis_angle",
    "quaternion_to_euler",
    "quaternion_to_matrix",
    "rotate",
    "rotation_6d_to_matrix",
]

_AXES = "XYZ"


def _unit(v: Tensor, spare: Tensor) -> Tensor:
    """`v` at unit length; `spare` where it has none. The division never sees a zero, so neither does its gradient."""
    if v.dtype in (torch.float16, torch.bfloat16):
        return _unit(v.float(), spare.float()).to(v.dtype)
    squared = (v * v).sum(-1, keepdim=True)
    tiny = squared <= torch.finfo(v.dtype).tiny * 1e4
    return torch.where(tiny, spare, v * torch.where(tiny, torch.ones_like(squared), squared).rsqrt())


def normalized(q: Tensor) -> Tensor:
    """Quaternions at unit length; those without one are no rotation."""
    return _unit(q, q.new_tensor([0.0, 0.0, 0.0, 1.0]))


def multiply(a: Tensor, b: Tensor) -> Tensor:
    """The product of quaternions: first `b`, then `a`."""
    check_last("multiply", a=(a, (4,)), b=(b, (4,)))
    ax, ay, az, aw = a.unbind(-1)
    bx, by, bz, bw = b.unbind(-1)
    return torch.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        -1,
    )


def rotate(q: Tensor, v: Tensor) -> Tensor:
    """Vectors `(..., 3)` turned by quaternions `(..., 4)`, which need not have unit length."""
    check_last("rotate", q=(q, (4,)), v=(v, (3,)))
    q = normalized(q)
    axis, w = q[..., :3], q[..., 3:]
    axis, v = torch.broadcast_tensors(axis, v)
    inner = 2.0 * torch.linalg.cross(axis, v)
    return v + w * inner + torch.linalg.cross(axis, inner)


def quaternion_to_matrix(q: Tensor) -> Tensor:
    """Rotation matrices `(..., 3, 3)` of quaternions of any length; a zero quaternion is no rotation."""
    check_last("quaternion_to_matrix", q=(q, (4,)))
    x, y, z, w = normalized(q).unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return torch.stack(rows, -1).unflatten(-1, (3, 3))


def matrix_to_quaternion(m: Tensor) -> Tensor:
    """Unit quaternions, w >= 0, of rotation matrices `(..., 3, 3)`.

    Of the four ways to write it the one with the largest divisor is taken, so half turns are as exact as any.
    """
    check_last("matrix_to_quaternion", m=(m, (3, 3)))
    a, b, c = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Four times the product of the quaternion with its own x, y, z, w: rows of a symmetric 4x4 matrix.
    xy, xz, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 2, 0] + m[..., 0, 2], m[..., 2, 1] + m[..., 1, 2]
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xx, yy, zz, ww = 1 + a - b - c, 1 - a + b - c, 1 - a - b + c, 1 + a + b + c
    rows = torch.stack(
        [
            torch.stack([xx, xy, xz, wx], -1),
            torch.stack([xy, yy, yz, wy], -1),
            torch.stack([xz, yz, zz, wz], -1),
            torch.stack([wx, wy, wz, ww], -1),
        ],
        -2,
    )
    best = torch.stack([xx, yy, zz, ww], -1).argmax(-1)
    row = rows.gather(-2, best[..., None, None].expand(*best.shape, 1, 4)).squeeze(-2)
    q = normalized(row)
    return torch.where(q[..., 3:] < 0, -q, q)


def rotation_6d_to_matrix(values: Tensor) -> Tensor:
    """Rotation matrices of six numbers `(..., 6)`: their first two columns, which need not be exact (Zhou et al. 2019).

    Where the numbers say nothing (zero, or both the same way) the axes fill in.
    """
    check_last("rotation_6d_to_matrix", values=(values, (6,)))
    eye = torch.eye(3, dtype=values.dtype, device=values.device)
    x = _unit(values[..., :3], eye[0])
    y = values[..., 3:]
    flat = y - x * (x * y).sum(-1, keepdim=True)
    least = eye[x.detach().abs().argmin(-1)]
    spare = _unit(least - x * (x * least).sum(-1, keepdim=True), eye[1])
    # A direction this close to the first one is rounding, not a direction.
    same = (flat * flat).sum(-1, keepdim=True) <= (16 * torch.finfo(values.dtype).eps) ** 2 * (y * y).sum(
        -1, keepdim=True
    )
    up = torch.where(same, spare, _unit(torch.where(same, spare, flat), spare))
    return torch.stack([x, up, torch.linalg.cross(x, up)], -1)


def matrix_to_rotation_6d(m: Tensor) -> Tensor:
    """Six numbers `(..., 6)` of rotation matrices: the first two columns, one after the other."""
    check_last("matrix_to_rotation_6d", m=(m, (3, 3)))
    return m[..., :2].transpose(-1, -2).flatten(-2)


def axis_angle_to_quaternion(v: Tensor) -> Tensor:
    """Unit quaternions of rotation vectors `(..., 3)`: axis times angle in radians, as SMPL has them."""
    check_last("axis_angle_to_quaternion", v=(v, (3,)))
    squared = (v * v).sum(-1, keepdim=True)
    small = squared < 1e-4
    angle = torch.where(small, torch.ones_like(squared), squared).sqrt()
    series = 0.5 - squared / 48 + squared * squared / 3840
    factor = torch.where(small, series, torch.sin(0.5 * angle) / angle)
    cosine = torch.where(small, 1 - squared / 8 + squared * squared / 384, torch.cos(0.5 * angle))
    return torch.cat([v * factor, cosine], -1)


def quaternion_to_axis_angle(q: Tensor) -> Tensor:
    """Rotation vectors `(..., 3)` of quaternions of any length, with angles up to half a turn."""
    check_last("quaternion_to_axis_angle", q=(q, (4,)))
    q = normalized(q)
    q = torch.where(q[..., 3:] < 0, -q, q)
    v, w = q[..., :3], q[..., 3:]
    squared = (v * v).sum(-1, keepdim=True)
    small = squared < 1e-5
    sine = torch.where(small, torch.ones_like(squared), squared).sqrt()
    # 2 asin(s) / s, written out where s is small.
    series = 2 + squared / 3 + squared * squared * (3 / 20)
    return v * torch.where(small, series, 2 * torch.atan2(sine, w) / sine)


def euler_to_quaternion(angles: Tensor, order: str = "XYZ") -> Tensor:
    """Unit quaternions of Euler angles `(..., 3)` in radians. `order` "XYZ" is the matrix product `Rx Ry Rz` (glTF and
    three.js write it so)."""
    check_last("euler_to_quaternion", angles=(angles, (3,)))
    a, b, c = _order("euler_to_quaternion", order)
    half = 0.5 * angles
    s, w = torch.sin(half), torch.cos(half)
    eye = torch.eye(3, dtype=angles.dtype, device=angles.device)
    turns = [torch.cat([s[..., i : i + 1] * eye[k], w[..., i : i + 1]], -1) for i, k in enumerate((a, b, c))]
    return multiply(multiply(turns[0], turns[1]), turns[2])


def quaternion_to_euler(q: Tensor, order: str = "XYZ") -> Tensor:
    """Euler angles `(..., 3)` in radians of quaternions of any length. In gimbal lock the third angle is zero, and
    gradients are finite, though no gradient there can be right."""
    check_last("quaternion_to_euler", q=(q, (4,)))
    i, j, k = _order("quaternion_to_euler", order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    m = quaternion_to_matrix(q)
    sine = (sign * m[..., i, k]).clamp(-1, 1)
    locked = sine.abs() > 1 - 1e-6
    one, zero = torch.ones_like(sine), torch.zeros_like(sine)
    # Each arc tangent sees harmless numbers where its result is not the one that is taken.
    free = torch.atan2(
        torch.where(locked, zero, -sign * m[..., j, k]), torch.where(locked, one, m[..., k, k])
    )
    stuck = torch.atan2(
        torch.where(locked, sign * m[..., k, j], zero), torch.where(locked, m[..., j, j], one)
    )
    last = torch.atan2(
        torch.where(locked, zero, -sign * m[..., i, j]), torch.where(locked, one, m[..., i, i])
    )
    inner = torch.where(locked, zero, sine)
    middle = torch.where(
        locked, torch.sign(sine) * (torch.pi / 2) + (sine - sine.detach()), torch.asin(inner)
    )
    return torch.stack([torch.where(locked, stuck, free), middle, torch.where(locked, zero, last)], -1)


def _order(name: str, order: str) -> tuple[int, int, int]:
    from marrow.errors import ValidationError

    if not isinstance(order, str) or sorted(order.upper()) != list(_AXES):
        raise ValidationError(f"{name}: order must be the letters X, Y and Z in some order, got {order!r}")
    a, b, c = (_AXES.index(letter) for letter in order.upper())
    return a, b, c
