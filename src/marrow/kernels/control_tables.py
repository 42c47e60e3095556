"""What the control kernel reads and writes: a compiled graph as flat tables, the state of a crowd, and room to work in.

A graph is described by records that never change (`GraphTables`). What changes of N instances is `CrowdState`: arrays of
named records, one row per instance, so that copying, saving and comparing instances is copying, saving and comparing rows.
`Workspace` holds what one update leaves behind: events, travel, pose programs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from marrow.kernels.language.annotations import ANY, C, N, Out, R, Records, f4, f8, i8
from marrow.kernels.operations.record import OPERATION

__all__ = ["CrowdState", "GraphTables", "KeptState", "Workspace"]

# -- kinds of nodes -------------------------------------------------------------------------------------------------
(
    CLIP, POSE, SAVED, BLEND, LERP, SPACE1, SPACE2, SPEED, MACHINE, LAYER, ADDITIVE, SLOT, PROCEDURAL, FUNCTION, USE,
    WARP, STEER,
) = range(17)  # fmt: skip

# -- kinds of parameters --------------------------------------------------------------------------------------------
FLOAT, BOOL, TRIGGER, VECTOR, CURVE = range(5)

# -- what may interrupt a transition --------------------------------------------------------------------------------
BY_ANY, BY_HIGHER, BY_NONE = range(3)

# -- whose transitions may interrupt one: those of the state it leads to, of the one it leaves, of both ---------------
FROM_NEXT, FROM_LEFT, FROM_BOTH = range(3)

# -- what a clip is to its sync group -------------------------------------------------------------------------------
BY_WEIGHT, LEADER, FOLLOWER = range(3)

# -- whether a machine or a sync group runs -------------------------------------------------------------------------
STOPPED, RUNNING, ASLEEP = range(3)
"""Stopped: it starts over when it is next seen. Asleep: out of sight, it stands still."""

# -- operations of rules, in postfix order --------------------------------------------------------------------------
(
    NUMBER, PARAMETER_VALUE, CURVE_VALUE, TRIGGERED, ELAPSED, REMAINING, PROGRESS, RANDOM, PASSED, WINDOW,
    ABOVE, BELOW, AT_LEAST, AT_MOST, EQUAL, UNEQUAL, AND, OR, NOT, PLUS, MINUS, TIMES, OVER, NEGATIVE,
    SIZE, LESSER, GREATER,
) = range(27)  # fmt: skip
MAX_RULE = 32
"""Values on the stack of a rule at most."""

# -- what happened --------------------------------------------------------------------------------------------------
(
    CLIP_EVENT,
    STATE_ENTERED,
    STATE_LEFT,
    TRANSITION_STARTED,
    TRANSITION_ENDED,
    SLOT_ENDED,
    EVENT_ENDED,
    EVENT_INSIDE,
) = range(8)

# -- what a procedural node does to the root's travel ----------------------------------------------------------------
TRAVEL_KEPT, TRAVEL_MIRRORED, TRAVEL_SCALED, TRAVEL_TURNED = range(4)

# -- how a one-shot ends --------------------------------------------------------------------------------------------
ONCE, LOOPS, HOLDS = range(3)

VOICES = 4
"""One-shots of a slot that fade over one another; older ones are kept as one pose."""
QUEUE = 8
"""Clips that can wait for a slot."""


def _record(**fields: Any) -> np.dtype[Any]:
    return np.dtype(list(fields.items()), align=True)


# -- the graph ------------------------------------------------------------------------------------------------------

NODE = _record(
    kind=i8,
    end=i8,  # one past the last node below it; nodes are stored parents first
    flat=i8,  # 1: a blend space whose inputs are clips and nothing else
    store=i8,  # where its pose is kept for the places that use it, -1 for none
    region=i8,  # the sum of poses it is a part of
    program=i8,  # the program its operations go to
    function=i8,  # the innermost Function it is below, -1 for none
    child=i8,  # into links
    count=i8,
    data=i8,  # into the table of its kind
    ref=i8,  # its value: a column of the values, or -1 - k for constant k
    ref2=i8,
)
LEAF = _record(
    clip=i8,
    loop=i8,
    speed=i8,  # its speed; where it is played by distance, that; of a pose the time
    group=i8,
    knots=i8,
    node=i8,
    match=i8,  # played by distance: a sign, then `matches` distances, then their times
    matches=i8,
    still=i8,  # 1: it gives no travel
    role=i8,  # in its sync group, see below
    start=f8,
)
GROUP = _record(first=i8, count=i8, markers=i8, low=i8, high=i8)
"""Its leaves, in links; `low` and `high`: the first and the last node of theirs."""
MACHINE_ROW = _record(
    node=i8,
    first=i8,  # its states
    count=i8,
    initial=i8,
    memory=i8,  # where inertia is kept, -1 for none
    program=i8,  # the program that starts inertia
    switch=i8,  # 1: a `Switch`, whose state is chosen by a value
    ref=i8,  # that value
    ease=i8,
    inertia=i8,
    profile=i8,  # where the constants of its blend profile are, -1 for none
    seconds=f8,
)
STATE = _record(
    node=i8,
    first=i8,  # its transitions
    count=i8,
    clip_times=i8,  # 1: they ask for the times of its main clip
    careful=i8,  # 1: what they ask for may turn at any moment while weights change
    still=i8,  # 1: what it shows gives no travel
)
TRANSITION = _record(
    to=i8,
    ease=i8,
    inertia=i8,
    priority=i8,
    interrupt=i8,
    rule=i8,
    length=i8,
    comparisons=i8,
    timed=i8,
    smoothed=i8,
    heeds=i8,  # 1: it depends on events of clips
    curved=i8,  # 1: it depends on curves; 2: not evenly, between their keys
    trigger=i8,  # the column of a trigger without which it cannot start, -1 for none
    reset=i8,  # 1: the state it leads to starts over
    sources=i8,  # whose transitions may interrupt it
    clip_times=i8,  # 1: it asks for the times of a clip
    profile=i8,  # where the constants of its blend profile are, -1 for none
    seconds=f8,
    offset=f8,  # the share of its clips that the state it leads to begins with
)
RULE = _record(code=i8, ref=i8, value=f8)
LAYER_ROW = _record(code=i8, mask=i8, root=f8)
SLOT_ROW = _record(
    node=i8,
    code=i8,
    mask=i8,
    memory=i8,
    covers=i8,
    machine=i8,  # the one whose inertia it starts instead of fading, -1 for none
    root=f8,
)
SPACE = _record(
    numbers=i8,  # the places of its points
    points=i8,  # of which there are more than inputs where an axis wraps: copies a round further, `shift` of them before
    shift=i8,
    cells=i8,
    cell_count=i8,
    boxes=i8,  # the boxes around them, four numbers each
    edges=i8,
    edge_count=i8,
    slack=f8,
    low_x=f8,
    span_x=f8,  # 0: the axis does not wrap
    low_y=f8,
    span_y=f8,
)
PROCEDURAL_ROW = _record(
    code=i8,
    index=i8,
    refs=i8,
    count=i8,
    vector=i8,
    travel=i8,  # what it does to the root's travel
    travel_ref=i8,  # by what
    share=i8,  # the column of a curve that its weight is multiplied by, -1 for none
    limit=f8,
    factor=f8,
)
WARP_ROW = _record(
    target=i8,  # three values, in links
    facing=i8,  # three values, -1 for none
    windows=i8,  # in links, two for each row of the clips: its first window, and how many
    x=i8,  # 1: the root gets to the target along that axis
    y=i8,
    z=i8,
    ahead_x=f8,  # where the character looks
    ahead_z=f8,
)
WINDOW_ROW = _record(
    begin=f8,
    end=f8,
    x=f8,  # what is to get to the target, as it stands in model space at the end
    y=f8,
    z=f8,
    timed=i8,  # 1: the clip goes nowhere in it, so that time counts
)
STEERING_ROW = _record(
    direction=i8,  # three values, in links
    rate=f8,  # what part of the missing angle goes each second
    most=f8,  # radians a second
    ahead_x=f8,
    ahead_z=f8,
)
FUNCTION_ROW = _record(node=i8, program=i8, memory=i8)
CLIP_ROW = _record(
    duration=f8, rate=f8, first_event=i8, events=i8, windows=i8, first_curve=i8, curves=i8, root=i8, frames=i8,
    clip=i8,  # the clip of the bank that this is
    twin=i8,  # the row of what it is in a mirror
)  # fmt: skip
CURVE_ROW = _record(column=i8, keys=i8, count=i8, default=f8)
CURVE_CHANGE = _record(
    node=i8,
    column=i8,
    mode=i8,  # set, added, multiplied, at most, at least
    ref=i8,  # by what
    weight=i8,  # how much of it, a value too
    alone=i8,  # 1: no clip has that curve
    default=f8,
)
EVENT = _record(time=f8, end=f8, name=i8)
SECTION = _record(begin=f8, end=f8)
PARAMETER = _record(kind=i8, column=i8, wraps=i8, smoothing=f8, low=f8, high=f8)


class GraphTables(NamedTuple):
    """A compiled graph."""

    nodes: Records[NODE, ANY]
    links: i8[ANY]
    numbers: f8[ANY]
    constants: f8[ANY]
    shared: i8[ANY]
    leaves: Records[LEAF, ANY]
    groups: Records[GROUP, ANY]
    machines: Records[MACHINE_ROW, ANY]
    states: Records[STATE, ANY]
    transitions: Records[TRANSITION, ANY]
    rules: Records[RULE, ANY]
    layers: Records[LAYER_ROW, ANY]
    slots: Records[SLOT_ROW, ANY]
    spaces: Records[SPACE, ANY]
    procedurals: Records[PROCEDURAL_ROW, ANY]
    functions: Records[FUNCTION_ROW, ANY]
    clips: Records[CLIP_ROW, ANY]
    curves: Records[CURVE_ROW, ANY]
    curve_changes: Records[CURVE_CHANGE, ANY]
    columns: i8[ANY]  # the first curve of every column that has some
    events: Records[EVENT, ANY]
    roots: f8[ANY, 7]
    ways: f8[ANY]
    warps: Records[WARP_ROW, ANY]
    windows: Records[WINDOW_ROW, ANY]
    steerings: Records[STEERING_ROW, ANY]
    sections: Records[SECTION, ANY]
    parameters: Records[PARAMETER, ANY]


# -- the state of instances -----------------------------------------------------------------------------------------

INSTANCE_STATE = _record(
    clock=f8,  # seconds since it began
    seed=i8,  # of what it does at random
    new=i8,  # 1 until its first update
    pulled=i8,  # 1: a trigger may be waiting
    moment=i8,  # goes up with every step and every update: what has the same number happened in no time
    interval=i8,  # updated every so many updates
    wanted=i8,  # the interval it goes to when it is updated next
    round=i8,  # the updates from its last one to its next
    waited=i8,  # updates since
    pending=f8,  # seconds since
    stored=i8,  # 1: its last two poses are in memory
    side=i8,  # which of the two is the older one
    stamp=i8,  # counts its updates, round and round
    since=f8,  # the seconds of its last one
    ahead=i8,  # 1: it was moved after its poses were used, at `shown_at`: for its next update
    cut=i8,  # 1: its pose was cut to another one in its last update, 2: it is in its next
)
LEAF_STATE = _record(time=f8, new=i8)
GROUP_STATE = _record(phase=f8, run=i8, new=i8)
MACHINE_STATE = _record(
    current=i8,
    previous=i8,
    run=i8,
    ease=i8,
    interrupt=i8,
    sources=i8,
    priority=i8,
    elapsed=f8,  # seconds in the current state
    before=f8,  # seconds since the one before it was entered
    chance=f8,  # a number from 0 to 1, drawn when a state is entered
    draws=f8,  # where the sequence of those numbers is
    heard=i8,  # the moment in which it took an event
    faded=f8,  # seconds of the fade that have passed
    seconds=f8,  # of the fade; 0: none runs
    rest=f8,  # seconds in which it stays where it is, because it came round in a circle in no time
    left=f8,  # seconds until the last transition has ended, faded or inertialised
    profile=i8,  # of the inertia that runs, -1 for none
    inertia_time=f8,
    inertia_seconds=f8,
    remaining=f8,  # seconds until the main clip of the state ends
    progress=f8,  # share of that clip
    progress_speed=f8,  # of which per second
    even=f8,  # seconds in which that clip goes on as fast, unless weights change
    leader=i8,  # its node, -1 for none
    over=i8,  # 1: it has passed its end in the step, and plays on
)
SHARE_STATE = _record(weight=f8, start=f8, entered=i8)
"""Per state of a machine: how much of it is seen, how much was when the fade began, and the moment it was entered last."""
SLOT_STATE = _record(
    run=i8,
    leader=i8,  # the voice that fades in, -1: what plays fades out
    waiting=i8,  # clips in the queue
    cut=i8,  # 1: the first of them does not wait for what plays
    stop=f8,  # seconds in which what plays is to fade out; negative: it may go on
    faded=f8,
    seconds=f8,
    speed=f8,  # how fast time passes for it
    weight=f8,  # how much of it is seen
    held=f8,  # how much of the pose is seen that older voices became
    held_start=f8,
)
VOICE_STATE = _record(
    clip=i8, loop=i8, new=i8, montage=i8, section=i8, time=f8, speed=f8, weight=f8, start=f8, fade_out=f8
)
QUEUE_STATE = _record(clip=i8, loop=i8, montage=i8, section=i8, speed=f8, fade_in=f8, fade_out=f8, start=f8)
"""`montage`: the one that plays, -1 for a mere clip; `section`: the row of the section it is in, -1 for none."""
FUNCTION_STATE = _record(ran=i8, elapsed=f8)
"""1: its memory holds the result of the last update; and the seconds since it ran."""


class CrowdState(NamedTuple):
    """What changes of N instances: `instances (N,)`, everything else `(N, count)`. `values` are the columns nodes refer to,
    `goals` what they were set to (for a trigger: the seconds it still waits), `travel (N, 7)` the motion of the root that is
    told in parts while updates are rare, `place (N, 7)` where each is in the world and `placed` where it was when poses were
    last made, `shown_at` where it was when they were used, for those who were moved since, `path` how they came
    there (`kernels.moments`; of graphs without springs none), `following` for every section of a montage the one that comes next, -1 for the end."""

    instances: Out[Records[INSTANCE_STATE, N]]
    values: Out[f8[N, ANY]]
    goals: Out[f8[N, ANY]]
    travel: Out[f8[N, 7]]
    place: Out[f8[N, 7]]
    placed: Out[f8[N, 7]]
    shown_at: Out[f8[N, 7]]
    path: Out[f8[N, ANY]]
    leaves: Out[Records[LEAF_STATE, N, ANY]]
    groups: Out[Records[GROUP_STATE, N, ANY]]
    machines: Out[Records[MACHINE_STATE, N, ANY]]
    shares: Out[Records[SHARE_STATE, N, ANY]]
    slots: Out[Records[SLOT_STATE, N, ANY]]
    voices: Out[Records[VOICE_STATE, N, ANY]]
    queue: Out[Records[QUEUE_STATE, N, ANY]]
    following: Out[i8[N, ANY]]
    functions: Out[Records[FUNCTION_STATE, N, ANY]]


class KeptState(NamedTuple):
    """What a step changes of one instance, as it was before: rows of `CrowdState`, the travel of the update, and how many
    events were told."""

    instances: Out[Records[INSTANCE_STATE, 1]]
    values: Out[f8[1, ANY]]
    goals: Out[f8[1, ANY]]
    leaves: Out[Records[LEAF_STATE, 1, ANY]]
    groups: Out[Records[GROUP_STATE, 1, ANY]]
    machines: Out[Records[MACHINE_STATE, 1, ANY]]
    shares: Out[Records[SHARE_STATE, 1, ANY]]
    slots: Out[Records[SLOT_STATE, 1, ANY]]
    voices: Out[Records[VOICE_STATE, 1, ANY]]
    functions: Out[Records[FUNCTION_STATE, 1, ANY]]
    travel: Out[f8[1, 7]]
    told: Out[i8[2]]

    @classmethod
    def like(cls, state: CrowdState) -> KeptState:
        """Room for an instance of a crowd."""
        rows = {name: np.zeros_like(getattr(state, name)[:1]) for name in cls._fields if name != "told"}
        return cls(**rows, told=np.zeros(2, np.int64))


# -- room to work in ------------------------------------------------------------------------------------------------

WORK = _record(
    weight=f8, share=f8, speed=f8, travel=f8, clip_speed=f8, seen=i8, flip=i8, warp=i8, stride=f8, yaw=f8
)
"""Per node, of the instance at hand: how much of it is seen, its share of its sum, how fast time passes, how much of the
root's travel it gives, and for clips how fast they play. `seen` is the pass that saw it last. Travel is mirrored (`flip`), made
longer (`stride`) and turned (`yaw`), and reaches the target of the warp `warp - 1`."""
COUNTERS = _record(
    tick=i8,
    step=i8,  # goes up with every step of an instance, so that what was passed in it is known
    events=i8,
    missed_events=i8,
    missed_operations=i8,
    kept=i8,
    endless=i8,
    endless_machine=i8,
    visited=i8,  # nodes that are seen
    grouped=i8,  # leaves of sync groups that are seen
    shown=i8,  # inputs of the blend space at hand that are seen
    endless_instance=i8,
    changing=i8,  # 1: weights change in the step
    events_end=i8,  # where the room for events ends
)
PROGRAM = _record(cursor=i8, limit=i8, reserve=i8, poses=i8)
CHUNK = _record(
    done=i8,  # the instance up to which it came
    last=i8,  # where it is to end
    first_event=i8,  # its room for events
    events=i8,  # where those end that there are
    events_end=i8,
    kept=i8,
    missed_events=i8,
    missed_operations=i8,
    endless=i8,
    endless_machine=i8,
    endless_instance=i8,
)
"""Per chunk of the crowd, which one thread updates at a time: how far it is, and what it has to tell."""
REGION = _record(begin=i8, cursor=i8, limit=i8)
"""Per chunk and program: where its operations are written, in a room of its own."""
HAPPENED = np.dtype(
    [
        ("instance", np.int32),
        ("kind", np.int32),
        ("event", np.int32),
        ("source", np.int32),
        ("weight", np.float32),
        ("time", f8),
    ],
    align=True,
)


PASSED_EVENT = _record(step=i8, time=f8, weight=f8)
"""The step in which an event was passed last, when that was, and how much was seen of the clip (the most, where several passed
it in that step)."""


class Workspace(NamedTuple):
    """First what every thread has for itself (`OWN`): `counters (1,)`; `passed` per event, empty where no rule asks what clips do;
    `work` per node; `visited` the nodes that are seen, in order, `open` those whose children are being written, `shown`
    inputs of a blend space that are seen, `grouped` the leaves of sync groups that are seen, `members` those of the group at
    hand; `sums` whether a sum has begun; `stack` and `gaps` of rules; `motion (17,)` of one step, how much of it windows of
    warps have decided, what motion those have and their share of all, and how much they decide of the rest; `outer` per warp the one around it; `steering` per such node how much of the travel it has; `programs`,
    where the pose programs of the chunk at hand are written.

    Then what all share, each chunk of the crowd its own part: `travel (N, 7)` of the update; `vectors (N, ...)` for procedural
    nodes; `events`; the pose programs: of program r and instance n the `operations` from `starts[r, n]` to `ends[r, n]`;
    `chunks` and their `regions` of these."""

    counters: Out[Records[COUNTERS, 1]]
    passed: Out[Records[PASSED_EVENT, ANY]]
    work: Out[Records[WORK, ANY]]
    visited: Out[i8[ANY]]
    open: Out[i8[ANY]]
    shown: Out[i8[ANY]]
    grouped: Out[i8[ANY]]
    sums: Out[i8[ANY]]
    members: Out[i8[ANY]]
    stack: Out[f8[ANY]]
    gaps: Out[f8[ANY]]
    motion: Out[f8[17]]
    outer: Out[i8[ANY]]
    steering: Out[f8[ANY]]
    programs: Out[Records[PROGRAM, R]]
    travel: Out[f8[N, 7]]
    vectors: Out[f4[N, ANY]]
    events: Out[Records[HAPPENED, ANY]]
    starts: Out[i8[R, N]]
    ends: Out[i8[R, N]]
    operations: Out[Records[OPERATION, ANY]]
    chunks: Out[Records[CHUNK, C]]
    regions: Out[Records[REGION, C, R]]


OWN = Workspace._fields[: Workspace._fields.index("travel")]
"""What every thread has for itself."""
