"""`HeightField`: ground from an array of heights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate

__all__ = ["HeightField"]

Array = NDArray[Any]


class HeightField:
    """Ground from an array of `heights (R, C)`: row r, column c is the height at `x = origin[0] + c * spacing`,
    `z = origin[1] + r * spacing`, straight in between. Outside, the nearest edge counts. A height that is NaN is a hole
    as far as the points next to it."""

    def __init__(self, heights: ArrayLike, spacing: float, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self.heights = np.asarray(_validate.numbers("HeightField.heights", heights), np.float64)
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
        return self.heights_and_slopes(asked)[0]

    def heights_and_slopes(self, places: Array) -> tuple[Array, Array, Array]:
        """The heights at `places (n, 2)`, and how they rise along x and along z, each `(n,)`."""
        R, C = self.heights.shape
        at = (places - self.origin) / self.spacing
        known = np.isfinite(at[:, 0]) & np.isfinite(at[:, 1])
        at = np.where(known[:, None], at, 0.0)
        c, r = np.clip(at[:, 0], 0, C - 1), np.clip(at[:, 1], 0, R - 1)
        c0, r0 = np.minimum(c.astype(int), C - 2), np.minimum(r.astype(int), R - 2)
        s, t = c - c0, r - r0
        h = self.heights.ravel()
        at00 = r0 * C + c0
        h00, h01, h10, h11 = h[at00], h[at00 + 1], h[at00 + C], h[at00 + C + 1]
        near, far = h00 + s * (h01 - h00), h10 + s * (h11 - h10)
        height = np.where(known, near + t * (far - near), np.nan)
        across = ((h01 - h00) + t * ((h11 - h10) - (h01 - h00))) / self.spacing
        along = (far - near) / self.spacing
        return height, np.where(c == at[:, 0], across, 0.0), np.where(r == at[:, 1], along, 0.0)
