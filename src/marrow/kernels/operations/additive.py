"""`ADD`: an additive pose (a difference) applied to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels.language.lanes import block
from marrow.kernels.operations.record import Operation, ReferenceWorld, Rows, row_size
from marrow.math import quaternion

__all__ = ["ADD"]


def emit_add(
    e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any
) -> None:
    """16 joints of an additive pose at `other`, applied to the pose at `top`."""
    w = e.splat(w) * e.load(masks, e.plus(mask, i))
    idle = w.compare("==", 0.0)

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    def put(r: int, kept: Any, value: Any) -> None:
        e.store(stack, at(top, r), e.select(idle, kept, value))

    for r in range(3):
        a = e.load(stack, at(top, r))
        put(r, a, e.fma(w, e.load(stack, at(other, r)), a))
    for r in (7, 8, 9):
        a = e.load(stack, at(top, r))
        put(r, a, a * e.fma(w, e.load(stack, at(other, r)) - 1.0, e.splat(1.0)))
    a = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    d = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    # The difference turned `w` of the way from the identity, the short way round.
    scale = w * e.inverse_length(e.dot(d, d))
    scale = e.select(d[3].compare("<", 0.0), -scale, scale)
    turn = [d[0] * scale, d[1] * scale, d[2] * scale, e.fma(d[3], scale, 1.0 - w)]
    for c, value in enumerate(e.multiply_quaternions(a, turn)):
        put(3 + c, a[c], value)


def emit_add_morphs(e: Any, m: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any) -> None:
    """16 morph weights."""
    w, at = e.splat(w) * e.load(masks, e.plus(mask, m)), e.plus(top, m)
    e.store(stack, at, e.fma(w, e.load(stack, e.plus(other, m)), e.load(stack, at)))


add, add_morphs = block(emit_add), block(emit_add_morphs)


def run_add(work, n, top, argument, time, weight):
    other, mask = top + row_size(work), argument * (work.Jp + work.Mp)
    add.each(0, work.lanes, 16, work.Jp, work.stack, top, other, weight, work.masks, mask)
    at = 10 * work.Jp
    add_morphs.each(0, work.Mp, 16, work.stack, top + at, other + at, weight, work.masks, mask + work.Jp)


def reference_add(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    other, top = stack.pop(), stack[-1]
    mask = weight * np.asarray(world.masks[argument], np.float64)
    w, wm = mask[: len(other[0]), None], mask[len(other[0]) :]
    d = quaternion.normalize(other[1])
    d = np.where(d[:, 3:] < 0, -d, d)
    turn = d * w + (1 - w) * quaternion.identity(dtype=np.float64)
    stack[-1] = [
        top[0] + w * other[0],
        quaternion.multiply(quaternion.normalize(top[1]), turn),
        top[2] * (1 + w * (other[2] - 1)),
        top[3] + wm * other[3],
    ]


ADD = Operation(
    "ADD", 4, "adds the additive pose b: `t + w dt`, `q * dq^w`, `s * ds^w` (to first order)", 2, 1, "mask", "",
    "how much of it, under the mask", run_add, reference_add, (add, add_morphs),
)  # fmt: skip
