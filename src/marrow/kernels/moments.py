"""Updates of instances whose springs step: they are made in parts that end where a clock ticks, so that springs know the pose of
every step, whatever the frame rate; and where roots are then, which callers put somewhere once per update.

The *path* of an instance: where its root was when the update began, the first two differences of that over the updates before,
the seconds of those two, how large its metre is, the seconds of this update, whether it was moved for it, and room."""

from __future__ import annotations

import math

from marrow.kernels.control_tables import INSTANCE_STATE
from marrow.kernels.language.annotations import ANY, N, Out, Records, f8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.limbs import TICKS
from marrow.kernels.operations.springs import FAST, FASTEST_SPIN, JUMP, LONG, SPIN
from marrow.kernels.root_vectors import SLACK, turned_by

__all__ = ["LONGEST_SPLIT", "MOST_PARTS", "PATH", "PATH_SIZE", "join_travel", "move_roots", "split_updates"]

PATH = 33
_SPEED, _BEND, _BEFORE, _EARLIER, PATH_SIZE, _SECONDS, _GIVEN, _LAST = 7, 14, 21, 22, 23, 24, 25, 26
LONGEST_SPLIT = 0.25
"""Seconds of an update from which on it is made as one."""
MOST_PARTS = 17
"""Parts of an update: one more than clocks tick in the longest."""


def put_there(path, n, p, q):
    """Whether somebody who was at the beginning of its path was put at another place, too far to have gone."""
    dt = path[n, _SECONDS]
    x, y, z = p[0] - path[n, 0], p[1] - path[n, 1], p[2] - path[n, 2]
    same = q[0] * path[n, 3] + q[1] * path[n, 4] + q[2] * path[n, 5] + q[3] * path[n, 6]
    most = path[n, PATH_SIZE] * (JUMP + FAST * dt)
    if not x * x + y * y + z * z <= most * most:
        return True
    return 2.0 * math.sqrt(max(2.0 - 2.0 * abs(same), 0.0)) > SPIN + FASTEST_SPIN * dt


def begin_path(instances, place, shown_at, path, n, seconds):
    """The root has come where it is: the update of `seconds` begins there."""
    ahead, dt, before = instances[n]["ahead"] != 0, path[n, _SECONDS], path[n, _BEFORE]
    if ahead:
        for c in range(7):
            path[n, _LAST + c] = shown_at[n, c]
    else:
        for c in range(7):
            path[n, _LAST + c] = place[n, c]
    p = (path[n, _LAST], path[n, _LAST + 1], path[n, _LAST + 2])
    q = (path[n, _LAST + 3], path[n, _LAST + 4], path[n, _LAST + 5], path[n, _LAST + 6])
    known = instances[n]["new"] == 0 and dt > 0.0 and not put_there(path, n, p, q)
    side = 1.0
    if q[0] * path[n, 3] + q[1] * path[n, 4] + q[2] * path[n, 5] + q[3] * path[n, 6] < 0.0:
        side = -1.0
    for c in range(7):
        here = path[n, _LAST + c] if c < 3 else side * path[n, _LAST + c]
        speed = (here - path[n, c]) / dt if known else 0.0
        bend = (speed - path[n, _SPEED + c]) / (dt + before) if known and before > 0.0 else 0.0
        path[n, c], path[n, _SPEED + c], path[n, _BEND + c] = here, speed, bend
    path[n, _EARLIER] = before if known else 0.0
    path[n, _BEFORE] = dt if known else 0.0
    path[n, _SECONDS], path[n, _GIVEN] = seconds, 1.0 if ahead else 0.0


@kernel
def split_updates(
    instances: Records[INSTANCE_STATE, N],
    place: f8[N, 7],
    shown_at: f8[N, 7],
    path: Out[f8[N, PATH]],
    dt: f8[ANY],
    seconds: float,
    parts: Out[f8[N, MOST_PARTS]],
) -> int:
    """Begins the paths of updates of `dt (N,)` seconds, or of `seconds` where that is empty, and splits them where clocks tick. Returns
    how many parts there are; `parts` has the seconds of each, below zero where an instance has no part of that number. All have
    the last."""
    most = 0
    for n in range(len(place)):
        me, passing = instances[n], dt[n] if len(dt) > 0 else seconds
        begin_path(instances, place, shown_at, path, n, passing)
        for k in range(MOST_PARTS):
            parts[n, k] = -1.0
        clock, found = me["clock"], 0
        end = clock + passing
        rare = me["interval"] > 1 or me["wanted"] > 1 or me["stored"] != 0
        if not rare and passing > 0.0 and passing <= LONGEST_SPLIT:
            tick = float(int(clock * TICKS + SLACK)) + 1.0
            while found < MOST_PARTS - 1 and tick < end * TICKS - SLACK:
                part = max(tick / TICKS - clock, 0.0)
                parts[n, found] = part
                clock, tick, found = clock + part, tick + 1.0, found + 1
        # The rest, for now behind its other parts.
        parts[n, found] = max(end - clock, 0.0) if found > 0 else passing
        most = max(most, found)
    for n in range(len(place)):
        own = most
        while own > 0 and parts[n, own] < 0.0:
            own -= 1
        rest = parts[n, own]
        parts[n, own] = -1.0
        parts[n, most] = rest
    return most + 1


