"""How state machines run: which transition starts, how fades go on, how long clips have left."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_events import SHORT
from marrow.kernels.control_motion import happened, stay
from marrow.kernels.control_rules import NEVER, SLACK, wait_for
from marrow.kernels.control_tables import (
    ASLEEP,
    CLIP,
    FROM_LEFT,
    FROM_NEXT,
    MACHINE,
    RUNNING,
    SLOT,
    STATE_ENTERED,
    STATE_LEFT,
    STOPPED,
    TRANSITION_ENDED,
    TRANSITION_STARTED,
    USE,
)
from marrow.kernels.control_weights import show, value_of
from marrow.kernels.language.kernel import rare

REST = 1.0 / 60.0
"""Seconds a machine stays where it is that came round in a circle in no time, whatever the frame rate."""
FAINT = 1e-6
"""How much counts of a state that has just begun to fade in, so that its clips run."""


def eased(kind, s):
    """The fade curves of `graph.nodes.base.Ease`, at `s` in 0..1."""
    if kind == 1:
        return s * s * (3.0 - 2.0 * s)
    if kind == 2:
        return s * s * s * (10.0 + s * (6.0 * s - 15.0))
    if kind == 3:
        return s * s
    if kind == 4:
        return s * (2.0 - s)
    return s


@rare
def restart(graph, state, n, node, offset):
    """Everything from a node down begins again; clips with the share `offset` of them behind them."""
    for i in range(node, graph.nodes[node]["end"]):
        kind, data = graph.nodes[i]["kind"], graph.nodes[i]["data"]
        if kind == CLIP:
            leaf = state.leaves[n, data]
            leaf["time"] = graph.leaves[data]["start"]
            leaf["new"] = 1
            if offset > 0.0:
                duration = graph.clips[graph.leaves[data]["clip"]]["duration"]
                leaf["time"] += offset * duration
                if leaf["time"] > duration:
                    leaf["time"] = leaf["time"] - duration if graph.leaves[data]["loop"] != 0 else duration
            group = graph.leaves[data]["group"]
            if (
                group >= 0
                and graph.groups[group]["low"] >= node
                and graph.groups[group]["high"] < graph.nodes[node]["end"]
            ):
                # A group that is also elsewhere goes on.
                state.groups[n, group]["run"] = STOPPED
                state.groups[n, group]["phase"] = offset * graph.groups[group]["markers"]
        elif kind == MACHINE:
            state.machines[n, data]["run"] = STOPPED
        elif kind == SLOT:
            state.slots[n, data]["run"] = STOPPED


def chosen_input(graph, state, n, machine):
    """The input that a switch should show."""
    value = value_of(graph, state, n, machine["ref"])
    return min(max(int(np.floor(min(max(value, 0.0), 1e6) + 0.5)), 0), machine["count"] - 1)


@rare
def note_endless(room, n, m):
    """Counts the instances in which a machine goes round in no time."""
    counters = room.counters[0]
    if counters["endless_instance"] != n:
        counters["endless"] += 1
        counters["endless_instance"] = n
        counters["endless_machine"] = m


def find_transition(graph, state, room, n, smoothing):
    """The first transition that can start now, as machine, transition (-1: a switch) and state to go to; machine -1 where
    there is none, and then the seconds until something of a machine is due, and how many fades run."""
    soonest, fading = NEVER, 0
    moment = state.instances[n]["moment"]
    for m in range(len(graph.machines)):
        machine, me = graph.machines[m], state.machines[n, m]
        if me["run"] != RUNNING:
            continue
        if me["seconds"] > 0.0:
            fading += 1
            soonest = min(soonest, max(me["seconds"] - me["faded"], 0.0))
        if me["left"] > 0.0:
            soonest = min(soonest, me["left"])
        if machine["switch"] != 0:
            chosen = chosen_input(graph, state, n, machine)
            if chosen != me["current"]:
                return m, -1, chosen, soonest, fading
            continue
        if me["rest"] > 0.0:
            soonest = min(soonest, me["rest"])
            continue
        soonest = min(soonest, me["even"])
        t, wait = first_way(graph, state, room, n, m, me["current"], smoothing, False)
        if me["left"] > 0.0 and me["sources"] != FROM_NEXT:
            other, sooner = first_way(graph, state, room, n, m, me["previous"], smoothing, True)
            ahead = other >= 0 and t >= 0
            ahead = ahead and graph.transitions[other]["priority"] > graph.transitions[t]["priority"]
            if me["sources"] == FROM_LEFT or t < 0 or ahead:
                t = other
            wait = sooner if me["sources"] == FROM_LEFT else min(wait, sooner)
        soonest = min(soonest, wait)
        if t >= 0:
            to = graph.transitions[t]["to"]
            if state.shares[n, machine["first"] + to]["entered"] != moment:
                return m, t, to, soonest, fading
            # It was there in this very moment: it would go round for ever.
            me["rest"] = REST
            soonest = min(soonest, REST)
            note_endless(room, n, m)
    return -1, -1, -1, soonest, fading


def first_way(graph, state, room, n, m, place, smoothing, aside):
    """The first transition of a state that can start now, -1 for none, and the seconds until one can. With `aside` it is the state
    that is being left: its seconds are counted on, and what asks for the times of its clip waits for its end."""
    me, soonest = state.machines[n, m], NEVER
    row = graph.states[graph.machines[m]["first"] + place]
    elapsed = me["elapsed"]
    if aside:
        me["elapsed"] = me["before"]
    found = -1
    for t in range(row["first"], row["first"] + row["count"]):
        transition = graph.transitions[t]
        if aside and (transition["to"] == me["current"] or transition["clip_times"] != 0):
            continue
        wait = wait_for(graph, state, room, n, m, transition, smoothing)
        if wait <= SLACK:
            found = t
            break
        soonest = min(soonest, wait)
    me["elapsed"] = elapsed
    return found, soonest


def draw(state, n, m):
    """The next number of a machine's own sequence (Park and Miller's), which begins with the seed of the instance."""
    me = state.machines[n, m]
    at, rounds = me["draws"], 1
    if at <= 0.0:
        at = 1.0 + remainder(7919.0 * state.instances[n]["seed"] + 104729.0 * m + 1.0, 2147483645.0)
        rounds = 3
    for _ in range(rounds):
        at = remainder(16807.0 * at, 2147483647.0)
    me["draws"] = at
    me["chance"] = at / 2147483647.0


def remainder(a, b):
    """Exact for whole numbers below 2 ** 53."""
    return a - np.floor(a / b) * b


@rare
def begin_transition(graph, state, room, n, m, to, seconds, ease, cut, reset, offset, aside, clock):
    """Starts the way to a state; with `cut` the state is there at once, as inertia wants it; with `reset` it starts over, with
    the share `offset` of its clips behind it; with `aside` it is the state before that is left."""
    machine, me = graph.machines[m], state.machines[n, m]
    first = machine["first"]
    if machine["switch"] == 0:
        happened(room, n, STATE_LEFT, me["current"], m, 1.0, clock)
        happened(room, n, STATE_ENTERED, to, m, 1.0, clock)
        happened(room, n, TRANSITION_STARTED, to, m, 1.0, clock)
    state.shares[n, first + to]["entered"] = state.instances[n]["moment"]
    if reset:
        restart(graph, state, n, graph.states[first + to]["node"], offset)
    at_once = cut or seconds <= 0.0
    for s in range(machine["count"]):
        share = state.shares[n, first + s]
        share["start"] = share["weight"]
        if at_once:
            share["weight"] = 1.0 if s == to else 0.0
    if not aside:
        me["previous"], me["before"] = me["current"], me["elapsed"]
    me["current"] = to
    me["elapsed"], me["faded"] = 0.0, 0.0
    me["seconds"] = 0.0 if at_once else seconds
    me["left"] = max(seconds, 0.0)
    me["ease"] = ease
    me["remaining"] = me["even"] = NEVER
    me["leader"], me["over"] = -1, 0
    draw(state, n, m)
    if cut:
        me["inertia_time"], me["inertia_seconds"] = 0.0, seconds
    if seconds <= 0.0:
        state.instances[n]["cut"] = 1
        if machine["switch"] == 0:
            happened(room, n, TRANSITION_ENDED, to, m, 1.0, clock)


def wake_machine(graph, state, room, n, m, clock):
    """A machine that comes into sight goes on, or begins."""
    machine, me = graph.machines[m], state.machines[n, m]
    if me["run"] == STOPPED:
        current = chosen_input(graph, state, n, machine) if machine["switch"] != 0 else machine["initial"]
        for s in range(machine["count"]):
            share = state.shares[n, machine["first"] + s]
            share["weight"] = share["start"] = 1.0 if s == current else 0.0
            share["entered"] = -1
        state.shares[n, machine["first"] + current]["entered"] = state.instances[n]["moment"]
        me["current"] = me["previous"] = current
        me["interrupt"] = me["priority"] = me["sources"] = 0
        me["elapsed"] = me["before"] = me["faded"] = me["seconds"] = me["left"] = me["rest"] = 0.0
        me["inertia_time"] = me["inertia_seconds"] = 0.0
        me["remaining"] = me["even"] = NEVER
        me["leader"], me["over"] = -1, 0
        draw(state, n, m)
        if machine["switch"] == 0:
            happened(room, n, STATE_ENTERED, current, m, 1.0, clock)
    if me["run"] != RUNNING:
        # What was before it came into sight it has not heard.
        me["heard"] = state.instances[n]["moment"]
    me["run"] = RUNNING


def show_states(graph, state, room, n, m, i):
    """Hands down what is seen of a machine to its states."""
    machine, me = graph.machines[m], state.machines[n, m]
    for s in range(machine["count"]):
        share = state.shares[n, machine["first"] + s]["weight"]
        child = graph.states[machine["first"] + s]["node"]
        if share > 0.0:
            show(room, child, i, share)
            if machine["memory"] >= 0:
                # What inertia is added to is a sum of its own.
                room.work[child]["share"] = share
            if graph.states[machine["first"] + s]["still"] != 0:
                stay(room, child)
                room.work[child]["travel"] = 0.0
        elif s == me["current"]:
            show(room, child, i, FAINT)
            room.work[child]["share"] = 0.0


def average_fades(graph, state, n, d):
    """Sets the weights of states to their means over the next `d` seconds: Simpson's rule, exact for cubic curves."""
    for m in range(len(graph.machines)):
        machine, me = graph.machines[m], state.machines[n, m]
        if me["run"] != RUNNING or me["seconds"] <= 0.0:
            continue
        first = min(me["faded"] / me["seconds"], 1.0)
        last = min((me["faded"] + d) / me["seconds"], 1.0)
        ends = eased(me["ease"], first) + eased(me["ease"], last)
        share = (ends + 4.0 * eased(me["ease"], 0.5 * (first + last))) / 6.0
        for k in range(machine["count"]):
            row = state.shares[n, machine["first"] + k]
            goal = 1.0 if k == me["current"] else 0.0
            row["weight"] = row["start"] + (goal - row["start"]) * share


