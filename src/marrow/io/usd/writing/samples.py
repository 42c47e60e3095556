"""The tracks of a clip at the times of all of them: what USD wants in place of keys.

USD has one list of times for all joints (one each for translations, rotations, scales and weights) and goes straight from
sample to sample. So all keys of a path are laid into one list, and a joint that has no key there says where it is on its
way. A step is two samples next to each other, a spline many straight pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.math import quaternion
from marrow.model import Track
from marrow.model.clip import PATHS

__all__ = ["MAX_VALUES", "Samples", "check_size", "key_codes", "sampled"]

Array = NDArray[Any]
MAX_VALUES = 100_000_000
_FINEST = 64
# How far the straight pieces of a spline may be from it: radians, and parts of the range of its values.
_TURN, _PART = 5e-4, 1e-4


@dataclass(frozen=True)
class Samples:
    """One attribute: `codes (S,)`, none where it does not change; `values (S or 1, n, C)`; the rows that are keys of each
    track."""

    codes: Array
    values: Array
    rows: dict[int, Array]


def sampled(
    tracks: list[tuple[int, Track]],
    columns: Array,
    base: Array,
    codes_per_second: float,
    end: float,
    worst: Array,
    path: object,
    place: str,
) -> Samples:
    """All tracks of a path at the times of all of them."""
    if not tracks:
        return Samples(np.zeros(0), base[None].copy(), {})
    own, more = {}, []
    for i, t in tracks:
        own[i] = codes = key_codes(t.times, codes_per_second)
        if t.interpolation == "step":
            more.append(np.nextafter(codes[1:], -np.inf))
        elif t.interpolation == "cubic" and len(codes) > 1:
            finer, error = _pieces(t, codes)
            more.append(finer)
            p = PATHS.index(t.path)
            worst[p] = max(worst[p], error)
    codes = np.unique(np.concatenate([*own.values(), *more]))
    if end > codes[-1]:
        codes = np.append(codes, end)
    check_size(len(codes) * base.size, len(codes), len(columns), place, path)
    values = np.repeat(base[None], len(codes), axis=0)
    rows = {}
    for i, t in tracks:
        rows[i] = np.searchsorted(codes, own[i])
        column = int(np.searchsorted(columns, t.target))
        between = np.ones(len(codes), bool)
        between[rows[i]] = False
        values[between, column] = _value_at(t, own[i], codes[between])
        values[rows[i], column] = t.values[:, 1] if t.interpolation == "cubic" else t.values
    return Samples(codes, values, rows)


def check_size(count: int, samples: int, width: int, place: str, path: object) -> None:
    if count > MAX_VALUES:
        raise ResourceLimitError(
            f"needs {samples} samples of {width} joints or morphs, {count} numbers; marrow writes {MAX_VALUES}",
            path=path,
            place=place,
            remedy="USD has one list of times for all joints: pass a lower rate=, or reduce the clip's keys",
        )


def key_codes(times: Array, codes_per_second: float) -> Array:
    """Times in seconds as time codes. USD has one sample at a time: of keys at one moment all but the last move to the
    smallest instants before it, which are the same moment in seconds."""
    codes = np.asarray(times, np.float64) * codes_per_second
    for i in np.flatnonzero(np.diff(codes) <= 0)[::-1].tolist():
        later = codes[i + 1]
        codes[i] = np.nextafter(later, -np.inf) if abs(later) > 1e-300 else later - 1e-300
    return codes


def _value_at(t: Track, own: Array, codes: Array) -> Array:
    """A track at time codes `(S, C)`, float64; what is before the first key or after the last is held."""
    values = t.values.astype(np.float64)
    k = np.clip(np.searchsorted(own, codes, side="right") - 1, 0, len(own) - 1)
    if t.interpolation == "step":
        return values[k]
    after = np.minimum(k + 1, len(own) - 1)
    span = own[after] - own[k]
    along = np.clip((codes - own[k]) / np.where(span > 0, span, 1), 0, 1)
    if t.interpolation == "cubic":
        seconds = (t.times[after].astype(np.float64) - t.times[k])[:, None]
        return _spline(values[k], values[after], along[:, None], seconds, t.path)
    if t.path == "rotation":
        return np.asarray(quaternion.slerp(values[k], values[after], along))
    return values[k] * (1 - along[:, None]) + values[after] * along[:, None]


def _spline(a: Array, b: Array, s: Array, seconds: Array, path: str) -> Array:
    """glTF's cubic spline between keys `a` and `b` (`(n, 3, C)`: in-tangent, value, out-tangent), a part `s` of the way."""
    s2, s3 = s * s, s * s * s
    out = (2 * s3 - 3 * s2 + 1) * a[:, 1] + seconds * (s3 - 2 * s2 + s) * a[:, 2]
    out = out + (3 * s2 - 2 * s3) * b[:, 1] + seconds * (s3 - s2) * b[:, 0]
    return np.asarray(quaternion.normalize(out)) if path == "rotation" else np.asarray(out)


def _pieces(t: Track, own: Array) -> tuple[Array, float]:
    """Codes between the keys of a spline at which straight pieces come close to it, and how close."""
    values = t.values.astype(np.float64)
    most = _TURN if t.path == "rotation" else _PART * max(float(np.ptp(values[:, 1], axis=0).max()), 1e-9)
    left, found, worst, n = np.arange(len(own) - 1), [], 0.0, 1
    while len(left):
        ends = own[left, None] + (own[left + 1] - own[left])[:, None] * (np.arange(n + 1) / n)
        middle = (ends[:, 1:] + ends[:, :-1]) / 2
        at = _value_at(t, own, ends.ravel()).reshape(*ends.shape, -1)
        true = _value_at(t, own, middle.ravel()).reshape(*middle.shape, -1)
        if t.path == "rotation":
            off = quaternion.angle(quaternion.slerp(at[:, :-1], at[:, 1:], np.full(middle.shape, 0.5)), true)
        else:
            off = np.abs((at[:, :-1] + at[:, 1:]) / 2 - true).max(axis=-1)
        error = np.asarray(off).max(axis=1)
        done = (error <= most) | (n >= _FINEST)
        worst = max(worst, float(error[done].max(initial=0)))
        found.append(ends[done, 1:-1].ravel())
        left, n = left[~done], 2 * n
    return np.concatenate(found), worst
