"""A graph for a character that came without one: its clips of standing, walking and running along one line of speed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from marrow.model import Character, Clip

if TYPE_CHECKING:
    from marrow.graph import AnyNode, Graph

__all__ = ["HINT", "gaits", "labels", "offer", "ready_graph"]

HINT = (
    "A graph is made in Python (mw.Graph) and saved as JSON: drop that file here, or start with --graph FILE. Clips called "
    "idle, walk and run make one by themselves."
)
GAITS = {"idle": ("idle", "stand", "breath"), "walk": ("walk",), "run": ("run", "jog", "sprint")}
# Words that make a clip something else than going straight ahead.
_OTHERS = re.compile(
    r"back|left|right|strafe|turn|start|stop|crouch|jump|injur|aim|attack|additive", re.IGNORECASE
)
SPEEDS = {"walk": 1.5, "run": 4.0}
"""Metres a second where a clip does not say."""
SEPARATORS = "|_@: -./"


def labels(names: list[str]) -> list[str]:
    """Names without what they all begin with, up to a separator; what exporters put before a bar goes too."""
    cut = 0
    if len(names) > 1:
        shortest = min(names, key=len)
        while cut < len(shortest) and all(name[cut] == shortest[cut] for name in names):
            cut += 1
        while cut and shortest[cut - 1] not in SEPARATORS:
            cut -= 1
    elif names:
        cut = names[0].rfind("|") + 1
    out = [name[cut:].strip(SEPARATORS) for name in names]
    return out if all(out) and len(set(out)) == len(set(names)) else list(names)


def gaits(character: Character) -> dict[str, str]:
    """The clips of standing, walking and running by their names: of several the plainest."""
    ranked: dict[str, tuple[int, int, str]] = {}
    clips = character.clips
    for name, label in zip(clips, labels(list(clips))):
        clip = clips[name]
        if clip.additive or clip.duration <= 0 or _OTHERS.search(label):
            continue
        for gait, words in GAITS.items():
            rank = next((k for k, word in enumerate(words) if word in label.lower()), None)
            if rank is not None:
                ranked[gait] = min(ranked.get(gait, (99, 0, "")), (rank, len(label), name))
                break
    return {gait: name for gait, (_, _, name) in ranked.items()}


def offer(character: Character) -> str | None:
    """What the clips would make, in words; None where they make nothing."""
    found = gaits(character)
    if len(found) < 2:
        return None
    names = [repr(found[g]) for g in GAITS if g in found]
    return f"{', '.join(names[:-1])} and {names[-1]} make a graph that goes by speed"


def ready_graph(character: Character) -> Graph | None:
    """Standing, walking and running by the parameter `speed`, in metres a second; None where the clips do not make that."""
    from marrow.graph import BlendSpace1D, ClipNode, Graph, Parameter, RootMotion
    from marrow.studio.travel import carrier

    found = gaits(character)
    if len(found) < 2:
        return None
    points: dict[float, AnyNode] = {}
    travels = False
    for gait in GAITS:
        if gait not in found:
            continue
        clip = character.clips[found[gait]]
        if gait == "idle":
            points[0.0] = ClipNode(clip.name, sync=False)
            continue
        speed, way = _speed(clip), carrier(clip) is not None
        travels |= way
        speed = max(speed or SPEEDS[gait], max(points, default=0.0) + 0.5)
        points[round(speed, 2)] = clip.name
    space = BlendSpace1D.of("speed", points)
    top = max(points)
    parameters = {"speed": Parameter(range=(0.0, top), default=min(points), smoothing=0.3)}
    return Graph(RootMotion(space) if travels else space, parameters, "locomotion")


def _speed(clip: Clip) -> float | None:
    """By the way it takes, or by its feet where it stays in place; None where neither says."""
    from marrow.errors import MarrowError
    from marrow.motion.root_motion import travel_speed
    from marrow.studio.travel import carrier, ways

    joint = carrier(clip)
    if joint is not None:
        way = ways(clip, joint, np.array([clip.duration]))[0]
        speed = float(np.hypot(way[0, 3], way[2, 3])) / clip.duration
        if speed > 0.2:
            return speed
    try:
        speed = float(np.linalg.norm(travel_speed(clip)))
    except MarrowError:
        return None
    return speed if 0.2 < speed < 20 else None
