"""A small character for tests of windows: quick to draw, with clips to go through and a graph."""

from __future__ import annotations

import math

import numpy as np

import marrow as mw
from marrow.graph import BlendSpace1D, Graph, Parameter
from marrow.math import quaternion


def doll() -> mw.Character:
    """Two boxes, one upon the other, 2 m high, facing +Z; three clips of 0.5, 1 and 2 s."""
    bones = mw.Skeleton(
        ("hips", "head"), [-1, 0], mw.Pose([[0, 0, 0], [0, 1, 0]], [[0, 0, 0, 1]] * 2, np.ones((2, 3)))
    )
    corners = np.array([[x, y, z] for x in (-0.3, 0.3) for y in (0, 1) for z in (-0.2, 0.2)], np.float32)
    faces = [
        *([0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
    red, blue = (
        mw.Material(n, base_color=(*c, 1.0), metallic=0.0)
        for n, c in (("red", (0.8, 0.1, 0.1)), ("blue", (0.1, 0.1, 0.8)))
    )
    parts = tuple(
        mw.Mesh.rigid(name, corners * scale, faces, j, sections=(mw.Section(0, 12, j),))
        for j, (name, scale) in enumerate((("body", 1.0), ("face", 0.8)))
    )
    clips = [_nod(bones, name, seconds) for name, seconds in (("bow", 0.5), ("nod", 1.0), ("turn", 2.0))]
    return mw.Character(bones, parts, clips, (red, blue), name="doll")


def _nod(bones: mw.Skeleton, name: str, seconds: float) -> mw.Clip:
    turns = quaternion.from_axis_angle(np.array([1.0, 0, 0]), np.array([0.0, math.radians(60), 0.0]))
    track = mw.Track(1, "rotation", [0, seconds / 2, seconds], turns)
    return mw.Clip(name, bones, [track], events=[mw.Event(seconds / 4, "down")], rate=30.0)


def doll_graph() -> Graph:
    speed = Parameter(range=(0.0, 2.0))
    parameters = {"speed": speed, "calm": Parameter("bool", False), "hop": Parameter("trigger")}
    return Graph(BlendSpace1D.of("speed", {0.0: "bow", 2.0: "nod"}), parameters, "doll")
