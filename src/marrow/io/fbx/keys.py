"""Keys of baked curves: reading them out of a bake, values between them, cutting them to a clip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ResourceLimitError
from marrow.io.fbx.ufbx_binding import UfbxObject, elements, rows
from marrow.math import quaternion

__all__ = ["NO_KEYS", "FbxKeys", "at", "cut", "read_keys", "rising"]

Array = NDArray[Any]
_MAX_KEYS = 20_000_000
# A key this much of a second past the stop time is still on it.
_SLACK = 1e-5


@dataclass
class FbxKeys:
    """Values `(T, C)` at `times (T,)`, in seconds from the start of the file."""

    times: Array
    values: Array


NO_KEYS = FbxKeys(np.zeros(0), np.zeros((0, 3)))


def read_keys(items: UfbxObject, width: int) -> FbxKeys:
    """The keys of one baked property; those that are not finite are left out."""
    n = len(items)
    if n > _MAX_KEYS:
        raise ResourceLimitError(f"has a track of {n} keys, more than the {_MAX_KEYS} marrow reads")
    layout = np.dtype([("time", np.float64), ("value", np.float64, width), ("flags", np.uint32, 2)])
    table = rows(items, layout)
    if table is not None and _is_key(table[0], items[0]) and _is_key(table[-1], items[n - 1]):
        times, values = table["time"], table["value"]
    else:
        keys = elements(items)
        times = np.fromiter((key.time for key in keys), np.float64, n)
        values = np.array([key.value for key in keys], np.float64).reshape(n, width)
    good = np.isfinite(times) & np.isfinite(values).all(1)
    return FbxKeys(times[good], values[good])


def _is_key(row: Any, key: UfbxObject) -> bool:
    return row["time"].tobytes() + row["value"].tobytes() == np.array([key.time, *key.value]).tobytes()


def at(keys: FbxKeys, times: Array, rotation: bool) -> Array:
    """The values at `times`, `(n, C)`: straight between keys (slerp for rotations), held outside them."""
    right = np.clip(np.searchsorted(keys.times, times, side="right"), 1, max(1, len(keys.times) - 1))
    left = right - 1
    right = np.minimum(right, len(keys.times) - 1)
    span = keys.times[right] - keys.times[left]
    # Two keys at one moment are a step: the second one holds from there on.
    t = np.where(span > 0, np.clip((times - keys.times[left]) / np.where(span > 0, span, 1), 0, 1), 1.0)
    a, b = keys.values[left], keys.values[right]
    return quaternion.slerp(a, b, t) if rotation else a + (b - a) * t[:, None]


def cut(keys: FbxKeys, begin: float, end: float, rotation: bool, rate: float | None) -> FbxKeys:
    """The keys from `begin` to `end`, counted from `begin`, with a key on each border; at `rate` where that is
    given.
    """
    if not len(keys.times):
        return keys
    if rate is not None:
        count = int(np.floor((end - begin) * rate + _SLACK)) + 1
        times = np.minimum(np.arange(count) / rate, end - begin)
        return FbxKeys(times, at(keys, times + begin, rotation))
    inside = (keys.times > begin + _SLACK) & (keys.times <= end + _SLACK)
    times, values = np.minimum(keys.times[inside], end), keys.values[inside]
    times = np.concatenate([[begin], times])
    values = np.concatenate([at(keys, times[:1], rotation), values])
    if times[-1] < end - _SLACK:
        times = np.append(times, end)
        values = np.concatenate([values, at(keys, times[-1:], rotation)])
    return FbxKeys(times - begin, values)


def rising(times: Array) -> Array:
    """Times that strictly increase: of two keys at one moment (a step) the first moves back by the least
    there is.
    """
    for i in np.flatnonzero(np.diff(times) <= 0)[::-1]:
        times[i] = np.nextafter(times[i + 1], np.float32(-1))
    return times