@kernel
def move_roots(
    place: f8[N, 7],
    ended: f8[N, 7],
    own: f8[N, 7],
    path: f8[N, PATH],
    parts: f8[N, MOST_PARTS],
    part: int,
    roots: Out[f8[N, 7]],
    before: Out[f8[N, 7]],
) -> None:
    """Puts `roots` where they are at the end of a part, those of instances that have it, and into `before` where they were. They go as
    the graph has them (`own`: there), unless they were moved by hand: before the update, or from where it left them (`ended`) to
    `place`. Then they are on a cubic through where they were in the last updates."""
    for n in range(len(place)):
        for c in range(7):
            before[n, c] = roots[n, c]
        if parts[n, part] < 0.0:
            continue
        given = path[n, _GIVEN] != 0.0
        for c in range(7):
            given = given or place[n, c] != ended[n, c]
        dt, h, g = path[n, _SECONDS], path[n, _BEFORE], path[n, _EARLIER]
        if not given:
            for c in range(7):
                roots[n, c] = own[n, c]
        elif dt <= 0.0 or put_there(
            path,
            n,
            (place[n, 0], place[n, 1], place[n, 2]),
            (place[n, 3], place[n, 4], place[n, 5], place[n, 6]),
        ):
            for c in range(7):
                roots[n, c] = place[n, c]
        else:
            tau, same, size = 0.0, 0.0, 0.0
            for k in range(part + 1):
                tau += max(parts[n, k], 0.0)
            for c in range(3, 7):
                same += place[n, c] * path[n, c]
            bend, twist = 0.0, 0.0
            if h > 0.0 and h < LONG and dt < LONG:
                bend = tau * (tau - dt)
                if g > 0.0 and g < LONG:
                    twist = bend * (tau + h) / (dt + h + g)
            for c in range(7):
                there = -place[n, c] if c >= 3 and same < 0.0 else place[n, c]
                speed = (there - path[n, c]) / dt
                curve = (speed - path[n, _SPEED + c]) / (dt + h) if h > 0.0 else 0.0
                x = path[n, c] + tau * speed + bend * curve + twist * (curve - path[n, _BEND + c])
                roots[n, c] = x
                if c >= 3:
                    size += x * x
            size = 1.0 / math.sqrt(size) if size > 0.0 else 1.0
            for c in range(3, 7):
                roots[n, c] *= size


@kernel
def join_travel(travel: f8[N, 7], parts: f8[N, MOST_PARTS], part: int, total: Out[f8[N, 7]]) -> None:
    """Adds how far instances went in a part to how far they went in those before."""
    for n in range(len(travel)):
        if parts[n, part] < 0.0:
            continue
        first = True
        for k in range(part):
            first = first and parts[n, k] < 0.0
        if first:
            for c in range(7):
                total[n, c] = travel[n, c]
            continue
        ax, ay, az, aw = total[n, 3], total[n, 4], total[n, 5], total[n, 6]
        bx, by, bz, bw = travel[n, 3], travel[n, 4], travel[n, 5], travel[n, 6]
        gone = turned_by(ax, ay, az, aw, (travel[n, 0], travel[n, 1], travel[n, 2]))
        total[n, 0] += gone[0]
        total[n, 1] += gone[1]
        total[n, 2] += gone[2]
        total[n, 3] = aw * bx + ax * bw + ay * bz - az * by
        total[n, 4] = aw * by - ax * bz + ay * bw + az * bx
        total[n, 5] = aw * bz + ax * by - ay * bx + az * bw
        total[n, 6] = aw * bw - ax * bx - ay * by - az * bz
