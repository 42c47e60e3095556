"""What lamps see: a view for each spot light, six for each point light, drawn into layers of the map of shadows behind
those of the sun."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.scene.bounding_boxes import BoundingBoxes
from marrow.scene.lights import DirectionalLight, Light, PointLight, SpotLight

__all__ = ["MOST_VIEWS", "LampView", "lamp_reach", "lamp_views"]

Array = NDArray[Any]
MOST_VIEWS = 16
WIDER = 1.04
"""How much more than its side of a cube, or its cone, a view shows: filters reach across the edge."""
NEAR = 0.01
"""Where a view begins, as a part of the lamp's reach."""
LEAST = 1e-3
"""Lamps without a range end where they give this much: less than a step of eight bits."""
_SIDES = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], np.float64)


@dataclass(frozen=True, eq=False)
class LampView:
    """`matrix (4, 4)` brings places relative to the origin to clip space; `slope` is half its width a metre away, `texel`
    in metres at its lamp's middle reach; `casters (N,)` says which of all boxes it has to draw."""

    light: Light
    matrix: Array
    slope: float
    texel: float
    casters: Array


def lamp_reach(light: PointLight | SpotLight) -> float:
    """How far a lamp shines, in metres."""
    return light.range or math.sqrt(max(light.color) * light.intensity / LEAST)


def lamp_views(
    lights: Sequence[Light], boxes: BoundingBoxes, casts: Array | None, origin: Array, resolution: int
) -> list[LampView]:
    """The views of all lamps that cast shadows, one after the other."""
    out: list[LampView] = []
    for light in lights:
        if (
            isinstance(light, DirectionalLight)
            or not light.shadows
            or light.intensity * max(light.color) <= 0
        ):
            continue
        place, reach = np.array(light.position), lamp_reach(light)
        gap = np.maximum(np.abs(boxes.middle - place[:, None]) - boxes.reach, 0.0)
        near = np.isfinite(boxes.reach).all(0) & ((gap * gap).sum(0) <= reach * reach)
        if casts is not None:
            near &= casts
        spot = isinstance(light, SpotLight)
        slope = WIDER * math.tan(min(light.outer, 1.45)) if isinstance(light, SpotLight) else WIDER
        ways = np.array([light.direction]) if isinstance(light, SpotLight) else _SIDES
        texel = 2 * slope * 0.5 * reach / resolution
        for way in ways:
            matrix = _looking(place - origin, way, slope, NEAR * reach, 1.05 * reach)
            out.append(
                LampView(light, matrix, slope, texel, near if spot else near & _before(boxes, place, way))
            )
    if len(out) > MOST_VIEWS:
        raise ValidationError(
            f"lamps that cast shadows take {len(out)} maps, a SpotLight one and a PointLight six: at most {MOST_VIEWS} are "
            "drawn; give shadows=False to some"
        )
    return out


def _before(boxes: BoundingBoxes, place: Array, way: Array) -> Array:
    """Which boxes reach before a side of the cube around a place."""
    high = way @ (boxes.middle - place[:, None]) + np.abs(way) @ np.where(
        np.isfinite(boxes.reach), boxes.reach, 0.0
    )
    return np.asarray(high > 0)


def _looking(place: Array, way: Array, slope: float, near: float, far: float) -> Array:
    """A perspective from a place along a way; depth goes from 0 to 1."""
    way = way / np.linalg.norm(way)
    side = np.array([0.0, 0.0, 1.0] if abs(way[1]) > 0.9 else [0.0, 1.0, 0.0])
    right = np.cross(way, side)
    right /= np.linalg.norm(right)
    up = np.cross(right, way)
    turn = np.stack([right, up, way])
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = turn, -turn @ place
    lens = np.zeros((4, 4))
    lens[0, 0] = lens[1, 1] = 1 / slope
    lens[2, 2], lens[2, 3] = far / (far - near), -near * far / (far - near)
    lens[3, 2] = 1.0
    return np.asarray(lens @ view)
