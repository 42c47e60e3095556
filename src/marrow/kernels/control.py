"""The control kernel: one pass over the instances of a crowd, from parameters to pose programs.

For every instance: which states its machines are in, how much of each node is seen, where its clips are, what events they
pass, how its root travels; then the pose programs that say all this to the pose kernel. Nodes are visited parents first,
and what is not seen is skipped, so an instance costs what it uses. Programs are written children first.

An update is split at the moments something is due: a transition, the end of a fade, a one-shot. While weights change, steps
are short, clips move with the mean of the weights, and where rules ask what clips do a step is tried and cut at the moment
something turns (`control_substeps`). So states, events and travel do not depend on the frame rate.

The functions are plain Python in the compiled subset (`kernels.language.frontend`).
"""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_chunks import close_chunk, is_room, open_chunk
from marrow.kernels.control_curves import write_curves
from marrow.kernels.control_machine import (
    advance_fades,
    advance_machines,
    average_fades,
    begin_transition,
    find_transition,
    note_clip_times,
    show_states,
    wake_machine,
)
from marrow.kernels.control_motion import advance_group, advance_leaf, bounded, stay
from marrow.kernels.control_parameters import advance_parameters, age_triggers, settle_triggers
from marrow.kernels.control_program import put, write_program, write_side, write_start
from marrow.kernels.control_root_motion import add_motion, move_place, share_travel
from marrow.kernels.control_rules import FINE, NEVER, take_triggers
from marrow.kernels.control_slots import (
    advance_slot,
    advance_slot_fades,
    average_slot_fades,
    decide_slots,
    hasten_slot,
    slot_due,
    stop_hidden_slots,
    wake_slot,
)
from marrow.kernels.control_substeps import back, is_careful, keep, turned
from marrow.kernels.control_tables import (
    ADDITIVE,
    BLEND,
    CLIP,
    LAYER,
    LERP,
    MACHINE,
    PROCEDURAL,
    SAVED,
    SLOT,
    SPACE1,
    SPACE2,
    SPEED,
    STEER,
    USE,
    WARP,
    CrowdState,
    GraphTables,
    KeptState,
    Workspace,
)
from marrow.kernels.control_weights import (
    show,
    show_alone,
    show_shared,
    spread_blend,
    spread_line,
    spread_pair,
    spread_plane,
    value_of,
    warp_travel,
)
from marrow.kernels.language.annotations import ANY, f8
from marrow.kernels.language.kernel import apart, kernel, rare
from marrow.kernels.operations.codes import BLEND as BLEND_POSES
from marrow.kernels.operations.codes import LOAD, STORE
from marrow.kernels.operations.limbs import ROUND

__all__ = ["update_graph"]

SHORTEST = 1e-12
HALVINGS = 24
"""Of a short step, until the moment is known in which something turns: to a nanosecond."""


def visit_clip(graph, state, room, n, leaf, d, clock):
    """Moves a clip on, or notes it where it keeps in step with others."""
    if graph.leaves[leaf]["group"] < 0:
        advance_leaf(graph, state, room, n, leaf, d, clock)
    else:
        room.grouped[room.counters[0]["grouped"]] = leaf
        room.counters[0]["grouped"] += 1


