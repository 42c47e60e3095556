"""The rigid motion of roots: where a clip's root is, how far it goes, and what an instance is given of that."""

from __future__ import annotations

import numpy as np

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.language.kernel import rare


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


def shaped(work, delta):
    """A motion as long and as turned as a node shows it."""
    if work["stride"] == 1.0 and work["yaw"] == 0.0:
        return delta
    s, half = work["stride"], 0.5 * work["yaw"]
    y, w = sin(half), cos(half)
    a, b, c = rotated(0.0, y, 0.0, w, s * delta[0], delta[1], s * delta[2])
    qx, qy, qz = rotated(0.0, y, 0.0, w, delta[3], delta[4], delta[5])
    return a, b, c, qx, qy, qz, delta[6]


def add_travel(room, share, delta):
    """Adds `share` of a motion to a weighted sum; rotations the short way."""
    side = share if delta[6] >= 0.0 else -share
    for k in range(3):
        room.motion[k] += share * delta[k]
    for k in range(3, 7):
        room.motion[k] += side * delta[k]


def where(state, room, n):
    """Where an instance is in the world at this moment of its update."""
    place, way = state.place[n], room.travel[n]
    return composed(
        (place[0], place[1], place[2], place[3], place[4], place[5], place[6]),
        (way[0], way[1], way[2], way[3], way[4], way[5], way[6]),
    )


def turned_about_up(angle, p):
    """A rotation (or a motion without its place), turned in the world: `(x, y, z, w)`."""
    y, w = sin(0.5 * angle), cos(0.5 * angle)
    return w * p[0] + y * p[2], w * p[1] + y * p[3], w * p[2] - y * p[0], w * p[3] - y * p[1]


def short_way(angle):
    """An angle of at most half a turn. Half a turn goes to the left, also where rounding has made it a hair more, so that
    the way round does not depend on the steps that led there."""
    return angle - 6.283185307179586 * np.ceil((angle - 3.141592653589793 - 1e-6) / 6.283185307179586)


def heading(row, x, y, z, w):
    """The angle about the vertical that a character looks along when it is turned by `(x, y, z, w)`; `row` knows where it
    looks by itself."""
    right, _, ahead = rotated(x, y, z, w, row["ahead_x"], 0.0, row["ahead_z"])
    return atan2(right, ahead)
