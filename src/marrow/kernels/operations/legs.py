"""`LEGS`: puts feet where they belong: longer or shorter strides, feet held where they stand, feet on uneven ground.

Each foot (the tip of a limb) goes from where the pose has it to a goal, in this order:

- *stride*: its way ahead of or behind where its hip rests over the root is scaled along a direction;
- *hold*: while it is down, the lower one of two points of its sole (heel and ball) stays where it was in the world, and the foot
  does not turn about the vertical. A foot that has strayed further from the pose than a radius is let go until it next comes
  down; what is left of a stray dies out by a half-life;
- *ground*: what the pose has above the plane y = 0 it has above the ground: the foot is moved up or down, and tilted.

Then the pelvis moves: up by what all feet rise, and down as far as the farthest foot needs to be reached. Then the limbs are
solved, and may stretch a little.

Constants: integers count, pelvis (-1: none), column of its vectors, offset of its floats, memory (-1: it keeps nothing), column
of the header, what to do (1 stride, 2 hold, 4 ground: a sum), then upper, mid, tip of each leg. Floats: see the names below, then
for each leg the way it bends when straight, in the frame of its upper joint (3), heel and ball in the frame of its tip (6), and
how high the ball is over the sole: toes bend there, and it is held rather than what is below it; then where its upper joint
rests over the root (x, z).
Vectors: factor and direction x, z of the stride, then for each leg whether it is down (0 to 1; negative: its speed says so),
the height of the ground and its normal (3), in model space.
"""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import atan2, exp
from marrow.kernels.operations.legs_reference import reference_legs
from marrow.kernels.operations.limbs import HEADER, ready_states, solve_limb
from marrow.kernels.operations.record import Operation
from marrow.kernels.operations.spatial import (
    UP,
    about,
    conjugated,
    has_memory,
    has_vectors,
    length_of,
    minus,
    model_place,
    model_rotation,
    move_joint,
    multiplied,
    plus,
    put_rotation,
    root_above,
    shortest_turn,
    turned,
    turned_towards,
    unit_or,
)

__all__ = ["LEGS", "LEG_STATE", "sound_legs"]

STRETCH, RADIUS, LET_GO, SLOW, LOW, MOST_TURN, MOST_STEP, SETTLE, MOST_TILT, MOST_DROP = range(10)
"""Floats of legs: how far limbs may stretch (a factor); how far a foot may be held from the pose, and the half-life of what is left
when it is not (seconds); the speed and the height below which a foot is down; how far it may be turned; the highest step; the
half-life by which feet follow the ground; how far they tilt; how far the pelvis goes down."""
LEG_FLOATS, LEG_INTS, LEG_VECTORS = 12, 3, 5
HEEL, BALL, STRAY, TURNED, HOLD, HEIGHT, NORMAL, KNOWN, FOOT, OVER = 0, 3, 6, 8, 9, 10, 11, 14, 15, 19
LEG_STATE = 21
"""What a leg keeps: heel (3) and ball (3) of the pose, stray x, z and about the vertical, whether it is held (0 free, 1 held, 2 let
go), height and normal (3) of the ground, whether all this is known, the foot's rotation in the pose (4), and over
what the ground was (x, z)."""
LN2 = 0.6931471805599453


def sound_legs(work, n, at):
    """Whether the constants at `at` are those of legs that the character and the instance have."""
    ints, J = work.ints, len(work.parents)
    if at + 7 > len(ints):
        return False
    count, f = ints[at], ints[at + 3]
    if count < 1 or count > J or at + 7 + LEG_INTS * count > len(ints) or ints[at + 1] >= J:
        return False
    if f < 0 or f + 10 + LEG_FLOATS * count > len(work.floats):
        return False
    if ints[at + 4] >= 0 and not has_memory(work, n, ints[at + 4], 1 + 2 * LEG_STATE * count):
        return False
    if ints[at + 4] >= 0 and not has_vectors(work, n, ints[at + 5], HEADER):
        return False
    if ints[at + 4] < 0 and ints[at + 6] > 1:
        return False
    for k in range(LEG_INTS * count):
        if ints[at + 7 + k] < 0 or ints[at + 7 + k] >= J:
            return False
    return has_vectors(work, n, ints[at + 2], 3 + LEG_VECTORS * count)


def left_after(dt, half_life):
    """How much is left of something after some seconds."""
    return exp(max(-LN2 * dt / half_life, -80.0)) if half_life > 0.0 else 0.0


def vector_at(array, at):
    return (array[at], array[at + 1], array[at + 2])


def put_vector(array, at, v):
    array[at], array[at + 1], array[at + 2] = v[0], v[1], v[2]


def twist(q):
    """How far a rotation turns about the vertical."""
    y, w = (q[1], q[3]) if q[3] >= 0.0 else (-q[1], -q[3])
    return 2.0 * atan2(y, w) if y != 0.0 or w != 0.0 else 0.0


