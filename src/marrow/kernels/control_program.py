"""How the pose programs of an instance are written: children first, every weighted mix of clips as one sum.

Programs are numbered. Two belong to each `Function` of the graph, inner ones first, and two to the rest: an even one that
is run once per update and keeps something for later (where inertia starts from, what a slot holds), and an odd one that
gives a pose, to the function or at the end.
"""

from __future__ import annotations

from marrow.kernels.control_curves import curve_now, write_curves
from marrow.kernels.control_motion import note_windows
from marrow.kernels.control_tables import (
    ADDITIVE,
    CLIP,
    FUNCTION,
    LAYER,
    LOOPS,
    MACHINE,
    POSE,
    PROCEDURAL,
    SAVED,
    SLOT,
    USE,
    VOICES,
)
from marrow.kernels.control_travel import shown_clip
from marrow.kernels.control_weight_rules import weight_of
from marrow.kernels.control_weights import TINY, leaf_time, value_of
from marrow.kernels.language.kernel import rare
from marrow.kernels.operations.codes import (
    ACCUMULATE,
    INERTIA,
    INERTIA_PROFILE,
    LOAD,
    MERGE,
    SAMPLE,
    SCALE,
    START_INERTIA,
    STORE,
)
from marrow.kernels.operations.codes import BLEND as BLEND_POSES

LOOK_BACK = 0.004
"""Seconds between the two moments from which an inertialised transition takes its speed."""


def put(room, program, code, argument, time, weight):
    """Writes one operation of a pose program."""
    place = room.programs[program]
    at = place["cursor"]
    if at >= place["limit"]:
        room.counters[0]["missed_operations"] += 1
        return
    row = room.operations[at]
    row["code"] = code
    row["argument"] = argument
    row["time"] = time
    row["weight"] = weight
    place["cursor"] = at + 1


def put_inertia(room, program, machine, me, time):
    """What is left of a machine's inertia; joint by joint where its transition has a profile."""
    if me["profile"] >= 0:
        put(room, program, INERTIA_PROFILE, me["profile"], time, me["inertia_seconds"])
    else:
        put(room, program, INERTIA, machine["memory"], time, me["inertia_seconds"])


def join(room, program, region, share):
    """Makes the pose on top of the stack a part of the sum it belongs to."""
    if room.sums[region] == 0:
        room.sums[region] = 1
        if share < 1.0:
            put(room, program, SCALE, 0, 0.0, share)
    else:
        put(room, program, MERGE, 0, 0.0, share)


def put_clip(graph, room, program, code, clip, time, step, share):
    """A clip `step` seconds before a time."""
    if step != 0.0:
        if time - step >= 0.0 and time - step <= graph.clips[clip]["duration"]:
            time -= step
        else:
            # Before its beginning a clip goes on as it goes on after it: 2 p(t) - p(t + h).
            put(room, program, code, clip, time, 2.0 * share)
            code, time, share = ACCUMULATE, time + step, -share
    put(room, program, code, clip, time, share)


def write_leaf(graph, state, room, n, node, i, program, back, section):
    """A clip or a pose, `back` seconds ago, as a part of its sum."""
    leaf = graph.leaves[node["data"]]
    share = room.work[i]["share"]
    if share <= 0.0:
        return
    time = leaf_time(graph, state, n, node["data"])
    code = SAMPLE if room.sums[node["region"]] == 0 else ACCUMULATE
    room.sums[node["region"]] = 1
    step = back * room.work[i]["clip_speed"] if node["kind"] == CLIP and back > 0.0 else 0.0
    put_clip(graph, room, program, code, leaf["clip"], time, step, share)
    if node["kind"] == CLIP and back <= 0.0 and section < 0:
        clip = shown_clip(graph, room.work[i], leaf["clip"])
        note_windows(graph, room, n, clip, time, room.work[i]["weight"])


