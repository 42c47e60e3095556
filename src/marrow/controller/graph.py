"""The graph of a character that is steered: standing to running by `speed`, aside by `strafe`; a jump, turns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.controller.clip_names import Role
from marrow.graph import (
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    FootLock,
    FootPlacement,
    Graph,
    Parameter,
    PoseNode,
    RootMotion,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.nodes.base import AnyNode
from marrow.graph.root_tracks import carried_by_hips
from marrow.model import Character
from marrow.motion.rig import find_rig

__all__ = ["locomotion_graph"]

Array = NDArray[Any]
SMOOTHING = 0.15
"""Seconds by which a change of speed is half done."""


def locomotion_graph(
    character: Character,
    clips: dict[Role, str],
    velocities: dict[Role, Array],
    ahead: Array,
    carrier: int,
    turns: dict[Role, float],
    standing: float,
    size: float,
) -> Graph:
    """Parameters: `speed`, metres a second ahead (negative: back); `strafe`, to the right, where there are steps aside;
    the triggers `jump`, `turn_left` and `turn_right`, where there are such clips."""
    skeleton = character.skeleton
    rig = find_rig(skeleton)
    idle: AnyNode = PoseNode(clips.get("walk", clips.get("run")), standing)
    if "idle" in clips:
        idle = ClipNode(clips["idle"], sync=False)
    parameters = {"speed": Parameter(smoothing=SMOOTHING)}
    moves: AnyNode = _space(clips, velocities, ahead, idle)
    if isinstance(moves, BlendSpace2D):
        parameters["strafe"] = Parameter(smoothing=SMOOTHING)
    feet = {
        skeleton.names[rig.chains[f"{side}_leg"][2]]: (f"foot_{side[0]}", f"foot_{side[0]}_lift")
        for side in ("left", "right")
        if rig.complete
    }
    if feet:
        moves = FootLock(
            moves,
            tuple(feet),
            feet,
            radius=0.15 * size,
            speed=0.3 * size,
            height=0.08 * size,
            drop=0.1 * size,
        )
    states = {"move": State(moves)}
    ways: list[Transition] = []
    if "jump" in clips:
        states["jump"] = State(ClipNode(clips["jump"], loop=False))
        parameters["jump"] = Parameter("trigger", hold=0.2)
        ways.append(Transition("move", "jump", ("jump",), seconds=0.12))
        ways.append(Transition("jump", "move", ("remaining <= 0.25",), seconds=0.25))
    for role in turns:
        states[role] = State(ClipNode(clips[role], loop=False))
        parameters[role] = Parameter("trigger")
        ways.append(Transition("move", role, (role, f"speed < {0.2 * size:.4g}"), seconds=0.15))
        ways.append(Transition(role, "move", ("remaining <= 0.15",), seconds=0.15))
    body: AnyNode = StateMachine(states, tuple(ways)) if ways else moves
    if feet:
        body = FootPlacement(body, tuple(feet), step=0.5 * size, drop=0.4 * size)
    # Hips turn with every step; a joint on the ground turns with the character.
    own = carried_by_hips(skeleton, carrier)
    root = RootMotion(
        body, joint=skeleton.names[carrier], axes=("x", "z") if own else ("x", "z", "yaw"), smooth=0.0
    )
    return Graph(root, parameters, f"{character.name} locomotion".strip())


def _space(clips: dict[Role, str], velocities: dict[Role, Array], ahead: Array, idle: AnyNode) -> AnyNode:
    """Motions by how fast they go: along a line, or in a plane where there are steps aside and back."""
    walk, run = (float(np.linalg.norm(velocities[r])) for r in ("walk", "run"))
    nodes: dict[Role, AnyNode] = {
        r: clips[r] for r in ("walk", "run", "back", "left", "right") if r in clips and r in velocities
    }
    if "run" not in nodes:
        nodes["run"] = ClipNode(clips["walk"], speed=run / walk)
    if "walk" not in nodes:
        nodes["walk"] = ClipNode(clips["run"], speed=walk / run)
    if "back" not in nodes:
        if run <= 1.05 * walk:
            return BlendSpace1D.of("speed", {0.0: idle, walk: nodes["walk"]})
        return BlendSpace1D.of("speed", {0.0: idle, walk: nodes["walk"], run: nodes["run"]})
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    points: dict[tuple[float, float], AnyNode] = {(0.0, 0.0): idle, (0.0, walk): nodes["walk"]}
    if run > 1.05 * walk:
        points[0.0, run] = nodes["run"]
    points[0.0, -float(np.linalg.norm(velocities["back"]))] = nodes["back"]
    for side in ("left", "right"):
        way = velocities[side]  # type: ignore[index]
        points[float(way @ right), float(way @ ahead)] = nodes[side]  # type: ignore[index]
    return BlendSpace2D.of("strafe", "speed", points)
