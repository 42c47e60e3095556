"""`Buffers`: output memory that is used again once nobody else holds it."""

from __future__ import annotations

import math
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.memory import aligned_zeros

__all__ = ["Buffers"]

Array = NDArray[Any]
KEPT = 3
SMALL = 4096
"""Floats up to which asking the system is quicker than keeping account."""


class Buffers:
    """Hands out float32 arrays. Memory that was handed out, and of which every view is gone, is handed out again: a crowd
    that is updated a million times asks the system for memory a few times only, and what a caller keeps stays his."""

    def __init__(self) -> None:
        self._kept: list[tuple[Array, weakref.ref[Array]]] = []

    def take(self, shape: tuple[int, ...]) -> Array:
        """An array of `shape` with anything in it."""
        size = math.prod(shape)
        if size <= SMALL:
            return np.empty(shape, np.float32)
        free = [i for i, (memory, user) in enumerate(self._kept) if memory.size == size and user() is None]
        # The latest is the most likely to be in the processor's cache still.
        memory = self._kept.pop(free[-1])[0] if free else aligned_zeros(size)
        # Behind a memoryview the array is its own base: all views of it, and views of those, keep it alive, and nothing
        # here does.
        lent = np.frombuffer(memoryview(memory), np.float32) if size else memory
        self._kept = [*self._kept[-(KEPT - 1) :], (memory, weakref.ref(lent))]
        return lent.reshape(shape)
