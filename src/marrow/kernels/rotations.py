"""Rotations in other forms, for many frames at once: vectors, angles, turning per second. `marrow.math.quaternion` says what they mean
(`log`, `to_euler`); here the same is done number by number, many times faster."""

from __future__ import annotations

import math

from marrow.kernels.language.annotations import J, N, Out, T, f4
from marrow.kernels.language.elementary import atan2, sincos
from marrow.kernels.language.kernel import kernel

__all__ = ["angular_velocities", "euler_angles", "matrix_rotations", "rotation_vectors"]

LOCKED = 8.0 * 2.220446049250313e-16


def unit(x, y, z, w):
    """A quaternion at unit length; zero becomes the identity. Dividing by the largest part first keeps tiny ones."""
    largest = max(max(abs(x), abs(y)), max(abs(z), abs(w)))
    if largest == 0.0:
        return 0.0, 0.0, 0.0, 1.0
    x, y, z, w = x / largest, y / largest, z / largest, w / largest
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return x / length, y / length, z / length, w / length


def vector(x, y, z, w):
    """Axis times angle of a quaternion, the short way round."""
    x, y, z, w = unit(x, y, z, w)
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    length = math.sqrt(x * x + y * y + z * z)
    scale = 2.0
    if length >= 1e-12:
        scale = 2.0 * atan2(length, w) / length
    return x * scale, y * scale, z * scale


@kernel
def rotation_vectors(q: f4[N, 4], out: Out[f4[N, 3]]) -> int:
    """The rotation vectors of quaternions."""
    for n in range(len(q)):
        x, y, z = vector(q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        out[n, 0], out[n, 1], out[n, 2] = x, y, z
    return len(q)


@kernel
def angular_velocities(q: f4[T, J, 4], out: Out[f4[T, J, 3]], rate: float) -> int:
    """How fast rotations turn, in the frame they are given in: from the frame before to the frame after, one-sided at both
    ends."""
    T = len(q)
    for t in range(T):
        a, b = max(t - 1, 0), min(t + 1, T - 1)
        factor = rate / max(b - a, 1)
        for j in range(len(q[t])):
            px, py, pz, pw = q[a, j, 0], q[a, j, 1], q[a, j, 2], q[a, j, 3]
            x, y, z, w = q[b, j, 0], q[b, j, 1], q[b, j, 2], q[b, j, 3]
            # next * conjugate(before)
            vx, vy, vz = vector(
                pw * x - w * px - y * pz + z * py,
                pw * y - w * py - z * px + x * pz,
                pw * z - w * pz - x * py + y * px,
                w * pw + x * px + y * py + z * pz,
            )
            out[t, j, 0], out[t, j, 1], out[t, j, 2] = vx * factor, vy * factor, vz * factor
    return T


@kernel
def matrix_rotations(m: f4[N, 3, 4], out: Out[f4[N, 4]]) -> int:
    """The quaternions of the turns of affine matrices, whose columns may have any length (Shepperd's method)."""
    for n in range(len(m)):
        a, b, c = column(m, n, 0), column(m, n, 1), column(m, n, 2)
        trace = a[0] + b[1] + c[2]
        x, y, z, w = b[2] - c[1], c[0] - a[2], a[1] - b[0], 1.0 + trace
        if trace <= a[0] or trace <= b[1] or trace <= c[2]:
            if a[0] >= b[1] and a[0] >= c[2]:
                x, y, z, w = 1.0 + a[0] - b[1] - c[2], a[1] + b[0], c[0] + a[2], b[2] - c[1]
            elif b[1] >= c[2]:
                x, y, z, w = a[1] + b[0], 1.0 + b[1] - a[0] - c[2], b[2] + c[1], c[0] - a[2]
            else:
                x, y, z, w = c[0] + a[2], b[2] + c[1], 1.0 + c[2] - a[0] - b[1], a[1] - b[0]
        x, y, z, w = unit(x, y, z, w)
        out[n, 0], out[n, 1], out[n, 2], out[n, 3] = x, y, z, w
    return len(m)


def column(m, n, c):
    """A column of a matrix at unit length; zero stays zero."""
    x, y, z = m[n, 0, c], m[n, 1, c], m[n, 2, c]
    length = math.sqrt(x * x + y * y + z * z)
    if not length > 0.0:
        return (0.0, 0.0, 0.0)
    return (x / length, y / length, z / length)


def entry(x, y, z, w, i, j):
    """One entry of the matrix of a quaternion."""
    if i == j:
        if i == 0:
            return 1.0 - 2.0 * (y * y + z * z)
        if i == 1:
            return 1.0 - 2.0 * (x * x + z * z)
        return 1.0 - 2.0 * (x * x + y * y)
    if i + j == 1:
        return 2.0 * (x * y - w * z) if i == 0 else 2.0 * (x * y + w * z)
    if i + j == 2:
        return 2.0 * (x * z + w * y) if i == 0 else 2.0 * (x * z - w * y)
    return 2.0 * (y * z - w * x) if i == 1 else 2.0 * (y * z + w * x)


@kernel
def euler_angles(q: f4[N, 4], out: Out[f4[N, 3]], i: int, j: int, k: int) -> int:
    """Three angles about the axes i, j and k (all different), each in the frame the ones before it left."""
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    for n in range(len(q)):
        x, y, z, w = unit(q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        a, b = entry(x, y, z, w, i, i), entry(x, y, z, w, i, j)
        cosine = math.sqrt(a * a + b * b)
        middle = atan2(sign * entry(x, y, z, w, i, k), cosine)
        # At gimbal lock only the sum of first and last is defined: put it all into the first.
        last = 0.0
        if cosine >= LOCKED:
            last = atan2(-sign * b, a)
        s, c = sincos(last)
        s = sign * s
        up = sign * (entry(x, y, z, w, k, i) * s + entry(x, y, z, w, k, j) * c)
        out[n, 0] = atan2(up, entry(x, y, z, w, j, i) * s + entry(x, y, z, w, j, j) * c)
        out[n, 1], out[n, 2] = middle, last
    return len(q)