def write_voices(graph, state, room, n, node, work, program, back, section):
    """What plays in a slot, `back` seconds ago, over the pose below it."""
    slot, me = graph.slots[node["data"]], state.slots[n, node["data"]]
    if me["leader"] < 0 and me["weight"] <= 0.0:
        return
    total = me["held"]
    for v in range(VOICES):
        total += state.voices[n, VOICES * node["data"] + v]["weight"]
    if total <= TINY:
        return
    begun = False
    if me["held"] > 0.0:
        put(room, program, LOAD, slot["memory"], 0.0, 0.0)
        put(room, program, SCALE, 0, 0.0, me["held"] / total)
        begun = True
    for v in range(VOICES):
        voice = state.voices[n, VOICES * node["data"] + v]
        if voice["weight"] > 0.0:
            code = ACCUMULATE if begun else SAMPLE
            step = back * me["speed"] * voice["speed"] if is_running(graph, voice) else 0.0
            put_clip(graph, room, program, code, voice["clip"], voice["time"], step, voice["weight"] / total)
            begun = True
            if section < 0:
                clip = shown_clip(graph, work, voice["clip"])
                note_windows(graph, room, n, clip, voice["time"], voice["weight"])
    if slot["covers"] == 0 or me["weight"] < 1.0:
        put(room, program, slot["code"], slot["mask"], 0.0, min(total, 1.0))


def is_running(graph, voice):
    """Whether what a voice plays goes on: what has come to its end and is held there does not."""
    duration = graph.clips[voice["clip"]]["duration"]
    return voice["loop"] == LOOPS or (voice["time"] > 0.0 and voice["time"] < duration)


@rare
def hold_voice(graph, state, room, n, k, v):
    """Makes a voice of a slot a part of the pose that the slot holds."""
    slot, me, voice = graph.slots[k], state.slots[n, k], state.voices[n, v]
    total = me["held"] + voice["weight"]
    if me["held"] > 0.0:
        put(room, 0, LOAD, slot["memory"], 0.0, 0.0)
        put(room, 0, SAMPLE, voice["clip"], voice["time"], 1.0)
        put(room, 0, BLEND_POSES, 0, 0.0, voice["weight"] / total)
    else:
        put(room, 0, SAMPLE, voice["clip"], voice["time"], 1.0)
    put(room, 0, STORE, slot["memory"], 0.0, 0.0)
    end_section(room, 0)
    room.counters[0]["kept"] += 1


def end_section(room, program):
    """A program keeps one pose on its stack: that of a later section is dropped."""
    place = room.programs[program]
    if place["poses"] > 0:
        put(room, program, BLEND_POSES, 0, 0.0, 0.0)
    place["poses"] = 1


def write_pose(graph, state, room, n, i, program, back, section):
    """The operations of one node, when those of its inputs are written."""
    tick = room.counters[0]["tick"]
    work, node = room.work[i], graph.nodes[i]
    kind = node["kind"]
    if kind <= POSE:
        write_leaf(graph, state, room, n, node, i, program, back, section)
        return
    if kind == LAYER or kind == ADDITIVE:  # noqa: SIM109 (the compiler knows no tuples of choices)
        layer = graph.layers[node["data"]]
        if room.work[graph.links[node["child"] + 1]]["seen"] == tick:
            weight = value_of(graph, state, n, node["ref"])
            if kind == LAYER:
                weight = min(max(weight, 0.0), 1.0)
            put(room, program, layer["code"], layer["mask"], 0.0, weight)
    elif kind == SLOT:
        write_voices(graph, state, room, n, node, work, program, back, section)
    elif kind == MACHINE:
        machine = graph.machines[node["data"]]
        if machine["memory"] < 0:
            return
        me = state.machines[n, node["data"]]
        if me["inertia_seconds"] > 0.0:
            put_inertia(room, program, machine, me, me["inertia_time"] - back)
    elif kind == PROCEDURAL:
        row = graph.procedurals[node["data"]]
        weight = min(max(value_of(graph, state, n, node["ref"]), 0.0), 1.0)
        if row["share"] >= 0 and weight > 0.0:
            weight *= curve_now(graph, state, room, n, row["share"], 0.0)
        if weight > 0.0:
            # What is written for the start of inertia keeps nothing.
            put(room, program, row["code"], row["index"], 1.0 if section >= 0 else 0.0, weight)
    elif kind == FUNCTION:
        function = graph.functions[node["data"]]
        if section < 0 or state.functions[n, node["data"]]["ran"] == 0:
            put(room, function["program"], STORE, function["memory"], 0.0, 0.0)
            end_section(room, function["program"])
        put(room, program, LOAD, function["memory"], 0.0, 0.0)
    elif (kind == SAVED and work["share"] > 0.0) or (kind == USE and work["share"] > 0.0):
        put(room, program, LOAD, node["ref"], 0.0, 0.0)
    else:
        return
    join(room, program, node["region"], work["share"])


