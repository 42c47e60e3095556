"""Cameras by name: where one has to stand to see all of something, and no more.

An azimuth of 0 looks a character in the face (it faces +Z), a quarter turn sees its left side (+X); an elevation of a
quarter turn looks down. Names and text are in degrees, as people type them; numbers are radians, as everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.model import _validate
from marrow.scene.camera import Camera

__all__ = ["CAMERAS", "Direction", "aim", "direction_of", "edges", "fit", "fit_orbit"]

Array = NDArray[Any]
FOV = math.radians(30)
"""From top to bottom: as a portrait lens sees, so that what is near looks no larger than it is."""
MARGIN = 1.12
"""How much more than the thing itself is seen."""
STEPS = 24
"""Places on its way round that a camera is tried at."""
SLOPES = (1.0, 0.6, 0.25)
"""Parts of a picture's half width and height: points at the edge of what is seen lie in one of these."""
LEAST = 1e-9
"""Metres: what is smaller is a point, and is seen from a metre away."""


@dataclass(frozen=True)
class Direction:
    """From where something is seen: radians around it and above it, and how near: 2 shows it twice as large."""

    azimuth: float
    elevation: float
    zoom: float = 1.0
    turns: bool = False
    """Whether it goes round once in the time of a video."""

    @property
    def back(self) -> Array:
        """From the thing to the camera, `(3,)`, of length 1."""
        a, e = self.azimuth, self.elevation
        return np.array([math.sin(a) * math.cos(e), math.sin(e), math.cos(a) * math.cos(e)])

    def turned(self, angle: float) -> Direction:
        """The direction that far further round."""
        return Direction(self.azimuth + angle, self.elevation, self.zoom)

    def round(self) -> Direction:
        """The direction a camera begins in that goes round."""
        return Direction(self.azimuth, self.elevation, self.zoom, turns=True)


def _degrees(azimuth: float, elevation: float, turns: bool = False) -> Direction:
    return Direction(math.radians(azimuth), math.radians(elevation), turns=turns)


CAMERAS = {
    "front": _degrees(0, 5),
    "back": _degrees(180, 5),
    "side": _degrees(-90, 5),
    "left": _degrees(90, 5),
    "right": _degrees(-90, 5),
    "three-quarter": _degrees(-35, 12),
    "top": _degrees(0, 89.9),
    "orbit": _degrees(-35, 12, turns=True),
}
"""Cameras that have a name. `side` is the one a walk goes from left to right in."""


def direction_of(camera: str | Sequence[float] | Direction) -> Direction:
    """A camera by its name, by `"AZIMUTH,ELEVATION"` or `"AZIMUTH,ELEVATION,ZOOM"` in degrees, or by numbers in radians."""
    if isinstance(camera, Direction):
        return camera
    if isinstance(camera, str) and camera in CAMERAS:
        return CAMERAS[camera]
    parts = camera.split(",") if isinstance(camera, str) else camera
    try:
        values = [float(part) for part in parts]
    except (TypeError, ValueError):
        if isinstance(camera, str):
            raise UnknownNameError("camera", camera, (*CAMERAS, "AZIMUTH,ELEVATION")) from None
        values = []
    if len(values) not in (2, 3) or not all(map(math.isfinite, values)) or (values[2:] and values[2] <= 0):
        raise ValidationError(
            f"camera: expected {', '.join(CAMERAS)}, a Camera, or text with degrees around and above, '45,20' (how near "
            f"after them, '45,20,1.5'), got {_validate.shown(camera)}"
        )
    azimuth, elevation, zoom = (*values, 1.0)[:3]
    if isinstance(camera, str):
        if abs(elevation) > 90:
            raise ValidationError(f"camera: the elevation goes from -90 to 90 degrees, got {elevation:g}")
        azimuth, elevation = math.radians(azimuth), math.radians(elevation)
    else:
        azimuth = _validate.angle("camera.azimuth", azimuth, -math.tau, math.tau)
        elevation = _validate.angle("camera.elevation", elevation, -math.pi / 2, math.pi / 2)
    return Direction(azimuth, elevation, zoom)


def aim(direction: Direction, target: Array, distance: float, radius: float, size: tuple[int, int]) -> Camera:
    """The camera that looks at `target` from a direction and `distance`; it sees what is around it up to `radius`, and the
    ground far behind."""
    near = distance / 200  # the ground before a crowd is seen too
    width, height = size
    return Camera.perspective(
        target + distance * direction.back,
        target,
        fov=FOV,
        width=width,
        height=height,
        near=near,
        far=distance + 200 * max(radius, distance),
    )


