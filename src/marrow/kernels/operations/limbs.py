"""Operations that look at a pose and change it: a limb that reaches (`REACH`), joints that look (`LOOK`) or turn (`TURN`).

They work on the pose row on top of the stack; what they need of model space they compute along the chain of ancestors.

What an operation keeps from one update to the next is written anew whenever a program runs, from what was kept the update
before: so programs may run any number of times per update. The *header* of an instance, twelve numbers of its vectors, says
which update it is (a number that goes round), the seconds since the one before, what leads from the model space of then to
that of now (translation, rotation), of the ticks of its clock (`TICKS` a second) how many came since the update before and
how much of the next has passed, and whether its pose was cut to another one: what swings then goes along.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.kernels.language.constants import Constants, column, count, flag, joint, memory, number
from marrow.kernels.language.elementary import atan2, cos
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import (
    UP,
    about,
    across,
    conjugated,
    crossed,
    dotted,
    frame_of,
    frame_turn,
    length_of,
    local_rotation,
    minus,
    model_frames,
    model_place,
    model_point,
    model_rotation,
    move_joint,
    multiplied,
    perpendicular,
    put_rotation,
    root_above,
    shortest_turn,
    turn_to,
    turned,
    turned_towards,
    unit,
    unit_or,
)
from marrow.math import quaternion

__all__ = [
    "CHAIN", "HEADER", "LIMB", "LOOK", "LOOK_STATE", "REACH", "ROUND", "TICKS", "TURN", "Limb", "LookChain", "keeps", "reach", "ready_states",
    "solve_limb",
]  # fmt: skip

HEADER = 12
"""The numbers of an instance's header."""
TICKS = 60.0
"""Ticks of an instance's clock in a second: steps of what has to be the same at any frame rate."""
ROUND = 1 << 20
"""The number of an update goes round here, and begins again with 1."""
LOOK_STATE = 4
"""What a chain keeps: whether it looks, and where."""


def target_numbers(work, limb):
    return 6 if limb.has_pole != 0.0 else 3


def keeps(work, record):
    """Whether an operation keeps something from one update to the next."""
    return record.memory >= 0


LIMB = Constants(
    "limb",
    "a limb of two bones, and where its tip goes",
    upper=joint("where it begins"),
    mid=joint("where it bends"),
    tip=joint("what reaches"),
    vectors=column("the target, then the pole where it has one", target_numbers),
    space=joint("the joint in whose frame those are", none="model space"),
    bend=number("least and most bend, in radians", 2),
    stretch=number("how far it may lengthen: a factor"),
    keep_rotation=flag("the tip keeps the way it faces"),
    has_pole=flag("it bends towards a pole"),
    spare=number("the way it bends when straight, in the frame of `upper`", 3),
)
CHAIN = Constants(
    "chain",
    "joints from the body outward that turn together",
    count=count("how many joints"),
    vectors=column("the place it looks at, or the angle it turns by", 3),
    space=joint("the joint in whose frame that is", none="model space"),
    memory=memory("where it looked", 1 + 2 * LOOK_STATE, none="it keeps nothing"),
    header=column("the header of the instance", HEADER, where=keeps),
    axis=number("the direction of the last joint that looks, in its frame, or the axis it turns about", 3),
    limit=number("how far it turns at most, in radians"),
    rate=number("how fast, in radians per second"),
    joints=joint("the joints", each="count"),
    shares=number("each one's share", each="count"),
)


@dataclass(frozen=True)
class Limb:
    """What `REACH` needs in the reference: joints, limits of the bend in radians, stretch, the target, the pole (None: as it
    bends)."""

    upper: int
    mid: int
    tip: int
    bend: tuple[float, float]
    stretch: float
    keep_rotation: bool
    target: Array
    pole: Array | None
    space: int = -1


