"""How those come to rest who cannot reach; and an update of one instance from its pose row to its pose row as shaders run it, a
lane for each.

An update goes twice through three shaders, `take_row`, `solve_row` and `finish_row`: the second time for those who missed a target
alone, from where they began and without steps. On the CPU `marrow.graph.ik_steps` does the same to arrays of all of them."""

from __future__ import annotations

import math
from typing import NamedTuple

from marrow.kernels.ik.exchange import bring_in, bring_out
from marrow.kernels.ik.rows import IkRows, begin_where_it_ended, put_row, take_pose
from marrow.kernels.ik.solve import solve_lanes
from marrow.kernels.language.annotations import E, K, N, Out, S, f4, f8
from marrow.kernels.language.kernel import kernel

__all__ = [
    "REACHED",
    "TURNED",
    "IkProgress",
    "IkRest",
    "come_to_rest",
    "finish_row",
    "solve_row",
    "take_row",
]

REACHED, TURNED = 1e-3, 1e-2
"""Metres from a target, and radians from its rotation and its aim, from which on it counts as missed."""
CLOSER = 0.99
"""What is missing must become less than this part of what it was, or what was found is not taken."""
SPEED = 3.0
"""Radians a second that joints turn at most where a target is missed."""


class IkRest(NamedTuple):
    """What was found for N instances that miss a target, of the K joints that turn and of the one that moves, and what is missing
    there (`found_residuals`) and where they began (`residuals`)."""

    found_rotation: Out[f4[N, K, 4]]
    found_translation: Out[f4[N, 3]]
    found_residuals: f4[N, E, 3]
    residuals: f4[N, E, 3]
    body: float
    """The body's size in metres."""
    holds: int
    """Whether those stay where they were whom the steps brought no closer; a floor may lead away from a target."""
    weight: float
    """What the square of a radian weighs against that of the body's size."""


class IkProgress(NamedTuple):
    """How far the updates of N instances are: whether one begins where the last one ended (`WARM`), whether it has missed a target
    (`LOST`) and what is missing then (`NOW`). The steps of those that begin at their poses come first, `cold` of them."""

    progress: Out[f4[N, 3]]
    before: Out[f4[N, S]]
    """What was kept before an update of several ticks, S numbers."""
    again: int
    """1 the second time."""
    tick: int
    ticks: int
    """Which tick of an update it is, of how many."""
    cold: int
    cold_inner: float


WARM, LOST, NOW = 0, 1, 2


def missed(work, rest, n):
    """Whether an instance is further from a target than it would be once it is reached."""
    for k in range(len(work.parts)):
        if work.strengths[k, 0] > 0.0 and rest.residuals[n, k, 0] > REACHED:
            return True
        if work.strengths[k, 1] > 0.0 and rest.residuals[n, k, 1] > TURNED:
            return True
        if work.strengths[k, 2] > 0.0 and rest.residuals[n, k, 2] > TURNED:
            return True
    return False


def missing(work, rest, n, residuals):
    """What the solver makes small, of the residuals of instance `n`."""
    total = 0.0
    for k in range(len(work.parts)):
        far, turn, aim = residuals[n, k, 0] / rest.body, residuals[n, k, 1], residuals[n, k, 2]
        total += work.goals[n, k, 13] * far * far
        total += rest.weight * (work.goals[n, k, 14] * turn * turn + work.goals[n, k, 15] * aim * aim)
    return total


def hold_back(work, rest, n, seconds, was, now):
    """From where an instance began it goes to what was found no faster than it may, and not at all where that is no closer."""
    most = 0.0
    for k in range(len(work.turning)):
        j = work.turning[k]
        same, other = 0.0, 0.0
        for c in range(4):
            a, b = work.out_rotation[n, j, c], rest.found_rotation[n, k, c]
            same += (b - a) * (b - a)
            other += (b + a) * (b + a)
        most = max(most, min(same, other))
    share = 0.0
    if rest.holds == 0 or not now > CLOSER * was:
        # Half the angle between rotations is about the distance of their quaternions.
        share = min(1.0, SPEED * seconds / max(2.0 * math.sqrt(most), 1e-6))
    for k in range(len(work.turning)):
        j = work.turning[k]
        along = 0.0
        for c in range(4):
            along += work.out_rotation[n, j, c] * rest.found_rotation[n, k, c]
        side = -1.0 if along < 0.0 else 1.0
        for c in range(4):
            begin = side * work.out_rotation[n, j, c]
            work.out_rotation[n, j, c] = begin + share * (rest.found_rotation[n, k, c] - begin)
    if work.mover >= 0:
        for c in range(3):
            begin = work.out_translation[n, work.mover, c]
            work.out_translation[n, work.mover, c] = begin + share * (rest.found_translation[n, c] - begin)


@kernel
def come_to_rest(work: IkRows, rest: IkRest, seconds: f8[N], first: int, last: int) -> int:
    """Those who cannot reach, and whose rows are where they began, stay there where the steps brought them no closer, and turn no
    faster than they may: so they come to rest."""
    for n in range(first, last):
        was, now = missing(work, rest, n, rest.residuals), missing(work, rest, n, rest.found_residuals)
        hold_back(work, rest, n, seconds[n], was, now)
    return last - first


def sits_out(told):
    """Whether an instance has nothing to do this time."""
    return told.again == 1 and not told.progress[0, LOST] > 0.0


def take_row(work, solver, told, lane):
    """Brings the pose row of an instance, the only one of the arrays, into its lane."""
    if sits_out(told):
        return
    row, old, new = work.memory[work.rows[0]], work.kept + 1, work.kept + 1 + work.state
    if told.again == 1:
        begin_where_it_ended(work, 0, row, 1.0)
    else:
        if told.tick > 0:
            for c in range(work.state):
                row[old + c] = row[new + c]
        warm = take_pose(work, 0, work.since[0])
        told.progress[0, WARM] = 1.0 if warm else 0.0
        if told.tick == 0 and told.ticks > 1:
            for c in range(work.state):
                told.before[0, c] = row[old + c]
    bring_in(solver, 0, lane)


def solve_row(solver, told):
    """Solves in its lane."""
    if sits_out(told):
        return
    first, last, inner = 0, told.cold, told.cold_inner
    if told.progress[0, WARM] > 0.0:
        first, last, inner = told.cold, len(solver.fades), 1.0
    if told.again == 1:
        last, inner = first, 1.0
    solve_lanes(solver, inner, first, last)


def finish_row(work, solver, rest, told, lane):
    """Keeps what was found and puts it into the pose row; what misses a target is set aside the first time."""
    if sits_out(told):
        return
    row, old = work.memory[work.rows[0]], work.kept + 1
    bring_out(solver, 0, lane)
    what = missing(work, rest, 0, rest.residuals)
    if told.again == 1:
        hold_back(work, rest, 0, work.since[0], what, told.progress[0, NOW])
    elif row[old] > 0.0 and missed(work, rest, 0):
        # Also where a target jumped and it began at the pose: or it would flip from one far place to another.
        told.progress[0, LOST], told.progress[0, NOW] = 1.0, what
        for k in range(len(work.turning)):
            for c in range(4):
                rest.found_rotation[0, k, c] = work.out_rotation[0, work.turning[k], c]
        if work.mover >= 0:
            for c in range(3):
                rest.found_translation[0, c] = work.out_translation[0, work.mover, c]
        return
    told.progress[0, LOST] = 0.0
    put_row(work, 0)
    if told.ticks > 1 and work.ticks_left == 1:
        for c in range(work.state):
            row[old + c] = told.before[0, c]