def _axes(direction: Direction) -> Array:
    """Right, up and back of a camera, as rows."""
    back = direction.back
    right = np.cross((0.0, 1.0, 0.0), back)
    length = float(np.linalg.norm(right))
    right = right / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(back, right), back])


def _slopes(size: tuple[int, int], zoom: float) -> tuple[float, float]:
    """How far right and up the picture reaches per metre of distance, with the margin taken off."""
    up = zoom * math.tan(FOV / 2) / MARGIN
    return up * size[0] / size[1], up


def _spread(points: Array) -> tuple[Array, float]:
    """Middle and radius of points `(n, 3)`; those that are no numbers do not count."""
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2, float(np.linalg.norm(high - low)) / 2


def _seen(points: Array) -> Array:
    points = np.asarray(points, np.float64).reshape(-1, 3)
    points = points[np.isfinite(points).all(axis=1)]
    return points if len(points) else np.zeros((1, 3))


def edges(camera: str | Sequence[float] | Direction | Camera, size: tuple[int, int]) -> Array:
    """Directions `(d, 3)`: the points that are furthest in them are all that `fit` and `fit_orbit` look at."""
    if isinstance(camera, Camera):
        return np.zeros((0, 3))
    direction = direction_of(camera)
    across, up = _slopes(size, direction.zoom)
    found = []
    for k in range(STEPS if direction.turns else 1):
        right, above, back = _axes(direction.turned(math.tau * k / STEPS))
        for part in SLOPES:
            found += [side * right + part * across * back for side in (1, -1)]
            found += [side * above + part * up * back for side in (1, -1)]
    return np.array(found)


def fit(points: Array, direction: Direction, size: tuple[int, int]) -> Camera:
    """The nearest camera in that direction that sees all `points (n, 3)`.

    A point at `(x, y, z)` along right, up and back of a camera at `(cx, cy, cz)` is in the picture while
    `|x - cx| <= s (cz - z)`: the largest of `x + s z` and of `-x + s z` say how near the camera may be, and where between.
    """
    points = _seen(points)
    middle, radius = _spread(points)
    if radius < LEAST:
        return aim(direction, middle, 1.0, 0.5, size)
    axes = _axes(direction)
    x, y, z = axes @ (points - middle).T / radius
    distance = 0.0
    for along, slope in zip((x, y), _slopes(size, direction.zoom)):
        high, low = float((along + slope * z).max()), float((slope * z - along).max())
        distance = max(distance, (high + low) / (2 * slope))
    place = [_centred(along, distance - z) for along in (x, y)]
    target = middle + radius * (place[0] * axes[0] + place[1] * axes[1])
    return aim(direction, target, radius * distance, radius, size)


def _centred(along: Array, depth: Array) -> float:
    """Where a camera has to look so that what is `along` to its side, `depth` before it, has as much room on both sides."""
    low, high = float(along.min()), float(along.max())
    for _ in range(40):
        middle = (low + high) / 2
        seen = (along - middle) / depth
        if seen.max() > -seen.min():
            low = middle
        else:
            high = middle
    return (low + high) / 2


def fit_orbit(points: Array, direction: Direction, size: tuple[int, int]) -> tuple[Array, float, float]:
    """What a camera looks at that goes round all `points`, from how far, and their radius: it never has to come nearer, or
    look elsewhere."""
    points = _seen(points)
    middle, radius = _spread(points)
    if radius < LEAST:
        return middle, 1.0, 0.5
    low = high = -math.inf
    distance = 0.0
    across, up = _slopes(size, direction.zoom)
    for k in range(STEPS):
        x, y, z = _axes(direction.turned(math.tau * k / STEPS)) @ (points - middle).T / radius
        distance = max(distance, float((np.abs(x) / across + z).max()))
        high, low = max(high, float((y + up * z).max())), max(low, float((up * z - y).max()))
    distance = max(distance, (high + low) / (2 * up))
    # It aims higher or lower along the axis, by what "up" in the picture is of the world's.
    lift = (high - low) / 2 * max(math.cos(direction.elevation), 0.2)
    return middle + np.array([0.0, radius * lift, 0.0]), radius * distance, radius
