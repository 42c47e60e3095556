"""Joints in model space while constraints are solved, and rotations in parts: functions of the kernels' language.

Of each joint that a constraint looks at, 16 numbers lie in the scratch memory for model matrices: its place (3), its
rotation (4), its linear part (9, row by row). A set says for each constraint which of them have to be worked out
anew."""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.spatial import conjugated, local_rotation, multiplied

TINY = 1e-9


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
    return (
        m[s] + m[s + 7] * p[0] + m[s + 8] * p[1] + m[s + 9] * p[2],
        m[s + 1] + m[s + 10] * p[0] + m[s + 11] * p[1] + m[s + 12] * p[2],
        m[s + 2] + m[s + 13] * p[0] + m[s + 14] * p[1] + m[s + 15] * p[2],
    )


def refresh_joint(work, top, j, p):
    """Works out a joint whose parent is `p`."""
    rows, Jp, m, s = work.stack, work.Jp, work.model, 16 * j
    q = local_rotation(rows, top, Jp, j)
    t = point_of(work, p, (rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j]))
    m[s], m[s + 1], m[s + 2] = t
    a, b, c = rows[top + 7 * Jp + j], rows[top + 8 * Jp + j], rows[top + 9 * Jp + j]
    x2, y2, z2 = 2.0 * q[0], 2.0 * q[1], 2.0 * q[2]
    xx, yy, zz, xy, xz, yz = q[0] * x2, q[1] * y2, q[2] * z2, q[0] * y2, q[0] * z2, q[1] * z2
    wx, wy, wz = q[3] * x2, q[3] * y2, q[3] * z2
    first = ((1.0 - yy - zz) * a, (xy + wz) * a, (xz - wy) * a)
    second = ((xy - wz) * b, (1.0 - xx - zz) * b, (yz + wx) * b)
    third = ((xz + wy) * c, (yz - wx) * c, (1.0 - xx - yy) * c)
    if p >= 0:
        q = multiplied(rotation_of(work, p), q)
        o = 16 * p
        of = (m[o + 7], m[o + 8], m[o + 9], m[o + 10], m[o + 11], m[o + 12], m[o + 13], m[o + 14], m[o + 15])
        first, second, third = linear(of, first), linear(of, second), linear(of, third)
    m[s + 3], m[s + 4], m[s + 5], m[s + 6] = q
    m[s + 7], m[s + 8], m[s + 9] = first[0], second[0], third[0]
    m[s + 10], m[s + 11], m[s + 12] = first[1], second[1], third[1]
    m[s + 13], m[s + 14], m[s + 15] = first[2], second[2], third[2]


def linear(of, v):
    return (
        of[0] * v[0] + of[1] * v[1] + of[2] * v[2],
        of[3] * v[0] + of[4] * v[1] + of[5] * v[2],
        of[6] * v[0] + of[7] * v[1] + of[8] * v[2],
    )


def column_length(work, j, c):
    m, s = work.model, 16 * j + 7 + c
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
    m, s = work.model, 16 * p
    v = (goal[0] - m[s], goal[1] - m[s + 1], goal[2] - m[s + 2])
    ax, ay, az = m[s + 7], m[s + 10], m[s + 13]
    bx, by, bz = m[s + 8], m[s + 11], m[s + 14]
    cx, cy, cz = m[s + 9], m[s + 12], m[s + 15]
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


def power(q, k):
    """A rotation `k` times over, the short way round."""
    x, y, z, w = q
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    size = math.sqrt(x * x + y * y + z * z)
    if not size > TINY:
        return (k * x, k * y, k * z, 1.0)
    half = k * atan2(size, w)
    s = sin(half) / size
    return (s * x, s * y, s * z, cos(half))


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
    if axes == 1 or axes == 2 or axes == 4:
        axis = 0 if axes == 1 else 1 if axes == 2 else 2
        swing = multiplied(kept, conjugated(twist(kept, axis)))
        return multiplied(swing, twist(q, axis))
    if axes == 0:
        return kept
    left = 0 if axes == 6 else 1 if axes == 5 else 2
    swing = multiplied(q, conjugated(twist(q, left)))
    return multiplied(swing, twist(kept, left))


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
