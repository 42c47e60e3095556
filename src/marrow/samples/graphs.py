"""Ready graphs for the mannequin: locomotion, an aim offset, an upper body of its own, and all of it in one.

Parameters steer as a gamepad does, seen from behind the character: right and up are positive. (In space +X is the
character's left.) A blend space drawn with +x to the right then has its left on the left.
"""

from __future__ import annotations

import math

from marrow.graph import (
    Additive,
    AnyNode,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    LookAt,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
)

__all__ = ["aim_offset_graph", "locomotion_graph", "mannequin_graph", "upper_body_graph"]

# What the clips were made to, by `tools/samples_modeller`.
SLOW = {"walk_back": -0.84, "walk_back_slow": -0.42, "walk_slow": 0.42, "walk_easy": 0.84}
FAST = {"walk": 1.25, "walk_fast": 1.7, "jog_slow": 2.15, "jog": 2.6, "run_slow": 3.1, "run": 3.6}
ASIDE = {"_soft_left": -0.33, "_left": -0.66, "_soft_right": 0.33, "_right": 0.66}
PLACES = {(0.0, ahead): name for name, ahead in {**FAST, **SLOW}.items()} | {
    (aside, ahead): name + side
    for side, aside in ASIDE.items()
    for name, ahead in {"strafe": 0.0, **SLOW, **FAST}.items()
}
"""Which clip goes how fast to the right and ahead, in metres per second."""
AIM_YAW, AIM_PITCH = math.radians(55), math.radians(40)
"""How far the outer aim poses look aside, and up or down."""

SPEED = Parameter(range=(SLOW["walk_back"], FAST["run"]), smoothing=0.3)
STRAFE = Parameter(range=(ASIDE["_left"], ASIDE["_right"]), smoothing=0.3)
YAW = Parameter(range=(-AIM_YAW, AIM_YAW), smoothing=0.15)
PITCH = Parameter(range=(-AIM_PITCH, AIM_PITCH), smoothing=0.15)
SHARE = Parameter(range=(0.0, 1.0), smoothing=0.25)


def _locomotion() -> BlendSpace2D:
    # Standing has no steps to keep in time with.
    return BlendSpace2D.of("strafe", "speed", {(0.0, 0.0): ClipNode("idle", sync=False), **PLACES})


def _aim() -> BlendSpace2D:
    yaw, pitch = AIM_YAW, AIM_PITCH
    columns, rows = {"left": -yaw, "": 0.0, "right": yaw}, {"up": pitch, "": 0.0, "down": -pitch}
    points: dict[tuple[float, float], AnyNode] = {}
    for row, y in rows.items():
        for column, x in columns.items():
            points[x, y] = "_".join(part for part in ("aim", row, column) if part)
    points[0.0, 0.0] = "aim_center"
    return BlendSpace2D.of("aim_yaw", "aim_pitch", points, sync=False)


def locomotion_graph() -> Graph:
    """Idle, walk, run, backward and sideways. Parameters: `speed`, metres per second forward (negative: back), and
    `strafe`, metres per second to the right. Feet stay in step, and the way travelled is `root.motion`."""
    return Graph(RootMotion(_locomotion()), {"speed": SPEED, "strafe": STRAFE}, "mannequin locomotion")


def aim_offset_graph() -> Graph:
    """Aims where `aim_yaw` (right positive) and `aim_pitch` (up positive) say, in radians."""
    return Graph(_aim(), {"aim_yaw": YAW, "aim_pitch": PITCH}, "mannequin aim offset")


def _upper_body(base: AnyNode) -> LayerBlend:
    """Aims (`gesture` 0) or waves (1) from the spine up by `upper`, while the legs go on with what they do."""
    return LayerBlend(
        base,
        Switch("gesture", (_aim(), "wave"), seconds=0.25),
        joints=("spine_01",),
        depth_falloff=2.0,
        weight="upper",
        channels=("rotation",),
        morphs=("smile", "fist_r"),
    )


def upper_body_graph() -> Graph:
    """The legs walk by `speed` and `strafe`; from the spine up the body aims or waves: `upper` says how much, `gesture`
    which of the two, `aim_yaw` and `aim_pitch` where."""
    parameters = {
        "speed": SPEED,
        "strafe": STRAFE,
        "upper": SHARE,
        "gesture": Parameter(range=(0.0, 1.0)),
        "aim_yaw": YAW,
        "aim_pitch": PITCH,
    }
    return Graph(RootMotion(_upper_body(_locomotion())), parameters, "mannequin upper body")


def _moves() -> StateMachine:
    return StateMachine(
        {
            "move": State(_locomotion()),
            "jump": State(ClipNode("jump", loop=False)),
            "crouch": State("crouch"),
            "turn_left": State(ClipNode("turn_left", loop=False)),
            "turn_right": State(ClipNode("turn_right", loop=False)),
        },
        (
            Transition("move", "jump", ("jump",), seconds=0.15, priority=1, interrupt="none"),
            Transition("jump", "move", ("remaining <= 0.25",), seconds=0.25),
            Transition("move", "crouch", ("crouch",), seconds=0.35, blend="inertia"),
            Transition("crouch", "move", ("not crouch",), seconds=0.35, blend="inertia"),
            Transition("move", "turn_left", ("turn_left", "speed < 0.2"), seconds=0.15),
            Transition("move", "turn_right", ("turn_right", "speed < 0.2"), seconds=0.15),
            Transition("turn_left", "move", ("remaining <= 0.15",), seconds=0.15),
            Transition("turn_right", "move", ("remaining <= 0.15",), seconds=0.15),
        ),
    )


def mannequin_graph() -> Graph:
    """Everything the mannequin can do, at once.

    `speed` and `strafe` walk; `crouch` (bool), the triggers `jump`, `turn_left` and `turn_right` change what the legs do.
    `upper` brings in the upper body, which aims (`aim_yaw`, `aim_pitch`) or waves (`gesture` 1). `breath` deepens the
    breath. The slot `"action"` takes one-shots such as `attack`, the slot `"body"` plays over everything. `look` turns the
    head to `look_at`, `reach` puts the left hand on `reach_for`, both places in the character's own space.
    """
    parameters = {
        "speed": SPEED,
        "strafe": STRAFE,
        "crouch": Parameter("bool", False),
        "jump": Parameter("trigger", hold=0.2),
        "turn_left": Parameter("trigger"),
        "turn_right": Parameter("trigger"),
        "upper": SHARE,
        "gesture": Parameter(range=(0.0, 1.0)),
        "aim_yaw": YAW,
        "aim_pitch": PITCH,
        "breath": Parameter(default=0.6, range=(0.0, 1.0), smoothing=0.5),
        "look": SHARE,
        "look_at": Parameter("vector", (0.0, 1.6, 3.0), smoothing=0.1),
        "reach": SHARE,
        "reach_for": Parameter("vector", (0.3, 1.2, 0.4), smoothing=0.1),
    }
    body: AnyNode = Slot("action", _upper_body(_moves()), joints=("spine_01",), depth_falloff=1.0)
    body = Slot("body", Additive(body, "breathe", weight="breath"))
    body = LookAt(
        body, {"spine_03": 0.15, "neck": 0.4, "head": 1.0}, "look_at", limit=math.radians(75), weight="look"
    )
    body = TwoBoneIK(body, "hand_l", "reach_for", weight="reach", bend=(math.radians(2), math.radians(150)))
    return Graph(RootMotion(body), parameters, "mannequin")
