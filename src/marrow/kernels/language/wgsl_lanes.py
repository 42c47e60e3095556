"""Lane formulas as WGSL: what the CPU does to 16 lanes in a register, each invocation of a shader does to one number.

A formula is recorded first and written down at the end: what is used once stands where it is used, what is used several times,
and everything loaded, gets a name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marrow.kernels.language.lanes import LANES, Formulas
from marrow.kernels.language.wgsl_text import (
    ADD,
    ATOM,
    COMPARE,
    MULTIPLY,
    UNARY,
    WgslArray,
    number,
    whole,
    wrapped,
)

__all__ = ["Lane", "WgslEmitter"]


class Lane:
    """A number of one invocation: how it is computed, and how often it is used."""

    __slots__ = ("emitter", "loaded", "name", "parts", "rank", "uses")

    def __init__(self, emitter: WgslEmitter, rank: int, *parts: Any) -> None:
        self.emitter, self.rank, self.parts = emitter, rank, parts
        self.uses, self.name, self.loaded = 0, "", False
        for part in parts:
            if isinstance(part, tuple):
                part[0].uses += 1

    def _binary(self, sign: str, a: Any, b: Any) -> Lane:
        rank = ADD if sign in "+-" else MULTIPLY
        emitter = self.emitter
        # What stands on the right of an operator of the same rank was computed first: it keeps its brackets.
        return emitter.made(rank, (emitter.lane(a), rank), f" {sign} ", (emitter.lane(b), rank + 1))

    def __add__(self, other: Any) -> Lane:
        return self._binary("+", self, other)

    def __radd__(self, other: Any) -> Lane:
        return self._binary("+", other, self)

    def __sub__(self, other: Any) -> Lane:
        return self._binary("-", self, other)

    def __rsub__(self, other: Any) -> Lane:
        return self._binary("-", other, self)

    def __mul__(self, other: Any) -> Lane:
        return self._binary("*", self, other)

    def __rmul__(self, other: Any) -> Lane:
        return self._binary("*", other, self)

    def __truediv__(self, other: Any) -> Lane:
        return self._binary("/", self, other)

    def __rtruediv__(self, other: Any) -> Lane:
        return self._binary("/", other, self)

    def __neg__(self) -> Lane:
        return self.emitter.made(UNARY, "-", (self, ATOM))

    def compare(self, how: str, other: Any) -> Lane:
        return self.emitter.made(COMPARE, (self, ADD), f" {how} ", (self.emitter.lane(other), ADD))

    def text(self, rank: int = 0) -> str:
        """The expression, in brackets where it stands among operators of a higher rank."""
        if self.name:
            return self.name
        text = "".join(p if isinstance(p, str) else p[0].text(p[1]) for p in self.parts)
        return wrapped(text, self.rank, rank)


@dataclass
class _Scope:
    """Statements that stand in one pair of braces."""

    lines: list[Any] = field(default_factory=list)


class WgslEmitter(Formulas):
    """Records what a formula does; `text()` gives the statements. Arrays are `WgslArray`s, offsets whole numbers or
    WGSL text. Where 16 numbers lie side by side in arrays, `lane` says which of them is meant."""

    def __init__(self, prefix: str = "v", lane: str = "") -> None:
        self._prefix, self._count = prefix, 0
        self._lane: Any = lane or 0
        self._scopes = [_Scope()]

    def text(self, indent: str = "  ") -> list[str]:
        """The statements, a line each."""
        assert len(self._scopes) == 1
        return self._written(self._scopes[0], indent)

    def _written(self, scope: _Scope, indent: str) -> list[str]:
        out: list[str] = []
        for line in scope.lines:
            if isinstance(line, Lane):
                if line.uses < (1 if line.loaded else 2):
                    continue
                text, line.name = line.text(), self._fresh()
                out.append(f"{indent}let {line.name} = {text};")
            elif isinstance(line, tuple):
                inner = self._written(line[1], indent + "  ")
                out += [f"{indent}{line[0]} {{", *inner, f"{indent}}}"]
            else:
                out.append(indent + line())
        return out

    def _fresh(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"

    def _say(self, line: Any) -> Any:
        self._scopes[-1].lines.append(line)
        return line

    def lane(self, value: Any) -> Lane:
        """A number as a lane."""
        if isinstance(value, Lane):
            return value
        text = number(float(value)) if isinstance(value, (int, float, np.number)) else str(value)
        return Lane(self, UNARY if text.startswith("-") else ATOM, text)

    def made(self, rank: int, *parts: Any) -> Lane:
        """A number that is computed here."""
        return self._say(Lane(self, rank, *parts))

    # -- whole numbers --------------------------------------------------------------------------------------------
    def at(self, offset: Any, step: int = 0) -> Any:
        return self.plus(offset, step)

    def times(self, offset: Any, factor: int) -> Any:
        return self.product(offset, factor)

    def product(self, a: Any, b: Any) -> Any:
        return whole(a, "*", b)

    def plus(self, a: Any, b: Any) -> Any:
        return whole(a, "+", b)

    def minus(self, a: Any, b: Any) -> Any:
        return whole(a, "-", b)

    def index(self, array: WgslArray, offset: Any) -> Any:
        """An element of an array of whole numbers, as an offset."""
        return array.read(offset)

    # -- loads, stores --------------------------------------------------------------------------------------------
    def load(self, array: WgslArray, offset: Any, lanes: int = LANES) -> Lane:
        if lanes != LANES:
            raise NotImplementedError(f"{lanes} lanes side by side are not for a shader")
        return self.scalar(array, self.plus(offset, self._lane))

    def scalar(self, array: WgslArray, offset: Any) -> Lane:
        # What is loaded is loaded here, whatever is stored later on: it gets a name.
        loaded = self.made(ATOM, array.read(offset))
        loaded.loaded = True
        return loaded

    def store(self, array: WgslArray, offset: Any, value: Lane) -> None:
        self.store_scalar(array, self.plus(offset, self._lane), value)

    def store_scalar(self, array: WgslArray, offset: Any, value: Lane) -> None:
        value = self.lane(value)
        value.uses += 1
        self._say(lambda: f"{array.read(offset)} = {value.text()};")

    def splat(self, value: Any, lanes: int = LANES) -> Lane:
        return self.lane(value)

    def constant(self, value: float) -> Lane:
        return self.lane(value)

    # -- arithmetic -----------------------------------------------------------------------------------------------
    def _call(self, name: str, *values: Any) -> Lane:
        parts: list[Any] = [f"{name}("]
        for k, value in enumerate(values):
            parts += [", "] * (k > 0) + [(self.lane(value), 0)]
        return self.made(ATOM, *parts, ")")

    def fma(self, a: Any, b: Any, c: Any) -> Lane:
        return self._call("fma", a, b, c)

    def sqrt(self, x: Lane) -> Lane:
        return self._call("sqrt", x)

    def select(self, mask: Lane, yes: Any, no: Any) -> Lane:
        return self._call("select", no, yes, mask)

    def shuffle(self, a: Any, b: Any, lanes: Sequence[int]) -> Any:
        raise NotImplementedError("lanes know nothing of each other in a shader")

    # -- control --------------------------------------------------------------------------------------------------
    def _inside(self, head: str, write: Callable[[], Any]) -> Any:
        scope = _Scope()
        self._say((head, scope))
        self._scopes.append(scope)
        result = write()
        self._scopes.pop()
        return result

    def branch(self, offset: Any, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """`yes()` where the number is zero or more, else `no()`."""
        self._inside(f"if ({offset} >= 0)", yes)
        self._inside("else", no)

    def accumulate(
        self, start: Sequence[Any], count: Any, step: Callable[[Any, list[Lane]], list[Lane]]
    ) -> list[Lane]:
        """`for k in range(count): values = step(k, values)`."""
        names, k = [self._fresh() for _ in start], f"k{len(self._scopes)}"
        for name, value in zip(names, map(self.lane, start)):
            value.uses += 1
            self._say(lambda name=name, value=value: f"var {name} = {value.text()};")

        def body() -> None:
            moved = [self.lane(v) for v in step(k, [Lane(self, ATOM, name) for name in names])]
            nexts = [self._fresh() for _ in moved]
            for name, value in zip(nexts, moved):
                value.uses += 1
                self._say(lambda name=name, value=value: f"let {name} = {value.text()};")
            for name, following in zip(names, nexts):
                self._say(lambda name=name, following=following: f"{name} = {following};")

        self._inside(f"for (var {k} = 0; {k} < {count}; {k}++)", body)
        return [Lane(self, ATOM, name) for name in names]
