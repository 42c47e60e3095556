"""Curves: numbers that clips carry along, blended by how much of each clip is seen."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import CLIP, LOOPS, RUNNING, VOICES
from marrow.kernels.control_travel import shown_clip
from marrow.kernels.control_weights import leaf_time, value_of
from marrow.kernels.language.kernel import rare

NEVER = 1e300


def curve_at(graph, curve, time):
    """The value of a curve: straight between its keys, held outside."""
    keys, count = curve["keys"], curve["count"]
    # The last key before that moment, or the first one.
    k, last = 0, count - 1
    while k < last:
        middle = (k + last + 1) // 2
        if graph.numbers[keys + middle] < time:
            k = middle
        else:
            last = middle - 1
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


@rare
def write_curves(graph, state, room, n):
    """The curves of an instance at this moment."""
    if len(graph.curves) + len(graph.curve_changes) == 0:
        return
    tick = room.counters[0]["tick"]
    for k in range(len(graph.columns)):
        column = graph.curves[graph.columns[k]]["column"]
        state.values[n, column] = 0.0
        state.goals[n, column] = 0.0
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        work = room.work[leaf["node"]]
        if work["seen"] == tick and work["weight"] > 0.0 and graph.clips[leaf["clip"]]["curves"] > 0:
            time = leaf_time(graph, state, n, i)
            add_curves(graph, state, n, shown_clip(graph, work, leaf["clip"]), time, work["weight"])
    for k in range(len(graph.slots)):
        work = room.work[graph.slots[k]["node"]]
        if work["seen"] == tick:
            for v in range(VOICES):
                voice = state.voices[n, VOICES * k + v]
                if voice["weight"] > 0.0:
                    clip = shown_clip(graph, work, voice["clip"])
                    add_curves(graph, state, n, clip, voice["time"], work["weight"] * voice["weight"])
    for k in range(len(graph.columns)):
        curve = graph.curves[graph.columns[k]]
        column = curve["column"]
        total = state.goals[n, column]
        if total > 1.0:
            state.values[n, column] /= total
        else:
            state.values[n, column] += (1.0 - total) * curve["default"]
    for k in range(len(graph.curve_changes)):
        if graph.curve_changes[k]["alone"] != 0:
            state.values[n, graph.curve_changes[k]["column"]] = graph.curve_changes[k]["default"]
    # Nodes come parents first: what is below another changes first.
    for k in range(len(graph.curve_changes)):
        change = graph.curve_changes[len(graph.curve_changes) - 1 - k]
        value = state.values[n, change["column"]]
        state.values[n, change["column"]] = changed_curve(graph, state, room, n, change, value)


def changed_curve(graph, state, room, n, change, value):
    """A curve after a node that changes it."""
    work = room.work[change["node"]]
    if work["seen"] != room.counters[0]["tick"]:
        return value
    share = work["weight"] * min(max(value_of(graph, state, n, change["weight"]), 0.0), 1.0)
    by = value_of(graph, state, n, change["ref"])
    mode, goal = change["mode"], by
    if mode == 1:
        goal = value + by
    elif mode == 2:
        goal = value * by
    elif mode == 3:
        goal = min(value, by)
    elif mode == 4:
        goal = max(value, by)
    return value + share * (goal - value)


def time_ahead(time, speed, duration, loop):
    """Where a clip is a while later."""
    time += speed
    if loop and duration > 0.0:
        return time - np.floor(time / duration) * duration
    return min(max(time, 0.0), duration)


def clip_curve(graph, clip, column, time):
    """What a clip says of a curve, and whether it says anything."""
    row = graph.clips[clip]
    for k in range(row["first_curve"], row["first_curve"] + row["curves"]):
        if graph.curves[k]["column"] == column:
            return curve_at(graph, graph.curves[k], time), 1.0
    return 0.0, 0.0


@rare
def curve_now(graph, state, room, n, column, ahead):
    """A curve at this moment, or `ahead` seconds later where clips go on as they do."""
    tick, value, total, default = room.counters[0]["tick"], 0.0, 0.0, 0.0
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        work = room.work[leaf["node"]]
        if work["seen"] != tick or graph.clips[leaf["clip"]]["curves"] == 0:
            continue
        time = leaf_time(graph, state, n, i)
        if graph.nodes[leaf["node"]]["kind"] == CLIP:
            duration = graph.clips[leaf["clip"]]["duration"]
            time = time_ahead(time, ahead * work["clip_speed"], duration, leaf["loop"] != 0)
        here, has = clip_curve(graph, shown_clip(graph, work, leaf["clip"]), column, time)
        value += work["weight"] * here
        total += work["weight"] * has
    for s in range(len(graph.slots)):
        work, me = room.work[graph.slots[s]["node"]], state.slots[n, s]
        for v in range(VOICES):
            voice = state.voices[n, VOICES * s + v]
            weight = work["weight"] * voice["weight"]
            if work["seen"] == tick and weight > 0.0:
                speed = ahead * me["speed"] * voice["speed"]
                duration = graph.clips[voice["clip"]]["duration"]
                time = time_ahead(voice["time"], speed, duration, voice["loop"] == LOOPS)
                here, has = clip_curve(graph, shown_clip(graph, work, voice["clip"]), column, time)
                value += weight * here
                total += weight * has
    for k in range(len(graph.curves)):
        if graph.curves[k]["column"] == column:
            default = graph.curves[k]["default"]
    for k in range(len(graph.curve_changes)):
        if graph.curve_changes[k]["column"] == column and graph.curve_changes[k]["alone"] != 0:
            default = graph.curve_changes[k]["default"]
    value = value / total if total > 1.0 else value + (1.0 - total) * default
    for k in range(len(graph.curve_changes)):
        change = graph.curve_changes[len(graph.curve_changes) - 1 - k]
        if change["column"] == column:
            value = changed_curve(graph, state, room, n, change, value)
    return value


def key_gap(graph, clip, time, forward):
    """Seconds of a clip until one of its curves has a key, or until it ends."""
    row = graph.clips[clip]
    best = row["duration"] - time if forward else time
    if best <= 0.0:
        best = row["duration"]
    for k in range(row["first_curve"], row["first_curve"] + row["curves"]):
        for j in range(graph.curves[k]["count"]):
            at = graph.numbers[graph.curves[k]["keys"] + j]
            gap = at - time if forward else time - at
            if gap > 0.0:
                best = min(best, gap)
    return best


@rare
def key_wait(graph, state, room, n):
    """Seconds in which all curves run straight, as long as weights do not change."""
    tick, best = room.counters[0]["tick"], NEVER
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        work, clip = room.work[leaf["node"]], leaf["clip"]
        speed = work["clip_speed"]
        if work["seen"] != tick or speed == 0.0 or graph.clips[clip]["curves"] == 0:
            continue
        if graph.nodes[leaf["node"]]["kind"] != CLIP:
            continue
        time, forward = state.leaves[n, i]["time"], speed > 0.0
        best = min(best, key_gap(graph, clip, time, forward) / abs(speed))
        if leaf["group"] >= 0:
            # A clip that keeps in step changes its speed where the group has a marker.
            duration = graph.clips[clip]["duration"]
            for m in range(graph.groups[leaf["group"]]["markers"]):
                at = graph.numbers[leaf["knots"] + m]
                gap = at - time if forward else time - at
                gap -= np.floor(gap / duration) * duration
                if gap > 0.0:
                    best = min(best, gap / abs(speed))
    for s in range(len(graph.slots)):
        me = state.slots[n, s]
        for v in range(VOICES):
            voice = state.voices[n, VOICES * s + v]
            speed = me["speed"] * voice["speed"]
            if me["run"] == RUNNING and voice["weight"] > 0.0 and speed != 0.0:
                best = min(best, key_gap(graph, voice["clip"], voice["time"], speed > 0.0) / abs(speed))
    return best
