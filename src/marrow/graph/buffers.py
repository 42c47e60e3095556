"""`Buffers`: output arrays that are used again once nobody else holds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Buffers"]

Array = NDArray[Any]
KEPT = 3


class Buffers:
    """Hands out float32 arrays. An array that was handed out, and of which every view is gone, is handed out again: a crowd
    that is updated a million times asks the system for memory a few times only, and what a caller keeps stays his."""

    def __init__(self) -> None:
        self._kept: list[Array] = []

    def take(self, shape: tuple[int, ...]) -> Array:
        """An array of `shape` with anything in it."""
        size = int(np.prod(shape))
        for flat in self._kept:
            # Held by the list, by the loop, and by the call that counts.
            if flat.size == size and sys.getrefcount(flat) <= 3:
                return flat.reshape(shape)
        flat = np.empty(size, np.float32)
        self._kept = [*self._kept[-(KEPT - 1) :], flat]
        return flat.reshape(shape)
