"""How clips move on: their time, the events they pass, the way their root travels, and clips that keep in step.

Plain functions that Numba compiles as they are (see `control`), and that run without it just the same.
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import MAX_LOOPS


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


def root_at(tables, clip, time):
    """Where a clip's root is at a time inside the clip."""
    row = tables.clips[clip]
    u = min(max(time * row["rate"], 0.0), row["frames"] - 1.0)
    f = min(int(u), max(row["frames"] - 2, 0))
    t = u - f
    a = tables.roots[row["root"] + f]
    b = tables.roots[row["root"] + min(f + 1, row["frames"] - 1)]
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


def travelled(tables, clip, before, after, loop):
    """The root's motion from one unwrapped time of a clip to another, in the frame it starts from."""
    duration = tables.clips[clip]["duration"]
    if not loop or duration <= 0.0:
        return composed(inverted(root_at(tables, clip, before)), root_at(tables, clip, after))
    k0, k1 = np.floor(before / duration), np.floor(after / duration)
    start, end = before - k0 * duration, after - k1 * duration
    if k0 == k1:
        return composed(inverted(root_at(tables, clip, start)), root_at(tables, clip, end))
    first, last = root_at(tables, clip, 0.0), root_at(tables, clip, duration)
    if k1 > k0:
        total = composed(inverted(root_at(tables, clip, start)), last)
        round_trip = composed(inverted(first), last)
        final = composed(inverted(first), root_at(tables, clip, end))
    else:
        total = composed(inverted(root_at(tables, clip, start)), first)
        round_trip = composed(inverted(last), first)
        final = composed(inverted(last), root_at(tables, clip, end))
    for _ in range(min(int(abs(k1 - k0)) - 1, 1000)):
        total = composed(total, round_trip)
    return composed(total, final)


def add_travel(motion, share, delta):
    """Adds `share` of a motion to a weighted sum; rotations the short way."""
    side = share if delta[6] >= 0.0 else -share
    for k in range(3):
        motion[k] += share * delta[k]
    for k in range(3, 7):
        motion[k] += side * delta[k]


def fire(tables, clip, before, after, loop, fresh, speed, weight, clock, instance, events, count, limit):
    """Notes the events between two unwrapped times of a clip: after the first (from it on where the clip is `fresh`), up to
    the second. `clock` is the moment of `before`."""
    row = tables.clips[clip]
    if row["events"] == 0 or before == after:
        return count
    duration = row["duration"]
    low, high = min(before, after), max(before, after)
    first, last = 0, 0
    if loop and duration > 0.0:
        first, last = int(np.floor(low / duration)), int(np.floor(high / duration))
        first = max(first, last - MAX_LOOPS)
    steps = last - first + 1
    for step in range(steps):
        # Backwards, the last one comes first.
        shift = (first + step if after > before else last - step) * duration
        for e in range(row["events"]):
            k = row["first_event"] + (e if after > before else row["events"] - 1 - e)
            at = tables.events[k]["time"] + shift
            passed = at > before and at <= after if after > before else at < before and at >= after
            if (passed or (fresh and at == before)) and count < limit:
                events[count]["instance"] = instance
                events[count]["event"] = tables.events[k]["name"]
                events[count]["clip"] = clip
                events[count]["weight"] = weight
                events[count]["time"] = clock + (at - before) / speed
                count += 1
    return count


def advance_leaf(tables, x, work, leaf, i, d, clock, n, events, count, limit, motion):
    """Moves a clip that keeps its own time on by `d` seconds of the instance."""
    duration = tables.clips[leaf["clip"]]["duration"]
    speed = work[i]["pace"] * x[leaf["rate"]]
    before = x[leaf["time"]]
    after = before + d * speed
    loop = leaf["loop"] != 0
    if not loop:
        after = min(max(after, 0.0), duration)
        if (after == duration and speed > 0.0) or (after == 0.0 and speed < 0.0):
            # Held at its end: it no longer moves.
            work[i]["speed"] = 0.0
        else:
            work[i]["speed"] = speed
    else:
        work[i]["speed"] = speed
    if d > 0.0 and speed != 0.0:
        if work[i]["loud"] > 0.0:
            count = fire(
                tables, leaf["clip"], before, after, loop, x[leaf["fresh"]] != 0.0, speed, work[i]["weight"], clock, n, events, count, limit
            )  # fmt: skip
        x[leaf["fresh"]] = 0.0
        if tables.clips[leaf["clip"]]["root"] >= 0 and work[i]["travel"] > 0.0:
            add_travel(motion, work[i]["travel"], travelled(tables, leaf["clip"], before, after, loop))
        elif work[i]["travel"] > 0.0:
            motion[6] += work[i]["travel"]
    elif work[i]["travel"] > 0.0:
        motion[6] += work[i]["travel"]
    if loop:
        after = after - np.floor(after / duration) * duration if duration > 0.0 else 0.0
    x[leaf["time"]] = after
    return count


