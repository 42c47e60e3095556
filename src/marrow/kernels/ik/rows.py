"""The solver inside a graph: pose rows, targets and what is kept, to the arrays of `ik_solve` and back.

A target is given in the world, in model space or in the frame of a joint as the pose has it. What an instance keeps from one update
to the next is what the solver did to the pose: where it begins next time. The GPU runs the same functions (`row_solver`); targets are
looked up on the CPU for both.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marrow.kernels.language.annotations import ANY, B, E, J, K, N, Out, f4, f8, i4, i8
from marrow.kernels.language.elementary import cos, sin
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.limbs import ready_states
from marrow.kernels.operations.spatial import (
    conjugated,
    length_of,
    local_rotation,
    minus,
    model_place,
    model_point,
    model_rotation,
    multiplied,
    plus,
    put_rotation,
    scaled,
    turned,
)

__all__ = [
    "AIMS",
    "AT",
    "BENDS",
    "GIVEN",
    "REFS",
    "TURNED",
    "WORLD",
    "IkGiven",
    "IkHandedOver",
    "IkRows",
    "begin_again",
    "begin_where_it_ended",
    "hand_over_targets",
    "look_up_targets",
    "put_row",
    "put_solved",
    "state_size",
    "take_pose",
    "take_poses",
]

AT, TURNED, AIMS, BENDS = 1, 2, 4, 8
"""Which parts of a target are given: a place, a rotation, a place to aim at, a place to bend towards."""
REFS = 13
"""Values of a target: its four parts, three numbers each (the rotation is a vector: axis times radians), and its weight."""
GIVEN = 14
"""Numbers of a target once they are looked up: its place, rotation (a quaternion), place to aim at and place to bend towards, and
its weight; in model space or in the frame of a joint."""
TICK = 1 / 30
"""Seconds after which a little of what was done to a pose is forgotten."""
WORLD = -2
"""The space that is the world; -1 is model space, others are joints."""


def state_size(turning: int, effectors: int) -> int:
    """Numbers that are kept: whether there is something, the move of the hips, the turns of joints, the places of goals,
    and the seconds that were not yet counted for forgetting."""
    return 5 + 4 * turning + 3 * effectors


class IkGiven(NamedTuple):
    """Where N instances, `instances` among all, find the targets of E effectors: `refs` are columns of `values`, or -1 - k for
    constant k; `place` is where they stand in the world."""

    instances: i8[N]
    values: f8[ANY, ANY]
    constants: f8[ANY]
    place: f8[ANY, ANY]
    refs: i4[E, 13]
    parts: i4[E]
    spaces: i4[E]
    targets: Out[f8[N, E, 14]]


class IkHandedOver(NamedTuple):
    """The same, for a GPU: in float32."""

    instances: i8[N]
    values: f8[ANY, ANY]
    constants: f8[ANY]
    place: f8[ANY, ANY]
    refs: i4[E, 13]
    parts: i4[E]
    spaces: i4[E]
    targets: Out[f4[N, E, 14]]


class IkRows(NamedTuple):
    """For N instances the `rows` of `memory`, with their poses from column `at` on and what they keep (`1 + 2 * state`) from column
    `kept` on. There are E effectors, and K joints turn."""

    memory: Out[f4[ANY, ANY]]
    rows: i8[N]
    targets: f8[N, E, 14]
    stamps: i8[N]
    since: f8[N]
    """Seconds since the update before."""
    weights: f8[N]
    skeleton_parents: i4[J]
    parts: i4[E]
    spaces: i4[E]
    offsets: f4[E, 10]
    """Where in the frame of its joint a space begins: translation, rotation, scale."""
    effector_joints: i4[E]
    points: f4[E, 3]
    centres: i4[E]
    reaches: f4[E]
    """Metres from the joint `centres` (-1: none) from which on a place is too far away to be sought where it is."""
    strengths: f4[E, 4]
    turning: i4[K]
    used: i4[B]
    """The joints that the solver looks at: no others are taken over."""
    translation: Out[f4[N, J, 3]]
    rotation: Out[f4[N, J, 4]]
    scale: Out[f4[N, J, 3]]
    goals: Out[f4[N, E, 17]]
    out_translation: Out[f4[N, J, 3]]
    out_rotation: Out[f4[N, J, 4]]
    warm: Out[i8[N]]
    Jp: int
    at: int
    kept: int
    state: int
    mover: int
    keeps: int
    """Whether the next update begins where this one ends."""
    left: float
    """The part of what was done to a pose that is left after `TICK` seconds."""
    jump: float
    """Metres: a goal that moved further since the update before is sought from the pose again."""
    ticks_left: int
    """How many ticks of an update are left, this one among them: goals are on their way, and poses are put back with the last."""


def looked_up(work, n, ref):
    return work.values[n, ref] if ref >= 0 else work.constants[-1 - ref]


def given_vector(work, n, k, at):
    return (
        looked_up(work, n, work.refs[k, at]),
        looked_up(work, n, work.refs[k, at + 1]),
        looked_up(work, n, work.refs[k, at + 2]),
    )


def rotation_of(v):
    """The quaternion of a rotation vector."""
    angle = length_of(v)
    if angle < 1e-12:
        return (0.0, 0.0, 0.0, 1.0)
    s = sin(0.5 * angle) / angle
    return (s * v[0], s * v[1], s * v[2], cos(0.5 * angle))


def place_of(work, i):
    return (work.place[i, 0], work.place[i, 1], work.place[i, 2])


def heading_of(work, i):
    return (work.place[i, 3], work.place[i, 4], work.place[i, 5], work.place[i, 6])


def look_up_place(work, n, i, k, at, first):
    """A place of a target, which may be given in the world, in model space."""
    v = given_vector(work, i, k, at)
    if work.spaces[k] == -2:
        v = turned(conjugated(heading_of(work, i)), minus(v, place_of(work, i)))
    work.targets[n, k, first], work.targets[n, k, first + 1], work.targets[n, k, first + 2] = v[0], v[1], v[2]


def look_up_target(work, n, i, k):
    """The target of an effector, as far as it is given."""
    parts = work.parts[k]
    if parts & 1 == 1:
        look_up_place(work, n, i, k, 0, 0)
    if parts & 4 == 4:
        look_up_place(work, n, i, k, 6, 7)
    if parts & 8 == 8:
        look_up_place(work, n, i, k, 9, 10)
    if parts & 2 == 2:
        q = rotation_of(given_vector(work, i, k, 3))
        if work.spaces[k] == -2:
            q = multiplied(conjugated(heading_of(work, i)), q)
        work.targets[n, k, 3], work.targets[n, k, 4] = q[0], q[1]
        work.targets[n, k, 5], work.targets[n, k, 6] = q[2], q[3]
    work.targets[n, k, 13] = min(looked_up(work, i, work.refs[k, 12]), 1.0)


@kernel
def look_up_targets(work: IkGiven, first: int, last: int) -> int:
    """The targets of the instances `first..last`."""
    for n in range(first, last):
        for k in range(len(work.parts)):
            look_up_target(work, n, work.instances[n], k)
    return last - first


@kernel
def hand_over_targets(work: IkHandedOver, first: int, last: int) -> int:
    """The same for a GPU."""
    for n in range(first, last):
        for k in range(len(work.parts)):
            look_up_target(work, n, work.instances[n], k)
    return last - first


def given_place(work, n, k, at):
    """A place of a target."""
    return (work.targets[n, k, at], work.targets[n, k, at + 1], work.targets[n, k, at + 2])


def in_model(work, row, k, v):
    """A place of a target in model space."""
    space = work.spaces[k]
    if space < 0:
        return v
    v = (v[0] * work.offsets[k, 7], v[1] * work.offsets[k, 8], v[2] * work.offsets[k, 9])
    v = turned((work.offsets[k, 3], work.offsets[k, 4], work.offsets[k, 5], work.offsets[k, 6]), v)
    v = (v[0] + work.offsets[k, 0], v[1] + work.offsets[k, 1], v[2] + work.offsets[k, 2])
    return model_point(row, work.at, work.Jp, work.skeleton_parents, space, v)


def turn_in_model(work, row, k, q):
    """A rotation of a target in model space."""
    space = work.spaces[k]
    if space < 0:
        return q
    own = (work.offsets[k, 3], work.offsets[k, 4], work.offsets[k, 5], work.offsets[k, 6])
    return multiplied(model_rotation(row, work.at, work.Jp, work.skeleton_parents, space), multiplied(own, q))


def mixed_turn(a, b, w):
    """A rotation `w` of the way from `a` to `b`."""
    side = w if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] >= 0.0 else -w
    keep = 1.0 - w
    q = (
        keep * a[0] + side * b[0],
        keep * a[1] + side * b[1],
        keep * a[2] + side * b[2],
        keep * a[3] + side * b[3],
    )
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if not size > 0.0:
        return a
    return (q[0] / size, q[1] / size, q[2] / size, q[3] / size)


def drawn_back(goal, centre, reach):
    """A place, at most so far from another one."""
    way = minus(goal, centre)
    far = length_of(way)
    if far > reach:
        return plus(centre, scaled(way, reach / far))
    return goal


def take_goal(work, n, row, k):
    """The goal of an effector: with a weight below 1 it lies between where the pose has the effector and the target."""
    parts, joint = work.parts[k], work.effector_joints[k]
    weight = work.targets[n, k, 13]
    for c in range(13):
        work.goals[n, k, c] = math.nan
    for c in range(4):
        work.goals[n, k, 13 + c] = work.strengths[k, c]
    goal = (0.0, 0.0, 0.0)
    if parts & 1 == 1:
        if weight > 0.0:
            goal = in_model(work, row, k, given_place(work, n, k, 0))
        if weight < 1.0:
            point, keep = (work.points[k, 0], work.points[k, 1], work.points[k, 2]), 1.0 - max(weight, 0.0)
            here = model_point(row, work.at, work.Jp, work.skeleton_parents, joint, point)
            goal = plus(goal, scaled(minus(here, goal), keep))
        if work.centres[k] >= 0:
            goal = drawn_back(
                goal,
                model_place(row, work.at, work.Jp, work.skeleton_parents, work.centres[k]),
                work.reaches[k],
            )
        work.goals[n, k, 0], work.goals[n, k, 1], work.goals[n, k, 2] = goal[0], goal[1], goal[2]
    if parts & 2 == 2 and weight > 0.0:
        given = (
            work.targets[n, k, 3], work.targets[n, k, 4], work.targets[n, k, 5], work.targets[n, k, 6]
        )  # fmt: skip
        q = turn_in_model(work, row, k, given)
        if weight < 1.0:
            q = mixed_turn(model_rotation(row, work.at, work.Jp, work.skeleton_parents, joint), q, weight)
        work.goals[n, k, 3], work.goals[n, k, 4], work.goals[n, k, 5], work.goals[n, k, 6] = (
            q[0],
            q[1],
            q[2],
            q[3],
        )
    if parts & 8 == 8:
        v = in_model(work, row, k, given_place(work, n, k, 10))
        work.goals[n, k, 7], work.goals[n, k, 8], work.goals[n, k, 9] = v[0], v[1], v[2]
        work.goals[n, k, 16] *= max(weight, 0.0)
    if parts & 4 == 4:
        v = in_model(work, row, k, given_place(work, n, k, 7))
        work.goals[n, k, 10], work.goals[n, k, 11], work.goals[n, k, 12] = v[0], v[1], v[2]
        work.goals[n, k, 15] *= max(weight, 0.0)
    return goal


def begin_where_it_ended(work, n, row, left):
    """An instance begins at what was done to its pose the update before, as much of it as is left."""
    old = work.kept + 1
    if work.mover >= 0:
        for c in range(3):
            work.out_translation[n, work.mover, c] = (
                work.translation[n, work.mover, c] + left * row[old + 1 + c]
            )
    for k in range(len(work.turning)):
        j, at = work.turning[k], old + 4 + 4 * k
        side = left if row[at + 3] >= 0.0 else -left
        # Of any length: the solver brings rotations to unit length.
        turn = (side * row[at], side * row[at + 1], side * row[at + 2], side * row[at + 3] + (1.0 - left))
        own = (
            work.rotation[n, j, 0], work.rotation[n, j, 1], work.rotation[n, j, 2], work.rotation[n, j, 3]
        )  # fmt: skip
        q = multiplied(own, turn)
        work.out_rotation[n, j, 0], work.out_rotation[n, j, 1] = q[0], q[1]
        work.out_rotation[n, j, 2], work.out_rotation[n, j, 3] = q[2], q[3]


def bring_goals_on_their_way(work, n, row, goals):
    """Goals go to the next of as many even steps as ticks are left, from where they were."""
    old, new = work.kept + 1 + goals, work.kept + 1 + work.state + goals
    for k in range(len(work.parts)):
        if work.parts[k] & 1 == 1:
            for c in range(3):
                was, to = row[old + 3 * k + c], row[new + 3 * k + c]
                row[new + 3 * k + c] = was + (to - was) / work.ticks_left
                work.goals[n, k, c] = row[new + 3 * k + c]


def take_pose(work, n, seconds):
    """The pose, the goals and where to begin for an instance whose update before was so many seconds ago. Returns whether it begins
    where it ended."""
    row = work.memory[work.rows[n]]
    for k in range(len(work.used)):
        j = work.used[k]
        for c in range(3):
            t = row[work.at + c * work.Jp + j]
            work.translation[n, j, c] = t
            work.out_translation[n, j, c] = t
            work.scale[n, j, c] = row[work.at + (7 + c) * work.Jp + j]
        for c in range(4):
            r = row[work.at + (3 + c) * work.Jp + j]
            work.rotation[n, j, c] = r
            work.out_rotation[n, j, c] = r
    ready_states(row, work.kept, work.state, work.stamps[n])
    old, new = work.kept + 1, work.kept + 1 + work.state
    goals = 4 + 4 * len(work.turning)
    warm = row[old] > 0.0
    for k in range(len(work.parts)):
        p, at = take_goal(work, n, row, k), 3 * k + goals
        was = (row[old + at], row[old + at + 1], row[old + at + 2])
        row[new + at], row[new + at + 1], row[new + at + 2] = p[0], p[1], p[2]
        if work.parts[k] & 1 == 1 and length_of(minus(p, was)) > work.jump * work.ticks_left:
            warm = False
    row[new + work.state - 1] = 0.0
    if warm:
        if work.ticks_left > 1:
            bring_goals_on_their_way(work, n, row, goals)
        clock = row[old + work.state - 1] + max(seconds, 0.0)
        # A little at a time, as long as it takes: so all rates of updates come to the same.
        left = 1.0
        if clock > TICK - 1e-4:
            left, clock = work.left, min(clock - TICK, TICK)
        row[new + work.state - 1] = clock
        begin_where_it_ended(work, n, row, left)
    return warm


@kernel
def take_poses(work: IkRows, first: int, last: int) -> int:
    """Poses, goals and where to begin for the instances `first..last`. Returns how many begin where they ended."""
    found = 0
    for n in range(first, last):
        warm = take_pose(work, n, work.since[n])
        work.warm[n] = 1 if warm else 0
        found += work.warm[n]
    return found


@kernel
def begin_again(work: IkRows, first: int, last: int) -> int:
    """The instances `first..last`, whose poses and goals were taken, begin where they ended, all of it."""
    for n in range(first, last):
        begin_where_it_ended(work, n, work.memory[work.rows[n]], 1.0)
    return last - first


def put_row(work, n):
    """Keeps what was found for an instance, and puts it into its pose row, by its weight."""
    row = work.memory[work.rows[n]]
    new, weight = work.kept + 1 + work.state, min(work.weights[n], 1.0)
    row[new] = 1.0 if work.keeps != 0 else 0.0
    if work.mover >= 0:
        for c in range(3):
            moved = work.out_translation[n, work.mover, c] - work.translation[n, work.mover, c]
            row[new + 1 + c] = moved
            if work.ticks_left == 1:
                row[work.at + c * work.Jp + work.mover] += weight * moved
    for k in range(len(work.turning)):
        j, at = work.turning[k], new + 4 + 4 * k
        q = (
            work.out_rotation[n, j, 0], work.out_rotation[n, j, 1], work.out_rotation[n, j, 2], work.out_rotation[n, j, 3]
        )  # fmt: skip
        turn = multiplied(conjugated(local_rotation(row, work.at, work.Jp, j)), q)
        row[at], row[at + 1], row[at + 2], row[at + 3] = turn[0], turn[1], turn[2], turn[3]
        if work.ticks_left == 1:
            if weight < 1.0:
                put_rotation(row, work.at, work.Jp, j, q, weight)
            else:
                for c in range(4):
                    row[work.at + (3 + c) * work.Jp + j] = work.out_rotation[n, j, c]


@kernel
def put_solved(work: IkRows, first: int, last: int) -> int:
    """Puts what was found for the instances `first..last` into their pose rows."""
    for n in range(first, last):
        put_row(work, n)
    return last - first
