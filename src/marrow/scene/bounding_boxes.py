"""`BoundingBoxes`: boxes around instances in the world, kept coordinate by coordinate, as quick arithmetic wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property

__all__ = ["BoundingBoxes"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class BoundingBoxes:
    """`middle (3, N)` and `reach (3, N)`, how far a box goes from there to each side: minus infinity for one that holds
    nothing. `low` and `high (N, 3)` are the same as corners, low above high where there is nothing."""

    middle: Array
    reach: Array

    @classmethod
    def of(cls, low: ArrayLike, high: ArrayLike) -> BoundingBoxes:
        """Boxes from corners `(N, 3)`."""
        a, b = (np.atleast_2d(np.asarray(v, np.float64)).T for v in (low, high))
        with np.errstate(invalid="ignore"):
            reach = np.where((a <= b).all(0), (b - a) / 2, -np.inf)
            return cls(np.where(np.isfinite(reach), (a + b) / 2, 0.0), reach)

    @classmethod
    def carried(cls, world: Array, center: Array, half: Array) -> tuple[BoundingBoxes, Array | None]:
        """Boxes around boxes with `center`, `half (N or 1, 3)` that `world (N, 3, 4)` carries off; and which of these
        mirror, `(N,)`, None where none does."""
        columns = np.ascontiguousarray(world.reshape(-1, 12).T)
        at, size = np.ascontiguousarray(center.T), np.ascontiguousarray(half.T)
        middle, reach = np.empty((3, len(world))), np.empty((3, len(world)))
        with np.errstate(invalid="ignore", over="ignore"):
            for i in range(3):
                x, y, z, t = columns[4 * i : 4 * i + 4]
                middle[i] = x * at[0] + y * at[1] + z * at[2] + t
                reach[i] = np.abs(x) * size[0] + np.abs(y) * size[1] + np.abs(z) * size[2]
            # One sum tells whether all are sound; which are not is asked when it does not.
            if not np.isfinite(middle.sum() + reach.sum()) or size.min(initial=0.0) < 0:
                bad = ~(np.isfinite(middle).all(0) & np.isfinite(reach).all(0) & (size >= 0).all(0))
                middle[:, bad], reach[:, bad] = 0.0, -np.inf
            a, b, c, _, d, e, f, _, g, h, i, _ = columns
            mirrored = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) < 0
        return cls(middle, reach), mirrored if mirrored.any() else None

    @staticmethod
    def joined(parts: list[BoundingBoxes]) -> BoundingBoxes:
        """The boxes of all parts, one after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return BoundingBoxes(np.zeros((3, 0)), np.zeros((3, 0)))
        return BoundingBoxes(
            np.concatenate([p.middle for p in parts], 1), np.concatenate([p.reach for p in parts], 1)
        )

    @cached_property
    def there(self) -> Array:
        """Which boxes hold something, `(N,)`."""
        return np.asarray(self.reach[0] >= 0)

    @cached_property
    def low(self) -> Array:
        return (self.middle - self.reach).T

    @cached_property
    def high(self) -> Array:
        return (self.middle + self.reach).T

    def touching(self, planes: Array) -> Array:
        """Which boxes touch what lies inside all planes `(K, 4)`, where `plane . (x, y, z, 1) >= 0`: `(N,)` bool."""
        reach = self.reach if self.sound else np.where(self.there, self.reach, 0.0)
        far = planes[:, :3] @ self.middle + np.abs(planes[:, :3]) @ reach + planes[:, 3:]
        inside = far.min(0) >= 0
        return np.asarray(inside if self.sound else inside & self.there)

    @cached_property
    def sound(self) -> bool:
        """Whether all boxes hold something."""
        return bool(self.there.all())

    def extent(self) -> tuple[Array, Array] | None:
        """Low and high corner of all together; None where there is nothing."""
        if not self.there.any():
            return None
        return (self.middle - self.reach).min(1), (self.middle + self.reach).max(1)
