"""The conditions of transitions, from the words they are written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.description import Parameter
from marrow.kernels import control_tables as ct

__all__ = ["Condition", "parse"]

_COMPARISON = re.compile(r"^\s*([^\s<>=!]+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$")
_KINDS = {
    ">": ct.ABOVE,
    "<": ct.BELOW,
    ">=": ct.AT_LEAST,
    "<=": ct.AT_MOST,
    "==": ct.EQUAL,
    "!=": ct.UNEQUAL,
}


@dataclass(frozen=True)
class Condition:
    """One condition: its kind, the parameter it reads (None for times) and the number it compares with."""

    kind: int
    parameter: str | None
    value: float

    @property
    def timed(self) -> bool:
        return self.parameter is None


def parse(text: str, parameters: Mapping[str, Parameter], where: str) -> Condition:
    """`"speed > 0.5"`, `"jump"`, `"not armed"`, `"elapsed >= 1"`, `"remaining <= 0.2"`."""
    match = _COMPARISON.match(text)
    if match is None:
        name, wanted = text.strip(), 1.0
        if name.startswith("not "):
            name, wanted = name[4:].strip(), 0.0
        parameter = _known(name, parameters, where)
        if parameter.type == "trigger":
            if not wanted:
                raise ValidationError(f"{where}: {text!r}: a trigger cannot be waited for to be absent")
            return Condition(ct.TRIGGER, name, 1.0)
        if parameter.type != "bool":
            raise ValidationError(
                f"{where}: {text!r}: {name!r} is a {parameter.type}, so say what it is compared with, as in '{name} > 0.5'"
            )
        return Condition(ct.UNEQUAL if wanted else ct.EQUAL, name, 0.0)
    name, sign, number = match.groups()
    try:
        value = {"true": 1.0, "false": 0.0}.get(number.lower())
        value = float(number) if value is None else value
    except ValueError:
        raise ValidationError(
            f"{where}: {text!r}: expected a number after {sign!r}, got {number!r}"
        ) from None
    if name == "elapsed" and name not in parameters:
        if sign not in (">", ">="):
            raise ValidationError(
                f"{where}: {text!r}: elapsed time can only be waited for: use 'elapsed >= seconds'"
            )
        return Condition(ct.ELAPSED_AT_LEAST, None, value)
    if name == "remaining" and name not in parameters:
        if sign not in ("<", "<="):
            raise ValidationError(
                f"{where}: {text!r}: remaining time can only run out: use 'remaining <= seconds'"
            )
        return Condition(ct.REMAINING_AT_MOST, None, value)
    parameter = _known(name, parameters, where)
    if parameter.type in ("trigger", "vector"):
        raise ValidationError(f"{where}: {text!r}: a {parameter.type} cannot be compared with a number")
    return Condition(_KINDS[sign], name, value)


def _known(name: str, parameters: Mapping[str, Parameter], where: str) -> Parameter:
    if name not in parameters:
        raise UnknownNameError(f"parameter (in {where})", name, parameters)
    return parameters[name]
