"""How state machines decide: conditions, when the next one can be met, transitions and their fades."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import (
    ABOVE,
    AT_LEAST,
    AT_MOST,
    BELOW,
    BY_HIGHER,
    BY_NONE,
    CLIP,
    CURRENT,
    EASE,
    ELAPSED_AT_LEAST,
    EQUAL,
    FROM,
    GHOST,
    INERT_SECONDS,
    INERT_SIDE,
    INERT_TIME,
    INTERRUPT,
    LIVE,
    MACHINE,
    OLD_SECONDS,
    OLD_TIME,
    PRIORITY,
    PROGRESS,
    REMAINING,
    REMAINING_AT_MOST,
    SECONDS,
    SINCE,
    STARTED,
    STATE_COLUMNS,
    TRIGGER,
    UNEQUAL,
    WEIGHT,
)

NEVER = 1e300
SLACK = 1e-9
ASLEEP = 2.0


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


def restart(tables, x, node):
    """Everything from a node down begins again."""
    for i in range(node, tables.nodes[node]["end"]):
        kind = tables.nodes[i]["kind"]
        if kind == CLIP:
            leaf = tables.leaves[tables.nodes[i]["data"]]
            x[leaf["time"]] = leaf["start"]
            x[leaf["fresh"]] = 1.0
        elif kind == MACHINE:
            x[tables.machines[tables.nodes[i]["data"]]["at"] + LIVE] = 0.0


def wait_for(tables, x, at, transition):
    """Seconds until a transition's conditions can hold: 0 when they do, `NEVER` when a parameter stands against it."""
    wait = 0.0
    for c in range(transition["first"], transition["first"] + transition["count"]):
        condition = tables.conditions[c]
        kind, limit = condition["kind"], condition["value"]
        if kind == ELAPSED_AT_LEAST:
            wait = max(wait, limit - x[at + SINCE])
            continue
        if kind == REMAINING_AT_MOST:
            wait = max(wait, x[at + REMAINING] - limit)
            continue
        value = x[condition["ref"]]
        if kind == ABOVE:
            holds = value > limit
        elif kind == BELOW:
            holds = value < limit
        elif kind == AT_LEAST:
            holds = value >= limit
        elif kind == AT_MOST:
            holds = value <= limit
        elif kind == EQUAL:
            holds = value == limit
        elif kind == UNEQUAL:
            holds = value != limit
        else:
            holds = value != 0.0
        if not holds:
            return NEVER
    # While a transition runs that may not be interrupted, the others wait for its end.
    running = max(x[at + SECONDS] - x[at + PROGRESS], 0.0) if x[at + SECONDS] > 0.0 else 0.0
    if x[at + INERT_SECONDS] > 0.0:
        running = max(running, x[at + INERT_SECONDS] - x[at + INERT_TIME])
    policy = x[at + INTERRUPT]
    if running > 0.0 and (
        policy == BY_NONE or (policy == BY_HIGHER and transition["priority"] <= x[at + PRIORITY])
    ):
        wait = max(wait, running)
    return wait


def begin(tables, x, machine, to, seconds, ease, inertia):
    """Starts the way to a state."""
    at, weights = machine["at"], machine["weights"]
    column = weights + to * STATE_COLUMNS
    if x[at + STARTED] != 0.0 and x[column + GHOST] > 0.0:
        # Back to what this very update left: as if it had not been left.
        for s in range(machine["count"]):
            w = weights + s * STATE_COLUMNS
            x[w + WEIGHT] = x[w + GHOST]
        x[at + STARTED] = 0.0
        x[at + INERT_TIME], x[at + INERT_SECONDS] = x[at + OLD_TIME], x[at + OLD_SECONDS]
        x[at + INERT_SIDE] = 1.0 - x[at + INERT_SIDE]
    shown = x[column + WEIGHT] > 0.0
    if not shown:
        restart(tables, x, tables.states[machine["first"] + to]["node"])
    if inertia and not shown and seconds > 0.0:
        if x[at + STARTED] == 0.0:
            for s in range(machine["count"]):
                w = weights + s * STATE_COLUMNS
                x[w + GHOST] = x[w + WEIGHT]
            x[at + OLD_TIME], x[at + OLD_SECONDS] = x[at + INERT_TIME], x[at + INERT_SECONDS]
            x[at + INERT_SIDE] = 1.0 - x[at + INERT_SIDE]
            x[at + STARTED] = 1.0
        x[at + INERT_TIME], x[at + INERT_SECONDS] = 0.0, seconds
        seconds = 0.0
    for s in range(machine["count"]):
        w = weights + s * STATE_COLUMNS
        x[w + FROM] = x[w + WEIGHT]
        if seconds <= 0.0:
            x[w + WEIGHT] = 1.0 if s == to else 0.0
    x[at + CURRENT] = to
    x[at + SINCE] = 0.0
    x[at + PROGRESS] = 0.0
    x[at + SECONDS] = max(seconds, 0.0)
    x[at + EASE] = ease
    x[at + REMAINING] = NEVER


