"""The control kernel: one pass over the instances of a crowd, from parameters to pose programs.

For every instance: which states its machines are in, how much of each node is seen, where its clips are, what events they
pass, how its root travels; then the pose program that says all this to the pose kernel. Nodes are visited parents first,
and what is not seen is skipped, so an instance costs what it uses. The program is written children first.

The functions are plain Python. `update_graph` is their compiled form, `update_graph_plainly` the same without a compiler:
a thousand times slower, and good to step through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels import control_machine, control_motion
from marrow.kernels.compiler import kernel
from marrow.kernels.control_machine import NEVER, advance_machine, decide, note_remaining
from marrow.kernels.control_motion import add_travel, advance_group, advance_leaf, composed, fire, travelled
from marrow.kernels.control_tables import (
    ADDITIVE,
    BLEND,
    CLIP,
    CLOCK,
    COUNTER,
    FRESH,
    GHOST,
    INERT_SECONDS,
    INERT_SIDE,
    INERT_TIME,
    INTERVAL,
    LAYER,
    LERP,
    MACHINE,
    MAX_EVENTS,
    MAX_STEPS,
    OLD_SECONDS,
    OLD_TIME,
    PENDING,
    POSE,
    Q_CLIP,
    Q_IN,
    Q_LOOP,
    Q_OUT,
    Q_RATE,
    Q_START,
    QUEUE_COLUMNS,
    SIDE,
    SLOT,
    SLOT_HEAD,
    SLOT_PACE,
    SLOT_PROGRESS,
    SLOT_QUEUE,
    SLOT_QUEUED,
    SLOT_SECONDS,
    SLOT_SEEN,
    SPACE1,
    SPACE2,
    SPEED,
    STARTED,
    STATE_COLUMNS,
    STORED,
    TARGET,
    TRAVEL,
    V_CLIP,
    V_FRESH,
    V_FROM,
    V_LOOP,
    V_OUT,
    V_RATE,
    V_TIME,
    V_WEIGHT,
    VOICE_COLUMNS,
    VOICES,
    WEIGHT,
)
from marrow.kernels.linking import linked
from marrow.kernels.program import (
    ACCUMULATE,
    INERTIA,
    LOAD,
    MERGE,
    SAMPLE,
    SCALE,
    START_INERTIA,
    STORE,
)
from marrow.kernels.program import BLEND as BLEND_POSES

__all__ = ["update_graph", "update_graph_plainly"]

LOOK_BACK = 0.004
"""Seconds between the two moments from which an inertialised transition takes its speed."""


TINY = 1e-7
"""Shares below what a float32 can tell from nothing are nothing."""


def advance_parameters(tables, x, d):
    """Brings parameters towards what they were set to. What is not a number is not taken."""
    for p in range(len(tables.parameters)):
        parameter = tables.parameters[p]
        goal = x[parameter["target"]]
        column = parameter["value"]
        if parameter["kind"] == 2:
            continue
        if np.isnan(goal):
            goal = x[column]
        goal = min(max(goal, parameter["low"]), parameter["high"])
        gap = goal - x[column]
        if parameter["smoothing"] > 0.0 and abs(gap) > 1e-12:
            # 95 % of the way in `smoothing` seconds.
            goal = x[column] + gap * (1.0 - np.exp(-3.0 * d / parameter["smoothing"]))
        x[column] = goal


def settle_triggers(tables, x, dt):
    """A trigger that no transition took goes when its time is up."""
    for p in range(len(tables.parameters)):
        parameter = tables.parameters[p]
        if parameter["kind"] == 2 and x[parameter["value"]] != 0.0:
            x[parameter["target"]] -= dt
            if not x[parameter["target"]] > 0.0:
                x[parameter["value"]] = 0.0


def show(work, i, tick, parent, share):
    """Marks a node as a part of its parent's sum."""
    up, row = work[parent], work[i]
    row["weight"] = up["weight"] * share
    row["share"] = up["share"] * share
    row["pace"], row["travel"], row["loud"] = up["pace"], up["travel"] * share, up["loud"]
    row["seen"] = tick


def show_alone(work, i, tick, parent, share, travel):
    """Marks a node as a pose of its own, of which the parent shows `share`."""
    up, row = work[parent], work[i]
    row["weight"], row["share"] = up["weight"] * share, 1.0
    row["pace"], row["travel"], row["loud"] = up["pace"], up["travel"] * travel, up["loud"]
    row["seen"] = tick


