"""Keys of baked curves: values between them, cutting all tracks of a clip at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["NO_KEYS", "CutKeys", "FbxKeys", "at", "cut", "finite_keys"]

Array = NDArray[Any]
# A key this much of a second past the stop time is still on it.
_SLACK = 1e-5


@dataclass
class FbxKeys:
    """Values `(T, C)` at `times (T,)`, in seconds from the start of the file."""

    times: Array
    values: Array


NO_KEYS = FbxKeys(np.zeros(0), np.zeros((0, 3)))


def finite_keys(keys: FbxKeys) -> FbxKeys:
    """The keys that are finite."""
    good = np.isfinite(keys.times) & np.isfinite(keys.values).all(1)
    return keys if good.all() else FbxKeys(keys.times[good], keys.values[good])


def at(keys: FbxKeys, times: Array, rotation: bool) -> Array:
    """The values at `times`, `(n, C)`: straight between keys (slerp for rotations), held outside them."""
    right = np.clip(np.searchsorted(keys.times, times, side="right"), 1, max(1, len(keys.times) - 1))
    return _between(
        keys.times, keys.values, right - 1, np.minimum(right, len(keys.times) - 1), times, rotation
    )


def _between(times: Array, values: Array, left: Array, right: Array, when: Any, rotation: bool) -> Array:
    """The values at the moments `when (n,)`, between the keys `left (n,)` and `right (n,)`."""
    span = times[right] - times[left]
    # Two keys at one moment are a step: the second one holds from there on.
    t = np.where(span > 0, np.clip((when - times[left]) / np.where(span > 0, span, 1), 0, 1), 1.0)
    a, b = values[left], values[right]
    if not rotation:
        return np.asarray(a + (b - a) * t[:, None])
    # On a key there is nothing to interpolate, and most borders of a clip lie on keys.
    b = np.where((a * b).sum(-1, keepdims=True) < 0, -b, b)
    out = np.where(t[:, None] == 0, a, b)
    inner = np.flatnonzero((t > 0) & (t < 1))
    if len(inner):
        out[inner] = quaternion.slerp(a[inner], b[inner], t[inner])
    return out


@dataclass
class CutKeys:
    """The keys of many tracks end to end: `times (K,)` from the clip's begin, `values (K, C)`, and how many are each's."""

    times: Array
    values: Array
    counts: Array

    @property
    def starts(self) -> Array:
        """The first key of each track."""
        return np.cumsum(self.counts) - self.counts

    def split(self) -> list[FbxKeys]:
        """The tracks one by one."""
        starts = self.starts.tolist()
        ends = np.cumsum(self.counts).tolist()
        return [FbxKeys(self.times[a:b], self.values[a:b]) for a, b in zip(starts, ends)]


def cut(tracks: Sequence[FbxKeys], begin: float, end: float, rotation: bool, rate: float | None) -> CutKeys:
    """The keys of tracks of one width from `begin` to `end`, counted from `begin`, with a key on each border; at `rate`
    where that is given. A track without keys, or without finite ones, stays one."""
    counts = np.array([len(keys.times) for keys in tracks], np.int64)
    times = np.concatenate([keys.times for keys in tracks])
    values = np.concatenate([keys.values for keys in tracks])
    of = np.repeat(np.arange(len(tracks)), counts)
    good = np.isfinite(times) & np.isfinite(values).all(1)
    if not good.all():
        times, values, of = times[good], values[good], of[good]
        counts = np.bincount(of, minlength=len(tracks))
    if rate is not None:
        return _sampled(times, values, counts, begin, end, rotation, rate)
    some = np.flatnonzero(counts)
    first = _at_moment(times, values, counts, of, some, begin, rotation)
    inside = (times > begin + _SLACK) & (times <= end + _SLACK)
    inner, inner_of = np.minimum(times[inside], end), of[inside]
    inner_counts = np.bincount(inner_of, minlength=len(tracks))
    latest = np.full(len(tracks), begin)
    ends = np.cumsum(inner_counts)
    latest[inner_counts > 0] = inner[ends[inner_counts > 0] - 1]
    short = (counts > 0) & (latest < end - _SLACK)
    lacking = np.flatnonzero(short)
    # Each track: its first key, those inside, and one at the end where the others stop short of it.
    made = (counts > 0) + inner_counts + short
    starts = np.cumsum(made) - made
    out_times, out_values = np.empty(made.sum()), np.empty((made.sum(), values.shape[1]))
    out_times[starts[some]], out_values[starts[some]] = begin, first
    place = np.arange(len(inner)) + (starts + 1 - (ends - inner_counts))[inner_of]
    out_times[place], out_values[place] = inner, values[inside]
    if len(lacking):
        last = starts[lacking] + made[lacking] - 1
        out_times[last] = end
        out_values[last] = _at_moment(times, values, counts, of, lacking, end, rotation)
    return CutKeys(out_times - begin, out_values, made)


def _at_moment(
    times: Array, values: Array, counts: Array, of: Array, some: Array, when: float, rotation: bool
) -> Array:
    """The values of the tracks `some (n,)` at one moment, `(n, C)`."""
    starts, most = (np.cumsum(counts) - counts)[some], np.maximum(counts[some] - 1, 0)
    passed = np.bincount(of[times <= when], minlength=len(counts))[some]
    right = np.minimum(np.maximum(passed, 1), np.maximum(most, 1))
    left, right = starts + right - 1, starts + np.minimum(right, most)
    return _between(times, values, left, right, when, rotation)


def _sampled(
    times: Array, values: Array, counts: Array, begin: float, end: float, rotation: bool, rate: float
) -> CutKeys:
    count = int(np.floor((end - begin) * rate + _SLACK)) + 1
    moments = np.minimum(np.arange(count) / rate, end - begin)
    left, right = np.empty((2, int((counts > 0).sum()), count), np.int64)
    starts, row = np.cumsum(counts) - counts, 0
    for start, n in zip(starts.tolist(), counts.tolist()):
        if n:
            place = np.searchsorted(times[start : start + n], moments + begin, side="right")
            upper = np.clip(place, 1, max(1, n - 1))
            left[row], right[row] = start + upper - 1, start + np.minimum(upper, n - 1)
            row += 1
    when = np.tile(moments + begin, row)
    found = _between(times, values, left.ravel(), right.ravel(), when, rotation)
    return CutKeys(np.tile(moments, row), found, np.where(counts > 0, count, 0))
