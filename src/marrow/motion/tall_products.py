"""Products of many rows with one table: in pieces, each too small for a BLAS to start its threads.

Those threads spin on cores that others work on, for longer than such a product takes; and pieces stay in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pieces", "tall_product"]

Array = NDArray[Any]
SMALL = 1 << 18
"""Products of so many multiplications are made by one thread (OpenBLAS)."""


def pieces(count: int, each: int) -> Iterator[slice]:
    """Parts of `count` rows, of which each takes `each` multiplications."""
    wide = max(SMALL // max(each, 1), 16)
    return (slice(begin, begin + wide) for begin in range(0, count, wide))


def tall_product(rows: Array, table: Array) -> Array:
    """`rows (T, n) @ table (n, p)`."""
    out = np.empty((len(rows), table.shape[1]), np.result_type(rows, table))
    for part in pieces(len(rows), table.size):
        np.matmul(rows[part], table, out=out[part])
    return out