@dataclass(frozen=True)
class LookChain:
    """What `LOOK` and `TURN` need in the reference: joints from the body outward, their shares, the axis, the limit; the joint in
    whose frame the target is; radians per second (None: at once) and the seconds that passed."""

    joints: Any
    shares: Any
    axis: Array
    limit: float
    target: Array
    space: int = -1
    rate: float | None = None
    dt: float = 0.0


def ready_states(kept, at, size, stamp):
    """Makes the state at `at` ready for update `stamp`: its number, what was kept before (`size` numbers, zeros where that was
    not the update before), and room for what is kept now. Before the first update, 0, nothing is kept for it: what it shows does
    not depend on who looked before."""
    if kept[at] != stamp:
        gap = stamp - kept[at]
        if kept[at] > 0.0 and (gap == 1.0 or gap == 2.0 - ROUND):
            for k in range(size):
                kept[at + 1 + k] = kept[at + 1 + size + k]
        else:
            for k in range(size):
                kept[at + 1 + k] = 0.0
        kept[at] = stamp


def part_of_chain(rows, top, Jp, parents, j, stop):
    """What lies from joint `j` up to the joint `stop`, which is above it, without that: where j is (3) and how it (4) and its parent
    (4) are turned, in the frame of `stop`."""
    p, q, over = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0)
    first = True
    while j >= 0 and j != stop:
        r = local_rotation(rows, top, Jp, j)
        if not first:
            p = turned(
                r,
                (p[0] * rows[top + 7 * Jp + j], p[1] * rows[top + 8 * Jp + j], p[2] * rows[top + 9 * Jp + j]),
            )
            over = multiplied(r, over)
        p = (p[0] + rows[top + j], p[1] + rows[top + Jp + j], p[2] + rows[top + 2 * Jp + j])
        q = multiplied(r, q)
        first = False
        j = parents[j]
    return (p[0], p[1], p[2], q[0], q[1], q[2], q[3], over[0], over[1], over[2], over[3])


def scaled_turn(rows, top, Jp, j, r, p):
    """A point in the frame of a joint that is turned by `r`, in that of its parent."""
    p = turned(
        r, (p[0] * rows[top + 7 * Jp + j], p[1] * rows[top + 8 * Jp + j], p[2] * rows[top + 9 * Jp + j])
    )
    return (p[0] + rows[top + j], p[1] + rows[top + Jp + j], p[2] + rows[top + 2 * Jp + j])


def limb_frames(rows, top, Jp, parents, upper, mid, tip):
    """A limb in model space, in one walk up its chain: where upper, mid and tip are (3 each); how the parent of upper, upper, the
    parent of mid, mid, the parent of tip and tip are turned (4 each)."""
    t, m = part_of_chain(rows, top, Jp, parents, tip, mid), part_of_chain(rows, top, Jp, parents, mid, upper)
    c, q_tip, over_tip = (t[0], t[1], t[2]), (t[3], t[4], t[5], t[6]), (t[7], t[8], t[9], t[10])
    b, q_mid, over_mid = (m[0], m[1], m[2]), (m[3], m[4], m[5], m[6]), (m[7], m[8], m[9], m[10])
    # The tip in the frame of upper: through mid, and what is between them.
    j, q = mid, (0.0, 0.0, 0.0, 1.0)
    while j >= 0 and j != upper:
        c = scaled_turn(rows, top, Jp, j, local_rotation(rows, top, Jp, j), c)
        j = parents[j]
    a, above = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    j, first = upper, True
    while j >= 0:
        r = local_rotation(rows, top, Jp, j)
        b, c = scaled_turn(rows, top, Jp, j, r, b), scaled_turn(rows, top, Jp, j, r, c)
        if first:
            a, q = (rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j]), r
        else:
            a, above = scaled_turn(rows, top, Jp, j, r, a), multiplied(r, above)
        first = False
        j = parents[j]
    q_upper = multiplied(above, q)
    over_mid, q_mid = multiplied(q_upper, over_mid), multiplied(q_upper, q_mid)
    over_tip, q_tip = multiplied(q_mid, over_tip), multiplied(q_mid, q_tip)
    return (
        a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2],
        above[0], above[1], above[2], above[3], q_upper[0], q_upper[1], q_upper[2], q_upper[3],
        over_mid[0], over_mid[1], over_mid[2], over_mid[3], q_mid[0], q_mid[1], q_mid[2], q_mid[3],
        over_tip[0], over_tip[1], over_tip[2], over_tip[3], q_tip[0], q_tip[1], q_tip[2], q_tip[3],
    )  # fmt: skip


