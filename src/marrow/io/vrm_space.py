"""The lengths and directions in a character's VRM data, in another space (see `marrow.io.axes`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["turned"]

Array = NDArray[Any]
_POINTS = ("offset", "tail", "offsetFromHeadBone")
_DIRECTIONS = ("gravityDir", "normal")
_LENGTHS = ("radius", "hitRadius", "end", "stiffness", "gravityPower")
"""Lengths, and speeds of springs in metres a second."""
_AXES = ("aimAxis", "rollAxis")


def turned(vrm: Any, C: Array, s: float) -> Any:
    """`vrm` where `p' = s C p`; texture offsets and what is no place in space stay."""
    if isinstance(vrm, list):
        return [turned(item, C, s) for item in vrm]
    if not isinstance(vrm, dict):
        return vrm
    out = {}
    for key, value in vrm.items():
        if key in _POINTS and _is_vector(value):
            out[key] = (C @ np.array(value, np.float64) * s).tolist()
        elif key in _DIRECTIONS and _is_vector(value):
            out[key] = (C @ np.array(value, np.float64)).tolist()
        elif key in _LENGTHS and isinstance(value, (int, float)):
            out[key] = value * s
        elif key in _AXES and isinstance(value, str):
            out[key] = _axis(value, C)
        elif key == "joints" and isinstance(value, list):
            out[key] = [turned(_spring_joint(item, C, s), C, s) for item in value]
        else:
            out[key] = turned(value, C, s)
    return out


def _spring_joint(joint: Any, C: Array, s: float) -> Any:
    """A joint of a spring with what VRM takes it to say where it is silent, if that is something else in the new space."""
    silent: dict[str, Any] = {} if s == 1.0 else {"stiffness": 1.0}
    if not np.array_equal(C[:, 1], (0.0, 1.0, 0.0)):
        silent["gravityDir"] = [0.0, -1.0, 0.0]
    return (
        {**joint, **{key: v for key, v in silent.items() if key not in joint}}
        if isinstance(joint, dict)
        else joint
    )


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(isinstance(v, (int, float)) for v in value)


def _axis(name: str, C: Array) -> str:
    """`X`, or `PositiveX` and `NegativeX`, after the turn."""
    if name[-1:] not in "XYZ" or not name:
        return name
    column = C[:, "XYZ".index(name[-1])]
    at = int(np.argmax(np.abs(column)))
    if len(name) == 1:
        return "XYZ"[at]
    positive = name.startswith("Positive") == bool(column[at] > 0)
    return f"{'Positive' if positive else 'Negative'}{'XYZ'[at]}"
