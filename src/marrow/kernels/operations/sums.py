"""Weighted sums of poses: `SAMPLE`, `ACCUMULATE`, `SCALE`, `MERGE`.

The weights of a sum add up to one. Rotations are added as unit quaternions, each on the side of what is there already; sums may
have any length and are made unit where they are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels.language.lanes import block
from marrow.kernels.operations.adding import STRAIGHT, add_rotation
from marrow.kernels.operations.packed_lanes import (
    packed_morphs,
    packed_places,
    packed_places_apart,
    packed_turns,
    packed_turns_apart,
)
from marrow.kernels.operations.record import Operation, ReferenceWorld, Rows, row_size
from marrow.kernels.packed_layout import LENGTH, SEGMENTS, shapes_at
from marrow.math import quaternion

__all__ = ["ACCUMULATE", "MERGE", "SAMPLE", "SCALE", "summed"]


def emit_sample(first: bool, e: Any, i: Any, Jp: Any, bank: Any, a: Any, b: Any, t: Any, w: Any, stack: Any, top: Any) -> None:  # fmt: skip
    """16 joints of one clip between the frames at `a` and `b`, weighted, put on or added to the stack."""
    t, w = e.splat(t), e.splat(w)

    def row(r: int) -> Any:
        return e.row(i, r, Jp)

    def between(r: int) -> Any:
        return e.between(e.load(bank, e.plus(a, row(r))), e.load(bank, e.plus(b, row(r))), t)

    for r in STRAIGHT:
        at = e.plus(top, row(r))
        e.store(stack, at, w * between(r) if first else e.fma(w, between(r), e.load(stack, at)))
    at = [e.plus(top, row(3 + c)) for c in range(4)]
    present = None if first else [e.load(stack, x) for x in at]
    add_rotation(e, [between(3 + c) for c in range(4)], w, present, stack, at)


def emit_sample_morphs(
    first: bool, e: Any, m: Any, bank: Any, a: Any, b: Any, t: Any, w: Any, stack: Any, top: Any
) -> None:
    """16 morph weights, likewise."""
    w, at = e.splat(w), e.plus(top, m)
    value = e.between(e.load(bank, e.plus(a, m)), e.load(bank, e.plus(b, m)), e.splat(t))
    e.store(stack, at, w * value if first else e.fma(w, value, e.load(stack, at)))


def emit_sum(first: bool, e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any) -> None:
    """16 joints of the pose at `other`, weighted, written to or added to `top`."""
    w = e.splat(w)

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    for r in STRAIGHT:
        value = e.load(stack, at(other, r))
        e.store(stack, at(top, r), w * value if first else e.fma(w, value, e.load(stack, at(top, r))))
    q = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    here = [at(top, 3 + c) for c in range(4)]
    add_rotation(e, q, w, None if first else [e.load(stack, x) for x in here], stack, here)


def emit_sum_morphs(first: bool, e: Any, m: Any, stack: Any, top: Any, other: Any, w: Any) -> None:
    w, value, at = e.splat(w), e.load(stack, e.plus(other, m)), e.plus(top, m)
    e.store(stack, at, w * value if first else e.fma(w, value, e.load(stack, at)))


put_sample, add_sample = block(emit_sample, True), block(emit_sample, False)
put_morphs, add_morphs = block(emit_sample_morphs, True), block(emit_sample_morphs, False)
PACKED = (packed_places, packed_places_apart, packed_turns, packed_turns_apart, packed_morphs)
put_sum, add_sum = block(emit_sum, True), block(emit_sum, False)
put_morph_sum, add_morph_sum = block(emit_sum_morphs, True), block(emit_sum_morphs, False)


def frame_at(work, clip, time):
    """The frames around a time of a clip, and how far it is from the first to the second."""
    frames = work.clip_frames[clip]
    u = time * work.clip_rate[clip]
    # What is not a number is the beginning.
    u = min(u, frames - 1.0) if u > 0.0 else 0.0
    f = min(int(u), max(frames - 2, 0))
    a = work.clip_start[clip] + f * row_size(work)
    return a, a + row_size(work) if frames > 1 else a, u - f


def add_packed(work, clip, time, weight, more, top):
    """A packed clip at a time, weighted, put on the stack or, where there is `more`, added to it."""
    u = time * work.clip_rate[clip]
    frames = work.clip_frames[clip]
    u = min(u, frames - 1.0) if u > 0.0 else 0.0
    f = min(int(u), max(frames - 2, 0))
    sample_record(
        work.packed, work.clip_packed[clip], work.bank, work.clip_start[clip], f, f + 1 if frames > 1 else f, u - f, weight, more,
        work.stack, top, work.Jp, work.Mp, work.lanes,
    )  # fmt: skip


def sample_record(packed, r, bank, o, f, g, t, w, more, stack, top, Jp, Mp, lanes):
    """Part `t` of the way from frame `f` to frame `g` of the record at `r`, whose base pose lies at `o` of the bank."""
    length, table = packed[r + LENGTH], r + packed[r + SEGMENTS]
    first, second = f // length, g // length
    k, l = f - first * length, g - second * length
    x, y, z = shapes_at(k, length)
    X, Y, Z = shapes_at(l, length)
    a, b = r + packed[table + first], r + packed[table + second]
    if a == b:
        packed_places.each(0, lanes, 16, Jp, 0, 0, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
        packed_turns.each(0, lanes, 16, Jp, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
        packed_places.each(0, lanes, 16, Jp, 2, 7, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
    else:
        packed_places_apart.each(0, lanes, 16, Jp, 0, 0, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
        packed_turns_apart.each(0, lanes, 16, Jp, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
        packed_places_apart.each(0, lanes, 16, Jp, 2, 7, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top)  # fmt: skip
    packed_morphs.each(
        0, Mp, 16, Jp, packed, r, bank, o, a, b, k, x, y, z, l, X, Y, Z, t, w, more, stack, top
    )


def run_sample(work, n, top, argument, time, weight):
    if work.clip_packed[argument] >= 0:
        add_packed(work, argument, time, weight, 0.0, top)
        return
    a, b, t = frame_at(work, argument, time)
    put_sample.each(0, work.lanes, 16, work.Jp, work.bank, a, b, t, weight, work.stack, top)
    put_morphs.each(10 * work.Jp, row_size(work), 16, work.bank, a, b, t, weight, work.stack, top)


def run_accumulate(work, n, top, argument, time, weight):
    if work.clip_packed[argument] >= 0:
        add_packed(work, argument, time, weight, 1.0, top)
        return
    a, b, t = frame_at(work, argument, time)
    add_sample.each(0, work.lanes, 16, work.Jp, work.bank, a, b, t, weight, work.stack, top)
    add_morphs.each(10 * work.Jp, row_size(work), 16, work.bank, a, b, t, weight, work.stack, top)


def run_scale(work, n, top, argument, time, weight):
    put_sum.each(0, work.lanes, 16, work.Jp, work.stack, top, top, weight)
    put_morph_sum.each(10 * work.Jp, row_size(work), 16, work.stack, top, top, weight)


def run_merge(work, n, top, argument, time, weight):
    other = top + row_size(work)
    add_sum.each(0, work.lanes, 16, work.Jp, work.stack, top, other, weight)
    add_morph_sum.each(10 * work.Jp, row_size(work), 16, work.stack, top, other, weight)


def summed(top: Rows, other: Rows, weight: float) -> Rows:
    q = quaternion.normalize(other[1])
    side = np.where((top[1] * q).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return [
        top[0] + weight * other[0],
        top[1] + weight * side * q,
        top[2] + weight * other[2],
        top[3] + weight * other[3],
    ]


def _sampled(world: ReferenceWorld, clip: int, time: float) -> Rows:
    return [np.asarray(a, np.float64) for a in world.sample(clip, time)]


def reference_sample(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    t, q, s, m = _sampled(world, argument, time)
    stack.append([weight * t, weight * quaternion.normalize(q), weight * s, weight * m])


def reference_accumulate(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    stack[-1] = summed(stack[-1], _sampled(world, argument, time), weight)


def reference_scale(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    t, q, s, m = stack[-1]
    stack[-1] = [weight * t, weight * quaternion.normalize(q), weight * s, weight * m]


def reference_merge(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    other = stack.pop()
    stack[-1] = summed(stack[-1], other, weight)


SAMPLE = Operation(
    "SAMPLE", 0, "`weight *` the clip at `time`", 0, 1, "clip", "seconds", "its part of the sum", run_sample,
    reference_sample, (put_sample, put_morphs, *PACKED),
)  # fmt: skip
ACCUMULATE = Operation(
    "ACCUMULATE", 1, "top `+= weight *` the clip at `time`, each rotation on the side of what is there", 1, 1, "clip", "seconds",
    "its part of the sum", run_accumulate, reference_accumulate, (add_sample, add_morphs, *PACKED),
)  # fmt: skip
MERGE = Operation(
    "MERGE", 7, "top `+= weight *` b, each rotation on the side of what is there", 2, 1, "none", "", "b's part of the sum",
    run_merge, reference_merge, (add_sum, add_morph_sum),
)  # fmt: skip
SCALE = Operation(
    "SCALE", 8, "top `*= weight`: the first part of a sum", 1, 1, "none", "", "its part of the sum", run_scale, reference_scale,
    (put_sum, put_morph_sum),
)  # fmt: skip
