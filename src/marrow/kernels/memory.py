"""Memory the vector kernels like: on 64-byte boundaries, so that no load or store of 16 floats touches two cache lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["aligned", "aligned_zeros", "readonly"]

BYTES = 64


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


def readonly(array: Any) -> Any:
    """A read-only view."""
    view = array.view()
    view.flags.writeable = False
    return view
