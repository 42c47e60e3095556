"""Operations that look at a pose and change it: a limb that reaches (`REACH`), joints that look (`LOOK`).

They work on the pose row on top of the stack; what they need of model space they compute along the chain of ancestors. Scale is
taken into account for places, but not shear for directions.

Their constants lie in two flat arrays, from an offset on. A limb: integers upper, mid, tip, column of its vectors (target,
pole), offset of its floats: least and most bend, stretch, keep rotation, has pole, the way a straight limb bends in the
frame of its upper joint (3). A chain: count, column of its vector, offset of its floats, then the joints; floats: axis (3),
limit, then the share of each joint.
"""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.record import Array, Limb, LookChain, Operation, ReferenceWorld, Rows
from marrow.math import quaternion, transform

__all__ = ["LOOK", "REACH", "local_rotation", "multiplied", "sound_chain", "sound_limb"]


def multiplied(a, b):
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


def conjugated(q):
    return (-q[0], -q[1], -q[2], q[3])


def turned(q, v):
    tx, ty, tz = (
        2 * (q[1] * v[2] - q[2] * v[1]),
        2 * (q[2] * v[0] - q[0] * v[2]),
        2 * (q[0] * v[1] - q[1] * v[0]),
    )
    return (
        v[0] + q[3] * tx + q[1] * tz - q[2] * ty,
        v[1] + q[3] * ty + q[2] * tx - q[0] * tz,
        v[2] + q[3] * tz + q[0] * ty - q[1] * tx,
    )


