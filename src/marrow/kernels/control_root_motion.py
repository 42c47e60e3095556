"""Where instances go: what their root travels in a step, in an update that is told in parts, and in the world."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_motion import composed
from marrow.kernels.language.elementary import arccos, cos, sin


def add_motion(room, n):
    """The root's travel of a step, after what it has travelled before."""
    motion, way = room.motion, room.travel[n]
    size = motion[3] * motion[3] + motion[4] * motion[4] + motion[5] * motion[5] + motion[6] * motion[6]
    if size <= 0.0:
        return
    s = 1.0 / np.sqrt(size)
    moved = composed(
        (way[0], way[1], way[2], way[3], way[4], way[5], way[6]),
        (motion[0], motion[1], motion[2], motion[3] * s, motion[4] * s, motion[5] * s, motion[6] * s),
    )
    for k in range(7):
        way[k] = moved[k]


def share_travel(room, state, n):
    """When updates are rare, each tells its part of the way."""
    s = 1.0 / state.instances[n]["round"]
    whole, part = state.travel[n], room.travel[n]
    for k in range(3):
        part[k] = s * whole[k]
    side = -1.0 if whole[6] < 0.0 else 1.0
    half = arccos(min(max(side * whole[6], -1.0), 1.0))
    size = sin(half)
    scale = sin(s * half) / size if size > 1e-9 else s
    for k in range(3, 6):
        part[k] = side * scale * whole[k]
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