def solve_limb(rows, top, Jp, parents, upper, mid, tip, goal, least, most, stretch, keep, spare, has_pole, pole, weight):  # fmt: skip
    """Two-bone inverse kinematics on the pose at `top`; nothing where a bone has no length or the goal is none."""
    frames = limb_frames(rows, top, Jp, parents, upper, mid, tip)
    solve_framed(
        rows,
        top,
        Jp,
        upper,
        mid,
        tip,
        frames,
        goal,
        least,
        most,
        stretch,
        keep,
        spare,
        has_pole,
        pole,
        weight,
    )


def solve_framed(rows, top, Jp, upper, mid, tip, frames, goal, least, most, stretch, keep, spare, has_pole, pole, weight):  # fmt: skip
    """The same for a limb whose `limb_frames` are known. Returns how the parent of its tip is turned then."""
    f = frames
    a, b, c = (f[0], f[1], f[2]), (f[3], f[4], f[5]), (f[6], f[7], f[8])
    above, q_upper, over_mid = (
        (f[9], f[10], f[11], f[12]),
        (f[13], f[14], f[15], f[16]),
        (f[17], f[18], f[19], f[20]),
    )
    q_mid, over_tip, q_tip = (
        (f[21], f[22], f[23], f[24]),
        (f[25], f[26], f[27], f[28]),
        (f[29], f[30], f[31], f[32]),
    )
    l1, l2 = length_of(minus(b, a)), length_of(minus(c, b))
    if not (l1 > 1e-9 and l2 > 1e-9 and math.isfinite(goal[0] + goal[1] + goal[2])):
        return over_tip
    e1, e2 = unit_or(minus(b, a), (0.0, 1.0, 0.0)), unit_or(minus(c, b), (0.0, 1.0, 0.0))
    line = unit_or(minus(c, a), e1)
    # The plane it bends in now; a straight limb bends the way it was built to.
    bow = across(minus(b, a), line)
    if length_of(bow) > 1e-4 * l1:
        bow = unit_or(bow, UP)
        normal = unit_or(crossed(e1, e2), crossed(line, bow))
    else:
        bow = across(turned(q_upper, spare), line)
        bow = unit_or(bow, UP) if length_of(bow) > 1e-9 else perpendicular(line)
        normal = unit_or(crossed(e1, bow), perpendicular(e1))
    if dotted(normal, crossed(line, bow)) > 0.0:
        normal = (-normal[0], -normal[1], -normal[2])
    # How far it may reach, given how far it may bend.
    longest, shortest = l1 + l2, abs(l1 - l2)
    if least > 0.0:
        longest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * cos(least), 0.0))
    if most < math.pi:
        shortest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * cos(most), 0.0))
    way = minus(goal, a)
    distance = length_of(way)
    u = unit_or(way, line)
    if distance > longest and stretch > 1.0 and longest > 0.0:
        grown = 1.0 + weight * (min(distance / longest, stretch) - 1.0)
        for k in range(3):
            rows[top + k * Jp + mid] *= grown
            rows[top + k * Jp + tip] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = min(max(distance, shortest), longest)
    if not has_pole:
        pole = turned(shortest_turn(line, u, normal), bow)
    elif not math.isfinite(pole[0] + pole[1] + pole[2]):
        return over_tip
    p = across(pole, u)
    p = unit_or(p, UP) if length_of(p) > 1e-9 else perpendicular(u)
    cosine = (l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance) if distance > 1e-9 else 0.0
    cosine = min(max(cosine, -1.0), 1.0)
    sine = math.sqrt(1.0 - cosine * cosine)
    elbow = (
        l1 * (u[0] * cosine + p[0] * sine), l1 * (u[1] * cosine + p[1] * sine), l1 * (u[2] * cosine + p[2] * sine)
    )  # fmt: skip
    hand = (u[0] * distance, u[1] * distance, u[2] * distance)
    new_normal = crossed(p, u)
    g1, g2 = unit_or(elbow, u), unit_or(minus(hand, elbow), u)
    first = frame_turn(e1, normal, g1, new_normal)
    # Both are in the plane that it bends in.
    second = shortest_turn(unit_or(turned(first, e2), e2), g2, new_normal)
    both = multiplied(second, first)
    before_mid, before_tip = multiplied(first, over_mid), multiplied(both, over_tip)
    put_rotation(rows, top, Jp, upper, multiplied(conjugated(above), multiplied(first, q_upper)), weight)
    put_rotation(rows, top, Jp, mid, multiplied(conjugated(before_mid), multiplied(both, q_mid)), weight)
    if keep:
        put_rotation(rows, top, Jp, tip, multiplied(conjugated(before_tip), q_tip), weight)
    return before_tip


