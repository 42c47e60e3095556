"""Rules: when transitions start, from the words they are written in to a table. Nothing is ever evaluated as Python.

    speed > 0.5 and not crouch          turn_left or turn_right
    elapsed >= hold + 0.2               (speed - target) * 2 < 1 and progress >= 0.5

Names are parameters; `elapsed` is the seconds in this state, `remaining` those until its main clip ends, `progress` the
share of that clip that has been played; `random` is a number from 0 to 1, drawn anew for each instance when a state is
entered. `event("hit")` holds in the moment a clip that is seen passes that event, `window("cut")` while one is inside an
event that lasts; `event("hit", 0.5)` and `window("cut", 0.5)` want half or more of that clip to be seen. `abs`,
`min`, `max` and `clamp(x, low, high)` are there for numbers, not for times. Bools, triggers, events and windows are
truths, the others numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marrow.errors import UnknownNameError, ValidationError
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.description import Parameter

__all__ = ["Rule", "parse_rule"]

_COMPARISONS = {
    ">": ct.ABOVE, "<": ct.BELOW, ">=": ct.AT_LEAST, "<=": ct.AT_MOST, "==": ct.EQUAL, "!=": ct.UNEQUAL,
}  # fmt: skip
_DRAWN = "random"
_FUNCTIONS = {"abs": 1, "min": 2, "max": 2, "clamp": 3}
"""What may be called, and with how many numbers (min and max: or more)."""
_LISTENED = {ct.PASSED: "event", ct.WINDOW: "window"}
_TIMES = {"elapsed": ct.ELAPSED, "remaining": ct.REMAINING, "progress": ct.PROGRESS}
_TOKEN = re.compile(
    r"\s*(?:(\"[^\"]*\"|'[^']*')|(\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)|(<=|>=|==|!=|[<>(),+\-*/])|([^\s<>=!(),+\-*/]+))"
)
SLACK = 1e-9
"""Seconds by which a moment may be missed and still counts as met."""
WORDS = {"and", "or", "not", "true", "false"}


@dataclass
class Rule:
    """A rule as operations `(code, name of a parameter, number)` in postfix order, and what it depends on."""

    operations: list[tuple[int, str | None, float]]
    comparisons: int = 0
    timed: bool = False
    clip_times: bool = False
    triggers: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    """Those of clips that it asks for."""
    needs: str | None = None
    """A trigger without which it cannot hold."""
    bent: bool = False
    """Whether it takes numbers that do not go evenly with what they are made of (abs, min, max)."""

    @property
    def names(self) -> list[str]:
        """The parameters it reads."""
        return list(
            dict.fromkeys(n for code, n, _ in self.operations if n is not None and code not in _LISTENED)
        )


@dataclass(frozen=True)
class _Part:
    """What has been read: a truth or a number, and whether it depends on time."""

    truth: bool
    timed: bool = False
    said: str = ""


def parse_rule(conditions: tuple[str, ...], parameters: Mapping[str, Parameter], where: str) -> Rule:
    """All of the conditions together."""
    rule = Rule([])
    for k, text in enumerate(conditions):
        try:
            _Parser(text, parameters, f"{where}.when[{k}]", rule).read()
        except RecursionError:
            raise ValidationError(
                f"{where}.when[{k}]: a rule of {len(text)} letters is nested too deep"
            ) from None
        if text.strip() in rule.triggers:
            rule.needs = text.strip()
        if k:
            rule.operations.append((ct.AND, None, 0.0))
    height = highest = 0
    for code, _, _ in rule.operations:
        height += 1 if code < ct.ABOVE else 0 if code in (ct.NOT, ct.NEGATIVE, ct.SIZE) else -1
        highest = max(highest, height)
    if highest > ct.MAX_RULE or rule.comparisons > ct.MAX_RULE:
        raise ValidationError(f"{where}.when: a rule may compare {ct.MAX_RULE} times at most")
    return rule


class _Parser:
    """Reads one condition by recursive descent: or, and, not, comparison, sum, product, sign, value."""

    def __init__(self, text: str, parameters: Mapping[str, Parameter], where: str, rule: Rule) -> None:
        self.text, self.parameters, self.where, self.rule = text, parameters, where, rule
        self.tokens = self._tokens()
        self.at = 0

    def error(self, message: str) -> ValidationError:
        return ValidationError(f"{self.where}: {self.text!r}: {message}")

    def _tokens(self) -> list[str]:
        """Numbers, signs and names; a parameter may have signs in its name, so those come first."""
        names = sorted((n for n in self.parameters if re.search(r"[(),+\-*/]", n)), key=len, reverse=True)
        found, at = [], 0
        while self.text[at:].strip():
            rest = self.text[at:].lstrip()
            at = len(self.text) - len(rest)
            named = next((n for n in names if rest.startswith(n)), None)
            match = _TOKEN.match(self.text, at)
            if named is None and match is None:
                raise self.error(f"{rest[0]!r} is not understood")
            found.append(named or next(g for g in match.groups() if g))  # type: ignore[union-attr]
            at += len(found[-1])
        return found

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise self.error("something is missing at the end")
        self.at += 1
        return token

    def emit(self, code: int, name: str | None = None, value: float = 0.0) -> None:
        self.rule.operations.append((code, name, value))

    def read(self) -> None:
        part = self.either()
        if self.peek() is not None:
            raise self.error(f"{self.peek()!r} is not expected there")
        self.truth(part)

    def truth(self, part: _Part) -> _Part:
        if not part.truth:
            kind = self.parameters[part.said].type if part.said in self.parameters else "number"
            raise self.error(
                f"{part.said!r} is a {kind}, so say what it is compared with, as in '{part.said} > 0.5'"
            )
        return part

    def number(self, part: _Part, sign: str) -> _Part:
        if part.truth:
            kind = self.parameters[part.said].type if part.said in self.parameters else "truth"
            if kind != "bool":
                raise self.error(f"a {kind} cannot be used with {sign!r}")
        return part

    def either(self) -> _Part:
        part = self.both()
        while self.peek() == "or":
            self.take()
            self.truth(part)
            part = _Part(True, self.truth(self.both()).timed or part.timed)
            self.emit(ct.OR)
        return part

    def both(self) -> _Part:
        part = self.negated()
        while self.peek() == "and":
            self.take()
            self.truth(part)
            part = _Part(True, self.truth(self.negated()).timed or part.timed)
            self.emit(ct.AND)
        return part

    def negated(self) -> _Part:
        if self.peek() != "not":
            return self.comparison()
        self.take()
        before = len(self.rule.operations)
        part = self.truth(self.negated())
        if any(code in (ct.TRIGGERED, ct.PASSED) for code, *_ in self.rule.operations[before:]):
            raise self.error("a trigger or an event cannot be waited for to be absent")
        self.emit(ct.NOT)
        return _Part(True, part.timed)

    def comparison(self) -> _Part:
        before = len(self.rule.operations)
        left = self.sum()
        sign = self.peek()
        if sign not in _COMPARISONS:
            return left
        self.take()
        right = self.sum()
        self.number(left, sign), self.number(right, sign)
        timed = left.timed or right.timed
        if timed and sign in ("==", "!="):
            raise self.error("a time is never exactly anything: use >= or <=")
        curved = any(code == ct.CURVE_VALUE for code, *_ in self.rule.operations[before:])
        self.emit(_COMPARISONS[sign], None, SLACK if timed or curved else 0.0)
        self.rule.comparisons += 1
        return _Part(True, timed)

    def sum(self) -> _Part:
        part = self.product()
        while self.peek() in ("+", "-"):
            sign = self.take()
            self.number(part, sign)
            other = self.number(self.product(), sign)
            self.emit(ct.PLUS if sign == "+" else ct.MINUS)
            part = _Part(False, part.timed or other.timed, sign)
        return part

    def product(self) -> _Part:
        part = self.signed()
        while self.peek() in ("*", "/"):
            sign = self.take()
            self.number(part, sign)
            other = self.number(self.signed(), sign)
            if part.timed and other.timed:
                raise self.error("two times cannot be multiplied")
            if other.timed and sign == "/":
                raise self.error("a number cannot be divided by a time")
            self.emit(ct.TIMES if sign == "*" else ct.OVER)
            part = _Part(False, part.timed or other.timed, sign)
        return part

    def signed(self) -> _Part:
        if self.peek() in ("-", "+"):
            sign = self.take()
            part = self.number(self.signed(), sign)
            if sign == "-":
                self.emit(ct.NEGATIVE)
            return _Part(False, part.timed, sign)
        return self.value()

    def value(self) -> _Part:
        token = self.take()
        if token == "(":
            part = self.either()
            if self.take() != ")":
                raise self.error("a ')' is missing")
            return part
        if re.fullmatch(r"[\d.].*", token) and token not in self.parameters:
            number = float(token)
            if not math.isfinite(number):
                raise self.error(f"{token} is too large")
            self.emit(ct.NUMBER, None, number)
            return _Part(False, said=token)
        if token in self.parameters:
            return self.parameter(token)
        if token in ("true", "false"):
            self.emit(ct.NUMBER, None, float(token == "true"))
            return _Part(False, said=token)
        if token in _LISTENED.values() and self.peek() == "(":
            return self.heard(token)
        if token in _FUNCTIONS and self.peek() == "(":
            return self.called(token)
        if token == _DRAWN:
            self.emit(ct.RANDOM)
            return _Part(False, said=token)
        if token in _TIMES:
            self.emit(_TIMES[token])
            self.rule.timed = True
            self.rule.clip_times = self.rule.clip_times or token != "elapsed"
            return _Part(False, True, token)
        if token in WORDS or re.fullmatch(r"[<>=!(),+\-*/]+", token):
            raise self.error(f"expected a name or a number, got {token!r}")
        raise UnknownNameError(f"parameter (in {self.where})", token, self.parameters)

    def called(self, word: str) -> _Part:
        """`abs(x)`, `min(x, y)`, `max(x, y)`, `clamp(x, low, high)`."""
        count = 0
        while count == 0 or self.peek() == ",":
            self.take()
            part = self.number(self.sum(), f"{word}()")
            if part.timed:
                raise self.error(f"a time cannot stand inside {word}(); compare it by itself")
            count += 1
            if count == 2 and word != "abs":
                self.emit(ct.LESSER if word == "min" else ct.GREATER)
            elif count > 2:
                self.emit(ct.GREATER if word == "max" else ct.LESSER)
        most = count if word in ("min", "max") else _FUNCTIONS[word]
        if not _FUNCTIONS[word] <= count <= most:
            raise self.error(f"{word}() takes {_FUNCTIONS[word]} numbers, got {count}")
        if self.take() != ")":
            raise self.error(f"a ')' is missing after {word}(")
        if word == "abs":
            self.emit(ct.SIZE)
        self.rule.bent = True
        return _Part(False, said=f"{word}(...)")

    def heard(self, word: str) -> _Part:
        """`event("hit")` or `window("cut")`, and how much of the clip must be seen."""
        self.take()
        name = self.take()
        if name[0] not in "\"'" or len(name) < 3:
            raise self.error(f"an event is named in quotes, as in {word}('hit')")
        closing, weight = self.take(), 0.0
        if closing == ",":
            said = self.take()
            weight = float(said) if re.fullmatch(r"\d*\.?\d+|\d+\.", said) else math.nan
            if not 0.0 <= weight <= 1.0:
                raise self.error(f"the weight of {word}({name}, ...) is a number from 0 to 1, got {said!r}")
            closing = self.take()
        if closing != ")":
            raise self.error(f"an event is named in quotes, as in {word}('hit')")
        code = next(c for c, w in _LISTENED.items() if w == word)
        self.emit(code, name[1:-1], weight)
        self.rule.events += (name[1:-1],)
        return _Part(True, said=word)

    def parameter(self, name: str) -> _Part:
        kind = self.parameters[name].type
        if kind == "vector":
            raise self.error("a vector cannot be compared with a number")
        if kind == "trigger":
            self.emit(ct.TRIGGERED, name)
            self.rule.triggers += (name,)
        elif kind == "curve":
            self.emit(ct.CURVE_VALUE, name)
        else:
            self.emit(ct.PARAMETER_VALUE, name)
        return _Part(kind not in ("float", "curve"), said=name)
