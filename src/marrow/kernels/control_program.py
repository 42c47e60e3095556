"""How the pose program of an instance is written: children first, every weighted mix of clips as one sum."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import (
    ADDITIVE,
    CLIP,
    GHOST,
    INERT_SECONDS,
    INERT_SIDE,
    INERT_TIME,
    LAYER,
    MACHINE,
    OLD_SECONDS,
    OLD_TIME,
    POSE,
    SLOT,
    SLOT_HEAD,
    SLOT_SEEN,
    STARTED,
    STATE_COLUMNS,
    V_CLIP,
    V_TIME,
    V_WEIGHT,
    VOICE_COLUMNS,
    VOICES,
    WEIGHT,
)
from marrow.kernels.operations.codes import ACCUMULATE, INERTIA, MERGE, SAMPLE, SCALE, START_INERTIA

LOOK_BACK = 0.004
"""Seconds between the two moments from which an inertialised transition takes its speed."""


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
                        cursor = put(
                            ops, cursor, code, int(x[v + V_CLIP]), x[v + V_TIME], x[v + V_WEIGHT] / total
                        )
                        code = np.int64(ACCUMULATE)
                cursor = put(ops, cursor, slot["code"], slot["mask"], 0.0, min(total, 1.0))
            cursor = join(ops, cursor, sums, region, work[i]["share"])
        elif kind == MACHINE:
            machine = tables.machines[node["data"]]
            if machine["memory"] >= 0:
                at = machine["at"]
                if x[at + INERT_SECONDS] > 0.0 and x[at + STARTED] == 0.0:
                    memory = machine["memory"] + int(x[at + INERT_SIDE]) * machine["memory_size"]
                    cursor = put(
                        ops,
                        cursor,
                        np.int64(INERTIA),
                        memory,
                        x[at + INERT_TIME] - back,
                        x[at + INERT_SECONDS],
                    )
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
                    cursor = write_range(
                        tables, x, work, tick, sums, first, last, back, n, vectors, ops, cursor
                    )
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
        cursor = write_range(
            tables, x, work, tick, sums, place, node["post_begin"], 0.0, n, vectors, ops, cursor
        )
        cursor = write_start(tables, x, work, tick, sums, machine, n, vectors, ops, cursor)
        place = node["post"] + 1
        keeps = True
    cursor = write_range(tables, x, work, tick, sums, place, total, 0.0, n, vectors, ops, cursor)
    return cursor, keeps