def visit(graph, state, room, n, i, d, clock):
    """Moves what one node holds on by `d` seconds, and hands down what is seen of it."""
    node = graph.nodes[i]
    kind, data = node["kind"], node["data"]
    if kind == CLIP:
        visit_clip(graph, state, room, n, data, d, clock)
    elif kind <= SAVED:
        stay(room, i)
    elif kind == BLEND:
        spread_blend(graph, state, room, n, node, i)
    elif kind == LERP:
        spread_pair(graph, room, node, i, value_of(graph, state, n, node["ref"]))
    elif kind == SPACE1:
        spread_line(graph, room, node, i, value_of(graph, state, n, node["ref"]))
    elif kind == SPACE2:
        spread_plane(
            graph,
            room,
            node,
            i,
            value_of(graph, state, n, node["ref"]),
            value_of(graph, state, n, node["ref2"]),
        )
    elif kind == SPEED:
        show(room, i + 1, i, 1.0)
        room.work[i + 1]["speed"] = bounded(room.work[i]["speed"] * value_of(graph, state, n, node["ref"]))
    elif kind == MACHINE:
        wake_machine(graph, state, room, n, data, clock)
        show_states(graph, state, room, n, data, i)
    elif kind == LAYER:
        root = graph.layers[data]["root"]
        share = min(max(value_of(graph, state, n, node["ref"]), 0.0), 1.0)
        show_alone(room, i + 1, i, 1.0, 1.0 - share * root)
        if share > 0.0:
            show_alone(room, graph.links[node["child"] + 1], i, share, share * root)
    elif kind == ADDITIVE:
        share = value_of(graph, state, n, node["ref"])
        show_alone(room, i + 1, i, 1.0, 1.0)
        if share != 0.0:
            show_alone(room, graph.links[node["child"] + 1], i, min(abs(share), 1.0), 0.0)
    elif kind == SLOT:
        wake_slot(state, n, data)
        seen = advance_slot(graph, state, room, n, data, i, d, clock)
        if seen < 1.0 or graph.slots[data]["covers"] == 0:
            show_alone(room, i + 1, i, 1.0, 1.0 - seen * graph.slots[data]["root"])
    elif kind == USE:
        show_shared(room, data, i)
    elif kind == WARP:
        show(room, i + 1, i, 1.0)
        if value_of(graph, state, n, node["ref"]) >= 0.5:
            room.outer[data], room.work[i + 1]["warp"] = room.work[i]["warp"], data + 1
    elif kind == STEER:
        show(room, i + 1, i, 1.0)
        room.steering[data] = room.work[i]["travel"] * min(
            max(value_of(graph, state, n, node["ref"]), 0.0), 1.0
        )
    else:
        show_alone(room, i + 1, i, 1.0, 1.0)
        if kind == PROCEDURAL:
            warp_travel(graph, state, room, n, node, i)


def visit_inputs(graph, state, room, n, d, clock):
    """Visits the inputs of a blend space that are seen, all of them clips, in their order."""
    counters = room.counters[0]
    for k in range(1, counters["shown"]):
        here, j = room.shown[k], k
        while j > 0 and room.shown[j - 1] > here:
            room.shown[j] = room.shown[j - 1]
            j -= 1
        room.shown[j] = here
    for k in range(counters["shown"]):
        room.visited[counters["visited"]] = room.shown[k]
        counters["visited"] += 1
        visit_clip(graph, state, room, n, graph.nodes[room.shown[k]]["data"], d, clock)


@apart
def move(graph, state, room, n, d):
    """Moves the clips of an instance on by `d` seconds and finds what is seen of every node."""
    clock = state.instances[n]["clock"]
    counters = room.counters[0]
    counters["tick"] += 1
    root = room.work[0]
    root["weight"] = root["share"] = root["speed"] = root["travel"] = 1.0
    root["flip"], root["warp"], root["stride"], root["yaw"] = 0, 0, 1.0, 0.0
    root["seen"] = counters["tick"]
    for k in range(len(room.motion)):
        room.motion[k] = 0.0
    for k in range(len(room.steering)):
        room.steering[k] = 0.0
    i = 0
    counters["grouped"] = counters["visited"] = 0
    while i < len(graph.nodes):
        if room.work[i]["seen"] == counters["tick"]:
            room.visited[counters["visited"]] = i
            counters["visited"] += 1
            counters["shown"] = 0
            visit(graph, state, room, n, i, d, clock)
            if graph.nodes[i]["flat"] != 0:
                visit_inputs(graph, state, room, n, d, clock)
                i = graph.nodes[i]["end"]
            else:
                i += 1
        else:
            i = graph.nodes[i]["end"]
    for g in range(len(graph.groups)):
        advance_group(graph, state, room, n, g, d, clock)
    stop_hidden_slots(graph, state, room, n, clock)
    note_clip_times(graph, state, room, n, d)


