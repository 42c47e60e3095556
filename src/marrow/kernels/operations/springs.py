"""`SPRINGS`: chains that swing: hair, tails, skirts (VRM's spring bones).

A joint has a *tail*: the next joint, or a place behind it. In each step of 1/60 s the tail goes on as it went, is drawn back to
where it is at rest and down, is put as far from its joint as it is, out of colliders, and the joint turns to it.

Steps are made at the ticks of the instance's clock, whatever the frame rate. What the joints hang on (*inputs*: heads, chests, what
colliders move with) is known when updates are made: between them it is where a cubic through the last four has it. Between two
steps a part of a step is shown, and not kept. So all frame rates come to the same.

Joints are solved in *blocks* of 16 that do not depend on each other (`spring_lanes`). *Slots* are the frames of what they hang on:
inputs first, then others that hang on joints themselves, then the joints.

What is kept: the number of the update, which half of the rest is this update's, and two halves of: whether there is anything, the
seconds of this update and the one before, the tails of blocks, the frames of inputs and their first two differences. Behind that room for the
frames of inputs as they were, and for where colliders are.
"""

from __future__ import annotations

import math

from marrow.kernels.language.constants import ConstantField, Constants, column, memory, number, whole
from marrow.kernels.operations.limbs import HEADER, ROUND, TICKS
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
    finish,
    keep,
    keep_centered,
    move_tails,
    settle,
    settle_centered,
)
from marrow.kernels.operations.springs_reference import CUT, CUT_TURN, QUICK, QUICK_TURN, reference_springs

__all__ = ["SPRINGS", "SPRING_SET", "WORLD_VECTORS", "kept_size"]

WORLD_VECTORS = 12
"""The axes of the world and the wind, in model space."""
BLOCK_STATE, BLOCK_CONSTANTS = 96, 256
SINGLE, SINGLE_FLOATS = 11, 1
"""Whole numbers of the constants that there is one of, and floats."""
HEAD = 16
"""Where in a half of what is kept the tails begin."""
FRAME = 8
INPUT = 24
"""What is kept of an input: its frame, how fast it changed in the last update, and how fast that did."""
LONG = 0.15
"""Seconds of an update that is no curve any more: inputs go straight from one to the next."""
MOST_STEPS = 240
"""Steps of one update: of a longer one the last."""
JUMP, FAST = 1.0, 30.0
"""Who goes further in an update than so many metres, and so many a second, has been put there: its springs go with it."""
THIRD = 1.0 / 3.0
SPIN, FASTEST_SPIN = 1.0, 30.0
"""The same for turns, in radians."""


def half_size(blocks, inputs):
    return HEAD + BLOCK_STATE * blocks + INPUT * inputs


def kept_size(blocks, inputs, colliders):
    """Numbers that an instance keeps."""
    return 2 + 2 * half_size(blocks, inputs) + FRAME + INPUT * inputs + FRAME * colliders


def set_memory(work, springs):
    return kept_size(springs.blocks, springs.inputs, springs.colliders)


def within(work, springs):
    """Whether all numbers that name something name what is there."""
    J, slots = len(work.parents), springs.frames + springs.joints
    if springs.inputs < 0 or springs.frames < springs.inputs or springs.joints < 1 or springs.needs < 0:
        return False
    if springs.blocks < 1 or springs.blocks > springs.joints:
        return False
    if springs.colliders < 0 or springs.hits < 0 or slots > springs.needs or springs.body >= springs.inputs:
        return False
    if springs.needs > J:  # a level of detail that has none of them
        return True
    for k in range(springs.frames):
        j, p, b = springs.frame[k, 0], springs.frame[k, 1], springs.frame[k, 2]
        if j < 0 or j >= J or p >= slots or b < 0:
            return False
        if k < springs.inputs and p >= k:
            return False
    for b in range(springs.blocks):
        if (
            springs.lists[b, 0] < 0
            or springs.lists[b, 1] < 0
            or springs.lists[b, 0] + springs.lists[b, 1] > springs.hits
        ):
            return False
        for lane in range(16):
            at = 16 * b + lane
            j, p, c, own = (
                springs.lane_joint[b, lane],
                springs.lane_parent[b, lane],
                springs.lane_center[b, lane],
                springs.lane_slot[b, lane],
            )
            if j >= J or p >= slots or c >= slots or own >= slots or (j >= 0 and own < 0) or at < 0:
                return False
    for k in range(springs.colliders):
        if springs.collider[k, 0] >= slots or springs.collider[k, 2] < 0:
            return False
    sound = True
    for k in range(springs.hits):
        if springs.hit[k] < 0 or springs.hit[k] >= springs.colliders:
            sound = False
    return sound


