"""Inertialisation: `START_INERTIA` keeps how a pose differs from another and how fast that changes, `INERTIA` adds what is left
of it, which dies out along a quintic.

Rotations are kept as modified Rodrigues parameters `v / (1 + w)`, which need no trigonometry and no special case.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels.language.lanes import block
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows, row_size
from marrow.kernels.operations.sums import STRAIGHT
from marrow.math import quaternion

__all__ = ["INERTIA", "START_INERTIA"]


def _from(e: Any, a: list[Any], b: list[Any]) -> list[Any]:
    """`conj(b) a` at unit length: the turn that leads from `b` to `a`."""
    a, b = e.unit(a), e.unit(b)
    return e.multiply_quaternions([-b[0], -b[1], -b[2], b[3]], a)


def emit_start(e: Any, i: Any, Jp: Any, stack: Any, a0: Any, a1: Any, b0: Any, b1: Any, h: Any, memory: Any, at: Any, half: Any) -> None:  # fmt: skip
    """What has to die out for 16 joints: nine rows of differences at `at`, nine of their speeds `half` behind."""
    rate = 1.0 / e.splat(h)

    def load(base: Any, r: int) -> Any:
        return e.load(stack, e.plus(base, e.row(i, r, Jp)))

    def keep(r: int, now: Any, before: Any) -> None:
        place = e.plus(at, e.row(i, r, Jp))
        e.store(memory, place, now)
        e.store(memory, e.plus(place, half), (now - before) * rate)

    for k, r in enumerate(STRAIGHT):
        keep(k if k < 3 else k + 3, load(a0, r) - load(b0, r), load(a1, r) - load(b1, r))
    now = _from(e, [load(a0, 3 + c) for c in range(4)], [load(b0, 3 + c) for c in range(4)])
    before = _from(e, [load(a1, 3 + c) for c in range(4)], [load(b1, 3 + c) for c in range(4)])
    negative = now[3].compare("<", 0.0)
    now = [e.select(negative, -v, v) for v in now]
    across = e.dot(now, before).compare("<", 0.0)
    before = [e.select(across, -v, v) for v in before]
    s, t = 1.0 / (1.0 + now[3]), 1.0 / (1.0 + before[3])
    for c in range(3):
        keep(3 + c, now[c] * s, before[c] * t)


def emit_start_morphs(e: Any, m: Any, stack: Any, a0: Any, a1: Any, b0: Any, b1: Any, h: Any, memory: Any, kept: Any, half: Any) -> None:  # fmt: skip
    """16 morph weights."""
    load, at = (lambda base: e.load(stack, e.plus(base, m))), e.plus(kept, m)
    now, before = load(a0) - load(b0), load(a1) - load(b1)
    e.store(memory, at, now)
    e.store(memory, e.plus(at, half), (now - before) * (1.0 / e.splat(h)))


def emit_inertia(
    e: Any, i: Any, Jp: Any, stack: Any, top: Any, memory: Any, at: Any, half: Any, u: Any, v: Any
) -> None:
    """Adds `u` times the kept differences and `v` times their speeds to 16 joints."""
    u, v = e.splat(u), e.splat(v)

    def place(r: int) -> Any:
        return e.plus(top, e.row(i, r, Jp))

    def left(r: int) -> Any:
        kept = e.plus(at, e.row(i, r, Jp))
        return e.fma(v, e.load(memory, e.plus(kept, half)), u * e.load(memory, kept))

    for k, r in enumerate(STRAIGHT):
        e.store(stack, place(r), e.load(stack, place(r)) + left(k if k < 3 else k + 3))
    d = [left(3 + c) for c in range(3)]
    squared = e.dot(d, d)
    s = 1.0 / (1.0 + squared)
    turn = [2.0 * d[0] * s, 2.0 * d[1] * s, 2.0 * d[2] * s, (1.0 - squared) * s]
    a = [e.load(stack, place(3 + c)) for c in range(4)]
    for c, value in enumerate(e.multiply_quaternions(a, turn)):
        e.store(stack, place(3 + c), value)


def emit_inertia_morphs(
    e: Any, m: Any, stack: Any, top: Any, memory: Any, kept: Any, half: Any, u: Any, v: Any
) -> None:
    """16 morph weights."""
    at, place = e.plus(kept, m), e.plus(top, m)
    left = e.fma(e.splat(v), e.load(memory, e.plus(at, half)), e.splat(u) * e.load(memory, at))
    e.store(stack, place, e.load(stack, place) + left)


start, start_morphs = block(emit_start), block(emit_start_morphs)
apply, apply_morphs = block(emit_inertia), block(emit_inertia_morphs)


def run_start(work, n, top, argument, time, weight):
    size, half, kept = row_size(work), 9 * work.Jp + work.Mp, work.memory[n]
    a1, b0, b1 = top + size, top + 2 * size, top + 3 * size
    start.each(0, work.Jp, 16, work.Jp, work.stack, top, a1, b0, b1, weight, kept, argument, half)
    start_morphs.each(
        10 * work.Jp, size, 16, work.stack, top, a1, b0, b1, weight, kept, argument - work.Jp, half
    )  # fmt: skip


def run_inertia(work, n, top, argument, time, weight):
    # The quintic that leaves with the kept place and speed and arrives with none.
    s = min(max(time / weight, 0.0), 1.0)
    s3 = s * s * s
    u = 1.0 + s3 * (-10.0 + s * (15.0 - 6.0 * s))
    v = weight * (s + s3 * (-6.0 + s * (8.0 - 3.0 * s)))
    half, kept = 9 * work.Jp + work.Mp, work.memory[n]
    apply.each(0, work.Jp, 16, work.Jp, work.stack, top, kept, argument, half, u, v)
    apply_morphs.each(10 * work.Jp, row_size(work), 16, work.stack, top, kept, argument - work.Jp, half, u, v)


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
    world.memory[argument] = (offsets, [(x - y) / weight for x, y in zip(offsets, earlier)])


def reference_inertia(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """The quintic with the kept value and slope at 0, no bend there, and nothing left at 1."""
    top = stack[-1]
    s = float(np.clip(time / weight, 0, 1))
    u, v = 1 - 10 * s**3 + 15 * s**4 - 6 * s**5, weight * (s - 6 * s**3 + 8 * s**4 - 3 * s**5)
    left = [u * x + v * y for x, y in zip(*world.memory[argument])]
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
