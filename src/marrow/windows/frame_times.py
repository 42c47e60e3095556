"""`FrameTimes`: how long frames take, smoothed so that it can be read."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator

__all__ = ["FrameTimes"]

MEMORY = 0.5
"""Seconds after which a change shows."""


class FrameTimes:
    """Milliseconds from one frame to the next (`interval`), and of drawing, as seen from Python (`draw`)."""

    def __init__(self) -> None:
        self.interval, self.draw = 0.0, 0.0
        self.count = 0
        """Frames so far."""
        self._last: float | None = None
        self._written, self._text = -math.inf, ""

    def frame(self, now: float) -> None:
        """A frame begins at `now` seconds."""
        self.count += 1
        if self._last is not None and now > self._last:
            seconds = now - self._last
            self.interval = _smooth(self.interval, 1000 * seconds, seconds)
        self._last = now

    @contextlib.contextmanager
    def drawing(self) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        took = time.perf_counter() - begun
        self.draw = _smooth(self.draw, 1000 * took, max(took, self.interval / 1000))

    def text(self) -> str:
        """One line, that changes four times a second at most."""
        now = time.perf_counter()
        if now - self._written > 0.25 and self.interval > 0:
            rate = 1000 / self.interval
            self._text = f"{self.interval:.1f} ms   {rate:.0f} fps   drawing {self.draw:.1f} ms"
            self._written = now
        return self._text


def _smooth(old: float, new: float, seconds: float) -> float:
    return new if old == 0 else old + (new - old) * (1 - math.exp(-seconds / MEMORY))