def _wholes(meaning: str, width: int, each: str) -> ConstantField:
    return ConstantField(meaning, "i", width, each)


SPRING_SET = Constants(
    "springs",
    "joints that swing, what they hang on and what they hit",
    (within,),
    needs=whole("as many joints as a level of detail must have"),
    blocks=whole("blocks of 16 joints"),
    joints=whole("joints that swing"),
    inputs=whole("frames that the pose has, parents first"),
    frames=whole("these, and those that hang on joints that swing"),
    colliders=whole("colliders"),
    hits=whole("colliders of all blocks"),
    body=whole("the input that the body travels with (below zero: none)"),
    memory=memory("what is kept", set_memory),
    header=column("the header of the instance", HEADER),
    vectors=column("the axes of the world and the wind, in model space", WORLD_VECTORS),
    size=number("how large its metre is: 100 for a rig in centimetres"),
    lane_joint=_wholes("joints (below zero: none)", 16, "blocks"),
    lane_slot=_wholes("their slots", 16, "blocks"),
    lane_parent=_wholes("the slots they hang on (below zero: model space)", 16, "blocks"),
    lane_center=_wholes("the slots of their centers (below zero: the world)", 16, "blocks"),
    lists=_wholes("the first of its hits and how many, and whether it has centers", 3, "blocks"),
    frame=_wholes("joint, the slot it hangs on (below zero: model space), the block before which it is known", 3, "frames"),
    collider=_wholes("the slot it moves with, whether it is a plane, the block before which it is known", 3, "colliders"),
    hit=_wholes("colliders", 1, "hits"),
    lanes=number("rows of 16 numbers, see `spring_lanes`", BLOCK_CONSTANTS, each="blocks"),
    shape=number("offset, way to the other end (or normal), radius, side (1: outside, -1: inside)", 8, each="colliders"),
    radii=number("radius of each joint of the block, far below zero for those that it does not hit", 16, each="hits"),
)  # fmt: skip


def put_frame(slots, at, p, q, scale):
    slots[at], slots[at + 1], slots[at + 2] = p[0], p[1], p[2]
    slots[at + 3], slots[at + 4], slots[at + 5], slots[at + 6] = q[0], q[1], q[2], q[3]
    slots[at + 7] = scale


def frame_place(slots, at):
    return (slots[at], slots[at + 1], slots[at + 2])


def frame_rotation(slots, at):
    return (slots[at + 3], slots[at + 4], slots[at + 5], slots[at + 6])


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
        if springs.collider[k, 1] == 0:
            way = (size * way[0], size * way[1], size * way[2])
    kept[to], kept[to + 1], kept[to + 2] = here[0], here[1], here[2]
    kept[to + 3], kept[to + 4], kept[to + 5] = way[0], way[1], way[2]
    whole = way[0] * way[0] + way[1] * way[1] + way[2] * way[2]
    kept[to + 6] = 1.0 / whole if whole > 1e-30 else 0.0


