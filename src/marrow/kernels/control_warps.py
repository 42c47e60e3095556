"""Motion warping: roots that reach a place and a facing by a moment of a clip.

Inside a window the clip is laid so that it ends at the target. What the root is away from there dies out: its place by the
share of the way that the clip goes, its facing by the share of the time. What is left of both after a step depends on where
the step ends and not on how many led there, so the path is the same at any frame rate, and a target may move.

In a fade a clip inside its window decides more of the travel than its share, and all of it when the window ends: fades may go
on after that.
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_travel import (
    add_travel,
    composed,
    heading,
    inverted,
    root_at,
    rotated,
    shaped,
    short_way,
    travelled,
    turned_about_up,
    where,
)
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.language.kernel import rare

HAIR = 1e-9
"""Seconds of a clip that make no difference."""
NEVER = 1e300
MOST_PIECES = 10_000
"""Windows that are gone through in one step."""


def go_on(graph, state, room, n, work, share, clip, before, after, loop):
    """Gives an instance `share` of what a clip's root travels from one unwrapped time to another."""
    if after == before:
        room.motion[6] += share
    elif work["warp"] != 0 and after > before:
        go_on_warped(graph, state, room, n, work, share, clip, before, after, loop)
    elif graph.clips[clip]["root"] >= 0:
        add_travel(room, share, shaped(work, travelled(graph, clip, before, after, loop)))
    else:
        room.motion[6] += share


def open_window(graph, room, warp, clip, time):
    """The innermost warp whose window is open at a time of a clip, that window, and when this changes; -1 for none."""
    change = NEVER
    while warp > 0:
        at = graph.warps[warp - 1]["windows"] + 2 * clip
        for k in range(graph.links[at], graph.links[at] + graph.links[at + 1]):
            begin, end = graph.windows[k]["begin"], graph.windows[k]["end"]
            if time < begin - HAIR:
                change = min(change, begin)
            elif time < end - HAIR:
                return warp - 1, k, min(change, end)
        warp = room.outer[warp - 1]
    return -1, -1, change


def natural(graph, clip, before, after, loop):
    """What a clip's root travels, which may be nothing."""
    if graph.clips[clip]["root"] < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    return travelled(graph, clip, before, after, loop)


@rare
def go_on_warped(graph, state, room, n, work, share, clip, before, after, loop):
    """The same where windows may be open, piece by piece."""
    start = where(state, room, n)
    here, time, inside, done = start, before, 0.0, 0.0
    duration = graph.clips[clip]["duration"]
    for _ in range(MOST_PIECES):
        if time >= after:
            break
        lap = np.floor(time / duration) * duration if loop and duration > 0.0 else 0.0
        local = time - lap
        warp, window, change = open_window(graph, room, work["warp"], clip, local)
        if loop:
            change = min(change, duration)
        stop = min(after, max(lap + change, time + HAIR))
        if window < 0:
            here = composed(here, shaped(work, natural(graph, clip, time, stop, loop)))
        else:
            here = warped(graph, state, n, warp, window, clip, here, local, local + (stop - time))
            inside += stop - time
            begin, end = graph.windows[window]["begin"], graph.windows[window]["end"]
            done = max(done, min((local + (stop - time) - begin) / (end - begin), 1.0))
            if local + (stop - time) > end - HAIR:
                done = 1.0
        time = stop
    if time < after:
        here = composed(here, shaped(work, natural(graph, clip, time, after, loop)))
    way = composed(inverted(start), here)
    add_travel(room, share, way)
    room.motion[7] += share * inside / (after - before)
    if inside > 0.0:
        side = share if way[6] >= 0.0 else -share
        for k in range(3):
            room.motion[8 + k] += share * way[k]
        for k in range(3, 7):
            room.motion[8 + k] += side * way[k]
        room.motion[15] += share
        room.motion[16] = max(room.motion[16], done * done * (3.0 - 2.0 * done))


def root_of(graph, clip, time):
    if graph.clips[clip]["root"] < 0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    return root_at(graph, clip, time)


def way_at(graph, clip, time):
    """How far a clip's root has come."""
    row = graph.clips[clip]
    u = min(max(time * row["rate"], 0.0), row["frames"] - 1.0)
    f = min(int(u), max(row["frames"] - 2, 0))
    a, b = graph.ways[row["root"] + f], graph.ways[row["root"] + min(f + 1, row["frames"] - 1)]
    return a + (u - f) * (b - a)


def gone(graph, clip, window, before, after, time_share):
    """The share of what is left of the way in a window that a clip goes from one time to another. Where it goes no further
    the time counts."""
    if time_share >= 1.0 or window["timed"] != 0:
        return time_share
    first = way_at(graph, clip, before)
    left = way_at(graph, clip, window["end"]) - first
    if left <= 1e-6:
        return time_share
    return min(max((way_at(graph, clip, after) - first) / left, 0.0), 1.0)