def spread_line(tables, work, node, i, tick, value):
    """Shares of the points of a `BlendSpace1D`, which are in order."""
    space = tables.spaces[node["data"]]
    first, count = space["numbers"], node["count"]
    k = 0
    while k < count - 2 and value >= tables.numbers[first + k + 1]:
        k += 1
    if count == 1:
        show(work, tables.links[node["child"]], tick, i, 1.0)
        return
    a, b = tables.numbers[first + k], tables.numbers[first + k + 1]
    s = min(max((value - a) / (b - a), 0.0), 1.0)
    if s < 1.0 - TINY:
        show(work, tables.links[node["child"] + k], tick, i, 1.0 - s)
    if s > TINY:
        show(work, tables.links[node["child"] + k + 1], tick, i, s)


def spread_plane(tables, work, node, i, tick, x, y):
    """Shares of the points of a `BlendSpace2D`: barycentric in the triangle around `(x, y)`, or along the nearest edge."""
    space = tables.spaces[node["data"]]
    best, which, best_u, best_v = -1e300, -1, 0.0, 0.0
    for t in range(space["triangle_count"]):
        m = space["inverse"] + 6 * t
        dx, dy = x - tables.numbers[m], y - tables.numbers[m + 1]
        u = tables.numbers[m + 2] * dx + tables.numbers[m + 3] * dy
        v = tables.numbers[m + 4] * dx + tables.numbers[m + 5] * dy
        least = min(min(u, v), 1.0 - u - v)
        if least > best:
            best, which, best_u, best_v = least, t, u, v
            if least >= 0.0:
                break
    if which >= 0 and best >= -1e-12:
        corner = space["triangles"] + 3 * which
        u, v = max(best_u, 0.0), max(best_v, 0.0)
        w = max(1.0 - u - v, 0.0)
        total = u + v + w
        if w > TINY:
            show(work, tables.links[node["child"] + tables.links[corner]], tick, i, w / total)
        if u > TINY:
            show(work, tables.links[node["child"] + tables.links[corner + 1]], tick, i, u / total)
        if v > TINY:
            show(work, tables.links[node["child"] + tables.links[corner + 2]], tick, i, v / total)
        return
    nearest, edge, at = 1e300, -1, 0.0
    for e in range(space["edge_count"]):
        p = tables.links[space["edges"] + 2 * e]
        q = tables.links[space["edges"] + 2 * e + 1]
        ax, ay = tables.numbers[space["numbers"] + 2 * p], tables.numbers[space["numbers"] + 2 * p + 1]
        bx, by = tables.numbers[space["numbers"] + 2 * q] - ax, tables.numbers[space["numbers"] + 2 * q + 1] - ay
        s = min(max(((x - ax) * bx + (y - ay) * by) / (bx * bx + by * by), 0.0), 1.0)
        gap = (ax + s * bx - x) ** 2 + (ay + s * by - y) ** 2
        if gap < nearest:
            nearest, edge, at = gap, e, s
    if edge < 0:
        show(work, tables.links[node["child"]], tick, i, 1.0)
        return
    if at < 1.0 - TINY:
        show(work, tables.links[node["child"] + tables.links[space["edges"] + 2 * edge]], tick, i, 1.0 - at)
    if at > TINY:
        show(work, tables.links[node["child"] + tables.links[space["edges"] + 2 * edge + 1]], tick, i, at)


def blend_total(tables, x, node):
    total = 0.0
    for k in range(node["count"]):
        total += max(x[tables.links[node["data"] + k]], 0.0)
    return total


