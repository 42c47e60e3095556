"""Steps that are tried: while weights change, what clips do cannot be computed ahead, so a step is made, looked at, and
made again shorter where something turned inside it.

That is so where rules ask what clips do and more than one clip may answer (`STATE["careful"]`), and for switches over
smoothed parameters.
"""

from __future__ import annotations

from marrow.kernels.control_machine import find_transition
from marrow.kernels.control_tables import FROM_NEXT, RUNNING
from marrow.kernels.language.kernel import apart, rare


def is_careful(graph, state, n):
    """Whether what a running machine waits for may turn inside a step."""
    for m in range(len(graph.machines)):
        me, first = state.machines[n, m], graph.machines[m]["first"]
        if me["run"] != RUNNING:
            continue
        if graph.states[first + me["current"]]["careful"] != 0:
            return True
        aside = me["left"] > 0.0 and me["sources"] != FROM_NEXT
        if aside and graph.states[first + me["previous"]]["careful"] != 0:
            return True
    return False


def copy_row(rows, n, others, m):
    """Row `m` of others becomes row `n` of these."""
    for k in range(rows.shape[1]):
        rows[n, k] = others[m, k]


@apart
def keep(state, kept, room, n):
    """Keeps what a step changes of an instance."""
    kept.told[0], kept.told[1] = room.counters[0]["events"], room.counters[0]["missed_events"]
    kept.instances[0] = state.instances[n]
    copy_row(kept.values, 0, state.values, n)
    copy_row(kept.goals, 0, state.goals, n)
    copy_row(kept.leaves, 0, state.leaves, n)
    copy_row(kept.groups, 0, state.groups, n)
    copy_row(kept.machines, 0, state.machines, n)
    copy_row(kept.shares, 0, state.shares, n)
    copy_row(kept.slots, 0, state.slots, n)
    copy_row(kept.voices, 0, state.voices, n)
    copy_row(kept.functions, 0, state.functions, n)
    copy_row(kept.travel, 0, room.travel, n)


@apart
def back(state, kept, room, n):
    """An instance as it was kept."""
    room.counters[0]["events"], room.counters[0]["missed_events"] = kept.told[0], kept.told[1]
    state.instances[n] = kept.instances[0]
    copy_row(state.values, n, kept.values, 0)
    copy_row(state.goals, n, kept.goals, 0)
    copy_row(state.leaves, n, kept.leaves, 0)
    copy_row(state.groups, n, kept.groups, 0)
    copy_row(state.machines, n, kept.machines, 0)
    copy_row(state.shares, n, kept.shares, 0)
    copy_row(state.slots, n, kept.slots, 0)
    copy_row(state.voices, n, kept.voices, 0)
    copy_row(state.functions, n, kept.functions, 0)
    copy_row(room.travel, n, kept.travel, 0)


@rare
def turned(graph, state, kept, room, n, smoothing):
    """Whether something turned since an instance was kept: a transition can start, another clip leads where rules ask for
    it, or the one that does has passed its end (who waited for that is in the moment itself), or a machine went out of
    sight, which had something to wait for until then."""
    found = False
    for m in range(len(graph.machines)):
        me, before = state.machines[n, m], kept.machines[0, m]
        if before["run"] != RUNNING:
            continue
        if me["run"] != RUNNING:
            found = found or graph.states[graph.machines[m]["first"] + me["current"]]["careful"] != 0
        elif me["over"] != 0:
            me["remaining"], me["progress"] = 0.0, 1.0
            found = True
        elif me["leader"] != before["leader"]:
            found = True
    if found:
        return True
    return find_transition(graph, state, room, n, smoothing)[0] >= 0
