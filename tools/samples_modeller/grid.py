"""Rounding to a grid, so that what is built is the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["on_grid"]

STEPS = 2.0**26


def on_grid(values: ArrayLike) -> NDArray[Any]:
    """Values rounded to 15 nanometres: libraries for different processors differ in the last bits of sines and products,
    which must neither be seen in what is built nor decide how it is put together."""
    return np.round(np.asarray(values, np.float64) * STEPS) / STEPS + 0.0
