"""Keys between marrow and glTF: scalar curves of morph weights, and rotations of unit length.

glTF animates all targets of a mesh with one set of keys and one interpolation; marrow has a track for each
channel. These functions add keys on the curve itself, so what is written moves as what was saved. What the reader makes
of keys is here too: the writer asks whether that is what it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.math.elementary import dot
from marrow.model.morph import MorphTarget, target_weights

__all__ = [
    "CUBIC",
    "EXACT_UNIT",
    "LINEAR",
    "STEP",
    "ScalarCurve",
    "channel_weights",
    "through_in_betweens",
    "together",
    "unit_rotations",
]

Array = NDArray[Any]
STEP, LINEAR, CUBIC = range(3)
# How far the squared length of a rotation key may be off before it is mended; rounding to float32 stays below.
EXACT_UNIT = 1e-6
# Splines bent through in-between shapes are no splines any more; they are written as straight lines this
# close together.
FLATTENING_RATE = 120.0


@dataclass(frozen=True, slots=True)
class ScalarCurve:
    """Keys `times (T,)` and `values (T,)`, or `(T, 3)` (in-tangent, value, out-tangent) for a cubic one."""

    times: Array
    values: Array
    interpolation: int

    @classmethod
    def constant(cls, value: float, time: float) -> ScalarCurve:
        return cls(np.array([time], np.float32), np.array([value], np.float32), STEP)

    def same_keys(self, other: ScalarCurve) -> bool:
        return self.interpolation == other.interpolation and np.array_equal(self.times, other.times)

    def at(self, times: Array) -> Array:
        """The values at `times (T,)`, held outside the keys."""
        return self._hermite(times)[:, 1]

    def _hermite(self, times: Array) -> Array:
        """In-tangent, value and out-tangent `(T, 3)` at any times."""
        t, v = self.times.astype(np.float64), self.values.astype(np.float64)
        times = np.asarray(times, np.float64)
        out = np.zeros((len(times), 3))
        # The segment that ends at a key gives its in-tangent, the one that starts there its out-tangent.
        ends, starts = np.searchsorted(t, times, side="left"), np.searchsorted(t, times, side="right")
        for column, found in ((0, ends), (2, starts)):
            i = np.clip(found - 1, -1, len(t) - 1)
            value, slope = self._segment(t, v, i, times)
            out[:, column] = slope
            if column == 2:
                out[:, 1] = value
        return out

    def _segment(self, t: Array, v: Array, i: Array, times: Array) -> tuple[Array, Array]:
        """Value and slope on the segments that start at the keys `i` (-1: before the first)."""
        inside = (i >= 0) & (i < len(t) - 1)
        a, b = np.clip(i, 0, len(t) - 1), np.clip(i + 1, 0, len(t) - 1)
        span = np.where(inside, t[b] - t[a], 1)
        span = np.where(span <= 0, 1, span)
        u = np.where(inside, (times - t[a]) / span, 0)
        if self.interpolation == CUBIC:
            p0, p1 = v[a, 1], v[b, 1]
            m0, m1 = np.where(inside, span * v[a, 2], 0), np.where(inside, span * v[b, 0], 0)
            p1 = np.where(inside, p1, p0)
            value = (
                (2 * u**3 - 3 * u**2 + 1) * p0
                + (u**3 - 2 * u**2 + u) * m0
                + (-2 * u**3 + 3 * u**2) * p1
                + (u**3 - u**2) * m1
            )
            slope = (
                (6 * u**2 - 6 * u) * (p0 - p1) + (3 * u**2 - 4 * u + 1) * m0 + (3 * u**2 - 2 * u) * m1
            ) / span
            return value, np.where(inside, slope, 0)
        if self.interpolation == STEP:
            return v[a], np.zeros(len(times))
        rise = np.where(inside, v[b] - v[a], 0)
        return v[a] + u * rise, rise / span

    def with_times(self, times: Array, interpolation: int) -> ScalarCurve:
        """The same curve with other keys, which must include its own corners."""
        if interpolation == CUBIC:
            return ScalarCurve(times, self._hermite(times).astype(np.float32), CUBIC)
        return ScalarCurve(times, self.at(times).astype(np.float32), interpolation)

    def corners(self, interpolation: int) -> Array:
        """The keys this curve needs when it is written with another interpolation: a step that may no longer
        be one gets a key just before each jump."""
        if self.interpolation != STEP or interpolation == STEP or len(self.times) < 2:
            return self.times
        before = np.nextafter(self.times[1:], np.float32(-np.inf), dtype=np.float32)
        return np.union1d(self.times, before)


def together(curves: Sequence[ScalarCurve]) -> tuple[Array, list[ScalarCurve]]:
    """The curves with one set of keys and one interpolation between them."""
    first = curves[0]
    if all(first.same_keys(c) for c in curves[1:]):
        return first.times, list(curves)
    # A single key is a constant, which any interpolation can be.
    kinds = {c.interpolation for c in curves if len(c.times) > 1} or {STEP}
    interpolation = kinds.pop() if len(kinds) == 1 else (CUBIC if CUBIC in kinds else LINEAR)
    times = curves[0].corners(interpolation)
    for curve in curves[1:]:
        times = np.union1d(times, curve.corners(interpolation))
    times = times.astype(np.float32)
    return times, [c.with_times(times, interpolation) for c in curves]


def through_in_betweens(curve: ScalarCurve, targets: Sequence[MorphTarget]) -> list[ScalarCurve]:
    """How far each target of one channel is on, where the channel's weight follows `curve`."""
    plain = len(targets) == 1
    if plain and targets[0].full_weight == 1.0:
        return [curve]
    if plain:
        values = (curve.values / targets[0].full_weight).astype(np.float32)
        return [ScalarCurve(curve.times, values, curve.interpolation)]
    if curve.interpolation == CUBIC and len(curve.times) > 1:
        curve = _flattened(curve)
    elif curve.interpolation == CUBIC:
        curve = ScalarCurve(curve.times, curve.values[:, 1], STEP)
    if curve.interpolation == LINEAR:
        stops = np.unique([0.0, *(t.full_weight for t in targets)])
        curve = _with_crossings(curve, stops[1:-1] if len(stops) > 2 else stops[:0])
    alone = [MorphTarget(t.name, 0, t.positions[:0], full_weight=t.full_weight) for t in targets]
    on = target_weights(alone, curve.values.astype(np.float64)[:, None]).astype(np.float32)
    return [ScalarCurve(curve.times, on[:, i], curve.interpolation) for i in range(len(targets))]


