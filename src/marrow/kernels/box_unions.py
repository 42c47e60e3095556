"""Boxes around the boxes that joints carry: what a crowd is culled by."""

from __future__ import annotations

import math
from typing import Any

from marrow.kernels.language.annotations import ANY, G, Out, f4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.language.lanes import block

__all__ = ["BOX_ROWS", "join_boxes"]

BOX_ROWS = 4
"""Rows of 16 numbers that `join_boxes` writes of an instance: low, high, the largest number there is, and zero, or what is no number
where something is not finite. Of each the numbers 0, 4 and 8 count, for x, y and z."""
_FIRSTS = [[4 * g + k for g in range(4) for _ in range(4)] for k in range(4)]


def _emit_box(e: Any, g: Any, matrices: Any, at: Any, boxes: Any, out: Any, goal: Any) -> None:
    """Takes the box g, as the matrix carries it, into the union: its centre moved, its half size by the absolute matrix."""
    m = e.load12(matrices, at)
    columns = [e.shuffle(m, m, lanes) for lanes in _FIRSTS]
    center = [e.broadcast(boxes, e.at(e.times(g, 6), k)) for k in range(3)]
    half = [e.broadcast(boxes, e.at(e.times(g, 6), 3 + k)) for k in range(3)]
    moved = columns[0] * center[0] + columns[1] * center[1] + columns[2] * center[2] + columns[3]
    sides = [e.select(c.compare("<", 0.0), -c, c) for c in columns[:3]]
    size = sides[0] * half[0] + sides[1] * half[1] + sides[2] * half[2]
    low, high = moved - size, moved + size
    far = e.select(moved.compare("<", 0.0), -moved, moved) + size
    rows = [e.load(out, e.at(goal, 16 * k)) for k in range(BOX_ROWS)]
    e.store(out, goal, e.select(low.compare("<", rows[0]), low, rows[0]))
    e.store(out, e.at(goal, 16), e.select(high.compare(">", rows[1]), high, rows[1]))
    e.store(out, e.at(goal, 32), e.select(far.compare(">", rows[2]), far, rows[2]))
    e.store(out, e.at(goal, 48), rows[3] + far * 0.0)


take_box = block(_emit_box)


@kernel
def join_boxes(
    matrices: f4[ANY],
    entries: i8[G],
    boxes: f4[ANY],
    out: Out[f4[ANY]],
    palette: int,
    first: int,
    last: int,
) -> None:
    """Around each of the instances `first..last` the box that holds what their joints carry: box g, of `boxes (G, 6)` (centre, half
    size), is carried by the matrix `entries[g]` of the instance's `palette` of them. `out` is as `BOX_ROWS` says."""
    for n in range(first, last):
        at = 64 * n
        for k in range(at, at + 16):
            out[k], out[16 + k], out[32 + k], out[48 + k] = math.inf, -math.inf, 0.0, 0.0
        for g in range(len(entries)):
            take_box(g, matrices, 12 * (n * palette + entries[g]), boxes, out, at)
