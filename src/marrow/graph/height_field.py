"""`HeightField`: ground from an array of heights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.ground_hits import GroundHits, checked_query
from marrow.kernels.height_fields import field_below
from marrow.model import _validate

__all__ = ["HeightField"]

Array = NDArray[Any]


class HeightField:
    """Ground from an array of `heights (R, C)`: row r, column c is the height at `x = origin[0] + c * spacing`,
    `z = origin[1] + r * spacing`, straight in between. Outside, the nearest edge counts. A height that is NaN is a hole
    as far as the points next to it."""

    def __init__(self, heights: ArrayLike, spacing: float, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self.heights = np.array(_validate.numbers("HeightField.heights", heights), np.float64, order="C")
        if self.heights.ndim != 2 or min(self.heights.shape) < 2:
            raise ValidationError(
                f"HeightField: expected heights (R, C) of at least 2 by 2, got {self.heights.shape}"
            )
        self.spacing = _validate.number("HeightField", "spacing", spacing, low=0, above=True)
        self.origin = np.asarray(_validate.numbers("HeightField.origin", origin), np.float64)
        if self.origin.shape != (2,) or not np.isfinite(self.origin).all():
            raise ValidationError(f"HeightField: origin must be (x, z), got {_validate.shown(origin)}")

    def __call__(self, places: ArrayLike) -> Array:
        """The heights `(n,)` at `places (n, 2)`, x and z."""
        asked = np.asarray(_validate.numbers("HeightField", places), np.float64)
        if asked.ndim != 2 or asked.shape[1] != 2:
            raise ValidationError(f"HeightField: expected places (n, 2), got {asked.shape}")
        points = np.stack([asked[:, 0], np.zeros(len(asked)), asked[:, 1]], axis=1)
        return self.query(points, np.inf).heights

    def query(self, points: ArrayLike, reach: float, *, depth: float | None = None) -> GroundHits:
        """The ground that is at most `reach` above and `depth` (left out: `reach`) below `points (N, 3)` in the world, with
        the normals of its cells."""
        places, above, below = checked_query("HeightField.query", points, reach, depth)
        count = len(places)
        heights, normals, hit = np.empty(count), np.empty((count, 3)), np.empty(count, np.uint8)
        x, z = self.origin.tolist()
        field_below(
            self.heights,
            np.ascontiguousarray(places),
            heights,
            normals,
            hit,
            x,
            z,
            self.spacing,
            above,
            below,
        )
        return GroundHits(heights, normals, hit.view(np.bool_))
