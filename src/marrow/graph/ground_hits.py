"""What the ground is asked and answers, and what may be one."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate

__all__ = ["GroundHits", "GroundSurface", "checked_query"]

Array = NDArray[Any]


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


def checked_query(
    who: str, points: ArrayLike, reach: float, depth: float | None
) -> tuple[Array, float, float]:
    """Points `(N, 3)` as they were given to a query, and how far above and below them there may be ground."""
    above = _validate.number(who, "reach", reach, low=0, finite=False)
    below = above if depth is None else _validate.number(who, "depth", depth, low=0, finite=False)
    places = np.asarray(_validate.numbers(f"{who}.points", points), np.float64)
    if places.ndim != 2 or places.shape[1] != 3:
        raise ValidationError(f"{who}.points: expected (N, 3), got {places.shape}")
    return places, above, below
