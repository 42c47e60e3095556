"""The control kernel: one pass over the instances of a crowd, from parameters to pose programs.

For every instance: which states its machines are in, how much of each node is seen, where its clips are, what events they
pass, how its root travels; then the pose program that says all this to the pose kernel. Nodes are visited parents first,
and what is not seen is skipped, so an instance costs what it uses. The program is written children first.

The functions are plain Python in the compiled subset (`kernels.language.translate`).
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_machine import NEVER, advance_machine, decide, note_remaining
from marrow.kernels.control_motion import advance_group, advance_leaf, composed
from marrow.kernels.control_program import put, write_program
from marrow.kernels.control_slots import advance_slot, slots_wait
from marrow.kernels.control_spread import TINY, blend_total, show, show_alone, spread_line, spread_plane
from marrow.kernels.control_tables import (
    ADDITIVE,
    BLEND,
    CLIP,
    CLOCK,
    COUNTER,
    FIRED,
    FRESH,
    GHOST,
    INTERVAL,
    LAYER,
    LERP,
    MACHINE,
    MAX_EVENTS,
    MAX_STEPS,
    PENDING,
    POSE,
    SIDE,
    SLOT,
    SLOT_PACE,
    SPACE1,
    SPACE2,
    SPEED,
    STARTED,
    STATE_COLUMNS,
    STORED,
    TRAVEL,
    WEIGHT,
    WORK,
    Tables,
)
from marrow.kernels.language.elementary import arccos, cos, exp, sin
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations import OPERATION
from marrow.kernels.operations.codes import BLEND as BLEND_POSES
from marrow.kernels.operations.codes import LOAD, STORE

__all__ = ["update_graph"]


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
            goal = x[column] + gap * (1.0 - exp(-3.0 * d / parameter["smoothing"]))
        x[column] = goal


def settle_triggers(tables, x, dt):
    """A trigger that no transition took goes when its time is up."""
    for p in range(len(tables.parameters)):
        parameter = tables.parameters[p]
        if parameter["kind"] == 2 and x[parameter["value"]] != 0.0:
            x[parameter["target"]] -= dt
            if not x[parameter["target"]] > 0.0:
                x[parameter["value"]] = 0.0


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
        count = advance_group(
            tables, x, work, tables.groups[g], tick, d, clock, n, events, count, limit, motion
        )
    for k in range(len(tables.slots)):
        if work[tables.slots[k]["node"]]["seen"] != tick:
            x[tables.slots[k]["at"] + SLOT_PACE] = 0.0
    note_remaining(tables, x, work, tick, d)
    x[CLOCK] = clock + d
    return count


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
        size = motion[3] * motion[3] + motion[4] * motion[4] + motion[5] * motion[5] + motion[6] * motion[6]
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
    half = arccos(min(max(side * x[TRAVEL + 6], -1.0), 1.0))
    size = sin(half)
    scale = sin(s * half) / size if size > 1e-9 else s
    for k in range(3, 6):
        delta[k] = side * scale * x[TRAVEL + k]
    delta[6] = cos(s * half)


@kernel(
    tables=Tables, state="*f8[N,?]", dt="f8[N]", work=(WORK, "*?"), sums="*i8[?]", motion="*f8[7]", start="*i8[?]",
    ops=(OPERATION, "*?"), vectors="*f4[N,?]", events=(FIRED, "*?"), count="i8", deltas="*f8[N,7]", lod="i8", row="i8", tick="i8",
    begin="i8", end="i8", returns=4,
)  # fmt: skip
def update_graph(
    tables,
    state,
    dt,
    work,
    sums,
    motion,
    start,
    ops,
    vectors,
    events,
    count,
    deltas,
    lod,
    row,
    tick,
    begin,
    end,
):
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
