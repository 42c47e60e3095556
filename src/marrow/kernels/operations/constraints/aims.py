"""Constraints that look at places in model space: aim, pole, follow, distance."""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import atan2, exp
from marrow.kernels.operations.constraints.copies import base_rotation, mean_rotation
from marrow.kernels.operations.constraints.frames import (
    between,
    exp_of,
    log_of,
    place_of,
    point_of,
    power,
    put_place,
    put_turn,
    rotation_of,
    turn_between,
    unit_turn,
)
from marrow.kernels.operations.constraints.layout import (
    FOLLOW_STATE,
    HAS_UP,
    ROTATION,
    TRANSLATION,
    UP_SOURCE,
)
from marrow.kernels.operations.limbs import ready_states
from marrow.kernels.operations.spatial import (
    about,
    across,
    conjugated,
    crossed,
    dotted,
    frame_turn,
    length_of,
    minus,
    multiplied,
    plus,
    turned,
    unit_or,
)

LN2 = 0.6931471805599453


def goal_of(work, n, c, k, first, last):
    """Where a constraint's target is: what its vectors say, or the mean of some of its sources."""
    v = c.target[k]
    if v >= 0:
        vectors, first_one = work.vectors[n], c.vectors + v
        return (vectors[first_one], vectors[first_one + 1], vectors[first_one + 2])
    x, y, z = 0.0, 0.0, 0.0
    for s in range(first, last):
        at, share = point_of(work, c.source[s], c.offset[s]), c.share[s]
        x, y, z = x + share * at[0], y + share * at[1], z + share * at[2]
    return (x, y, z)


def run_aim(work, n, top, c, k, weight):
    """Turns a joint until an axis of it points at a place; another one as far up as that leaves it."""
    j, p, option, a = c.joint[k], c.parent[k], c.option[k], c.numbers[k]
    first, last = c.first_source[k], c.first_source[k] + c.sources[k]
    from_source = option & UP_SOURCE
    goal = goal_of(work, n, c, k, first, last - 1 if from_source else last)
    here = place_of(work, j)
    way = minus(goal, here)
    size = length_of(way)
    if not (size > 1e-9 and math.isfinite(size)):
        return
    # In the frame of the parent.
    back, base, k1 = conjugated(rotation_of(work, p)), base_rotation(work, top, c, k), 1.0 / size
    way = turned(back, (way[0] * k1, way[1] * k1, way[2] * k1))
    ahead = turned(base, (a[0], a[1], a[2]))
    turn = turn_between(ahead, way)
    if option & HAS_UP:
        up = (a[6], a[7], a[8])
        if from_source:
            up = minus(place_of(work, c.source[last - 1]), here)
        side, wanted = across(turned(base, (a[3], a[4], a[5])), ahead), across(turned(back, up), way)
        if length_of(side) > 1e-6 and length_of(wanted) > 1e-6 * length_of(up):
            turn = frame_turn(ahead, unit_or(side, ahead), way, unit_or(wanted, way))
    if weight < 1.0:
        turn = power(turn, weight)
    put_turn(work, top, j, multiplied(turn, base))


def run_pole(work, n, top, c, k, weight):
    """Turns a limb about the line from its beginning to its tip, until its middle lies towards a place."""
    j, p, first = c.joint[k], c.parent[k], c.first_source[k]
    goal = goal_of(work, n, c, k, first + 2, first + c.sources[k])
    here = place_of(work, j)
    line = minus(place_of(work, c.source[first + 1]), here)
    if not length_of(line) > 1e-9:
        return
    line = unit_or(line, (0.0, 1.0, 0.0))
    is_at, wanted = (
        across(minus(place_of(work, c.source[first]), here), line),
        across(minus(goal, here), line),
    )
    sine, cosine = dotted(crossed(is_at, wanted), line), dotted(is_at, wanted)
    if not (length_of(is_at) > 1e-6 and length_of(wanted) > 1e-6 and math.isfinite(sine + cosine)):
        return
    angle = weight * (atan2(sine, cosine) + c.numbers[k, 0])
    above, now = rotation_of(work, p), rotation_of(work, j)
    put_turn(work, top, j, multiplied(conjugated(above), multiplied(about(line, angle), now)))


