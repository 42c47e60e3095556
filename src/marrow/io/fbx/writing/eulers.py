"""Rotations as the three angles of an FBX curve: unrolled, and bent like the turn they stand for.

Between two keys the angles follow a cubic through four points of the true motion. Where that is farther from it than a
tolerance, a key is added half-way. Turns of a few degrees a key, as most motion has, need none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.euler_turns import joined_turns, key_angles, pole_sines, turn_angles
from marrow.kernels.jobs import Job, thread_count, worth

__all__ = ["ORDERS", "AngleKeys", "EulerTurns", "best_order", "degrees", "unrolled_keys", "unrolled_turns"]

Array = NDArray[Any]
ORDERS = ((0, "zyx"), (1, "yzx"), (3, "zxy"))
"""FBX's number of an order of rotation, and its axes from the outermost inwards, as `kernels.euler_turns` has them."""
_NEAR_POLE = 0.94
_WIDE = 0.97
"""The cosine of half the angle from which on a turn is looked at on its way too."""
_TOLERANCE = 5e-7
_WIDEST = 1.75
"""The farthest an angle may go from key to key, in radians: programs that turn the short way go the same way."""
_DEEPEST = 10
_MOST_KEYS = 20_000_000
_SECONDS = 5e-7  # that a turn takes
_CHUNK = 256


def degrees(q: Array, order: int) -> Array:
    """Angles about X, Y and Z of rotations `(n, 4)`, in degrees."""
    return unrolled_keys(q, np.full(len(q), order), np.arange(len(q)))


def unrolled_keys(q: Array, order: Array, track: Array) -> Array:
    """The angles `(n, 3)` in degrees of keys `(n, 4)` that nothing lies between, in `order (n,)`, of `track (n,)`."""
    out = np.empty((len(q), 3))
    key_angles(
        np.ascontiguousarray(q, np.float64), order.astype(np.int32), track.astype(np.int64, copy=False), out
    )
    return out


def best_order(q: Array, joint: Array, goes_on: Array, before: Array) -> Array:
    """The order `(J,)` for the rotations of each joint: X, Y, Z, but where that comes near its pole. Keys `q (n, 4)` of
    `joint (n,)`, from which motion goes on to the next of them or not (`goes_on (n,)`); `before (J, 4)` is taken off."""
    worst = np.zeros((len(ORDERS), len(before)))
    pole_sines(
        np.ascontiguousarray(q, np.float32), joint, goes_on, np.ascontiguousarray(before), _WIDE, worst
    )
    return np.where(worst[0] < _NEAR_POLE, 0, np.argmin(worst, axis=0))


@dataclass
class EulerTurns:
    """Turns to be written, key to key: from rotation `a (n, 4)` to `b`; `out` and `into (n, 4)` are the tangents of cubic
    ones (`cubic (n,)`). They begin at `begin (n,)` and last `span (n,)` seconds. `order (n,)`: of the angles;
    `track (n,)`: whose they are."""

    a: Array
    b: Array
    out: Array
    into: Array
    cubic: Array
    begin: Array
    span: Array
    order: Array
    track: Array


@dataclass
class AngleKeys:
    """The keys of all tracks in order: times, angles `(n, 3)` in degrees, the kind of the way to the next, slopes per
    second `(n, 3, 2)`; `starts`: the first key of each track. `error`: the farthest from the true motion in radians;
    `chord`: so far as programs see it that draw straight lines between keys."""

    times: Array
    values: Array
    kind: Array
    slopes: Array
    starts: Array
    error: float
    chord: float


def unrolled_turns(turns: EulerTurns, ends: Array) -> AngleKeys:
    """The angles of turns; `ends (T,)`: when each track ends."""
    rows = np.arange(len(turns.track))
    u0, u1 = np.zeros(len(rows)), np.ones(len(rows))
    done: list[tuple[Array, ...]] = []
    cubic, order = turns.cubic.astype(np.int8), turns.order.astype(np.int32)
    a, b, out, into = (np.ascontiguousarray(q) for q in (turns.a, turns.b, turns.out, turns.into))
    error = chord = 0.0
    for depth in range(_DEEPEST + 1):
        M = len(rows)
        points, way = np.empty((M, 4, 3)), np.empty((M, 7, 4))
        off, widest, bow = np.empty(M), np.empty(M), np.empty(M)
        frame = turn_angles.frame(
            a=a, b=b, out=out, into=into, cubic=cubic, span=turns.span, order=order, row=rows, begin=u0, end=u1,
            points=points, way=way, off=off, widest=widest, chord=bow, first=0, last=0,
        )  # fmt: skip
        Job(frame, "first", "last").run(0, M, step=_CHUNK, workers=worth(_SECONDS * M, thread_count(None)))
        fine = (off <= _TOLERANCE) & (widest <= _WIDEST)
        if depth == _DEEPEST or M + sum(len(d[0]) for d in done) > _MOST_KEYS:
            fine[:] = True
        error = max(error, float(off[fine].max(initial=0.0)))
        chord = max(chord, float(bow[fine].max(initial=0.0)))
        if fine.all():
            done.append((rows, u0, u1, points))
            break
        if fine.any():
            done.append((rows[fine], u0[fine], u1[fine], points[fine]))
        rows, u0, u1 = rows[~fine], u0[~fine], u1[~fine]
        middle = (u0 + u1) / 2
        rows, u0, u1 = (
            np.repeat(rows, 2),
            np.stack([u0, middle], 1).ravel(),
            np.stack([middle, u1], 1).ravel(),
        )
    row, u0, u1, points = done[0]
    if len(done) > 1:
        row, u0, u1, points = (np.concatenate(parts) for parts in zip(*done))
        sort = np.lexsort((u0, row))
        row, u0, u1, points = row[sort], u0[sort], u1[sort], points[sort]
    track, span = turns.track[row], turns.span[row]
    R = len(row) + int((np.diff(track) != 0).sum()) + 1
    times, values, slopes = np.empty(R), np.empty((R, 3)), np.empty((R, 3, 2))
    kind, starts = np.empty((R, 3), np.int32), np.zeros(len(ends), np.int64)
    joined_turns(
        points, track, order[row], turns.begin[row] + u0 * span, span * (u1 - u0), ends, times, values, kind, slopes,
        starts,
    )  # fmt: skip
    return AngleKeys(times, values, kind, slopes, starts, error, chord)