def turned_way(graph, clip, x, y, z, w, before, after, turning):
    """How far a clip's root goes while its frame `(x, y, z, w)` turns evenly, by `turning` a second: straight from frame to
    frame of the clip, so each is a chord of a circle."""
    right, up, ahead = 0.0, 0.0, 0.0
    if graph.clips[clip]["root"] < 0:
        return right, up, ahead
    rate, time = graph.clips[clip]["rate"], before
    while time < after:
        stop = min(max((np.floor(time * rate + 1e-6) + 1.0) / rate, time + HAIR), after)
        p, q = root_at(graph, clip, time), root_at(graph, clip, stop)
        a, b, c = rotated(x, y, z, w, q[0] - p[0], q[1] - p[1], q[2] - p[2])
        half = 0.5 * turning * (stop - time)
        chord = sin(half) / half if abs(half) > 1e-9 else 1.0
        middle = turning * (0.5 * (time + stop) - before)
        s, k = sin(middle), cos(middle)
        right += chord * (k * a + s * c)
        up += b
        ahead += chord * (k * c - s * a)
        time = stop
    return right, up, ahead


def missing_turn(graph, state, n, row, x, y, z, w):
    """How far a rotation would have to turn about the vertical to face as a warp wants; nothing where it does not."""
    if row["facing"] < 0:
        return 0.0
    a = value_of(graph, state, n, graph.links[row["facing"]])
    c = value_of(graph, state, n, graph.links[row["facing"] + 2])
    if a * a + c * c < 1e-12:
        return 0.0
    return short_way(atan2(a, c) - heading(row, x, y, z, w))


@rare
def warped(graph, state, n, warp, window, clip, here, before, after):
    """Where an instance is at a later time of a clip inside a window, that is now `here`."""
    row, span = graph.warps[warp], graph.windows[window]
    end = span["end"]
    share = (after - before) / (end - before) if after < end - HAIR else 1.0
    first, then, last = root_of(graph, clip, before), root_of(graph, clip, after), root_of(graph, clip, end)
    # The frame that the clip is seen in: what turns model space as the clip has it to the world.
    frame = composed(
        (0.0, 0.0, 0.0, here[3], here[4], here[5], here[6]),
        (0.0, 0.0, 0.0, -first[3], -first[4], -first[5], first[6]),
    )
    at_end = composed(frame, (0.0, 0.0, 0.0, last[3], last[4], last[5], last[6]))
    turn = missing_turn(graph, state, n, row, at_end[3], at_end[4], at_end[5], at_end[6])
    fx, fy, fz, fw = turned_about_up(turn, (frame[3], frame[4], frame[5], frame[6]))
    ex, ey, ez, ew = turned_about_up(turn, (at_end[3], at_end[4], at_end[5], at_end[6]))
    ox, oy, oz = rotated(ex, ey, ez, ew, span["x"], span["y"], span["z"])
    # The clip, laid so that it ends at the target: what is left of it now, and at the end of the step.
    ax, ay, az = rotated(fx, fy, fz, fw, last[0] - first[0], last[1] - first[1], last[2] - first[2])
    bx, by, bz = rotated(fx, fy, fz, fw, last[0] - then[0], last[1] - then[1], last[2] - then[2])
    goes = gone(graph, clip, span, before, after, share)
    if row["x"] != 0 and row["z"] != 0:
        nx, nz = 0.0, 0.0
        _, ny, _ = rotated(frame[3], frame[4], frame[5], frame[6], then[0] - first[0], then[1] - first[1], then[2] - first[2])  # fmt: skip
    else:
        nx, ny, nz = turned_way(
            graph, clip, frame[3], frame[4], frame[5], frame[6], before, after, turn / (end - before)
        )
    px, py, pz = here[0] + nx, here[1] + ny, here[2] + nz
    left = 1.0 - goes
    if row["x"] != 0:
        target = value_of(graph, state, n, graph.links[row["target"]]) - ox
        px = target - bx + left * (here[0] - (target - ax))
    if row["y"] != 0:
        target = value_of(graph, state, n, graph.links[row["target"] + 1]) - oy
        py = target - by + left * (here[1] - (target - ay))
    if row["z"] != 0:
        target = value_of(graph, state, n, graph.links[row["target"] + 2]) - oz
        pz = target - bz + left * (here[2] - (target - az))
    faces = composed(frame, (0.0, 0.0, 0.0, then[3], then[4], then[5], then[6]))
    qx, qy, qz, qw = turned_about_up(share * turn, (faces[3], faces[4], faces[5], faces[6]))
    return px, py, pz, qx, qy, qz, qw
