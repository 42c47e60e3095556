"""`CameraTrack`: the camera of a picture or a video: it stands where all is seen, follows what travels, or goes round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.scene.camera import Camera
from marrow.scene.camera_fit import Direction, aim, direction_of, fit, fit_orbit

__all__ = ["CameraTrack"]

Array = NDArray[Any]
TRAVELS = 1.0
"""What goes further than this many of its own sizes is followed."""
CALM = 0.5
"""Seconds over which the way of a camera that follows is smoothed, so that it does not nod with every step."""


class CameraTrack:
    """Cameras for the moments of a timed scene. `points` are what is to be seen `(n, 3)` at each of `times (T,)`. `follow`
    None decides by how far things travel; `calm` is how smoothly, in seconds."""

    def __init__(
        self,
        camera: str | Sequence[float] | Camera,
        size: tuple[int, int],
        times: Array,
        points: Sequence[Array],
        *,
        follow: bool | None = None,
        calm: float = CALM,
    ) -> None:
        self.fixed = camera if isinstance(camera, Camera) else None
        self.times = np.asarray(times, np.float64)
        self.way = np.zeros((len(self.times), 3))
        if self.fixed is not None:
            return
        self.direction: Direction = direction_of(camera)  # type: ignore[arg-type]
        self.size = size
        middles, sizes = _middles(points)
        travel = float(np.ptp(middles, axis=0).max()) if len(middles) else 0.0
        if follow or (follow is None and travel > TRAVELS * float(np.median(sizes))):
            self.way = _smoothed(self.times, middles, calm)
        held = np.concatenate([*(p - step for p, step in zip(points, self.way)), np.zeros((0, 3))])
        self.target, self.distance, self.radius = np.zeros(3), 1.0, 0.5
        if self.direction.turns:
            self.target, self.distance, self.radius = fit_orbit(held, self.direction, size)
        else:
            still = fit(held, self.direction, size)
            self.fixed = None if self.way.any() else still
            self.still = still

    def at(self, time: float, turn: float = 0.0) -> Camera:
        """The camera at a time; `turn` is how much of its way round it has gone, from 0 to 1."""
        if self.fixed is not None:
            return self.fixed
        step = np.array([np.interp(time, self.times, self.way[:, k]) for k in range(3)])
        if self.direction.turns:
            return aim(
                self.direction.turned(math.tau * turn),
                self.target + step,
                self.distance,
                self.radius,
                self.size,
            )
        view = np.array(self.still.view)
        view[:, 3] -= view[:, :3] @ step
        return Camera(view, self.still.projection, self.still.height)


def _middles(points: Sequence[Array]) -> tuple[Array, Array]:
    """Where things are over the ground at each time, `(T, 3)`, and how large, `(T,)`."""
    middles, sizes = np.zeros((len(points), 3)), np.ones(len(points))
    for k, some in enumerate(points):
        if len(some):
            low, high = some.min(axis=0), some.max(axis=0)
            middles[k], sizes[k] = (low + high) / 2, (high - low).max()
    middles[:, 1] = 0.0
    return middles, sizes


def _smoothed(times: Array, way: Array, calm: float) -> Array:
    """A way with what is quicker than `calm` seconds taken out; beyond its ends it goes on as there."""
    if len(times) < 3 or calm <= 0:
        return way
    step = max(float(np.median(np.diff(times))), 1e-9)
    half = min(int(np.ceil(calm / step)), len(times) - 1)
    before = 2 * way[0] - way[half:0:-1]
    after = 2 * way[-1] - way[-2 : -half - 2 : -1]
    weights = np.exp(-0.5 * (np.arange(-half, half + 1) * step / (calm / 2)) ** 2)
    weights /= weights.sum()
    whole = np.concatenate([before, way, after])
    return np.stack([np.convolve(whole[:, k], weights, "valid") for k in range(3)], axis=1)
