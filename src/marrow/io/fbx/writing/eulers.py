"""Rotations as the three angles of an FBX curve: unrolled, and bent like the turn they stand for.

Between two keys the angles follow a cubic through four points of the true motion. Where that is farther from it than a
tolerance, a key is added half-way. EulerTurns of a few degrees a key, as most motion has, need none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["ORDERS", "Angles", "EulerTurns", "best_order", "degrees", "unrolled_keys", "unrolled_segments"]

Array = NDArray[Any]
ORDERS = ((0, "zyx"), (1, "yzx"), (3, "zxy"))
"""FBX's number of an order of rotation, and the axes as `quaternion.to_euler` names them: from the outermost inwards."""
_POLES = ((2, 0), (1, 0), (2, 1))
"""Where in a rotation matrix the sine of each order's middle angle stands."""
_NEAR_POLE = 0.94
_TOLERANCE = 5e-7
_WIDEST = 1.75
"""The farthest an angle may go from key to key, in radians: programs that turn the short way go the same way."""
_DEEPEST = 10
_MOST_KEYS = 20_000_000
_AT = np.arange(7) / 6.0
_TURN = 2 * np.pi


def _columns(order: int) -> list[int]:
    return ["xyz".index(axis) for axis in ORDERS[order][1]]


def _inner(q: Array, order: Array) -> Array:
    """Angles `(n, ..., 3)` from the outermost axis inwards, each row in its own order `(n,)`."""
    out = np.empty((*q.shape[:-1], 3))
    for k in np.unique(order).tolist():
        rows = order == k
        out[rows] = quaternion.to_euler(q[rows], ORDERS[k][1])
    return out


def _by_axis(inner: Array, order: Array) -> Array:
    """Angles by their axes, in degrees."""
    out = np.empty_like(inner)
    for k in np.unique(order).tolist():
        rows = order == k
        part = np.empty_like(inner[rows])
        part[..., _columns(k)] = inner[rows]
        out[rows] = part
    return np.degrees(out)


def degrees(q: Array, order: int) -> Array:
    """Angles about X, Y and Z of rotations `(n, 4)`, in degrees."""
    q = quaternion.normalize(np.asarray(q, np.float64))
    orders = np.full(len(q), order)
    return _by_axis(_inner(q, orders), orders)


def best_order(q: Array, joint: Array, joints: int) -> Array:
    """The order `(joints,)` for the rotations `(n, 4)` of each joint: X, Y, Z, but where that comes near its pole."""
    m = quaternion.to_matrix(q)
    worst = np.zeros((len(ORDERS), joints))
    for k, (row, column) in enumerate(_POLES):
        np.maximum.at(worst[k], joint, np.abs(m[..., row, column]))
    return np.where(worst[0] < _NEAR_POLE, 0, np.argmin(worst, axis=0))


@dataclass
class EulerTurns:
    """Turns to be written, key to key: from rotation `a (n, 4)` to `b`; `out` and `into (n, 4)` are the tangents of cubic
    ones (`cubic (n,)`), which last `span (n,)` seconds. `order (n,)`: of the angles; `track (n,)`: whose they are."""

    a: Array
    b: Array
    out: Array
    into: Array
    cubic: Array
    span: Array
    order: Array
    track: Array

    def at(self, rows: Array, u: Array) -> Array:
        """The rotations of some turns `(m,)` at `u (m, k)` of their way, `(m, k, 4)`."""
        a, b = self.a[rows][:, None], self.b[rows][:, None]
        found = quaternion.slerp(a, b, u)
        bent = self.cubic[rows]
        if bent.any():
            some, t = rows[bent], u[bent][..., None]
            p0, p1 = self.a[some][:, None], self.b[some][:, None]
            h = self.span[some][:, None, None]
            m0, m1 = h * self.out[some][:, None], h * self.into[some][:, None]
            t2, t3 = t * t, t * t * t
            hermite = (
                (2 * t3 - 3 * t2 + 1) * p0 + (t3 - 2 * t2 + t) * m0 + (3 * t2 - 2 * t3) * p1 + (t3 - t2) * m1
            )
            found[bent] = quaternion.normalize(hermite)
        return found


@dataclass
class Angles:
    """Curves piece by piece, in order: the turn each piece is of, from `u0` to `u1` of its way, the angles at its ends and
    the slopes there (degrees, by axis, `(n, 3)`; slopes per whole piece). `error`: the farthest from the true motion in
    radians; `chord`: so far as programs see it that draw straight lines between keys."""

    turn: Array
    u0: Array
    u1: Array
    first: Array
    last: Array
    leave: Array
    arrive: Array
    error: float
    chord: float


