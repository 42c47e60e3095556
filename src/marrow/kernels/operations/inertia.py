"""Inertialisation: `START_INERTIA` keeps how a pose differs from another and how fast that changes, `INERTIA` adds what is left
of it, which dies out along a quintic.

The method is David Bollo's (GDC 2018): the translation, rotation and scale of a joint are each a difference `x` of some size,
which changes at some rate. A rate that would make it larger counts as none, and where it shrinks so fast that it would pass
its goal, the time is shortened, so that nothing overshoots. What is kept is `x` and the rate relative to its size,
`k = (x . x') / (x . x)`, zero at most. Rotations are kept as modified Rodrigues parameters `v / (1 + w)`, which need no
trigonometry and no special case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels.language.constants import Constants, mask, memory
from marrow.kernels.language.lanes import block
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows, row_size
from marrow.math import quaternion

__all__ = ["INERTIA", "INERTIA_PROFILE", "PROFILE", "START_INERTIA"]

SHORTEST = 1e-6
"""Seconds in which a difference dies out at once."""
NONE = 1e-12
"""The square of a difference too small to have a direction."""


def _from(e: Any, a: list[Any], b: list[Any]) -> list[Any]:
    """`conj(b) a` at unit length: the turn that leads from `b` to `a`."""
    a, b = e.unit(a), e.unit(b)
    return e.multiply_quaternions([-b[0], -b[1], -b[2], b[3]], a)


def emit_start(e: Any, i: Any, Jp: Any, stack: Any, a0: Any, a1: Any, b0: Any, b1: Any, h: Any, memory: Any, at: Any, half: Any) -> None:  # fmt: skip
    """What has to die out for 16 joints: nine rows of differences at `at`, nine of their speeds `half` behind."""
    rate = 1.0 / e.splat(h)

    def load(base: Any, r: int) -> Any:
        return e.load(stack, e.plus(base, e.row(i, r, Jp)))

    def keep(first: int, now: list[Any], before: list[Any]) -> None:
        for c in range(3):
            e.store(memory, e.plus(at, e.row(i, first + c, Jp)), now[c])
        change = [(now[c] - before[c]) * rate for c in range(3)]
        relative = _relative(e, e.dot(now, change), e.dot(now, now))
        e.store(memory, e.plus(e.plus(at, half), e.row(i, first // 3, Jp)), relative)

    def straight(first: int) -> tuple[list[Any], list[Any]]:
        rows = range(first, first + 3)
        return [load(a0, r) - load(b0, r) for r in rows], [load(a1, r) - load(b1, r) for r in rows]

    keep(0, *straight(0))
    keep(6, *straight(7))
    now = _from(e, [load(a0, 3 + c) for c in range(4)], [load(b0, 3 + c) for c in range(4)])
    before = _from(e, [load(a1, 3 + c) for c in range(4)], [load(b1, 3 + c) for c in range(4)])
    negative = now[3].compare("<", 0.0)
    now = [e.select(negative, -v, v) for v in now]
    across = e.dot(now, before).compare("<", 0.0)
    before = [e.select(across, -v, v) for v in before]
    s, t = 1.0 / (1.0 + now[3]), 1.0 / (1.0 + before[3])
    keep(3, [now[c] * s for c in range(3)], [before[c] * t for c in range(3)])


def _relative(e: Any, towards: Any, size: Any) -> Any:
    """The rate `(x . x') / (x . x)` at which a difference shrinks; zero where it grows or there is none."""
    none = size.compare("<", NONE)
    k = e.select(none, e.splat(0.0), towards / e.select(none, e.splat(1.0), size))
    return e.select(k.compare("<", 0.0), k, e.splat(0.0))


def emit_start_morphs(e: Any, m: Any, stack: Any, a0: Any, a1: Any, b0: Any, b1: Any, h: Any, memory: Any, kept: Any, half: Any) -> None:  # fmt: skip
    """16 morph weights."""
    load, at = (lambda base: e.load(stack, e.plus(base, m))), e.plus(kept, m)
    now, before = load(a0) - load(b0), load(a1) - load(b1)
    e.store(memory, at, now)
    change = (now - before) * (1.0 / e.splat(h))
    e.store(memory, e.plus(at, half), _relative(e, now * change, now * now))


def _left(e: Any, k: Any, time: Any, seconds: Any) -> Any:
    """How much is left of a difference after `time`: the quintic of Bollo that leaves with 1 and the rate `k`, and arrives
    with nothing."""
    fast = (k * seconds).compare("<", -5.0)
    whole = e.select(fast, -5.0 / e.select(fast, k, e.splat(-1.0)), seconds)
    r = e.select(fast, e.splat(-5.0), k * seconds)
    s = time / whole
    s = e.select(s.compare("<", 1.0), s, e.splat(1.0))
    s = e.select(s.compare("<", 0.0), e.splat(0.0), s)
    bend = -8.0 * r - 20.0
    bend = e.select(bend.compare("<", 0.0), e.splat(0.0), bend)
    squared = s * s
    cubed = squared * s
    u = 1.0 + cubed * (s * (15.0 - 6.0 * s) - 10.0)
    v = s + cubed * (s * (8.0 - 3.0 * s) - 6.0)
    w = squared * (0.5 + s * (s * (1.5 - 0.5 * s) - 1.5))
    return u + r * v + bend * w


def _seconds(profiled: bool, e: Any, w: Any, masks: Any, at: Any) -> Any:
    """How long 16 differences take to die out: all the same, or each its share of it, though never no time at all."""
    if not profiled:
        return e.splat(w)
    seconds = e.splat(w) * e.load(masks, at)
    return e.select(seconds.compare("<", SHORTEST), e.splat(SHORTEST), seconds)


def emit_inertia(profiled: bool, e: Any, i: Any, Jp: Any, stack: Any, top: Any, memory: Any, at: Any, half: Any, t: Any, w: Any, masks: Any, mask: Any) -> None:  # fmt: skip
    """Adds what is left of the kept differences to 16 joints after `t` of `w` seconds."""
    t, w = e.splat(t), _seconds(profiled, e, w, masks, e.plus(mask, i))

    def place(r: int) -> Any:
        return e.plus(top, e.row(i, r, Jp))

    def left(first: int) -> list[Any]:
        share = _left(e, e.load(memory, e.plus(e.plus(at, half), e.row(i, first // 3, Jp))), t, w)
        return [share * e.load(memory, e.plus(at, e.row(i, first + c, Jp))) for c in range(3)]

    for first, row in ((0, 0), (6, 7)):
        for c, difference in enumerate(left(first)):
            e.store(stack, place(row + c), e.load(stack, place(row + c)) + difference)
    d = left(3)
    squared = e.dot(d, d)
    s = 1.0 / (1.0 + squared)
    turn = [2.0 * d[0] * s, 2.0 * d[1] * s, 2.0 * d[2] * s, (1.0 - squared) * s]
    a = [e.load(stack, place(3 + c)) for c in range(4)]
    for c, value in enumerate(e.multiply_quaternions(a, turn)):
        e.store(stack, place(3 + c), value)


def emit_inertia_morphs(profiled: bool, e: Any, m: Any, stack: Any, top: Any, memory: Any, kept: Any, half: Any, t: Any, w: Any, masks: Any, mask: Any) -> None:  # fmt: skip
    """16 morph weights."""
    t, w = e.splat(t), _seconds(profiled, e, w, masks, e.plus(mask, m))
    at, place = e.plus(kept, m), e.plus(top, m)
    share = _left(e, e.load(memory, e.plus(at, half)), t, w)
    e.store(stack, place, e.load(stack, place) + share * e.load(memory, at))


start, start_morphs = block(emit_start), block(emit_start_morphs)
apply, apply_morphs = block(emit_inertia, False), block(emit_inertia_morphs, False)
apply_profile, apply_profile_morphs = block(emit_inertia, True), block(emit_inertia_morphs, True)


def run_start(work, n, top, argument, time, weight):
    size, half, kept = row_size(work), 9 * work.Jp + work.Mp, work.memory[n]
    a1, b0, b1 = top + size, top + 2 * size, top + 3 * size
    start.each(0, work.lanes, 16, work.Jp, work.stack, top, a1, b0, b1, weight, kept, argument, half)
    start_morphs.each(
        10 * work.Jp, size, 16, work.stack, top, a1, b0, b1, weight, kept, argument - work.Jp, half
    )  # fmt: skip


def run_inertia(work, n, top, argument, time, weight):
    half, kept = 9 * work.Jp + work.Mp, work.memory[n]
    apply.each(0, work.lanes, 16, work.Jp, work.stack, top, kept, argument, half, time, weight, work.masks, 0)
    apply_morphs.each(
        10 * work.Jp, row_size(work), 16, work.stack, top, kept, argument - work.Jp, half, time, weight, work.masks, 0
    )  # fmt: skip


def inertia_numbers(work, profile):
    return 2 * (9 * work.Jp + work.Mp)


PROFILE = Constants(
    "profile",
    "a kept difference, and how long each part of it takes to die out",
    memory=memory("the difference", inertia_numbers),
    mask=mask("shares of the seconds"),
)


def run_inertia_profile(work, n, top, at, time, weight):
    half, kept, profile = 9 * work.Jp + work.Mp, work.memory[n], PROFILE(work, at)
    first, mask, end = profile.memory, profile.mask * (work.Jp + work.Mp), 10 * work.Jp
    apply_profile.each(
        0, work.lanes, 16, work.Jp, work.stack, top, kept, first, half, time, weight, work.masks, mask
    )
    apply_profile_morphs.each(
        end, row_size(work), 16, work.stack, top, kept, first - work.Jp, half, time, weight, work.masks, mask - 9 * work.Jp
    )  # fmt: skip


# -- the specification --------------------------------------------------------------------------------------------


def _rodrigues(d: Array) -> Array:
    return d[..., :3] / (1 + d[..., 3:])


def _turn(a: Rows, b: Rows) -> Array:
    return quaternion.multiply(quaternion.conjugate(quaternion.normalize(b[1])), quaternion.normalize(a[1]))


def reference_start(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """How a differs from b now, and how fast that changes, from what it was `weight` seconds ago."""
    b1, b0, a1 = stack.pop(), stack.pop(), stack.pop()
    a0 = stack[-1]
    now, before = _turn(a0, b0), _turn(a1, b1)
    now = np.where(now[:, 3:] < 0, -now, now)
    before = np.where((now * before).sum(-1, keepdims=True) < 0, -before, before)
    offsets = [a0[0] - b0[0], _rodrigues(now), a0[2] - b0[2], a0[3] - b0[3]]
    earlier = [a1[0] - b1[0], _rodrigues(before), a1[2] - b1[2], a1[3] - b1[3]]
    changes = [(x - y) / weight for x, y in zip(offsets, earlier)]
    # A joint's translation, rotation and scale are one difference each, and so is each morph weight.
    sizes = [(x * x).sum(-1, keepdims=True) for x in offsets[:3]] + [offsets[3] ** 2]
    along = [(x * c).sum(-1, keepdims=True) for x, c in zip(offsets[:3], changes)] + [offsets[3] * changes[3]]
    rates = [
        np.where(s < NONE, 0.0, np.minimum(a / np.where(s < NONE, 1, s), 0)) for a, s in zip(along, sizes)
    ]
    world.memory[argument] = (offsets, rates)


def _reference_left(k: Array, time: float, seconds: Any) -> Array:
    """Bollo's quintic, from the coefficients he gives, for a difference of size 1."""
    t1 = np.where(k * seconds < -5, -5 / np.where(k < 0, k, -1), seconds)
    a0 = np.maximum(0, (-8 * k * t1 - 20) / t1**2)
    t = np.clip(time, 0, t1)
    a = -(a0 * t1**2 + 6 * k * t1 + 12) / (2 * t1**5)
    b = (3 * a0 * t1**2 + 16 * k * t1 + 30) / (2 * t1**4)
    c = -(3 * a0 * t1**2 + 12 * k * t1 + 20) / (2 * t1**3)
    return a * t**5 + b * t**4 + c * t**3 + a0 / 2 * t**2 + k * t + 1


