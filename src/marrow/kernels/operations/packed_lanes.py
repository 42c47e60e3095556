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

    def _constants(
        self, planes: Any, at: list[Any], ranks: list[Any], more: Any
    ) -> tuple[list[Any], list[Any]]:
        """The constants of the components, and what is added where they are floats; `planes` octets lie between two octets of a number."""
        e, found = self.e, []
        for c, begin in enumerate(at):
            low = e.picked(self.packed, begin, ranks[c])
            high = e.picked(self.packed, e.plus(begin, planes), ranks[c])
            found.append(((low << 16) | (high << 24)).down(16))

        def longer(_: Any, values: list[Any]) -> list[Any]:
            # Three octets, or the four of a float.
            exact = e.part(more, 1, 1)
            out, added = [], []
            for c, begin in enumerate(at):
                plane = e.picked(self.packed, e.plus(begin, e.times(planes, 2)), ranks[c])
                whole = (values[c] & 0xFFFF) | (plane << 16)
                if self.floats:
                    last = e.plus(begin, e.product(planes, e.at(exact, 2)))
                    top = e.picked(self.packed, last, ranks[c])
                    is_float = 0 - e.wholes(exact)
                    added.append((whole | (top << 24)) & is_float)
                    out.append((whole << 8).down(8) & (-1 - is_float))
                else:
                    out.append((whole << 8).down(8))
            return [*out, *added]

        added = [e.wholes(0)] * len(at) if self.floats else []
        values = e.accumulate([*found, *added], e.any(more), longer)
        return values[: len(at)], [e.as_float(x) for x in values[len(at) :]]

    def values(self, segment: Any, frames: Sequence[tuple[Any, Sequence[Any]]]) -> list[list[Any]]:
        """The components at some frames of one segment: the number of each frame in it, and what its polynomials are made of."""
        e, packed = self.e, self.packed
        begin = e.plus(e.times(segment, 4), e.times(e.half(packed, e.at(segment, 1), self.number), 2))
        head = e.octet(packed, begin)
        more, wide, degree = e.part(head, 0, 2), e.part(head, 2, 2), e.part(head, 4, 2)
        ranks = [e.ranks(self.i, mask) for mask in self.masks]
        first, planes = [], e.at(begin, 1)
        for mask in self.masks:
            first.append(planes)
            planes = e.plus(planes, e.count(mask))
        planes = e.minus(planes, first[0])
        widths = [e.picked(packed, at, r) & 31 for at, r in zip(first, ranks)]
        constants, added = self._constants(planes, [e.plus(at, planes) for at in first], ranks, more)
        away = e.product(planes, e.at(more, 3))
        both = e.product(e.part(wide, 0, 1), e.part(wide, 1, 1))
        # Whether the coefficients of a degree have two octets; and how many of the degrees before it.
        long = [e.any(wide), e.part(wide, 1, 1), both]
        before_it = [e.times(wide, 0), long[0], e.plus(long[0], long[1])]

        def term(degree: int) -> Callable[[Any, list[Any]], list[Any]]:
            def curved(_: Any, values: list[Any]) -> list[Any]:
                shapes, out = [e.wholes(shape[degree]) for _, shape in frames], list(values)
                skipped = e.plus(away, e.product(planes, e.at(before_it[degree], degree)))
                shift = 24 - (e.wholes(long[degree]) << 3)
                for c in range(self.components):
                    at = e.plus(first[c], skipped)
                    low = e.picked(packed, at, ranks[c])
                    high = e.picked(packed, e.plus(at, e.product(planes, long[degree])), ranks[c])
                    coefficient = ((low | (high << 8)) << shift).down(shift)
                    for f, shape in enumerate(shapes):
                        k = f * self.components + c
                        out[k] = out[k] + coefficient * shape
                return out

            return curved

        curves = [e.wholes(512)] * (self.components * len(frames))
        curves = e.accumulate(curves, e.any(degree), term(0))
        curves = e.accumulate(curves, e.part(degree, 1, 1), term(1))
        curves = e.accumulate(curves, e.product(e.part(degree, 0, 1), e.part(degree, 1, 1)), term(2))
        octet = e.plus(e.plus(first[0], away), e.product(planes, e.plus(degree, wide)))

        def together(_: Callable[[Any], Any], lane: Any) -> list[Any]:
            total, *rest = widths
            for width in rest:
                total = total + width
            return [total]

        ((before, in_all),) = e.sums(self.i, together)
        row, out, step = e.first(in_all), [], self._step(segment)
        for f, (k, _) in enumerate(frames):
            bit = e.product(row, k)
            start = e.plus(octet, e.part(bit, 3, 40))
            at = before + e.wholes(e.part(bit, 0, 3))
            numbers = e.near_fields(packed, start, at, widths)

            def broad(_: Any, values: list[Any], start: Any = start, at: Any = at) -> list[Any]:
                # More than 32 bits in a lane, or more than fit a row.
                return e.fields(
                    packed, e.part(start, 2, 40), at + e.wholes(e.times(e.part(start, 0, 2), 8)), widths
                )

            numbers = e.accumulate(numbers, e.part(head, 6, 1), broad)
            values = []
            for c, bits in enumerate(numbers):
                value = e.number(constants[c] + curves[f * self.components + c].down(10) + bits) * step
                values.append(value + added[c] if self.floats else value)
            out.append(values)
        return out

    def _step(self, segment: Any) -> Any:
        e = self.e
        codes = e.picked(self.packed, e.times(e.at(self.start, 2), 4), e.ranks(self.i, self.tracks))
        factor = e.wholes(e.half(self.packed, segment, 0))
        return e.as_float((codes + STEP_BASE) << 20) * e.as_float((factor + STEP_BASE) << 20)

    def two(self, segments: Sequence[Any], frames: Sequence[tuple[Any, Sequence[Any]]]) -> list[list[Any]]:
        """The components at two frames, of one segment or of two; zero where there is no block."""
        e, count = self.e, self.components
        nothing, some = [e.splat(0.0)] * (2 * count), e.any(self.tracks)

        def near(_: Any, values: list[Any]) -> list[Any]:
            first, second = self.values(segments[0], frames)
            return [*first, *second]

        def apart(n: Any, values: list[Any]) -> list[Any]:
            def chosen(a: Any, b: Any) -> Any:
                return e.plus(a, e.product(n, e.minus(b, a)))

            (k, shapes), (l, others) = frames
            frame = chosen(k, l), [chosen(a, b) for a, b in zip(shapes, others)]
            return [*values[count:], *self.values(chosen(*segments), [frame])[0]]

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
        """The rotations that these are seen from, of any length: those of the base pose, or own ones."""
        e = self.e

        def found(_: Any, values: list[Any]) -> list[Any]:
            m, ranks, count = [], e.ranks(self.i, self.own), e.count(self.own)
            at = e.plus(e.times(e.at(self.start, 2), 4), e.count(self.tracks))
            for _ in range(3):
                octets = []
                for _ in range(3):
                    octets.append(e.picked(self.packed, at, ranks))
                    at = e.plus(at, count)
                whole = ((octets[0] << 8) | (octets[1] << 16) | (octets[2] << 24)).down(8)
                m.append(e.number(whole) * OWN_UNIT)
            return [e.select(self._has_own(), x, b) for x, b in zip(quaternion(e, m)[0], values)]

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


