"""`SPRINGS`: chains that swing: hair, tails, skirts (VRM's spring bones).

A joint has a *tail*: the next joint, or a place behind it. In each step of 1/60 s the tail goes on as it went, is drawn back to
where it is at rest and down, is put as far from its joint as it is, out of colliders, and the joint turns to it.

Steps are made at the ticks of the instance's clock, whatever the frame rate. What the joints hang on (*inputs*: heads, chests, what
colliders move with) is known when updates are made, and they are made in parts that end at ticks (`kernels.moments`). Where they are
not, it is where a cubic through the last four has it. Between two steps a part of a step is shown, and not kept. So all frame rates
come to the same.

Joints are solved in *blocks* of 16 that do not depend on each other (`spring_lanes`). *Slots* are the frames of what they hang on:
inputs first, then others that hang on joints themselves, then the joints.

What is kept: the number of the update, which half of the rest is this update's, and two halves of: whether there is anything, the
seconds of this update and the one before, the tails of blocks, the frames of inputs and their first two differences. Behind that room for the
frames of inputs as they were, and for where colliders are.
"""

from __future__ import annotations

import math

from marrow.kernels.operations.limbs import ROUND, TICKS
from marrow.kernels.operations.record import Operation
from marrow.kernels.operations.spatial import (
    local_rotation,
    multiplied,
    put_rotation,
    turned,
)
from marrow.kernels.operations.spring_lanes import (
    begin,
    begin_centered,
    collide,
    collide_plane,
    collide_sphere,
    finish,
    finish_limited,
    keep,
    keep_centered,
    move_tails,
    settle,
    settle_centered,
)
from marrow.kernels.operations.spring_set import (
    BLOCK_CONSTANTS,
    BLOCK_STATE,
    CENTERS,
    FRAME,
    HEAD,
    INPUT,
    LIMITS,
    MODEL,
    PLANE,
    SINGLE,
    SINGLE_FLOATS,
    SPHERE,
    SPRING_SET,
    frame_place,
    frame_rotation,
    half_size,
    put_frame,
)
from marrow.kernels.operations.springs_reference import CUT, CUT_TURN, QUICK, QUICK_TURN, reference_springs

__all__ = ["SPRINGS"]

LONG = 0.15
"""Seconds of an update that is no curve any more: inputs go straight from one to the next."""
MOST_STEPS = 240
"""Steps of one update: of a longer one the last."""
JUMP, FAST = 1.0, 30.0
"""Who goes further in an update than so many metres, and so many a second, has been put there: its springs go with it."""
THIRD = 1.0 / 3.0
SPIN, FASTEST_SPIN = 1.0, 30.0
"""The same for turns, in radians."""


def scale_of(rows, top, Jp, j):
    return (rows[top + 7 * Jp + j] + rows[top + 8 * Jp + j] + rows[top + 9 * Jp + j]) * THIRD


def pose_frame(work, top, at, k, slots, to):
    """The frame of a joint as the pose has it on what it hangs on, put at `to`."""
    springs, rows, Jp = SPRING_SET(work, at), work.stack, work.Jp
    j, above = springs.frame[k, 0], springs.frame[k, 1]
    t = (rows[top + j], rows[top + Jp + j], rows[top + 2 * Jp + j])
    q, scale = local_rotation(rows, top, Jp, j), scale_of(rows, top, Jp, j)
    if above >= 0:
        p, turn, size = (
            frame_place(slots, FRAME * above),
            frame_rotation(slots, FRAME * above),
            slots[FRAME * above + 7],
        )
        t = turned(turn, (size * t[0], size * t[1], size * t[2]))
        t, q, scale = (t[0] + p[0], t[1] + p[1], t[2] + p[2]), multiplied(turn, q), size * scale
    put_frame(slots, to, t, q, scale)


def place_inputs(work, n, at, new, moved, part, dt, before, earlier):
    """Puts the frames of inputs into their slots as they are `part` of the way from the update before to this one: Newton's divided
    differences over the last four updates, which took `dt`, `before` and `earlier` seconds (0: there was none)."""
    springs, kept, slots = SPRING_SET(work, at), work.memory[n], work.local
    tau = part * dt
    bend, twist = 0.0, 0.0
    if before > 0.0 and dt < LONG and before < LONG:
        bend = tau * (tau - dt)
        if earlier > 0.0 and earlier < LONG:
            twist = bend * (tau + before) / (dt + before + earlier)
    for k in range(springs.inputs):
        now, was, to = new + INPUT * k, moved + INPUT * k, FRAME * k
        if part >= 1.0:
            for c in range(8):
                slots[to + c] = kept[now + c]
        else:
            size = 0.0
            for c in range(8):
                x = kept[was + c] + tau * kept[now + 8 + c] + bend * kept[now + 16 + c]
                x += twist * (kept[now + 16 + c] - kept[was + 16 + c])
                slots[to + c] = x
                if c >= 3 and c < 7:
                    size += x * x
            size = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
            for c in range(3, 7):
                slots[to + c] *= size


