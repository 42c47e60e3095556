"""The numbers of a BVH file: text to float64 and angles to quaternions, by kernels where there are compiled ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.backend import backend
from marrow.math.elementary import sincos

__all__ = ["first_numbers", "rotations"]

Array = NDArray[Any]


def first_numbers(body: bytes, wanted: int) -> tuple[Array, bytes]:
    """The first `wanted` words of a text as numbers, each the same float64 as `float(word)`, and what comes after them.
    Fewer where not all of them are numbers."""
    if backend().name == "numpy":
        return _slowly(body, wanted)
    from marrow.kernels.number_parsing import MOST_HARD, POWERS, parse_numbers

    text = np.frombuffer(body, np.uint8)
    values, hard = np.empty(wanted), np.empty((MOST_HARD, 3), np.int64)
    powers = np.array(POWERS)
    at = count = 0
    while count < wanted and at < len(body):
        count, found, at = parse_numbers(text, powers, values, hard, at, count)
        for index, begin, end in hard[:found].tolist():
            try:
                values[index] = float(body[begin:end])
            except ValueError:
                return _slowly(body, wanted)
    return values[:count], body[at:]


def _slowly(body: bytes, wanted: int) -> tuple[Array, bytes]:
    """The same by NumPy, which also takes numbers that are not separated (`1-2`)."""
    try:
        values = np.fromstring(body, sep=" ")
    except ValueError:  # not all of it is numbers; older NumPy stops there and hands out what came before
        return np.zeros(0), b""
    if len(values) <= wanted:
        return values, b""
    return values[:wanted], b" 0" * (len(values) - wanted)


def rotations(
    values: Array, joints: Sequence[tuple[int, int, int]], turns: Sequence[tuple[int, int]], out: Array
) -> None:
    """Writes the quaternions of `joints` into `out`, each from its own place on; a joint is (place, first turn, how
    many), a turn (axis, column of `values (T, W)` in degrees). `marrow.math.quaternion.from_euler` is what it means."""
    if not joints:
        return
    if backend().name != "numpy":
        from marrow.kernels.number_parsing import euler_rotations

        euler_rotations(
            np.ascontiguousarray(values), np.array(joints, np.int64), np.array(turns, np.int64), out
        )
        return
    frames = len(values)
    for at, first, count in joints:
        own = turns[first : first + count]
        q = _quaternions(np.deg2rad(values[:, [column for _, column in own]]), [axis for axis, _ in own])
        out[at : at + 4 * frames] = q.reshape(-1)


def _quaternions(angles: Array, axes: Sequence[int]) -> Array:
    """`from_euler` of `angles (T, turns)`, `(T, 4)`: one turn at a time."""
    sines, cosines = sincos(angles / 2)
    q = np.zeros((4, len(angles)))
    q[axes[0]] = sines[:, 0]
    q[3] = cosines[:, 0]
    for k, a in enumerate(axes[1:], 1):
        b, c = (a + 1) % 3, (a + 2) % 3
        s, w = sines[:, k], cosines[:, k]
        # q * (s on axis a, w)
        q[a], q[b], q[c], q[3] = (
            w * q[a] + s * q[3],
            w * q[b] + s * q[c],
            w * q[c] - s * q[b],
            w * q[3] - s * q[a],
        )
    return q.T
