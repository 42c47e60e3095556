"""Lane formulas that sample packed motion (`kernels.packed_layout`): 16 joints at a time, straight from the bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marrow.kernels.language.lanes import block
from marrow.kernels.operations.adding import add_rotation
from marrow.kernels.packed_layout import (
    DESCRIPTOR,
    FLOAT_WIDTH,
    HEAD,
    OWN_BITS,
    STEP_BASE,
)

__all__ = ["add_packed", "add_packed_apart", "add_packed_morphs", "put_packed", "put_packed_apart", "put_packed_morphs"]

OWN_UNIT = 2.0 ** (1 - OWN_BITS)


class _Cell:
    """One cell of a record: `start` is where it begins among the words, `number` is that of its block."""

    def __init__(self, e: Any, i: Any, packed: Any, start: Any, number: Any, components: int, floats: bool) -> None:
        self.e, self.i, self.packed, self.start, self.number = e, i, packed, start, number
        self.components, self.floats = components, floats
        self.described = DESCRIPTOR + 5 * components
        self._masks = [e.half(packed, start, c) for c in range(components)]
        self._own = e.half(packed, start, 3)

    def _bit(self, mask: Any, lane: Any) -> Any:
        return (self.e.wholes(mask) >> lane) & 1

    def _tracks(self) -> Any:
        """Which joints have a track."""
        masks = [self.e.wholes(m) for m in self._masks]
        tracks = masks[0]
        for mask in masks[1:]:
            tracks = tracks | mask
        return tracks

    def _described(self, lane: Any, at: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Of the tracks of `lane` in the block at `at`: which components there are (a list), what describes the track, the code of its
        step, the width of its constants, and the bits that a constant has."""
        e = self.e
        rank = e.ones(self._tracks() & ((1 << lane) - 1))
        there = [self._bit(mask, lane) for mask in self._masks]
        about = e.bits(self.packed, at, rank * self.described, self.described)
        track = e.bits(self.packed, e.at(self.start, 2), rank * 16, 13)
        width = track >> 8
        # A width of 31 means 32 bits.
        bits = width + ((width + 1) >> 5) if self.floats else width
        return there, about, track & 255, width, bits

    def _coefficient_bits(self, about: Any, bits: Any) -> tuple[Any, Any, Any]:
        """The bits of what a component says before its frames, the width of a coefficient, and the degree."""
        width, degree = (about >> (5 * self.components)) & 31, about >> (5 * self.components + 5)
        return bits + degree * width, width, degree

    def _sizes(self, lane: Any, at: Any) -> list[Any]:
        """The bits of the coefficients and of a frame of the track of `lane`."""
        there, about, _, _, bits = self._described(lane, at)
        own, _, _ = self._coefficient_bits(about, bits)
        coefficients, frame = there[0] * own, there[0] * (about & 31)
        for c in range(1, self.components):
            coefficients = coefficients + there[c] * own
            frame = frame + there[c] * ((about >> (5 * c)) & 31)
        return [coefficients, frame]

    def values(self, segment: Any, frames: Sequence[Any]) -> list[list[Any]]:
        """The components at some frames of one segment."""
        e, lane = self.e, self.e.lane(self.i)
        begin = e.plus(segment, e.half(self.packed, e.at(segment, 1), self.number))
        (before, coefficients), (frame_before, frame_bits) = e.sums(self.i, lambda l: self._sizes(l, begin))
        there, about, code, width, bits = self._described(lane, begin)
        own, coefficient_width, degree = self._coefficient_bits(about, bits)
        scale = (e.wholes(e.half(self.packed, segment, 0)) + STEP_BASE) << 20
        step = e.as_float((code + STEP_BASE) << 20) * e.as_float(scale)
        at = e.ones(self._tracks()) * self.described + before
        first = e.ones(self._tracks()) * self.described + coefficients + frame_before
        has = [((degree + 3) >> 2), degree >> 1, degree & (degree >> 1)]
        out: list[list[Any]] = [[] for _ in frames]
        shapes = []
        for k in frames:
            d = e.wholes(k) - 8
            square = d * d
            shapes.append((d * 128, square * 24 - 512, (square * 5 - 192) * d))
        for c in range(self.components):
            present = there[c]
            start, wide = None, present * width
            if self.floats:
                exact = present * ((width + 1) >> 5)
                low, high = (e.bits(self.packed, begin, at + 16 * k, exact * 16) for k in range(2))
                start, wide = e.as_float(low | (high << 16)), wide * (1 - exact)
            constant = e.bits(self.packed, begin, at, wide) - ((1 << wide) >> 1)
            at = at + present * bits
            terms = []
            for h in has:
                size = present * h * coefficient_width
                terms.append(e.bits(self.packed, begin, at, size) - ((1 << size) >> 1))
                at = at + size
            size = present * ((about >> (5 * c)) & 31)
            for k, shape, values in zip(frames, shapes, out):
                curve = terms[0] * shape[0] + terms[1] * shape[1] + terms[2] * shape[2] + 512
                bit = first + frame_bits * e.wholes(k)
                whole = constant + curve.down(10) + e.bits(self.packed, begin, bit, size)
                value = e.number(whole) * step
                values.append(value if start is None else value + start)
            first = first + size
        return out

    def between(self, segments: Sequence[Any], frames: Sequence[Any]) -> list[list[Any]]:
        """The components at two frames, of one segment or of two; zero where there is no block."""
        e, count = self.e, self.components

        def found(_: Any, values: list[Any]) -> list[Any]:
            if len(segments) == 1:
                first, second = self.values(segments[0], frames)
            else:
                (first,), (second,) = (self.values(s, [f]) for s, f in zip(segments, frames))
            return [*first, *second]

        tracks = self._masks[0]
        for mask in self._masks[1:]:
            tracks = e.plus(tracks, mask)
        values = e.accumulate([e.splat(0.0)] * (2 * count), e.any(tracks), found)
        return [values[:count], values[count:]]

    def _own_at(self) -> tuple[Any, Any]:
        """Where own values begin, behind the halves of the tracks; and how many there are before each lane's."""
        e, lane = self.e, self.e.lane(self.i)
        tracks = (e.ones(self._tracks()) + 1) >> 1
        return (tracks + 2) * 32, e.ones(e.wholes(self._own) & ((1 << lane) - 1))

    def own_rotation(self, base: list[Any]) -> list[Any]:
        """The rotations that these are seen from: those of the base pose, or own ones."""
        e = self.e

        def found(_: Any, values: list[Any]) -> list[Any]:
            at, rank = self._own_at()
            at = at + rank * 64
            m = []
            for c in range(3):
                whole = e.bits(self.packed, self.start, at + OWN_BITS * c, OWN_BITS) - (1 << (OWN_BITS - 1))
                m.append(e.number(whole) * OWN_UNIT)
            here = self._bit(self._own, e.lane(self.i)).compare("!=", 0)
            return [e.select(here, q, b) for q, b in zip(quaternion(e, m), values)]

        return e.accumulate(base, e.any(self._own), found)

    def own_values(self, base: list[Any]) -> list[Any]:
        """What values are added to: those of the base pose, or own ones."""
        e = self.e

        def found(_: Any, values: list[Any]) -> list[Any]:
            at, rank = self._own_at()
            at = at + rank * (32 * self.components)
            here = self._bit(self._own, e.lane(self.i)).compare("!=", 0)
            out = []
            for c, value in enumerate(values):
                low, high = (e.bits(self.packed, self.start, at + (32 * c + 16 * k), 16) for k in range(2))
                out.append(e.select(here, e.as_float(low | (high << 16)), value))
            return out

        return e.accumulate(base, e.any(self._own), found)