def turn_difference(kept, was, to, turn):
    """How fast a frame changed, in another model space."""
    put_frame(
        kept,
        to,
        turned(turn, frame_place(kept, was)),
        multiplied(turn, frame_rotation(kept, was)),
        kept[was + 7],
    )


def place_collider(work, n, at, k, room):
    """Where a collider is."""
    springs, kept, slots = SPRING_SET(work, at), work.memory[n], work.local
    slot, to = springs.collider[k, 0], room + FRAME * k
    here = (springs.shape[k, 0], springs.shape[k, 1], springs.shape[k, 2])
    way = (springs.shape[k, 3], springs.shape[k, 4], springs.shape[k, 5])
    if slot >= 0:
        p, q, size = (
            frame_place(slots, FRAME * slot),
            frame_rotation(slots, FRAME * slot),
            slots[FRAME * slot + 7],
        )
        here = turned(q, (size * here[0], size * here[1], size * here[2]))
        here, way = (here[0] + p[0], here[1] + p[1], here[2] + p[2]), turned(q, way)
        if springs.collider[k, 1] != PLANE:
            way = (size * way[0], size * way[1], size * way[2])
    kept[to], kept[to + 1], kept[to + 2] = here[0], here[1], here[2]
    kept[to + 3], kept[to + 4], kept[to + 5] = way[0], way[1], way[2]
    whole = way[0] * way[0] + way[1] * way[1] + way[2] * way[2]
    kept[to + 6] = 1.0 / whole if whole > 1e-30 else 0.0


def gather(work, top, joints, parents):
    """What the joints of a block hang on, and their own translations and scales, in rows of 16. Their numbers lie at `joints`, those of the
    slots they hang on at `parents`; who hangs on the same lane of the block before finds its frame there."""
    rows, Jp, slots, g, ints = work.stack, work.Jp, work.local, work.model, work.ints
    for lane in range(16):
        j, hangs = max(ints[joints + lane], 0), ints[parents + lane]
        if hangs >= 0:
            above = FRAME * hangs
            g[lane], g[16 + lane], g[32 + lane] = slots[above], slots[above + 1], slots[above + 2]
            g[48 + lane], g[64 + lane] = slots[above + 3], slots[above + 4]
            g[80 + lane], g[96 + lane] = slots[above + 5], slots[above + 6]
            g[112 + lane] = slots[above + 7]
        elif hangs == MODEL:
            g[lane], g[16 + lane], g[32 + lane] = 0.0, 0.0, 0.0
            g[48 + lane], g[64 + lane], g[80 + lane] = 0.0, 0.0, 0.0
            g[96 + lane], g[112 + lane] = 1.0, 1.0
        at = top + j
        g[128 + lane], g[144 + lane], g[160 + lane] = rows[at], rows[at + Jp], rows[at + 2 * Jp]
        g[176 + lane] = (rows[at + 7 * Jp] + rows[at + 8 * Jp] + rows[at + 9 * Jp]) * THIRD


def gather_centers(work, centers):
    """The frames of the centers of a block, in rows of 16 behind the slots."""
    slots, ints, first = work.local, work.ints, FRAME * work.Jp
    for lane in range(16):
        center, to = FRAME * ints[centers + lane], first + lane
        for c in range(8):
            slots[to + 16 * c] = slots[center + c] if center >= 0 else (1.0 if c > 5 else 0.0)


