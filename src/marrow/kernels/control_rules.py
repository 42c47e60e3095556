"""When transitions may start: the value of rules now and a moment ahead, and the seconds until one can hold."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_curves import curve_now, key_wait
from marrow.kernels.control_events import SHORT, event_wait, window_open
from marrow.kernels.control_tables import (
    ABOVE,
    AND,
    AT_LEAST,
    AT_MOST,
    BELOW,
    BY_HIGHER,
    BY_NONE,
    CURVE_VALUE,
    ELAPSED,
    EQUAL,
    GREATER,
    LESSER,
    MINUS,
    NEGATIVE,
    NOT,
    NUMBER,
    OR,
    OVER,
    PARAMETER_VALUE,
    PASSED,
    PLUS,
    PROGRESS,
    RANDOM,
    REMAINING,
    SIZE,
    TIMES,
    TRIGGERED,
    UNEQUAL,
    WINDOW,
)
from marrow.kernels.language.elementary import exp
from marrow.kernels.language.kernel import apart, rare

NEVER = 1e300
SLACK = 1e-9
FINE = 1.0 / 60.0
"""Seconds of the longest step while something changes."""


def towards(parameter, value, goal, d):
    """A parameter `d` seconds on its way from `value` to `goal`: 95 % of it in `smoothing` seconds."""
    if d == 0.0 and parameter["smoothing"] > 0.0:
        return value
    if np.isnan(goal):
        goal = value
    low, high = parameter["low"], parameter["high"]
    if parameter["wraps"] != 0:
        # The short way round.
        span = high - low
        goal = goal - np.floor((goal - low) / span) * span
        gap = goal - value
        gap -= np.floor(gap / span + 0.5) * span
        if parameter["smoothing"] > 0.0 and d < NEVER:
            goal = value + gap * (1.0 - exp(-3.0 * d / parameter["smoothing"]))
        return goal - np.floor((goal - low) / span) * span
    goal = min(max(goal, low), high)
    if parameter["smoothing"] > 0.0 and d < NEVER:
        goal = value + (goal - value) * (1.0 - exp(-3.0 * d / parameter["smoothing"]))
    return goal


@apart
def rule_holds(graph, state, room, n, m, transition, ahead):
    """Whether a rule holds `ahead` seconds from now. Leaves how far the sides of each comparison are apart in `gaps`."""
    me, stack = state.machines[n, m], room.stack
    top, compared = 0, 0
    for r in range(transition["rule"], transition["rule"] + transition["length"]):
        operation = graph.rules[r]
        code = operation["code"]
        if code == NUMBER:
            stack[top] = operation["value"]
            top += 1
        elif code == PARAMETER_VALUE:
            parameter = graph.parameters[operation["ref"]]
            column = parameter["column"]
            value = state.values[n, column]
            if ahead > 0.0 and parameter["smoothing"] > 0.0:
                value = towards(parameter, value, state.goals[n, column], ahead)
            stack[top] = value
            top += 1
        elif code == CURVE_VALUE:
            stack[top] = curve_now(graph, state, room, n, operation["ref"], ahead)
            top += 1
        elif code == PASSED:
            # An event is there at one moment only, for who was in the state by then; it starts one transition of a machine.
            event, instance = room.passed[operation["ref"]], state.instances[n]
            since = instance["clock"] - event["time"] - SLACK
            passed = ahead == 0.0 and event["step"] == room.counters[0]["step"] and since <= me["elapsed"]
            passed = passed and event["weight"] >= operation["value"]
            stack[top] = 1.0 if passed and me["heard"] != instance["moment"] else 0.0
            top += 1
        elif code == WINDOW:
            stack[top] = (
                1.0 if window_open(graph, state, room, n, operation["ref"], operation["value"]) else 0.0
            )
            top += 1
        elif code == TRIGGERED:
            stack[top] = 1.0 if state.values[n, operation["ref"]] != 0.0 else 0.0
            top += 1
        elif code == ELAPSED:
            stack[top] = me["elapsed"] + ahead
            top += 1
        elif code == REMAINING:
            stack[top] = me["remaining"] - ahead
            top += 1
        elif code == PROGRESS:
            stack[top] = me["progress"] + ahead * me["progress_speed"]
            top += 1
        elif code == RANDOM:
            stack[top] = me["chance"]
            top += 1
        elif code == NOT:
            stack[top - 1] = 1.0 if stack[top - 1] == 0.0 else 0.0
        elif code == NEGATIVE:
            stack[top - 1] = -stack[top - 1]
        elif code == SIZE:
            stack[top - 1] = abs(stack[top - 1])
        else:
            top -= 1
            a, b = stack[top - 1], stack[top]
            if code == AND:
                stack[top - 1] = 1.0 if a != 0.0 and b != 0.0 else 0.0
            elif code == OR:
                stack[top - 1] = 1.0 if a != 0.0 or b != 0.0 else 0.0
            elif code == PLUS:
                stack[top - 1] = a + b
            elif code == MINUS:
                stack[top - 1] = a - b
            elif code == TIMES:
                stack[top - 1] = a * b
            elif code == OVER:
                stack[top - 1] = a / b if b != 0.0 else 0.0
            elif code == LESSER:
                stack[top - 1] = min(a, b)
            elif code == GREATER:
                stack[top - 1] = max(a, b)
            else:
                # Times are met when they are a hair away; numbers are what they are.
                gap, slack = a - b, operation["value"]
                room.gaps[compared] = gap
                compared += 1
                holds = False
                if code == ABOVE:
                    holds = gap > -slack if slack > 0.0 else gap > 0.0
                elif code == BELOW:
                    holds = gap < slack if slack > 0.0 else gap < 0.0
                elif code == AT_LEAST:
                    holds = gap >= -slack
                elif code == AT_MOST:
                    holds = gap <= slack
                elif code == EQUAL:
                    holds = gap == 0.0
                elif code == UNEQUAL:
                    holds = gap != 0.0
                stack[top - 1] = 1.0 if holds else 0.0
    return transition["length"] == 0 or stack[0] != 0.0


@rare
def first_crossing(graph, state, room, n, m, transition, span):
    """Seconds until a rule holds whose numbers run straight for `span` seconds: each comparison turns at most once, and the
    first turn after which the whole rule holds is the one."""
    best = NEVER
    count = transition["comparisons"]
    for k in range(count):
        rule_holds(graph, state, room, n, m, transition, span)
        later = room.gaps[k]
        rule_holds(graph, state, room, n, m, transition, 0.0)
        now = room.gaps[k]
        if now == later:
            continue
        t = span * now / (now - later)
        if t > 0.0 and t < best and rule_holds(graph, state, room, n, m, transition, t):
            best = t
    return best


@rare
def smooth_crossing(graph, state, room, n, m, transition):
    """Seconds until a rule over smoothed parameters holds, if it does within the next short step."""
    low, high = 0.0, FINE
    if not rule_holds(graph, state, room, n, m, transition, high):
        return NEVER
    for _ in range(40):
        middle = 0.5 * (low + high)
        if rule_holds(graph, state, room, n, m, transition, middle):
            high = middle
        else:
            low = middle
    return high


@rare
def curve_wait(graph, state, room, n, m, transition):
    """Seconds until a rule over curves holds, or until it has to be looked at again: where weights change, or where it does not
    go evenly with the curves, every millisecond."""
    span = max(key_wait(graph, state, room, n), SHORT)
    if transition["curved"] > 1:
        span = min(span, FINE / 16.0)
    for k in range(len(graph.machines)):
        if state.machines[n, k]["seconds"] > 0.0:
            span = min(span, FINE / 16.0)
    for k in range(len(graph.slots)):
        if state.slots[n, k]["seconds"] > 0.0:
            span = min(span, FINE / 16.0)
    if span >= NEVER:
        return NEVER
    # At its very end a clip that loops is at its beginning.
    return min(first_crossing(graph, state, room, n, m, transition, 0.99 * span), span)


@rare
def heed_wait(graph, state, room, n, transition):
    """Seconds until a clip comes to something that a rule asks for."""
    wait = NEVER
    for r in range(transition["rule"], transition["rule"] + transition["length"]):
        code = graph.rules[r]["code"]
        if code == PASSED:
            wait = min(wait, event_wait(graph, state, room, n, graph.rules[r]["ref"], False))
        elif code == WINDOW:
            wait = min(wait, event_wait(graph, state, room, n, graph.rules[r]["ref"], True))
    return wait


def wait_for(graph, state, room, n, m, transition, smoothing):
    """Seconds until a transition can start: 0 when it can now, `NEVER` when a parameter stands against it."""
    wait = 0.0
    if transition["trigger"] >= 0 and state.values[n, transition["trigger"]] == 0.0:
        return NEVER
    if not rule_holds(graph, state, room, n, m, transition, 0.0):
        wait = NEVER
        if transition["timed"] != 0:
            wait = first_crossing(graph, state, room, n, m, transition, 1.0)
        if transition["curved"] != 0:
            wait = min(wait, curve_wait(graph, state, room, n, m, transition))
        if smoothing and transition["smoothed"] != 0:
            wait = min(wait, smooth_crossing(graph, state, room, n, m, transition))
    # While a transition runs that may not be interrupted, the others wait for its end.
    me = state.machines[n, m]
    policy = me["interrupt"]
    if policy == BY_NONE or (policy == BY_HIGHER and transition["priority"] <= me["priority"]):
        wait = max(wait, me["left"])
    if transition["heeds"] != 0 and wait > SLACK:
        # Steps end where an event is, so that it is known when it was.
        wait = min(wait, heed_wait(graph, state, room, n, transition))
    return wait


def take_triggers(graph, state, n, m, transition):
    """A transition that starts takes the triggers and the event it waited for."""
    for r in range(transition["rule"], transition["rule"] + transition["length"]):
        if graph.rules[r]["code"] == TRIGGERED:
            state.values[n, graph.rules[r]["ref"]] = 0.0
            state.goals[n, graph.rules[r]["ref"]] = 0.0
        elif graph.rules[r]["code"] == PASSED:
            state.machines[n, m]["heard"] = state.instances[n]["moment"]