def gather(work, top, joints, parents):
    """What the joints of a block hang on, and their own translations and scales, in rows of 16. Their numbers lie at `joints`, those of the
    slots they hang on at `parents`."""
    rows, Jp, slots, g, ints = work.stack, work.Jp, work.local, work.model, work.ints
    for lane in range(16):
        j, above = max(ints[joints + lane], 0), FRAME * ints[parents + lane]
        if above >= 0:
            g[lane], g[16 + lane], g[32 + lane] = slots[above], slots[above + 1], slots[above + 2]
            g[48 + lane], g[64 + lane] = slots[above + 3], slots[above + 4]
            g[80 + lane], g[96 + lane] = slots[above + 5], slots[above + 6]
            g[112 + lane] = slots[above + 7]
        else:
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
    """Puts the frames of the joints of a block into their slots; in the `last` pass turns them in the pose."""
    rows, Jp, slots, g, ints = work.stack, work.Jp, work.local, work.model, work.ints
    for lane in range(16):
        j, to = ints[joints + lane], FRAME * ints[places + lane]
        if j >= 0:
            slots[to], slots[to + 1], slots[to + 2] = g[lane], g[16 + lane], g[32 + lane]
            slots[to + 3], slots[to + 4] = g[48 + lane], g[64 + lane]
            slots[to + 5], slots[to + 6] = g[80 + lane], g[96 + lane]
            slots[to + 7] = g[224 + lane]
            if last:
                if weight < 1.0:
                    q = (g[112 + lane], g[128 + lane], g[144 + lane], g[160 + lane])
                    put_rotation(rows, top, Jp, j, q, weight)
                else:
                    at = top + 3 * Jp + j
                    rows[at], rows[at + Jp] = g[112 + lane], g[128 + lane]
                    rows[at + 2 * Jp], rows[at + 3 * Jp] = g[144 + lane], g[160 + lane]


def solve(work, n, top, at, state, room, part, keeps, last, weight):
    """One pass over all blocks from the tails at `state`: a whole step (`part` 1), a part of one, or at rest (below zero). `keeps` the
    tails; the `last` pass turns the joints of the pose."""
    springs, kept, g, vectors = SPRING_SET(work, at), work.memory[n], work.model, work.vectors[n]
    floats, hangs, ints, centers = work.floats, work.local, work.ints, FRAME * work.Jp
    blocks, frames, colliders, world = springs.blocks, springs.frames, springs.colliders, springs.vectors
    # Fields lie one behind the other (`SPRING_SET`): read so they cost less.
    lane, constants = at + 1 + SINGLE, ints[at] + SINGLE_FLOATS
    lists = lane + 64 * blocks
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
        k, s, centered = (
            constants + BLOCK_CONSTANTS * b,
            state + BLOCK_STATE * b,
            ints[lists + 3 * b + 2] != 0,
        )
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
                if ints[touched + 3 * hit + 1] != 0:
                    collide_plane.each(0, 16, 16, g, kept, room + FRAME * hit, floats, radii + 16 * h)
                else:
                    collide.each(
                        0,
                        16,
                        16,
                        g,
                        kept,
                        room + FRAME * hit,
                        floats,
                        shapes + FRAME * hit + 6,
                        radii + 16 * h,
                    )
            finish.each(0, 16, 16, g, floats, k)
            if keeps:
                if centered:
                    keep_centered.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
                else:
                    keep.each(0, 16, 16, g, hangs, centers, floats, k, kept, s)
        scatter(work, top, joints, places, last, weight)


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
    q = multiplied(turn, q)
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
                speed = (kept[now + c] - kept[to + c]) / dt
                kept[now + 8 + c] = speed
                kept[now + 16 + c] = (speed - kept[to + 8 + c]) / (dt + before) if before > 0.0 else 0.0
            else:
                kept[now + 8 + c], kept[now + 16 + c] = kept[to + 8 + c], kept[to + 16 + c]
    kept[new], kept[new + 1] = 1.0, (dt if dt > 0.0 else before)
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
    (settle, settle_centered, begin, begin_centered, collide, collide_plane, finish, keep, keep_centered, move_tails),
)  # fmt: skip