def scatter(work, top, joints, places, last, weight):
    """Puts the frames of joints of a block into their slots, where somebody asks for them; in the `last` pass turns them in the pose."""
    rows, Jp, slots, g, ints = work.stack, work.Jp, work.local, work.model, work.ints
    for lane in range(16):
        j, own = ints[joints + lane], ints[places + lane]
        if own >= 0:
            to = FRAME * own
            slots[to], slots[to + 1], slots[to + 2] = g[lane], g[16 + lane], g[32 + lane]
            slots[to + 3], slots[to + 4] = g[48 + lane], g[64 + lane]
            slots[to + 5], slots[to + 6] = g[80 + lane], g[96 + lane]
            slots[to + 7] = g[112 + lane]
        if last and j >= 0:
            if weight < 1.0:
                q = (g[128 + lane], g[144 + lane], g[160 + lane], g[176 + lane])
                put_rotation(rows, top, Jp, j, q, weight)
            else:
                at = top + 3 * Jp + j
                rows[at], rows[at + Jp] = g[128 + lane], g[144 + lane]
                rows[at + 2 * Jp], rows[at + 3 * Jp] = g[160 + lane], g[176 + lane]


def solve(work, n, top, at, state, room, part, keeps, last, weight):
    """One pass over all blocks from the tails at `state`: a whole step (`part` 1), a part of one, or at rest (below zero). `keeps` the
    tails; the `last` pass turns the joints of the pose."""
    springs, kept, g, vectors = SPRING_SET(work, at), work.memory[n], work.model, work.vectors[n]
    floats, hangs, ints, centers = work.floats, work.local, work.ints, FRAME * work.Jp
    blocks, frames, colliders, world = springs.blocks, springs.frames, springs.colliders, springs.vectors
    # Fields lie one behind the other (`SPRING_SET`): read so they cost less.
    lane, constants = at + 1 + SINGLE, ints[at] + SINGLE_FLOATS
    lists = lane + 80 * blocks
    touched = lists + 3 * (blocks + frames)
    hits = touched + 3 * colliders
    shapes = constants + BLOCK_CONSTANTS * blocks
    radii = shapes + FRAME * colliders
    f, c = springs.inputs, 0
    for b in range(blocks):
        while f < frames and springs.frame[f, 2] <= b:
            pose_frame(work, top, at, f, hangs, FRAME * f)
            f += 1
        while c < colliders and ints[touched + 3 * c + 2] <= b:
            place_collider(work, n, at, c, room)
            c += 1
        joints, places = lane + 16 * b, lane + 16 * (blocks + b)
        gather(work, top, joints, lane + 16 * (2 * blocks + b))
        k, s, kind = constants + BLOCK_CONSTANTS * b, state + BLOCK_STATE * b, ints[lists + 3 * b + 2]
        centered = kind == CENTERS or kind == CENTERS + LIMITS
        if centered:
            gather_centers(work, lane + 16 * (3 * blocks + b))
        if part < 0.0:
            if centered:
                settle_centered.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
            else:
                settle.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
        else:
            if centered:
                begin_centered.each(
                    0, 16, 16, g, hangs, centers, floats, k, kept, s, vectors, world, 1.0 / TICKS, part
                )
            else:
                begin.each(
                    0, 16, 16, g, hangs, centers, floats, k, kept, s, vectors, world, 1.0 / TICKS, part
                )
            first = ints[lists + 3 * b]
            for h in range(first, first + ints[lists + 3 * b + 1]):
                hit = ints[hits + h]
                touch, there, round = (
                    ints[touched + 3 * hit + 1],
                    room + FRAME * hit,
                    shapes + FRAME * hit + 6,
                )
                if touch == PLANE:
                    collide_plane.each(0, 16, 16, g, kept, there, floats, radii + 16 * h)
                elif touch == SPHERE:
                    collide_sphere.each(0, 16, 16, g, kept, there, floats, round, radii + 16 * h)
                else:
                    collide.each(0, 16, 16, g, kept, there, floats, round, radii + 16 * h)
            if kind >= LIMITS:
                finish_limited.each(0, 16, 16, g, floats, k)
            else:
                finish.each(0, 16, 16, g, floats, k)
            if keeps:
                if centered:
                    keep_centered.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
                else:
                    keep.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
        scatter(work, top, joints, places, last, weight)


def carry_tails(work, n, at, tails, here, moved):
    """Takes tails along with what their chains hang on, from where that was (`moved`) to where it is (`here`)."""
    springs, kept = SPRING_SET(work, at), work.memory[n]
    for b in range(springs.blocks):
        for lane in range(16):
            root, s = springs.lane_root[b, lane], tails + BLOCK_STATE * b + lane
            if root >= 0 and springs.lane_center[b, lane] < 0:
                was, now = moved + INPUT * root, here + INPUT * root
                p, q, r = frame_place(kept, was), frame_rotation(kept, was), frame_rotation(kept, now)
                more = multiplied(r, (-q[0], -q[1], -q[2], q[3]))
                tail = turned(more, (kept[s] - p[0], kept[s + 16] - p[1], kept[s + 32] - p[2]))
                went = turned(more, (kept[s + 48], kept[s + 64], kept[s + 80]))
                kept[s], kept[s + 16], kept[s + 32] = (
                    tail[0] + kept[now],
                    tail[1] + kept[now + 1],
                    tail[2] + kept[now + 2],
                )
                kept[s + 48], kept[s + 64], kept[s + 80] = went[0], went[1], went[2]


