"""Constraints of several joints, each the child of the one before: along a curve, and towards a target."""

from __future__ import annotations

import math

from marrow.kernels.operations.constraints.aims import goal_of
from marrow.kernels.operations.constraints.copies import limited
from marrow.kernels.operations.constraints.frames import (
    between,
    place_of,
    put_place,
    put_turn,
    refresh_joint,
    rotation_of,
    turn_between,
)
from marrow.kernels.operations.spatial import (
    conjugated,
    length_of,
    local_rotation,
    minus,
    multiplied,
    unit_or,
)


def gap_behind(work, c, first, i):
    """From the i-th place of a curve to the next."""
    return length_of(minus(place_of(work, c.source[first + i + 1]), place_of(work, c.source[first + i])))


def slope(here, before, after, d, e):
    """The speed of the curve at a place, by its neighbours at distances `d` and `e`: one number of it."""
    return (here - before) / d - (after - before) / (d + e) + (after - here) / e


def curve_point(work, c, first, count, u):
    """A point of the curve through places (Catmull-Rom, knots as far apart as the places), `u` from 0 to 1 of the
    way; it goes on straight at its ends."""
    whole = 0.0
    for s in range(count - 1):
        whole += gap_behind(work, c, first, s)
    left, i = min(max(u, 0.0), 1.0) * whole, 0
    for s in range(count - 2):
        gap = gap_behind(work, c, first, s)
        if i == s and left > gap:
            left -= gap
            i = s + 1
    own = max(gap_behind(work, c, first, i), 1e-9)
    f = min(left / own, 1.0)
    b, d = place_of(work, c.source[first + i]), place_of(work, c.source[first + i + 1])
    a, before = (2.0 * b[0] - d[0], 2.0 * b[1] - d[1], 2.0 * b[2] - d[2]), own
    e, behind = (2.0 * d[0] - b[0], 2.0 * d[1] - b[1], 2.0 * d[2] - b[2]), own
    if i > 0:
        a = place_of(work, c.source[first + i - 1])
        before = max(gap_behind(work, c, first, i - 1), 1e-9)
    if i + 2 < count:
        e = place_of(work, c.source[first + i + 2])
        behind = max(gap_behind(work, c, first, i + 1), 1e-9)
    ff = f * f
    fff = ff * f
    wb, wd = 2.0 * fff - 3.0 * ff + 1.0, 3.0 * ff - 2.0 * fff
    ws, wt = own * (fff - 2.0 * ff + f), own * (fff - ff)
    return (
        wb * b[0]
        + wd * d[0]
        + ws * slope(b[0], a[0], d[0], before, own)
        + wt * slope(d[0], b[0], e[0], own, behind),
        wb * b[1]
        + wd * d[1]
        + ws * slope(b[1], a[1], d[1], before, own)
        + wt * slope(d[1], b[1], e[1], own, behind),
        wb * b[2]
        + wd * d[2]
        + ws * slope(b[2], a[2], d[2], before, own)
        + wt * slope(d[2], b[2], e[2], own, behind),
    )


def turn_towards(work, top, j, p, child, goal, weight):
    """Turns a joint until its child lies towards a place; both are worked out anew."""
    here = place_of(work, j)
    is_at, wanted = minus(place_of(work, child), here), minus(goal, here)
    if length_of(is_at) > 1e-9 and length_of(wanted) > 1e-9 and math.isfinite(length_of(wanted)):
        a = unit_or(is_at, (0.0, 1.0, 0.0))
        turn = turn_between(a, unit_or(wanted, a))
        above, now = rotation_of(work, p), rotation_of(work, j)
        aimed = multiplied(conjugated(above), multiplied(turn, now))
        base = local_rotation(work.stack, top, work.Jp, j)
        put_turn(work, top, j, between(base, aimed, weight))
    refresh_joint(work, top, j, p)