def decide(tables, x):
    """Starts the transitions whose time has come, at most one per machine. Returns whether any did, and otherwise the
    seconds until the next one can."""
    fired, soonest = False, NEVER
    m = 0
    while m < len(tables.machines):
        machine = tables.machines[m]
        at = machine["at"]
        m += 1
        if x[at + LIVE] != 1.0 or machine["switch"] >= 0:
            continue
        state = tables.states[machine["first"] + int(x[at + CURRENT])]
        for t in range(state["first"], state["first"] + state["count"]):
            transition = tables.transitions[t]
            wait = wait_for(tables, x, at, transition)
            if wait > SLACK:
                soonest = min(soonest, wait)
                continue
            for c in range(transition["first"], transition["first"] + transition["count"]):
                if tables.conditions[c]["kind"] == TRIGGER and tables.conditions[c]["trigger"] >= 0:
                    x[tables.conditions[c]["ref"]] = 0.0
                    x[tables.conditions[c]["trigger"]] = 0.0
            begin(
                tables,
                x,
                machine,
                transition["to"],
                transition["seconds"],
                transition["ease"],
                transition["inertia"] != 0,
            )
            x[at + INTERRUPT], x[at + PRIORITY] = transition["interrupt"], transition["priority"]
            fired = True
            # Machines inside one that moves on sit this step out.
            while (
                m < len(tables.machines) and tables.machines[m]["node"] < tables.nodes[machine["node"]]["end"]
            ):
                m += 1
            break
    return fired, soonest


def advance_machine(tables, x, machine, d):
    """Wakes a machine that was not seen, and moves its fades on by `d` seconds."""
    at, weights = machine["at"], machine["weights"]
    chosen = machine["initial"]
    if machine["switch"] >= 0:
        chosen = min(max(int(np.floor(x[machine["switch"]] + 0.5)), 0), machine["count"] - 1)
    if x[at + LIVE] == 0.0:
        for k in range(STARTED + 3):
            x[at + k] = 0.0
        for s in range(machine["count"]):
            w = weights + s * STATE_COLUMNS
            x[w + WEIGHT] = x[w + FROM] = 1.0 if s == chosen else 0.0
            x[w + GHOST] = 0.0
        x[at + CURRENT], x[at + REMAINING] = chosen, NEVER
    elif machine["switch"] >= 0 and chosen != int(x[at + CURRENT]):
        begin(tables, x, machine, chosen, machine["seconds"], machine["ease"], machine["switch"] < 0)
    x[at + LIVE] = 1.0
    x[at + SINCE] += d
    if x[at + SECONDS] > 0.0:
        x[at + PROGRESS] += d
        done = x[at + PROGRESS] / x[at + SECONDS]
        share = eased(int(x[at + EASE]), min(done, 1.0))
        for k in range(machine["count"]):
            w = weights + k * STATE_COLUMNS
            goal = 1.0 if k == int(x[at + CURRENT]) else 0.0
            x[w + WEIGHT] = goal if done >= 1.0 - SLACK else x[w + FROM] + (goal - x[w + FROM]) * share
        if done >= 1.0 - SLACK:
            x[at + SECONDS] = x[at + PROGRESS] = 0.0
    if x[at + STARTED] != 0.0:
        x[at + OLD_TIME] += d
    elif x[at + INERT_SECONDS] > 0.0:
        x[at + INERT_TIME] += d
        if x[at + INERT_TIME] >= x[at + INERT_SECONDS] - SLACK:
            x[at + INERT_SECONDS] = x[at + INERT_TIME] = 0.0


def note_remaining(tables, x, work, tick, d):
    """For machines that ask: the seconds until the heaviest clip of the current state ends."""
    for m in range(len(tables.machines)):
        machine = tables.machines[m]
        at = machine["at"]
        if work[machine["node"]]["seen"] != tick:
            # Out of sight it stands still.
            if x[at + LIVE] == 1.0:
                x[at + LIVE] = ASLEEP
            continue
        if machine["switch"] >= 0:
            continue
        state = tables.states[machine["first"] + int(x[at + CURRENT])]
        if state["remaining"] == 0:
            continue
        known = x[at + REMAINING]
        if known < NEVER:
            if d == 0.0:
                continue
            if known > SLACK and known - d <= SLACK:
                # The moment itself: a clip that loops is already at its beginning.
                x[at + REMAINING] = 0.0
                continue
        best, found = 0.0, NEVER
        for i in range(state["node"], tables.nodes[state["node"]]["end"]):
            if tables.nodes[i]["kind"] == CLIP and work[i]["seen"] == tick and work[i]["weight"] > best:
                best = work[i]["weight"]
                leaf = tables.leaves[tables.nodes[i]["data"]]
                duration, time, speed = (
                    tables.clips[leaf["clip"]]["duration"],
                    x[leaf["time"]],
                    work[i]["speed"],
                )
                if speed > 0.0:
                    found = (duration - time) / speed
                elif speed < 0.0:
                    found = time / -speed
                elif leaf["loop"] == 0 and (time >= duration or x[leaf["rate"]] * work[i]["pace"] < 0.0):
                    found = 0.0
                else:
                    found = NEVER
        x[at + REMAINING] = found