def gone_along(vectors, header, dt, size):
    """Whether an instance went or turned too far to have walked."""
    t, w = (vectors[header + 2], vectors[header + 3], vectors[header + 4]), abs(vectors[header + 8])
    most = size * (JUMP + FAST * dt)
    if not t[0] * t[0] + t[1] * t[1] + t[2] * t[2] <= most * most:
        return True
    # The angle of a turn is at least four times the sine of a quarter of it.
    return 2.0 * math.sqrt(max(2.0 - 2.0 * w, 0.0)) > SPIN + FASTEST_SPIN * dt


def cut_to(kept, was, now, shift, turn, dt, size):
    """How model space moved, as a shift and a turn, with a body that was cut to where it is: as if it had gone on from where it was. `was` is
    its frame before, `now` the one of this update."""
    p, q, v = frame_place(kept, was), frame_rotation(kept, was), frame_place(kept, was + 8)
    r = frame_rotation(kept, was + 8)
    q = (q[0] + r[0] * dt, q[1] + r[1] * dt, q[2] + r[2] * dt, q[3] + r[3] * dt)
    w = 1.0 / math.sqrt(max(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1e-30))
    q = multiplied(turn, (q[0] * w, q[1] * w, q[2] * w, q[3] * w))
    to = turned(turn, (p[0] + v[0] * dt, p[1] + v[1] * dt, p[2] + v[2] * dt))
    to = (to[0] + shift[0], to[1] + shift[1], to[2] + shift[2])
    here, r = frame_place(kept, now), frame_rotation(kept, now)
    x, y, z = here[0] - to[0], here[1] - to[1], here[2] - to[2]
    w, most = abs(q[0] * r[0] + q[1] * r[1] + q[2] * r[2] + q[3] * r[3]), size * (CUT + QUICK * dt)
    spun = 2.0 * math.sqrt(max(2.0 - 2.0 * w, 0.0)) > CUT_TURN + QUICK_TURN * dt
    if x * x + y * y + z * z > most * most or spun:
        more = multiplied(r, (-q[0], -q[1], -q[2], q[3]))
        to, turn = (
            turned(more, (to[0] - shift[0], to[1] - shift[1], to[2] - shift[2])),
            multiplied(more, turn),
        )
        shift = (here[0] - to[0], here[1] - to[1], here[2] - to[2])
    return (shift[0], shift[1], shift[2], turn[0], turn[1], turn[2], turn[3])


