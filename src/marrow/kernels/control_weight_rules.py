"""Weights that are rules: one while the rule holds, else zero. They see parameters and curves as they are at the end
of an update."""

from __future__ import annotations

from marrow.kernels.control_tables import (
    ABOVE,
    AND,
    AT_LEAST,
    AT_MOST,
    BELOW,
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
    PLUS,
    SIZE,
    TIMES,
    UNEQUAL,
)
from marrow.kernels.control_weights import value_of
from marrow.kernels.language.kernel import rare

__all__ = ["RULE_REF", "weight_of"]

RULE_REF = -(1 << 30)
"""A reference from here downward names a rule: `RULE_REF - k` that whose first row and length are the links from k on."""


def weight_of(graph, state, room, n, ref):
    """A value that a node refers to: a parameter, a constant, or whether a rule holds."""
    if ref > RULE_REF:
        return value_of(graph, state, n, ref)
    return rule_weight(graph, state, room, n, RULE_REF - ref)


@rare
def rule_weight(graph, state, room, n, link):
    """1 where a rule of parameters and curves holds, else 0."""
    stack, top, first = room.stack, 0, graph.links[link]
    for r in range(first, first + graph.links[link + 1]):
        operation = graph.rules[r]
        code = operation["code"]
        if code == NUMBER:
            stack[top] = operation["value"]
            top += 1
        elif code == PARAMETER_VALUE:
            stack[top] = state.values[n, operation["ref"]]
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
            holds = (
                (code == ABOVE and a > b)
                or (code == BELOW and a < b)
                or (code == AT_LEAST and a >= b)
                or (code == AT_MOST and a <= b)
                or (code == EQUAL and a == b)
                or (code == UNEQUAL and a != b)
                or (code == AND and a != 0.0 and b != 0.0)
                or (code == OR and (a != 0.0 or b != 0.0))
            )
            value = 1.0 if holds else 0.0
            if code == PLUS:
                value = a + b
            elif code == MINUS:
                value = a - b
            elif code == TIMES:
                value = a * b
            elif code == OVER:
                value = a / b if b != 0.0 else 0.0
            elif code == LESSER:
                value = min(a, b)
            elif code == GREATER:
                value = max(a, b)
            stack[top - 1] = value
    return 1.0 if stack[0] != 0.0 else 0.0
