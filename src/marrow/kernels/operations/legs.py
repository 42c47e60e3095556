"""`LEGS`: puts feet where they belong: longer or shorter strides, feet held where they stand, feet on uneven ground.

Each foot (the tip of a limb) goes from where the pose has it to a goal, in this order:

- *stride*: its way ahead of or behind where its hip rests over the root is scaled along a direction;
- *hold*: while it is down, the lower one of two points of its sole (heel and ball) stays where it was in the world, and the foot
  does not turn about the vertical. A foot that has strayed further from the pose than a radius is let go until it next comes
  down; what is left of a stray dies out by a half-life;
- *ground*: what the pose has above the plane y = 0 it has above the ground: the foot is moved up or down, and tilted.

Then the pelvis moves: up by what all feet rise, and down as far as the farthest foot needs to be reached. Then the limbs are
solved, and may stretch a little.

What it reads for an instance, its vectors: factor and direction x, z of the stride, then for each leg whether it is down (0 to 1;
negative: its speed says so), the height of the ground and its normal (3), in model space.
"""

from __future__ import annotations

import math

from marrow.kernels.language.constants import Constants, column, count, joint, memory, number, whole
from marrow.kernels.language.elementary import atan2, exp
from marrow.kernels.operations.legs_reference import reference_legs
from marrow.kernels.operations.limbs import HEADER, keeps, ready_states, solve_limb
from marrow.kernels.operations.record import Operation
from marrow.kernels.operations.spatial import (
    UP,
    about,
    conjugated,
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

__all__ = ["LEGS", "LEG_SET", "LEG_STATE", "LEG_VECTORS"]

LEG_VECTORS = 5
HEEL, BALL, STRAY, TURNED, HOLD, HEIGHT, NORMAL, KNOWN, FOOT, OVER = 0, 3, 6, 8, 9, 10, 11, 14, 15, 19
LEG_STATE = 21
"""What a leg keeps: heel (3) and ball (3) of the pose, stray x, z and about the vertical, whether it is held (0 free, 1 held, 2 let
go), height and normal (3) of the ground, whether all this is known, the foot's rotation in the pose (4), and over
what the ground was (x, z)."""
LN2 = 0.6931471805599453


def leg_numbers(work, legs):
    return 3 + LEG_VECTORS * legs.count


def leg_memory(work, legs):
    return 1 + 2 * LEG_STATE * legs.count


def remembers(work, legs):
    """All but strides need to know what was before."""
    return legs.memory >= 0 or legs.what <= 1


LEG_SET = Constants(
    "legs",
    "legs whose feet are put where they belong",
    rules=(remembers,),
    count=count("how many legs"),
    pelvis=joint("the joint that carries them", none="none"),
    vectors=column("stride, contacts and ground (see `legs.py`)", leg_numbers),
    memory=memory("what they keep", leg_memory, none="nothing"),
    header=column("the header of the instance", HEADER, where=keeps),
    what=whole("what to do: 1 stride, 2 hold, 4 ground; a sum"),
    stretch=number("how far limbs may stretch: a factor"),
    radius=number("how far a foot may be held from the pose"),
    let_go=number("the half-life of what is left when it is not, in seconds"),
    slow=number("the speed below which a foot is down"),
    low=number("the height below which it is"),
    most_turn=number("how far a foot may be turned, in radians"),
    most_step=number("the highest step"),
    settle=number("the half-life by which feet follow the ground, in seconds"),
    most_tilt=number("how far feet tilt, in radians"),
    most_drop=number("how far the pelvis goes down"),
    upper=joint("where a leg begins", each="count"),
    mid=joint("where it bends", each="count"),
    tip=joint("its foot", each="count"),
    spare=number("the way it bends when straight, in the frame of `upper`", 3, each="count"),
    heel=number("in the frame of `tip`", 3, each="count"),
    ball=number("in the frame of `tip`", 3, each="count"),
    rest=number(
        "how high the ball is over the sole: toes bend there, and it is held rather than what is below it",
        each="count",
    ),
    over=number("where `upper` rests over the root: x, z", 2, each="count"),
)


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


def hold(kept, old, new, legs, k, vectors, down, p, q):
    """Where a foot has strayed to from the pose (x, z, about the vertical), from what was kept at `old`, and keeps that at
    `new`."""
    heel, ball, header = plus(p, turned(q, legs.heel[k])), plus(p, turned(q, legs.ball[k])), legs.header
    dt = max(vectors[header + 1], 0.0)
    move, turn = (
        vector_at(vectors, header + 2),
        (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8]),
    )
    x, z, yaw, held = 0.0, 0.0, 0.0, 0.0
    on_ball = ball[1] - legs.rest[k] < heel[1]
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
                height = min(heel[1], ball[1] - legs.rest[k])
                touches = height < legs.low and length_of(slid) < legs.slow * dt
        if touches and held == 1.0:
            x, z = x - slid[0], z - slid[2]
            before = (kept[old + FOOT], kept[old + FOOT + 1], kept[old + FOOT + 2], kept[old + FOOT + 3])
            yaw += twist(multiplied(multiplied(turn, before), conjugated(q)))
            if math.sqrt(x * x + z * z) > legs.radius or abs(yaw) > legs.most_turn:
                held = 2.0
                far = math.sqrt(x * x + z * z)
                if far > legs.radius:
                    x, z = x * legs.radius / far, z * legs.radius / far
                yaw = min(max(yaw, -legs.most_turn), legs.most_turn)
        elif touches and held == 0.0:
            held = 1.0
        else:
            left = left_after(dt, legs.let_go)
            x, z, yaw = x * left, z * left, yaw * left
            held = 2.0 if touches else 0.0
    elif down > 0.5:
        held = 1.0
    put_vector(kept, new + HEEL, heel)
    put_vector(kept, new + BALL, ball)
    kept[new + STRAY], kept[new + STRAY + 1], kept[new + TURNED], kept[new + HOLD] = x, z, yaw, held
    kept[new + FOOT], kept[new + FOOT + 1], kept[new + FOOT + 2], kept[new + FOOT + 3] = q


