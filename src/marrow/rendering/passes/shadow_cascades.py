"""Where the map of shadows lies: fitted to what is seen, still while nothing but the picture moves.

The map is cut into cascades, each for a range of distances from the camera. A cascade covers what of its range can have
shadows: the part of the view, seen from the sun, in which casters are. Its size goes in steps and its place in whole
texels, so that edges do not crawl when the camera or the character moves a little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.model._derived import derived
from marrow.scene.bounding_boxes import BoundingBoxes
from marrow.scene.camera import Camera
from marrow.scene.frustum_culling import view_planes

__all__ = ["CascadeFit", "fit_cascades", "sun_axes"]

Array = NDArray[Any]
STEP = 1.2
"""Sizes of a cascade are powers of this."""
EDGE = 32
"""Texels around a cascade that filters may reach into."""
SUN_WIDTH, WIDEST = 0.028, 20.0
"""The angle that the sun's disc is wide, in radians, and the widest edge of a shadow in texels, as in shadow.wgsl."""
LEAST_EDGE = 1.0
"""How much of the widest edge, at least, the filter can reach across."""
SPLIT = 4.0
"""How many times farther a cascade ends than it begins before another one is worth it."""


@dataclass(frozen=True, eq=False)
class CascadeFit:
    """`matrix (4, 4)` brings places relative to the origin to the map (x, y, depth from 0 to 1); `texel` and `depth` are in
    metres. `casters (N,)` says which of all boxes it has to draw."""

    matrix: Array
    texel: float
    depth: float
    casters: Array


def sun_axes(direction: ArrayLike) -> Array:
    """Axes of the sun's view, `(3, 3)`: right, up, and away from it. They depend on nothing but its direction."""
    return _axes(*np.asarray(direction, np.float64).tolist())


@lru_cache(maxsize=16)
def _axes(*direction: float) -> Array:
    away = np.asarray(direction, np.float64) / np.linalg.norm(direction)
    side = np.array([0.0, 0.0, 1.0] if abs(away[1]) > 0.99 else [0.0, 1.0, 0.0])
    right = np.cross(away, side)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, away), away])


def fit_cascades(
    direction: Array,
    camera: Camera,
    boxes: BoundingBoxes,
    casts: Array | None = None,
    *,
    ground: float | None,
    resolution: int,
    most: int,
    origin: Array,
    softness: float = 1.0,
) -> list[CascadeFit]:
    """The cascades for N boxes in the world, of which some cast shadows (`casts (N,)`); nearest first."""
    axes = sun_axes(direction)
    swept, lengths = _swept(boxes, axes[2], ground)
    seen = swept.touching(view_planes(camera))
    if casts is not None:
        seen &= casts
    numbers = np.flatnonzero(seen)
    if not len(numbers):
        return []
    lengths, swept_middle, swept_reach = (
        lengths[numbers],
        swept.middle.take(numbers, 1),
        swept.reach.take(numbers, 1),
    )
    middle, reach = axes @ boxes.middle.take(numbers, 1), np.abs(axes) @ boxes.reach.take(numbers, 1)
    # One table to choose columns from: corners as the sun sees them, and lengths of shadows.
    table = np.concatenate([middle - reach, middle + reach, lengths[None]])
    low, high = table[:3], table[3:6]
    lines = _corner_lines(camera)
    sun_far = float((axes[2] @ swept_middle + np.abs(axes[2]) @ swept_reach).max())
    forward = -camera.view[2, :3]
    depth_middle, depth_reach = forward @ swept_middle - camera.view[2, 3], np.abs(forward) @ swept_reach
    nearest, farthest = float((depth_middle - depth_reach).min()), float((depth_middle + depth_reach).max())
    out = []
    for begin, end in _ranges(nearest, farthest, lines, camera, most):
        corners = np.concatenate([_at_depth(lines, begin), _at_depth(lines, end)]) @ axes.T
        (left, bottom), (right, top) = corners[:, :2].min(0).tolist(), corners[:, :2].max(0).tolist()
        touched = (high[0] >= left) & (high[1] >= bottom) & (low[0] <= right) & (low[1] <= top)
        some = table.take(np.flatnonzero(touched), 1)
        if not some.size:
            continue
        least, largest = some.min(1).tolist(), some.max(1).tolist()
        left, bottom = max(left, least[0]), max(bottom, least[1])
        right, top = min(right, largest[3]), min(top, largest[4])
        size = max(right - left, top - bottom) * resolution / (resolution - 2 * EDGE)
        # Texels so fine that the filter cannot reach across a soft edge would make edges hard up close.
        edge = SUN_WIDTH * softness * largest[6]
        size = max(size, resolution * LEAST_EDGE * edge / WIDEST, 1e-30)
        size = STEP ** math.ceil(math.log(size) / math.log(STEP))
        texel = size / resolution
        x, y = (round(v / texel) * texel for v in ((left + right) / 2, (bottom + top) / 2))
        # What has no size at all can fall out by rounding.
        inside = touched | (
            (high[0] >= x - size / 2)
            & (low[0] <= x + size / 2)
            & (high[1] >= y - size / 2)
            & (low[1] <= y + size / 2)
        )
        drawn = np.flatnonzero(inside)
        begin_z = float(low[2].take(drawn).min()) - texel
        depth = max(sun_far - begin_z, texel)
        matrix = np.zeros((4, 4))
        matrix[0, :3], matrix[0, 3] = axes[0] / size, (axes[0] @ origin - x) / size + 0.5
        matrix[1, :3], matrix[1, 3] = -axes[1] / size, (y - axes[1] @ origin) / size + 0.5
        matrix[2, :3], matrix[2, 3] = axes[2] / depth, (axes[2] @ origin - begin_z) / depth
        matrix[3, 3] = 1.0
        casters = np.zeros(boxes.middle.shape[1], bool)
        casters[numbers[drawn]] = True
        out.append(CascadeFit(matrix, texel, depth, casters))
    return out