def advance_fades(graph, state, n, d):
    """Moves the fades of machines on by `d` seconds."""
    for m in range(len(graph.machines)):
        machine, me = graph.machines[m], state.machines[n, m]
        if me["run"] != RUNNING or me["seconds"] <= 0.0:
            continue
        me["faded"] += d
        s = min(me["faded"] / me["seconds"], 1.0)
        done = me["seconds"] - me["faded"] <= SLACK
        share = eased(me["ease"], s)
        for k in range(machine["count"]):
            row = state.shares[n, machine["first"] + k]
            goal = 1.0 if k == me["current"] else 0.0
            row["weight"] = goal if done else row["start"] + (goal - row["start"]) * share


def advance_machines(graph, state, room, n, d, clock):
    """Moves the times of machines on by `d` seconds; `clock` is the moment after. Returns whether a fade ended."""
    ended = False
    for m in range(len(graph.machines)):
        me = state.machines[n, m]
        if me["run"] != RUNNING:
            continue
        me["elapsed"] += d
        me["before"] += d
        if me["rest"] > 0.0:
            me["rest"] = me["rest"] - d if me["rest"] - d > SLACK else 0.0
        if me["seconds"] > 0.0 and me["seconds"] - me["faded"] <= SLACK:
            me["seconds"] = me["faded"] = 0.0
            ended = True
        if me["inertia_seconds"] > 0.0:
            me["inertia_time"] += d
            if me["inertia_seconds"] - me["inertia_time"] <= SLACK:
                me["inertia_seconds"] = me["inertia_time"] = 0.0
        if me["left"] > 0.0:
            me["left"] -= d
            if me["left"] <= SLACK:
                me["left"] = 0.0
                if graph.machines[m]["switch"] == 0:
                    happened(room, n, TRANSITION_ENDED, me["current"], m, 1.0, clock)
    return ended


