"""`Player`: plays clips and cross-fades between them. The simplest thing an animator can run.

For N instances it keeps a short stack of what is playing, newest last: each entry is a clip with its time, and how far
it has faded in over everything below it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import REST, ClipBank
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.program import ProgramBuilder
from marrow.kernels.operations import codes as kernel

__all__ = ["Player"]

Array = NDArray[Any]
SLOTS = 8


class Player:
    """Playback state of `count` instances: arrays `(N, SLOTS)`, of which the first `used (N,)` columns count."""

    def __init__(self, bank: ClipBank, count: int) -> None:
        self.bank, self.count = bank, count
        shape = (count, SLOTS)
        self.clip = np.full(shape, REST, np.int32)
        self.time = np.zeros(shape, np.float64)
        self.rate = np.ones(shape, np.float64)
        self.loop = np.ones(shape, bool)
        self.fade = np.ones(shape, np.float64)
        self.fade_seconds = np.zeros(shape, np.float64)
        self.used = np.ones(count, np.int64)

    def start(
        self, clip: str | int, *, fade: float, loop: bool, rate: float, at: float, instances: Array
    ) -> None:
        """Begins a clip on `instances` (indices), over what they play now; `fade` seconds of zero replaces it."""
        if isinstance(clip, str) and clip not in self.bank.index:
            raise UnknownNameError("clip", clip, self.bank.index)
        if not fade >= 0:
            raise ValidationError(f"cross_fade: seconds must be zero or more, got {fade}")
        entry = self.bank.index[clip] if isinstance(clip, str) else clip
        if fade == 0:
            self.used[instances] = 0
        full = instances[self.used[instances] == SLOTS]
        if len(full):
            # The oldest entry shows least by now: the ones above it close up.
            for values in (self.clip, self.time, self.rate, self.loop, self.fade, self.fade_seconds):
                values[full, :-1] = values[full, 1:]
            self.used[full] -= 1
        slot = self.used[instances]
        self.clip[instances, slot] = entry
        self.time[instances, slot] = at
        self.rate[instances, slot] = rate
        self.loop[instances, slot] = loop
        self.fade[instances, slot] = 1.0 if fade == 0 else 0.0
        self.fade_seconds[instances, slot] = fade
        self.used[instances] += 1

    def advance(self, dt: Array) -> None:
        """Moves clips and fades on by `dt (N,)` seconds."""
        if self.count == 1 and self.used[0] == 1:
            self._advance_one(float(dt[0]))
            return
        top = int(self.used.max(initial=1))
        duration = self.bank.duration[self.clip[:, :top]]
        time = self.time[:, :top] + dt[:, None] * self.rate[:, :top]
        looped = np.mod(time, np.where(duration > 0, duration, 1))
        held = np.clip(time, 0, duration)
        self.time[:, :top] = np.where(self.loop[:, :top], np.where(duration > 0, looped, 0), held)
        if top == 1:
            return  # what is alone is seen whole, however far it has faded in
        seconds = self.fade_seconds[:, :top]
        step = np.abs(dt)[:, None] / np.where(seconds > 0, seconds, 1)
        self.fade[:, :top] = np.where(seconds > 0, np.minimum(1, self.fade[:, :top] + step), 1)
        self._drop_covered(top)

    def _advance_one(self, dt: float) -> None:
        """`advance` for one character that plays one clip: a few numbers, for which arrays are too much ado."""
        duration = float(self.bank.duration[self.clip[0, 0]])
        time = float(self.time[0, 0]) + dt * float(self.rate[0, 0])
        if self.loop[0, 0]:
            self.time[0, 0] = time % duration if duration > 0 else 0.0
        else:
            self.time[0, 0] = min(max(time, 0.0), duration)

    def _drop_covered(self, top: int) -> None:
        """Entries under one that has faded in completely can no longer be seen."""
        if top < 2:
            return
        slots = np.arange(top)
        done = (self.fade[:, :top] >= 1) & (slots < self.used[:, None])
        last = np.where(done, slots, 0).max(axis=1)
        moved = np.flatnonzero(last)
        if len(moved):
            source = np.minimum(slots + last[moved, None], SLOTS - 1)
            for values in (self.clip, self.time, self.rate, self.loop, self.fade, self.fade_seconds):
                values[moved, :top] = np.take_along_axis(values[moved], source, axis=1)
            self.used[moved] -= last[moved]

    def weights(self) -> Array:
        """How much of each entry is seen, `(N, top)`: its own fade times what all above it leave."""
        top = int(self.used.max(initial=1))
        if top == 1:
            return np.ones((self.count, 1))
        fade = np.where(np.arange(top) < self.used[:, None], self.fade[:, :top], 0)
        fade[:, 0] = 1
        left = np.cumprod(1 - fade[:, :0:-1], axis=1)[:, ::-1]
        return fade * np.concatenate([left, np.ones((len(fade), 1))], axis=1)

    def emit(self, builder: ProgramBuilder) -> int:
        """Adds the programs of all instances; returns how many poses they stack up."""
        if self.count == 1 and self.used[0] == 1:
            builder.add(kernel.SAMPLE, argument=self.clip[0, 0], time=self.time[0, 0])
            return 1
        weights = self.weights()
        builder.add(kernel.SAMPLE, argument=self.clip[:, 0], time=self.time[:, 0], weight=weights[:, 0])
        for slot in range(1, weights.shape[1]):
            who = np.flatnonzero(slot < self.used)
            builder.add(
                kernel.ACCUMULATE,
                argument=self.clip[who, slot],
                time=self.time[who, slot],
                weight=weights[who, slot],
                instances=who,
            )
        return 1

    @property
    def current(self) -> tuple[Array, Array]:
        """The newest entry of each instance: bank index and time, `(N,)`."""
        if self.count == 1:
            newest = int(self.used[0]) - 1
            return self.clip[:, newest], self.time[:, newest]
        rows, slot = np.arange(self.count), self.used - 1
        return self.clip[rows, slot], self.time[rows, slot]

    @property
    def finished(self) -> Array:
        """Whether the newest clip plays once and has reached its end, `(N,)`."""
        rows, slot = np.arange(self.count), self.used - 1
        duration = self.bank.duration[self.clip[rows, slot]]
        end = np.where(
            self.rate[rows, slot] < 0, self.time[rows, slot] <= 0, self.time[rows, slot] >= duration
        )
        return ~self.loop[rows, slot] & end
