"""The solver inside a graph: pose rows, targets and what is kept, to the arrays of `ik_solve` and back.

A target is given in the world, in model space or in the frame of a joint as the pose has it. What an instance keeps from one update
to the next is what the solver did to the pose: where it begins next time.
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
    "REFS",
    "TURNED",
    "WORLD",
    "IkRows",
    "put_solved",
    "state_size",
    "take_poses",
]

AT, TURNED, AIMS, BENDS = 1, 2, 4, 8
"""Which parts of a target are given: a place, a rotation, a place to aim at, a place to bend towards."""
REFS = 13
"""Values of a target: its four parts, three numbers each (the rotation is a vector: axis times radians), and its weight."""
TICK = 1 / 30
"""Seconds after which a little of what was done to a pose is forgotten."""
WORLD = -2
"""The space that is the world; -1 is model space, others are joints."""


def state_size(turning: int, effectors: int) -> int:
    """Numbers that are kept: whether there is something, the move of the hips, the turns of joints, the places of goals,
    and the seconds that were not yet counted for forgetting."""
    return 5 + 4 * turning + 3 * effectors


class IkRows(NamedTuple):
    """For N instances the rows of `memory` that `instances` names, with their pose rows from column `at` on and what they keep
    (`1 + 2 * state`) from column `kept` on; `values` and `place` likewise. There are E effectors, and K joints turn. `values` and
    `constants` are where `refs` look: columns, or -1 - k for constant k."""

    memory: Out[f4[ANY, ANY]]
    instances: i8[N]
    rows: i8[N]
    """The rows of `memory`, where that has rows for some instances only."""
    values: f8[ANY, ANY]
    constants: f8[ANY]
    place: f8[ANY, ANY]
    stamps: i8[N]
    since: f8[N]
    """Seconds since the update before."""
    weights: f8[N]
    parents: i4[J]
    refs: i4[E, 13]
    parts: i4[E]
    spaces: i4[E]
    offsets: f4[E, 10]
    """Where in the frame of its joint a space begins: translation, rotation, scale."""
    joints: i4[E]
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


def in_model(work, i, row, k, v):
    """A place of a target in model space."""
    space = work.spaces[k]
    if space == -2:
        return turned(conjugated(heading_of(work, i)), minus(v, place_of(work, i)))
    if space < 0:
        return v
    v = (v[0] * work.offsets[k, 7], v[1] * work.offsets[k, 8], v[2] * work.offsets[k, 9])
    v = turned((work.offsets[k, 3], work.offsets[k, 4], work.offsets[k, 5], work.offsets[k, 6]), v)
    v = (v[0] + work.offsets[k, 0], v[1] + work.offsets[k, 1], v[2] + work.offsets[k, 2])
    return model_point(row, work.at, work.Jp, work.parents, space, v)


def turn_in_model(work, i, row, k, q):
    """A rotation of a target in model space."""
    space = work.spaces[k]
    if space == -2:
        return multiplied(conjugated(heading_of(work, i)), q)
    if space < 0:
        return q
    own = (work.offsets[k, 3], work.offsets[k, 4], work.offsets[k, 5], work.offsets[k, 6])
    return multiplied(model_rotation(row, work.at, work.Jp, work.parents, space), multiplied(own, q))


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


def take_goal(work, n, i, row, k):
    """The goal of an effector: with a weight below 1 it lies between where the pose has the effector and the target."""
    parts, joint = work.parts[k], work.joints[k]
    weight = min(looked_up(work, i, work.refs[k, 12]), 1.0)
    for c in range(13):
        work.goals[n, k, c] = math.nan
    for c in range(4):
        work.goals[n, k, 13 + c] = work.strengths[k, c]
    goal = (0.0, 0.0, 0.0)
    if parts & 1 == 1:
        if weight > 0.0:
            goal = in_model(work, i, row, k, given_vector(work, i, k, 0))
        if weight < 1.0:
            point, keep = (work.points[k, 0], work.points[k, 1], work.points[k, 2]), 1.0 - max(weight, 0.0)
            here = model_point(row, work.at, work.Jp, work.parents, joint, point)
            goal = plus(goal, scaled(minus(here, goal), keep))
        if work.centres[k] >= 0:
            goal = drawn_back(
                goal, model_place(row, work.at, work.Jp, work.parents, work.centres[k]), work.reaches[k]
            )
        work.goals[n, k, 0], work.goals[n, k, 1], work.goals[n, k, 2] = goal[0], goal[1], goal[2]
    if parts & 2 == 2 and weight > 0.0:
        q = turn_in_model(work, i, row, k, rotation_of(given_vector(work, i, k, 3)))
        if weight < 1.0:
            q = mixed_turn(model_rotation(row, work.at, work.Jp, work.parents, joint), q, weight)
        work.goals[n, k, 3], work.goals[n, k, 4], work.goals[n, k, 5], work.goals[n, k, 6] = (
            q[0],
            q[1],
            q[2],
            q[3],
        )
    if parts & 8 == 8:
        v = in_model(work, i, row, k, given_vector(work, i, k, 9))
        work.goals[n, k, 7], work.goals[n, k, 8], work.goals[n, k, 9] = v[0], v[1], v[2]
        work.goals[n, k, 16] *= max(weight, 0.0)
    if parts & 4 == 4:
        v = in_model(work, i, row, k, given_vector(work, i, k, 6))
        work.goals[n, k, 10], work.goals[n, k, 11], work.goals[n, k, 12] = v[0], v[1], v[2]
        work.goals[n, k, 15] *= max(weight, 0.0)
    return goal


@kernel
def take_poses(work: IkRows, first: int, last: int) -> int:
    """Poses, goals and where to begin for the instances `first..last`. Returns how many begin where they ended."""
    found = 0
    for n in range(first, last):
        i, row = work.instances[n], work.memory[work.rows[n]]
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
            p, at = take_goal(work, n, i, row, k), 3 * k + goals
            was = (row[old + at], row[old + at + 1], row[old + at + 2])
            row[new + at], row[new + at + 1], row[new + at + 2] = p[0], p[1], p[2]
            if work.parts[k] & 1 == 1 and length_of(minus(p, was)) > work.jump:
                warm = False
        work.warm[n] = 1 if warm else 0
        row[new + work.state - 1] = 0.0
        if warm:
            found += 1
            clock = row[old + work.state - 1] + max(work.since[n], 0.0)
            # A little at a time, as long as it takes: so all rates of updates come to the same.
            left = 1.0
            if clock > TICK - 1e-4:
                left, clock = work.left, min(clock - TICK, TICK)
            row[new + work.state - 1] = clock
            if work.mover >= 0:
                for c in range(3):
                    work.out_translation[n, work.mover, c] += left * row[old + 1 + c]
            for k in range(len(work.turning)):
                j, at = work.turning[k], old + 4 + 4 * k
                side = left if row[at + 3] >= 0.0 else -left
                # Of any length: the solver brings rotations to unit length.
                turn = (
                    side * row[at],
                    side * row[at + 1],
                    side * row[at + 2],
                    side * row[at + 3] + (1.0 - left),
                )
                own = (
                    work.rotation[n, j, 0], work.rotation[n, j, 1], work.rotation[n, j, 2], work.rotation[n, j, 3]
                )  # fmt: skip
                q = multiplied(own, turn)
                work.out_rotation[n, j, 0], work.out_rotation[n, j, 1] = q[0], q[1]
                work.out_rotation[n, j, 2], work.out_rotation[n, j, 3] = q[2], q[3]
    return found


@kernel
def put_solved(work: IkRows, first: int, last: int) -> int:
    """Puts what was found for the instances `first..last` into their pose rows, by their weights, and keeps it."""
    for n in range(first, last):
        row = work.memory[work.rows[n]]
        new, weight = work.kept + 1 + work.state, min(work.weights[n], 1.0)
        row[new] = 1.0 if work.keeps != 0 else 0.0
        if work.mover >= 0:
            for c in range(3):
                moved = work.out_translation[n, work.mover, c] - work.translation[n, work.mover, c]
                row[new + 1 + c] = moved
                row[work.at + c * work.Jp + work.mover] += weight * moved
        for k in range(len(work.turning)):
            j, at = work.turning[k], new + 4 + 4 * k
            q = (
                work.out_rotation[n, j, 0], work.out_rotation[n, j, 1], work.out_rotation[n, j, 2], work.out_rotation[n, j, 3]
            )  # fmt: skip
            turn = multiplied(conjugated(local_rotation(row, work.at, work.Jp, j)), q)
            row[at], row[at + 1], row[at + 2], row[at + 3] = turn[0], turn[1], turn[2], turn[3]
            if weight < 1.0:
                put_rotation(row, work.at, work.Jp, j, q, weight)
            else:
                for c in range(4):
                    row[work.at + (3 + c) * work.Jp + j] = work.out_rotation[n, j, c]
    return last - first