def crossed(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dotted(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def length_of(a):
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit_or(a, spare):
    """`a` at unit length; `spare` where it has none."""
    size = length_of(a)
    if size < 1e-9:
        return spare
    return (a[0] / size, a[1] / size, a[2] / size)


def across(a, u):
    """The part of `a` perpendicular to the unit vector `u`."""
    s = dotted(a, u)
    return (a[0] - s * u[0], a[1] - s * u[1], a[2] - s * u[2])


def perpendicular(u):
    """Some unit vector perpendicular to `u`."""
    ax, ay, az = abs(u[0]), abs(u[1]), abs(u[2])
    if ax <= ay and ax <= az:
        return unit_or(crossed((1.0, 0.0, 0.0), u), (0.0, 1.0, 0.0))
    if ay <= az:
        return unit_or(crossed((0.0, 1.0, 0.0), u), (0.0, 0.0, 1.0))
    return unit_or(crossed((0.0, 0.0, 1.0), u), (1.0, 0.0, 0.0))


def shortest_turn(a, b, n):
    """The shortest rotation from one unit vector to another; about `n` where they are opposite."""
    w = 1.0 + dotted(a, b)
    if w < 1e-7:
        return (n[0], n[1], n[2], 0.0)
    c = crossed(a, b)
    size = math.sqrt(dotted(c, c) + w * w)
    return (c[0] / size, c[1] / size, c[2] / size, w / size)


def frame_turn(a, n, b, m):
    """The rotation that brings the unit vectors `a` to `b` and `n` to `m`, where each pair is perpendicular."""
    # The shortest turn from a to b, then about b what n still lacks.
    swing = shortest_turn(a, b, n)
    k = turned(swing, n)
    sine, cosine = dotted(crossed(k, m), b), dotted(k, m)
    half = 0.5 * atan2(sine, cosine)
    s = sin(half)
    return multiplied((s * b[0], s * b[1], s * b[2], cos(half)), swing)


def local_rotation(rows, top, Jp, j):
    x, y, z, w = (
        rows[top + 3 * Jp + j], rows[top + 4 * Jp + j], rows[top + 5 * Jp + j], rows[top + 6 * Jp + j]
    )  # fmt: skip
    size = x * x + y * y + z * z + w * w
    if size == 0.0:
        return (0.0, 0.0, 0.0, 1.0)
    s = 1.0 / math.sqrt(size)
    return (x * s, y * s, z * s, w * s)


def put_rotation(rows, top, Jp, j, q, weight):
    """Turns a joint `weight` of the way to `q`."""
    old = local_rotation(rows, top, Jp, j)
    side = weight if old[0] * q[0] + old[1] * q[1] + old[2] * q[2] + old[3] * q[3] >= 0.0 else -weight
    keep, at = 1.0 - weight, top + 3 * Jp + j
    rows[at], rows[at + Jp] = keep * old[0] + side * q[0], keep * old[1] + side * q[1]
    rows[at + 2 * Jp], rows[at + 3 * Jp] = keep * old[2] + side * q[2], keep * old[3] + side * q[3]


def model_rotation(rows, top, Jp, parents, j):
    """How a joint is turned in model space; the identity for no joint."""
    q = (0.0, 0.0, 0.0, 1.0)
    while j >= 0:
        q = multiplied(local_rotation(rows, top, Jp, j), q)
        j = parents[j]
    return q


def model_place(rows, top, Jp, parents, j):
    """Where a joint is in model space."""
    p = (0.0, 0.0, 0.0)
    first = True
    while j >= 0:
        if not first:
            p = (p[0] * rows[top + 7 * Jp + j], p[1] * rows[top + 8 * Jp + j], p[2] * rows[top + 9 * Jp + j])
            p = turned(local_rotation(rows, top, Jp, j), p)
        p = (p[0] + rows[top + j], p[1] + rows[top + Jp + j], p[2] + rows[top + 2 * Jp + j])
        first = False
        j = parents[j]
    return p


def has_vectors(work, n, column, count):
    """Whether the instance has `count` numbers among its vectors from a column on."""
    vectors = work.vectors
    return n < len(vectors) and column >= 0 and column + count <= vectors.shape[1]


def sound_limb(work, n, at):
    """Whether the constants at `at` are those of a limb that the character and the instance have."""
    ints, floats, J = work.ints, work.floats, len(work.parents)
    if at + 5 > len(ints):
        return False
    for k in range(3):
        if ints[at + k] < 0 or ints[at + k] >= J:
            return False
    f = ints[at + 4]
    if f < 0 or f + 8 > len(floats):
        return False
    return has_vectors(work, n, ints[at + 3], 6 if floats[f + 4] != 0.0 else 3)


def sound_chain(work, n, at):
    """The same for a chain."""
    ints, J = work.ints, len(work.parents)
    if at + 3 > len(ints):
        return False
    count, f = ints[at], ints[at + 2]
    if count < 1 or at + 3 + count > len(ints) or f < 0 or f + 4 + count > len(work.floats):
        return False
    for k in range(count):
        if ints[at + 3 + k] < 0 or ints[at + 3 + k] >= J:
            return False
    return has_vectors(work, n, ints[at + 1], 3)


def run_reach(work, n, top, at, time, weight):
    """Two-bone inverse kinematics on the pose at `top`."""
    rows, Jp, parents, ints, floats, vectors = (
        work.stack,
        work.Jp,
        work.parents,
        work.ints,
        work.floats,
        work.vectors[n],
    )
    upper, mid, tip = ints[at], ints[at + 1], ints[at + 2]
    v, f = ints[at + 3], ints[at + 4]
    goal = (vectors[v], vectors[v + 1], vectors[v + 2])
    a = model_place(rows, top, Jp, parents, upper)
    b = model_place(rows, top, Jp, parents, mid)
    c = model_place(rows, top, Jp, parents, tip)
    l1, l2 = length_of(minus(b, a)), length_of(minus(c, b))
    if not (l1 > 1e-9 and l2 > 1e-9 and math.isfinite(goal[0] + goal[1] + goal[2])):
        return
    above = model_rotation(rows, top, Jp, parents, parents[upper])
    q_upper = multiplied(above, local_rotation(rows, top, Jp, upper))
    e1, e2 = unit_or(minus(b, a), (0.0, 1.0, 0.0)), unit_or(minus(c, b), (0.0, 1.0, 0.0))
    line = unit_or(minus(c, a), e1)
    # The plane it bends in now; a straight limb bends the way it was built to.
    spare = turned(q_upper, (floats[f + 5], floats[f + 6], floats[f + 7]))
    spare = unit_or(across(spare, line), perpendicular(line))
    bow = across(minus(b, a), line)
    bent = length_of(bow) > 1e-4 * l1
    bow = unit_or(bow, spare) if bent else spare
    normal = (
        unit_or(crossed(e1, e2), crossed(line, bow))
        if bent
        else unit_or(crossed(e1, spare), perpendicular(e1))
    )
    if dotted(normal, crossed(line, bow)) > 0.0:
        normal = (-normal[0], -normal[1], -normal[2])
    # How far it may reach, given how far it may bend.
    longest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * cos(floats[f]), 0.0))
    shortest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * cos(floats[f + 1]), 0.0))
    way = minus(goal, a)
    distance = length_of(way)
    u = unit_or(way, line)
    if distance > longest and floats[f + 2] > 1.0 and longest > 0.0:
        grown = 1.0 + weight * (min(distance / longest, floats[f + 2]) - 1.0)
        for k in range(3):
            rows[top + k * Jp + mid] *= grown
            rows[top + k * Jp + tip] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = min(max(distance, shortest), longest)
    if floats[f + 4] != 0.0:
        pole = (vectors[v + 3], vectors[v + 4], vectors[v + 5])
        if not math.isfinite(pole[0] + pole[1] + pole[2]):
            return
    else:
        pole = turned(shortest_turn(line, u, normal), bow)
    p = unit_or(across(pole, u), perpendicular(u))
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
    second = frame_turn(unit_or(turned(first, e2), e2), new_normal, g2, new_normal)
    both = multiplied(second, first)
    before_mid = multiplied(first, model_rotation(rows, top, Jp, parents, parents[mid]))
    before_tip = multiplied(both, model_rotation(rows, top, Jp, parents, parents[tip]))
    q_mid = model_rotation(rows, top, Jp, parents, mid)
    q_tip = model_rotation(rows, top, Jp, parents, tip)
    put_rotation(rows, top, Jp, upper, multiplied(conjugated(above), multiplied(first, q_upper)), weight)
    put_rotation(rows, top, Jp, mid, multiplied(conjugated(before_mid), multiplied(both, q_mid)), weight)
    if floats[f + 3] != 0.0:
        put_rotation(rows, top, Jp, tip, multiplied(conjugated(before_tip), q_tip), weight)


