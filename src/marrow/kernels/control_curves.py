"""Curves: numbers that clips carry along, blended by how much of each clip is seen."""

from __future__ import annotations

from marrow.kernels.control_motion import shown_clip
from marrow.kernels.control_tables import CLIP, VOICES


def curve_at(graph, curve, time):
    """The value of a curve: straight between its keys, held outside."""
    keys, count = curve["keys"], curve["count"]
    k = 0
    while k < count - 1 and graph.numbers[keys + k + 1] < time:
        k += 1
    a = graph.numbers[keys + count + k]
    if k == count - 1 or time <= graph.numbers[keys + k]:
        return a
    before, after = graph.numbers[keys + k], graph.numbers[keys + k + 1]
    return a + (graph.numbers[keys + count + k + 1] - a) * (time - before) / (after - before)


def add_curves(graph, state, n, clip, time, weight):
    """Adds what a clip says. The goal of a curve's column holds its weights so far."""
    row = graph.clips[clip]
    for k in range(row["first_curve"], row["first_curve"] + row["curves"]):
        curve = graph.curves[k]
        column = curve["column"]
        state.values[n, column] += weight * curve_at(graph, curve, time)
        state.goals[n, column] += weight


def write_curves(graph, state, room, n):
    """The curves of an instance at this moment."""
    if len(graph.curves) == 0:
        return
    tick = room.counters[0]["tick"]
    for k in range(len(graph.curves)):
        column = graph.curves[k]["column"]
        state.values[n, column] = 0.0
        state.goals[n, column] = 0.0
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        work = room.work[leaf["node"]]
        if work["seen"] == tick and work["weight"] > 0.0 and graph.clips[leaf["clip"]]["curves"] > 0:
            time = leaf["start"]
            if graph.nodes[leaf["node"]]["kind"] == CLIP:
                time = state.leaves[n, i]["time"]
            add_curves(graph, state, n, shown_clip(graph, work, leaf["clip"]), time, work["weight"])
    for k in range(len(graph.slots)):
        work = room.work[graph.slots[k]["node"]]
        if work["seen"] == tick:
            for v in range(VOICES):
                voice = state.voices[n, VOICES * k + v]
                if voice["weight"] > 0.0:
                    clip = shown_clip(graph, work, voice["clip"])
                    add_curves(graph, state, n, clip, voice["time"], work["weight"] * voice["weight"])
    for k in range(len(graph.curves)):
        column = graph.curves[k]["column"]
        total = state.goals[n, column]
        if total >= 0.0:
            if total > 1.0:
                state.values[n, column] /= total
            else:
                state.values[n, column] += (1.0 - total) * graph.curves[k]["default"]
            # Done, also where the column comes again.
            state.goals[n, column] = -1.0