def run_distance(work, n, top, c, k, weight):
    """Keeps a joint no nearer to a place and no further from it than it may be."""
    j, first = c.joint[k], c.first_source[k]
    goal = goal_of(work, n, c, k, first, first + c.sources[k])
    here = place_of(work, j)
    way = minus(here, goal)
    size = length_of(way)
    if not (size > 1e-9 and math.isfinite(size)):
        return
    share = weight * (min(max(size, c.numbers[k, 0]), c.numbers[k, 1]) / size - 1.0)
    if share != 0.0:
        put_place(
            work,
            top,
            j,
            c.parent[k],
            (here[0] + share * way[0], here[1] + share * way[1], here[2] + share * way[2]),
        )


def lagged(then, goal_then, goal, k, dt):
    """What follows a goal that moves evenly from `goal_then` to `goal` in `dt` seconds, at the rate `k` a second."""
    e = exp(-k * dt)
    lag = 1.0 / (k * dt)
    dx, dy, dz = goal[0] - goal_then[0], goal[1] - goal_then[1], goal[2] - goal_then[2]
    return (
        goal[0] - lag * dx + (then[0] - goal_then[0] + lag * dx) * e,
        goal[1] - lag * dy + (then[1] - goal_then[1] + lag * dy) * e,
        goal[2] - lag * dz + (then[2] - goal_then[2] + lag * dz) * e,
    )


def run_follow(work, n, top, c, k, time, weight):
    """A joint that comes after its goal: half of what is missing in each half-life."""
    j, p, option = c.joint[k], c.parent[k], c.option[k]
    first, last = c.first_source[k], c.first_source[k] + c.sources[k]
    vectors, kept, header = work.vectors[n], work.memory[n], c.header
    memory = c.memory + c.extra[k] * (1 + 2 * FOLLOW_STATE)
    goal, turn = place_of(work, j), rotation_of(work, j)
    if last > first or c.target[k] >= 0:
        goal = goal_of(work, n, c, k, first, last)
    if last > first:
        total = (0.0, 0.0, 0.0, 0.0)
        for s in range(first, last):
            q = multiplied(rotation_of(work, c.source[s]), c.after[s])
            total = mean_rotation(total, q, c.share[s])
        turn = unit_turn(total)
    if not math.isfinite(goal[0] + goal[1] + goal[2] + turn[0] + turn[1] + turn[2] + turn[3]):
        return
    here, now = memory + 1, memory + 1 + FOLLOW_STATE
    dt, rate = max(vectors[header + 1], 0.0), c.numbers[k, 0]
    if time >= 1.0:
        here, dt = now, 0.0
    else:
        ready_states(kept, memory, FOLLOW_STATE, vectors[header])
    place, rotation = goal, turn
    if kept[here] != 0.0:
        moved = (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8])
        shift = (vectors[header + 2], vectors[header + 3], vectors[header + 4])
        if time >= 1.0:
            moved, shift = (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)
        then = plus(turned(moved, (kept[here + 1], kept[here + 2], kept[here + 3])), shift)
        goal_then = plus(turned(moved, (kept[here + 4], kept[here + 5], kept[here + 6])), shift)
        turn_then = multiplied(moved, (kept[here + 7], kept[here + 8], kept[here + 9], kept[here + 10]))
        aim_then = multiplied(moved, (kept[here + 11], kept[here + 12], kept[here + 13], kept[here + 14]))
        place, rotation = then, turn_then
        if dt * rate > 1e-6:
            place = lagged(then, goal_then, goal, rate, dt)
            # Rotations as seen from that of the goal.
            back = conjugated(turn)
            d = lagged(
                log_of(multiplied(back, turn_then)),
                log_of(multiplied(back, aim_then)),
                (0.0, 0.0, 0.0),
                rate,
                dt,
            )
            rotation = multiplied(turn, exp_of(d))
    rotation = unit_turn(rotation)
    if time < 1.0:
        kept[now] = 1.0
        kept[now + 1], kept[now + 2], kept[now + 3] = place
        kept[now + 4], kept[now + 5], kept[now + 6] = goal
        kept[now + 7], kept[now + 8], kept[now + 9], kept[now + 10] = rotation
        kept[now + 11], kept[now + 12], kept[now + 13], kept[now + 14] = turn
    if option & TRANSLATION:
        was = place_of(work, j)
        put_place(
            work, top, j, p,
            (was[0] + weight * (place[0] - was[0]), was[1] + weight * (place[1] - was[1]), was[2] + weight * (place[2] - was[2])),
        )  # fmt: skip
    if option & ROTATION:
        above = rotation_of(work, p)
        put_turn(work, top, j, multiplied(conjugated(above), between(rotation_of(work, j), rotation, weight)))
