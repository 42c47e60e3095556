"""Fair timing on an unfair machine: all contestants interleaved in one process, best and median, compared as ratios."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Contest", "Result"]


@dataclass(frozen=True)
class Result:
    """Times of one contestant in seconds for the whole call."""

    name: str
    best: float
    median: float
    runs: int


PAIRS = 10
"""Calls of each of two that are compared by `added`."""


@dataclass
class Contest:
    """Several ways to do one thing. `units` is how many of `unit` a call does; the first entry is marrow. A callable
    with a `scale` does only a part: its time is multiplied by that. One with `seconds` has timed itself."""

    title: str
    unit: str
    units: float
    entries: dict[str, Callable[[], object]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    goals: dict[str, float] = field(default_factory=dict)
    """For a rival's name, the ratio marrow's best time may have to it at most."""
    goal: float | None = None
    """The most marrow may take per unit, in the unit's own seconds."""

    def run(self, seconds: float = 1.0, rounds: int = 400) -> list[Result]:
        """Calls every entry in turn, once untimed and once timed, for about `seconds` (at least 5 rounds)."""
        times: dict[str, list[float]] = {name: [] for name in self.entries}
        for call in self.entries.values():
            call()
        gc.collect()
        gc.disable()
        try:
            until = time.perf_counter() + seconds
            for n in range(rounds):
                for name, call in self.entries.items():
                    call()  # the one before it left the caches full of its own data
                    start = time.perf_counter()
                    call()
                    took = time.perf_counter() - start
                    times[name].append(getattr(call, "seconds", took))
                if time.perf_counter() > until and n >= 4:
                    break
        finally:
            gc.enable()
        scale = {name: getattr(call, "scale", 1.0) for name, call in self.entries.items()}
        return [
            Result(name, min(t) * scale[name], statistics.median(t) * scale[name], len(t))
            for name, t in times.items()
        ]


def added(plain: Callable[[], object], more: Callable[[], object]) -> Callable[[], object]:
    """How much longer one of two takes: the best of `PAIRS` calls of each, in turn."""

    def run() -> object:
        best = [math.inf, math.inf]
        for _ in range(PAIRS):
            for k, call in enumerate((plain, more)):
                begun = time.process_time()
                call()
                best[k] = min(best[k], time.process_time() - begun)
        run.seconds = best[1] - best[0]  # type: ignore[attr-defined]
        return None

    return run
