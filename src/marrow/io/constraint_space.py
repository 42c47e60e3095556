"""Constraints in another space (see `marrow.io.axes`): what has a length, a direction or an axis in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model.constraints import Constraint, DriveChannel, LimitTransform
from marrow.model.joint_limit import JointLimit

__all__ = ["turned_constraints"]

Array = NDArray[Any]
_DIRECTIONS = ("axis", "up_axis", "up")
_LENGTHS = ("least", "most", "tolerance")


def turned_constraints(constraints: Iterable[Constraint], C: Array, s: float) -> tuple[Constraint, ...]:
    """Constraints where `p' = s C p`."""
    C = np.asarray(C, np.float64)
    return tuple(_turned(c, C, s) for c in constraints)


def _turned(c: Constraint, C: Array, s: float) -> Constraint:
    side = 1.0 if np.linalg.det(C) > 0 else -1.0
    fields: dict[str, Any] = {}
    for name in c.__struct_fields__:
        value = getattr(c, name)
        if name in _DIRECTIONS and value is not None:
            fields[name] = _vector(C, value)
        elif name == "offset_translation" or (name == "target" and isinstance(value, tuple)):
            fields[name] = _vector(s * C, value)
        elif name == "offset_rotation":
            fields[name] = _vector(side * C, value)
        elif name in _LENGTHS:
            fields[name] = value * s
        elif name == "angle":
            fields[name] = value * side
        elif name == "axes":
            fields[name] = "".join(sorted("xyz"[_axis(C, "xyz".index(a))[0]] for a in value))
        elif name == "limits":
            fields[name] = {joint: _limit(limit, C, side) for joint, limit in value.items()}
    if isinstance(c, LimitTransform):
        fields["rotation"] = None if c.rotation is None else _limit(c.rotation, C, side)
        fields["translation"] = _ranges(c.translation, C, s)
        fields["scale"] = _ranges(c.scale, np.abs(C), 1.0)
    if isinstance(c, DriveChannel):
        source, k = _channel(c.source_channel, C, s, side)
        channel, m = _channel(c.channel, C, s, side)
        keys = tuple(sorted((k * x, m * y) for x, y in c.keys))
        fields |= {"source_channel": source, "channel": channel, "keys": keys}
    return c.replace(**fields)


def _vector(M: Array, v: Any) -> tuple[float, float, float]:
    x, y, z = (float(n) + 0.0 for n in M @ np.asarray(v, np.float64))
    return x, y, z


def _axis(C: Array, d: int) -> tuple[int, float]:
    """What an axis becomes, and whether it points the other way."""
    at = int(np.argmax(np.abs(C[:, d])))
    return at, 1.0 if C[at, d] > 0 else -1.0


def _channel(name: str, C: Array, s: float, side: float) -> tuple[str, float]:
    """What a channel becomes, and by what its numbers are multiplied."""
    channel, _, axis = name.partition(".")
    if channel == "morph" or axis not in ("x", "y", "z"):
        return name, 1.0
    at, sign = _axis(C, "xyz".index(axis))
    factor = {"translation": s * sign, "rotation": side * sign, "scale": 1.0}[channel]
    return f"{channel}.{'xyz'[at]}", factor


def _ranges(given: Any, C: Array, s: float) -> Any:
    if given is None:
        return None
    out: list[tuple[float, float] | None] = [None, None, None]
    for d, pair in enumerate(given):
        at, sign = _axis(C, d)
        if pair is not None:
            low, high = sorted((s * sign * pair[0], s * sign * pair[1]))
            out[at] = (low, high)
    return tuple(out)


def _limit(limit: JointLimit, C: Array, side: float) -> JointLimit:
    def other(given: Any) -> Any:
        return (-given[1], -given[0]) if side < 0 and isinstance(given, tuple) else given

    swing = limit.swing
    if isinstance(swing, tuple):
        swing = (other(swing[0]), other(swing[1]))
    bone = None if limit.bone is None else _vector(C, limit.bone)
    across = None if limit.side is None else _vector(C, limit.side)
    return JointLimit(swing, other(limit.twist), bone, across)