def run_reach(work, n, top, at, time, weight):
    """Two-bone inverse kinematics on the pose at `top`."""
    rows, Jp, parents, vectors, limb = work.stack, work.Jp, work.parents, work.vectors[n], LIMB(work, at)
    v = limb.vectors
    goal = (vectors[v], vectors[v + 1], vectors[v + 2])
    has_pole = limb.has_pole != 0.0
    pole = (0.0, 0.0, 0.0)
    if has_pole:
        pole = (vectors[v + 3], vectors[v + 4], vectors[v + 5])
    if limb.space >= 0:
        goal = model_point(rows, top, Jp, parents, limb.space, goal)
        pole = turned(model_rotation(rows, top, Jp, parents, limb.space), pole)
    least, most = limb.bend
    solve_limb(
        rows, top, Jp, parents, limb.upper, limb.mid, limb.tip, goal, least, most, limb.stretch, limb.keep_rotation != 0.0,
        limb.spare, has_pole, pole, weight,
    )  # fmt: skip


def run_look(work, n, top, at, time, weight):
    """Turns the joints of a chain until the last one looks at a place."""
    rows, Jp, parents, vectors, chain = work.stack, work.Jp, work.parents, work.vectors[n], CHAIN(work, at)
    count, v, memory = chain.count, chain.vectors, chain.memory
    goal = (vectors[v], vectors[v + 1], vectors[v + 2])
    if not math.isfinite(goal[0] + goal[1] + goal[2]):
        return
    goal = model_point(rows, top, Jp, parents, chain.space, goal)
    last, axis, limit = chain.joints[count - 1], chain.axis, chain.limit
    was = turned(model_rotation(rows, top, Jp, parents, last), axis)
    start, most = was, 7.0
    if memory >= 0:
        kept, header = work.memory[n], chain.header
        here = memory + 1
        if time >= 1.0:
            here, most = memory + 1 + LOOK_STATE, 0.0
        else:
            ready_states(kept, memory, LOOK_STATE, vectors[header])
            most = chain.rate * max(vectors[header + 1], 0.0)
        if kept[here] != 0.0:
            start = unit_or((kept[here + 1], kept[here + 2], kept[here + 3]), was)
    way = was
    for k in range(count):
        j = chain.joints[k]
        share = chain.shares[k] * weight
        now = turned(model_rotation(rows, top, Jp, parents, last), axis)
        way = unit_or(minus(goal, model_place(rows, top, Jp, parents, last)), now)
        # No further from where it looked than the limit, and no faster than it may.
        way = turned_towards(was, way, limit)
        if memory >= 0:
            way = turned_towards(start, way, most)
        normal = unit_or(crossed(now, way), perpendicular(now))
        angle = share * atan2(length_of(crossed(now, way)), dotted(now, way))
        above = model_rotation(rows, top, Jp, parents, parents[j])
        mine = multiplied(above, local_rotation(rows, top, Jp, j))
        turn = multiplied(about(normal, angle), mine)
        put_rotation(rows, top, Jp, j, multiplied(conjugated(above), turn), 1.0)
    if memory >= 0 and time < 1.0:
        kept = work.memory[n]
        here = memory + 1 + LOOK_STATE
        kept[here], kept[here + 1], kept[here + 2], kept[here + 3] = 1.0, way[0], way[1], way[2]