def advance_slot(tables, x, slot, pace, d, clock, n, events, count, limit, loud, travel, motion):
    """Moves the voices of a slot on; returns the number of events and how much of the slot is seen."""
    at = slot["at"]
    x[at + SLOT_PACE] = pace
    if x[at + TARGET] == 0.0 and x[at + SLOT_QUEUED] == 0.0 and x[at + SLOT_SEEN] == 0.0:
        return count, 0.0
    target = int(x[at + TARGET]) - 1
    if target >= 0:
        v = at + SLOT_HEAD + target * VOICE_COLUMNS
        speed = pace * x[v + V_RATE]
        duration = tables.clips[int(x[v + V_CLIP])]["duration"]
        left = duration - x[v + V_TIME] if speed > 0.0 else x[v + V_TIME]
        over = x[v + V_LOOP] == 0.0 and left <= x[v + V_OUT] * abs(speed) + 1e-9
        if x[at + SLOT_QUEUED] > 0.0 and (over or x[v + V_LOOP] != 0.0):
            begin_voice(x, at)
        elif over:
            release_slot(x, at, x[v + V_OUT])
    elif x[at + SLOT_QUEUED] > 0.0:
        begin_voice(x, at)
    target = int(x[at + TARGET]) - 1
    share = 1.0
    if x[at + SLOT_SECONDS] > 0.0:
        x[at + SLOT_PROGRESS] += d
        s = min(x[at + SLOT_PROGRESS] / x[at + SLOT_SECONDS], 1.0)
        share = s * s * (3.0 - 2.0 * s)
        if s >= 1.0:
            x[at + SLOT_SECONDS] = 0.0
    total = 0.0
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        if k != target and x[v + V_WEIGHT] <= 0.0:
            continue
        goal = 1.0 if k == target else 0.0
        x[v + V_WEIGHT] = x[v + V_FROM] + (goal - x[v + V_FROM]) * share
        total += x[v + V_WEIGHT]
        clip = int(x[v + V_CLIP])
        duration = tables.clips[clip]["duration"]
        speed = pace * x[v + V_RATE]
        before = x[v + V_TIME]
        after = before + d * speed
        loop = x[v + V_LOOP] != 0.0
        if not loop:
            after = min(max(after, 0.0), duration)
        if d > 0.0 and speed != 0.0:
            if loud > 0.0:
                count = fire(
                    tables, clip, before, after, loop, x[v + V_FRESH] != 0.0, speed, loud * x[v + V_WEIGHT], clock, n, events, count, limit
                )  # fmt: skip
            x[v + V_FRESH] = 0.0
        moved = travel * slot["root"] * x[v + V_WEIGHT]
        if moved > 0.0:
            if tables.clips[clip]["root"] >= 0 and after != before:
                add_travel(motion, moved, travelled(tables, clip, before, after, loop))
            else:
                motion[6] += moved
        if loop:
            after = after - np.floor(after / duration) * duration if duration > 0.0 else 0.0
        x[v + V_TIME] = after
    x[at + SLOT_SEEN] = total
    return count, min(total, 1.0)


def slots_wait(tables, x):
    """Seconds until the first slot has to begin to fade out what it plays."""
    soonest = NEVER
    for k in range(len(tables.slots)):
        at = tables.slots[k]["at"]
        target = int(x[at + TARGET]) - 1
        if target < 0:
            continue
        v = at + SLOT_HEAD + target * VOICE_COLUMNS
        speed = x[at + SLOT_PACE] * x[v + V_RATE]
        if x[v + V_LOOP] == 0.0 and speed != 0.0:
            left = tables.clips[int(x[v + V_CLIP])]["duration"] - x[v + V_TIME] if speed > 0.0 else x[v + V_TIME]
            wait = left / abs(speed) - x[v + V_OUT]
            if wait > 1e-9:
                soonest = min(soonest, wait)
    return soonest


def release_slot(x, at, seconds):
    """Fades out whatever plays in a slot."""
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        x[v + V_FROM] = x[v + V_WEIGHT]
    x[at + TARGET], x[at + SLOT_PROGRESS], x[at + SLOT_SECONDS] = 0.0, 0.0, max(seconds, 1e-9)


def begin_voice(x, at):
    """Takes the first clip that waits for a slot and fades it in over what plays."""
    quietest, chosen = 1e300, 0
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        x[v + V_FROM] = x[v + V_WEIGHT]
        if x[v + V_WEIGHT] < quietest:
            quietest, chosen = x[v + V_WEIGHT], k
    q = at + SLOT_QUEUE
    v = at + SLOT_HEAD + chosen * VOICE_COLUMNS
    x[v + V_CLIP], x[v + V_TIME], x[v + V_RATE] = x[q + Q_CLIP], x[q + Q_START], x[q + Q_RATE]
    x[v + V_LOOP], x[v + V_OUT], x[v + V_FRESH] = x[q + Q_LOOP], x[q + Q_OUT], 1.0
    x[v + V_WEIGHT] = x[v + V_FROM] = 0.0
    x[at + TARGET] = chosen + 1.0
    x[at + SLOT_PROGRESS], x[at + SLOT_SECONDS] = 0.0, max(x[q + Q_IN], 1e-9)
    waiting = int(x[at + SLOT_QUEUED])
    for k in range(QUEUE_COLUMNS * (waiting - 1)):
        x[q + k] = x[q + QUEUE_COLUMNS + k]
    x[at + SLOT_QUEUED] = waiting - 1.0


