"""How parameters come to what they were set to, and how long triggers wait."""

from __future__ import annotations

from marrow.kernels.control_rules import NEVER, towards
from marrow.kernels.control_tables import CURVE, TRIGGER

SETTLED = 1e-4
"""A smoothed parameter this close to its goal, relative to it, no longer counts as moving."""


def advance_parameters(graph, state, n, d):
    """Brings parameters towards what they were set to; what is not a number is not taken. Returns whether one without
    smoothing changed, whether one with smoothing is on its way, and whether all have arrived."""
    changed, moving, settled = False, False, True
    for p in range(len(graph.parameters)):
        parameter = graph.parameters[p]
        column = parameter["column"]
        if parameter["kind"] == TRIGGER or parameter["kind"] == CURVE:
            continue
        value, goal = state.values[n, column], state.goals[n, column]
        if value == goal:
            continue
        new = towards(parameter, value, goal, d)
        if parameter["smoothing"] > 0.0:
            end = towards(parameter, new, goal, NEVER)
            gap = abs(end - new) / (1.0 + abs(end))
            if gap > SETTLED:
                moving = True
            elif gap < 1e-9:
                new = end
            if new != end:
                settled = False
        elif new != value:
            changed = True
        state.values[n, column] = new
    return changed, moving, settled


def age_triggers(graph, state, n, d):
    """A trigger that waits for a transition goes when its time is up; one that does not wait stays for the update."""
    if state.instances[n]["pulled"] == 0:
        return
    for p in range(len(graph.parameters)):
        column = graph.parameters[p]["column"]
        if graph.parameters[p]["kind"] == TRIGGER and state.goals[n, column] > 0.0:
            state.goals[n, column] -= d
            if state.goals[n, column] <= 0.0:
                state.values[n, column] = 0.0


def settle_triggers(graph, state, n):
    """At the end of an update: triggers that no transition took and whose time is up are gone."""
    if state.instances[n]["pulled"] == 0:
        return
    waiting = 0
    for p in range(len(graph.parameters)):
        column = graph.parameters[p]["column"]
        if graph.parameters[p]["kind"] == TRIGGER:
            if state.goals[n, column] > 0.0:
                waiting = 1
            else:
                state.values[n, column] = 0.0
    state.instances[n]["pulled"] = waiting