def heaviest_clip(graph, room, node):
    """The clip below a node of which the most is seen, -1 for none; nodes that are used there count too."""
    best, heaviest, last = 0.0, -1, graph.nodes[node]["end"]
    for k in range(room.counters[0]["visited"]):
        i = room.visited[k]
        if i >= last:
            break
        if i < node:
            continue
        kind = graph.nodes[i]["kind"]
        if kind == CLIP and room.work[i]["weight"] > best:
            best, heaviest = room.work[i]["weight"], i
        elif kind == USE:
            root = graph.nodes[i]["data"]
            for j in range(root, graph.nodes[root]["end"]):
                seen = room.work[j]["seen"] == room.counters[0]["tick"]
                if seen and graph.nodes[j]["kind"] == CLIP and room.work[j]["weight"] > best:
                    best, heaviest = room.work[j]["weight"], j
    return heaviest


def note_clip_times(graph, state, room, n, d):
    """Machines that are out of sight fall asleep. For states that ask: the seconds until their heaviest clip ends, and
    how far it is."""
    tick = room.counters[0]["tick"]
    for m in range(len(graph.machines)):
        machine, me = graph.machines[m], state.machines[n, m]
        if room.work[machine["node"]]["seen"] != tick:
            if me["run"] == RUNNING:
                me["run"] = ASLEEP
            continue
        row = graph.states[machine["first"] + me["current"]]
        if row["clip_times"] == 0:
            continue
        known, before = me["remaining"], me["progress"]
        if d == 0.0 and known <= SLACK:
            continue
        heaviest = heaviest_clip(graph, room, row["node"])
        same = heaviest == me["leader"]
        me["remaining"], me["progress"], me["progress_speed"] = NEVER, 0.0, 0.0
        me["even"], me["leader"] = NEVER, heaviest
        if d > 0.0:
            me["over"] = 0
        if heaviest < 0:
            continue
        leaf = graph.leaves[graph.nodes[heaviest]["data"]]
        duration = graph.clips[leaf["clip"]]["duration"]
        time = state.leaves[n, graph.nodes[heaviest]["data"]]["time"]
        speed = room.work[heaviest]["clip_speed"]
        if speed == 0.0 and leaf["loop"] == 0:
            wanted = value_of(graph, state, n, leaf["speed"]) * room.work[heaviest]["speed"]
            if (wanted >= 0.0 and time >= duration) or (wanted < 0.0 and time <= 0.0):
                me["remaining"], me["progress"] = 0.0, 1.0
            continue
        if duration <= 0.0 or speed == 0.0:
            continue
        done = time if speed > 0.0 else duration - time
        me["remaining"] = (duration - done) / abs(speed)
        me["progress"] = done / duration
        me["progress_speed"] = abs(speed) / duration
        if leaf["group"] >= 0:
            me["even"] = marker_wait(graph, state, n, leaf, speed)
        if d > 0.0 and known > SLACK and same:
            if row["careful"] != 0 and room.counters[0]["changing"] != 0:
                me["over"] = 1 if known <= 2.0 * d and me["progress"] < before else 0
            elif abs(known - d) <= SLACK:
                # The moment itself: a clip that loops is already at its beginning.
                me["remaining"], me["progress"] = 0.0, 1.0


def marker_wait(graph, state, n, leaf, speed):
    """Seconds until a clip that keeps in step with others comes to a marker, where its speed changes."""
    markers = graph.groups[leaf["group"]]["markers"]
    phase = state.groups[n, leaf["group"]]["phase"]
    interval = max(min(int(phase), markers - 1), 0)
    length = graph.numbers[leaf["knots"] + interval + 1] - graph.numbers[leaf["knots"] + interval]
    part = phase - interval if speed < 0.0 else 1.0 - (phase - interval)
    return max(part * length / abs(speed), SHORT)