def advance(tables, x, work, tick, d, n, events, count, limit, motion):
    """Moves one instance on by `d` seconds and finds what is seen of every node."""
    clock = x[CLOCK]
    if d > 0.0:
        advance_parameters(tables, x, d)
    root = work[0]
    root["weight"] = root["share"] = root["pace"] = root["travel"] = root["loud"] = 1.0
    root["seen"] = tick
    for k in range(7):
        motion[k] = 0.0
    # np.int64 keeps the compiler from making a version of its own for each constant, here and below.
    i = np.int64(0)
    while i < len(tables.nodes):
        node = tables.nodes[i]
        if work[i]["seen"] != tick:
            i = node["end"]
            continue
        kind = node["kind"]
        if kind == CLIP:
            leaf = tables.leaves[node["data"]]
            if leaf["group"] < 0:
                count = advance_leaf(tables, x, work, leaf, i, d, clock, n, events, count, limit, motion)
        elif kind == POSE:
            motion[6] += work[i]["travel"]
        elif kind == BLEND:
            total = blend_total(tables, x, node)
            if total > TINY:
                for k in range(node["count"]):
                    share = max(x[tables.links[node["data"] + k]], 0.0) / total
                    if share > TINY:
                        show(work, tables.links[node["child"] + k], tick, i, share)
            else:
                show(work, tables.links[node["child"]], tick, i, 1.0)
        elif kind == LERP:
            share = min(max(x[node["ref"]], 0.0), 1.0)
            if share < 1.0 - TINY:
                show(work, tables.links[node["child"]], tick, i, 1.0 - share)
            if share > TINY:
                show(work, tables.links[node["child"] + 1], tick, i, share)
        elif kind == SPACE1:
            spread_line(tables, work, node, i, tick, x[node["ref"]])
        elif kind == SPACE2:
            spread_plane(tables, work, node, i, tick, x[node["ref"]], x[node["ref2"]])
        elif kind == SPEED:
            show(work, i + 1, tick, i, 1.0)
            work[i + 1]["pace"] = work[i]["pace"] * x[node["ref"]]
        elif kind == MACHINE:
            machine = tables.machines[node["data"]]
            advance_machine(tables, x, machine, d)
            inner = machine["memory"] >= 0
            started = x[machine["at"] + STARTED] != 0.0
            for s in range(machine["count"]):
                w = machine["weights"] + s * STATE_COLUMNS
                child = tables.states[machine["first"] + s]["node"]
                share = x[w + WEIGHT]
                if share > 0.0:
                    show(work, child, tick, i, share)
                    if inner:
                        work[child]["share"] = share
                elif started and x[w + GHOST] > 0.0:
                    show(work, child, tick, i, x[w + GHOST])
                    work[child]["share"] = x[w + GHOST]
                    work[child]["loud"] = work[child]["travel"] = 0.0
        elif kind == LAYER:
            layer = tables.layers[node["data"]]
            share = min(max(x[node["ref"]], 0.0), 1.0)
            show_alone(work, i + 1, tick, i, 1.0, 1.0 - share * layer["root"])
            if share > 0.0:
                show_alone(work, tables.links[node["child"] + 1], tick, i, share, share * layer["root"])
        elif kind == ADDITIVE:
            show_alone(work, i + 1, tick, i, 1.0, 1.0)
            if x[node["ref"]] != 0.0:
                show_alone(work, tables.links[node["child"] + 1], tick, i, min(abs(x[node["ref"]]), 1.0), 0.0)
        elif kind == SLOT:
            slot = tables.slots[node["data"]]
            mine = work[i]
            count, seen = advance_slot(
                tables, x, slot, mine["pace"], d, clock, n, events, count, limit, mine["loud"] * mine["weight"], mine["travel"], motion
            )  # fmt: skip
            show_alone(work, i + 1, tick, i, 1.0, 1.0 - seen * slot["root"])
        else:
            show_alone(work, i + 1, tick, i, 1.0, 1.0)
        i += 1
    for g in range(len(tables.groups)):
        count = advance_group(tables, x, work, tables.groups[g], tick, d, clock, n, events, count, limit, motion)
    for k in range(len(tables.slots)):
        if work[tables.slots[k]["node"]]["seen"] != tick:
            x[tables.slots[k]["at"] + SLOT_PACE] = 0.0
    note_remaining(tables, x, work, tick, d)
    x[CLOCK] = clock + d
    return count


