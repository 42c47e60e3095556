"""From poses to lanes and back: 16 characters at a time."""

from __future__ import annotations

import math

from marrow.kernels.ik.work import GOAL, MOVES, TURNS
from marrow.kernels.operations.spatial import multiplied, turned

__all__ = ["bring_in", "bring_out"]

ALIKE = 1.5
"""Bones that are longer or shorter than at rest by this factor are those of a pose in another unit."""


def unit_rotation(rotation, n, j):
    """The rotation of a joint at unit length; none where it has no length."""
    x, y, z, w = rotation[n, j, 0], rotation[n, j, 1], rotation[n, j, 2], rotation[n, j, 3]
    size = math.sqrt(x * x + y * y + z * z + w * w)
    if not size > 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    return (x / size, y / size, z / size, w / size)


def put3(array, at, v):
    array[at], array[at + 16], array[at + 32] = v[0], v[1], v[2]


def put4(array, at, q):
    array[at], array[at + 16], array[at + 32], array[at + 48] = q[0], q[1], q[2], q[3]


def get3(array, at):
    return (array[at], array[at + 16], array[at + 32])


def get4(array, at):
    return (array[at], array[at + 16], array[at + 32], array[at + 48])


def bring_in(work, n, lane):
    """Puts pose `n` in a lane, with its goals and floors. Goals that are no numbers become what the pose has."""
    K = len(work.joints)
    per = 1.0 / work.size
    # Node 0 is the model space. Frames and places of the pose itself: they tell where the centre is, and what is held.
    put4(work.frame, lane, (0.0, 0.0, 0.0, 1.0))
    put3(work.place, lane, (0.0, 0.0, 0.0))
    put3(work.offset, lane, (0.0, 0.0, 0.0))
    put4(work.turn, lane, (0.0, 0.0, 0.0, 1.0))
    work.unit[lane] = 1.0
    bones = 0.0
    for i in range(1, K):
        j, p = work.joints[i], work.parents[i]
        grown = work.unit[16 * p + lane]
        sx, sy, sz = 1.0, 1.0, 1.0
        if p > 0:
            a = work.joints[p]
            sx, sy, sz = work.scale[n, a, 0], work.scale[n, a, 1], work.scale[n, a, 2]
        length = grown * per
        home = (
            sx * work.translation[n, j, 0] * length, sy * work.translation[n, j, 1] * length, sz * work.translation[n, j, 2] * length
        )  # fmt: skip
        begin = (
            sx * work.out_translation[n, j, 0] * length,
            sy * work.out_translation[n, j, 1] * length,
            sz * work.out_translation[n, j, 2] * length,
        )
        if p > 0 and i != work.centre:
            bones += math.sqrt(home[0] * home[0] + home[1] * home[1] + home[2] * home[2])
        # What scales the children of this node's children: uniform scale passes down.
        work.unit[16 * i + lane] = grown * ((sx + sy + sz) / 3.0)
        q = unit_rotation(work.rotation, n, j)
        put3(work.home_offset, 48 * i + lane, home)
        put3(work.offset, 48 * i + lane, begin)
        put4(work.home_turn, 64 * i + lane, q)
        put4(work.turn, 64 * i + lane, unit_rotation(work.out_rotation, n, j))
        above = get4(work.frame, 64 * p + lane)
        way = turned(above, home)
        place = get3(work.place, 48 * p + lane)
        put4(work.frame, 64 * i + lane, multiplied(above, q))
        put3(work.place, 48 * i + lane, (place[0] + way[0], place[1] + way[1], place[2] + way[2]))
    # A pose that is much larger or smaller than at rest is brought to the size that all weights are meant for.
    grown = bones / work.bones if work.bones > 0.0 else 1.0
    if not math.isfinite(grown) or grown < 1e-9 or 1.0 / ALIKE < grown < ALIKE:
        grown = 1.0
    work.grown[lane] = grown
    if grown != 1.0:
        per /= grown
        for k in range(48 * K // 16):
            at = 16 * k + lane
            work.home_offset[at] /= grown
            work.offset[at] /= grown
            work.place[at] /= grown
    centre = get3(work.place, 48 * work.centre + lane)
    for i in range(1, K):
        if work.parents[i] == 0:
            for c in range(3):
                work.home_offset[48 * i + 16 * c + lane] -= centre[c]
                work.offset[48 * i + 16 * c + lane] -= centre[c]
    bring_goals(work, n, lane, centre, per)
    for k in range(len(work.floor_nodes)):
        i = work.floor_nodes[k]
        grown = work.unit[16 * i + lane] * per
        j = work.joints[i]
        below = 0.0
        for c in range(3):
            work.floor_point[48 * k + 16 * c + lane] = work.floor_points[k, c] * work.scale[n, j, c] * grown
            work.plane[64 * k + 16 * c + lane] = work.floors[n, k, c]
            below += work.floors[n, k, c] * centre[c]
        work.plane[64 * k + 48 + lane] = work.floors[n, k, 3] * per - below


def bring_goals(work, n, lane, centre, per):
    for k in range(len(work.effector_flags)):
        i, first = work.effector_nodes[k, 0], work.effector_nodes[k, 2]
        grown = work.unit[16 * i + lane] * per
        j = work.joints[i]
        point = (
            work.effector_points[8 * k] * work.scale[n, j, 0] * grown,
            work.effector_points[8 * k + 1] * work.scale[n, j, 1] * grown,
            work.effector_points[8 * k + 2] * work.scale[n, j, 2] * grown,
        )
        put3(work.point, 48 * k + lane, point)
        frame, place = get4(work.frame, 64 * i + lane), get3(work.place, 48 * i + lane)
        way = turned(frame, point)
        at = 16 * GOAL * k + lane
        goal = work.goals[n, k]
        given = math.isfinite(goal[0] + goal[1] + goal[2])
        for c in range(3):
            here = place[c] + way[c] - centre[c]
            work.goal[at + 16 * c] = goal[c] * per - centre[c] if given else here
            work.reachable[48 * k + 16 * c + lane] = work.goal[at + 16 * c]
            work.goal[at + 16 * (7 + c)] = goal[7 + c] * per - centre[c]
            work.goal[at + 16 * (10 + c)] = goal[10 + c] * per - centre[c]
        size = math.sqrt(goal[3] * goal[3] + goal[4] * goal[4] + goal[5] * goal[5] + goal[6] * goal[6])
        for c in range(4):
            work.goal[at + 16 * (3 + c)] = (
                goal[3 + c] / size if size > 0.0 and math.isfinite(size) else frame[c]
            )
            weight = goal[13 + c]
            work.goal[at + 16 * (13 + c)] = weight if weight > 0.0 and math.isfinite(weight) else 0.0
        # The bones of the limb, end to end, and what the point lies beyond them.
        length = math.sqrt(point[0] * point[0] + point[1] * point[1] + point[2] * point[2])
        if first > 0:
            below = i
            while below != first and below > 0:
                o = get3(work.home_offset, 48 * below + lane)
                length += math.sqrt(o[0] * o[0] + o[1] * o[1] + o[2] * o[2])
                below = work.parents[below]
        work.limb[16 * k + lane] = length


def bring_out(work, n, lane):
    """Writes what was found for pose `n`."""
    size = work.size * work.grown[lane]
    for i in range(1, len(work.joints)):
        j, flags = work.joints[i], work.flags[i]
        if flags & TURNS == TURNS:
            for c in range(4):
                work.out_rotation[n, j, c] = work.turn[64 * i + 16 * c + lane]
        if flags & MOVES == MOVES:
            p = work.parents[i]
            grown = work.unit[16 * p + lane] / size
            for c in range(3):
                s = 1.0
                if p > 0:
                    s = work.scale[n, work.joints[p], c]
                # What it moved by: a place that did not change keeps its bits.
                moved = work.offset[48 * i + 16 * c + lane] - work.home_offset[48 * i + 16 * c + lane]
                if s * grown != 0.0:
                    work.out_translation[n, j, c] = work.translation[n, j, c] + moved / (s * grown)
    for k in range(len(work.effector_flags)):
        work.residuals[n, k, 0] = work.result[48 * k + lane] * size
        work.residuals[n, k, 1] = work.result[48 * k + 16 + lane]
        work.residuals[n, k, 2] = work.result[48 * k + 32 + lane]
