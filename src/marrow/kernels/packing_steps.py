"""Choosing the whole numbers of packed motion (`packed_layout`): as coarse as the error on the skin allows.

Each rotation is chosen against its *decoded* parent, so that errors do not add up along a chain; and so that what hangs on the joint comes to
lie where it should, which takes back the error of the joint's own place. How large the error of a joint is: that of its place, and that of its
turn at the end of its radius.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from marrow.kernels.language.annotations import ANY, J, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.spatial import conjugated, multiplied, turned

__all__ = ["StepWork", "choose_numbers", "tune_steps"]


class StepWork(NamedTuple):
    """What numbers are chosen with. `rows` are the frames, `size` numbers each. `below` has each joint and all that hang on it, in order. `column` is where the numbers of a joint's
    translation, rotation and scale are (`9 j + 3 kind + c`; -1: it stays), of `columns` in a frame; `code` its steps (`3 j + kind`), whose sizes are in
    `sizes`; `exact` marks translations that are counted from each segment's first frame. `base` is what values are counted from (`10 j`). `unit` is how
    long the unit is in which a joint is moved, `own_unit` the one of what hangs on it: 0 where scales leave no such thing. `radius` and `limit`: how far
    a joint's skin reaches, and by how much it may be off. `frames (L,)` are those that are looked at now, with the `scale` of their steps, and
    `true` and `decoded` have seven numbers for each of these and each joint: place and rotation."""

    rows: f4[ANY]
    parents: i4[J]
    children: i4[ANY]
    child_start: i4[ANY]
    below: i4[ANY]
    below_start: i4[ANY]
    column: i4[ANY]
    code: Out[i4[ANY]]
    sizes: f8[ANY]
    exact: i4[J]
    base: f8[ANY]
    unit: f8[J]
    own_unit: f8[J]
    radius: f8[J]
    limit: f8[J]
    frames: Out[i8[ANY]]
    scale: Out[f8[ANY]]
    true: Out[f8[ANY]]
    decoded: Out[f8[ANY]]
    numbers: Out[i4[ANY]]
    codes: Out[i4[ANY]]
    size: int
    Jp: int
    columns: int
    length: int


def row_rotation(work, at, j):
    """The rotation of a joint in a frame, made unit."""
    x, y = work.rows[at + 3 * work.Jp + j], work.rows[at + 4 * work.Jp + j]
    z, w = work.rows[at + 5 * work.Jp + j], work.rows[at + 6 * work.Jp + j]
    squared = x * x + y * y + z * z + w * w
    if squared == 0.0:
        return 0.0, 0.0, 0.0, 1.0
    s = 1.0 / math.sqrt(squared)
    return x * s, y * s, z * s, w * s


def row_place(work, at, j):
    return work.rows[at + j], work.rows[at + work.Jp + j], work.rows[at + 2 * work.Jp + j]


def kept_rotation(kept, a):
    return kept[a + 3], kept[a + 4], kept[a + 5], kept[a + 6]


def put(kept, a, place, turn):
    kept[a], kept[a + 1], kept[a + 2] = place
    kept[a + 3], kept[a + 4], kept[a + 5], kept[a + 6] = turn


def true_poses(work, first, last):
    """Where joints really are."""
    J = len(work.parents)
    for l in range(first, last):
        at = work.frames[l] * work.size
        for j in range(J):
            p, a = work.parents[j], 7 * (l * J + j)
            t, q = row_place(work, at, j), row_rotation(work, at, j)
            if p >= 0:
                b = 7 * (l * J + p)
                turn = kept_rotation(work.true, b)
                v = turned(turn, t)
                u = moved_unit(work, j)
                t = (work.true[b] + u * v[0], work.true[b + 1] + u * v[1], work.true[b + 2] + u * v[2])
                q = multiplied(turn, q)
            put(work.true, a, t, q)


def moved_unit(work, j):
    u = work.unit[j]
    return u if u != 0.0 else 1.0


def nearest(x):
    """The nearest whole number, as a float."""
    return np.floor(x + 0.5)


def aimed(work, l, j, ex, ey, ez):
    """The small turn, as a vector, that brings what hangs on a joint back to its place where the joint itself is off by (ex, ey, ez): by least squares
    over the children, and as little as possible. Solves `sum(|v|^2 - v v') turn = -sum(v x -e)`."""
    J = len(work.parents)
    radius = work.radius[j] * work.own_unit[j]
    keep = max(radius * radius, 1e-12)
    xx, yy, zz, xy, xz, yz = keep, keep, keep, 0.0, 0.0, 0.0
    bx, by, bz = 0.0, 0.0, 0.0
    a = 7 * (l * J + j)
    for k in range(work.child_start[j], work.child_start[j + 1]):
        b = 7 * (l * J + work.children[k])
        x, y, z = (
            work.true[b] - work.true[a],
            work.true[b + 1] - work.true[a + 1],
            work.true[b + 2] - work.true[a + 2],
        )
        xx, yy, zz = xx + y * y + z * z, yy + x * x + z * z, zz + x * x + y * y
        xy, xz, yz = xy - x * y, xz - x * z, yz - y * z
        bx, by, bz = bx + ey * z - ez * y, by + ez * x - ex * z, bz + ex * y - ey * x
    # The inverse of a symmetric matrix by its cofactors.
    cxx, cxy, cxz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    s = 1.0 / (xx * cxx + xy * cxy + xz * cxz)
    return (
        s * (cxx * bx + cxy * by + cxz * bz),
        s * (cxy * bx + cyy * by + cyz * bz),
        s * (cxz * bx + cyz * by + czz * bz),
    )


def chosen(work, frame, column, x, step):
    """The value nearest to x that a step allows, which is kept; 0 where the component stays."""
    if column < 0:
        return 0.0
    n = nearest(x / step)
    work.numbers[frame * work.columns + column] = int(n)
    return n * step


def place_of(work, l, j, b, turn):
    """The decoded translation of a joint, against its decoded parent."""
    J, frame = len(work.parents), work.frames[l]
    column = 9 * j
    x, y, z = row_place(work, frame * work.size, j)
    if work.column[column] < 0 and work.column[column + 1] < 0 and work.column[column + 2] < 0:
        return work.base[10 * j], work.base[10 * j + 1], work.base[10 * j + 2]
    u = work.unit[j]
    if u > 0.0 and b >= 0:
        a = 7 * (l * J + j)
        v = turned(
            conjugated(turn),
            (
                work.true[a] - work.decoded[b],
                work.true[a + 1] - work.decoded[b + 1],
                work.true[a + 2] - work.decoded[b + 2],
            ),
        )
        x, y, z = v[0] / u, v[1] / u, v[2] / u
    step = work.sizes[work.code[3 * j]] * work.scale[l]
    bx, by, bz = work.base[10 * j], work.base[10 * j + 1], work.base[10 * j + 2]
    if work.exact[j] != 0:
        bx, by, bz = row_place(work, (frame - frame % work.length) * work.size, j)
    return (
        bx + chosen(work, frame, work.column[column], x - bx, step),
        by + chosen(work, frame, work.column[column + 1], y - by, step),
        bz + chosen(work, frame, work.column[column + 2], z - bz, step),
    )


def rotation_of(work, l, j, turn, ex, ey, ez):
    """The decoded model rotation of a joint, against that of its decoded parent."""
    J, frame = len(work.parents), work.frames[l]
    base = (work.base[10 * j + 3], work.base[10 * j + 4], work.base[10 * j + 5], work.base[10 * j + 6])
    start = multiplied(turn, base)
    column = 9 * j + 3
    if work.column[column] < 0 and work.column[column + 1] < 0 and work.column[column + 2] < 0:
        return start
    target = kept_rotation(work.true, 7 * (l * J + j))
    if work.own_unit[j] > 0.0 and work.child_start[j + 1] > work.child_start[j]:
        hx, hy, hz = aimed(work, l, j, ex, ey, ez)
        target = multiplied((0.5 * hx, 0.5 * hy, 0.5 * hz, 1.0), target)
    x, y, z, w = multiplied(conjugated(start), target)
    length = math.sqrt(x * x + y * y + z * z + w * w)
    down = 1.0 / (length + abs(w))
    if w < 0.0:
        down = -down
    step = work.sizes[work.code[3 * j + 1]] * work.scale[l]
    x = chosen(work, frame, work.column[column], x * down, step)
    y = chosen(work, frame, work.column[column + 1], y * down, step)
    z = chosen(work, frame, work.column[column + 2], z * down, step)
    squared = x * x + y * y + z * z
    s = 1.0 / (1.0 + squared)
    return multiplied(start, (2.0 * x * s, 2.0 * y * s, 2.0 * z * s, (1.0 - squared) * s))


def decode_joint(work, j, first, last):
    """Chooses the numbers of a joint in some of the frames. Returns the largest error, as a part of what it may be."""
    J, p, worst = len(work.parents), work.parents[j], 0.0
    reach = work.radius[j] * (work.own_unit[j] if work.own_unit[j] > 0.0 else 1.0)
    for l in range(first, last):
        a, b = 7 * (l * J + j), -1
        turn = (0.0, 0.0, 0.0, 1.0)
        if p >= 0:
            b = 7 * (l * J + p)
            turn = kept_rotation(work.decoded, b)
        t = place_of(work, l, j, b, turn)
        if p >= 0:
            v = turned(turn, t)
            u = moved_unit(work, j)
            t = (work.decoded[b] + u * v[0], work.decoded[b + 1] + u * v[1], work.decoded[b + 2] + u * v[2])
        ex, ey, ez = t[0] - work.true[a], t[1] - work.true[a + 1], t[2] - work.true[a + 2]
        q = rotation_of(work, l, j, turn, ex, ey, ez)
        put(work.decoded, a, t, q)
        x, y, z, _ = multiplied(q, conjugated(kept_rotation(work.true, a)))
        # The chord of the difference of both turns: twice the sine of half its angle.
        chord = 2.0 * math.sqrt(x * x + y * y + z * z)
        error = math.sqrt(ex * ex + ey * ey + ez * ez) + reach * chord
        worst = max(worst, error / work.limit[j])
    return worst


def keep_scales(work, j, first, last):
    """The numbers of a joint's scale."""
    column = 9 * j + 6
    for l in range(first, last):
        frame = work.frames[l]
        step = work.sizes[work.code[3 * j + 2]] * work.scale[l]
        for c in range(3):
            x = work.rows[frame * work.size + (7 + c) * work.Jp + j] - work.base[10 * j + 7 + c]
            chosen(work, frame, work.column[column + c], x, step)


