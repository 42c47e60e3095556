"""The ground that feet stand on: what a crowd is told of it, and how it is asked for below the feet of its poses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels.joint_positions import joint_positions
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["Ground", "GroundEntry", "HeightField", "ask_ground", "checked_ground"]

Array = NDArray[Any]
Ground = float | Array | Callable[[Array], ArrayLike]
"""Heights in the world: one for all, one per instance `(N,)`, or a function of places `(n, 2)` (x, z) that gives `(n,)`."""
STEP = 0.06
"""Metres to each side of a foot where the ground is asked for as well, to know its slope."""


class HeightField:
    """Ground from an array of `heights (R, C)`: row r, column c is the height at `x = origin[0] + c * spacing`,
    `z = origin[1] + r * spacing`, straight in between. Outside, the nearest edge counts."""

    def __init__(self, heights: ArrayLike, spacing: float, origin: tuple[float, float] = (0.0, 0.0)) -> None:
        self.heights = np.asarray(heights, np.float64)
        if self.heights.ndim != 2 or min(self.heights.shape) < 2:
            raise ValidationError(
                f"HeightField: expected heights (R, C) of at least 2 by 2, got {self.heights.shape}"
            )
        if not (np.isfinite(spacing) and spacing > 0):
            raise ValidationError(f"HeightField: spacing must be more than zero, got {spacing}")
        self.spacing, self.origin = float(spacing), np.asarray(origin, np.float64)
        if self.origin.shape != (2,) or not np.isfinite(self.origin).all():
            raise ValidationError(f"HeightField: origin must be (x, z), got {origin!r}")

    def __call__(self, places: Array) -> Array:
        R, C = self.heights.shape
        at = (np.asarray(places, np.float64) - self.origin) / self.spacing
        c, r = np.clip(at[:, 0], 0, C - 1), np.clip(at[:, 1], 0, R - 1)
        c0, r0 = np.minimum(c.astype(int), C - 2), np.minimum(r.astype(int), R - 2)
        s, t = c - c0, r - r0
        h = self.heights
        near = h[r0, c0] + s * (h[r0, c0 + 1] - h[r0, c0])
        far = h[r0 + 1, c0] + s * (h[r0 + 1, c0 + 1] - h[r0 + 1, c0])
        return near + t * (far - near)


@dataclass(frozen=True)
class GroundEntry:
    """Where a graph asks for the ground: the joints that are feet, and the column of the vectors where the height and
    the normal below the first of them go; those of the next are `stride` columns on."""

    feet: tuple[int, ...]
    column: int
    stride: int


def checked_ground(ground: Any, count: int) -> Ground | None:
    """Ground as a user gives it, or an error."""
    if ground is None or callable(ground):
        return ground  # type: ignore[no-any-return]
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


def _heights(ground: Ground | None, places: Array, who: Array) -> Array:
    """The heights at `places (n, 2)`, of the instances `who (n,)`; NaN where there is no ground."""
    if ground is None:
        return np.full(len(places), np.nan)
    if isinstance(ground, float):
        return np.full(len(places), ground)
    if not callable(ground):
        return ground[who]
    try:
        found = np.asarray(ground(places), np.float64)
    except Exception as error:
        raise ValidationError(f"ground: the function failed: {type(error).__name__}: {error}") from error
    if found.shape != (len(places),):
        raise ValidationError(f"ground: expected heights of shape ({len(places)},), got {found.shape}")
    return found


def ask_ground(control: GraphControl, entry: GroundEntry, instances: Array, rows: Array) -> None:
    """Puts the height and the normal of the ground below the feet of pose rows `(n, size)`, in model space, where the
    programs of the instances look for them."""
    bank, n, F = control.compiled.bank, len(instances), len(entry.feet)
    local = np.empty(n * F * 3)
    joint_positions(rows, bank.skeleton.parents, np.array(entry.feet, np.int64), local, bank.layout.joints)
    place = np.repeat(control.state.place[instances], F, axis=0)
    feet = quaternion.rotate(place[:, 3:], local.reshape(-1, 3)) + place[:, :3]
    around = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]) * STEP
    places = (feet[None][..., [0, 2]] + around[:, None]).reshape(-1, 2)
    h = _heights(control.store.ground, places, np.tile(np.repeat(instances, F), 5)).reshape(5, n * F)
    with np.errstate(all="ignore"):
        across, along = (h[2] - h[1]) / (2 * STEP), (h[4] - h[3]) / (2 * STEP)
        normal = np.stack([across, np.ones(n * F), along], axis=1)
        normal = normal / np.sqrt((normal * normal).sum(-1, keepdims=True))
    # Where the slope is unknown, as at the edge of a hole, the ground is level.
    normal = np.where(np.isfinite(normal).all(-1, keepdims=True), normal, [0.0, 1.0, 0.0])
    normal = quaternion.rotate(quaternion.conjugate(place[:, 3:]), normal).reshape(n, F, 3)
    height = (h[0] - place[:, 1]).reshape(n, F)
    for k in range(F):
        at = entry.column + k * entry.stride
        control.vectors[instances, at] = height[:, k]
        control.vectors[instances, at + 1 : at + 4] = normal[:, k]
