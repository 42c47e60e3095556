"""Where instances go: what their root travels in a step, in an update that is told in parts, and in the world."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_travel import composed, heading, rotated, short_way, turned_about_up, where
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.elementary import arccos, atan2, cos, exp, sin
from marrow.kernels.language.kernel import rare

NEVER = 1e300
MOST_LAWS = 3
"""Steering is even, then dies out, in one step; and then nothing else."""


def add_motion(graph, state, room, n, d):
    """The root's travel of a step of `d` seconds, after what it has travelled before."""
    motion, way = room.motion, room.travel[n]
    if motion[15] > 0.0:
        take_over(motion)
    size = motion[3] * motion[3] + motion[4] * motion[4] + motion[5] * motion[5] + motion[6] * motion[6]
    if size <= 0.0:
        return
    s = 1.0 / np.sqrt(size)
    step = (motion[0], motion[1], motion[2], motion[3] * s, motion[4] * s, motion[5] * s, motion[6] * s)
    for k in range(len(graph.steerings)):
        # Inside a window of a warp that one decides.
        share = room.steering[k] - motion[7]
        if share > 1e-6 and d > 0.0:
            step = steered(graph, state, room, n, graph.steerings[k], min(share, 1.0), d, step)
    moved = composed((way[0], way[1], way[2], way[3], way[4], way[5], way[6]), step)
    for k in range(7):
        way[k] = moved[k]


def take_over(motion):
    """Gives clips inside windows of warps part of what others of a mix travel: all of it when their window ends."""
    share, taken = motion[15], motion[16]
    for k in range(7):
        warped = motion[8 + k]
        more = taken * max(1.0 - share, 0.0) / share * warped
        motion[k] = warped + more + (1.0 - taken) * (motion[k] - warped)


def steering_law(error, natural, rate, most):
    """How the angle that is missing goes on from here: whether evenly, then how fast, otherwise what it tends to; and the
    seconds until that is no longer so. `natural` is how fast the clips turn; steering takes `rate` of what is missing each
    second, and turns by `most` at most."""
    edge = most / rate
    if error > edge or (natural > most and error >= 0.0):
        change = natural - most
        return True, change, (error - edge) / -change if change < 0.0 else NEVER
    if error < -edge or (natural < -most and error <= 0.0):
        change = natural + most
        return True, change, (-edge - error) / change if change > 0.0 else NEVER
    return False, natural / rate, NEVER


def missing_after(error, even, goal, rate, seconds):
    """The angle that is missing after some seconds of one law."""
    return error + goal * seconds if even else goal + (error - goal) * exp(-rate * seconds)


@rare
def steered(graph, state, room, n, row, share, d, step):
    """The travel of a step with the root turned towards a direction on the way. The clips are taken to go and to turn evenly
    in the step; the angle that is missing has a closed form then, and the place is an integral over that (Gauss, three
    points)."""
    here = where(state, room, n)
    a = value_of(graph, state, n, graph.links[row["direction"]])
    c = value_of(graph, state, n, graph.links[row["direction"] + 2])
    if a * a + c * c < 1e-12:
        return step
    then = composed(here, step)
    now = heading(row, here[3], here[4], here[5], here[6])
    natural = short_way(heading(row, then[3], then[4], then[5], then[6]) - now) / d
    error = short_way(now - atan2(a, c))
    if error == 0.0 and natural == 0.0:
        return step
    rate, most = share * row["rate"], share * row["most"]
    # What the clips go in the world in a second, in the direction that they have halfway.
    half = 0.5 * natural * d
    size = d * (sin(half) / half if abs(half) > 1e-9 else 1.0)
    vx, vz = (then[0] - here[0]) / size, (then[2] - here[2]) / size
    first, time = error, 0.0
    px, pz = 0.0, 0.0
    for _ in range(MOST_LAWS):
        even, goal, lasts = steering_law(error, natural, rate, most)
        piece = min(lasts, d - time)
        for k in range(3):
            at = 0.5 * piece * (1.0 + (k - 1) * 0.7745966692414834)
            angle = missing_after(error, even, goal, rate, at) - first - half
            s, w = sin(angle), cos(angle)
            weight = piece * (0.4444444444444444 if k == 1 else 0.2777777777777778)
            px += weight * (w * vx + s * vz)
            pz += weight * (w * vz - s * vx)
        error = missing_after(error, even, goal, rate, piece)
        time += piece
        if piece == lasts:
            # Now what is missing is little enough to die out.
            error = min(max(error, -most / rate), most / rate)
        if time >= d:
            break
    qx, qy, qz, qw = turned_about_up(error - first - natural * d, (then[3], then[4], then[5], then[6]))
    x, y, z = rotated(-here[3], -here[4], -here[5], here[6], px, then[1] - here[1], pz)
    turn = composed((0.0, 0.0, 0.0, -here[3], -here[4], -here[5], here[6]), (0.0, 0.0, 0.0, qx, qy, qz, qw))
    return x, y, z, turn[3], turn[4], turn[5], turn[6]


def share_travel(room, state, n):
    """When updates are rare, each tells its part of the way: as straight as the whole, whichever way the root has turned in
    the parts before, so that they add up to it."""
    s = 1.0 / state.instances[n]["round"]
    whole, part = state.travel[n], room.travel[n]
    side = -1.0 if whole[6] < 0.0 else 1.0
    half = arccos(min(max(side * whole[6], -1.0), 1.0))
    size = sin(half)
    before = s * state.instances[n]["waited"]
    told = side * (sin(before * half) / size if size > 1e-9 else before)
    x, y, z = rotated(
        -told * whole[3], -told * whole[4], -told * whole[5], cos(before * half),
        s * whole[0], s * whole[1], s * whole[2],
    )  # fmt: skip
    part[0], part[1], part[2] = x, y, z
    scale = side * (sin(s * half) / size if size > 1e-9 else s)
    for k in range(3, 6):
        part[k] = scale * whole[k]
    part[6] = cos(s * half)


def move_place(state, room, n):
    """Where an instance is in the world, after what its root has travelled."""
    place, way = state.place[n], room.travel[n]
    moved = composed(
        (place[0], place[1], place[2], place[3], place[4], place[5], place[6]),
        (way[0], way[1], way[2], way[3], way[4], way[5], way[6]),
    )
    size = np.sqrt(moved[3] * moved[3] + moved[4] * moved[4] + moved[5] * moved[5] + moved[6] * moved[6])
    for k in range(3):
        place[k] = moved[k]
    for k in range(3, 7):
        place[k] = moved[k] / size
