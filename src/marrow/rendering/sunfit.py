"""Where the map of shadows lies: fitted to what is seen, still while nothing but the picture moves.

The map is cut into cascades, each for a range of distances from the camera. A cascade covers what of its range can have
shadows: the part of the view, seen from the sun, in which casters are. Its size goes in steps and its place in whole
texels, so that edges do not crawl when the camera or the character moves a little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.lod.camera import Camera
from marrow.rendering.culling import in_view, view_planes

__all__ = ["CascadeFit", "fit_cascades", "sun_axes"]

Array = NDArray[Any]
STEP = 1.2
"""Sizes of a cascade are powers of this."""
EDGE = 28
"""Texels around a cascade that filters may reach into."""
SUN_WIDTH, WIDEST = 0.028, 12.0
"""The angle that the sun's disc is wide, in radians, and the widest edge of a shadow in texels, as in shadow.wgsl."""
LEAST_EDGE = 0.35
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


def sun_axes(direction: Array) -> Array:
    """Axes of the sun's view, `(3, 3)`: right, up, and away from it. They depend on nothing but its direction."""
    away = np.asarray(direction, np.float64) / np.linalg.norm(direction)
    side = np.array([0.0, 0.0, 1.0] if abs(away[1]) > 0.99 else [0.0, 1.0, 0.0])
    right = np.cross(away, side)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, away), away])


def fit_cascades(
    direction: Array,
    camera: Camera,
    low: Array,
    high: Array,
    casts: Array,
    *,
    ground: float | None,
    resolution: int,
    most: int,
    origin: Array,
    softness: float = 1.0,
) -> list[CascadeFit]:
    """The cascades for boxes `low`, `high (N, 3)` in the world, of which some cast shadows; nearest first."""
    axes = sun_axes(direction)
    there = casts & (low <= high).all(1)
    if not there.any():
        return []
    center, half = (low[there] + high[there]) / 2, (high[there] - low[there]) / 2
    middle, reach = center @ axes.T, half @ np.abs(axes).T
    swept_low, swept_high, lengths = _swept(low[there], high[there], axes, middle, reach, ground)
    seen = in_view(view_planes(camera), swept_low, swept_high)
    if not seen.any():
        return []
    middle, reach = middle[seen], reach[seen]
    swept_low, swept_high, lengths = swept_low[seen], swept_high[seen], lengths[seen]
    numbers = np.flatnonzero(there)[seen]
    nearest, farthest = _depths(camera, swept_low, swept_high)
    lines = _corner_lines(camera)
    sun_far = float(
        (((swept_low + swept_high) / 2) @ axes[2] + ((swept_high - swept_low) / 2) @ np.abs(axes[2])).max()
    )
    out = []
    for begin, end in _ranges(nearest, farthest, camera, most):
        corners = np.concatenate([_at_depth(lines, begin), _at_depth(lines, end)]) @ axes.T
        view_low, view_high = corners[:, :2].min(0), corners[:, :2].max(0)
        touched = (middle[:, :2] + reach[:, :2] >= view_low).all(1) & (
            middle[:, :2] - reach[:, :2] <= view_high
        ).all(1)
        if not touched.any():
            continue
        box_low = np.maximum((middle - reach)[touched, :2].min(0), view_low)
        box_high = np.minimum((middle + reach)[touched, :2].max(0), view_high)
        size = float((box_high - box_low).max()) * resolution / (resolution - 2 * EDGE)
        # Texels so fine that the filter cannot reach across a soft edge would make edges hard up close.
        edge = SUN_WIDTH * softness * float(lengths[touched].max())
        size = max(size, resolution * LEAST_EDGE * edge / WIDEST)
        size = STEP ** math.ceil(math.log(max(size, 1e-30)) / math.log(STEP))
        texel = size / resolution
        at = np.round((box_low + box_high) / 2 / texel) * texel
        # What has no size at all can fall out by rounding.
        inside = touched | (np.abs(middle[:, :2] - at) <= reach[:, :2] + size / 2).all(1)
        begin_z = float((middle - reach)[inside, 2].min()) - texel
        depth = max(sun_far - begin_z, texel)
        matrix = np.zeros((4, 4))
        matrix[0, :3], matrix[0, 3] = axes[0] / size, (axes[0] @ origin - at[0]) / size + 0.5
        matrix[1, :3], matrix[1, 3] = -axes[1] / size, (at[1] - axes[1] @ origin) / size + 0.5
        matrix[2, :3], matrix[2, 3] = axes[2] / depth, (axes[2] @ origin - begin_z) / depth
        matrix[3, 3] = 1.0
        casters = np.zeros(len(low), bool)
        casters[numbers[inside]] = True
        out.append(CascadeFit(matrix, texel, depth, casters))
    return out


def _swept(
    low: Array, high: Array, axes: Array, middle: Array, reach: Array, ground: float | None
) -> tuple[Array, Array, Array]:
    """Boxes with their shadows, as far as the ground, or as the farthest thing where there is none; and how far that is."""
    away = axes[2]
    if ground is not None and away[1] < -0.02:
        length = np.maximum(high[:, 1] - ground, 0.0) / -away[1]
    else:
        length = float((middle + reach)[:, 2].max()) - (middle - reach)[:, 2]
    way = length[:, None] * away
    return np.minimum(low, low + way), np.maximum(high, high + way), length


def _depths(camera: Camera, low: Array, high: Array) -> tuple[float, float]:
    """How near and how far boxes are, along the way the camera looks."""
    forward = -camera.view[2, :3]
    middle, reach = ((low + high) / 2) @ forward - camera.view[2, 3], ((high - low) / 2) @ np.abs(forward)
    return float((middle - reach).min()), float((middle + reach).max())


def _corner_lines(camera: Camera) -> tuple[Array, Array, Array, Array]:
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


def _ranges(nearest: float, farthest: float, camera: Camera, most: int) -> list[tuple[float, float]]:
    """Ranges of depth, nearest first: equal steps of distance would waste the map on what is far."""
    near_depth, far_depth = (float(d.min()) for d in _corner_lines(camera)[2:])
    begin, end = max(nearest, near_depth), min(farthest, far_depth)
    if not end > begin:
        return [(begin, begin)]
    if camera.projection[3, 3] != 0:  # orthographic: all is as large as it is near
        return [(begin, end)]
    begin = max(begin, end * 1e-3)
    count = min(most, max(1, math.ceil(math.log(end / begin) / math.log(SPLIT))))
    edges = begin * (end / begin) ** (np.arange(count + 1) / count)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist()))