def run_spline(work, n, top, c, k, weight):
    """Lays a chain along the curve through some joints: each joint at its share of it, pointing at the next one."""
    first, count, p = c.first_source[k], c.extra[k], c.parent[k]
    links, start = c.sources[k] - count, c.first_source[k] + count
    for i in range(links):
        j = c.source[start + i]
        refresh_joint(work, top, j, p)
        was, goal = place_of(work, j), curve_point(work, c, first, count, c.share[start + i])
        put_place(
            work, top, j, p,
            (was[0] + weight * (goal[0] - was[0]), was[1] + weight * (goal[1] - was[1]), was[2] + weight * (goal[2] - was[2])),
        )  # fmt: skip
        refresh_joint(work, top, j, p)
        if i + 1 < links:
            child = c.source[start + i + 1]
            refresh_joint(work, top, child, j)
            turn_towards(
                work, top, j, p, child, curve_point(work, c, first, count, c.share[start + i + 1]), weight
            )
        p = j


def keep_inside(work, top, c, s):
    """A link put inside its limits, where it has any."""
    if c.share[s] != 0.0:
        j, o = c.source[s], c.offset[s]
        q = local_rotation(work.stack, top, work.Jp, j)
        put_turn(work, top, j, limited(q, c.before[s], c.after[s], o[0], o[1], o[2]))


def work_out(work, top, c, first, i, count, above):
    """Works out the links of a chain from the i-th on; `above` is the parent of the first."""
    for s in range(i, count):
        j = c.source[first + s]
        refresh_joint(work, top, j, c.source[first + s - 1] if s > 0 else above)


def run_chain(work, n, top, c, k, weight):
    """Turns the links of a chain so that the last one comes to a place: from the tip inward (CCD), or along the
    points of FABRIK. Those do not know of limits: where links have some, both in turn."""
    first, count, above, numbers = c.first_source[k], c.extra[k], c.parent[k], c.numbers[k]
    goal = goal_of(work, n, c, k, first + count, first + c.sources[k])
    if not math.isfinite(goal[0] + goal[1] + goal[2]):
        return
    rounds, near, fabrik = int(numbers[0]), numbers[1], numbers[2] != 0.0
    rows, Jp, room = work.stack, work.Jp, work.local
    tip = c.source[first + count - 1]
    # How the links were turned, and for FABRIK where they are to go: 7 numbers each.
    inward = not fabrik
    for i in range(count):
        j = c.source[first + i]
        q = local_rotation(rows, top, Jp, j)
        room[16 * j], room[16 * j + 1], room[16 * j + 2], room[16 * j + 3] = q
        inward = inward or c.share[first + i] != 0.0
    for _ in range(rounds):
        if not length_of(minus(place_of(work, tip), goal)) > near:
            break
        if fabrik:
            # From the tip inward: points at the lengths of the links from one another.
            x, y, z = goal
            for b in range(count - 1):
                i = count - 2 - b
                j, child = c.source[first + i], c.source[first + i + 1]
                here = place_of(work, j)
                size = length_of(minus(place_of(work, child), here))
                room[16 * child + 4], room[16 * child + 5], room[16 * child + 6] = x, y, z
                way = unit_or((here[0] - x, here[1] - y, here[2] - z), (0.0, 1.0, 0.0))
                x, y, z = x + size * way[0], y + size * way[1], z + size * way[2]
            # And outward: each link turns towards the point of the next.
            for i in range(count - 1):
                s = first + i
                j, child = c.source[s], c.source[s + 1]
                p = c.source[s - 1] if i > 0 else above
                at = (room[16 * child + 4], room[16 * child + 5], room[16 * child + 6])
                refresh_joint(work, top, j, p)
                refresh_joint(work, top, child, j)
                turn_towards(work, top, j, p, child, at, 1.0)
                keep_inside(work, top, c, s)
                refresh_joint(work, top, j, p)
            work_out(work, top, c, first, 0, count, above)
        if inward:
            for b in range(count - 1):
                i = count - 2 - b
                s = first + i
                turn_towards(work, top, c.source[s], c.source[s - 1] if i > 0 else above, tip, goal, 1.0)
                keep_inside(work, top, c, s)
                work_out(work, top, c, first, i, count, above)
    if weight < 1.0:
        for i in range(count):
            j = c.source[first + i]
            was = (room[16 * j], room[16 * j + 1], room[16 * j + 2], room[16 * j + 3])
            put_turn(work, top, j, between(was, local_rotation(rows, top, Jp, j), weight))
