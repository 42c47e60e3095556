"""Curves that go on beyond their keys: repeated, mirrored, along their last slope.

ufbx bakes from the first key to the last. What happens to a node before and after is evaluated here, moment by
moment, over the whole take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from marrow.io.fbx.keys import FbxKeys
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.model.clip import Path

__all__ = ["curves_of", "running_on", "sampled_node", "sampled_value"]

Array = NDArray[Any]
_CONSTANT = 0
_MAX_SAMPLES = 200_000


def curves_of(stack: UfbxObject) -> list[tuple[UfbxObject, UfbxObject]]:
    """Every curve of the stack that has keys, with the property it moves."""
    found = []
    for layer in stack.layers:
        for prop in layer.anim_props:
            # They come as a bare tuple, so each has to be held.
            curves = [UfbxObject(curve) for curve in prop.anim_value.curves if curve is not None]
            found += [(prop, curve) for curve in curves if len(curve.keyframes)]
    return found


def running_on(curves: list[tuple[UfbxObject, UfbxObject]], begin: float, end: float) -> set[int]:
    """The elements (by ufbx number) with a curve that goes on beyond its keys inside the take."""
    found = set()
    for prop, curve in curves:
        before = int(curve.pre_extrapolation.mode) != _CONSTANT and float(curve.min_time) > begin
        after = int(curve.post_extrapolation.mode) != _CONSTANT and float(curve.max_time) < end
        if (before or after) and len(curve.keyframes) > 1:
            found.add(int(prop.element.element_id))
    return found


def moments(begin: float, end: float, rate: float) -> Array:
    """The times to evaluate at: both ends, and as often as the rate says between them."""
    count = min(int(np.ceil((end - begin) * rate)) + 1, _MAX_SAMPLES)
    return np.linspace(begin, end, max(count, 2))


def sampled_node(
    anim: UfbxObject, node: UfbxObject, begin: float, end: float, rate: float
) -> dict[Path, FbxKeys]:
    """Keys of a node's local transform over the whole take."""
    times = moments(begin, end, rate)
    rows = [
        np.concatenate(
            [tuple(part) for part in UfbxObject(ufbx.evaluate_transform(anim.raw, node.raw, t)).raw]
        )
        for t in times.tolist()
    ]
    table = np.array(rows, np.float64)
    table[~np.isfinite(table)] = 0
    return {
        "translation": FbxKeys(times, table[:, :3]),
        "rotation": FbxKeys(times, table[:, 3:7]),
        "scale": FbxKeys(times, table[:, 7:]),
    }


def sampled_value(curve: UfbxObject, begin: float, end: float, rate: float) -> FbxKeys:
    """Keys of one curve over the whole take."""
    times = moments(begin, end, rate)
    values = np.array([float(ufbx.evaluate_curve(curve.raw, t, 0.0)) for t in times.tolist()])
    return FbxKeys(times, np.nan_to_num(values)[:, None])