def advance(graph, state, room, n, d, changing, settled):
    """One step of `d` seconds. Leaves the mean of what is seen in it where weights are changing; `settled` says that no
    parameter is on its way. Returns whether smoothed parameters still are, whether none is, and whether a fade ended, so
    that something went out of sight."""
    moving = False
    room.counters[0]["changing"] = 1 if changing else 0
    if changing:
        average_fades(graph, state, n, d)
        average_slot_fades(graph, state, n, d)
        if not settled:
            advance_parameters(graph, state, n, 0.5 * d)
    room.counters[0]["step"] += 1
    move(graph, state, room, n, d)
    add_motion(graph, state, room, n, d)
    if changing:
        advance_fades(graph, state, n, d)
        advance_slot_fades(graph, state, n, d)
    if not settled:
        _, moving, settled = advance_parameters(graph, state, n, 0.5 * d if changing else d)
    age_triggers(graph, state, n, d)
    for f in range(len(graph.functions)):
        state.functions[n, f]["elapsed"] += d
    state.instances[n]["clock"] += d
    state.instances[n]["moment"] += 1
    ended = advance_machines(graph, state, room, n, d, state.instances[n]["clock"])
    return moving, settled, ended


@apart
def advance_to_turn(graph, state, kept, room, n, d, settled):
    """One step of at most `d` seconds in which weights change, cut short at the moment in which a transition can start or
    another clip leads: what clips do cannot be computed ahead there, so steps are tried. Returns its seconds, then what
    `advance` returns. What is seen is known afterwards."""
    keep(state, kept, room, n)
    moving, still, ended = advance(graph, state, room, n, d, True, settled)
    move(graph, state, room, n, 0.0)
    if not turned(graph, state, kept, room, n, moving):
        return d, moving, still, ended
    low, high = 0.0, d
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        back(state, kept, room, n)
        moving, still, ended = advance(graph, state, room, n, middle, True, settled)
        move(graph, state, room, n, 0.0)
        if turned(graph, state, kept, room, n, moving):
            high = middle
        else:
            low = middle
    back(state, kept, room, n)
    moving, still, ended = advance(graph, state, room, n, high, True, settled)
    move(graph, state, room, n, 0.0)
    turned(graph, state, kept, room, n, moving)
    return high, moving, still, ended


@rare
def start(graph, state, room, n, m, t, to, current):
    """Starts a transition of a machine; afterwards what is seen is known for this moment. `current` says whether it is
    before. A machine that turns out to have gone out of sight in this moment stays as it is."""
    machine = graph.machines[m]
    if not current:
        move(graph, state, room, n, 0.0)
        if room.work[machine["node"]]["seen"] != room.counters[0]["tick"]:
            return
    seconds, ease, inertia = machine["seconds"], machine["ease"], machine["inertia"] != 0
    profile = machine["profile"]
    me = state.machines[n, m]
    clock = state.instances[n]["clock"]
    reset, offset, aside = True, 0.0, False
    if t >= 0:
        transition = graph.transitions[t]
        take_triggers(graph, state, n, m, transition)
        seconds, ease, inertia = transition["seconds"], transition["ease"], transition["inertia"] != 0
        me["interrupt"], me["priority"] = transition["interrupt"], transition["priority"]
        profile = transition["profile"]
        reset, offset = transition["reset"] != 0, transition["offset"]
        me["sources"] = transition["sources"]
        row = graph.states[machine["first"] + me["current"]]
        aside = t < row["first"] or t >= row["first"] + row["count"]
    shown = state.shares[n, machine["first"] + to]["weight"] > 0.0
    # A state cannot fade out as it was and fade in from its beginning: what was seen of it dies out by inertia.
    cut = seconds > 0.0 and machine["memory"] >= 0 and (reset if shown else inertia)
    if cut:
        write_side(graph, state, room, n, m)
    begin_transition(graph, state, room, n, m, to, seconds, ease, cut, reset, offset, aside, clock)
    move(graph, state, room, n, 0.0)
    if cut:
        me["profile"] = profile
        write_side_after(graph, state, room, n, m)
        room.counters[0]["kept"] += 1