def run_turn(work, n, top, at, time, weight):
    """Turns the joints of a chain about an axis of model space, each by its share of an angle; the first goes round its
    root as well."""
    rows, Jp, parents, vectors, chain = work.stack, work.Jp, work.parents, work.vectors[n], CHAIN(work, at)
    angle = vectors[chain.vectors]
    if not math.isfinite(angle):
        return
    axis = chain.axis
    angle = weight * min(max(angle, -chain.limit), chain.limit)
    for k in range(chain.count):
        j = chain.joints[k]
        if k == 0 and parents[j] >= 0:
            # Round the root, which stands still where hips sway.
            away = minus(
                model_place(rows, top, Jp, parents, j),
                model_place(rows, top, Jp, parents, root_above(parents, j)),
            )
            move_joint(
                rows, top, Jp, parents, j, minus(turned(about(axis, chain.shares[0] * angle), away), away)
            )
        above = model_rotation(rows, top, Jp, parents, parents[j])
        mine = multiplied(above, local_rotation(rows, top, Jp, j))
        turn = multiplied(about(axis, chain.shares[k] * angle), mine)
        put_rotation(rows, top, Jp, j, multiplied(conjugated(above), turn), 1.0)


# -- the specification --------------------------------------------------------------------------------------------


def _in_model(
    rows: Rows, parents: Array, space: int, point: Array, pole: Array | None
) -> tuple[Array, Array | None]:
    """A point, and a direction, from the frame of a joint to model space."""
    if space < 0:
        return np.asarray(point, np.float64), pole
    places, turns, matrices = model_frames(rows, parents)
    return (
        matrices[space] @ np.asarray(point, np.float64) + places[space],
        None if pole is None else quaternion.rotate(turns[space], np.asarray(pole, np.float64)),
    )


def reach(rows: Rows, parents: Array, limb: Limb, weight: float) -> None:
    """The law of cosines gives the bend, frames of limb and plane before and after give the turns."""
    places, turns, _ = model_frames(rows, parents)
    a, b, c = places[limb.upper], places[limb.mid], places[limb.tip]
    l1, l2 = float(np.linalg.norm(b - a)), float(np.linalg.norm(c - b))
    least, most = limb.bend
    longest, shortest = (np.sqrt(l1**2 + l2**2 + 2 * l1 * l2 * np.cos(angle)) for angle in (least, most))
    target, given = _in_model(rows, parents, limb.space, limb.target, limb.pole)
    way = target - a
    distance, u = float(np.linalg.norm(way)), unit(way)
    if distance > longest and limb.stretch > 1:
        grown = 1 + weight * (min(distance / longest, limb.stretch) - 1)
        rows[0][[limb.mid, limb.tip]] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = float(np.clip(distance, shortest, longest))
    line = unit(c - a)
    bow = unit((b - a) - line * ((b - a) @ line))
    pole = quaternion.rotate(quaternion.between(line, u), bow) if given is None else given
    p = unit(pole - u * (pole @ u))
    cosine = np.clip((l1**2 + distance**2 - l2**2) / (2 * l1 * distance), -1, 1)
    elbow = l1 * (u * cosine + p * np.sqrt(1 - cosine**2))
    normal, new_normal = np.cross(bow, line), np.cross(p, u)
    first = quaternion.from_matrix(frame_of(unit(elbow), new_normal) @ frame_of(unit(b - a), normal).T)
    bent = quaternion.rotate(first, unit(c - b))
    second = quaternion.from_matrix(
        frame_of(unit(u * distance - elbow), new_normal) @ frame_of(bent, new_normal).T
    )
    both = quaternion.multiply(second, first)

    def above(j: int) -> Array:
        p = int(parents[j])
        return quaternion.identity(dtype=np.float64) if p < 0 else turns[p]

    def local(parent: Array, own: Array) -> Array:
        return quaternion.multiply(quaternion.conjugate(parent), own)

    turn_to(rows, limb.upper, local(above(limb.upper), quaternion.multiply(first, turns[limb.upper])), weight)
    mid = local(quaternion.multiply(first, above(limb.mid)), quaternion.multiply(both, turns[limb.mid]))
    turn_to(rows, limb.mid, mid, weight)
    if limb.keep_rotation:
        turn_to(rows, limb.tip, local(quaternion.multiply(both, above(limb.tip)), turns[limb.tip]), weight)


