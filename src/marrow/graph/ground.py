"""The ground that feet stand on: what a crowd is told of it, and how all its feet ask for it in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.height_field import HeightField

__all__ = ["Ground", "GroundHits", "GroundSurface", "checked_ground", "query_ground"]

Array = NDArray[Any]
STEP = 0.01
"""Metres to each side of a place where a function is asked as well, to know its slope."""
SMOOTH = 0.5
"""Slopes to both sides that differ by more have an edge between them."""


class GroundHits(NamedTuple):
    """What is below points: `heights (N,)` in the world (NaN where there is none), unit `normals (N, 3)` that look up
    (straight up where there is none) and `hit (N,)`: whether there is ground."""

    heights: Array
    normals: Array
    hit: Array


@runtime_checkable
class GroundSurface(Protocol):
    """Ground of any kind: a physics engine, a voxel world. It is asked once a frame."""

    def query(self, points: Array, reach: float) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """For `points (N, 3)` in the world the highest ground that is at most `reach` above or below each:
        `heights (N,)`, `normals (N, 3)` and `hit (N,)`."""
        ...


Ground = float | Array | HeightField | GroundSurface | Callable[[Array], Any]
"""A height in the world for all, one per instance `(N,)`, a `HeightField`, what has a `query`, or a function of places
`(n, 2)` (x, z) that gives heights `(n,)`, or heights and normals `(n, 3)`."""


def checked_ground(ground: Any, count: int) -> Ground | None:
    """Ground as a user gives it, or an error."""
    if ground is None or callable(ground) or isinstance(ground, GroundSurface):
        return ground
    try:
        heights = np.asarray(ground, np.float64)
        if heights.ndim == 0:
            return float(heights)
        heights = np.broadcast_to(heights, (count,)).copy()
    except (TypeError, ValueError):
        raise ValidationError(
            f"ground: expected a height, heights ({count},), a HeightField or a function of places (n, 2), "
            f"got {ground!r}"
        ) from None
    return heights


def query_ground(
    ground: Ground | None, points: Array, reach: float, instances: Array, *, normals: bool = True
) -> GroundHits:
    """The highest ground that is at most `reach` above or below `points (N, 3)` in the world, which belong to
    `instances (N,)`. A function is asked once per point where its `normals` are not wanted: all look up then."""
    count = len(points)
    if ground is None:
        return _hits(np.full(count, np.nan), None, points, reach)
    if isinstance(ground, float):
        return _hits(np.full(count, ground), None, points, reach)
    if isinstance(ground, np.ndarray):
        return _hits(ground[instances], None, points, reach)
    if isinstance(ground, HeightField):
        height, across, along = ground.heights_and_slopes(points[:, [0, 2]])
        return _hits(height, np.stack([-across, np.ones(count), -along], axis=1), points, reach)
    if isinstance(ground, GroundSurface):
        return _checked_hits(_called(ground.query, points, reach), count)
    if not normals:
        found = _called(ground, points[:, [0, 2]])  # type: ignore[arg-type]
        if isinstance(found, tuple) and len(found) == 2 and np.ndim(found[1]) == 2:
            found = found[0]
        return _hits(_array(found, (count,), "heights"), None, points, reach)
    return _hits(*_function_heights(ground, points[:, [0, 2]]), points, reach)  # type: ignore[arg-type]


def _called(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise ValidationError(f"ground: the function failed: {type(error).__name__}: {error}") from error


def _function_heights(ground: Callable[[Array], Any], places: Array) -> tuple[Array, Array]:
    """Heights and normals at `places (n, 2)`. A function that tells no normals is asked to all four sides as well."""
    n = len(places)
    around = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) * STEP
    found = _called(ground, (places + around[:, None]).reshape(-1, 2))
    normals = None
    if isinstance(found, tuple) and len(found) == 2 and np.ndim(found[1]) == 2:
        found, normals = found
        normals = _array(normals, (5 * n, 3), "normals")[:n]
    h = _array(found, (5 * n,), "heights").reshape(5, n)
    if normals is not None:
        return h[0], normals
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


def _hits(heights: Array, normals: Array | None, points: Array, reach: float) -> GroundHits:
    """Ground that has one height at each place."""
    with np.errstate(invalid="ignore"):
        return _finished(heights, normals, np.abs(heights - points[:, 1]) <= reach)


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
