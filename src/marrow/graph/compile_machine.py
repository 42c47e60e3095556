"""State machines and switches, checked and laid out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from marrow.errors import ValidationError
from marrow.graph.compiled import MachineEntry
from marrow.graph.conditions import Condition, parse
from marrow.graph.nodes import StateMachine, Switch, Transition
from marrow.graph.tables import Part, Scope, unknown
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["compile_machine", "compile_switch"]

EASES = ("linear", "smooth", "smoother", "in", "out")
INTERRUPTS = ("any", "higher", "none")


def _part(c: Compiler, number: int, parts: list[Part], memory: int) -> Part:
    summed = c.summed(number, parts)
    if memory < 0:
        return summed
    # Where an inertialised transition starts, four poses lie on the stack, each with all states in it, and clips at their
    # beginning take two operations.
    return Part(number, summed.depth + 3, 8 * summed.length + 6, True)


def _row(c: Compiler, number: int, count: int, initial: int, memory: int, **switch: Any) -> None:
    b = c.builder
    at = b.column(*[0.0] * ct.MACHINE_COLUMNS)
    weights = b.column(*[0.0] * (ct.STATE_COLUMNS * count))
    first = len(b.rows["states"])
    row = b.add(
        "machines", number, first, count, initial, at, weights, memory, c.inertia_size, switch.get("ref", -1),
        switch.get("ease", 0), switch.get("seconds", 0.0),
    )  # fmt: skip
    c.nodes[number].update(kind=ct.MACHINE, data=row)


def compile_machine(c: Compiler, node: StateMachine, path: str, scope: Scope, number: int) -> Part:
    names = tuple(node.states)
    if not names:
        raise ValidationError(f"{path}.states: a machine needs at least one")
    initial = names[0] if node.initial is None else node.initial
    if initial not in node.states:
        raise unknown("state", initial, names, f"{path}.initial")
    conditions = [_check(c, node, t, f"{path}.transitions[{k}]") for k, t in enumerate(node.transitions)]
    _check_reachable(node, initial, path)
    _check_endless(node, path)
    memory = -1
    if any(t.blend == "inertia" for t in node.transitions):
        memory = c.memory
        c.memory += 2 * c.inertia_size
    # Its own row comes before those of machines inside its states.
    _row(c, number, len(names), names.index(initial), memory)
    entry = c.builder.rows["machines"][-1]
    c.machines[path] = MachineEntry(int(entry[4]), names)
    first = len(c.builder.rows["states"])
    c.builder.rows["states"] += [(0, 0, 0, 0)] * len(names)
    inside = Scope(c.region() if memory >= 0 else scope.region, None, scope.additive)
    parts = c.children(
        number, [(s.source, f"{path}.states.{n}.source", inside) for n, s in node.states.items()]
    )
    for k, name in enumerate(names):
        ways = [i for i, t in enumerate(node.transitions) if t.source in (name, "*") and t.to != name]
        ways.sort(key=lambda i: -node.transitions[i].priority)
        begin = len(c.builder.rows["transitions"])
        for i in ways:
            _transition(c, node.transitions[i], names, conditions[i])
        waits = any(condition.kind == ct.REMAINING_AT_MOST for i in ways for condition in conditions[i])
        c.builder.rows["states"][first + k] = (parts[k].node, begin, len(ways), int(waits))
    return _part(c, number, parts, memory)


def _transition(
    c: Compiler, transition: Transition, names: tuple[str, ...], conditions: list[Condition]
) -> None:
    b = c.builder
    begin = len(b.rows["conditions"])
    for condition in conditions:
        entry = None if condition.parameter is None else b.parameters[condition.parameter]
        trigger = entry.target if entry is not None and condition.kind == ct.TRIGGER else -1
        b.add("conditions", condition.kind, 0 if entry is None else entry.value, trigger, condition.value)
    b.add(
        "transitions", names.index(transition.to), EASES.index(transition.ease), int(transition.blend == "inertia"),
        transition.priority, INTERRUPTS.index(transition.interrupt), begin, len(conditions), transition.seconds,
    )  # fmt: skip


def _check(c: Compiler, node: StateMachine, transition: Transition, where: str) -> list[Condition]:
    """A transition's names and numbers, and its conditions."""
    if transition.source != "*" and transition.source not in node.states:
        raise unknown("state", transition.source, ("*", *node.states), f"{where}.source")
    if transition.to not in node.states:
        raise unknown("state", transition.to, node.states, f"{where}.to")
    if transition.source == transition.to:
        raise ValidationError(
            f"{where}: {transition.to!r} leads to itself; a state that should start over needs a twin"
        )
    if not (math.isfinite(transition.seconds) and transition.seconds >= 0):
        raise ValidationError(f"{where}.seconds: expected zero or more, got {transition.seconds}")
    return [parse(text, c.graph.parameters, f"{where}.when[{k}]") for k, text in enumerate(transition.when)]


def _check_reachable(node: StateMachine, initial: str, path: str) -> None:
    reached, fresh = {initial}, [initial]
    while fresh:
        state = fresh.pop()
        for t in node.transitions:
            if t.source in (state, "*") and t.to not in reached:
                reached.add(t.to)
                fresh.append(t.to)
    missed = [name for name in node.states if name not in reached]
    if missed:
        raise ValidationError(
            f"{path}.states.{missed[0]}: no transition leads to this state from {initial!r}"
        )


def _check_endless(node: StateMachine, path: str) -> None:
    """Transitions without conditions must not lead round in a circle."""
    follow = {t.source: t.to for t in reversed(node.transitions) if not t.when and t.source != "*"}
    for start in follow:
        seen, state = [start], follow[start]
        while state in follow and state not in seen:
            seen.append(state)
            state = follow[state]
        if state in seen:
            circle = " -> ".join([*seen[seen.index(state) :], state])
            raise ValidationError(f"{path}.states.{state}: transitions without conditions go round: {circle}")


def compile_switch(c: Compiler, node: Switch, path: str, scope: Scope, number: int) -> Part:
    if not node.inputs:
        raise ValidationError(f"{path}.inputs: a switch needs at least one")
    if not (math.isfinite(node.seconds) and node.seconds >= 0):
        raise ValidationError(f"{path}.seconds: expected zero or more, got {node.seconds}")
    ref = c.builder.value(node.index, f"{path}.index")
    count = len(node.inputs)
    _row(c, number, count, 0, -1, ref=ref, ease=EASES.index(node.ease), seconds=node.seconds)
    first = len(c.builder.rows["states"])
    c.builder.rows["states"] += [(0, 0, 0, 0)] * count
    inside = Scope(scope.region, None, scope.additive)
    parts = c.children(number, [(n, f"{path}.inputs[{k}]", inside) for k, n in enumerate(node.inputs)])
    for k in range(count):
        c.builder.rows["states"][first + k] = (parts[k].node, 0, 0, 0)
    return _part(c, number, parts, -1)
