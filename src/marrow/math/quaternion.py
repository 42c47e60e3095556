"""Unit quaternions `(..., 4)` in `xyzw` order.

Convention: `rotate(multiply(a, b), v) == rotate(a, rotate(b, v))`, as matrices multiply.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.math.elementary import arccos, arctan2, cross, sincos

__all__ = [
    "angle",
    "between",
    "conjugate",
    "from_axis_angle",
    "from_euler",
    "from_matrix",
    "from_wxyz",
    "identity",
    "log",
    "multiply",
    "nlerp",
    "normalize",
    "rotate",
    "slerp",
    "to_euler",
    "to_matrix",
    "to_wxyz",
]

Array = NDArray[Any]


def _floating(value: ArrayLike) -> Array:
    array = np.asarray(value)
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def identity(shape: tuple[int, ...] = (), dtype: Any = np.float32) -> Array:
    """The rotation that does nothing, `(*shape, 4)`."""
    q = np.zeros((*shape, 4), dtype)
    q[..., 3] = 1
    return q


def normalize(q: ArrayLike) -> Array:
    """`q` at unit length; a zero quaternion becomes the identity."""
    q = _floating(q)
    # Dividing by the largest component first keeps denormal and huge quaternions from losing their direction.
    largest = np.abs(q).max(axis=-1, keepdims=True)
    zero = largest == 0
    q = q / np.where(zero, 1, largest)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    unit = q / np.where(zero, 1, length)
    return np.where(zero, identity(dtype=unit.dtype), unit)


def conjugate(q: ArrayLike) -> Array:
    """The inverse rotation of a unit quaternion."""
    q = _floating(q)
    return q * np.array([-1, -1, -1, 1], q.dtype)


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """The rotation `b`, then `a`."""
    a, b = _floating(a), _floating(b)
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    x = aw * bx + ax * bw + ay * bz - az * by
    out = np.empty((*x.shape, 4), x.dtype)
    out[..., 0] = x
    out[..., 1] = aw * by - ax * bz + ay * bw + az * bx
    out[..., 2] = aw * bz + ax * by - ay * bx + az * bw
    out[..., 3] = aw * bw - ax * bx - ay * by - az * bz
    return out


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """The vectors `v (..., 3)` turned by `q`."""
    q, v = _floating(q), _floating(v)
    u, w = q[..., :3], q[..., 3:]
    # v' = v + 2 u x (u x v + w v)
    return v + 2 * cross(u, cross(u, v) + w * v)


def from_axis_angle(axis: ArrayLike, radians: ArrayLike) -> Array:
    """The turn of `radians (...)` about the unit `axis (..., 3)`."""
    axis, half = _floating(axis), _floating(radians)[..., None] / 2
    shape = np.broadcast_shapes(axis.shape[:-1], half.shape[:-1])
    sine, cosine = (v.astype(half.dtype) for v in sincos(half))
    xyz = np.broadcast_to(sine * axis, (*shape, 3))
    return np.concatenate([xyz, np.broadcast_to(cosine, (*shape, 1))], axis=-1)


def from_wxyz(q: ArrayLike) -> Array:
    """Reorders `wxyz` quaternions, as SciPy's scalar-first mode, Blender and SMPL code write them."""
    return np.roll(_floating(q), -1, axis=-1)


def to_wxyz(q: ArrayLike) -> Array:
    """Reorders into `wxyz`."""
    return np.roll(_floating(q), 1, axis=-1)


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrices `(..., 3, 3)`."""
    q = _floating(q)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    out = np.empty((*q.shape[:-1], 3, 3), q.dtype)
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
    )
    out[..., 1, 0], out[..., 1, 1], out[..., 1, 2] = (
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    out[..., 2, 0], out[..., 2, 1], out[..., 2, 2] = (
        2 * (x * z - w * y),
        2 * (y * z + w * x),
        1 - 2 * (x * x + y * y),
    )
    return out


def from_matrix(m: ArrayLike) -> Array:
    """The quaternion of rotation matrices `(..., 3, 3)` (Shepperd's method: the largest of the four components leads)."""
    m = _floating(m)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = m00 + m11 + m22
    # Four times each component squared; the largest is safe to divide by.
    lead = np.stack([1 + m00 - m11 - m22, 1 - m00 + m11 - m22, 1 - m00 - m11 + m22, 1 + trace], axis=-1)
    x = np.stack(
        [lead[..., 0], m[..., 0, 1] + m[..., 1, 0], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] - m[..., 1, 2]],
        -1,
    )
    y = np.stack([x[..., 1], lead[..., 1], m[..., 1, 2] + m[..., 2, 1], m[..., 0, 2] - m[..., 2, 0]], -1)
    z = np.stack([x[..., 2], y[..., 2], lead[..., 2], m[..., 1, 0] - m[..., 0, 1]], -1)
    w = np.stack([x[..., 3], y[..., 3], z[..., 3], lead[..., 3]], -1)
    rows = np.stack([x, y, z, w], axis=-2)
    best = np.argmax(lead, axis=-1)
    return normalize(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :])