def quaternion(e: Any, m: Sequence[Any]) -> list[Any]:
    """The unit quaternion of modified Rodrigues parameters."""
    squared = e.dot(m, m)
    scale = 1.0 / (squared + 1.0)
    twice = scale + scale
    return [m[0] * twice, m[1] * twice, m[2] * twice, (1.0 - squared) * scale]


def emit_packed(
    first: bool, apart: bool, e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, k: Any, s2: Any,
    k2: Any, t: Any, w: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """16 joints of a packed clip between the frame `k` of the segment at `s` and the frame `k2`, of the same segment or, where they are
    `apart`, of that at `s2`; weighted, put on or added to the stack. The clip's base pose lies at `base` of the bank."""
    t, w = e.splat(t), e.splat(w)
    segments, frames = ([s, s2] if apart else [s]), [k, k2]
    place = e.plus(e.at(record, HEAD), e.times(e.group(i), 3))

    def at(begin: Any, r: int) -> Any:
        return e.plus(begin, e.row(i, r, Jp))

    def cell(kind: int) -> _Cell:
        begin = e.plus(record, e.half(packed, place, 2 * kind))
        return _Cell(e, i, packed, begin, e.half(packed, place, 2 * kind + 1), 3, kind != 1)

    for kind, row in ((0, 0), (2, 7)):
        own = cell(kind)
        a, b = own.between(segments, frames)
        start = own.own_values([e.load(bank, at(base, row + c)) for c in range(3)])
        for c in range(3):
            value, place_c = start[c] + e.between(a[c], b[c], t), at(top, row + c)
            e.store(stack, place_c, w * value if first else e.fma(w, value, e.load(stack, place_c)))
    own = cell(1)
    a, b = own.between(segments, frames)
    p, q = quaternion(e, a), quaternion(e, b)
    side = e.select(e.dot(p, q).compare("<", 0.0), e.splat(-1.0), e.splat(1.0))
    mixed = [e.between(x, side * y, t) for x, y in zip(p, q)]
    start = own.own_rotation([e.load(bank, at(base, 3 + c)) for c in range(4)])
    turned = e.multiply_quaternions(start, mixed)
    add_rotation(e, first, turned, w, stack, [at(top, 3 + c) for c in range(4)])


def emit_packed_morphs(
    first: bool, e: Any, i: Any, Jp: Any, packed: Any, record: Any, bank: Any, base: Any, s: Any, k: Any, s2: Any, k2: Any, t: Any,
    w: Any, stack: Any, top: Any,
) -> None:  # fmt: skip
    """16 morph weights, likewise."""
    t, w = e.splat(t), e.splat(w)
    place = e.plus(e.plus(e.at(record, HEAD), e.times(e.group(Jp), 3)), e.group(i))
    own = _Cell(e, i, packed, e.plus(record, e.half(packed, place, 0)), e.half(packed, place, 1), 1, True)
    (a,), (b,) = own.between([s, s2], [k, k2])
    rows = e.times(Jp, 10)
    (start,) = own.own_values([e.load(bank, e.plus(base, e.plus(rows, i)))])
    value, at = start + e.between(a, b, t), e.plus(top, e.plus(rows, i))
    e.store(stack, at, w * value if first else e.fma(w, value, e.load(stack, at)))


put_packed, add_packed = block(emit_packed, True, False), block(emit_packed, False, False)
put_packed_apart, add_packed_apart = block(emit_packed, True, True), block(emit_packed, False, True)
put_packed_morphs, add_packed_morphs = block(emit_packed_morphs, True), block(emit_packed_morphs, False)
