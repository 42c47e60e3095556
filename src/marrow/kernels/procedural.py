"""Operations that look at a pose and change it: a limb that reaches (`reach`), joints that look (`look`).

They work on the pose rows on the stack; what they need of model space they compute along the chain of ancestors. Scale is
taken into account for places, but not shear for directions. Plain functions that Numba compiles as they are.

Their constants lie in two flat arrays, from an offset on. `reach`: integers upper, mid, tip, column of its vectors (target,
pole), offset of its floats: least and most bend, stretch, keep rotation, has pole, the way a straight limb bends in the
frame of its upper joint (3). `look`: count, column of its vector, offset of its floats, then the joints; floats: axis (3),
limit, then the share of each joint.
"""

from __future__ import annotations

import math


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
    half = 0.5 * math.atan2(sine, cosine)
    s = math.sin(half)
    return multiplied((s * b[0], s * b[1], s * b[2], math.cos(half)), swing)


def local_rotation(rows, top, Jp, j):
    x, y, z, w = (
        float(rows[top + 3 * Jp + j]), float(rows[top + 4 * Jp + j]), float(rows[top + 5 * Jp + j]), float(rows[top + 6 * Jp + j])
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
    for c in range(4):
        rows[top + (3 + c) * Jp + j] = (1.0 - weight) * old[c] + side * q[c]


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


def reach(rows, top, Jp, parents, ints, floats, at, vectors, vector, weight):
    """Two-bone inverse kinematics on the pose at `top`."""
    upper, mid, tip = ints[at], ints[at + 1], ints[at + 2]
    v, f = vector + ints[at + 3], ints[at + 4]
    goal = (float(vectors[v]), float(vectors[v + 1]), float(vectors[v + 2]))
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
    spare = turned(q_upper, (float(floats[f + 5]), float(floats[f + 6]), float(floats[f + 7])))
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
    longest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * math.cos(floats[f]), 0.0))
    shortest = math.sqrt(max(l1 * l1 + l2 * l2 + 2 * l1 * l2 * math.cos(floats[f + 1]), 0.0))
    way = minus(goal, a)
    distance = length_of(way)
    u = unit_or(way, line)
    if distance > longest and floats[f + 2] > 1.0 and longest > 0.0:
        grown = 1.0 + weight * (min(distance / longest, float(floats[f + 2])) - 1.0)
        for k in range(3):
            rows[top + k * Jp + mid] *= grown
            rows[top + k * Jp + tip] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = min(max(distance, shortest), longest)
    if floats[f + 4] != 0.0:
        pole = (float(vectors[v + 3]), float(vectors[v + 4]), float(vectors[v + 5]))
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


def look(rows, top, Jp, parents, ints, floats, at, vectors, vector, weight):
    """Turns the joints of a chain until the last one looks at a place."""
    count, v, f = ints[at], vector + ints[at + 1], ints[at + 2]
    goal = (float(vectors[v]), float(vectors[v + 1]), float(vectors[v + 2]))
    if not math.isfinite(goal[0] + goal[1] + goal[2]):
        return
    last = ints[at + 2 + count]
    axis = (float(floats[f]), float(floats[f + 1]), float(floats[f + 2]))
    limit = float(floats[f + 3])
    was = turned(model_rotation(rows, top, Jp, parents, last), axis)
    for k in range(count):
        j = ints[at + 3 + k]
        share = float(floats[f + 4 + k]) * weight
        now = turned(model_rotation(rows, top, Jp, parents, last), axis)
        way = unit_or(minus(goal, model_place(rows, top, Jp, parents, last)), now)
        # No further from where it looked than the limit.
        side = unit_or(crossed(was, way), perpendicular(was))
        angle = math.atan2(length_of(crossed(was, way)), dotted(was, way))
        if angle > limit:
            half = 0.5 * limit
            s = math.sin(half)
            way = turned((s * side[0], s * side[1], s * side[2], math.cos(half)), was)
        normal = unit_or(crossed(now, way), perpendicular(now))
        half = 0.5 * share * math.atan2(length_of(crossed(now, way)), dotted(now, way))
        s = math.sin(half)
        turn = (s * normal[0], s * normal[1], s * normal[2], math.cos(half))
        above = model_rotation(rows, top, Jp, parents, parents[j])
        mine = multiplied(above, local_rotation(rows, top, Jp, j))
        put_rotation(rows, top, Jp, j, multiplied(conjugated(above), multiplied(turn, mine)), 1.0)


def layer_in_model_space(rows, top, other, Jp, J, parents, masks, mask, size, weight, scratch):
    """Mixes `other` into `top` so that masked joints face in model space as the mix of how both face there.

    `mask` is three masks of `size` each: translation, rotation, scale. Scratch: 16 floats per joint.
    """
    for j in range(J):
        p = parents[j]
        mine, theirs = local_rotation(rows, top, Jp, j), local_rotation(rows, other, Jp, j)
        base, over, out = mine, theirs, mine
        if p >= 0:
            s = 16 * p
            base = multiplied((scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3]), mine)
            over = multiplied((scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7]), theirs)
            parent = (scratch[s + 8], scratch[s + 9], scratch[s + 10], scratch[s + 11])
            out = multiplied(parent, mine)
        else:
            parent = (0.0, 0.0, 0.0, 1.0)
        k = weight * masks[mask + size + j]
        if k != 0.0:
            side = (
                k
                if base[0] * over[0] + base[1] * over[1] + base[2] * over[2] + base[3] * over[3] >= 0.0
                else -k
            )
            rest = 1.0 - k
            x, y = rest * base[0] + side * over[0], rest * base[1] + side * over[1]
            z, w = rest * base[2] + side * over[2], rest * base[3] + side * over[3]
            n = math.sqrt(x * x + y * y + z * z + w * w)
            if n > 0.0:
                out = (x / n, y / n, z / n, w / n)
            q = multiplied((-parent[0], -parent[1], -parent[2], parent[3]), out)
            for c in range(4):
                rows[top + (3 + c) * Jp + j] = q[c]
        s = 16 * j
        for c in range(4):
            scratch[s + c], scratch[s + 4 + c], scratch[s + 8 + c] = base[c], over[c], out[c]
        k = weight * masks[mask + j]
        if k != 0.0:
            for c in range(3):
                rows[top + c * Jp + j] += k * (rows[other + c * Jp + j] - rows[top + c * Jp + j])
        k = weight * masks[mask + 2 * size + j]
        if k != 0.0:
            for c in range(7, 10):
                rows[top + c * Jp + j] += k * (rows[other + c * Jp + j] - rows[top + c * Jp + j])


FUNCTIONS = (
    multiplied, conjugated, turned, crossed, dotted, minus, length_of, unit_or, across, perpendicular, shortest_turn, frame_turn,
    local_rotation, put_rotation, model_rotation, model_place, reach, look, layer_in_model_space,
)  # fmt: skip
