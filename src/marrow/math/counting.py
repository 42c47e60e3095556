"""`repeat` and `bincount` for whole numbers of any width.

NumPy's own take only what fits an index without a loss. Where indices have 32 bits, as in a browser, that leaves out int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["bincount", "repeat"]


def repeat(values: ArrayLike, counts: ArrayLike) -> NDArray[Any]:
    """Each row of `values` as often as `counts` says, one count for each."""
    return np.repeat(values, np.asarray(counts).astype(np.intp, copy=False), axis=0)


def bincount(values: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0) -> NDArray[Any]:
    """How often each number from 0 on is in `values`, or the sum of its weights."""
    return np.bincount(np.asarray(values).astype(np.intp, copy=False), weights, minlength)
