"""Sums over many rows, kept in two float64 each: what rounding loses of the first is in the second (Knuth's two-sum)."""

from __future__ import annotations

from marrow.kernels.language.annotations import C, Out, T, f4, f8
from marrow.kernels.language.kernel import kernel

__all__ = ["add_rows"]


def two_sum(high, low, x):
    """`high + low + x` as two numbers."""
    total = high + x
    part = total - high
    return total, low + ((high - (total - part)) + (x - part))


@kernel
def add_rows(rows: f4[T, C], sums: Out[f8[C, 4]]) -> int:
    """Adds every column of `rows` to its sum (two numbers) and its squares, which are exact in float64, to the sum of squares."""
    for t in range(len(rows)):
        row = rows[t]
        for c in range(len(sums)):
            x = row[c]
            sums[c, 0], sums[c, 1] = two_sum(sums[c, 0], sums[c, 1], x)
            sums[c, 2], sums[c, 3] = two_sum(sums[c, 2], sums[c, 3], x * x)
    return len(rows)