def decode_all(work, begin, first, last, most):
    """Chooses the numbers of the joints from `begin` on. Returns the largest error; gives up where that is more than `most`."""
    worst = 0.0
    for j in range(begin, len(work.parents)):
        worst = max(worst, decode_joint(work, j, first, last))
        if worst > most:
            return worst
    return worst


def decode_below(work, j, last, most):
    """The same for a joint and what hangs on it: nothing else changes with it."""
    worst = 0.0
    for k in range(work.below_start[j], work.below_start[j + 1]):
        worst = max(worst, decode_joint(work, work.below[k], 0, last))
        if worst > most:
            return worst
    return worst


@kernel
def tune_steps(work: StepWork, rounds: int, jump: int) -> int:
    """Makes steps coarser, one joint after the other, as long as no error in `work.frames` is too large. Returns how many it changed."""
    J, L = len(work.parents), len(work.frames)
    true_poses(work, 0, L)
    changed = 0
    # First all together, until they fit.
    for _ in range(64):
        if decode_all(work, 0, 0, L, 1.0) <= 1.0:
            break
        for k in range(3 * J):
            work.code[k] = max(work.code[k] - 1, 0)
    for r in range(rounds):
        moved = 0
        for k in range(J):
            j = J - 1 - k if r % 2 == 0 else k
            for kind in range(2):
                c = 9 * j + 3 * kind
                if work.column[c] < 0 and work.column[c + 1] < 0 and work.column[c + 2] < 0:
                    continue
                before = work.code[3 * j + kind]
                work.code[3 * j + kind] = min(before + jump, 255)
                if decode_below(work, j, L, 1.0) <= 1.0:
                    moved += 1
                else:
                    work.code[3 * j + kind] = before
                    decode_below(work, j, L, 1e30)
        changed += moved
        if moved == 0:
            break
    return changed