def strode(p, root, hip_x, hip_z, factor, x, z):
    """A foot whose way ahead of where its hip rests is scaled along a direction; as it is where there is none."""
    size = math.sqrt(x * x + z * z)
    if not (size > 1e-9 and math.isfinite(size + factor)):
        return p
    x, z = x / size, z / size
    more = ((p[0] - root[0] - hip_x) * x + (p[2] - root[2] - hip_z) * z) * (factor - 1.0)
    return (p[0] + more * x, p[1], p[2] + more * z)


def hold(kept, old, new, floats, f, leg, vectors, header, down, p, q):
    """Where a foot has strayed to from the pose (x, z, about the vertical), from what was kept at `old`, and keeps that at
    `new`."""
    heel = plus(p, turned(q, vector_at(floats, leg + 3)))
    ball = plus(p, turned(q, vector_at(floats, leg + 6)))
    dt = max(vectors[header + 1], 0.0)
    move, turn = (
        vector_at(vectors, header + 2),
        (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8]),
    )
    x, z, yaw, held = 0.0, 0.0, 0.0, 0.0
    on_ball = ball[1] - floats[leg + 9] < heel[1]
    if kept[old + KNOWN] != 0.0:
        was = vector_at(kept, old + BALL) if on_ball else vector_at(kept, old + HEEL)
        sole = ball if on_ball else heel
        slid = minus(sole, plus(turned(turn, was), move))
        stray = turned(turn, (kept[old + STRAY], 0.0, kept[old + STRAY + 1]))
        x, z, yaw, held = stray[0], stray[2], kept[old + TURNED], kept[old + HOLD]
        touches = down > 0.5
        if down < 0.0:
            touches = held > 0.0
            if dt > 0.0:
                height = min(heel[1], ball[1] - floats[leg + 9])
                touches = height < floats[f + LOW] and length_of(slid) < floats[f + SLOW] * dt
        if touches and held == 1.0:
            x, z = x - slid[0], z - slid[2]
            before = (kept[old + FOOT], kept[old + FOOT + 1], kept[old + FOOT + 2], kept[old + FOOT + 3])
            yaw += twist(multiplied(multiplied(turn, before), conjugated(q)))
            if math.sqrt(x * x + z * z) > floats[f + RADIUS] or abs(yaw) > floats[f + MOST_TURN]:
                held = 2.0
                far = math.sqrt(x * x + z * z)
                if far > floats[f + RADIUS]:
                    x, z = x * floats[f + RADIUS] / far, z * floats[f + RADIUS] / far
                yaw = min(max(yaw, -floats[f + MOST_TURN]), floats[f + MOST_TURN])
        elif touches and held == 0.0:
            held = 1.0
        else:
            left = left_after(dt, floats[f + LET_GO])
            x, z, yaw = x * left, z * left, yaw * left
            held = 2.0 if touches else 0.0
    elif down > 0.5:
        held = 1.0
    put_vector(kept, new + HEEL, heel)
    put_vector(kept, new + BALL, ball)
    kept[new + STRAY], kept[new + STRAY + 1], kept[new + TURNED], kept[new + HOLD] = x, z, yaw, held
    kept[new + FOOT], kept[new + FOOT + 1], kept[new + FOOT + 2], kept[new + FOOT + 3] = q


def settle(kept, old, new, floats, f, vectors, header, v, p):
    """The height and the normal of the ground below a foot at `p`, following what is there; keeps them at `new`. What
    was kept goes on as it rose, so that a foot does not lag behind on a slope."""
    height, normal = vectors[v + 1], vector_at(vectors, v + 2)
    if not math.isfinite(height + normal[0] + normal[1] + normal[2]):
        height, normal = 0.0, UP
    height = min(max(height, -floats[f + MOST_STEP]), floats[f + MOST_STEP])
    normal = turned_towards(UP, unit_or(normal, UP), floats[f + MOST_TILT])
    if kept[old + KNOWN] != 0.0 and floats[f + SETTLE] > 0.0:
        left = left_after(max(vectors[header + 1], 0.0), floats[f + SETTLE])
        turn = (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8])
        was = turned(turn, vector_at(kept, old + NORMAL))
        there = turned(turn, (kept[old + OVER], 0.0, kept[old + OVER + 1]))
        x, z = p[0] - there[0] - vectors[header + 2], p[2] - there[2] - vectors[header + 4]
        before = kept[old + HEIGHT] + vectors[header + 3] - (was[0] * x + was[2] * z) / max(was[1], 0.2)
        before = min(max(before, -floats[f + MOST_STEP]), floats[f + MOST_STEP])
        height += left * (before - height)
        normal = unit_or(
            (
                normal[0] + left * (was[0] - normal[0]),
                normal[1] + left * (was[1] - normal[1]),
                normal[2] + left * (was[2] - normal[2]),
            ),
            UP,
        )
    kept[new + HEIGHT], kept[new + OVER], kept[new + OVER + 1] = height, p[0], p[2]
    put_vector(kept, new + NORMAL, normal)


