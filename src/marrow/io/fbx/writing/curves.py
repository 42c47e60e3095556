"""The keys of FBX curves: those of tracks as they are, rotations as angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.document import TICKS, FbxDocument
from marrow.io.fbx.writing.eulers import EulerTurns, unrolled_keys, unrolled_segments
from marrow.math import quaternion
from marrow.model import Track

__all__ = ["CurveKeys", "TurnedTracks", "rising", "turned_tracks", "vector_keys", "write_curves"]

Array = NDArray[Any]
CONSTANT, LINEAR, CUBIC = 0x2, 0x4, 0x8 | 0x400 | 0x800  # cubic: by tangents of its own, apart on both sides
_STRAIGHT = 1e-7
_DEFAULT_WEIGHTS = np.array([0x0D050D05], np.uint32).view(np.float32)[
    0
]  # a third each, as two decimal fractions

_KEY_VERSION = np.int32(4008)
_FIRST, _ONE = np.zeros(1, np.int64), np.ones(1, np.int32)
_LINEAR_FLAGS = np.array([LINEAR], np.int32)


@dataclass
class CurveKeys:
    """Keys of one property: `times (n,)` in seconds, `values (n, C)`, `kind (n, C)` of the way to the next key, and the
    slopes per second on that way, at its begin and its end, `(n, C, 2)` (None: they are not needed).
    `whole`: all keys are written, even where nothing changes."""

    times: Array
    values: Array
    kind: Array
    slopes: Array | None = None
    whole: bool = False

    @property
    def still(self) -> Array:
        """Which of the numbers never change `(C,)`, and are written with one key."""
        values = self.values.astype(np.float32)
        still = np.asarray((values == values[0]).all(axis=0)) & (not self.whole)
        if self.slopes is not None:
            bends = np.where((self.kind == CUBIC)[..., None], self.slopes, 0).astype(np.float32)
            still &= ~bends.any(axis=(0, 2))
        return still

    @property
    def last_written(self) -> float:
        """When the last key is that is written."""
        return float(self.times[0 if self.still.all() else -1])


@dataclass
class TurnedTracks:
    """Rotations as angles, and how far they are from what they were (`eulers.Angles`)."""

    keys: list[CurveKeys]
    error: float = 0.0
    chord: float = 0.0


def rising(times: Array) -> Array:
    """Times that rise: of two keys at one moment the first moves back by the least there is."""
    if len(times) > 1 and (np.diff(times) <= 0).any():
        times = times.copy()
        for i in range(len(times) - 2, -1, -1):
            if times[i] >= times[i + 1]:
                times[i] = np.nextafter(times[i + 1], np.float32(-np.inf))
    return times


def vector_keys(track: Track, factor: float) -> CurveKeys:
    """The keys of a translation, a scale or a morph weight, times a factor."""
    times = rising(track.times).astype(np.float64)
    values = track.values.astype(np.float64) * factor
    if track.interpolation == "cubic":
        kind = np.full(values[:, 1].shape, CUBIC, np.int32)
        into = np.concatenate([values[1:, 0], np.zeros_like(values[:1, 0])])
        return CurveKeys(times, values[:, 1], kind, np.stack([values[:, 2], into], axis=-1))
    if track.interpolation == "step":
        return _stepped(times, values)
    return CurveKeys(times, values, np.full(values.shape, LINEAR, np.int32))


def _stepped(times: Array, values: Array) -> CurveKeys:
    """Keys that hold until the next. Right before that the value is there again, for programs that draw straight lines."""
    changes = np.flatnonzero((values[1:] != values[:-1]).any(axis=1))
    before = np.nextafter(times[changes + 1].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    room = before > times[changes]
    changes, before = changes[room], before[room]
    times, values = (
        np.insert(times, changes + 1, before),
        np.insert(values, changes + 1, values[changes], axis=0),
    )
    return CurveKeys(times, values, np.full(values.shape, CONSTANT, np.int32))


def turned_tracks(tracks: Sequence[Track], before: Array, order: Array) -> TurnedTracks:
    """The keys of rotation tracks as angles in degrees, of order `order (J,)`; `before (J, 4)` is taken off."""
    if not tracks:
        return TurnedTracks([])
    counts = np.array([len(t.times) for t in tracks])
    times = np.concatenate([rising(t.times) for t in tracks]).astype(np.float64)
    cubic = np.array([t.interpolation == "cubic" for t in tracks])
    step = np.array([t.interpolation == "step" for t in tracks])
    joint = np.array([t.target for t in tracks])
    track = np.repeat(np.arange(len(tracks)), counts)
    back = quaternion.conjugate(before[joint])[track]

    def relative(part: int) -> Array:
        rows = [
            t.values[:, part] if c else t.values if part == 1 else np.zeros_like(t.values)
            for t, c in zip(tracks, cubic)
        ]
        return np.concatenate(rows).astype(np.float64)

    q = quaternion.multiply(back, quaternion.normalize(relative(1)))
    into, out = (quaternion.multiply(back, relative(part)) for part in (0, 2)) if cubic.any() else (q, q)
    alone = step[track] | (counts[track] == 1)
    last = np.zeros(len(track), bool)
    last[np.cumsum(counts) - 1] = True
    keys: dict[int, CurveKeys] = {}
    rows = np.flatnonzero(alone)
    angles = unrolled_keys(q[rows], order[joint[track[rows]]], track[rows])
    for i in np.unique(track[rows]).tolist():
        mine = track[rows] == i
        keys[i] = _stepped(times[rows[mine]], angles[mine])
    left = np.flatnonzero(~alone & ~last)
    if not len(left):
        return TurnedTracks([keys[i] for i in range(len(tracks))])
    raw = q
    if cubic.any():
        # Splines run through the keys as they are; unit length comes after.
        raw = np.where(cubic[track][:, None], quaternion.multiply(back, relative(1)), q)
    span = times[left + 1] - times[left]
    turns = EulerTurns(
        raw[left],
        raw[left + 1],
        out[left],
        into[left + 1],
        cubic[track[left]],
        span,
        order[joint[track[left]]],
        track[left],
    )
    made = unrolled_segments(turns)
    whose = turns.track[made.turn]
    begin = times[left][made.turn] + made.u0 * span[made.turn]
    long = (span[made.turn] * (made.u1 - made.u0))[:, None]
    run = made.last - made.first
    straight = (np.abs(made.leave - run) <= _STRAIGHT) & (np.abs(made.arrive - run) <= _STRAIGHT)
    kind = np.where(straight, LINEAR, CUBIC).astype(np.int32)
    slopes = np.stack([made.leave / long, made.arrive / long], axis=-1)
    bounds = np.searchsorted(whose, np.arange(len(tracks) + 1))
    ends = np.cumsum(counts) - 1
    for i in range(len(tracks)):
        if i in keys:
            continue
        part = slice(bounds[i], bounds[i + 1])
        keys[i] = CurveKeys(
            np.append(begin[part], times[ends[i]]),
            np.concatenate([made.first[part], made.last[part][-1:]]),
            np.concatenate([kind[part], np.full((1, 3), LINEAR, np.int32)]),
            np.concatenate([slopes[part], np.zeros((1, 3, 2))]),
        )
    return TurnedTracks([keys[i] for i in range(len(tracks))], made.error, made.chord)


def write_curves(document: FbxDocument, keys: CurveKeys, start: float) -> list[int]:
    """The curve objects of a property, one for each of its numbers; `start`: seconds that its times are moved by."""
    ticks = np.rint((keys.times + start) * TICKS).astype(np.int64)
    values, kind = keys.values.astype(np.float32), keys.kind
    n, width = values.shape
    rows = np.zeros((n, width, 4), np.float32)
    rows[..., 2] = _DEFAULT_WEIGHTS
    still = keys.still
    if keys.slopes is not None:
        rows[..., :2] = np.where((kind == CUBIC)[..., None], keys.slopes, 0)
    new = np.ones((n, width), bool)
    new[1:] = (kind[1:] != kind[:-1]) | (rows[1:, :, :2] != rows[:-1, :, :2]).any(axis=2)
    found = []
    packed_ticks = document.packed_once(ticks)
    first_tick = document.packed_once(ticks[:1])
    for c in range(width):
        number, record = document.object("AnimationCurve", "", "", "AnimCurve")
        found.append(number)
        leaf = record.leaf
        leaf(b"Default", float(values[0, c]))
        leaf(b"KeyVer", _KEY_VERSION)
        # A number that never changes has one key.
        at = _FIRST if still[c] else np.flatnonzero(new[:, c])
        leaf(b"KeyTime", first_tick if still[c] else packed_ticks)
        leaf(b"KeyValueFloat", values[:1, c] if still[c] else values[:, c])
        leaf(b"KeyAttrFlags", _LINEAR_FLAGS if still[c] else kind[at, c])
        leaf(b"KeyAttrDataFloat", rows[at, c].ravel())
        counts = _ONE if still[c] else np.diff(at, append=n).astype(np.int32)
        leaf(b"KeyAttrRefCount", counts)
    return found
