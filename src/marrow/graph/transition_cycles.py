"""Transitions that lead round for ever, found before a graph runs.

A machine is tried with values of its parameters around every number its rules compare them with: where transitions follow
one another and come back to where they began with no time passing, the graph is refused.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from marrow.errors import ValidationError
from marrow.graph.rules import Rule
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.description import Parameter
    from marrow.graph.nodes.state_machine import Transition

__all__ = ["check_cycles", "holds"]

Ways = dict[str, list[tuple["Transition", Rule]]]
MOST_TRIALS = 3000


def check_cycles(ways: Ways, parameters: Mapping[str, Parameter], path: str) -> None:
    """Refuses a machine that can go round for ever at one moment."""
    at_once = {state: [(t, rule) for t, rule in found if not rule.triggers] for state, found in ways.items()}
    if not _circle(at_once):
        return
    rules = [rule for found in at_once.values() for _, rule in found]
    for values in _trials(rules, parameters):
        for start in at_once:
            circle = _walk(start, at_once, values)
            if circle:
                given = ", ".join(f"{name} = {value:g}" for name, value in values.items())
                with_values = f" with {given}" if given else ""
                raise ValidationError(
                    f"{path}.states.{start}: transitions go round: {' -> '.join(circle)}{with_values}, for ever and in "
                    "no time; let one of them wait ('elapsed >= 0.1') or exclude the others"
                )


def _walk(start: str, ways: Ways, values: Mapping[str, float]) -> list[str]:
    """The circle that a machine goes round from a state at one moment; empty where it comes to rest."""
    seen, state = [start], start
    last: Transition | None = None
    while True:
        following = None
        for transition, rule in ways[state]:
            # A transition that may not be interrupted takes its time.
            waits = last is not None and last.seconds > 0 and (
                last.interrupt == "none" or (last.interrupt == "higher" and transition.priority <= last.priority)
            )  # fmt: skip
            if not waits and holds(rule, values):
                following = transition
                break
        if following is None:
            return []
        last, state = following, following.to
        if state in seen:
            return [*seen[seen.index(state) :], state]
        seen.append(state)


def _circle(ways: Ways) -> bool:
    """Whether any transitions lead round at all."""
    left = {state: {t.to for t, _ in found} for state, found in ways.items()}
    while True:
        gone = [s for s, to in left.items() if not to & left.keys()]
        if not gone:
            return bool(left)
        for state in gone:
            del left[state]


def _trials(rules: Iterable[Rule], parameters: Mapping[str, Parameter]) -> Iterable[dict[str, float]]:
    """Values of the parameters to try: at, between and beyond the numbers in the rules."""
    rules = list(rules)
    names = list(dict.fromkeys(name for rule in rules for name in rule.names))
    numbers = sorted(
        {value for rule in rules for code, _, value in rule.operations if code == ct.NUMBER} | {0.0}
    )
    between = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    candidates = [numbers[0] - 1, *numbers, *between, numbers[-1] + 1]
    choices = []
    for name in names:
        p = parameters[name]
        low, high = p.wrap or p.range or (-1e9, 1e9)
        choices.append(
            [0.0, 1.0] if p.type == "bool" else sorted({min(max(v, low), high) for v in candidates})
        )
    total = 1
    for choice in choices:
        total *= len(choice)
    if total <= MOST_TRIALS:
        for combination in itertools.product(*choices):
            yield dict(zip(names, combination))
        return
    rng = random.Random(0)
    for _ in range(MOST_TRIALS):
        yield {name: rng.choice(choice) for name, choice in zip(names, choices)}


def holds(rule: Rule, values: Mapping[str, float], *, elapsed: float = 0.0) -> bool:
    """Whether a rule holds when a state has just been entered: its main clip has all to come."""
    stack: list[float] = []
    two: dict[int, Callable[[float, float], float]] = {
        ct.AND: lambda a, b: float(a != 0 and b != 0), ct.OR: lambda a, b: float(a != 0 or b != 0),
        ct.PLUS: lambda a, b: a + b, ct.MINUS: lambda a, b: a - b, ct.TIMES: lambda a, b: a * b,
        ct.OVER: lambda a, b: a / b if b else 0.0, ct.ABOVE: lambda a, b: float(a > b),
        ct.BELOW: lambda a, b: float(a < b), ct.AT_LEAST: lambda a, b: float(a >= b),
        ct.AT_MOST: lambda a, b: float(a <= b), ct.EQUAL: lambda a, b: float(a == b),
        ct.UNEQUAL: lambda a, b: float(a != b), ct.LESSER: min, ct.GREATER: max,
    }  # fmt: skip
    for code, name, value in rule.operations:
        if code == ct.NUMBER:
            stack.append(value)
        elif code in (ct.PASSED, ct.WINDOW):
            # An event starts one transition; whether a window is open is not known.
            stack.append(0.0)
        elif name is not None:
            stack.append(values.get(name, 0.0))
        elif code in (ct.ELAPSED, ct.PROGRESS):
            stack.append(elapsed if code == ct.ELAPSED else 0.0)
        elif code == ct.REMAINING:
            stack.append(1e6)
        elif code == ct.RANDOM:
            # Drawn anew each time: what depends on it does not go on for ever.
            stack.append(math.nan)
        elif code == ct.NOT:
            stack.append(float(stack.pop() == 0))
        elif code == ct.NEGATIVE:
            stack.append(-stack.pop())
        elif code == ct.SIZE:
            stack.append(abs(stack.pop()))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(two[code](a, b))
    return not stack or stack[-1] != 0