def run_legs(work, n, top, at, time, weight):
    """Puts the feet of the pose at `top` where they belong."""
    rows, Jp, parents, ints, floats, vectors, goals = (
        work.stack,
        work.Jp,
        work.parents,
        work.ints,
        work.floats,
        work.vectors[n],
        work.local,
    )
    count, v, f, memory, header, what = (
        ints[at],
        ints[at + 2],
        ints[at + 3],
        ints[at + 4],
        ints[at + 5],
        ints[at + 6],
    )
    size = LEG_STATE * count
    if memory >= 0 and time < 1.0:
        ready_states(work.memory[n], memory, size, vectors[header])
    # Where each foot should be, 12 numbers each: goal (3), turn (4), height of the ground, how far it is from its hip, and
    # how far it may be.
    lowest = 1e9
    for k in range(count):
        upper, mid, tip = ints[at + 7 + 3 * k], ints[at + 8 + 3 * k], ints[at + 9 + 3 * k]
        leg, here, g = f + 10 + LEG_FLOATS * k, v + 3 + LEG_VECTORS * k, 12 * k
        hip, knee = model_place(rows, top, Jp, parents, upper), model_place(rows, top, Jp, parents, mid)
        p, q = model_place(rows, top, Jp, parents, tip), model_rotation(rows, top, Jp, parents, tip)
        reach = max(
            length_of(minus(p, hip)), 0.999 * (length_of(minus(knee, hip)) + length_of(minus(p, knee)))
        )
        goal, turn, height = p, (0.0, 0.0, 0.0, 1.0), 0.0
        if what % 2 == 1:
            root = model_place(rows, top, Jp, parents, root_above(parents, upper))
            goal = strode(
                p, root, floats[leg + 10], floats[leg + 11], vectors[v], vectors[v + 1], vectors[v + 2]
            )
        if memory >= 0:
            kept = work.memory[n]
            old, new = memory + 1 + LEG_STATE * k, memory + 1 + size + LEG_STATE * k
            if what % 4 >= 2:
                if time < 1.0:
                    hold(kept, old, new, floats, f, leg, vectors, header, vectors[here], goal, q)
                goal = (goal[0] + kept[new + STRAY], goal[1], goal[2] + kept[new + STRAY + 1])
                turn = about(UP, kept[new + TURNED])
            if what >= 4:
                if time < 1.0:
                    settle(kept, old, new, floats, f, vectors, header, here, goal)
                tilt, height = shortest_turn(UP, vector_at(kept, new + NORMAL), UP), kept[new + HEIGHT]
                goal = plus((goal[0], height, goal[2]), turned(tilt, (0.0, goal[1], 0.0)))
                turn = multiplied(tilt, turn)
            if time < 1.0:
                kept[new + KNOWN] = 1.0
        lowest = min(lowest, height)
        for c in range(3):
            goals[g + c] = p[c] + weight * (goal[c] - p[c])
        goals[g + 3], goals[g + 4], goals[g + 5], goals[g + 6] = turn
        goals[g + 7] = reach
    pelvis = ints[at + 1]
    if pelvis >= 0:
        rise, drop = weight * max(lowest, 0.0), 0.0
        for k in range(count):
            hip, goal = model_place(rows, top, Jp, parents, ints[at + 7 + 3 * k]), vector_at(goals, 12 * k)
            reach, x, z = goals[12 * k + 7], goal[0] - hip[0], goal[2] - hip[2]
            drop = max(drop, hip[1] + rise - goal[1] - math.sqrt(max(reach * reach - x * x - z * z, 0.0)))
        rise -= min(drop, weight * floats[f + MOST_DROP])
        if abs(rise) > 1e-6:
            move_joint(rows, top, Jp, parents, pelvis, (0.0, rise, 0.0))
    for k in range(count):
        upper, mid, tip = ints[at + 7 + 3 * k], ints[at + 8 + 3 * k], ints[at + 9 + 3 * k]
        q, goal = model_rotation(rows, top, Jp, parents, tip), vector_at(goals, 12 * k)
        if length_of(minus(goal, model_place(rows, top, Jp, parents, tip))) > 1e-6:
            spare = vector_at(floats, f + 10 + LEG_FLOATS * k)
            solve_limb(
                rows, top, Jp, parents, upper, mid, tip, goal, 0.0, math.pi, floats[f + STRETCH], True, spare, False, UP, 1.0
            )  # fmt: skip
        turn = (goals[12 * k + 3], goals[12 * k + 4], goals[12 * k + 5], goals[12 * k + 6])
        if turn[0] != 0.0 or turn[1] != 0.0 or turn[2] != 0.0:
            above = model_rotation(rows, top, Jp, parents, parents[tip])
            put_rotation(rows, top, Jp, tip, multiplied(conjugated(above), multiplied(turn, q)), weight)


LEGS = Operation(
    "LEGS", 17, "puts feet where they belong: strides longer or shorter, feet held where they stand, feet on the ground; the "
    "pelvis follows", 1, 1, "legs", "1: keeps nothing", "how much of the way", run_legs, reference_legs,
)  # fmt: skip
