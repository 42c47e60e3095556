"""Whole numbers in lanes as WGSL: each invocation has one, of type i32."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marrow.kernels.language.lanes import LANES
from marrow.kernels.language.wgsl_text import ATOM, WgslArray, whole

__all__ = ["WgslWhole", "WgslWholeLanes"]


class WgslWhole:
    """A whole number of one invocation: the name of a variable, or a constant."""

    __slots__ = ("emitter", "text")

    def __init__(self, emitter: Any, text: str) -> None:
        self.emitter, self.text = emitter, text

    def _of(self, text: str) -> WgslWhole:
        return self.emitter.whole_named(text)

    def _other(self, other: Any) -> str:
        return other.text if isinstance(other, WgslWhole) else _written(int(other))

    def __add__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} + {self._other(other)}")

    def __sub__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} - {self._other(other)}")

    def __rsub__(self, other: Any) -> WgslWhole:
        return self._of(f"{self._other(other)} - {self.text}")

    def __mul__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} * {self._other(other)}")

    def __and__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} & {self._other(other)}")

    def __or__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} | {self._other(other)}")

    __radd__, __rmul__ = __add__, __mul__

    def __lshift__(self, other: Any) -> WgslWhole:
        return self._of(f"{self.text} << (u32({self._other(other)}) & 31u)")

    def __rlshift__(self, other: int) -> WgslWhole:
        return self._of(f"{_written(other)} << (u32({self.text}) & 31u)")

    def __rshift__(self, other: Any) -> WgslWhole:
        return self._of(f"i32(u32({self.text}) >> (u32({self._other(other)}) & 31u))")

    def down(self, count: int) -> WgslWhole:
        return self._of(f"{self.text} >> {count}u")

    def compare(self, how: str, other: Any) -> Any:
        return self.emitter.made(ATOM, f"({self.text} {how} {self._other(other)})")


def _written(value: int) -> str:
    value &= 0xFFFFFFFF
    if value == 1 << 31:
        return "bitcast<i32>(2147483648u)"
    return str(value) if value < 1 << 31 else f"({value - (1 << 32)})"


class WgslWholeLanes:
    """What the WGSL emitter does with whole numbers; see `Formulas`."""

    _say: Callable[..., Any]
    _fresh: Callable[..., str]
    _inside: Callable[..., Any]
    made: Callable[..., Any]

    def whole_named(self, text: str) -> WgslWhole:
        """A whole number that is computed here, with a name."""
        name = self._fresh()
        self._say(lambda: f"let {name} = {text};")
        return WgslWhole(self, name)

    def half(self, array: WgslArray, offset: Any, number: Any) -> Any:
        name = self._fresh()
        place = array.read(whole(offset, "+", f"({number} >> 1u)"))
        self._say(lambda: f"let {name} = ({place} >> (16u * (u32({number}) & 1u))) & 65535;")
        return name

    def part(self, number: Any, first: int, count: int) -> Any:
        return self.whole_named(f"({number} >> {first}u) & {(1 << count) - 1}").text

    def count(self, mask: Any) -> Any:
        return self.whole_named(f"countOneBits({mask})").text

    def either(self, a: Any, b: Any) -> Any:
        return self.whole_named(f"{a} | {b}").text

    def any(self, number: Any) -> Any:
        return self.whole_named(f"select(0, 1, {number} != 0)").text

    def group(self, i: Any) -> Any:
        return f"({i} >> 4u)"

    def lane(self, i: Any) -> WgslWhole:
        return self.whole_named(f"{i} & 15")

    def wholes(self, value: Any) -> WgslWhole:
        return WgslWhole(self, str(value)) if isinstance(value, int) else self.whole_named(str(value))

    def ranks(self, i: Any, mask: Any) -> Any:
        return self.ranks_of(self.lane(i), mask)

    def ranks_of(self, lane: WgslWhole, mask: Any) -> WgslWhole:
        """The ranks of another lane."""
        return self.whole_named(f"countOneBits({mask} & ((1 << u32({lane.text})) - 1))")

    def picked(self, array: WgslArray, octet: Any, ranks: WgslWhole) -> WgslWhole:
        at = self.whole_named(str(whole(octet, "+", f"({ranks.text} & {LANES - 1})")))
        place = array.read(f"({at.text} >> 2u)")
        return self.whole_named(f"({place} >> (8u * (u32({at.text}) & 3u))) & 255")

    def _found(self, array: WgslArray, offset: Any, at: WgslWhole) -> str:
        """32 bits from a bit on."""
        place = self.whole_named(str(whole(offset, "+", f"({at.text} >> 5u)")))
        low, high = array.read(place.text), array.read(f"{place.text} + 1")
        shift = f"(u32({at.text}) & 31u)"
        # By 31 and one more: a shift by 32 is none.
        return f"((u32({low}) >> {shift}) | ((u32({high}) << (31u - {shift})) << 1u))"

    def bits(self, array: WgslArray, offset: Any, at: WgslWhole, width: int) -> WgslWhole:
        mask = f" & {(1 << width) - 1}u" if width < 32 else ""
        return self.whole_named(f"i32({self._found(array, offset, at)}{mask})")

    def fields(self, array: WgslArray, offset: Any, at: WgslWhole, widths: Sequence[WgslWhole]) -> list[WgslWhole]:
        out = []
        for width in widths:
            mask = f"((1u << (u32({width.text}) & 31u)) - 1u)"
            out.append(self.whole_named(f"i32({self._found(array, offset, at)} & {mask})"))
            at = at + width
        return out

    def ones(self, x: WgslWhole) -> WgslWhole:
        return self.whole_named(f"countOneBits({x.text})")

    def sums(
        self, i: Any, size_of: Callable[[Any, Any], Sequence[WgslWhole]]
    ) -> list[tuple[WgslWhole, WgslWhole]]:
        own = self.lane(i)
        k = self._fresh()
        names: list[tuple[str, str]] = []

        def body() -> None:
            other = WgslWhole(self, k)
            for size in size_of(lambda mask: self.ranks_of(other, mask), other):
                before, total = self._fresh(), self._fresh()
                names.append((before, total))
                self._say(lambda b=before, t=total, s=size.text: f"{t} += {s};")
                self._say(lambda b=before, s=size.text: f"if ({k} < {own.text}) {{ {b} += {s}; }}")

        self._say(lambda: " ".join(f"var {b} = 0; var {t} = 0;" for b, t in names))
        self._inside(f"for (var {k} = 0; {k} < {LANES}; {k}++)", body)
        return [(WgslWhole(self, b), WgslWhole(self, t)) for b, t in names]