def _flattened(curve: ScalarCurve) -> ScalarCurve:
    start, end = float(curve.times[0]), float(curve.times[-1])
    count = min(int((end - start) * FLATTENING_RATE) + 2, 1_000_000)
    times = np.union1d(curve.times, np.linspace(start, end, count, dtype=np.float32))
    return curve.with_times(times.astype(np.float32), LINEAR)


def _with_crossings(curve: ScalarCurve, stops: Array) -> ScalarCurve:
    """A linear curve with keys wherever it passes one of `stops`, where the in-betweens have their
    corners."""
    t, v = curve.times.astype(np.float64), curve.values.astype(np.float64)
    low, high = np.minimum(v[:-1], v[1:]), np.maximum(v[:-1], v[1:])
    added_times, added_values = [t], [v]
    for stop in stops:
        crossing = np.flatnonzero((low < stop) & (high > stop))
        u = (stop - v[crossing]) / (v[crossing + 1] - v[crossing])
        added_times.append(t[crossing] + u * (t[crossing + 1] - t[crossing]))
        added_values.append(np.full(len(crossing), stop))
    times, values = np.concatenate(added_times).astype(np.float32), np.concatenate(added_values)
    times, first = np.unique(times, return_index=True)
    return ScalarCurve(times, values[first].astype(np.float32), LINEAR)


def channel_weights(
    values: Array, channels: Sequence[int], full: Sequence[float] | None
) -> Iterator[tuple[int, Array]]:
    """The weights of each morph channel once, of those `values (T, 1 or 3, M)` of the targets it drives.

    Where targets share a channel (in-betweens), its weight is the sum of how far each is on times the weight at which it
    is fully on, which undoes `model.morph.target_weights`."""
    members: dict[int, list[int]] = {}
    for i, channel in enumerate(channels):
        members.setdefault(channel, []).append(i)
    for channel, targets in members.items():
        track = values[:, :, targets[0]]
        if full is not None:
            shares = np.array([full[i] for i in targets])
            track = dot(values[:, :, targets].astype(np.float64), shares).astype(np.float32)
        yield channel, track


def unit_rotations(keys: Array) -> Array:
    """Rotation keys `(T, 4)` of unit length: those that are stay bit for bit, those of no length turn nothing."""
    wrong = np.abs(dot(keys, keys) - np.float32(1)) > EXACT_UNIT
    if not wrong.any():
        return keys
    out, mended = keys.copy(), keys[wrong].astype(np.float64)
    length = np.sqrt(dot(mended, mended))[:, None]
    out[wrong] = np.where(length > 0, mended / np.where(length > 0, length, 1), quaternion.identity())
    return out