def write_node(graph, state, room, n, i, back, own, section):
    """The operations of one node, in the program they belong to; where `section` is a program, it takes those of
    `own`."""
    node = graph.nodes[i]
    program = node["program"]
    if section >= 0:
        if node["function"] >= 0 and program != own and state.functions[n, node["function"]]["ran"] != 0:
            return
        if program == own:
            program = section
    write_pose(graph, state, room, n, i, program, back, section)
    if node["store"] >= 0:
        put(room, program, STORE, node["store"], 0.0, 0.0)
        end_section(room, program)


def write_nodes(graph, state, room, n, first, last, back, own, section):
    """Writes the nodes from `first` to `last` that are seen, children first, `back` seconds ago. Where `section` is a
    program, it takes what would go to the program `own`."""
    depth = 0
    for k in range(room.counters[0]["visited"]):
        i = room.visited[k]
        if i < first:
            continue
        if i >= last:
            break
        while depth > 0 and graph.nodes[room.open[depth - 1]]["end"] <= i:
            depth -= 1
            write_node(graph, state, room, n, room.open[depth], back, own, section)
        room.open[depth] = i
        depth += 1
    while depth > 0:
        depth -= 1
        write_node(graph, state, room, n, room.open[depth], back, own, section)


def write_shared(graph, state, room, n, back, own, section):
    """Writes the nodes that several places use, those first that others of them use."""
    for s in range(len(graph.shared)):
        root = graph.shared[len(graph.shared) - 1 - s]
        write_nodes(graph, state, room, n, root, graph.nodes[root]["end"], back, own, section)


def clear_sums(graph, room, first, last):
    """Forgets what the sums of a range of nodes hold."""
    for i in range(first, last):
        room.sums[graph.nodes[i]["region"]] = 0


@rare
def write_side(graph, state, room, n, m):
    """One side of a transition that starts inertia: what a machine shows now, and what it showed a moment ago."""
    machine, me = graph.machines[m], state.machines[n, m]
    node = graph.nodes[machine["node"]]
    for look in range(2):
        back = LOOK_BACK * look
        if len(graph.shared) > 0:
            clear_sums(graph, room, graph.shared[0], len(graph.nodes))
            write_shared(graph, state, room, n, back, 0, machine["program"])
        clear_sums(graph, room, machine["node"] + 1, node["end"])
        for s in range(machine["count"]):
            if state.shares[n, machine["first"] + s]["weight"] > 0.0:
                child = graph.states[machine["first"] + s]["node"]
                write_nodes(
                    graph, state, room, n, child, graph.nodes[child]["end"], back, node["program"], machine["program"]
                )  # fmt: skip
        if me["inertia_seconds"] > 0.0:
            put_inertia(room, machine["program"], machine, me, me["inertia_time"] - back)


def write_start(graph, room, m):
    """Keeps how far the two sides of a transition are apart, and how fast that changes."""
    machine = graph.machines[m]
    put(room, machine["program"], START_INERTIA, machine["memory"], 0.0, LOOK_BACK)
    end_section(room, machine["program"])


def write_vectors(graph, state, room, n):
    """The numbers that procedural nodes are handed."""
    for p in range(len(graph.procedurals)):
        row = graph.procedurals[p]
        for k in range(row["count"]):
            room.vectors[n, row["vector"] + k] = weight_of(
                graph, state, room, n, graph.links[row["refs"] + k]
            )


def write_program(graph, state, room, n):
    """Writes the program that gives the pose of this moment, and those that give functions theirs."""
    for r in range(len(room.sums)):
        room.sums[r] = 0
    write_shared(graph, state, room, n, 0.0, -1, -1)
    write_nodes(graph, state, room, n, 0, graph.nodes[0]["end"], 0.0, -1, -1)
    write_curves(graph, state, room, n)
    write_vectors(graph, state, room, n)
    tick = room.counters[0]["tick"]
    for f in range(len(graph.functions)):
        seen = room.work[graph.functions[f]["node"]]["seen"] == tick
        state.functions[n, f]["ran"] = 1 if seen else 0