def settle(kept, old, new, legs, vectors, v, p):
    """The height and the normal of the ground below a foot at `p`, following what is there; keeps them at `new`. What
    was kept goes on as it rose, so that a foot does not lag behind on a slope."""
    height, normal, header = vectors[v + 1], vector_at(vectors, v + 2), legs.header
    if not math.isfinite(height + normal[0] + normal[1] + normal[2]):
        height, normal = 0.0, UP
    height = min(max(height, -legs.most_step), legs.most_step)
    normal = turned_towards(UP, unit_or(normal, UP), legs.most_tilt)
    if kept[old + KNOWN] != 0.0 and legs.settle > 0.0:
        left = left_after(max(vectors[header + 1], 0.0), legs.settle)
        turn = (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8])
        was = turned(turn, vector_at(kept, old + NORMAL))
        there = turned(turn, (kept[old + OVER], 0.0, kept[old + OVER + 1]))
        x, z = p[0] - there[0] - vectors[header + 2], p[2] - there[2] - vectors[header + 4]
        before = kept[old + HEIGHT] + vectors[header + 3] - (was[0] * x + was[2] * z) / max(was[1], 0.2)
        before = min(max(before, -legs.most_step), legs.most_step)
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
    rows, Jp, parents, vectors, goals = work.stack, work.Jp, work.parents, work.vectors[n], work.local
    legs = LEG_SET(work, at)
    count, v, memory, what = legs.count, legs.vectors, legs.memory, legs.what
    size = LEG_STATE * count
    if memory >= 0 and time < 1.0:
        ready_states(work.memory[n], memory, size, vectors[legs.header])
    # Where each foot should be, 12 numbers each: goal (3), turn (4), height of the ground, how far it is from its hip, and
    # how far it may be.
    lowest = 1e9
    for k in range(count):
        upper, mid, tip = legs.upper[k], legs.mid[k], legs.tip[k]
        here, g = v + 3 + LEG_VECTORS * k, 12 * k
        hip, knee = model_place(rows, top, Jp, parents, upper), model_place(rows, top, Jp, parents, mid)
        p, q = model_place(rows, top, Jp, parents, tip), model_rotation(rows, top, Jp, parents, tip)
        reach = max(
            length_of(minus(p, hip)), 0.999 * (length_of(minus(knee, hip)) + length_of(minus(p, knee)))
        )
        goal, turn, height = p, (0.0, 0.0, 0.0, 1.0), 0.0
        if what % 2 == 1:
            root = model_place(rows, top, Jp, parents, root_above(parents, upper))
            hip_x, hip_z = legs.over[k]
            goal = strode(p, root, hip_x, hip_z, vectors[v], vectors[v + 1], vectors[v + 2])
        if memory >= 0:
            kept = work.memory[n]
            old, new = memory + 1 + LEG_STATE * k, memory + 1 + size + LEG_STATE * k
            if what % 4 >= 2:
                if time < 1.0:
                    hold(kept, old, new, legs, k, vectors, vectors[here], goal, q)
                goal = (goal[0] + kept[new + STRAY], goal[1], goal[2] + kept[new + STRAY + 1])
                turn = about(UP, kept[new + TURNED])
            if what >= 4:
                if time < 1.0:
                    settle(kept, old, new, legs, vectors, here, goal)
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
    pelvis = legs.pelvis
    if pelvis >= 0:
        rise, drop = weight * max(lowest, 0.0), 0.0
        for k in range(count):
            hip, goal = model_place(rows, top, Jp, parents, legs.upper[k]), vector_at(goals, 12 * k)
            reach, x, z = goals[12 * k + 7], goal[0] - hip[0], goal[2] - hip[2]
            drop = max(drop, hip[1] + rise - goal[1] - math.sqrt(max(reach * reach - x * x - z * z, 0.0)))
        rise -= min(drop, weight * legs.most_drop)
        if abs(rise) > 1e-6:
            move_joint(rows, top, Jp, parents, pelvis, (0.0, rise, 0.0))
    for k in range(count):
        upper, mid, tip = legs.upper[k], legs.mid[k], legs.tip[k]
        q, goal = model_rotation(rows, top, Jp, parents, tip), vector_at(goals, 12 * k)
        if length_of(minus(goal, model_place(rows, top, Jp, parents, tip))) > 1e-6:
            solve_limb(
                rows, top, Jp, parents, upper, mid, tip, goal, 0.0, math.pi, legs.stretch, True, legs.spare[k], False, UP, 1.0
            )  # fmt: skip
        turn = (goals[12 * k + 3], goals[12 * k + 4], goals[12 * k + 5], goals[12 * k + 6])
        if turn[0] != 0.0 or turn[1] != 0.0 or turn[2] != 0.0:
            above = model_rotation(rows, top, Jp, parents, parents[tip])
            put_rotation(rows, top, Jp, tip, multiplied(conjugated(above), multiplied(turn, q)), weight)


LEGS = Operation(
    "LEGS", 17, "puts feet where they belong: strides longer or shorter, feet held where they stand, feet on the ground; the "
    "pelvis follows", 1, 1, LEG_SET, "1: keeps nothing", "how much of the way", run_legs, reference_legs,
)  # fmt: skip