def look(rows: Rows, parents: Array, chain: LookChain, weight: float, state: dict[str, Array]) -> None:
    """Joint after joint turns its share of what is left."""
    last = chain.joints[-1]
    one = quaternion.identity(dtype=np.float64)
    was = quaternion.rotate(model_frames(rows, parents)[1][last], chain.axis)
    target, _ = _in_model(rows, parents, chain.space, chain.target, None)

    def towards(a: Array, b: Array, most: float) -> Array:
        full = quaternion.between(a, b)
        angle = float(np.linalg.norm(quaternion.log(full)))
        return b if angle <= most else quaternion.rotate(quaternion.slerp(one, full, most / angle), a)

    for j, share in zip(chain.joints, chain.shares):
        places, turns, _ = model_frames(rows, parents)
        now = quaternion.rotate(turns[last], chain.axis)
        way = towards(was, unit(target - places[last]), chain.limit)
        if chain.rate is not None:
            way = towards(state.get("before", was), way, chain.rate * chain.dt)
            state["now"] = way
        turn = quaternion.slerp(one, quaternion.between(now, way), share * weight)
        p = int(parents[j])
        above = one if p < 0 else turns[p]
        rows[1][j] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(turn, turns[j]))


def reference_turn(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """The turn of each joint is that of all turned joints above it, and its own."""
    one = quaternion.identity(dtype=np.float64)
    assert world.parents is not None
    rows, chain = stack[-1], world.constants[argument]
    angle = weight * float(np.clip(chain.target[0], -chain.limit, chain.limit))
    for k, (j, share) in enumerate(zip(chain.joints, chain.shares)):
        places, turns, linear = model_frames(rows, world.parents)
        p = root = int(world.parents[j])
        above = one if p < 0 else turns[p]
        turn = quaternion.from_axis_angle(chain.axis, np.array(share * angle))
        if k == 0 and p >= 0:
            while world.parents[root] >= 0:
                root = int(world.parents[root])
            away = places[j] - places[root]
            rows[0][j] += np.linalg.solve(linear[p], quaternion.rotate(turn, away) - away)
        rows[1][j] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(turn, turns[j]))


def reference_reach(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    reach(stack[-1], world.parents, world.constants[argument], weight)


def reference_look(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    state: dict[str, Array] = world.memory.setdefault(("look", argument), {})
    look(stack[-1], world.parents, world.constants[argument], weight, state)


REACH = Operation(
    "REACH", 13, "two-bone inverse kinematics: the tip of a limb goes to its target", 1, 1, LIMB, "", "how much of the way",
    run_reach, reference_reach,
)  # fmt: skip
LOOK = Operation(
    "LOOK", 14, "turns the joints of a chain until the last one looks at a place", 1, 1, CHAIN, "1: keeps nothing",
    "how much of the way",
    run_look, reference_look,
)  # fmt: skip
TURN = Operation(
    "TURN", 16, "turns the joints of a chain about an axis of model space, each by its share of an angle, the first also round its root", 1, 1, CHAIN, "",
    "how much of the angle", run_turn, reference_turn,
)  # fmt: skip
