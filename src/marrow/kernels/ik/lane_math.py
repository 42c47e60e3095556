"""Vectors and rotations in lanes, for the formulas of the solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "conjugate", "cross_columns", "difference", "least", "load", "minimal_turn", "most", "rotate", "store", "turn_vector",
]  # fmt: skip


def load(e: Any, array: Any, at: Any, first: int, count: int) -> list[Any]:
    """`count` numbers in lanes, from the number `first` after `at` on."""
    return [e.load(array, e.at(at, 16 * (first + k))) for k in range(count)]


def store(e: Any, array: Any, at: Any, first: int, values: Sequence[Any]) -> None:
    for k, value in enumerate(values):
        e.store(array, e.at(at, 16 * (first + k)), value)


def least(e: Any, a: Any, b: Any) -> Any:
    return e.select(a.compare("<", b), a, b)


def most(e: Any, a: Any, b: Any) -> Any:
    return e.select(a.compare(">", b), a, b)


def conjugate(q: Sequence[Any]) -> list[Any]:
    return [-q[0], -q[1], -q[2], q[3]]


def difference(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x - y for x, y in zip(a, b)]


def rotate(e: Any, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """`v` turned by the unit quaternion `q`."""
    t = [x + x for x in e.cross(q[:3], v)]
    u = e.cross(q[:3], t)
    return [e.fma(q[3], t[k], v[k]) + u[k] for k in range(3)]


def turn_vector(e: Any, q: Sequence[Any]) -> list[Any]:
    """The rotation vector of a unit quaternion, the short way round: `2 asin(s) / s` by its series, right to 1 % up
    to 120 degrees, monotone beyond, and exact where it is small."""
    side = e.select(q[3].compare("<", 0.0), e.splat(-2.0), e.splat(2.0))
    square = e.dot(q[:3], q[:3])
    scale = e.fma(square, e.fma(square, e.fma(square, e.splat(0.16), 0.075), 1 / 6), 1.0) * side
    return [x * scale for x in q[:3]]


def minimal_turn(e: Any, a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """The quaternion of the shortest turn from one unit vector to another; opposite ones turn about some axis across."""
    cosine = e.dot(a, b)
    square = most(e, e.fma(cosine, e.splat(0.5), 0.5), e.splat(0.0))  # of the cosine of half the angle
    w = e.sqrt(square)
    opposite = square.compare("<", 1e-6)
    scale = 0.5 / e.select(opposite, e.splat(1.0), w)
    # Across a: with the axis of the smallest part.
    flat = (a[0] * a[0]).compare("<", 0.5)
    zero = e.splat(0.0)
    spare = e.unit([e.select(flat, zero, -a[2]), e.select(flat, a[2], zero), e.select(flat, -a[1], a[0])])
    return [e.select(opposite, s, x * scale) for s, x in zip(spare, e.cross(a, b))] + [
        e.select(opposite, zero, w)
    ]


def cross_columns(e: Any, p: Sequence[Any], rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """`[p]x M` of a matrix given by rows: `p` crossed with each column."""
    return [
        [e.fnma(p[2], rows[1][k], p[1] * rows[2][k]) for k in range(3)],
        [e.fnma(p[0], rows[2][k], p[2] * rows[0][k]) for k in range(3)],
        [e.fnma(p[1], rows[0][k], p[0] * rows[1][k]) for k in range(3)],
    ]
