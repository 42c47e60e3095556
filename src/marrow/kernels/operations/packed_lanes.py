"""Lane formulas that sample packed motion (`kernels.packed_layout`): 16 joints at a time, straight from the bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from marrow.kernels.language.lanes import block
from marrow.kernels.operations.adding import add_rotation
from marrow.kernels.packed_layout import HEAD, OWN_BITS, STEP_BASE

__all__ = ["packed_morphs", "packed_places", "packed_places_apart", "packed_turns", "packed_turns_apart"]

OWN_UNIT = 2.0 ** (1 - OWN_BITS)


class _Cell:
    """One cell of a record: `start` is where it begins among the words, `number` is that of its block."""

    def __init__(
        self, e: Any, i: Any, packed: Any, start: Any, number: Any, components: int, floats: bool
    ) -> None:
        self.e, self.i, self.packed, self.start, self.number = e, i, packed, start, number
        self.components, self.floats = components, floats
        self.masks = [e.half(packed, start, c) for c in range(components)]
        self.own = e.half(packed, start, 3)
        self.tracks = self.masks[0]
        for mask in self.masks[1:]:
            self.tracks = e.either(self.tracks, mask)

    def _bit(self, mask: Any, lane: Any) -> Any:
        return (self.e.wholes(mask) >> lane) & 1

    def _planes(
        self, at: Any, count: Any, head: Any, c: int, ranks: Any, lanes: Any
    ) -> tuple[Any, Any, list[Any], Any]:
        """The constant of a component, what is added where it is a float, its coefficients; and where the planes end."""
        e = self.e
        more, wide, degree = e.part(head, 8 * c, 2), e.part(head, 8 * c + 2, 1), e.part(head, 8 * c + 3, 2)
        high = e.part(more, 1, 1)
        # There are one, two, three or four octets.
        given = [None, e.any(more), high, e.product(high, e.part(more, 0, 1))]
        first = e.plus(at, count)
        constant = e.picked(self.packed, first, ranks)
        for k in range(1, 4 if self.floats else 3):
            # What is not there is read where there is something, and not used.
            plane = e.picked(self.packed, e.plus(first, e.product(e.times(count, k), given[k])), ranks)
            constant = constant + ((plane * e.wholes(given[k])) << (8 * k))
        bias = e.plus(e.at(e.times(e.any(more), 32640), 128), e.times(high, 8355840))
        added = None
        if self.floats:
            exact = e.wholes(given[3])
            added = e.as_float(constant * exact * lanes)
            constant = (constant - e.wholes(bias)) * (1 - exact)
        else:
            constant = constant - e.wholes(bias)
        first = e.plus(first, e.product(count, e.at(more, 1)))
        has = [e.any(degree), e.part(degree, 1, 1), e.product(e.part(degree, 0, 1), e.part(degree, 1, 1))]
        size = e.product(count, e.at(wide, 1))
        middle = e.at(e.times(wide, 32640), 128)
        coefficients = []
        for k in range(3):
            begin = e.plus(at, e.product(has[k], e.plus(e.minus(first, at), e.times(size, k))))
            low = e.picked(self.packed, begin, ranks)
            upper = e.picked(self.packed, e.plus(begin, e.product(count, e.product(wide, has[k]))), ranks)
            value = low + ((upper * e.wholes(wide)) << 8) - e.wholes(middle)
            coefficients.append(value * e.wholes(has[k]))
        return constant, added, coefficients, e.plus(first, e.product(size, degree))

    def values(self, segment: Any, frames: Sequence[Any], unit: Any) -> list[list[Any]]:
        """The components at some frames of one segment, whose frames are `unit` thirty-seconds of it."""
        e, packed, lane = self.e, self.packed, self.e.lane_numbers(self.i)
        begin = e.plus(segment, e.half(packed, e.at(segment, 1), self.number))
        head, octet = e.index(packed, begin), e.at(e.times(begin, 4), 4)
        widths_at, channels = [], []
        for c in range(self.components):
            mask = self.masks[c]
            count, ranks = e.count(mask), e.ranks(self.i, mask)
            widths_at.append(octet)
            there = self._bit(mask, lane)
            constant, added, coefficients, end = self._planes(octet, count, head, c, ranks, there)
            channels.append((there, constant, added, coefficients))
            octet = e.plus(octet, e.product(e.any(count), e.minus(end, octet)))

        def widths(ranks: Callable[[Any], Any], lane: Any) -> list[Any]:
            return [
                (e.picked(packed, at, ranks(mask)) & 31) * self._bit(mask, lane)
                for at, mask in zip(widths_at, self.masks)
            ]

        def together(ranks: Callable[[Any], Any], lane: Any) -> list[Any]:
            total, *rest = widths(ranks, lane)
            for width in rest:
                total = total + width
            return [total]

        ((before, in_all),) = e.sums(self.i, together)
        own = widths(lambda mask: e.ranks(self.i, mask), lane)
        first = e.wholes(e.times(e.minus(octet, e.times(begin, 4)), 8)) + before
        step = self._step(segment)
        out = []
        for k in frames:
            d = e.wholes(e.product(k, unit)) - 16
            square = d * d
            shape = (d * 64, square * 6 - 512, (square * d * 5).down(3) - d * 96)
            numbers = e.fields(packed, begin, first + in_all * e.wholes(k), own)
            values = []
            for (there, constant, added, coefficients), bits in zip(channels, numbers):
                curve = (
                    coefficients[0] * shape[0] + coefficients[1] * shape[1] + coefficients[2] * shape[2] + 512
                )
                value = e.number((constant + curve.down(10) + bits) * there) * step
                values.append(value if added is None else value + added)
            out.append(values)
        return out

    def _step(self, segment: Any) -> Any:
        e = self.e
        codes = e.picked(self.packed, e.times(e.at(self.start, 2), 4), e.ranks(self.i, self.tracks))
        factor = e.wholes(e.half(self.packed, segment, 0))
        return e.as_float((codes + STEP_BASE) << 20) * e.as_float((factor + STEP_BASE) << 20)

    def two(self, segments: Sequence[Any], frames: Sequence[Any], unit: Any) -> list[list[Any]]:
        """The components at two frames, of one segment or of two; zero where there is no block."""
        e, count = self.e, self.components
        nothing, some = [e.splat(0.0)] * (2 * count), e.any(self.tracks)

        def near(_: Any, values: list[Any]) -> list[Any]:
            first, second = self.values(segments[0], frames, unit)
            return [*first, *second]

        def apart(n: Any, values: list[Any]) -> list[Any]:
            segment, k = (e.plus(x[0], e.product(n, e.minus(x[1], x[0]))) for x in (segments, frames))
            return [*values[count:], *self.values(segment, [k], unit)[0]]

        if len(segments) == 1:
            values = e.accumulate(nothing, some, near)
        else:
            values = e.accumulate(nothing, e.times(some, 2), apart)
        return [values[:count], values[count:]]

    def _own_at(self, size: int) -> Any:
        """In which bit the own value of each lane begins, `size` words each, behind the octets of the tracks."""
        e = self.e
        words = e.part(e.at(e.count(self.tracks), 3), 2, 5)
        lane = e.lane_numbers(self.i)
        return e.wholes(e.times(e.at(words, 2), 32)) + e.ones(e.wholes(self.own) & ((1 << lane) - 1)) * (
            32 * size
        )

    def _has_own(self) -> Any:
        return self._bit(self.own, self.e.lane_numbers(self.i)).compare("!=", 0)

    def own_turns(self, base: list[Any]) -> list[Any]:
        """The rotations that these are seen from: those of the base pose, or own ones."""
        e = self.e

        def found(_: Any, values: list[Any]) -> list[Any]:
            at, m = self._own_at(2), []
            for c in range(3):
                whole = e.bits(self.packed, self.start, at + OWN_BITS * c, OWN_BITS) - (1 << (OWN_BITS - 1))
                m.append(e.number(whole) * OWN_UNIT)
            return [e.select(self._has_own(), q, b) for q, b in zip(quaternion(e, m), values)]

        return e.accumulate(base, e.any(self.own), found)

    def own_values(self, base: list[Any]) -> list[Any]:
        """What values are added to: those of the base pose, or own ones."""
        e = self.e

        def found(_: Any, values: list[Any]) -> list[Any]:
            at = self._own_at(self.components)
            own = [
                e.as_float(e.bits(self.packed, self.start, at + 32 * c, 32)) for c in range(self.components)
            ]
            return [e.select(self._has_own(), x, value) for x, value in zip(own, values)]

        return e.accumulate(base, e.any(self.own), found)


def quaternion(e: Any, m: Sequence[Any]) -> list[Any]:
    """The unit quaternion of modified Rodrigues parameters."""
    squared = e.dot(m, m)
    scale = 1.0 / (squared + 1.0)
    twice = scale + scale
    return [m[0] * twice, m[1] * twice, m[2] * twice, (1.0 - squared) * scale]


def present(e: Any, stack: Any, at: Any, more: Any) -> Any:
    """What is on the stack already; nothing where the sum begins."""
    return e.select(e.splat(more).compare("!=", 0.0), e.load(stack, at), e.splat(0.0))


def emit_places(
    apart: bool, e: Any, i: Any, Jp: Any, kind: Any, row: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, k: Any, s2: Any,
    k2: Any, unit: Any, t: Any, w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """Translations (`kind` 0, from `row` 0 on) or scales (2, 7) of 16 joints of a packed clip, between the frame `k` of the segment at `s` and the frame `k2` of the
    same segment or, where they are `apart`, of that at `s2`; weighted, put on the stack or, where there is `more`, added to it. The base pose lies at `base` of
    the bank."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.at(record, HEAD), e.times(e.group(i), 3))
    begin = e.plus(record, e.half(packed, place, e.times(kind, 2)))
    cell = _Cell(e, i, packed, begin, e.half(packed, place, e.at(e.times(kind, 2), 1)), 3, True)
    a, b = cell.two([s, s2] if apart else [s], [k, k2], unit)
    at = [e.plus(i, e.product(e.at(row, c), Jp)) for c in range(3)]
    start = cell.own_values([e.load(bank, e.plus(base, x)) for x in at])
    for c in range(3):
        here = e.plus(top, at[c])
        e.store(stack, here, e.fma(w, start[c] + e.between(a[c], b[c], t), present(e, stack, here, more)))


