"""Cameras and lights in another space (see `marrow.io.axes`): which way they look, and their lengths."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Curve, JointCamera, JointLight
from marrow.model.joint_camera import CAMERA_LENGTHS, LIGHT_LENGTHS, curve_parts, resized

__all__ = ["resized_curves", "turned_placed"]

Array = NDArray[Any]
Placed = TypeVar("Placed", JointCamera, JointLight)


def turned_placed(placed: Iterable[Placed], C: Array, s: float) -> tuple[Placed, ...]:
    """Cameras or lights where `p' = s C p`: each still looks where it looked, and its up is still up."""
    C = np.asarray(C, np.float64)
    out = []
    for one in resized(placed, s) if s != 1 else placed:
        frame = C @ quaternion.to_matrix(np.array(one.rotation))
        frame[:, 0] = np.cross(
            frame[:, 1], frame[:, 2]
        )  # where C mirrors: a picture has its right on the right
        x, y, z, w = (float(v) for v in quaternion.from_matrix(frame))
        out.append(replace(one, rotation=(x, y, z, w)))
    return tuple(out)


def resized_curves(curves: Iterable[Curve], s: float) -> tuple[Curve, ...]:
    """Curves of a clip, where those that are lengths of cameras and lights are multiplied."""

    def is_length(curve: Curve) -> bool:
        parts = curve_parts(curve.name)
        return parts is not None and parts[2] in (CAMERA_LENGTHS if parts[0] == "camera" else LIGHT_LENGTHS)

    return tuple(
        curve.replace(values=curve.values * np.float32(s)) if is_length(curve) else curve for curve in curves
    )