def run_look(work, n, top, at, time, weight):
    """Turns the joints of a chain until the last one looks at a place."""
    rows, Jp, parents, ints, floats, vectors = (
        work.stack,
        work.Jp,
        work.parents,
        work.ints,
        work.floats,
        work.vectors[n],
    )
    count, v, f = ints[at], ints[at + 1], ints[at + 2]
    goal = (vectors[v], vectors[v + 1], vectors[v + 2])
    if not math.isfinite(goal[0] + goal[1] + goal[2]):
        return
    last = ints[at + 2 + count]
    axis = (floats[f], floats[f + 1], floats[f + 2])
    limit = floats[f + 3]
    was = turned(model_rotation(rows, top, Jp, parents, last), axis)
    for k in range(count):
        j = ints[at + 3 + k]
        share = floats[f + 4 + k] * weight
        now = turned(model_rotation(rows, top, Jp, parents, last), axis)
        way = unit_or(minus(goal, model_place(rows, top, Jp, parents, last)), now)
        # No further from where it looked than the limit.
        side = unit_or(crossed(was, way), perpendicular(was))
        angle = atan2(length_of(crossed(was, way)), dotted(was, way))
        if angle > limit:
            half = 0.5 * limit
            s = sin(half)
            way = turned((s * side[0], s * side[1], s * side[2], cos(half)), was)
        normal = unit_or(crossed(now, way), perpendicular(now))
        half = 0.5 * share * atan2(length_of(crossed(now, way)), dotted(now, way))
        s = sin(half)
        turn = (s * normal[0], s * normal[1], s * normal[2], cos(half))
        above = model_rotation(rows, top, Jp, parents, parents[j])
        mine = multiplied(above, local_rotation(rows, top, Jp, j))
        put_rotation(rows, top, Jp, j, multiplied(conjugated(above), multiplied(turn, mine)), 1.0)


# -- the specification --------------------------------------------------------------------------------------------


def _nlerp(a: Array, b: Array, w: Array) -> Array:
    b = -b if float((a * b).sum()) < 0 else b
    return a * (1 - w) + b * w


def _model_turns(parents: Array, local: Array) -> Array:
    out = local.copy()
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            out[j] = quaternion.multiply(out[p], local[j])
    return out


def _model(rows: Rows, parents: Array) -> tuple[Array, Array]:
    """Places `(J, 3)` and rotations `(J, 4)` in model space; places know scale, rotations do not."""
    q = quaternion.normalize(rows[1])
    matrices = transform.compose(rows[0], q, rows[2])
    places = np.empty_like(rows[0])
    whole = np.empty_like(matrices)
    for j, p in enumerate(parents.tolist()):
        whole[j] = matrices[j]
        if p >= 0:
            whole[j, :, :3] = whole[p, :, :3] @ matrices[j, :, :3]
            whole[j, :, 3] = whole[p, :, :3] @ matrices[j, :, 3] + whole[p, :, 3]
        places[j] = whole[j, :, 3]
    return places, _model_turns(parents, q)


