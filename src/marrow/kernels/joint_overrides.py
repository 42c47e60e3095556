"""Joints of many poses that code places: what `JointOverride` does."""

from __future__ import annotations

import math

from marrow.kernels.language.annotations import ANY, J, K, N, Out, f4, f8, i4, i8
from marrow.kernels.language.elementary import arccos, sin
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.spatial import (
    conjugated,
    crossed,
    dotted,
    local_rotation,
    minus,
    model_point,
    model_rotation,
    multiplied,
)

__all__ = ["OVERRIDE_HEAD", "OVERRIDE_JOINT", "override_joints"]

OVERRIDE_HEAD, OVERRIDE_JOINT = 3, 7
"""What an instance is told: its weight, whether rotations and whether translations are given; then for each joint a rotation
and a translation."""


def unit_rotation(q):
    """A rotation at unit length; none where it has no length."""
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if not size > 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size)


def turned_part(a, b, t):
    """The rotation `t` of the way from `a` to `b`, the short way, at constant speed."""
    along = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    keep, take = 1.0 - t, t
    angle = arccos(min(abs(along), 1.0))
    sine = sin(angle)
    if sine >= 1e-6:
        keep, take = sin(keep * angle) / sine, sin(take * angle) / sine
    take = -take if along < 0.0 else take
    return unit_rotation(
        (
            keep * a[0] + take * b[0],
            keep * a[1] + take * b[1],
            keep * a[2] + take * b[2],
            keep * a[3] + take * b[3],
        )
    )


def turn_joint(row, top, Jp, parents, j, given, weight, offset, model):
    """Turns a joint to a rotation that was given, or by it."""
    old = local_rotation(row, top, Jp, j)
    q = unit_rotation(given)
    if model != 0 and parents[j] >= 0:
        above = model_rotation(row, top, Jp, parents, parents[j])
        if offset != 0:
            q = multiplied(q, multiplied(above, old))
        q = multiplied(conjugated(above), q)
    elif offset != 0:
        q = multiplied(old, q)
    q = turned_part(old, q, weight)
    at = top + 3 * Jp + j
    row[at], row[at + Jp], row[at + 2 * Jp], row[at + 3 * Jp] = q[0], q[1], q[2], q[3]


def place_joint(row, top, Jp, parents, j, given, weight, offset, model):
    """Moves a joint to a place that was given, or by it. Nothing happens below a joint that is scaled to nothing."""
    way = given
    old = (row[top + j], row[top + Jp + j], row[top + 2 * Jp + j])
    p = parents[j]
    if model == 0 or p < 0:
        if offset == 0:
            way = minus(given, old)
    else:
        if offset == 0:
            way = minus(given, model_point(row, top, Jp, parents, p, old))
        o = model_point(row, top, Jp, parents, p, (0.0, 0.0, 0.0))
        x = minus(model_point(row, top, Jp, parents, p, (1.0, 0.0, 0.0)), o)
        y = minus(model_point(row, top, Jp, parents, p, (0.0, 1.0, 0.0)), o)
        z = minus(model_point(row, top, Jp, parents, p, (0.0, 0.0, 1.0)), o)
        size = dotted(x, crossed(y, z))
        if abs(size) < 1e-30:
            return
        way = (
            dotted(way, crossed(y, z)) / size,
            dotted(way, crossed(z, x)) / size,
            dotted(way, crossed(x, y)) / size,
        )
    row[top + j], row[top + Jp + j], row[top + 2 * Jp + j] = (
        old[0] + weight * way[0],
        old[1] + weight * way[1],
        old[2] + weight * way[2],
    )


@kernel
def override_joints(
    memory: Out[f4[ANY, ANY]],
    parents: i4[J],
    rows: i8[N],
    told: f8[ANY, ANY],
    whose: i8[N],
    joints: i4[K, 2],
    first: int,
    top: int,
    Jp: int,
    offset: int,
    model: int,
) -> int:
    """Places `joints` (each with its number among what is told, parents first) of the poses that the `rows` of `memory` have from
    column `top` on. `told[whose[n]]` is what row n is told, from column `first` on. Returns how many had a weight."""
    count = 0
    for n in range(len(rows)):
        row, given = memory[rows[n]], told[whose[n]]
        weight = given[first]
        if weight > 0.0:
            count += 1
            for k in range(len(joints)):
                at = first + OVERRIDE_HEAD + OVERRIDE_JOINT * joints[k, 1]
                if given[first + 1] != 0.0:
                    q = (given[at], given[at + 1], given[at + 2], given[at + 3])
                    turn_joint(row, top, Jp, parents, joints[k, 0], q, weight, offset, model)
                if given[first + 2] != 0.0:
                    p = (given[at + 4], given[at + 5], given[at + 6])
                    place_joint(row, top, Jp, parents, joints[k, 0], p, weight, offset, model)
    return count