def put(ops, cursor, code, argument, time, weight):
    """Writes one operation of a pose program."""
    row = ops[cursor]
    row["code"], row["argument"], row["time"], row["weight"] = code, argument, time, weight
    return cursor + 1


def join(ops, cursor, sums, region, share):
    """Makes the pose on top of the stack a part of the sum it belongs to."""
    if sums[region] == 0:
        sums[region] = 1
        return put(ops, cursor, np.int64(SCALE), np.int64(0), 0.0, share) if share < 1.0 else cursor
    return put(ops, cursor, np.int64(MERGE), np.int64(0), 0.0, share)


def write_range(tables, x, work, tick, sums, first, last, back, n, vectors, ops, cursor):
    """Writes the program of the nodes from `first` to `last` in the order children first, `back` seconds ago."""
    for p in range(first, last):
        i = tables.order[p]
        if work[i]["seen"] != tick:
            continue
        node = tables.nodes[i]
        kind = node["kind"]
        region = node["region"]
        if kind <= POSE:
            leaf = tables.leaves[node["data"]]
            time = leaf["start"] if kind == POSE else x[leaf["time"]]
            share = work[i]["share"]
            code = np.int64(SAMPLE) if sums[region] == 0 else np.int64(ACCUMULATE)
            sums[region] = 1
            if back > 0.0 and kind == CLIP and work[i]["speed"] != 0.0:
                step = back * work[i]["speed"]
                if 0.0 <= time - step <= tables.clips[leaf["clip"]]["duration"]:
                    time -= step
                else:
                    # Before its beginning a clip goes on as it goes on after it: 2 p(t) - p(t + h).
                    cursor = put(ops, cursor, code, leaf["clip"], time, 2.0 * share)
                    code, time, share = np.int64(ACCUMULATE), time + step, -share
            cursor = put(ops, cursor, code, leaf["clip"], time, share)
        elif kind in (LAYER, ADDITIVE):
            layer = tables.layers[node["data"]]
            if work[tables.links[node["child"] + 1]]["seen"] == tick:
                weight = x[node["ref"]]
                if kind == LAYER:
                    weight = min(max(weight, 0.0), 1.0)
                cursor = put(ops, cursor, layer["code"], layer["mask"], 0.0, weight)
            cursor = join(ops, cursor, sums, region, work[i]["share"])
        elif kind == SLOT:
            slot = tables.slots[node["data"]]
            total = x[slot["at"] + SLOT_SEEN]
            if total > 0.0:
                code = np.int64(SAMPLE)
                for k in range(VOICES):
                    v = slot["at"] + SLOT_HEAD + k * VOICE_COLUMNS
                    if x[v + V_WEIGHT] > 0.0:
                        cursor = put(ops, cursor, code, int(x[v + V_CLIP]), x[v + V_TIME], x[v + V_WEIGHT] / total)
                        code = np.int64(ACCUMULATE)
                cursor = put(ops, cursor, slot["code"], slot["mask"], 0.0, min(total, 1.0))
            cursor = join(ops, cursor, sums, region, work[i]["share"])
        elif kind == MACHINE:
            machine = tables.machines[node["data"]]
            if machine["memory"] >= 0:
                at = machine["at"]
                if x[at + INERT_SECONDS] > 0.0 and x[at + STARTED] == 0.0:
                    memory = machine["memory"] + int(x[at + INERT_SIDE]) * machine["memory_size"]
                    cursor = put(ops, cursor, np.int64(INERTIA), memory, x[at + INERT_TIME] - back, x[at + INERT_SECONDS])
                cursor = join(ops, cursor, sums, region, work[i]["share"])
        elif kind > SLOT:
            procedural = tables.procedurals[node["data"]]
            for k in range(procedural["count"]):
                vectors[n, procedural["vector"] + k] = x[tables.links[procedural["refs"] + k]]
            weight = min(max(x[node["ref"]], 0.0), 1.0)
            if weight > 0.0:
                cursor = put(ops, cursor, procedural["code"], procedural["index"], 0.0, weight)
            cursor = join(ops, cursor, sums, region, work[i]["share"])
    return cursor


