"""Memory the vector kernels like: on 64-byte boundaries, so that no load or store of 16 floats touches two cache lines; and
memory for results that is used again once nobody sees it any more."""

from __future__ import annotations

import functools
import math
import sys
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESULTS", "Recycler", "aligned", "aligned_zeros", "packed", "readonly"]

BYTES = 64
SMALL = 4096
"""Floats up to which asking the system is quicker than keeping account."""
MOST_IDLE = 256 << 20
"""Bytes that wait to be used again, at most."""


def aligned_zeros(shape: int | tuple[int, ...], dtype: Any = np.float32) -> NDArray[Any]:
    """A C-contiguous array of zeros that begins on a 64-byte boundary."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + BYTES, np.uint8)
    start = -raw.ctypes.data % BYTES
    return raw[start : start + size].view(dtype).reshape(shape)


def aligned(values: NDArray[Any]) -> NDArray[Any]:
    """`values`, copied to a 64-byte boundary unless they lie on one."""
    if values.ctypes.data % BYTES == 0 and values.flags.c_contiguous:
        return values
    out = aligned_zeros(values.shape, values.dtype)
    out[...] = values
    return out


def packed(rooms: dict[str, tuple[Any, Any]]) -> dict[str, NDArray[Any]]:
    """Arrays of zeros (shape and dtype by name) in one piece of memory, each on a boundary: what one thread writes shares no cache
    line with what another does."""
    sizes = [
        -(-int(np.prod(shape)) * np.dtype(dtype).itemsize // BYTES) * BYTES for shape, dtype in rooms.values()
    ]
    whole, at, found = aligned_zeros(sum(sizes) + 2 * BYTES, np.uint8), 0, {}
    for (name, (shape, dtype)), size in zip(rooms.items(), sizes):
        used = int(np.prod(shape)) * np.dtype(dtype).itemsize
        found[name] = whole[at : at + used].view(dtype).reshape(shape)
        at += size
    return found


def readonly(array: Any) -> Any:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view


class Recycler:
    """Hands out float32 arrays for results. New memory costs a page fault for every 4 KB when it is first written, often more than
    the result itself: what was handed out, and of which no view is left, is handed out again. What a caller keeps stays his."""

    def __init__(self, most_idle: int = MOST_IDLE) -> None:
        self.most_idle = most_idle
        # Both are changed by single operations only: results are let go in any thread, at any moment.
        self._lent: dict[int, weakref.ref[Any]] = {}
        self._idle: dict[int, NDArray[Any]] = {}

    def take(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """An array of `shape` with anything in it."""
        size = math.prod(shape)
        if size <= SMALL:
            return np.empty(shape, np.float32)
        memory = self._found(size)
        if memory is None:
            memory = aligned_zeros(size)
        # Behind a memoryview the array is its own base: all views of it, and views of those, keep it alive, and nothing
        # here does.
        lent = np.frombuffer(memoryview(memory), np.float32)
        self._lent[id(memory)] = weakref.ref(lent, functools.partial(self._given_back, memory))
        return lent.reshape(shape)

    def _found(self, size: int) -> NDArray[Any] | None:
        """Memory of this size that waits, the latest first: it is the most likely to be in the processor's cache still."""
        for key in reversed(list(self._idle)):
            memory = self._idle.get(key)
            if memory is not None and memory.size == size:
                del memory
                memory = self._idle.pop(key, None)
                # Whoever has got hold of the memory itself is counted, too.
                if memory is not None and sys.getrefcount(memory) == 2:
                    return memory
        return None

    def _given_back(self, memory: NDArray[Any], _: Any) -> None:
        self._lent.pop(id(memory), None)
        self._idle[id(memory)] = memory
        while sum(m.nbytes for m in list(self._idle.values())) > self.most_idle:
            oldest = next(iter(list(self._idle)), None)
            if oldest is None:
                break
            self._idle.pop(oldest, None)


RESULTS = Recycler()
"""Where results come from that a caller gave no memory for."""
