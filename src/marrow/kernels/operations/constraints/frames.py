"""Joints in model space while constraints are solved, and rotations in parts: functions of the kernels' language.

Of each joint that a constraint looks at, eight numbers lie in the scratch memory for model matrices: its place (3),
its rotation (4), and its scale where it is the same along all axes from the root on, else 0; then its linear part (9,
row by row) lies in the scratch memory for local ones. A set says for each constraint which of them have to be worked
out anew."""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.spatial import (
    conjugated,
    crossed,
    local_rotation,
    minus,
    multiplied,
    perpendicular,
    turned,
)

TINY = 1e-9
LINEAR = 7
"""Where the linear part of a joint begins among its 16 numbers."""


def place_of(work, j):
    m, s = work.model, 16 * j
    return (m[s], m[s + 1], m[s + 2])


def rotation_of(work, j):
    """How a joint is turned in model space; the identity for none."""
    if j < 0:
        return (0.0, 0.0, 0.0, 1.0)
    m, s = work.model, 16 * j
    return (m[s + 3], m[s + 4], m[s + 5], m[s + 6])


def point_of(work, j, p):
    """A point in the frame of a joint, in model space; as it is for none."""
    if j < 0:
        return p
    m, s = work.model, 16 * j
    size = m[s + 7]
    if size != 0.0:
        v = turned((m[s + 3], m[s + 4], m[s + 5], m[s + 6]), p)
        return (m[s] + size * v[0], m[s + 1] + size * v[1], m[s + 2] + size * v[2])
    v = linear(work, j, p)
    return (m[s] + v[0], m[s + 1] + v[1], m[s + 2] + v[2])


def linear(work, j, v):
    """A vector in the frame of a joint that is scaled unevenly, in model space."""
    m, s = work.local, 16 * j + LINEAR
    return (
        m[s] * v[0] + m[s + 1] * v[1] + m[s + 2] * v[2],
        m[s + 3] * v[0] + m[s + 4] * v[1] + m[s + 5] * v[2],
        m[s + 6] * v[0] + m[s + 7] * v[1] + m[s + 8] * v[2],
    )


def refresh_joint(work, top, j, p):
    """Works out a joint whose parent is `p`."""
    rows, Jp, m, s = work.stack, work.Jp, work.model, 16 * j
    q = local_rotation(rows, top, Jp, j)
    t = point_of(work, p, (rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j]))
    m[s], m[s + 1], m[s + 2] = t
    a, b, c = rows[top + 7 * Jp + j], rows[top + 8 * Jp + j], rows[top + 9 * Jp + j]
    above = 1.0
    if p >= 0:
        above = m[16 * p + 7]
    even = a == b and b == c and above != 0.0
    if not even:
        refresh_linear(work, j, p, q, a, b, c)
    if p >= 0:
        q = multiplied(rotation_of(work, p), q)
    m[s + 3], m[s + 4], m[s + 5], m[s + 6] = q
    m[s + 7] = above * a if even else 0.0


def refresh_linear(work, j, p, q, a, b, c):
    """The linear part of a joint with the local rotation `q` and scale `a, b, c`."""
    x2, y2, z2 = 2.0 * q[0], 2.0 * q[1], 2.0 * q[2]
    xx, yy, zz, xy, xz, yz = q[0] * x2, q[1] * y2, q[2] * z2, q[0] * y2, q[0] * z2, q[1] * z2
    wx, wy, wz = q[3] * x2, q[3] * y2, q[3] * z2
    first = ((1.0 - yy - zz) * a, (xy + wz) * a, (xz - wy) * a)
    second = ((xy - wz) * b, (1.0 - xx - zz) * b, (yz + wx) * b)
    third = ((xz + wy) * c, (yz - wx) * c, (1.0 - xx - yy) * c)
    if p >= 0:
        first, second, third = (
            vector_of(work, p, first),
            vector_of(work, p, second),
            vector_of(work, p, third),
        )
    m, s = work.local, 16 * j + LINEAR
    m[s], m[s + 1], m[s + 2] = first[0], second[0], third[0]
    m[s + 3], m[s + 4], m[s + 5] = first[1], second[1], third[1]
    m[s + 6], m[s + 7], m[s + 8] = first[2], second[2], third[2]


def vector_of(work, j, v):
    """A vector in the frame of a joint, in model space."""
    size = work.model[16 * j + 7]
    if size != 0.0:
        w = turned(rotation_of(work, j), v)
        return (size * w[0], size * w[1], size * w[2])
    return linear(work, j, v)


def column_length(work, j, c):
    """How long an axis of a joint is in model space."""
    size = work.model[16 * j + 7]
    if size != 0.0:
        return abs(size)
    m, s = work.local, 16 * j + LINEAR + c
    return math.sqrt(m[s] * m[s] + m[s + 3] * m[s + 3] + m[s + 6] * m[s + 6])


def local_place(rows, top, Jp, j):
    return (rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j])


