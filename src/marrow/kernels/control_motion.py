"""How clips move on: their time, the events they pass, the way their root travels, and clips that keep in step."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import CLIP_EVENT, EVENT_ENDED, EVENT_INSIDE, RUNNING, STOPPED
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.elementary import cos, sin
from marrow.kernels.language.kernel import apart, rare

LONG = 0.25
"""Seconds of a step from which on whole rounds of a sync group are made at once."""
MOST_INTERVALS = 100_000
FASTEST = 1e9
"""How fast a clip plays at most, whatever speeds are multiplied."""
HAIR = 1e-9
"""Seconds of a clip that make no difference."""


def rotated(x, y, z, w, a, b, c):
    """The vector `(a, b, c)` turned by a quaternion."""
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


def composed(p, q):
    """The rigid motion `q` in the frame that `p` leads to; motions are (tx, ty, tz, x, y, z, w)."""
    a, b, c = rotated(p[3], p[4], p[5], p[6], q[0], q[1], q[2])
    return (
        p[0] + a,
        p[1] + b,
        p[2] + c,
        p[6] * q[3] + p[3] * q[6] + p[4] * q[5] - p[5] * q[4],
        p[6] * q[4] - p[3] * q[5] + p[4] * q[6] + p[5] * q[3],
        p[6] * q[5] + p[3] * q[4] - p[4] * q[3] + p[5] * q[6],
        p[6] * q[6] - p[3] * q[3] - p[4] * q[4] - p[5] * q[5],
    )


def inverted(p):
    a, b, c = rotated(-p[3], -p[4], -p[5], p[6], p[0], p[1], p[2])
    return -a, -b, -c, -p[3], -p[4], -p[5], p[6]


def root_at(graph, clip, time):
    """Where a clip's root is at a time inside the clip."""
    row = graph.clips[clip]
    u = min(max(time * row["rate"], 0.0), row["frames"] - 1.0)
    f = min(int(u), max(row["frames"] - 2, 0))
    t = u - f
    a = graph.roots[row["root"] + f]
    b = graph.roots[row["root"] + min(f + 1, row["frames"] - 1)]
    if a[3] == b[3] and a[4] == b[4] and a[5] == b[5] and a[6] == b[6]:
        # Most clips go straight on.
        return (
            a[0] + t * (b[0] - a[0]),
            a[1] + t * (b[1] - a[1]),
            a[2] + t * (b[2] - a[2]),
            a[3],
            a[4],
            a[5],
            a[6],
        )
    x, y = a[3] + t * (b[3] - a[3]), a[4] + t * (b[4] - a[4])
    z, w = a[5] + t * (b[5] - a[5]), a[6] + t * (b[6] - a[6])
    n = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    return (
        a[0] + t * (b[0] - a[0]),
        a[1] + t * (b[1] - a[1]),
        a[2] + t * (b[2] - a[2]),
        x * n,
        y * n,
        z * n,
        w * n,
    )


@rare
def repeated(p, times):
    """A rigid motion made `times` times over."""
    total = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    while times >= 1.0:
        half = np.floor(0.5 * times)
        if times - 2.0 * half >= 1.0:
            total = composed(total, p)
        p = composed(p, p)
        times = half
    return total


def travelled(graph, clip, before, after, loop):
    """The root's motion from one unwrapped time of a clip to another, in the frame it starts from."""
    duration = graph.clips[clip]["duration"]
    if not loop or duration <= 0.0:
        return composed(inverted(root_at(graph, clip, before)), root_at(graph, clip, after))
    k0, k1 = np.floor(before / duration), np.floor(after / duration)
    start, end = before - k0 * duration, after - k1 * duration
    if k0 == k1:
        return composed(inverted(root_at(graph, clip, start)), root_at(graph, clip, end))
    first, last = root_at(graph, clip, 0.0), root_at(graph, clip, duration)
    if k1 < k0:
        first, last = last, first
    total = composed(inverted(root_at(graph, clip, start)), last)
    total = composed(total, repeated(composed(inverted(first), last), abs(k1 - k0) - 1.0))
    return composed(total, composed(inverted(first), root_at(graph, clip, end)))


def shown_clip(graph, work, clip):
    """The row of a clip as a node shows it: itself, or what it is in a mirror."""
    return graph.clips[clip]["twin"] if work["flip"] != 0 else clip


def add_travel(room, work, share, delta):
    """Adds `share` of a motion to a weighted sum, as long and as turned as the node shows it; rotations the short way."""
    if work["stride"] != 1.0 or work["yaw"] != 0.0:
        s, half = work["stride"], 0.5 * work["yaw"]
        y, w = sin(half), cos(half)
        a, b, c = rotated(0.0, y, 0.0, w, s * delta[0], delta[1], s * delta[2])
        qx, qy, qz = rotated(0.0, y, 0.0, w, delta[3], delta[4], delta[5])
        delta = (a, b, c, qx, qy, qz, delta[6])
    side = share if delta[6] >= 0.0 else -share
    for k in range(3):
        room.motion[k] += share * delta[k]
    for k in range(3, 7):
        room.motion[k] += side * delta[k]


def happened(room, n, kind, event, source, weight, time):
    """Notes that something happened."""
    counters = room.counters[0]
    if kind == CLIP_EVENT and event < len(room.passed):
        room.passed[event]["step"], room.passed[event]["time"] = counters["step"], time
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
    if work["travel"] > 0.0:
        if graph.clips[clip]["root"] >= 0 and after != before:
            add_travel(room, work, work["travel"], travelled(graph, clip, before, after, loop))
        else:
            stay(room, row["node"])
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
    k = min(int(inside), markers - 1)
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
        interval = min(int(inside), markers - 1)
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


def gather(graph, room, g):
    """Puts the clips of a sync group that are seen into `members`. Returns their weight, the heaviest and how many."""
    total, heaviest, leader, count = 0.0, -1.0, -1, 0
    for k in range(room.counters[0]["grouped"]):
        member = room.grouped[k]
        if graph.leaves[member]["group"] != g:
            continue
        weight = room.work[graph.leaves[member]["node"]]["weight"]
        room.members[count] = member
        count += 1
        total += weight
        if weight > heaviest:
            heaviest, leader = weight, member
    return total, leader, count


def advance_group(graph, state, room, n, g, d, clock):
    """Moves the clips of a sync group on together. The heaviest one leads: its events are the group's."""
    group, me = graph.groups[g], state.groups[n, g]
    total, leader, count = gather(graph, room, g)
    if leader < 0:
        me["run"] = STOPPED
        return
    if me["run"] == STOPPED:
        me["run"], me["new"], me["phase"] = RUNNING, 1, 0.0
    total = max(total, 1e-30)
    markers, phase = group["markers"], me["phase"]
    after = phase
    if d > 0.0:
        after = advance_phase(graph, state, room, n, count, markers, total, phase, d)
    inside = after - np.floor(after / markers) * markers
    interval = min(int(inside), markers - 1)
    now = group_speed(graph, state, room, n, count, interval, total)
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
        if work["travel"] > 0.0:
            if graph.clips[clip]["root"] >= 0 and t1 != t0:
                add_travel(room, work, work["travel"], travelled(graph, clip, t0, t1, True))
            else:
                stay(room, leaf["node"])
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
