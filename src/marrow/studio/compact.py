"""Joints in 12 bytes: where the pivot is and how it is turned, 16 bits a number.

A skinning matrix that turns, moves and scales evenly takes a vertex `v` to `s R (v - pivot) + place`, with the joint's
pivot in the bind pose and its place now. Places are told within a cube around the instance, so their error is half a
step of that cube. Turns are told by the three smaller components of the quaternion; a vertex is off by that angle
times its way from the pivot, however far the character has walked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rigid", "decode", "encode", "rigid", "turn_error"]

Array = NDArray[Any]
PLACES = 65535
TURNS = 32767
HALF = np.float32(np.sqrt(0.5))
EVEN = 1e-3
"""How far a matrix may be from turning and even scale, by its own size, to be sent as that."""
# With w x y z pairs as rows of `_pairs`: which three belong to the components that are left when x, y, z or w is the
# largest.
_OTHERS = np.array([[0, 1, 3], [0, 2, 4], [1, 2, 5], [3, 4, 5]])


@dataclass(frozen=True, eq=False)
class Rigid:
    """Matrices `(n, E, 3, 4)` taken apart: the index of the largest quaternion component `(n, E)`, the other three
    `(3, n, E)`, places of the pivots `(3, n, E)` and even scale `(n, E)`, None where that is 1 everywhere."""

    largest: Array
    others: Array
    place: Array
    scale: Array | None


def rigid(matrices: Array, pivots: Array) -> Rigid | None:
    """None where a matrix mirrors, or scales unevenly. `pivots (E, 3)` of the bind pose."""
    m = np.ascontiguousarray(
        matrices.transpose(2, 3, 0, 1), np.float32
    )  # (3, 4, n, E): whole rows of one number
    x, y, z = np.ascontiguousarray(pivots[: matrices.shape[1]].T)
    place = m[:, 0] * x
    place += m[:, 1] * y
    place += m[:, 2] * z
    place += m[:, 3]
    turn = m[:, :3]
    lengths = (turn * turn).sum(axis=1)
    size = lengths.mean(axis=0)
    if not (np.isfinite(place).all() and (size > 1e-12).all()):
        return None
    limit = EVEN * size
    across = (turn * turn[[1, 2, 0]]).sum(axis=1)
    if (np.abs(lengths - size) > limit).any() or (np.abs(across) > limit).any():
        return None
    scale = np.sqrt(size)
    even = bool((np.abs(scale - 1) < 1e-4).all())
    if not even:
        turn = turn / scale
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = turn
    # Rows of a turn: the third is the first two's cross product; a mirror has the opposite.
    if (zx * (xy * yz - xz * yy) + zy * (xz * yx - xx * yz) + zz * (xx * yy - xy * yx) < 0).any():
        return None
    squares = np.empty((4, *size.shape), np.float32)  # 4 q^2 of x y z w
    np.add(1 + xx, -yy - zz, out=squares[0])
    np.add(1 - xx, yy - zz, out=squares[1])
    np.add(1 - xx, zz - yy, out=squares[2])
    np.add(1 + xx, yy + zz, out=squares[3])
    largest = squares.argmax(axis=0)
    most = np.take_along_axis(squares, largest[None], axis=0)
    pairs = np.stack([yx + xy, xz + zx, zy + yz, zy - yz, xz - zx, yx - xy])  # 4 xy, xz, yz, xw, yw, zw
    others = np.take_along_axis(pairs, _OTHERS.T[:, largest], axis=0)
    others *= 0.5 / np.sqrt(most)
    return Rigid(largest, others, place, None if even else scale)


def encode(found: Rigid, center: Array, reach: float) -> Array:
    """Three words an entry, `(n, E, 3)` uint32. Places are within `reach` of the `center (n, 3)` of their instance."""
    unit = (found.place - center.T[..., None]) * np.float32(0.5 * PLACES / reach)
    unit += np.float32(0.5 * PLACES + 0.5)
    p = np.clip(unit, 0, PLACES).astype(np.uint32)
    turns = found.others * np.float32(0.5 * TURNS / HALF)
    turns += np.float32(0.5 * TURNS + 0.5)
    q = np.clip(turns, 0, TURNS).astype(np.uint32)
    out = np.empty((*found.largest.shape, 3), np.uint32)
    index = found.largest.astype(np.uint32)
    out[..., 0] = p[0] | p[1] << 16
    out[..., 1] = p[2] | (q[0] | (index & 1) << 15) << 16
    out[..., 2] = (q[1] | (index >> 1) << 15) | q[2] << 16
    return out


def decode(words: Array, center: Array, reach: float) -> tuple[Array, Array]:
    """Quaternions `(n, E, 4)` and places `(n, E, 3)` of what `encode` made, float64. The page does the same."""
    low, high = (words & 0xFFFF).astype(np.float64), (words >> 16).astype(np.int64)
    unit = np.stack([low[..., 0], high[..., 0].astype(np.float64), low[..., 1]], axis=-1) / PLACES
    q = np.stack([high[..., 1], (words[..., 2] & 0xFFFF).astype(np.int64), high[..., 2]], axis=-1)
    largest = (q[..., 0] >> 15) | (q[..., 1] >> 15) << 1
    others = ((q & 0x7FFF) / TURNS * 2 - 1) * np.sqrt(0.5)
    most = np.sqrt(np.maximum(1 - (others**2).sum(axis=-1), 0))
    out = np.empty((*words.shape[:-1], 4))
    for k in range(4):
        rest = [c for c in range(4) if c != k]
        out[..., k] = np.where(largest == k, most, out[..., k])
        for n, c in enumerate(rest):
            out[..., c] = np.where(largest == k, others[..., n], out[..., c])
    return out, center[:, None] + reach * (2 * unit - 1)


def turn_error() -> float:
    """The most a turn is off, in radians: each of three numbers by half a step, the fourth by what follows from
    them."""
    step = 2 * np.sqrt(0.5) / TURNS / 2
    # |dq| of the three is step * sqrt(3); the largest is at least 1/2 and moves by at most 3 * step * sqrt(1/2) /
    # (1/2).
    return float(2 * np.hypot(np.sqrt(3) * step, 3 * step * np.sqrt(2)))
