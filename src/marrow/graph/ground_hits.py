"""What the ground answers, and what may be one."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from numpy.typing import ArrayLike, NDArray

__all__ = ["GroundHits", "GroundSurface"]

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
