"""Lane formulas as WGSL: one invocation is one lane, every number a `f32`.

`WgslFormulas` is an emitter as `kernels/language/lanes.py` describes them, for straight-line arithmetic: a formula that is
run with it leaves `let` statements in `lines`. What the CPU computes for 16 vertices, a shader then computes for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marrow.kernels.language.lanes import Formulas

__all__ = ["Number", "WgslFormulas", "components"]


class Number:
    """An expression of a shader."""

    __slots__ = ("emitter", "text")

    def __init__(self, emitter: WgslFormulas, text: str) -> None:
        self.emitter, self.text = emitter, text

    def _with(self, pattern: str, other: Any) -> Number:
        return self.emitter.keep(pattern.format(self.text, self.emitter.text_of(other)))

    def __add__(self, other: Any) -> Number:
        return self._with("{0} + {1}", other)

    def __sub__(self, other: Any) -> Number:
        return self._with("{0} - {1}", other)

    def __rsub__(self, other: Any) -> Number:
        return self._with("{1} - {0}", other)

    def __mul__(self, other: Any) -> Number:
        return self._with("{0} * {1}", other)

    def __truediv__(self, other: Any) -> Number:
        return self._with("{0} / {1}", other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._with("{1} / {0}", other)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Number:
        return Number(self.emitter, f"-{self.text}" if not self.text.startswith("-") else self.text[1:])

    def compare(self, how: str, other: Any) -> str:
        return f"{self.text} {how} {self.emitter.text_of(other)}"


class WgslFormulas(Formulas):
    """Writes formulas down as statements of a WGSL function."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def text_of(self, value: Any) -> str:
        return value.text if isinstance(value, Number) else repr(float(value))

    def keep(self, expression: str) -> Number:
        """Names an expression, so that it is computed once."""
        name = f"x{len(self.lines)}"
        self.lines.append(f"let {name} = {expression};")
        return Number(self, name)

    def splat(self, value: Any, lanes: int = 16) -> Number:
        return value if isinstance(value, Number) else Number(self, repr(float(value)))

    constant = splat

    def fma(self, a: Any, b: Any, c: Any) -> Number:
        return self.keep(f"fma({self.text_of(a)}, {self.text_of(b)}, {self.text_of(c)})")

    def sqrt(self, x: Any) -> Number:
        return self.keep(f"sqrt({x.text})")

    def select(self, mask: str, yes: Any, no: Any) -> Number:
        return self.keep(f"select({self.text_of(no)}, {self.text_of(yes)}, {mask})")

    # One statement each, where the general formulas would write one for every step.
    def dot(self, a: Sequence[Any], b: Sequence[Any], start: Any = None) -> Number:
        pairs = [(self.text_of(x), self.text_of(y)) for x, y in zip(a, b)]
        if start is None:
            x, y = pairs.pop(0)
            text = f"{x} * {y}"
        else:
            text = self.text_of(start)
        for x, y in pairs:
            text = f"fma({x}, {y}, {text})"
        return self.keep(text)

    def cross(self, a: Sequence[Any], b: Sequence[Any]) -> list[Number]:
        return [self.dot([a[i], -a[j]], [b[j], b[i]]) for i, j in ((1, 2), (2, 0), (0, 1))]

    # Offsets mean nothing here: what a formula loads is an argument of the shader's function.
    def at(self, offset: Any, step: int = 0) -> Any:
        return offset

    def times(self, offset: Any, factor: int) -> Any:
        return offset

    def load(self, value: Any, offset: Any, lanes: int = 16) -> Any:
        return value


def components(e: WgslFormulas, name: str, width: int) -> list[Number]:
    """The first components of a vector variable."""
    return [Number(e, f"{name}.{c}") for c in "xyzw"[:width]]