def _swept(boxes: BoundingBoxes, away: Array, ground: float | None) -> tuple[BoundingBoxes, Array]:
    """Boxes with their shadows, as far as the ground, or as the farthest thing where there is none; and how far that is."""
    middle, reach = boxes.middle, boxes.reach
    if not boxes.sound:
        reach = np.where(boxes.there, reach, 0.0)
    if ground is not None and away[1] < -0.02:
        length = np.maximum(middle[1] + reach[1] - ground, 0.0) / -away[1]
    else:
        along, half = away @ middle, np.abs(away) @ reach
        length = float((along + half).max(initial=0.0)) - along + half
    way = length * (away / 2)[:, None]
    swept = reach + np.abs(way)
    if not boxes.sound:
        swept[:, ~boxes.there] = -np.inf
    return BoundingBoxes(middle + way, swept), length


def _corner_lines(camera: Camera) -> tuple[Array, Array, Array, Array]:
    lines: tuple[Array, Array, Array, Array] = derived(camera, "corners", lambda: _find_corners(camera))
    return lines


def _find_corners(camera: Camera) -> tuple[Array, Array, Array, Array]:
    """The four edges of what a camera sees: points on the near and on the far plane, and their distances from the eye."""
    whole = camera.projection @ np.vstack([camera.view, [0.0, 0.0, 0.0, 1.0]])
    back = np.linalg.inv(whole)
    found = []
    for z in (-1.0, 1.0):
        points = np.array([[x, y, z, 1.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]) @ back.T
        found.append(points[:, :3] / points[:, 3:])
    depth = [-(p @ camera.view[2, :3] + camera.view[2, 3]) for p in found]
    return found[0], found[1], depth[0], depth[1]


def _at_depth(lines: tuple[Array, Array, Array, Array], depth: float) -> Array:
    near, far, near_depth, far_depth = lines
    share = ((depth - near_depth) / (far_depth - near_depth))[:, None]
    return near + (far - near) * share


def _ranges(
    nearest: float, farthest: float, lines: tuple[Array, Array, Array, Array], camera: Camera, most: int
) -> list[tuple[float, float]]:
    """Ranges of depth, nearest first: equal steps of distance would waste the map on what is far."""
    near_depth, far_depth = (float(d.min()) for d in lines[2:])
    begin, end = max(nearest, near_depth), min(farthest, far_depth)
    if not end > begin:
        return [(begin, begin)]
    if camera.projection[3, 3] != 0:  # orthographic: all is as large as it is near
        return [(begin, end)]
    begin = max(begin, end * 1e-3)
    count = min(most, max(1, math.ceil(math.log(end / begin) / math.log(SPLIT))))
    edges = begin * (end / begin) ** (np.arange(count + 1) / count)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist()))