@kernel
def choose_numbers(
    work: StepWork, first: int, last: int, frame_count: int, lowest: int, highest: int, kept: int
) -> int:
    """Chooses the numbers of the segments `first..last`, each with the coarsest scale whose errors are not too large: a code between `lowest` and
    `highest`, or where `kept` is not zero the one that `codes` has. Returns how many segments had none."""
    J, missed = len(work.parents), 0
    for s in range(first, last):
        n = min(work.length, frame_count - work.length * s)
        for l in range(n):
            work.frames[l] = work.length * s + l
        true_poses(work, 0, n)
        low, high = lowest, highest + 1
        if kept != 0:
            low = work.codes[s]
            high = low + 1
        # `low` is taken to be fine, `high` to be too coarse. Segments are like the one before, mostly.
        around = work.codes[s - 1] if s > first else (low + high) >> 1
        far = 2
        while high - low > 1:
            middle = (low + high) >> 1
            if low < around and around < high:
                middle = around
            elif high == around and around - far > low:
                middle, around, far = around - far, around - far, 2 * far
            elif low == around and around + far < high:
                middle, around, far = around + far, around + far, 2 * far
            for l in range(n):
                work.scale[l] = work.sizes[middle]
            if decode_all(work, 0, 0, n, 1.0) <= 1.0:
                low = middle
            else:
                high = middle
        for l in range(n):
            work.scale[l] = work.sizes[low]
        if decode_all(work, 0, 0, n, 1e30) > 1.0:
            missed += 1
        for j in range(J):
            keep_scales(work, j, 0, n)
        work.codes[s] = low
    return missed
