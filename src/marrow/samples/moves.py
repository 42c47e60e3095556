"""The mannequin's motion database: its own gaits, and starts, stops, turns and changes of pace recorded from its graph."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph import Animator, FootLock, RootMotion
from marrow.graph.description import Graph
from marrow.matching import MotionDatabase, build
from marrow.math import quaternion
from marrow.model.clip import Clip, Track
from marrow.samples import mannequin
from marrow.samples.graphs import locomotion_graph

__all__ = ["mannequin_moves"]

Array = NDArray[Any]
RATE = 30
SECONDS, CHANGE = 3.2, 1.2
"""How long a recording lasts, and when what it shows begins."""
GAITS = ("idle", "walk*", "jog*", "run*", "strafe*", "turn_*")
PACES = {"walk": 1.25, "jog": 2.2, "run": 3.2}


def _scripts() -> list[tuple[str, float, float, float, float]]:
    """Name, speed before and behind, degrees of a turn, and seconds that the change takes."""
    out = []
    for name, pace in PACES.items():
        out += [
            (f"start_{name}", 0.0, pace, 0.0, 0.5),
            (f"stop_{name}", pace, 0.0, 0.0, 0.25 + 0.15 * pace),
        ]
        for angle in (45, 90, 135, 180):
            for side, sign in (("left", 1), ("right", -1)):
                seconds = 0.2 + angle / 180 * (0.3 + 0.08 * pace)
                out.append((f"{name}_turn_{angle}_{side}", pace, pace, sign * angle, seconds))
                if angle > 45:
                    out.append((f"start_{name}_{angle}_{side}", 0.0, pace, sign * angle, 0.8))
    pairs = [("walk", "jog"), ("walk", "run"), ("jog", "run")]
    for a, b in pairs:
        out += [
            (f"{a}_to_{b}", PACES[a], PACES[b], 0.0, 0.5),
            (f"{b}_to_{a}", PACES[b], PACES[a], 0.0, 0.5),
        ]
    for side, sign in (("left", 1), ("right", -1)):
        out.append((f"stand_turn_180_{side}", 0.0, 0.0, sign * 180, 1.1))
    return out


def _share(time: float, seconds: Array) -> Array:
    """How much of a change is done: 0 before it, 1 behind it, smooth between."""
    s = np.clip((time - CHANGE) / seconds, 0.0, 1.0)
    return s * s * (3 - 2 * s)


def _recorded() -> list[Clip]:
    """The moves as clips of the mannequin, all recorded in one crowd."""
    hero, scripts = mannequin(), _scripts()
    _, before, behind, angle, seconds = (np.array(column) for column in zip(*scripts))
    before, behind, seconds = (x.astype(np.float64) for x in (before, behind, seconds))
    turn = np.radians(angle.astype(np.float64))
    graph = locomotion_graph()
    inner = graph.root.source if isinstance(graph.root, RootMotion) else graph.root
    planted = Graph(RootMotion(FootLock(inner)), parameters=graph.parameters)
    crowd = Animator(hero, planted, count=len(scripts), threads=1)
    # Until it walks as it should, nothing is recorded.
    crowd["speed"] = before
    for _ in range(60):
        crowd.update(1 / 60)
    crowd.root.set(np.zeros((len(scripts), 3)), np.tile([0.0, 0.0, 0.0, 1.0], (len(scripts), 1)))
    frames, yaw = [], np.zeros(len(scripts))
    for step in range(round(SECONDS * 60) + 1):
        time = step / 60
        if step:
            share = _share(time, seconds)
            crowd["speed"] = before + (behind - before) * share
            ahead = turn * share
            spin = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), ahead - yaw)
            yaw = ahead
            crowd.root.set(rotation=quaternion.multiply(spin, crowd.root.rotation))
            crowd.update(1 / 60)
        if step % (60 // RATE) == 0:
            pose = crowd.pose
            place, facing = crowd.root.translation, crowd.root.rotation
            translation, rotation = pose.translation.astype(np.float64), pose.rotation.astype(np.float64)
            translation[:, 0] = place + quaternion.rotate(facing, translation[:, 0])
            rotation[:, 0] = quaternion.multiply(facing, rotation[:, 0])
            frames.append((translation, rotation))
    times = np.arange(len(frames)) / RATE
    places, turns = (np.stack([f[k] for f in frames]) for k in (0, 1))  # (T, N, J, ...)
    rest = hero.skeleton.rest
    clips = []
    for n, script in enumerate(scripts):
        tracks = []
        for j in range(len(hero.skeleton)):
            moved = places[:, n, j]
            if np.abs(moved - rest.translation[j]).max() > 1e-6:
                tracks.append(Track(j, "translation", times, moved))
            tracks.append(Track(j, "rotation", times, turns[:, n, j]))
        clips.append(Clip(script[0], hero.skeleton, tracks))  # type: ignore[arg-type]
    return clips


@cache
def mannequin_moves() -> MotionDatabase:
    """A motion database of the mannequin for `MotionMatch`: its gaits, and starts, stops, turns and changes of pace that
    are recorded from its own graph with feet locked. Made when it is asked for, in a second or two."""
    hero = mannequin()
    whole = hero.replace(clips=[*hero.clips.values(), *_recorded()])
    return build(whole, clips=[*GAITS, *(script[0] for script in _scripts())])
