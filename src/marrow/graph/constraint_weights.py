"""Weights of constraints: numbers, parameters, curves of clips, rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from marrow.errors import ValidationError
from marrow.graph.rules import parse_rule
from marrow.kernels import control_tables as ct
from marrow.kernels.control_weight_rules import RULE_REF

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["weight_ref"]

ASKS = {ct.PASSED: "event()", ct.WINDOW: "window()", ct.TRIGGERED: "a trigger", ct.ELAPSED: "elapsed",
        ct.REMAINING: "remaining", ct.PROGRESS: "progress", ct.RANDOM: "random"}  # fmt: skip


def weight_ref(c: Compiler, weight: float | str, where: str) -> int:
    """Where programs find the weight of a constraint: a constant, a column of the values, or a rule. A name that is
    no parameter is a curve of the clips, which is 1 where no clip that is seen has it."""
    known = c.builder.parameters
    if not isinstance(weight, str) or weight in known:
        return c.builder.value(weight, where)
    if re.search(r"[<>=!()+*/]|\b(and|or|not)\b", weight):
        return _rule_ref(c, weight, where)
    curves = {curve.name for clip in c.character.clips.values() for curve in clip.curves}
    if weight not in curves and not c.standalone:
        raise ValidationError(
            f"{where}: {weight!r} is no parameter of the graph, no curve of a clip and no rule; "
            f"declare it: Graph(..., {{{weight!r}: Parameter()}})"
        )
    if weight not in c.curve_columns:
        c.curve_columns[weight] = len(c.builder.values)
        c.builder.values.append(1.0)
    return c.curve_columns[weight]


def _rule_ref(c: Compiler, text: str, where: str) -> int:
    rule, b = parse_rule((text,), c.graph.parameters, where), c.builder
    begin = len(b.rows["rules"])
    for code, name, value in rule.operations:
        if code in ASKS:
            raise ValidationError(f"{where}: {text!r}: the rule of a weight cannot ask for {ASKS[code]}")
        if code in (ct.PARAMETER_VALUE, ct.CURVE_VALUE):
            b.add("rules", ct.PARAMETER_VALUE, b.parameters[str(name)].column, value)
        else:
            b.add("rules", code, -1, value)
    return RULE_REF - b.link([begin, len(rule.operations)])
