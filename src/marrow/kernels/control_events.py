"""Rules that depend on what clips do: events that are passed, windows that are open, curves; and when that changes next."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_motion import gather, group_speed, knot_time
from marrow.kernels.control_tables import CLIP, LOOPS, RUNNING, VOICES
from marrow.kernels.control_travel import shown_clip
from marrow.kernels.control_warps import HAIR
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.kernel import rare

NEVER = 1e300
SHORT = 2e-9
"""Seconds of the shortest step: that in which a clip passes an event at its very beginning."""


def event_gap(graph, clip, time, forward, loop, new, name, window):
    """Seconds of a clip until it comes to the event `name`, or with `window` to where it begins or ends."""
    row, best = graph.clips[clip], NEVER
    duration = row["duration"]
    for k in range(row["first_event"], row["first_event"] + row["events"]):
        event = graph.events[k]
        if event["name"] != name:
            continue
        for side in range(2):
            if side == 1 and (not window or event["end"] <= event["time"]):
                continue
            at = event["time"] if side == 0 else event["end"]
            gap = at - time if forward else time - at
            if loop and duration > 0.0:
                gap -= np.floor((gap + HAIR) / duration) * duration
                if gap <= HAIR and not new:
                    gap += duration
            if gap > HAIR or (gap >= -HAIR and new):
                best = min(best, max(gap, 0.0))
    return best


def leaf_gap(graph, state, room, n, leaf, name, window):
    """Seconds until a clip that keeps its own time comes to an event."""
    row, me = graph.leaves[leaf], state.leaves[n, leaf]
    work = room.work[row["node"]]
    speed = work["speed"] * value_of(graph, state, n, row["speed"])
    if speed == 0.0 or row["matches"] > 0:
        return NEVER
    clip = shown_clip(graph, work, row["clip"])
    gap = event_gap(graph, clip, me["time"], speed > 0.0, row["loop"] != 0, me["new"] != 0, name, window)
    return gap / abs(speed) if gap < NEVER else NEVER


@rare
def group_gap(graph, state, room, n, g, name, window):
    """Seconds until a sync group comes to an event of the clip that leads, or with `window` of any."""
    group, me = graph.groups[g], state.groups[n, g]
    total, leader, deciding, count = gather(graph, room, g)
    if leader < 0 or me["run"] != RUNNING:
        return NEVER
    total = max(total, 1e-30)
    markers, phase, passed = group["markers"], me["phase"], 0.0
    new = me["new"] != 0
    # Within one round and a bit, every event comes once.
    for _ in range(markers + 1):
        inside = phase - np.floor(phase / markers) * markers
        interval = max(min(int(inside), markers - 1), 0)
        now = group_speed(graph, state, room, n, deciding, interval, total)
        if now < 0.0 and inside == interval:
            interval = interval - 1 if interval > 0 else markers - 1
            now = min(group_speed(graph, state, room, n, deciding, interval, total), 0.0)
        if now == 0.0:
            return NEVER
        edge = np.floor(phase) + 1.0 if now > 0.0 else np.ceil(phase) - 1.0
        need, best = (edge - phase) / now, NEVER
        for m in range(count):
            member = room.members[m]
            if member != leader and not window:
                continue
            leaf = graph.leaves[member]
            duration = graph.clips[leaf["clip"]]["duration"]
            t0, t1 = knot_time(graph, leaf, markers, phase), knot_time(graph, leaf, markers, edge)
            length = abs(t1 - t0)
            time = t0 - np.floor(t0 / duration) * duration
            clip = shown_clip(graph, room.work[leaf["node"]], leaf["clip"])
            gap = event_gap(graph, clip, time, t1 > t0, True, new, name, window)
            if length > 0.0 and gap <= length:
                best = min(best, gap / length * need)
        if best < NEVER:
            return passed + best
        passed += need
        phase = edge
        new = False
    return NEVER


@rare
def event_wait(graph, state, room, n, name, window):
    """Seconds until something that is seen comes to the event `name`, or with `window` to where it begins or ends."""
    tick, best = room.counters[0]["tick"], NEVER
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        if (
            leaf["group"] < 0
            and room.work[leaf["node"]]["seen"] == tick
            and graph.nodes[leaf["node"]]["kind"] == CLIP
        ):
            best = min(best, leaf_gap(graph, state, room, n, i, name, window))
    for g in range(len(graph.groups)):
        best = min(best, group_gap(graph, state, room, n, g, name, window))
    for k in range(len(graph.slots)):
        me, work = state.slots[n, k], room.work[graph.slots[k]["node"]]
        for v in range(VOICES):
            voice = state.voices[n, VOICES * k + v]
            clip = shown_clip(graph, work, voice["clip"])
            speed = me["speed"] * voice["speed"]
            if me["run"] == RUNNING and speed != 0.0 and (voice["weight"] > 0.0 or v == me["leader"]):
                gap = event_gap(
                    graph, clip, voice["time"], speed > 0.0, voice["loop"] == LOOPS, voice["new"] != 0, name, window
                )  # fmt: skip
                if gap < NEVER:
                    best = min(best, gap / abs(speed))
    return max(best, SHORT)


def in_window(graph, clip, time, name):
    row = graph.clips[clip]
    for k in range(row["first_event"], row["first_event"] + row["events"]):
        event = graph.events[k]
        if event["name"] == name and event["time"] <= time + HAIR and time + HAIR < event["end"]:
            return True
    return False


@rare
def window_open(graph, state, room, n, name, weight):
    """Whether a clip of which `weight` or more is seen is in the middle of an event that lasts."""
    tick = room.counters[0]["tick"]
    for i in range(len(graph.leaves)):
        leaf = graph.leaves[i]
        seen = room.work[leaf["node"]]["seen"] == tick and graph.nodes[leaf["node"]]["kind"] == CLIP
        if seen and graph.clips[leaf["clip"]]["windows"] > 0:
            clip = shown_clip(graph, room.work[leaf["node"]], leaf["clip"])
            heard = room.work[leaf["node"]]["weight"] >= weight
            if heard and in_window(graph, clip, state.leaves[n, i]["time"], name):
                return True
    for k in range(len(graph.slots)):
        me, work = state.slots[n, k], room.work[graph.slots[k]["node"]]
        for v in range(VOICES):
            voice = state.voices[n, VOICES * k + v]
            seen = me["run"] == RUNNING and (voice["weight"] > 0.0 or v == me["leader"])
            seen = seen and work["weight"] * voice["weight"] >= weight
            if seen and in_window(graph, shown_clip(graph, work, voice["clip"]), voice["time"], name):
                return True
    return False