def knot_time(tables, leaf, markers, phase):
    """The unwrapped time of a clip at an unwrapped phase of its group: straight between markers."""
    rounds = np.floor(phase / markers)
    inside = phase - rounds * markers
    k = min(int(inside), markers - 1)
    a, b = tables.numbers[leaf["knots"] + k], tables.numbers[leaf["knots"] + k + 1]
    return a + (inside - k) * (b - a) + rounds * tables.clips[leaf["clip"]]["duration"]


def group_speed(tables, x, work, group, interval, tick, total):
    """Markers per second: what each member would do by itself, by weight."""
    speed = 0.0
    for m in range(group["first"], group["first"] + group["count"]):
        leaf = tables.leaves[tables.links[m]]
        i = leaf["node"]
        if work[i]["seen"] == tick:
            length = tables.numbers[leaf["knots"] + interval + 1] - tables.numbers[leaf["knots"] + interval]
            if length > 1e-9:
                speed += work[i]["weight"] * work[i]["pace"] * x[leaf["rate"]] / length
    return speed / total


def advance_group(tables, x, work, group, tick, d, clock, n, events, count, limit, motion):
    """Moves the clips of a sync group on together. The heaviest one leads: its events are the group's."""
    total, heaviest, leader = 0.0, -1.0, -1
    for m in range(group["first"], group["first"] + group["count"]):
        i = tables.leaves[tables.links[m]]["node"]
        if work[i]["seen"] == tick:
            weight = work[i]["weight"]
            total += weight
            # What is only there to be left behind does not lead.
            weight *= work[i]["loud"]
            if weight > heaviest:
                heaviest, leader = weight, tables.links[m]
    if leader < 0:
        x[group["live"]] = 0.0
        return count
    markers = group["markers"]
    fresh = x[group["live"]] != 2.0
    if x[group["live"]] == 0.0:
        x[group["phase"]] = 0.0
        x[group["live"]] = 1.0
    phase = x[group["phase"]]
    after = phase
    left = d
    now = 0.0
    total = max(total, 1e-30)
    for _ in range(markers * MAX_LOOPS + 2):
        k = after - np.floor(after / markers) * markers
        interval = min(int(k), markers - 1)
        now = group_speed(tables, x, work, group, interval, tick, total)
        if now < 0.0 and k == interval:
            # On a marker, going back: the interval before it counts.
            interval = interval - 1 if interval > 0 else markers - 1
            now = min(group_speed(tables, x, work, group, interval, tick, total), 0.0)
        if left <= 0.0 or now == 0.0:
            break
        edge = np.floor(after) + 1.0 if now > 0.0 else np.ceil(after) - 1.0
        need = (edge - after) / now
        if need > left:
            after += now * left
            break
        after = edge
        left -= need
    mean = (after - phase) / d if d > 0.0 else now
    for m in range(group["first"], group["first"] + group["count"]):
        leaf = tables.leaves[tables.links[m]]
        i = leaf["node"]
        if work[i]["seen"] != tick:
            continue
        clip = leaf["clip"]
        duration = tables.clips[clip]["duration"]
        t0, t1 = knot_time(tables, leaf, markers, phase), knot_time(tables, leaf, markers, after)
        if d > 0.0 and t1 != t0:
            speed = (t1 - t0) / d
            if tables.links[m] == leader and work[i]["loud"] > 0.0:
                count = fire(
                    tables,
                    clip,
                    t0,
                    t1,
                    markers > 0,
                    fresh,
                    speed,
                    work[i]["weight"],
                    clock,
                    n,
                    events,
                    count,
                    limit,
                )
        else:
            k = after - np.floor(after / markers) * markers
            at = leaf["knots"] + min(int(k), markers - 1)
            speed = mean * (tables.numbers[at + 1] - tables.numbers[at])
        work[i]["speed"] = speed
        if work[i]["travel"] > 0.0:
            if tables.clips[clip]["root"] >= 0 and t1 != t0:
                add_travel(motion, work[i]["travel"], travelled(tables, clip, t0, t1, markers > 0))
            else:
                motion[6] += work[i]["travel"]
        x[leaf["time"]] = t1 - np.floor(t1 / duration) * duration if duration > 0.0 else 0.0
    if d > 0.0:
        x[group["live"]] = 2.0
    x[group["phase"]] = after - np.floor(after / markers) * markers
    return count
