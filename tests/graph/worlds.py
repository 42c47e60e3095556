"""Small characters whose motion can be computed by hand."""

from __future__ import annotations

import numpy as np

import marrow as mw
from marrow.math import quaternion

BONES = mw.Skeleton(
    ("root", "hips", "leg", "spine", "arm", "hand"),
    [-1, 0, 1, 1, 3, 4],
    mw.Pose(
        np.array(
            [[0, 0, 0], [0, 1, 0], [0, -0.5, 0], [0, 0.5, 0], [0.2, 0.3, 0], [0.4, 0, 0.05]], np.float32
        ),
        np.tile(np.array([0, 0, 0, 1], np.float32), (6, 1)),
        np.ones((6, 3), np.float32),
    ),
    morph_names=("smile",),
)


def about_z(degrees):
    return quaternion.from_axis_angle(np.array([0.0, 0, 1]), np.radians(degrees))


def still(name, x=0.0, degrees=0.0, smile=0.0, duration=1.0):
    """Every joint at `x` along the X axis, turned by `degrees` about Z; one second long."""
    tracks = [mw.Track(j, "translation", [0, duration], [[x, 0, 0]] * 2) for j in range(len(BONES))]
    tracks += [mw.Track(j, "rotation", [0, duration], [about_z(degrees)] * 2) for j in range(len(BONES))]
    tracks.append(mw.Track(0, "morph", [0, duration], [smile, smile]))
    return mw.Clip(name, BONES, tracks)


def ramp(name, start, end, duration=1.0, events=(), joint=1):
    """One joint moves along x from `start` to `end`."""
    track = mw.Track(joint, "translation", [0, duration], [[start, 0, 0], [end, 0, 0]])
    return mw.Clip(name, BONES, [track], duration, tuple(mw.Event(t, n) for t, n in events))


def gait(name, duration, left, right, step=1.0):
    """A walk: the root travels `step` metres along z per loop; feet touch the ground at `left` and `right` seconds."""
    frames = 25
    times = np.linspace(0, duration, frames)
    travel = np.stack([0 * times, 0 * times, step * times / duration], axis=1)
    swing = quaternion.from_axis_angle(
        np.array([1.0, 0, 0]), 0.5 * np.sin(2 * np.pi * (times - left) / duration)
    )
    tracks = [mw.Track(0, "translation", times, travel), mw.Track(2, "rotation", times, swing)]
    return mw.Clip(name, BONES, tracks, duration, (mw.Event(left, "left"), mw.Event(right, "right")))


def character(*clips):
    return mw.Character(BONES, (), list(clips), name="stick")


def place(animator, joint=1):
    """Where a joint is along x, relative to its parent."""
    return animator.pose.translation[..., joint, 0]


STICK_CLIPS = (still("zero"), still("one", 1.0, 40.0), mw.additive(still("plus", 3.0, 20.0), still("zero")))