def play_slots(graph, state, room, n, clock, current):
    """Begins and ends what is due in the slots; where one does so by inertia, it goes on from what was seen. Returns whether
    what is seen is known, the seconds until something is due, whether a fade runs, and whether anything was changed."""
    cuts = 0
    for k in range(len(graph.slots)):
        if graph.slots[k]["machine"] < 0:
            continue
        due, seconds = slot_due(graph, state, n, k)
        me = state.machines[n, graph.slots[k]["machine"]]
        me["rest"] = 0.0
        if due and seconds > 0.0:
            if not current:
                move(graph, state, room, n, 0.0)
                current = True
            hasten_slot(state, n, k)
            write_side(graph, state, room, n, graph.slots[k]["machine"])
            me["rest"] = seconds
            cuts += 1
    wait, fading, changed = decide_slots(graph, state, room, n, clock)
    if cuts > 0:
        cut_slots(graph, state, room, n)
        return True, wait, fading, False
    return current, wait, fading, changed


@rare
def cut_slots(graph, state, room, n):
    """The other side of what has just begun or ended in slots by inertia; those inside others first."""
    move(graph, state, room, n, 0.0)
    for s in range(len(graph.slots)):
        m = graph.slots[len(graph.slots) - 1 - s]["machine"]
        if m >= 0 and state.machines[n, m]["rest"] > 0.0:
            me = state.machines[n, m]
            me["inertia_time"], me["inertia_seconds"], me["rest"] = 0.0, me["rest"], 0.0
            me["profile"] = graph.machines[m]["profile"]
            write_side_after(graph, state, room, n, m)
            room.counters[0]["kept"] += 1


def write_side_after(graph, state, room, n, m):
    """The other side of a transition: what is entered, without the inertia that is only now beginning."""
    me = state.machines[n, m]
    seconds = me["inertia_seconds"]
    me["inertia_seconds"] = 0.0
    write_side(graph, state, room, n, m)
    me["inertia_seconds"] = seconds
    write_start(graph, room, m)


def step(graph, state, kept, room, n, dt):
    """One instance through `dt` seconds. Leaves the root's motion in `travel`, and what is seen at the end."""
    instance, way = state.instances[n], room.travel[n]
    for k in range(7):
        way[k] = 1.0 if k == 6 else 0.0
    instance["moment"] += 1
    room.counters[0]["step"] += 1
    # The first update takes parameters as they are set, however smooth.
    new = instance["new"] != 0
    changed, moving, settled = advance_parameters(graph, state, n, NEVER if new else 0.0)
    # Where rules ask what clips do, it must be known what is seen.
    current = new or changed or len(room.passed) > 0
    if current:
        move(graph, state, room, n, 0.0)
        if new:
            write_curves(graph, state, room, n)
        instance["new"] = 0
    left = dt
    while True:
        m, t, to, soonest, fades = find_transition(graph, state, room, n, moving)
        if m >= 0:
            start(graph, state, room, n, m, t, to, current)
            current = True
            continue
        changing = moving or fades > 0
        current, wait, fading, changed = play_slots(graph, state, room, n, instance["clock"], current)
        changing = changing or fading
        current = current and not changed
        soonest = min(soonest, wait)
        if left <= 0.0:
            break
        d = min(left, soonest)
        # The mean of a product is not the product of the means: where fades overlap, steps are shorter.
        fine = FINE if fades < 2 else 0.25 * FINE
        # Steering takes clips to go evenly in a step.
        steers = len(graph.steerings) > 0
        if steers:
            fine = min(fine, 0.5 * FINE)
        if (changing or steers) and d > fine:
            d /= np.ceil(d / fine - 1e-6)
        due = d >= soonest - SHORTEST
        if changing and is_careful(graph, state, n):
            whole = d
            d, moving, settled, _ = advance_to_turn(graph, state, kept, room, n, d, settled)
            due = due or d < whole
            current = True
        else:
            moving, settled, ended = advance(graph, state, room, n, d, changing, settled)
            current = not changing
            if ended or (changing and len(room.passed) > 0):
                move(graph, state, room, n, 0.0)
                current = True
        left -= d
        if left <= SHORTEST:
            left = 0.0
            if not due and len(room.passed) == 0:
                break
    if not current:
        move(graph, state, room, n, 0.0)
    settle_triggers(graph, state, n)


