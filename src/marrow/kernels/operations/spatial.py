"""Vectors, quaternions and the way joints stand in model space: what operations that look at a pose are made of.

Functions without types are in the compiled subset; vectors and quaternions are tuples of numbers. Below them the same for the
specification, in NumPy. Scale is taken into account for places, but not shear for directions.
"""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.record import Array, Rows
from marrow.math import quaternion, transform

UP = (0.0, 1.0, 0.0)


def multiplied(a, b):
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


def conjugated(q):
    return (-q[0], -q[1], -q[2], q[3])


def turned(q, v):
    tx, ty, tz = (
        2 * (q[1] * v[2] - q[2] * v[1]),
        2 * (q[2] * v[0] - q[0] * v[2]),
        2 * (q[0] * v[1] - q[1] * v[0]),
    )
    return (
        v[0] + q[3] * tx + q[1] * tz - q[2] * ty,
        v[1] + q[3] * ty + q[2] * tx - q[0] * tz,
        v[2] + q[3] * tz + q[0] * ty - q[1] * tx,
    )


def crossed(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dotted(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def length_of(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit_or(a, spare):
    """`a` at unit length; `spare` where it has none."""
    size = length_of(a)
    if size < 1e-9:
        return spare
    return (a[0] / size, a[1] / size, a[2] / size)


def across(a, u):
    """The part of `a` perpendicular to the unit vector `u`."""
    s = dotted(a, u)
    return (a[0] - s * u[0], a[1] - s * u[1], a[2] - s * u[2])


def perpendicular(u):
    """Some unit vector perpendicular to `u`."""
    ax, ay, az = abs(u[0]), abs(u[1]), abs(u[2])
    if ax <= ay and ax <= az:
        return unit_or(crossed((1.0, 0.0, 0.0), u), (0.0, 1.0, 0.0))
    if ay <= az:
        return unit_or(crossed((0.0, 1.0, 0.0), u), (0.0, 0.0, 1.0))
    return unit_or(crossed((0.0, 0.0, 1.0), u), (1.0, 0.0, 0.0))


def shortest_turn(a, b, n):
    """The shortest rotation from one unit vector to another; about `n` where they are opposite."""
    w = 1.0 + dotted(a, b)
    if w < 1e-7:
        return (n[0], n[1], n[2], 0.0)
    c = crossed(a, b)
    size = math.sqrt(dotted(c, c) + w * w)
    return (c[0] / size, c[1] / size, c[2] / size, w / size)


def half_turn(sine, cosine):
    """Sine and cosine of half of an angle, which may be given with any factor; no turn where both are zero."""
    size = math.sqrt(sine * sine + cosine * cosine)
    s, c = sine, size + cosine
    if cosine < 0.0:
        # The other way round, where that difference would be inexact.
        s, c = size - cosine if sine >= 0.0 else cosine - size, abs(sine)
    size = math.sqrt(s * s + c * c)
    if size < 1e-30:
        return 0.0, 1.0
    return s / size, c / size


def frame_turn(a, n, b, m):
    """The rotation that brings the unit vectors `a` to `b` and `n` to `m`, where each pair is perpendicular."""
    # The shortest turn from a to b, then about b what n still lacks.
    swing = shortest_turn(a, b, n)
    k = turned(swing, n)
    s, c = half_turn(dotted(crossed(k, m), b), dotted(k, m))
    return multiplied((s * b[0], s * b[1], s * b[2], c), swing)


def local_rotation(rows, top, Jp, j):
    x, y, z, w = (
        rows[top + 3 * Jp + j], rows[top + 4 * Jp + j], rows[top + 5 * Jp + j], rows[top + 6 * Jp + j]
    )  # fmt: skip
    size = x * x + y * y + z * z + w * w
    if size == 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    s = 1.0 / math.sqrt(size)
    return (x * s, y * s, z * s, w * s)


def put_rotation(rows, top, Jp, j, q, weight):
    """Turns a joint `weight` of the way to `q`."""
    at = top + 3 * Jp + j
    if weight == 1.0:
        side = rows[at] * q[0] + rows[at + Jp] * q[1] + rows[at + 2 * Jp] * q[2] + rows[at + 3 * Jp] * q[3]
        side = 1.0 if side >= 0.0 else -1.0
        rows[at], rows[at + Jp] = side * q[0], side * q[1]
        rows[at + 2 * Jp], rows[at + 3 * Jp] = side * q[2], side * q[3]
        return
    old = local_rotation(rows, top, Jp, j)
    side = weight if old[0] * q[0] + old[1] * q[1] + old[2] * q[2] + old[3] * q[3] >= 0.0 else -weight
    keep = 1.0 - weight
    rows[at], rows[at + Jp] = keep * old[0] + side * q[0], keep * old[1] + side * q[1]
    rows[at + 2 * Jp], rows[at + 3 * Jp] = keep * old[2] + side * q[2], keep * old[3] + side * q[3]


def model_rotation(rows, top, Jp, parents, j):
    """How a joint is turned in model space; the identity for no joint."""
    q = (0.0, 0.0, 0.0, 1.0)
    while j >= 0:
        q = multiplied(local_rotation(rows, top, Jp, j), q)
        j = parents[j]
    return q


def model_place(rows, top, Jp, parents, j):
    """Where a joint is in model space."""
    p = (0.0, 0.0, 0.0)
    first = True
    while j >= 0:
        if not first:
            p = (p[0] * rows[top + 7 * Jp + j], p[1] * rows[top + 8 * Jp + j], p[2] * rows[top + 9 * Jp + j])
            p = turned(local_rotation(rows, top, Jp, j), p)
        p = (p[0] + rows[top + j], p[1] + rows[top + Jp + j], p[2] + rows[top + 2 * Jp + j])
        first = False
        j = parents[j]
    return p


def plus(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def scaled(a, s):
    return (s * a[0], s * a[1], s * a[2])


def about(axis, angle):
    """The rotation by an angle about a unit vector."""
    half = 0.5 * angle
    s = sin(half)
    return (s * axis[0], s * axis[1], s * axis[2], cos(half))


def turned_towards(a, b, most):
    """The unit vector `a` turned to the unit vector `b`, by no more than an angle."""
    c = crossed(a, b)
    angle = atan2(length_of(c), dotted(a, b))
    if angle <= most:
        return b
    return turned(about(unit_or(c, perpendicular(a)), most), a)


def model_point(rows, top, Jp, parents, j, p):
    """A point in the frame of a joint, in model space; as it is for no joint."""
    while j >= 0:
        p = (p[0] * rows[top + 7 * Jp + j], p[1] * rows[top + 8 * Jp + j], p[2] * rows[top + 9 * Jp + j])
        p = turned(local_rotation(rows, top, Jp, j), p)
        p = (p[0] + rows[top + j], p[1] + rows[top + Jp + j], p[2] + rows[top + 2 * Jp + j])
        j = parents[j]
    return p


def root_above(parents, j):
    """The root that a joint hangs from."""
    while parents[j] >= 0:
        j = parents[j]
    return j


def move_joint(rows, top, Jp, parents, j, v):
    """Moves a joint by a vector of model space. Nothing happens below a joint that is scaled to nothing."""
    p = parents[j]
    o = model_point(rows, top, Jp, parents, p, (0.0, 0.0, 0.0))
    x = minus(model_point(rows, top, Jp, parents, p, (1.0, 0.0, 0.0)), o)
    y = minus(model_point(rows, top, Jp, parents, p, (0.0, 1.0, 0.0)), o)
    z = minus(model_point(rows, top, Jp, parents, p, (0.0, 0.0, 1.0)), o)
    size = dotted(x, crossed(y, z))
    if abs(size) < 1e-12:
        return
    rows[top + j] += dotted(v, crossed(y, z)) / size
    rows[top + Jp + j] += dotted(v, crossed(z, x)) / size
    rows[top + 2 * Jp + j] += dotted(v, crossed(x, y)) / size


# -- for the specification ------------------------------------------------------------------------------------------


def nlerp_one(a: Array, b: Array, w: Array) -> Array:
    b = -b if float((a * b).sum()) < 0 else b
    return a * (1 - w) + b * w


def model_turns(parents: Array, local: Array) -> Array:
    out = local.copy()
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            out[j] = quaternion.multiply(out[p], local[j])
    return out


def model_frames(rows: Rows, parents: Array) -> tuple[Array, Array, Array]:
    """Places `(J, 3)`, rotations `(J, 4)` and linear parts `(J, 3, 3)` in model space; rotations know no scale."""
    q = quaternion.normalize(rows[1])
    matrices = transform.compose(rows[0], q, rows[2])
    places = np.empty_like(rows[0])
    whole = np.empty_like(matrices)
    for j, p in enumerate(parents.tolist()):
        whole[j] = matrices[j]
        if p >= 0:
            whole[j, :, :3] = whole[p, :, :3] @ matrices[j, :, :3]
            whole[j, :, 3] = whole[p, :, :3] @ matrices[j, :, 3] + whole[p, :, 3]
        places[j] = whole[j, :, 3]
    return places, model_turns(parents, q), whole[:, :, :3]


def turn_to(rows: Rows, j: int, local: Array, weight: float) -> None:
    rows[1][j] = nlerp_one(quaternion.normalize(rows[1][j]), local, np.array(weight))


def unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def frame_of(x: Array, n: Array) -> Array:
    return np.column_stack([x, n, np.cross(x, n)])