def clear_sums(tables, sums, first, last):
    """Forgets what the sums of a range of nodes hold."""
    for p in range(first, last):
        sums[tables.nodes[tables.order[p]]["region"]] = 0


def write_start(tables, x, work, tick, sums, machine, n, vectors, ops, cursor):
    """The program of a machine in the update in which an inertialised transition starts: what it leaves and what it goes
    to, each now and a moment ago, whose difference and its speed are then kept."""
    at = machine["at"]
    node = tables.nodes[machine["node"]]
    for side in range(2):
        for look in range(2):
            clear_sums(tables, sums, node["post_begin"], node["post"])
            back = look * LOOK_BACK
            for s in range(machine["count"]):
                w = machine["weights"] + s * STATE_COLUMNS
                if (x[w + GHOST] if side == 0 else x[w + WEIGHT]) > 0.0:
                    child = tables.nodes[tables.states[machine["first"] + s]["node"]]
                    first, last = child["post_begin"], child["post"] + 1
                    cursor = write_range(tables, x, work, tick, sums, first, last, back, n, vectors, ops, cursor)
            if side == 0 and x[at + OLD_SECONDS] > 0.0:
                memory = machine["memory"] + int(1.0 - x[at + INERT_SIDE]) * machine["memory_size"]
                elapsed = min(max(x[at + OLD_TIME] - back, 0.0), x[at + OLD_SECONDS])
                cursor = put(ops, cursor, np.int64(INERTIA), memory, elapsed, x[at + OLD_SECONDS])
    memory = machine["memory"] + int(x[at + INERT_SIDE]) * machine["memory_size"]
    cursor = put(ops, cursor, np.int64(START_INERTIA), memory, 0.0, LOOK_BACK)
    return join(ops, cursor, sums, node["region"], work[machine["node"]]["share"])


def write_program(tables, x, work, tick, sums, n, vectors, ops, cursor):
    """Writes the whole program of an instance; returns where it ends and whether it keeps anything for later."""
    for r in range(len(sums)):
        sums[r] = 0
    keeps = False
    place, total = np.int64(0), len(tables.order)
    for m in range(len(tables.machines)):
        machine = tables.machines[m]
        if x[machine["at"] + STARTED] == 0.0 or work[machine["node"]]["seen"] != tick:
            continue
        node = tables.nodes[machine["node"]]
        if node["post_begin"] < place:
            continue
        cursor = write_range(tables, x, work, tick, sums, place, node["post_begin"], 0.0, n, vectors, ops, cursor)
        cursor = write_start(tables, x, work, tick, sums, machine, n, vectors, ops, cursor)
        place = node["post"] + 1
        keeps = True
    cursor = write_range(tables, x, work, tick, sums, place, total, 0.0, n, vectors, ops, cursor)
    return cursor, keeps


def step(tables, x, work, tick, dt, n, events, count, motion, delta):
    """One instance through `dt` seconds, split at the moments transitions wait for. Leaves the root's motion in `delta`."""
    limit = count + MAX_EVENTS
    for k in range(7):
        delta[k] = 1.0 if k == 6 else 0.0
    for m in range(len(tables.machines)):
        x[tables.machines[m]["at"] + STARTED] = 0.0
    # The first update takes parameters as they are set, however smooth.
    advance_parameters(tables, x, 1e9 if x[FRESH] != 0.0 else 0.0)
    left = dt
    for number in range(MAX_STEPS):
        fired, soonest = False, NEVER
        if x[FRESH] == 0.0:
            fired, soonest = decide(tables, x)
            soonest = min(soonest, slots_wait(tables, x))
        d = left if number == MAX_STEPS - 1 else min(left, soonest)
        if x[FRESH] != 0.0 or (fired and number < MAX_STEPS - 1):
            d = 0.0
        tick += 1
        count = advance(tables, x, work, tick, d, n, events, count, limit, motion)
        x[FRESH] = 0.0
        size = motion[3] ** 2 + motion[4] ** 2 + motion[5] ** 2 + motion[6] ** 2
        if d > 0.0 and size > 0.0:
            s = 1.0 / np.sqrt(size)
            moved = composed(
                (delta[0], delta[1], delta[2], delta[3], delta[4], delta[5], delta[6]),
                (motion[0], motion[1], motion[2], motion[3] * s, motion[4] * s, motion[5] * s, motion[6] * s),
            )
            for k in range(7):
                delta[k] = moved[k]
        left -= d
        if left <= 0.0:
            break
    settle_triggers(tables, x, dt)
    return tick, count