@rare
def write_between(state, room, n, main, memory, row):
    """The program of an instance between two of its updates: its last two poses, mixed."""
    instance = state.instances[n]
    older = memory + instance["side"] * row
    newer = memory + (1 - instance["side"]) * row
    weight = (instance["waited"] + 1.0) / instance["round"]
    put(room, main, LOAD, newer, 0.0, 0.0)
    put(room, main, LOAD, older, 0.0, 0.0)
    put(room, main, BLEND_POSES, 0, 0.0, 1.0 - weight)


def update_instance(graph, state, kept, room, n, dt, memory, row, main):
    """Moves one instance on by `dt` seconds and writes its programs."""
    instance = state.instances[n]
    interval = instance["interval"]
    instance["pending"] += dt
    instance["waited"] += 1
    if interval > 1 and instance["waited"] < instance["round"] and instance["stored"] != 0:
        write_between(state, room, n, main, memory, row)
        share_travel(room, state, n)
        return
    step(graph, state, kept, room, n, instance["pending"])
    instance["since"] = instance["pending"]
    instance["stamp"] = instance["stamp"] + 1 if instance["stamp"] < ROUND - 1 else 1
    instance["pending"], instance["waited"] = 0.0, 0
    # What it is behind is caught up by half at a time, so that neither its pose nor its place jumps.
    interval = max(instance["wanted"], (interval + 1) >> 1)
    instance["interval"] = interval
    write_program(graph, state, room, n)
    if interval <= 1:
        instance["stored"] = 0
        return
    room.counters[0]["kept"] += 1
    # The newer pose becomes the older one.
    first = instance["stored"] == 0
    # The first round of some is shorter, so that not all are updated at once.
    instance["round"] = interval - instance["seed"] % interval if first else interval
    instance["side"] = 1 - instance["side"]
    newer = memory + (1 - instance["side"]) * row
    put(room, main, STORE, newer, 0.0, 0.0)
    if first:
        put(room, main, STORE, memory + instance["side"] * row, 0.0, 0.0)
    else:
        put(room, main, LOAD, memory + instance["side"] * row, 0.0, 0.0)
        put(room, main, BLEND_POSES, 0, 0.0, 1.0 - 1.0 / instance["round"])
    instance["stored"] = 1
    for k in range(7):
        state.travel[n, k] = room.travel[n, k]
    share_travel(room, state, n)


def show_instance(graph, state, room, n, memory, row, main):
    """Writes the program of an instance as it is, without moving it."""
    instance = state.instances[n]
    if instance["interval"] > 1 and instance["stored"] != 0:
        write_between(state, room, n, main, memory, row)
        return
    advance_parameters(graph, state, n, NEVER if instance["new"] != 0 else 0.0)
    move(graph, state, room, n, 0.0)
    write_program(graph, state, room, n)


@kernel
def update_graph(
    graph: GraphTables,
    state: CrowdState,
    kept: KeptState,
    room: Workspace,
    dt: f8[ANY],
    seconds: float,
    memory: int,
    row: int,
    moving: int,
    travels: int,
    step: int,
    chunk: int,
    first: int,
    last: int,
) -> None:
    """Updates the instances `first..last`, all of one chunk of `step`, by `dt (N,)` seconds, or by `seconds` where that is
    empty (below zero: not at all, and without a program); with `moving` 0 it only writes the programs that show them. `memory` is where the last two poses of rarely updated
    instances lie, each `row` floats long. With `travels` 1 they go where their root goes. How far it came before there was no
    more room is in `room.chunks`."""
    programs = len(room.programs)
    open_chunk(room, chunk, first == chunk * step)
    done = last
    for n in range(first, last):
        if not is_room(room):
            done = n
            break
        for r in range(programs):
            room.starts[r, n] = room.programs[r]["cursor"]
            room.programs[r]["poses"] = 0
        if moving != 0:
            passing = dt[n] if len(dt) > 0 else seconds
            if passing >= 0.0:
                update_instance(graph, state, kept, room, n, passing, memory, row, programs - 1)
                if travels != 0:
                    move_place(state, room, n)
        else:
            show_instance(graph, state, room, n, memory, row, programs - 1)
        for r in range(programs):
            room.ends[r, n] = room.programs[r]["cursor"]
    close_chunk(room, chunk, done, last)