def _turn_to(rows: Rows, j: int, local: Array, weight: float) -> None:
    rows[1][j] = _nlerp(quaternion.normalize(rows[1][j]), local, np.array(weight))


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def _frame(x: Array, n: Array) -> Array:
    return np.column_stack([x, n, np.cross(x, n)])


def _reach(rows: Rows, parents: Array, limb: Limb, weight: float) -> None:
    """The law of cosines gives the bend, frames of limb and plane before and after give the turns."""
    places, turns = _model(rows, parents)
    a, b, c = places[limb.upper], places[limb.mid], places[limb.tip]
    l1, l2 = float(np.linalg.norm(b - a)), float(np.linalg.norm(c - b))
    least, most = limb.bend
    longest, shortest = (np.sqrt(l1**2 + l2**2 + 2 * l1 * l2 * np.cos(angle)) for angle in (least, most))
    way = np.asarray(limb.target, np.float64) - a
    distance, u = float(np.linalg.norm(way)), _unit(way)
    if distance > longest and limb.stretch > 1:
        grown = 1 + weight * (min(distance / longest, limb.stretch) - 1)
        rows[0][[limb.mid, limb.tip]] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = float(np.clip(distance, shortest, longest))
    line = _unit(c - a)
    bow = _unit((b - a) - line * ((b - a) @ line))
    pole = quaternion.rotate(quaternion.between(line, u), bow) if limb.pole is None else limb.pole
    p = _unit(pole - u * (pole @ u))
    cosine = np.clip((l1**2 + distance**2 - l2**2) / (2 * l1 * distance), -1, 1)
    elbow = l1 * (u * cosine + p * np.sqrt(1 - cosine**2))
    normal, new_normal = np.cross(bow, line), np.cross(p, u)
    first = quaternion.from_matrix(_frame(_unit(elbow), new_normal) @ _frame(_unit(b - a), normal).T)
    bent = quaternion.rotate(first, _unit(c - b))
    second = quaternion.from_matrix(
        _frame(_unit(u * distance - elbow), new_normal) @ _frame(bent, new_normal).T
    )
    both = quaternion.multiply(second, first)

    def above(j: int) -> Array:
        p = int(parents[j])
        return quaternion.identity(dtype=np.float64) if p < 0 else turns[p]

    def local(parent: Array, own: Array) -> Array:
        return quaternion.multiply(quaternion.conjugate(parent), own)

    _turn_to(
        rows, limb.upper, local(above(limb.upper), quaternion.multiply(first, turns[limb.upper])), weight
    )
    mid = local(quaternion.multiply(first, above(limb.mid)), quaternion.multiply(both, turns[limb.mid]))
    _turn_to(rows, limb.mid, mid, weight)
    if limb.keep_rotation:
        _turn_to(rows, limb.tip, local(quaternion.multiply(both, above(limb.tip)), turns[limb.tip]), weight)


def _look(rows: Rows, parents: Array, chain: LookChain, weight: float) -> None:
    """Joint after joint turns its share of what is left."""
    last = chain.joints[-1]
    was = quaternion.rotate(_model(rows, parents)[1][last], chain.axis)
    for j, share in zip(chain.joints, chain.shares):
        places, turns = _model(rows, parents)
        now = quaternion.rotate(turns[last], chain.axis)
        way = _unit(np.asarray(chain.target, np.float64) - places[last])
        full = quaternion.between(was, way)
        angle = float(np.linalg.norm(quaternion.log(full)))
        if angle > chain.limit:
            way = quaternion.rotate(
                quaternion.slerp(quaternion.identity(dtype=np.float64), full, chain.limit / angle), was
            )
        turn = quaternion.slerp(
            quaternion.identity(dtype=np.float64), quaternion.between(now, way), share * weight
        )
        p = int(parents[j])
        above = quaternion.identity(dtype=np.float64) if p < 0 else turns[p]
        rows[1][j] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(turn, turns[j]))


def reference_reach(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    _reach(stack[-1], world.parents, world.limbs[argument], weight)


def reference_look(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    _look(stack[-1], world.parents, world.chains[argument], weight)


REACH = Operation(
    "REACH", 13, "two-bone inverse kinematics: the tip of a limb goes to its target", 1, 1, "limb", "", "how much of the way",
    run_reach, reference_reach,
)  # fmt: skip
LOOK = Operation(
    "LOOK", 14, "turns the joints of a chain until the last one looks at a place", 1, 1, "chain", "", "how much of the way",
    run_look, reference_look,
)  # fmt: skip
