"""Small characters and graphs with all that the runtimes run, baked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import marrow as mw
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ChainIK,
    FootPlacement,
    FullBodyIK,
    Graph,
    IKEffector,
    IKFloor,
    JointOverride,
    LayerBlend,
    LimitJoints,
    LookAt,
    Montage,
    Parameter,
    RootMotion,
    SavedPose,
    Slot,
    Speed,
    SpringChain,
    SpringCollider,
    Springs,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
)
from marrow.runtime import baked

sys.path.append(str(Path(__file__).parent / "graph"))
from worlds import character, gait, ramp, still

LONG = mw.Event(0.2, "lasting", 0.5)
STICK = character(
    gait("walk", 1.0, 0.0, 0.5),
    gait("run", 0.6, 0.1, 0.4, 2.0),
    still("one", 1.0, 40.0),
    still("two", 2.0, -170.0),
    ramp("up", 0, 1, events=((0.3, "hit"),)).replace(events=(mw.Event(0.3, "hit"), LONG)),
    mw.additive(still("plus", 3.0, 20.0), still("zero")),
)
P = {
    "x": Parameter(smoothing=0.1),
    "y": Parameter(),
    "on": Parameter("bool", False),
    "go": Parameter("trigger"),
    "v": Parameter("vector", (0.5, 1.0, 1.0)),
}
STEERED: dict[str, Any] = {
    "numbers": ("x", "y"), "vectors": ("v",), "bools": ("on",), "triggers": ("go",), "slots": (("s", "up"), ("s", "one")),
    "low": -0.5, "high": 1.5,
}  # fmt: skip


def busy() -> Graph:
    """A machine over blend spaces, under speeds, hands that reach, layers, additions and a slot."""
    plane = BlendSpace2D.of("x", "y", {(0, 0): "walk", (1, 0): "run", (0, 1): "one", (1, 1): "two"})
    machine = StateMachine(
        {
            "a": State(plane),
            "b": State(BlendSpace1D.of("x", {0: "walk", 1: "run"})),
            "c": State(Blend(("up", "two"), ("x", "y"))),
        },
        (
            Transition("a", "b", ("go",), seconds=0.2, blend="inertia"),
            Transition("b", "c", ("x > 0.5 and elapsed > 0.1",), seconds=0.3),
            Transition("c", "a", ("remaining < 0.2 or on",), seconds=0.1),
            Transition("b", "a", ("on",), seconds=0.1),
        ),
    )  # fmt: skip
    reach = LookAt(
        TwoBoneIK(Speed(machine, "y"), "hand", "v", weight="x"), {"spine": 0.5, "arm": 1.0}, "v", weight="y"
    )
    layered = LayerBlend(reach, Switch("x", ("walk", "up"), seconds=0.2), joints=("spine",), weight="y")
    montages = {"m": Montage("up", "s", {"first": 0.0, "second": 0.5}, following={"second": "first"})}
    return Graph(RootMotion(Slot("s", Additive(layered, "plus", weight="x"))), P, "busy", montages=montages)


PLACED: dict[str, Any] = {
    "numbers": ("speed", "x", "y"), "vectors": ("v", "w", "n"), "triggers": ("go",), "low": 0.0, "high": 1.5,
    "overrides": (("spine", 2), ("hand", 1)), "grounds": True,
}  # fmt: skip


def placed() -> Graph:
    """The mannequin with all that is done between programs: joints that code places, solvers of bodies and of arms with
    floors, limits and targets of every kind, feet on the ground."""
    effectors = (
        IKEffector("hand_l", target="v", weight="x"),
        IKEffector(
            "hand_r", target="w", rotation=(0.1, 0.2, 0.3), space="world", pole=(0.0, 1.0, -1.0), soft=0.1
        ),
        IKEffector("head", aim="w"),
        IKEffector("foot_l"),
        IKEffector("pelvis", target=(0.0, 0.1, 0.0), space="root", weight=0.2),
    )
    machine = StateMachine(
        {"walk": State(Speed("walk", "speed")), "wave": State("wave")},
        (
            Transition("walk", "wave", ("go",), seconds=0.2),
            Transition("wave", "walk", ("go",), blend="inertia"),
        ),
    )
    told = JointOverride(machine, ("head", "spine_01"), name="spine", mode="offset", space="model")
    floor = IKFloor(("hand_l", "hand_r"), normal="n", height="y", space="world")
    body = FullBodyIK(told, effectors, floor=(floor,), weight="y")
    arm = LimitJoints(ChainIK(body, "upperarm_l", "hand_l", target="w", weight="x"), limits="clips")
    parameters = {
        "speed": Parameter(default=1.0), "x": Parameter(), "y": Parameter(smoothing=0.1), "go": Parameter("trigger"),
        "v": Parameter("vector", (0.3, 1.2, 0.4)), "w": Parameter("vector", (-0.3, 1.0, 0.4)),
        "n": Parameter("vector", (0.1, 1.0, 0.0)),
    }  # fmt: skip
    return Graph(
        RootMotion(FootPlacement(JointOverride(arm, ("hand_r",), name="hand"))), parameters, "placed"
    )


def swinging() -> Graph:
    """Two chains that swing, of which one hangs on the other, and what they hit."""
    arm = SpringChain("arm", stiffness=0.6, gravity=0.3, radius=0.05, limit=1.0)
    chains = (SpringChain(("spine", "arm"), gravity=-0.2), arm)
    return Graph(
        RootMotion(Springs(Slot("s", "run"), chains, colliders=(SpringCollider("root", 0.4),))), P, "swinging"
    )


def worlds() -> dict[str, tuple[bytes, Graph]]:
    """Baked files of the stick, by the name of their graph."""
    found = {}
    for graph in (busy(), Graph(RootMotion(Slot("s", SavedPose("kept"))), P, "saved"), swinging()):
        found[graph.name] = baked(STICK, graph)[0], graph
    hero = mw.samples.mannequin()
    some = hero.replace(clips=[hero.clips[name] for name in ("walk", "wave")])
    found["placed"] = baked(some, placed())[0], placed()
    return found
