"""The `ufbx` binding, made safe to use.

Its 0.0.x releases hand out borrowed references as if they were owned: every element that a list or a property
returns is released once too often, and a scene crashes when it is collected. `UfbxObject` takes one more reference
to everything it passes on and never gives it back. That leaks by design, so it belongs in a worker that ends
with its file; there the garbage collector is off and the end is `os._exit`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["UfbxObject", "elements", "integers", "learn_layout", "reals", "rows"]

Array = NDArray[Any]
_PLAIN = (int, float, str, bytes, tuple, type(None))
_keep = ctypes.pythonapi.Py_IncRef
_keep.argtypes = [ctypes.py_object]
_keep.restype = None

_forever: list[Any] = []


class UfbxObject:
    """A ufbx object whose properties and elements come out held too. Numbers, text and tuples come out as
    they are.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        _keep(raw)
        self.raw = raw

    def __getattr__(self, name: str) -> Any:
        return _passed_on(getattr(self.raw, name))

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, index: int) -> Any:
        return _passed_on(self.raw[index])

    def __iter__(self) -> Iterator[Any]:
        # By position: the binding's own iterators release the list.
        return (self[i] for i in range(len(self.raw)))

    def __call__(self, *arguments: Any) -> Any:
        return _passed_on(self.raw(*arguments))

    def __bool__(self) -> bool:
        return True


def _passed_on(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        _keep(value)
        return value
    return UfbxObject(value)


def elements(items: UfbxObject) -> list[Any]:
    """The bare elements of a long list, for loops that cannot afford to hold them one by one."""
    raw = items.raw
    found = [raw[i] for i in range(len(raw))]
    _forever.append(found)  # a reference that is never released needs no second one
    return found


def reals(items: UfbxObject, width: int | None = None) -> Array:
    """A list of numbers or vectors as float64 `(n,)` or `(n, width)`, copied out of the scene."""
    if not len(items):
        return np.zeros((0, width) if width else 0, np.float64)
    flat = np.frombuffer(memoryview(items.raw).cast("B"), np.float64).copy()
    return flat.reshape(-1, width) if width else flat


def integers(items: UfbxObject) -> Array:
    """A `Uint32List` as int64 `(n,)`."""
    found = rows(items, _INTEGER)
    if found is not None and int(found[0]) == items.raw[0] and int(found[-1]) == items.raw[len(found) - 1]:
        return found.astype(np.int64)
    _keep(items.raw)
    return np.fromiter(items.raw, np.int64, len(items))


def rows(items: UfbxObject, dtype: np.dtype[Any]) -> Array | None:
    """The elements of a list without a buffer of its own, copied from where the list says they lie; None where
    that cannot be told for sure. A list of a hundred thousand elements would else be as many objects.

    Where a list keeps the place is learned from one that has both, the place and a buffer (`learn_layout`).
    The caller compares some elements all the same.
    """
    n, (at, size) = len(items), _layout
    if not n or at < 0 or type(items.raw).__basicsize__ != size:
        return None
    place, count = (ctypes.c_size_t * 2).from_address(id(items.raw) + at)
    if count != n or not place:
        return None
    return np.frombuffer(ctypes.string_at(place, n * dtype.itemsize), dtype)


_INTEGER = np.dtype(np.uint32)
_layout = (-1, 0)


def learn_layout(known: UfbxObject) -> None:
    """Finds where lists keep the place and number of their elements, from a list that has a buffer."""
    global _layout
    n = len(known)
    if _layout[0] >= 0 or not n:
        return
    place = np.frombuffer(memoryview(known.raw).cast("B"), np.uint8).ctypes.data
    size = type(known.raw).__basicsize__
    words = list((ctypes.c_size_t * (size // 8)).from_address(id(known.raw)))
    found = [i for i in range(len(words) - 1) if words[i] == place and words[i + 1] == n]
    if len(found) == 1:
        _layout = (8 * found[0], size)
