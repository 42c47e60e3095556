"""Means and deviations of features while rows stream by, in the same bits whatever the shards and whoever computed
them.

Values are float32, so their squares are exact in float64; sums of both are kept in two float64 each (a hundred bits),
and the mean and the variance are worked out of those in whole fractions. What comes out is the float64 nearest to the
true value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.dataset.schema import RowField
from marrow.kernels.sums import add_rows

__all__ = ["Statistics", "Sums"]

Array = NDArray[Any]


class Statistics(msgspec.Struct, frozen=True):
    """Of one feature, channel by channel, over all frames of the rows of training: `count` is how many values each is
    of."""

    count: int
    shape: tuple[int, ...]
    mean: list[float]
    std: list[float]
    min: list[float]
    max: list[float]


class Sums(msgspec.Struct):
    """What statistics are made of. `sums (C, 4)`: sum and sum of squares, each in two numbers."""

    count: int
    shape: tuple[int, ...]
    sums: list[list[float]]
    min: list[float]
    max: list[float]

    @classmethod
    def empty(cls, field: RowField) -> Sums:
        shape = tuple(int(n or 0) for n in field.shape[len(field.shape) - field.channels :])
        return cls(0, shape, [], [], [])

    def statistics(self) -> Statistics:
        mean, std = [], []
        for a, b, c, d in self.sums:
            first = (Fraction(a) + Fraction(b)) / self.count
            variance = (Fraction(c) + Fraction(d)) / self.count - first * first
            mean.append(float(first))
            std.append(math.sqrt(max(variance, Fraction(0))))
        return Statistics(self.count, self.shape, mean, std, list(self.min), list(self.max))

    def merged(self, other: Sums) -> Sums:
        """Of both; the order does not show in the statistics."""
        if not self.count or not other.count:
            return other if not self.count else self
        mine, theirs = np.array(self.sums), np.array(other.sums)
        both = np.empty_like(mine)
        for k in (0, 2):
            high, x = mine[:, k], theirs[:, k]
            total = high + x
            part = total - high
            both[:, k] = total
            both[:, k + 1] = mine[:, k + 1] + theirs[:, k + 1] + ((high - (total - part)) + (x - part))
        low = np.minimum(self.min, other.min)
        high_ = np.maximum(self.max, other.max)
        return Sums(self.count + other.count, self.shape, both.tolist(), low.tolist(), high_.tolist())


class Running:
    """Sums of the fields of a shard."""

    def __init__(self, fields: tuple[RowField, ...]) -> None:
        self._fields = [f for f in fields if f.channels and None not in f.shape[len(f.shape) - f.channels :]]
        self._state: dict[str, list[Any]] = {}

    def add(self, arrays: Mapping[str, Array]) -> None:
        """The arrays of a row."""
        for field in self._fields:
            shape = Sums.empty(field).shape
            rows = np.ascontiguousarray(arrays[field.name], np.float32).reshape(-1, math.prod(shape))
            if not len(rows):
                continue
            low, high = rows.min(axis=0), rows.max(axis=0)
            state = self._state.get(field.name)
            if state is None:
                state = self._state[field.name] = [0, shape, np.zeros((rows.shape[1], 4)), low, high]
            add_rows(rows, state[2])
            state[0] += len(rows)
            state[3], state[4] = np.minimum(state[3], low), np.maximum(state[4], high)

    def sums(self) -> dict[str, Sums]:
        return {
            name: Sums(
                n, shape, sums.tolist(), low.astype(np.float64).tolist(), high.astype(np.float64).tolist()
            )
            for name, (n, shape, sums, low, high) in self._state.items()
        }