def unrolled_segments(turns: EulerTurns) -> Angles:
    """The angles of turns."""
    rows = np.arange(len(turns.track))
    u0, u1 = np.zeros(len(rows)), np.ones(len(rows))
    done: list[tuple[Array, ...]] = []
    error = chord = 0.0
    for depth in range(_DEEPEST + 1):
        u = u0[:, None] + (u1 - u0)[:, None] * _AT
        true = turns.at(rows, u)
        inner = _along(_inner(true, turns.order[rows]))
        off = _off(inner, true, turns.order[rows])
        fine = (off <= _TOLERANCE) & (np.abs(inner[:, -1] - inner[:, 0]).max(axis=1) <= _WIDEST)
        if depth == _DEEPEST or len(rows) + sum(len(d[0]) for d in done) > _MOST_KEYS:
            fine[:] = True
        if fine.any():
            error = max(error, float(off[fine].max()))
            bent = fine & turns.cubic[rows]
            if bent.any():
                chord = max(chord, _chord(true[bent]))
            done.append((rows[fine], u0[fine], u1[fine], inner[fine]))
        if fine.all():
            break
        rows, u0, u1 = rows[~fine], u0[~fine], u1[~fine]
        middle = (u0 + u1) / 2
        rows, u0, u1 = (
            np.repeat(rows, 2),
            np.stack([u0, middle], 1).ravel(),
            np.stack([middle, u1], 1).ravel(),
        )
    turn, u0, u1, inner = (np.concatenate(parts) for parts in zip(*done))
    order = np.lexsort((u0, turn))
    turn, u0, u1, inner = turn[order], u0[order], u1[order], inner[order]
    inner = _joined(inner, turns.track[turn])
    p = _by_axis(inner, turns.order[turn])
    leave = (-11 * p[:, 0] + 18 * p[:, 2] - 9 * p[:, 4] + 2 * p[:, 6]) / 2
    arrive = (11 * p[:, 6] - 18 * p[:, 4] + 9 * p[:, 2] - 2 * p[:, 0]) / 2
    return Angles(turn, u0, u1, p[:, 0], p[:, 6], leave, arrive, error, chord)


def unrolled_keys(q: Array, order: Array, track: Array) -> Array:
    """The angles `(n, 3)` in degrees of keys that nothing lies between."""
    if not len(q):
        return np.zeros((0, 3))
    inner = _inner(q, order)
    return _by_axis(_joined(inner[:, None], track)[:, 0], order)


def _other(inner: Array) -> Array:
    """The same rotations by the other set of angles."""
    return np.stack([inner[..., 0] + np.pi, np.pi - inner[..., 1], inner[..., 2] + np.pi], axis=-1)


def _distance(a: Array, b: Array) -> Array:
    d = np.abs(a - b)
    return np.abs(d - _TURN * np.rint(d / _TURN)).sum(-1)


def _along(inner: Array) -> Array:
    """Angles `(n, k, 3)` unrolled along their second axis."""
    flip = _distance(inner[:, :-1], _other(inner[:, 1:])) < _distance(inner[:, :-1], inner[:, 1:])
    flipped = np.zeros(inner.shape[:2], bool)
    flipped[:, 1:] = np.logical_xor.accumulate(flip, axis=1)
    inner = np.where(flipped[..., None], _other(inner), inner)
    turns = np.zeros_like(inner)
    turns[:, 1:] = np.cumsum(np.rint((inner[:, :-1] - inner[:, 1:]) / _TURN), axis=1)
    return inner + _TURN * turns


def _joined(inner: Array, track: Array) -> Array:
    """Pieces `(n, k, 3)` moved so that each begins where the one before it on its track ends."""
    if len(inner) < 2:
        return inner
    same = track[1:] == track[:-1]
    end, begin = inner[:-1, -1], inner[1:, 0]
    flip = same & (_distance(end, _other(begin)) < _distance(end, begin))
    flipped = _per_track(flip.astype(np.int64), same) & 1
    inner = np.where(flipped[:, None, None] == 1, _other(inner), inner)
    steps = np.rint((inner[:-1, -1] - inner[1:, 0]) / _TURN).astype(np.int64)
    turns = np.stack([_per_track(steps[:, c], same) for c in range(3)], axis=-1)
    return inner + _TURN * turns[:, None]


def _per_track(steps: Array, same: Array) -> Array:
    """Sums of steps from each track's first piece on."""
    total = np.concatenate([[0], np.cumsum(np.where(same, steps, 0))])
    first = np.concatenate([[True], ~same])
    start = np.maximum.accumulate(np.where(first, np.arange(len(total)), 0))
    return total - total[start]


def _off(inner: Array, true: Array, order: Array) -> Array:
    """How far the cubic through four of seven samples is from the other three, `(n,)` radians."""
    worst = np.zeros(len(inner))
    for at, weights in ((1, (5, 15, -5, 1)), (3, (-1, 9, 9, -1)), (5, (1, -5, 15, 5))):
        cubic = np.einsum("nkc,k->nc", inner[:, ::2], np.array(weights)) / 16
        found = np.empty((len(inner), 4))
        for k in np.unique(order).tolist():
            rows = order == k
            found[rows] = quaternion.from_euler(cubic[rows], ORDERS[k][1])
        worst = np.maximum(worst, quaternion.angle(found, true[:, at]))
    return worst


def _chord(true: Array) -> float:
    straight = quaternion.slerp(true[:, 0], true[:, 6], np.full(len(true), 0.5))
    return float(quaternion.angle(straight, true[:, 3]).max())
