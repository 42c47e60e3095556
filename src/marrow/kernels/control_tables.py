"""What the control kernel reads: a compiled graph as flat tables, and where the state of an instance keeps what.

The state of an instance is one row of float64 numbers. The tables say which column holds what, so that copying, saving
and comparing instances is copying, saving and comparing rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# -- kinds of nodes; those from MACHINE on may stand between two poses of the stack ---------------------------------
CLIP, POSE, BLEND, LERP, SPACE1, SPACE2, SPEED, MACHINE, LAYER, ADDITIVE, SLOT, IK, LOOK = range(13)

# -- conditions -----------------------------------------------------------------------------------------------------
ABOVE, BELOW, AT_LEAST, AT_MOST, EQUAL, UNEQUAL, TRIGGER, ELAPSED_AT_LEAST, REMAINING_AT_MOST = range(9)

# -- what may interrupt a transition --------------------------------------------------------------------------------
BY_ANY, BY_HIGHER, BY_NONE = range(3)

# -- columns of the state that every graph has ----------------------------------------------------------------------
CLOCK, FRESH, INTERVAL, COUNTER, PENDING, STORED, SIDE, TRAVEL, VALUES = 0, 1, 2, 3, 4, 5, 6, 7, 14
"""`TRAVEL` is seven columns: the motion of the root not yet told, when updates are rare. Parameter values begin at
`VALUES`, followed by the constants nodes refer to in the same way."""

# -- columns of a state machine, from its `at` on -------------------------------------------------------------------
CURRENT, SINCE, PROGRESS, SECONDS, EASE, INTERRUPT, PRIORITY, REMAINING, LIVE = range(9)
INERT_TIME, INERT_SECONDS, INERT_SIDE, STARTED, OLD_TIME, OLD_SECONDS = range(9, 15)
MACHINE_COLUMNS = 15
WEIGHT, FROM, GHOST, STATE_COLUMNS = 0, 1, 2, 3
"""Per state: how much of it is seen, how much was when the fade began, and how much of it is needed once more as what
an inertialised transition leaves."""

# -- columns of a slot: six of its own, then voices, then what waits -------------------------------------------------
TARGET, SLOT_PROGRESS, SLOT_SECONDS, SLOT_QUEUED, SLOT_PACE, SLOT_SEEN, SLOT_HEAD = range(7)
VOICES = 4
V_CLIP, V_TIME, V_RATE, V_LOOP, V_WEIGHT, V_FROM, V_FRESH, V_OUT, VOICE_COLUMNS = range(9)
QUEUE = 4
Q_CLIP, Q_RATE, Q_LOOP, Q_IN, Q_OUT, Q_START, QUEUE_COLUMNS = range(7)
SLOT_QUEUE = SLOT_HEAD + VOICES * VOICE_COLUMNS
SLOT_COLUMNS = SLOT_QUEUE + QUEUE * QUEUE_COLUMNS

MAX_EVENTS = 1024
"""Events of one instance in one update; past that the oldest stay and the rest is dropped."""
MAX_LOOPS = 16
MAX_STEPS = 32


def _record(**fields: Any) -> np.dtype[Any]:
    return np.dtype(list(fields.items()), align=True)


i8, f8 = np.int64, np.float64

NODE = _record(
    kind=i8,
    end=i8,  # one past the last node below it; nodes are stored parents first
    post=i8,  # its place in the order children first
    post_begin=i8,  # where the nodes below it begin in that order
    region=i8,  # the sum of poses it is a part of
    child=i8,  # into links
    count=i8,
    data=i8,  # into the table of its kind
    ref=i8,  # column of its value
    ref2=i8,
)
LEAF = _record(clip=i8, loop=i8, rate=i8, group=i8, knots=i8, time=i8, fresh=i8, node=i8, start=f8)
GROUP = _record(first=i8, count=i8, markers=i8, phase=i8, live=i8)
MACHINE_ROW = _record(
    node=i8,
    first=i8,
    count=i8,
    initial=i8,
    at=i8,
    weights=i8,
    memory=i8,
    memory_size=i8,
    switch=i8,
    ease=i8,
    seconds=f8,
)
STATE = _record(node=i8, first=i8, count=i8, remaining=i8)
TRANSITION = _record(to=i8, ease=i8, inertia=i8, priority=i8, interrupt=i8, first=i8, count=i8, seconds=f8)
CONDITION = _record(kind=i8, ref=i8, trigger=i8, value=f8)
LAYER_ROW = _record(code=i8, mask=i8, root=f8)
SLOT_ROW = _record(node=i8, at=i8, code=i8, mask=i8, root=f8)
SPACE = _record(numbers=i8, points=i8, triangles=i8, triangle_count=i8, edges=i8, edge_count=i8, inverse=i8)
PROCEDURAL = _record(code=i8, index=i8, refs=i8, count=i8, vector=i8)
CLIP_ROW = _record(duration=f8, rate=f8, first_event=i8, events=i8, root=i8, frames=i8)
EVENT = _record(time=f8, name=i8)
PARAMETER = _record(kind=i8, value=i8, target=i8, smoothing=f8, low=f8, high=f8, hold=f8)
FIRED = np.dtype(
    [("instance", np.int32), ("event", np.int32), ("clip", np.int32), ("weight", np.float32), ("time", f8)],
    align=True,
)
WORK = _record(weight=f8, share=f8, pace=f8, travel=f8, loud=f8, speed=f8, seen=np.int64)


class Tables(NamedTuple):
    """A compiled graph."""

    nodes: Any
    links: Any
    numbers: Any
    order: Any
    leaves: Any
    groups: Any
    machines: Any
    states: Any
    transitions: Any
    conditions: Any
    layers: Any
    slots: Any
    spaces: Any
    procedurals: Any
    clips: Any
    events: Any
    roots: Any
    parameters: Any


Tables.KINDS = {  # type: ignore[attr-defined]
    "nodes": (NODE, "?"), "links": "i8[?]", "numbers": "f8[?]", "order": "i8[?]", "leaves": (LEAF, "?"), "groups": (GROUP, "?"),
    "machines": (MACHINE_ROW, "?"), "states": (STATE, "?"), "transitions": (TRANSITION, "?"), "conditions": (CONDITION, "?"),
    "layers": (LAYER_ROW, "?"), "slots": (SLOT_ROW, "?"), "spaces": (SPACE, "?"), "procedurals": (PROCEDURAL, "?"),
    "clips": (CLIP_ROW, "?"), "events": (EVENT, "?"), "roots": "f8[?,7]", "parameters": (PARAMETER, "?"),
}  # fmt: skip
