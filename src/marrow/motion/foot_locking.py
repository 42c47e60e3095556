"""How a foot must be moved so that it stands, and slides no more, than it did in the source.

A foot is a heel and a ball. From frame to frame one of them carries: one that is planted, else the slower of those that
are down. While it is planted it does not move at all; while it is down and slow it moves as the source's does. In between,
where the foot is in the air or slides anyhow, the correction that this takes changes smoothly from plant to plant.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.motion.contacts import LOW, SLIDING, TOUCHING, windows
from marrow.motion.limbs import ease

__all__ = ["FootPath", "hold"]

Array = NDArray[Any]
FADE = 0.3
"""Seconds over which a correction fades to nothing, where the foot is off the ground for longer."""
CATCH, CREEP = 0.6, 0.25
"""How fast a correction may change (m/s, for a person's leg): in the air, and on the ground together with the foot's own
speed."""
HIGH = 0.15
"""From this height on (metres, for a person's leg) a foot is as high as its own leg makes it."""
ROUNDS = 50


@dataclass(frozen=True, eq=False)
class FootPath:
    """One foot over time: `place (T, 2, 3)` of heel and ball before the correction, and `own (T,)`, how high the lower of
    them is over the ground; `path (T, 2, 3)` and `height (T, 2)` over the ground of the source's, at the target's size;
    `stands (T - 1,)`, which of them stands from a frame to the next (-1: neither). `size` is the leg's length by that of a
    person."""

    times: Array
    place: Array
    own: Array
    path: Array
    height: Array
    stands: Array
    size: float

    @property
    def stride(self) -> tuple[Array, Array] | None:
        """How far a clip that repeats takes this foot and the source's, `(3,)` each; None for one that does not."""
        ways = [p[-1] - p[0] for p in (self.place, self.path)]
        if len(self.times) < 4 or any(
            np.abs(w - w.mean(axis=0)).max() > 0.01 * self.size or np.abs(w[:, 1]).max() > 0.01 * self.size
            for w in ways
        ):
            return None
        return ways[0].mean(axis=0), ways[1].mean(axis=0)

    def repeated(self, stride: tuple[Array, Array]) -> FootPath:
        """Three times in a row."""
        length = float(self.times[-1] - self.times[0])

        def three(values: Array, step: Array | float = 0.0) -> Array:
            before, after = values[:-1], values[1:]
            return np.concatenate(
                [before - step, values, after + step] if np.any(step) else [before, values, after]
            )

        return FootPath(
            three(self.times, length), three(self.place, stride[0]), three(self.own), three(self.path, stride[1]),
            three(self.height), np.tile(self.stands, 3), self.size,
        )  # fmt: skip


def hold(foot: FootPath) -> Array:
    """How far the foot must move `(T, 3)`."""
    count, stride = len(foot.times), foot.stride
    if count < 2:
        return np.column_stack([np.zeros(count), _raise(foot), np.zeros(count)])
    # A clip that repeats goes on where it began: a plant over its seam is one plant.
    whole = foot if stride is None else foot.repeated(stride)
    shift = np.empty((len(whole.times), 3))
    shift[:, [0, 2]] = _level(whole)
    shift[:, 1] = _raise(whole)
    return shift if stride is None else shift[count - 1 : 2 * count - 1]


def _level(foot: FootPath) -> Array:
    """The part over the ground, `(T, 2)`."""
    seconds = np.diff(foot.times)
    own, theirs = (np.diff(p[..., [0, 2]], axis=0) for p in (foot.place, foot.path))
    speed = np.linalg.norm(theirs, axis=-1) / seconds[:, None]
    each, stands = np.arange(len(seconds)), foot.stands >= 0
    # What touches the ground goes before what is only near it.
    near, down = (h[:-1] | h[1:] for h in (foot.height < most * foot.size for most in (LOW, TOUCHING)))
    order = np.where(down, speed, np.where(near, speed + 1e6, np.inf))
    carrier = np.where(stands, foot.stands, np.argmin(order, axis=1))
    slow = stands | (near[each, carrier] & (speed[each, carrier] < SLIDING * foot.size))
    wanted = np.where(stands[:, None], 0.0, theirs[each, carrier])
    change = np.where(slow[:, None], wanted - own[each, carrier], 0.0)
    free, fixed = _air(~slow, foot.times)
    creep = np.maximum(CREEP * foot.size - np.where(slow, speed[each, carrier], 0.0), 0.0)
    room = np.where(stands | fixed, 0.0, np.where(slow, creep, CATCH * foot.size * free)) * seconds
    return _joined(change, room, windows(stands | fixed))


def _air(free: Array, times: Array) -> tuple[Array, Array]:
    """For steps in which the foot is free: how much of a correction's change falls into each, so that it begins and ends
    gently; and those so far from the ground's that there is none."""
    shape, fixed = np.zeros(len(free)), np.zeros(len(free), bool)
    for begin, end in windows(free):
        middle = (times[begin:end] + times[begin + 1 : end + 1]) / 2
        before = middle - times[begin] if begin > 0 else np.full(end - begin, np.inf)
        after = times[end] - middle if end < len(free) else np.full(end - begin, np.inf)
        away = np.minimum(before, after) > FADE
        fixed[begin:end] = away
        for a, b in windows(~away):
            u = (np.arange(b - a) + 0.5) / (b - a)
            shape[begin + a : begin + b] = 6 * u * (1 - u)
    return shape, fixed


def _joined(change: Array, room: Array, anchors: list[tuple[int, int]]) -> Array:
    """The correction `(T, 2)` that changes by `change (T - 1, 2)` from frame to frame, and between `anchors` (runs of
    steps) by up to `room (T - 1,)` more, so that it is as little as can be in each of them."""
    way = np.concatenate([np.zeros((1, 2)), np.cumsum(change, axis=0)])
    if not anchors:
        return way - way.mean(axis=0)
    # What each anchor wants to be added to `way`: nothing of a correction, on the mean.
    wants = np.array([-way[begin : end + 1].mean(axis=0) for begin, end in anchors])
    weight = np.array([end - begin + 1.0 for begin, end in anchors])
    gaps = [(a[1], b[0]) for a, b in pairwise(anchors)]
    _within(wants, weight, np.array([room[a:b].sum() for a, b in gaps]))
    more = np.zeros_like(change)
    for (a, b), step in zip(gaps, np.diff(wants, axis=0)):
        total = float(room[a:b].sum())
        if total > 0:
            more[a:b] = room[a:b, None] * (step / total)
    extra = np.concatenate([np.zeros((1, 2)), np.cumsum(more, axis=0)])
    return way + wants[0] + extra


def _within(wants: Array, weight: Array, limit: Array) -> None:
    """Brings neighbours in `wants (A, 2)` together until none is further from the next than `limit (A - 1,)`."""
    for _ in range(ROUNDS):
        far = np.linalg.norm(np.diff(wants, axis=0), axis=-1)
        if (far <= limit + 1e-6).all():
            break
        for k in np.flatnonzero(far > limit):
            gap = wants[k + 1] - wants[k]
            length = float(np.linalg.norm(gap))
            excess = gap * max(1 - limit[k] / max(length, 1e-12), 0.0)
            share = weight[k + 1] / (weight[k] + weight[k + 1])
            wants[k] += excess * share
            wants[k + 1] -= excess * (1 - share)
    # What is left goes to the end: no step may be longer than there is room for.
    for n, most in enumerate(limit.tolist()):
        gap = wants[n + 1] - wants[n]
        length = float(np.linalg.norm(gap))
        if length > most:
            wants[n + 1 :] -= gap * (1 - most / length)


def _raise(foot: FootPath) -> Array:
    """The part upwards `(T,)`: near the ground the lower of heel and ball is as high as in the source, and never below."""
    lowest = foot.height.min(axis=1)
    near = ease((HIGH * foot.size - lowest) / ((HIGH - LOW) * foot.size))
    # A foot that leaves quickly keeps what it had for a while.
    near = np.maximum(near, ease(1 - _away(lowest < LOW * foot.size, foot.times) / FADE))
    return near * (np.maximum(lowest, 0.0) - foot.own)


def _away(mask: Array, times: Array) -> Array:
    """How long it is from each frame to the nearest in which `mask` holds, `(T,)`; infinite where it never does."""
    before = np.maximum.accumulate(np.where(mask, times, -np.inf))
    after = np.minimum.accumulate(np.where(mask, times, np.inf)[::-1])[::-1]
    return np.asarray(np.minimum(times - before, after - times))
