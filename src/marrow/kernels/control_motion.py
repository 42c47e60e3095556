"""How clips move on: their time, the events they pass, the way their root travels, and clips that keep in step."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import (
    CLIP_EVENT,
    EVENT_ENDED,
    EVENT_INSIDE,
    FOLLOWER,
    LEADER,
    RUNNING,
    STOPPED,
)
from marrow.kernels.control_travel import shown_clip
from marrow.kernels.control_warps import HAIR, go_on
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.kernel import apart, rare

LONG = 0.25
"""Seconds of a step from which on whole rounds of a sync group are made at once."""
MOST_INTERVALS = 100_000
FASTEST = 1e9
"""How fast a clip plays at most, whatever speeds are multiplied."""


def happened(room, n, kind, event, source, weight, time):
    """Notes that something happened."""
    counters = room.counters[0]
    if kind == CLIP_EVENT and event < len(room.passed):
        passed = room.passed[event]
        passed["weight"] = max(weight, passed["weight"]) if passed["step"] == counters["step"] else weight
        passed["step"], passed["time"] = counters["step"], time
    if counters["events"] >= counters["events_end"]:
        counters["missed_events"] += 1
        return
    row = room.events[counters["events"]]
    row["instance"] = n
    row["kind"] = kind
    row["event"] = event
    row["source"] = source
    row["weight"] = weight
    row["time"] = time
    counters["events"] += 1


def is_passed(at, before, after):
    """Whether a clip that moves from one time to another passes a third; what is a hair away counts as reached, so that it
    does not depend on how a step was rounded."""
    if after > before:
        return at > before + HAIR and at <= after + HAIR
    return at < before - HAIR and at >= after - HAIR


@apart
def fire(graph, room, n, clip, before, after, loop, new, speed, weight, clock):
    """Notes the events between two unwrapped times of a clip: after the first (from it on where the clip is `new`), up to
    the second. `clock` is the moment of `before`."""
    row = graph.clips[clip]
    if row["events"] == 0 or before == after:
        return
    duration = row["duration"]
    first, last = 0.0, 0.0
    if loop and duration > 0.0:
        low, high = before + HAIR, after + HAIR
        if after < before:
            low, high = after - HAIR, before - HAIR
        first, last = np.floor(low / duration), np.floor(high / duration)
    lap = first
    while lap <= last:
        # Backwards, the last one comes first.
        shift = (lap if after > before else last - (lap - first)) * duration
        for e in range(row["events"]):
            k = row["first_event"] + (e if after > before else row["events"] - 1 - e)
            at = graph.events[k]["time"] + shift
            passed = is_passed(at, before, after)
            if passed or (new and abs(at - before) <= HAIR):
                happened(
                    room, n, CLIP_EVENT, graph.events[k]["name"], row["clip"], weight, clock + (at - before) / speed
                )  # fmt: skip
            end = graph.events[k]["end"] + shift
            if end > at and is_passed(end, before, after):
                moment = clock + (end - before) / speed
                happened(room, n, EVENT_ENDED, graph.events[k]["name"], row["clip"], weight, moment)
        if lap >= last:
            break
        lap += 1.0
        if room.counters[0]["events"] >= room.counters[0]["events_end"] and last - lap >= 1.0:
            # There is no room for what happens on the way: on to the last time round.
            room.counters[0]["missed_events"] += int(min(last - lap, 1e12)) * row["events"]
            lap = last


def bounded(speed):
    """A product of speeds, which no loop over the rounds of a clip has to fear."""
    return min(max(speed, -FASTEST), FASTEST)


def wrapped(time, duration):
    return time - np.floor(time / duration) * duration if duration > 0.0 else 0.0


def stay(room, i):
    """A node that gives no travel of its own keeps its share of standing still."""
    room.motion[6] += room.work[i]["travel"]


def advance_leaf(graph, state, room, n, leaf, d, clock):
    """Moves a clip that keeps its own time on by `d` seconds of the instance."""
    row = graph.leaves[leaf]
    me, work = state.leaves[n, leaf], room.work[row["node"]]
    clip = shown_clip(graph, work, row["clip"])
    duration = graph.clips[clip]["duration"]
    speed = bounded(work["speed"] * value_of(graph, state, n, row["speed"]))
    before = me["time"]
    after = before + d * speed
    if row["matches"] > 0:
        after = matched_time(graph, row, before, value_of(graph, state, n, row["speed"]), d * work["speed"])
        if d <= 0.0 and me["new"] == 0:
            after = before
        elif d <= 0.0:
            me["new"], before = 0, after
        speed = (after - before) / d if d > 0.0 else 0.0
    loop = row["loop"] != 0
    work["clip_speed"] = speed
    if not loop:
        after = min(max(after, 0.0), duration)
        if (after == duration and speed > 0.0) or (after == 0.0 and speed < 0.0):
            # Held at its end: it no longer moves.
            work["clip_speed"] = 0.0
    if d > 0.0 and speed != 0.0:
        fire(graph, room, n, clip, before, after, loop, me["new"] != 0, speed, work["weight"], clock)
        me["new"] = 0
    if work["travel"] > 0.0 and row["still"] != 0:
        stay(room, row["node"])
    elif work["travel"] > 0.0:
        go_on(graph, state, room, n, work, work["travel"], clip, before, after, loop)
    me["time"] = wrapped(after, duration) if loop else after


@rare
def matched_time(graph, leaf, before, distance, d):
    """The time of a clip at which its root has come as far as `distance` says; where its travel is over, it plays on by time."""
    at, count = leaf["match"], leaf["matches"]
    x = graph.numbers[at] * distance
    keys, times = at + 1, at + 1 + count
    last = times + count - 1
    if x >= graph.numbers[keys + count - 1]:
        return max(before, graph.numbers[last]) + (max(d, 0.0) if before >= graph.numbers[last] else 0.0)
    if not x > graph.numbers[keys]:
        return graph.numbers[times]
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if graph.numbers[keys + middle] <= x:
            low = middle
        else:
            high = middle
    a, b = graph.numbers[keys + low], graph.numbers[keys + high]
    s = (x - a) / (b - a)
    return graph.numbers[times + low] + s * (graph.numbers[times + high] - graph.numbers[times + low])


def knot_time(graph, leaf, markers, phase):
    """The unwrapped time of a clip at an unwrapped phase of its group: straight between markers."""
    rounds = np.floor(phase / markers)
    inside = phase - rounds * markers
    k = max(min(int(inside), markers - 1), 0)
    a, b = graph.numbers[leaf["knots"] + k], graph.numbers[leaf["knots"] + k + 1]
    return a + (inside - k) * (b - a) + rounds * graph.clips[leaf["clip"]]["duration"]


def group_speed(graph, state, room, n, count, interval, total):
    """Markers per second: what each member that is seen would do by itself, by weight."""
    speed = 0.0
    for m in range(count):
        leaf = graph.leaves[room.members[m]]
        work = room.work[leaf["node"]]
        length = graph.numbers[leaf["knots"] + interval + 1] - graph.numbers[leaf["knots"] + interval]
        if length > 1e-9:
            own = work["speed"] * value_of(graph, state, n, leaf["speed"])
            speed += work["weight"] * own / length
    return speed / total


def advance_phase(graph, state, room, n, count, markers, total, phase, d):
    """The phase of a group `d` seconds later: between two markers it moves evenly. Whole rounds are made at once."""
    left = d
    if d > LONG:
        lap, forward, backward = 0.0, True, True
        for k in range(markers):
            now = group_speed(graph, state, room, n, count, k, total)
            forward, backward = forward and now > 0.0, backward and now < 0.0
            lap += 1.0 / abs(now) if now != 0.0 else 0.0
        if (forward or backward) and left > 2.0 * lap:
            rounds = np.floor(left / lap) - 1.0
            phase += rounds * markers if forward else -rounds * markers
            left -= rounds * lap
    for _ in range(MOST_INTERVALS):
        inside = phase - np.floor(phase / markers) * markers
        interval = max(min(int(inside), markers - 1), 0)
        now = group_speed(graph, state, room, n, count, interval, total)
        if now < 0.0 and inside == interval:
            # On a marker, going back: the interval before it counts.
            interval = interval - 1 if interval > 0 else markers - 1
            now = min(group_speed(graph, state, room, n, count, interval, total), 0.0)
        if left <= 0.0 or now == 0.0:
            break
        edge = np.floor(phase) + 1.0 if now > 0.0 else np.ceil(phase) - 1.0
        need = (edge - phase) / now
        if need > left:
            phase += now * left
            break
        phase = edge
        left -= need
    return phase


def rank(graph, member):
    """Who decides for a group: its leaders, without any those that go by weight, and followers only among themselves."""
    role = graph.leaves[member]["role"]
    return 2 if role == LEADER else 0 if role == FOLLOWER else 1


def gather(graph, room, g):
    """Puts the clips of a sync group that are seen into `members`, first those that say how fast it goes. Returns their weight,
    the heaviest of them, how many they are and how many there are in all."""
    total, heaviest, leader, deciding, count, highest = 0.0, -1.0, -1, 0, 0, 0
    for k in range(room.counters[0]["grouped"]):
        if graph.leaves[room.grouped[k]]["group"] == g:
            highest = max(highest, rank(graph, room.grouped[k]))
    for k in range(room.counters[0]["grouped"]):
        member = room.grouped[k]
        if graph.leaves[member]["group"] != g:
            continue
        if rank(graph, member) < highest:
            room.members[count] = member
            count += 1
            continue
        weight = room.work[graph.leaves[member]["node"]]["weight"]
        room.members[count] = room.members[deciding]
        room.members[deciding] = member
        deciding += 1
        count += 1
        total += weight
        if weight > heaviest:
            heaviest, leader = weight, member
    return total, leader, deciding, count


def advance_group(graph, state, room, n, g, d, clock):
    """Moves the clips of a sync group on together. The heaviest one leads: its events are the group's."""
    group, me = graph.groups[g], state.groups[n, g]
    total, leader, deciding, count = gather(graph, room, g)
    if leader < 0:
        me["run"], me["phase"] = STOPPED, 0.0
        return
    if me["run"] == STOPPED:
        me["run"], me["new"] = RUNNING, 1
    total = max(total, 1e-30)
    markers, phase = group["markers"], me["phase"]
    after = phase
    if d > 0.0:
        after = advance_phase(graph, state, room, n, deciding, markers, total, phase, d)
    inside = after - np.floor(after / markers) * markers
    interval = max(min(int(inside), markers - 1), 0)
    now = group_speed(graph, state, room, n, deciding, interval, total)
    for m in range(count):
        member = room.members[m]
        leaf = graph.leaves[member]
        work = room.work[leaf["node"]]
        clip = shown_clip(graph, work, leaf["clip"])
        t0, t1 = knot_time(graph, leaf, markers, phase), knot_time(graph, leaf, markers, after)
        length = graph.numbers[leaf["knots"] + interval + 1] - graph.numbers[leaf["knots"] + interval]
        work["clip_speed"] = now * length
        if member == leader and t1 != t0:
            fire(graph, room, n, clip, t0, t1, True, me["new"] != 0, (t1 - t0) / d, work["weight"], clock)
        if work["travel"] > 0.0 and leaf["still"] != 0:
            stay(room, leaf["node"])
        elif work["travel"] > 0.0:
            go_on(graph, state, room, n, work, work["travel"], clip, t0, t1, True)
        state.leaves[n, member]["time"] = wrapped(t1, graph.clips[clip]["duration"])
    if d > 0.0:
        me["new"] = 0
    me["phase"] = inside


def note_windows(graph, room, n, clip, time, weight):
    """Notes the events that last and that a clip is in the middle of, and how far."""
    row = graph.clips[clip]
    if row["windows"] == 0:
        return
    for k in range(row["first_event"], row["first_event"] + row["events"]):
        event = graph.events[k]
        if event["end"] > event["time"] and event["time"] <= time and time < event["end"]:
            progress = (time - event["time"]) / (event["end"] - event["time"])
            happened(room, n, EVENT_INSIDE, event["name"], row["clip"], weight, progress)