def emit_turns(
    apart: bool, e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, k: Any, s2: Any, k2: Any, unit: Any,
    t: Any, w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """Rotations of 16 joints, likewise."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.at(record, HEAD), e.times(e.group(i), 3))
    cell = _Cell(e, i, packed, e.plus(record, e.half(packed, place, 2)), e.half(packed, place, 3), 3, False)
    a, b = cell.two([s, s2] if apart else [s], [k, k2], unit)
    p, q = quaternion(e, a), quaternion(e, b)
    side = e.select(e.dot(p, q).compare("<", 0.0), e.splat(-1.0), e.splat(1.0))
    mixed = [e.between(x, side * y, t) for x, y in zip(p, q)]
    at = [e.row(i, 3 + c, Jp) for c in range(4)]
    start = cell.own_turns([e.load(bank, e.plus(base, x)) for x in at])
    turned = e.multiply_quaternions(start, mixed)
    here = [e.plus(top, x) for x in at]
    add_rotation(e, turned, w, [present(e, stack, x, more) for x in here], stack, here)


def emit_morphs(
    e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, k: Any, s2: Any, k2: Any, unit: Any, t: Any,
    w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """16 morph weights, likewise."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.plus(e.at(record, HEAD), e.times(e.group(Jp), 3)), e.group(i))
    cell = _Cell(e, i, packed, e.plus(record, e.half(packed, place, 0)), e.half(packed, place, 1), 1, True)
    (a,), (b,) = cell.two([s, s2], [k, k2], unit)
    at = e.plus(i, e.times(Jp, 10))
    (start,) = cell.own_values([e.load(bank, e.plus(base, at))])
    here = e.plus(top, at)
    e.store(stack, here, e.fma(w, start + e.between(a, b, t), present(e, stack, here, more)))


packed_places, packed_places_apart = block(emit_places, False), block(emit_places, True)
packed_turns, packed_turns_apart = block(emit_turns, False), block(emit_turns, True)
packed_morphs = block(emit_morphs)
