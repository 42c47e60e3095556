"""The `ufbx` binding, made safe to use. This runs in the reader's process, without NumPy.

Its 0.0.x releases hand out borrowed references as if they were owned: every element that a list or a property
returns is released once too often, and a scene crashes when it is collected. So everything it hands out goes through
`hold`, which keeps it for ever. That leaks by design, so it belongs in a worker that ends with its file; there the
garbage collector is off and the end is `os._exit`. Lists are read by position: the binding's own iterators release them.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

from marrow.io.fbx.blocks import Buffer

__all__ = ["elements", "hold", "integers", "learn_layout", "number", "reals", "records"]

_held: list[Any] = []
_more = _held.append


def hold(value: Any) -> Any:
    """The value, which is never released."""
    _more(value)
    return value


def elements(items: Any) -> list[Any]:
    """The elements of one of the binding's lists, all held."""
    _more(items)
    found = [items[i] for i in range(len(items))]
    _more(found)
    return found


def number(value: float) -> float | None:
    """A number that JSON can say: None for one that is not finite."""
    value = float(value)
    return value if value - value == 0 else None


def reals(items: Any) -> Buffer:
    """The float64 of a list of numbers or vectors, where the scene keeps them."""
    _more(items)
    return hold(memoryview(items)).cast("B") if len(items) else b""


def integers(items: Any) -> Buffer:
    """The uint32 of a `Uint32List`."""
    _more(items)
    n = len(items)
    found = records(items, 4)
    if found is not None and all(
        int.from_bytes(found[4 * i : 4 * i + 4], "little") == items[i] for i in (0, n - 1)
    ):
        return found
    return struct.pack(f"<{n}I", *[items[i] for i in range(n)])


def records(items: Any, size: int) -> memoryview | None:
    """The elements (each of `size` bytes) of a list without a buffer of its own, where the list says they lie; None where
    that cannot be told for sure. A list of a hundred thousand elements would else be as many objects.

    Where a list keeps the place is learned from one that has both, the place and a buffer (`learn_layout`).
    The caller compares some elements all the same.
    """
    n, (at, list_size) = len(items), _layout
    if not n or at < 0 or type(items).__basicsize__ != list_size:
        return None
    place, count = (ctypes.c_size_t * 2).from_address(id(items) + at)
    if count != n or not place:
        return None
    return memoryview((ctypes.c_char * (n * size)).from_address(place)).cast("B")


_layout = (-1, 0)


def learn_layout(known: Any) -> None:
    """Finds where lists keep the place and number of their elements, from a list that has a buffer."""
    global _layout
    n = len(known)
    if _layout[0] >= 0 or not n:
        return
    _more(known)
    view = (ctypes.c_size_t * 32)()  # a Py_buffer, which begins with the address; it is never given back
    _more(view)
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(known), ctypes.byref(view), 0)
    size = type(known).__basicsize__
    words: Sequence[int] = list((ctypes.c_size_t * (size // 8)).from_address(id(known)))
    found = [i for i in range(len(words) - 1) if words[i] == view[0] and words[i + 1] == n]
    if len(found) == 1:
        _layout = (8 * found[0], size)