def quaternion(e: Any, m: Sequence[Any]) -> tuple[list[Any], Any]:
    """The quaternion of modified Rodrigues parameters, as long as the number that comes with it."""
    squared = e.dot(m, m)
    return [m[0] + m[0], m[1] + m[1], m[2] + m[2], 1.0 - squared], squared + 1.0


def present(e: Any, stack: Any, at: Any, more: Any) -> Any:
    """What is on the stack already; nothing where the sum begins."""
    return e.select(e.splat(more).compare("!=", 0.0), e.load(stack, at), e.splat(0.0))


def emit_places(
    apart: bool, e: Any, i: Any, Jp: Any, kind: Any, row: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, s2: Any,
    k: Any, x: Any, y: Any, z: Any, k2: Any, x2: Any, y2: Any, z2: Any, t: Any, w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """Translations (`kind` 0, from `row` 0 on) or scales (2, 7) of 16 joints of a packed clip, between the frame `k` of the segment at `s` and the frame `k2` of the
    same segment or, where they are `apart`, of that at `s2`; weighted, put on the stack or, where there is `more`, added to it. `x`, `y` and `z` are
    what polynomials are made of at these frames. The base pose lies at `base` of the bank."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.at(record, HEAD), e.times(e.group(i), 3))
    begin = e.plus(record, e.half(packed, place, e.times(kind, 2)))
    cell = _Cell(e, i, packed, begin, e.half(packed, place, e.at(e.times(kind, 2), 1)), 3, True)
    a, b = cell.two([s, s2] if apart else [s], [(k, (x, y, z)), (k2, (x2, y2, z2))])
    at = [e.plus(i, e.product(e.at(row, c), Jp)) for c in range(3)]
    start = cell.own_values([e.load(bank, e.plus(base, x)) for x in at])
    for c in range(3):
        here = e.plus(top, at[c])
        e.store(stack, here, e.fma(w, start[c] + e.between(a[c], b[c], t), present(e, stack, here, more)))


def emit_turns(
    apart: bool, e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, s2: Any,
    k: Any, x: Any, y: Any, z: Any, k2: Any, x2: Any, y2: Any, z2: Any, t: Any, w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """Rotations of 16 joints, likewise."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.at(record, HEAD), e.times(e.group(i), 3))
    cell = _Cell(e, i, packed, e.plus(record, e.half(packed, place, 2)), e.half(packed, place, 3), 3, False)
    a, b = cell.two([s, s2] if apart else [s], [(k, (x, y, z)), (k2, (x2, y2, z2))])
    (p, p_length), (q, q_length) = quaternion(e, a), quaternion(e, b)
    # Both as long as the product of their lengths; what they are mixed to is made unit at the end.
    u, v = (1.0 - t) * q_length, t * p_length
    v = e.select(e.dot(p, q).compare("<", 0.0), -v, v)
    mixed = [e.fma(u, m, v * n) for m, n in zip(p, q)]
    at = [e.row(i, 3 + c, Jp) for c in range(4)]
    start = cell.own_turns([e.load(bank, e.plus(base, x)) for x in at])
    turned = e.multiply_quaternions(start, mixed)
    here = [e.plus(top, x) for x in at]
    add_rotation(e, turned, w, [present(e, stack, x, more) for x in here], stack, here)


def emit_morphs(
    e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, s2: Any, k: Any, x: Any, y: Any, z: Any,
    k2: Any, x2: Any, y2: Any, z2: Any, t: Any, w: Any, more: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """16 morph weights, likewise."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.plus(e.at(record, HEAD), e.times(e.group(Jp), 3)), e.group(i))
    cell = _Cell(e, i, packed, e.plus(record, e.half(packed, place, 0)), e.half(packed, place, 1), 1, True)
    (a,), (b,) = cell.two([s, s2], [(k, (x, y, z)), (k2, (x2, y2, z2))])
    at = e.plus(i, e.times(Jp, 10))
    (start,) = cell.own_values([e.load(bank, e.plus(base, at))])
    here = e.plus(top, at)
    e.store(stack, here, e.fma(w, start + e.between(a, b, t), present(e, stack, here, more)))


packed_places, packed_places_apart = block(emit_places, False), block(emit_places, True)
packed_turns, packed_turns_apart = block(emit_turns, False), block(emit_turns, True)
packed_morphs = block(emit_morphs)
