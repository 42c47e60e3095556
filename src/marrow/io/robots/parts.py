"""What robots are described by before they are characters: links with shapes, in the axes of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion

__all__ = ["Link", "Motor", "Shape", "turn_of_rpy"]

Array = NDArray[Any]
Color = tuple[float, float, float, float]
GREY: Color = (0.7, 0.7, 0.72, 1.0)


@dataclass
class Shape:
    """A piece of a link's surface: `kind` is box (half sizes), sphere (radius), cylinder and capsule (radius, half length
    along z), ellipsoid (radii) or mesh (`file`, `scale`)."""

    kind: str
    size: Array
    translation: Array
    rotation: Array
    color: Color = GREY
    file: str = ""
    scale: Array = field(default_factory=lambda: np.ones(3))
    visible: bool = True


@dataclass
class Motor:
    """What a link does against its parent: about (or along) an axis, in radians (or metres)."""

    name: str
    axis: Array
    lower: float = -math.inf
    upper: float = math.inf
    slides: bool = False


@dataclass
class Link:
    """A body with its place and turn (xyzw) against the parent; -1 is the world."""

    name: str
    parent: int
    translation: Array
    rotation: Array
    motor: Motor | None = None
    shapes: list[Shape] = field(default_factory=list)


def turn_of_rpy(roll: float, pitch: float, yaw: float) -> Array:
    """The rotation of URDF's angles: about x, then y, then z, all of them fixed axes."""
    x, y, z = (quaternion.from_axis_angle(axis, angle) for axis, angle in zip(np.eye(3), (roll, pitch, yaw)))
    return quaternion.multiply(z, quaternion.multiply(y, x))