def run_springs(work, n, top, at, time, weight):
    springs, kept, vectors = SPRING_SET(work, at), work.memory[n], work.vectors[n]
    if springs.needs > len(work.parents):
        return
    memory, header, blocks = springs.memory, springs.header, springs.blocks
    half = half_size(blocks, springs.inputs)
    moves = memory + 2 + 2 * half
    moved = moves + FRAME
    room = moved + INPUT * springs.inputs
    # In a shader all lanes know the side, and one of them writes: what is read comes before what is written.
    stamp, written, side = vectors[header], kept[memory], kept[memory + 1]
    gap, fresh = stamp - written, time < 1.0 and written != stamp
    side = 1.0 - side if fresh else side
    if fresh:
        if not (gap == 1.0 or gap == 2.0 - ROUND):
            kept[memory + 2 + (half if side == 0.0 else 0)] = 0.0
        kept[memory], kept[memory + 1] = stamp, side
    new = memory + 2 + (half if side != 0.0 else 0)
    old = memory + 2 + (0 if side != 0.0 else half)
    inputs = HEAD + BLOCK_STATE * blocks
    for k in range(springs.inputs):
        pose_frame(work, top, at, k, work.local, FRAME * k)
    if time >= 1.0:  # nothing is kept: as the tails are
        if kept[new] != 0.0:
            solve(work, n, top, at, new + HEAD, room, 0.0, False, True, weight)
        return
    here = new + inputs
    for k in range(springs.inputs):
        for c in range(8):
            kept[here + INPUT * k + c] = work.local[FRAME * k + c]
    if kept[old] == 0.0:
        for k in range(springs.inputs):
            for c in range(8, 24):
                kept[here + INPUT * k + c] = 0.0
        kept[new], kept[new + 1], kept[new + 2] = 1.0, 0.0, 0.0
        solve(work, n, top, at, new + HEAD, room, -1.0, True, True, weight)
        return
    dt, before, earlier = max(vectors[header + 1], 0.0), kept[old + 1], kept[old + 2]
    carried = gone_along(vectors, header, dt, springs.size)
    shift, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    if not carried:
        shift = (vectors[header + 2], vectors[header + 3], vectors[header + 4])
        turn = (vectors[header + 5], vectors[header + 6], vectors[header + 7], vectors[header + 8])
    if springs.body >= 0:
        body = INPUT * springs.body
        m = cut_to(kept, old + inputs + body, here + body, shift, turn, dt, springs.size)
        shift, turn = (m[0], m[1], m[2]), (m[3], m[4], m[5], m[6])
    put_frame(kept, moves, shift, turn, 1.0)
    for b in range(blocks):
        move_tails.each(
            0,
            16,
            16,
            kept,
            old + HEAD + BLOCK_STATE * b,
            new + HEAD + BLOCK_STATE * b,
            work.floats,
            work.ints[at] + SINGLE_FLOATS + BLOCK_CONSTANTS * b,
            moves,
            kept,
        )
    cut = vectors[header + 11] != 0.0
    quick = 1.0 / dt if dt > 0.0 else 0.0
    bend = 1.0 / (dt + before) if before > 0.0 else 0.0
    for k in range(springs.inputs):
        was, to, now = old + inputs + INPUT * k, moved + INPUT * k, here + INPUT * k
        p = turned(turn, frame_place(kept, was))
        p = (p[0] + shift[0], p[1] + shift[1], p[2] + shift[2])
        put_frame(kept, to, p, multiplied(turn, frame_rotation(kept, was)), kept[was + 7])
        turn_difference(kept, was + 8, to + 8, turn)
        turn_difference(kept, was + 16, to + 16, turn)
        # On the side of what it was: rotations change without a jump.
        same = 0.0
        for c in range(3, 7):
            same += kept[now + c] * kept[to + c]
        if same < 0.0:
            for c in range(3, 7):
                kept[now + c] = -kept[now + c]
        for c in range(8):
            if dt > 0.0:
                speed = (kept[now + c] - kept[to + c]) * quick
                kept[now + 8 + c] = speed
                kept[now + 16 + c] = (speed - kept[to + 8 + c]) * bend
            else:
                kept[now + 8 + c], kept[now + 16 + c] = kept[to + 8 + c], kept[to + 16 + c]
    if cut:  # they were here all the time
        carry_tails(work, n, at, new + HEAD, here, moved)
        for k in range(springs.inputs):
            for c in range(8):
                kept[moved + INPUT * k + c] = kept[here + INPUT * k + c]
            for c in range(8, 24):
                kept[moved + INPUT * k + c], kept[here + INPUT * k + c] = 0.0, 0.0
        before, earlier = 0.0, 0.0
    kept[new], kept[new + 1] = 1.0, 0.0 if cut else (dt if dt > 0.0 else before)
    kept[new + 2] = before if dt > 0.0 else earlier
    steps, part = max(int(vectors[header + 9]), 0), vectors[header + 10]
    for k in range(max(steps - MOST_STEPS, 0), steps):
        late = (steps - 1 - k + part) / TICKS
        there = 1.0 if late <= 0.0 else max(1.0 - late / dt, 0.0) if dt > 0.0 else 1.0
        place_inputs(work, n, at, here, moved, there, dt, before, earlier)
        solve(work, n, top, at, new + HEAD, room, 1.0, True, part == 0.0 and k == steps - 1, weight)
    if part > 0.0 or steps == 0:
        place_inputs(work, n, at, here, moved, 1.0, dt, before, earlier)
        solve(work, n, top, at, new + HEAD, room, part, False, True, weight)


SPRINGS = Operation(
    "SPRINGS", 20, "joints that swing: hair, tails, skirts", 1, 1, SPRING_SET, "1: keeps nothing", "how much of the way",
    run_springs, reference_springs,
    (
        settle, settle_centered, begin, begin_centered, collide, collide_sphere, collide_plane, finish, finish_limited, keep, keep_centered,
        move_tails,
    ),
)  # fmt: skip