def share_travel(x, delta, interval):
    """When updates are rare, each tells its part of the way."""
    s = 1.0 / interval
    for k in range(3):
        delta[k] = s * x[TRAVEL + k]
    side = -1.0 if x[TRAVEL + 6] < 0.0 else 1.0
    half = np.arccos(min(max(side * x[TRAVEL + 6], -1.0), 1.0))
    size = np.sin(half)
    scale = np.sin(s * half) / size if size > 1e-9 else s
    for k in range(3, 6):
        delta[k] = side * scale * x[TRAVEL + k]
    delta[6] = np.cos(s * half)


def update_all(tables, state, dt, work, sums, motion, start, ops, vectors, events, count, deltas, lod, row, tick, begin, end):
    """Updates instances from `begin` to `end`. Returns the instance it stopped before (for want of room for events), the
    number of events, the last tick and how many programs keep something for later."""
    cursor = start[begin]
    kept = 0
    for n in range(begin, end):
        if len(events) - count < MAX_EVENTS:
            return n, count, tick, kept
        x, delta = state[n], deltas[n]
        interval = max(x[INTERVAL], 1.0)
        x[PENDING] += dt[n]
        x[COUNTER] += 1.0
        due = interval <= 1.0 or x[COUNTER] >= interval or x[STORED] == 0.0
        if due:
            tick, count = step(tables, x, work, tick, x[PENDING], n, events, count, motion, delta)
            x[PENDING] = x[COUNTER] = 0.0
            cursor, keeps = write_program(tables, x, work, tick, sums, n, vectors, ops, cursor)
            if interval > 1.0:
                keeps = True
                fresh = x[STORED] == 0.0
                side = int(x[SIDE])
                cursor = put(ops, cursor, np.int64(STORE), lod + (1 - side) * row, 0.0, 0.0)
                if fresh:
                    cursor = put(ops, cursor, np.int64(STORE), lod + side * row, 0.0, 0.0)
                x[STORED], x[SIDE] = 1.0, 1.0 - side
                for k in range(7):
                    x[TRAVEL + k] = delta[k]
                if not fresh:
                    cursor = put(ops, cursor, np.int64(LOAD), lod + side * row, 0.0, 0.0)
                    cursor = put(ops, cursor, np.int64(BLEND_POSES), np.int64(0), 0.0, 1.0 - 1.0 / interval)
            else:
                x[STORED] = 0.0
            kept += 1 if keeps else 0
        else:
            side = int(x[SIDE])
            cursor = put(ops, cursor, np.int64(LOAD), lod + (1 - side) * row, 0.0, 0.0)
            cursor = put(ops, cursor, np.int64(LOAD), lod + side * row, 0.0, 0.0)
            cursor = put(ops, cursor, np.int64(BLEND_POSES), np.int64(0), 0.0, (x[COUNTER] + 1.0) / interval)
        if interval > 1.0:
            share_travel(x, delta, interval)
        start[n + 1] = cursor
    return end, count, tick, kept


update_graph_plainly = update_all

_FUNCTIONS = (
    *control_motion.FUNCTIONS, *control_machine.FUNCTIONS, advance_parameters, settle_triggers, show, show_alone, spread_line,
    spread_plane, blend_total, release_slot, begin_voice, slots_wait, advance_slot, advance, put, join, write_range, clear_sums,
    write_start, write_program, step, share_travel, update_all,
)  # fmt: skip


_INLINE = (
    advance_parameters, settle_triggers, decide, slots_wait, advance, note_remaining, write_program, step,
)  # fmt: skip


@kernel
def update_graph() -> Any:
    update_all = linked(_FUNCTIONS, _INLINE)["update_all"]

    def update_graph(tables, state, dt, work, sums, motion, start, ops, vectors, events, count, deltas, lod, row, tick, begin, end):
        return update_all(tables, state, dt, work, sums, motion, start, ops, vectors, events, count, deltas, lod, row, tick, begin, end)

    return update_graph