_AXES = {"x": 0, "y": 1, "z": 2}


def _axes(order: str) -> list[int]:
    if not isinstance(order, str) or not order or not set(order.lower()) <= set(_AXES):
        raise ValidationError(f"order must name axes x, y or z, such as 'xyz', got {order!r}")
    return [_AXES[a] for a in order.lower()]


def from_euler(angles: ArrayLike, order: str = "xyz") -> Array:
    """Turns by `angles (..., 3)` about the axes of `order`, each in the frame the ones before it left (intrinsic):
    `from_euler([a, b, c], "zxy")` is the matrix `Z(a) @ X(b) @ Y(c)`, as BVH files mean it."""
    angles, axes = _floating(angles), _axes(order)
    if angles.ndim < 1 or angles.shape[-1] != len(axes):
        raise ValidationError(
            f"from_euler: expected {len(axes)} angles for {order!r}, got shape {angles.shape}"
        )
    eye = np.eye(3, dtype=angles.dtype)
    q = from_axis_angle(eye[axes[0]], angles[..., 0])
    for k in range(1, len(axes)):
        q = multiply(q, from_axis_angle(eye[axes[k]], angles[..., k]))
    return q


def to_euler(q: ArrayLike, order: str = "xyz") -> Array:
    """The three angles `(..., 3)` with `from_euler(to_euler(q, order), order) == q`, for three different axes."""
    axes = _axes(order)
    if sorted(axes) != [0, 1, 2]:
        raise ValidationError(f"order must name three different axes, got {order!r}")
    i, j, k = axes
    m = to_matrix(normalize(q))
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    # The cosine of the middle angle: atan2 keeps all digits near a right angle, where arcsin loses half of them.
    cosine = np.sqrt(m[..., i, i] * m[..., i, i] + m[..., i, j] * m[..., i, j])
    middle = arctan2(sign * m[..., i, k], cosine)
    # At gimbal lock only the sum of first and last is defined: put it all into the first.
    locked = cosine < 8 * np.finfo(m.dtype).eps
    last = np.where(locked, 0, arctan2(-sign * m[..., i, j], m[..., i, i]))
    # The first angle is what is left after undoing the last, so that near the lock their sum is still right.
    s, c = sincos(last)
    s = sign * s
    first = arctan2(sign * (m[..., k, i] * s + m[..., k, j] * c), m[..., j, i] * s + m[..., j, j] * c)
    return np.stack([first, middle, last], axis=-1).astype(m.dtype)


def nlerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Straight interpolation the short way round, normalised; `t (...)` in 0..1."""
    a, b = _floating(a), _floating(b)
    t = np.asarray(t, np.result_type(a, b))[..., None]
    b = np.where((a * b).sum(-1, keepdims=True) < 0, -b, b)
    return normalize(a * (1 - t) + b * t)


def slerp(a: ArrayLike, b: ArrayLike, t: ArrayLike) -> Array:
    """Interpolation at constant angular speed the short way round; `t (...)` in 0..1."""
    a, b = _floating(a), _floating(b)
    t = np.asarray(t, np.result_type(a, b))[..., None]
    cosine = (a * b).sum(-1, keepdims=True)
    b = np.where(cosine < 0, -b, b)
    theta = arccos(np.clip(np.abs(cosine), 0, 1))
    sine = sincos(theta)[0]
    near = sine < 1e-6
    safe = np.where(near, 1, sine)
    wa = np.where(near, 1 - t, sincos((1 - t) * theta)[0] / safe).astype(t.dtype)
    wb = np.where(near, t, sincos(t * theta)[0] / safe).astype(t.dtype)
    return normalize(wa * a + wb * b)


def angle(a: ArrayLike, b: ArrayLike) -> Array:
    """The angle in radians, 0..pi, between two rotations."""
    d = multiply(conjugate(a), b)
    return (2 * arctan2(np.linalg.norm(d[..., :3], axis=-1), np.abs(d[..., 3]))).astype(d.dtype)


def log(q: ArrayLike) -> Array:
    """The rotation vector `(..., 3)`: unit axis times angle, angle in -pi..pi."""
    q = normalize(q)
    q = np.where(q[..., 3:] < 0, -q, q)
    length = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    scale = np.where(length < 1e-12, 2, 2 * arctan2(length, q[..., 3:]) / np.where(length < 1e-12, 1, length))
    return q[..., :3] * scale.astype(q.dtype)


def between(a: ArrayLike, b: ArrayLike) -> Array:
    """The shortest turn that brings the direction of `a (..., 3)` to that of `b (..., 3)`."""
    a, b = _floating(a), _floating(b)
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    a, b = np.broadcast_arrays(a, b)
    w = 1 + (a * b).sum(-1, keepdims=True)
    # Opposite directions: any axis perpendicular to a will do.
    least = np.eye(3, dtype=a.dtype)[np.argmin(np.abs(a), axis=-1)]
    opposite = np.concatenate([cross(a, least), np.zeros_like(w)], axis=-1)
    return normalize(np.where(w < 1e-7, opposite, np.concatenate([cross(a, b), w], axis=-1)))