def put_place(work, top, j, p, goal):
    """Puts a joint at a place of model space; nothing below a parent that is scaled to nothing, or for no place."""
    rows, Jp = work.stack, work.Jp
    if not math.isfinite(goal[0] + goal[1] + goal[2]):
        return
    if p < 0:
        rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j] = goal
        return
    v, scale = minus(goal, place_of(work, p)), work.model[16 * p + 7]
    if scale != 0.0:
        t = turned(conjugated(rotation_of(work, p)), v)
        rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j] = t[0] / scale, t[1] / scale, t[2] / scale
        return
    m, s = work.local, 16 * p + LINEAR
    ax, ay, az = m[s], m[s + 3], m[s + 6]
    bx, by, bz = m[s + 1], m[s + 4], m[s + 7]
    cx, cy, cz = m[s + 2], m[s + 5], m[s + 8]
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    size = ax * ux + ay * uy + az * uz
    if not abs(size) > 1e-18:
        return
    rows[top + j] = (v[0] * ux + v[1] * uy + v[2] * uz) / size
    rows[top + Jp + j] = (
        v[0] * (cy * az - cz * ay) + v[1] * (cz * ax - cx * az) + v[2] * (cx * ay - cy * ax)
    ) / size
    rows[top + 2 * Jp + j] = (
        v[0] * (ay * bz - az * by) + v[1] * (az * bx - ax * bz) + v[2] * (ax * by - ay * bx)
    ) / size


def put_turn(work, top, j, q):
    """Sets the local rotation of a joint; nothing where it is none."""
    rows, Jp = work.stack, work.Jp
    if not q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] > TINY:
        return
    at = top + 3 * Jp + j
    rows[at], rows[at + Jp], rows[at + 2 * Jp], rows[at + 3 * Jp] = q


def share_of(k, y):
    """`sin(k a) / sin(a)` for `y = cos(a) - 1`, where a is at most 45 degrees and k from -2 to 2: a series in y."""
    kk, total = k * k, 1.0
    total = 1.0 + total * (kk - 49.0) * (y * (1.0 / 105.0))
    total = 1.0 + total * (kk - 36.0) * (y * (1.0 / 78.0))
    total = 1.0 + total * (kk - 25.0) * (y * (1.0 / 55.0))
    total = 1.0 + total * (kk - 16.0) * (y * (1.0 / 36.0))
    total = 1.0 + total * (kk - 9.0) * (y * (1.0 / 21.0))
    total = 1.0 + total * (kk - 4.0) * (y * 0.1)
    total = 1.0 + total * (kk - 1.0) * (y * (1.0 / 3.0))
    return k * total


def power(q, k):
    """A rotation `k` times over, the short way round."""
    x, y, z, w = q
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    if abs(k) > 1.0:
        size = math.sqrt(x * x + y * y + z * z)
        if not size > TINY:
            return (k * x, k * y, k * z, 1.0)
        half = k * atan2(size, w)
        s = sin(half) / size
        return (s * x, s * y, s * z, cos(half))
    # Half of it, twice as often: what is left is small enough for a series.
    c = math.sqrt(0.5 * min(w, 1.0) + 0.5)
    near, far = share_of(1.0 - 2.0 * k, c - 1.0), share_of(2.0 * k, c - 1.0)
    s = 0.5 * far / c
    return (s * x, s * y, s * z, near + far * c)


def between(a, b, k):
    """The rotation that is `k` of the way from one to another."""
    if k >= 1.0:
        return b
    return multiplied(a, power(multiplied(conjugated(a), b), k))


def unit_turn(q):
    size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
    if not size > 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    s = 1.0 / math.sqrt(size)
    return (q[0] * s, q[1] * s, q[2] * s, q[3] * s)


def twist(q, axis):
    """What a rotation turns about an axis (0, 1 or 2); none where it turns half round across it."""
    v = q[0]
    if axis == 1:
        v = q[1]
    elif axis == 2:
        v = q[2]
    size = math.sqrt(v * v + q[3] * q[3])
    if not size > TINY:
        return (0.0, 0.0, 0.0, 1.0)
    v, w = v / size, q[3] / size
    if axis == 0:
        return (v, 0.0, 0.0, w)
    if axis == 1:
        return (0.0, v, 0.0, w)
    return (0.0, 0.0, v, w)


def chosen(q, kept, axes):
    """The part of a rotation about some axes (bits 1, 2, 4), and the rest of another: of one axis the twist about it,
    of two what is left without the twist about the third."""
    if axes == 7:
        return q
    if axes == 0:
        return kept
    axis = only_axis(axes)
    if axis >= 0:
        return multiplied(multiplied(kept, conjugated(twist(kept, axis))), twist(q, axis))
    left = only_axis(7 - axes)
    return multiplied(multiplied(q, conjugated(twist(q, left))), twist(kept, left))


def only_axis(axes):
    """The one axis (0, 1 or 2) among some; below zero where there are more."""
    return 0 if axes == 1 else 1 if axes == 2 else 2 if axes == 4 else -1


def part_of(q, axes):
    """The same where nothing is kept."""
    axis = only_axis(axes)
    if axis >= 0:
        return twist(q, axis)
    if axes == 7:
        return q
    return multiplied(q, conjugated(twist(q, only_axis(7 - axes))))


def turn_between(a, b):
    """The shortest rotation from one unit vector to another; about any axis across where they are opposite."""
    w = 1.0 + a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if w < 1e-7:
        n = perpendicular(a)
        return (n[0], n[1], n[2], 0.0)
    c = crossed(a, b)
    s = 1.0 / math.sqrt(2.0 * w)
    return (s * c[0], s * c[1], s * c[2], s * w)


def log_of(q):
    """A rotation as a vector."""
    x, y, z, w = q
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    size = math.sqrt(x * x + y * y + z * z)
    k = 2.0
    if size > TINY:
        k = 2.0 * atan2(size, w) / size
    return (k * x, k * y, k * z)


def exp_of(v):
    """The rotation of a vector."""
    angle = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if not angle > TINY:
        return (0.5 * v[0], 0.5 * v[1], 0.5 * v[2], 1.0)
    s = sin(0.5 * angle) / angle
    return (s * v[0], s * v[1], s * v[2], cos(0.5 * angle))