def reference_inertia(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """What is left of each difference after `time` of `weight` seconds."""
    _add_left(stack, world.memory[argument], time, [weight] * 4)


def reference_inertia_profile(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """The same, with seconds of their own for each joint and morph."""
    kept, mask = world.constants[argument]
    seconds = np.maximum(weight * np.asarray(world.masks[mask], np.float64), SHORTEST)
    J = len(stack[-1][0])
    _add_left(stack, world.memory[kept], time, [seconds[:J, None]] * 3 + [seconds[J:]])


def _add_left(stack: list[Rows], kept: Any, time: float, seconds: list[Any]) -> None:
    top = stack[-1]
    left = [x * _reference_left(k, time, s) for x, k, s in zip(*kept, seconds)]
    r = left[1]
    squared = (r * r).sum(-1, keepdims=True)
    turn = np.concatenate([2 * r, 1 - squared], axis=-1) / (1 + squared)
    stack[-1] = [top[0] + left[0], quaternion.multiply(top[1], turn), top[2] + left[2], top[3] + left[3]]


START_INERTIA = Operation(
    "START_INERTIA", 11, "of a now, a before, b now, b before: keeps the difference of a to b and its speed; a now stays", 4, 1,
    "inertia memory", "", "the seconds between now and before", run_start, reference_start, (start, start_morphs),
)  # fmt: skip
INERTIA = Operation(
    "INERTIA", 12, "adds what is left of a kept difference after `time`", 1, 1, "inertia memory", "seconds since it began",
    "the seconds it takes to die out", run_inertia, reference_inertia, (apply, apply_morphs),
)  # fmt: skip
INERTIA_PROFILE = Operation(
    "INERTIA_PROFILE", 19, "the same, with a share of the seconds for each joint and morph: a mask", 1, 1, PROFILE,
    "seconds since it began", "the seconds it takes to die out at most", run_inertia_profile, reference_inertia_profile,
    (apply_profile, apply_profile_morphs),
)  # fmt: skip
