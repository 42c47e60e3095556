"""The ground that feet stand on: what a crowd is told of it, and how all its feet ask for it in one call."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import MarrowError, ValidationError
from marrow.graph.ground_hits import GroundHits, GroundSurface
from marrow.graph.ground_mesh import GroundMesh
from marrow.graph.height_field import HeightField
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.mesh import Mesh

__all__ = ["Ground", "GroundLike", "checked_ground", "query_ground", "standing_height"]

Array = NDArray[Any]
STEP = 0.01
"""Metres to each side of a place where a function is asked as well, to know its slope."""
SMOOTH = 0.5
"""Slopes to both sides that differ by more have an edge between them."""


Ground = float | Array | HeightField | GroundMesh | GroundSurface | Callable[[Array], Any]
"""A height in the world for all, one per instance `(N,)`, a `HeightField`, a `GroundMesh`, what has a `query`, or a
function of places `(n, 2)` (x, z) that gives heights `(n,)`, or heights and normals `(n, 3)`."""
GroundLike = Ground | Mesh | Character | str | os.PathLike[str] | ArrayLike
"""What `animator.ground` takes: ground, or what a `GroundMesh` is made of."""


def checked_ground(ground: Any, count: int) -> Ground | None:
    """Ground as a user gives it, or an error."""
    if isinstance(ground, (Mesh, Character, str, os.PathLike)):
        try:
            return GroundMesh.of(ground)
        except MarrowError as error:
            raise ValidationError(f"ground: {error}") from error
    if ground is None or callable(ground) or isinstance(ground, GroundSurface):
        return ground
    expected = (
        f"a height, heights ({count},), a function of places (n, 2), a HeightField, a GroundMesh, or a Mesh, a "
        "Character or a file to make one of"
    )
    try:
        heights = np.asarray(ground, np.float64)
    except (TypeError, ValueError):
        raise ValidationError(f"ground: expected {expected}, got {_validate.shown(ground)}") from None
    if heights.ndim == 0:
        return float(heights)
    if heights.ndim == 2:
        raise ValidationError(
            f"ground: an array {heights.shape} does not say how far apart its heights are: use "
            "mw.HeightField(heights, spacing, origin)"
        )
    if heights.shape not in ((count,), (1,)):
        raise ValidationError(f"ground: expected {expected}, got an array {heights.shape}")
    return np.broadcast_to(heights, (count,)).copy()


def query_ground(
    ground: Ground | None,
    points: Array,
    reach: float,
    instances: Array,
    *,
    depth: float | None = None,
    normals: bool = True,
    threads: int = 1,
) -> GroundHits:
    """The highest ground that is at most `reach` above or below `points (N, 3)` in the world, which belong to
    `instances (N,)`. With `depth`, at most so far below: for all but a ground whose own `query` decides. A function is
    asked at the points alone where its `normals` are not wanted: all look up then."""
    if isinstance(ground, GroundMesh):
        return ground.query(points, reach, depth=depth, threads=threads)
    if isinstance(ground, HeightField):
        return ground.query(points, reach, depth=depth)
    if isinstance(ground, GroundSurface):
        return _checked_hits(_called(ground.query, points, reach), len(points))
    found = None
    if ground is None:
        heights = np.full(len(points), np.nan)
    elif isinstance(ground, float):
        heights = np.full(len(points), ground)
    elif isinstance(ground, np.ndarray):
        heights = ground[instances]
    else:
        heights, found = _function_heights(ground, points[:, [0, 2]], normals)
    with np.errstate(invalid="ignore"):
        over = heights - points[:, 1]
        return _finished(heights, found, (over <= reach) & (over >= -(reach if depth is None else depth)))


def standing_height(ground: Ground | None, point: Array, climb: float) -> float | None:
    """How high someone at `point (3,)` stands: on the highest ground that is, where ground may be above ground, no more
    than `climb` higher. None where there is none."""
    stacked = isinstance(ground, GroundSurface) and not isinstance(ground, HeightField)
    reach = climb if stacked else np.inf
    found = query_ground(ground, point[None], reach, np.zeros(1, int), depth=np.inf, normals=False)
    return float(found.heights[0]) if found.hit[0] else None


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise ValidationError(f"ground: the function failed: {type(error).__name__}: {error}") from error


def _function_heights(
    ground: Callable[[Array], Any], places: Array, normals: bool
) -> tuple[Array, Array | None]:
    """Heights and normals at `places (n, 2)`. A function that tells no normals is asked to all four sides as well."""
    n = len(places)
    around = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]] if normals else [[0, 0]]) * STEP
    asked = (places + around[:, None]).reshape(-1, 2)
    found, told = _called(ground, asked), None
    if isinstance(found, tuple) and len(found) == 2 and np.ndim(found[1]) == 2:
        found, told = found[0], _array(found[1], (len(asked), 3), "normals")[:n]
    h = _array(found, (len(asked),), "heights").reshape(-1, n)
    if told is not None or not normals:
        return h[0], told
    with np.errstate(all="ignore"):
        slopes = [
            _slope((h[k] - h[0]) / STEP, (h[0] - h[k + 1]) / STEP)
            for k in (1, 3)
        ]  # fmt: skip
    return h[0], np.stack([-slopes[0], np.ones(n), -slopes[1]], axis=1)


def _slope(ahead: Array, behind: Array) -> Array:
    """The slope of ground that rises so to both sides: their mean, or the flatter one where an edge is between."""
    flatter = np.where(~(np.abs(ahead) > np.abs(behind)), ahead, behind)
    flatter = np.where(np.isfinite(flatter), flatter, np.where(np.isfinite(ahead), ahead, behind))
    return np.where(np.abs(ahead - behind) <= SMOOTH, 0.5 * (ahead + behind), flatter)


def _array(found: Any, shape: tuple[int, ...], what: str) -> Array:
    try:
        numbers = np.asarray(found, np.float64)
    except (TypeError, ValueError):
        raise ValidationError(f"ground: expected {what} of shape {shape}, got {found!r}") from None
    if numbers.shape != shape:
        raise ValidationError(f"ground: expected {what} of shape {shape}, got {numbers.shape}")
    return numbers


def _checked_hits(found: Any, count: int) -> GroundHits:
    """What a query of someone else gave."""
    try:
        heights, normals, hit = found
    except (TypeError, ValueError):
        raise ValidationError(f"ground: query must return heights, normals and hit, got {found!r}") from None
    heights, normals = _array(heights, (count,), "heights"), _array(normals, (count, 3), "normals")
    return _finished(heights, normals, _array(hit, (count,), "hit") != 0)


def _finished(heights: Array, normals: Array | None, hit: Array) -> GroundHits:
    """Where there is no ground the height is unknown; where its slope is unknown it is level."""
    hit = hit & np.isfinite(heights)
    up = np.array([0.0, 1.0, 0.0])
    if normals is None:
        normals = np.broadcast_to(up, (len(hit), 3))
    else:
        with np.errstate(all="ignore"):
            x, y, z = normals.T
            normals = normals / np.sqrt(x * x + y * y + z * z)[:, None]
        normals = np.where((hit & np.isfinite(normals).all(axis=1))[:, None], normals, up)
    return GroundHits(np.where(hit, heights, np.nan), normals, hit)
