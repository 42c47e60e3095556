"""The pose kernel: interprets the pose programs of a crowd, from clip frames to skinning matrices in one pass.

A *pose row* is a pose in the layout the kernel likes: ten rows (translation xyz, rotation xyzw, scale xyz) of `Jp` joints
(J rounded up to 16), then `Mp` morph weights. A *bank* is all frames of all clips as pose rows, end to end. A *program*
is a short list of operations on a stack of pose rows; the stack is a few KB of scratch that never leaves the L1 cache.

| operation | stack | meaning |
| --- | --- | --- |
| `SAMPLE clip, time, weight` | push | `weight *` the clip at `time` |
| `ACCUMULATE clip, time, weight` | | top `+= weight *` the clip at `time`, each rotation on the side of what is there |
| `BLEND weight` | pop b | top = top and b mixed by `weight` |
| `LAYER mask, weight` | pop b | the same joint by joint, by `weight *` the mask; where that is zero the top keeps its bits |
| `ADD mask, weight` | pop b | adds the additive pose b: `t + w dt`, `q * dq^w`, `s * ds^w` (to first order) |
| `LAYER_CHANNELS mask, weight` | pop b | as `LAYER`, with masks of their own for translation, rotation, scale |
| `LAYER_MODEL mask, weight` | pop b | the same, with rotations mixed as they are in model space |
| `MERGE weight` | pop b | top `+= weight *` b, each rotation on the side of what is there |
| `SCALE weight` | | top `*= weight`: the first part of a sum |
| `STORE memory` | | keeps the top for later |
| `LOAD memory` | push | what was kept |
| `START_INERTIA memory, h` | pop 3 | of a now, a before, b now, b before (`h` seconds): keeps the difference of a to b and its speed |
| `INERTIA memory, time, seconds` | | adds what is left of a kept difference, which dies out in `seconds` |
| `REACH limb, weight` | | two-bone inverse kinematics (`procedural.reach`) |
| `LOOK chain, weight` | | turns joints towards a place (`procedural.look`) |

Weights of one `SAMPLE` (or `SCALE`) and its `ACCUMULATE`s and `MERGE`s must sum to one. Rotations on the stack may have any
length; they are made unit where they are mixed and at the end. Memory is a row of floats per instance, named by offset.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.kernels import procedural
from marrow.kernels.compiler import kernel
from marrow.kernels.linking import helper, linked

__all__ = [
    "ACCUMULATE", "ADD", "BLEND", "INERTIA", "LAYER", "LAYER_CHANNELS", "LAYER_MODEL", "LOAD", "LOOK", "MERGE", "MODEL",
    "OPERATION", "PALETTE", "POSE", "REACH", "SAMPLE", "SCALE", "START_INERTIA", "STORE", "inertia_size", "run_programs",
]  # fmt: skip

SAMPLE, ACCUMULATE, BLEND, LAYER, ADD, LAYER_CHANNELS, LAYER_MODEL, MERGE = range(8)
SCALE, STORE, LOAD, START_INERTIA, INERTIA, REACH, LOOK = range(8, 15)
OPERATION = np.dtype(
    [("code", np.int32), ("argument", np.int32), ("time", np.float32), ("weight", np.float32)]
)
POSE, MODEL, PALETTE = 1, 2, 4
"""What `run_programs` writes: pose rows, model-space matrices, skinning matrices; sums of these."""


def _emit_sample(first: bool, e: Any, i: Any, Jp: Any, bank: Any, a: Any, b: Any, t: Any, w: Any, stack: Any, top: Any) -> None:  # fmt: skip
    """16 joints of one clip between the frames at `a` and `b`, weighted, put on or added to the stack."""
    t, w = e.splat(t), e.splat(w)

    def row(r: int) -> Any:
        return e.row(i, r, Jp)

    def between(r: int) -> Any:
        before = e.load(bank, e.plus(a, row(r)))
        return before + t * (e.load(bank, e.plus(b, row(r))) - before)

    for r in (0, 1, 2, 7, 8, 9):
        value = w * between(r)
        at = e.plus(top, row(r))
        e.store(stack, at, value if first else e.load(stack, at) + value)
    q = [between(3 + c) for c in range(4)]
    at = [e.plus(top, row(3 + c)) for c in range(4)]
    scale = w * e.inverse_length(e.dot(q, q))
    if first:
        for c in range(4):
            e.store(stack, at[c], scale * q[c])
        return
    present = [e.load(stack, x) for x in at]
    scale = e.select(e.dot(present, q).compare("<", 0.0), -scale, scale)
    for c in range(4):
        e.store(stack, at[c], present[c] + scale * q[c])


def _emit_mix(masked: bool, e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any) -> None:  # fmt: skip
    """16 joints of the two poses at `top` and `other`, mixed into `top`."""
    w = e.splat(w)
    if masked:
        w = w * e.load(masks, e.plus(mask, i))
    rest = 1.0 - w
    idle = w.compare("==", 0.0)

    def row(r: int) -> Any:
        return e.row(i, r, Jp)

    def put(r: int, kept: Any, value: Any) -> None:
        e.store(stack, e.plus(top, row(r)), e.select(idle, kept, value) if masked else value)

    for r in (0, 1, 2, 7, 8, 9):
        a, b = e.load(stack, e.plus(top, row(r))), e.load(stack, e.plus(other, row(r)))
        put(r, a, rest * a + w * b)
    a = [e.load(stack, e.plus(top, row(3 + c))) for c in range(4)]
    b = [e.load(stack, e.plus(other, row(3 + c))) for c in range(4)]
    wa, wb = rest * e.inverse_length(e.dot(a, a)), w * e.inverse_length(e.dot(b, b))
    wb = e.select(e.dot(a, b).compare("<", 0.0), -wb, wb)
    for c in range(4):
        put(3 + c, a[c], wa * a[c] + wb * b[c])


def _emit_add(
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
        put(r, a, a + w * e.load(stack, at(other, r)))
    for r in (7, 8, 9):
        a = e.load(stack, at(top, r))
        put(r, a, a * (1.0 + w * (e.load(stack, at(other, r)) - 1.0)))
    a = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    d = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    # The difference turned `w` of the way from the identity, the short way round.
    scale = w * e.inverse_length(e.dot(d, d))
    scale = e.select(d[3].compare("<", 0.0), -scale, scale)
    x, y, z, s = d[0] * scale, d[1] * scale, d[2] * scale, 1.0 - w + d[3] * scale
    put(3, a[0], a[3] * x + a[0] * s + a[1] * z - a[2] * y)
    put(4, a[1], a[3] * y - a[0] * z + a[1] * s + a[2] * x)
    put(5, a[2], a[3] * z + a[0] * y - a[1] * x + a[2] * s)
    put(6, a[3], a[3] * s - a[0] * x - a[1] * y - a[2] * z)


def _emit_channels(e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any, size: Any) -> None:  # fmt: skip
    """As `_emit_mix`, with three masks `size` apart: translation, rotation, scale."""

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    def share(k: int) -> Any:
        return e.splat(w) * e.load(masks, e.row(e.plus(mask, i), k, size))

    for k, rows in ((0, (0, 1, 2)), (2, (7, 8, 9))):
        v = share(k)
        idle = v.compare("==", 0.0)
        for r in rows:
            a = e.load(stack, at(top, r))
            mixed = (1.0 - v) * a + v * e.load(stack, at(other, r))
            e.store(stack, at(top, r), e.select(idle, a, mixed))
    v = share(1)
    idle = v.compare("==", 0.0)
    a = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    b = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    wa, wb = (1.0 - v) * e.inverse_length(e.dot(a, a)), v * e.inverse_length(e.dot(b, b))
    wb = e.select(e.dot(a, b).compare("<", 0.0), -wb, wb)
    for c in range(4):
        e.store(stack, at(top, 3 + c), e.select(idle, a[c], wa * a[c] + wb * b[c]))


def _emit_sum(first: bool, e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any) -> None:
    """16 joints of the pose at `other`, weighted, written to or added to `top`."""
    w = e.splat(w)

    def at(base: Any, r: int) -> Any:
        return e.plus(base, e.row(i, r, Jp))

    for r in (0, 1, 2, 7, 8, 9):
        value = w * e.load(stack, at(other, r))
        e.store(stack, at(top, r), value if first else e.load(stack, at(top, r)) + value)
    q = [e.load(stack, at(other, 3 + c)) for c in range(4)]
    scale = w * e.inverse_length(e.dot(q, q))
    if first:
        for c in range(4):
            e.store(stack, at(top, 3 + c), scale * q[c])
        return
    present = [e.load(stack, at(top, 3 + c)) for c in range(4)]
    scale = e.select(e.dot(present, q).compare("<", 0.0), -scale, scale)
    for c in range(4):
        e.store(stack, at(top, 3 + c), present[c] + scale * q[c])


def _from(e: Any, a: list[Any], b: list[Any]) -> list[Any]:
    """`conj(b) a` at unit length: the turn that leads from `b` to `a`."""
    sa, sb = e.inverse_length(e.dot(a, a)), e.inverse_length(e.dot(b, b))
    x, y, z, w = (v * sa for v in a)
    p, q, r, s = (v * sb for v in b)
    return [
        s * x - p * w - q * z + r * y,
        s * y + p * z - q * w - r * x,
        s * z - p * y + q * x - r * w,
        s * w + p * x + q * y + r * z,
    ]


def _emit_start(e: Any, i: Any, Jp: Any, stack: Any, a0: Any, a1: Any, b0: Any, b1: Any, h: Any, memory: Any, at: Any, half: Any) -> None:  # fmt: skip
    """What has to die out for 16 joints: nine rows of differences at `at`, nine of their speeds `half` behind.

    Rotations are kept as modified Rodrigues parameters `v / (1 + w)`, which need no trigonometry and no special case.
    """
    rate = 1.0 / e.splat(h)

    def load(base: Any, r: int) -> Any:
        return e.load(stack, e.plus(base, e.row(i, r, Jp)))

    def keep(r: int, now: Any, before: Any) -> None:
        place = e.plus(at, e.row(i, r, Jp))
        e.store(memory, place, now)
        e.store(memory, e.plus(place, half), (now - before) * rate)

    for k, r in enumerate((0, 1, 2, 7, 8, 9)):
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


def _emit_inertia(
    e: Any, i: Any, Jp: Any, stack: Any, top: Any, memory: Any, at: Any, half: Any, u: Any, v: Any
) -> None:
    """Adds `u` times the kept differences and `v` times their speeds to 16 joints."""
    u, v = e.splat(u), e.splat(v)

    def place(r: int) -> Any:
        return e.plus(top, e.row(i, r, Jp))

    def left(r: int) -> Any:
        kept = e.plus(at, e.row(i, r, Jp))
        return u * e.load(memory, kept) + v * e.load(memory, e.plus(kept, half))

    for k, r in enumerate((0, 1, 2, 7, 8, 9)):
        e.store(stack, place(r), e.load(stack, place(r)) + left(k if k < 3 else k + 3))
    d = [left(3 + c) for c in range(3)]
    squared = e.dot(d, d)
    s = 1.0 / (1.0 + squared)
    x, y, z, w = 2.0 * d[0] * s, 2.0 * d[1] * s, 2.0 * d[2] * s, (1.0 - squared) * s
    a = [e.load(stack, place(3 + c)) for c in range(4)]
    e.store(stack, place(3), a[3] * x + a[0] * w + a[1] * z - a[2] * y)
    e.store(stack, place(4), a[3] * y - a[0] * z + a[1] * w + a[2] * x)
    e.store(stack, place(5), a[3] * z + a[0] * y - a[1] * x + a[2] * w)
    e.store(stack, place(6), a[3] * w - a[0] * x - a[1] * y - a[2] * z)


def inertia_size(Jp: int, Mp: int) -> int:
    """How many floats of memory a kept difference takes."""
    return 2 * (9 * Jp + Mp)


def _emit_local(e: Any, i: Any, Jp: Any, stack: Any, top: Any, local: Any) -> None:
    """The local matrices of 16 joints, each 16 floats of `local`: three rows of four and four to spare."""

    def load(r: int) -> Any:
        return e.load(stack, e.plus(top, e.row(i, r, Jp)))

    t = [load(r) for r in range(3)]
    x, y, z, w = q = [load(3 + c) for c in range(4)]
    sx, sy, sz = (load(7 + c) for c in range(3))
    squared = e.dot(q, q)
    # A rotation of no length at all is the identity.
    s = e.select(squared.compare("==", 0.0), e.splat(0.0), 2.0 / squared)
    x2, y2, z2 = s * x, s * y, s * z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    rows = [
        [(1.0 - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, t[0]],
        [(xy + wz) * sx, (1.0 - (xx + zz)) * sy, (yz - wx) * sz, t[1]],
        [(xz - wy) * sx, (yz + wx) * sy, (1.0 - (xx + yy)) * sz, t[2]],
    ]
    base = e.times(i, 16)
    quads = [e.quads(*row) for row in rows]

    def groups(*numbers: int) -> list[int]:
        """Whole groups of four lanes; 4.. are those of the second operand."""
        return [4 * g + lane for g in numbers for lane in range(4)]

    for k in range(4):
        first, second, third = (quads[r][k] for r in range(3))
        for half in range(2):
            both = e.shuffle(first, second, groups(2 * half, 2 * half + 1, 4 + 2 * half, 5 + 2 * half))
            for g in range(2):
                joint = 4 * (2 * half + g) + k
                matrix = e.shuffle(both, third, groups(g, 2 + g, 4 + 2 * half + g, 4 + 2 * half + g))
                e.store(local, e.at(base, 16 * joint), matrix)


def _emit_copy(count: int, e: Any, source: Any, a: Any, out: Any, o: Any) -> None:
    """The first `count` (12 or 16) of 16 floats."""
    (e.store if count == 16 else e.store12)(out, o, e.load(source, a))


def _emit_product(stride: int, e: Any, left: Any, a: Any, right: Any, b: Any, out: Any, o: Any) -> None:
    """`out = left @ right` for affine matrices; `left` may be read four floats past its end, `out` is 12 floats."""
    p = e.load(left, a)
    total = e.shuffle(p, e.splat(0.0), [16 + k if k % 4 < 3 else k for k in range(16)])
    for c in range(3):
        column = e.shuffle(p, p, [4 * (k // 4) + c for k in range(16)])
        total = total + column * e.broadcast4(right, e.at(b, 4 * c))
    if stride == 16:
        e.store(out, o, total)
    else:
        e.store12(out, o, total)


@kernel
def run_programs() -> Any:
    from functools import partial

    import numpy as np

    from marrow.kernels.simd import block

    push = block(partial(_emit_sample, True))
    accumulate = block(partial(_emit_sample, False))
    blend, layer = block(partial(_emit_mix, False)), block(partial(_emit_mix, True))
    add, local_matrices, layer_channels = block(_emit_add), block(_emit_local), block(_emit_channels)
    scale_pose, add_pose = block(partial(_emit_sum, True)), block(partial(_emit_sum, False))
    start_inertia, apply_inertia = block(_emit_start), block(_emit_inertia)
    chain, product = block(partial(_emit_product, 16)), block(partial(_emit_product, 12))
    copy_matrix, write_matrix = block(partial(_emit_copy, 16)), block(partial(_emit_copy, 12))

    compiled = linked(procedural.FUNCTIONS)
    reach, look, layer_in_model_space = (compiled[k] for k in ("reach", "look", "layer_in_model_space"))

    def combine(what, op, masks, Jp, Mp, stack, top, scratch, parents):
        """The rarer operations on two poses: the one at `top` and the one above it."""
        size, joints = 10 * Jp + Mp, 10 * Jp
        other = top + size
        w = op["weight"]
        if what == 7:
            for i in range(0, Jp, 16):
                add_pose(i, Jp, stack, top, other, w)
            for m in range(joints, size):
                stack[top + m] += w * stack[other + m]
            return
        mask, row = op["argument"] * (Jp + Mp), Jp + Mp
        if what == 5:
            for i in range(0, Jp, 16):
                layer_channels(i, Jp, stack, top, other, w, masks, mask, row)
        else:
            layer_in_model_space(
                stack, top, other, Jp, parents.shape[0], parents, masks, mask, row, w, scratch
            )
        for m in range(Mp):
            k = w * masks[mask + Jp + m]
            if k != np.float32(0):
                stack[top + joints + m] += k * (stack[other + joints + m] - stack[top + joints + m])

    combine = helper(combine)

    def special(what, op, Jp, Mp, stack, top, parents, memory, base, vectors, vector, ints, floats):
        """Operations on the pose at `top`, and on those kept in memory. Returns the new top."""
        size, joints = 10 * Jp + Mp, 10 * Jp
        w, at = op["weight"], base + op["argument"]
        if what == 8:
            for i in range(0, Jp, 16):
                scale_pose(i, Jp, stack, top, top, w)
            for m in range(joints, size):
                stack[top + m] *= w
        elif what == 9:
            for k in range(size):
                memory[at + k] = stack[top + k]
        elif what == 10:
            top += size
            for k in range(size):
                stack[top + k] = memory[at + k]
        elif what == 11:
            half = 9 * Jp + Mp
            b1, b0, a1 = top, top - size, top - 2 * size
            top -= 3 * size
            for i in range(0, Jp, 16):
                start_inertia(i, Jp, stack, top, a1, b0, b1, w, memory, at, half)
            for m in range(Mp):
                now = stack[top + joints + m] - stack[b0 + joints + m]
                before = stack[a1 + joints + m] - stack[b1 + joints + m]
                memory[at + 9 * Jp + m] = now
                memory[at + half + 9 * Jp + m] = (now - before) / w
        elif what == 12:
            # The quintic that leaves with the kept place and speed and arrives with none.
            s = min(max(op["time"] / w, np.float32(0)), np.float32(1))
            s3 = s * s * s
            u = np.float32(1.0) + s3 * (np.float32(-10.0) + s * (np.float32(15.0) - np.float32(6.0) * s))
            v = w * (s + s3 * (np.float32(-6.0) + s * (np.float32(8.0) - np.float32(3.0) * s)))
            half = 9 * Jp + Mp
            for i in range(0, Jp, 16):
                apply_inertia(i, Jp, stack, top, memory, at, half, u, v)
            for m in range(Mp):
                stack[top + joints + m] += u * memory[at + 9 * Jp + m] + v * memory[at + half + 9 * Jp + m]
        elif what == 13:
            reach(stack, top, Jp, parents, ints, floats, op["argument"], vectors, vector, w)
        else:
            look(stack, top, Jp, parents, ints, floats, op["argument"], vectors, vector, w)
        return top

    special = helper(special)

    def interpret(first, last, ops, bank, clip_start, clip_frames, clip_rate, masks, parents, Jp, Mp, stack, scratch, memory, base, vectors, vector, ints, floats):  # fmt: skip
        """Runs one program; its result is the pose at the bottom of the stack."""
        size, joints = 10 * Jp + Mp, 10 * Jp
        top = -size
        for o in range(first, last):
            op = ops[o]
            what, w = op["code"], op["weight"]
            if what <= 1:
                clip = op["argument"]
                frames = clip_frames[clip]
                u = min(max(op["time"] * clip_rate[clip], np.float32(0)), np.float32(frames - 1))
                f = min(np.int64(u), max(frames - 2, 0))
                a = clip_start[clip] + f * size
                b = a + size if frames > 1 else a
                t = u - np.float32(f)
                if what == 0:
                    top += size
                    for i in range(0, Jp, 16):
                        push(i, Jp, bank, a, b, t, w, stack, top)
                    for m in range(joints, size):
                        stack[top + m] = w * (bank[a + m] + t * (bank[b + m] - bank[a + m]))
                else:
                    for i in range(0, Jp, 16):
                        accumulate(i, Jp, bank, a, b, t, w, stack, top)
                    for m in range(joints, size):
                        stack[top + m] += w * (bank[a + m] + t * (bank[b + m] - bank[a + m]))
            elif what <= 4:
                other = top
                top -= size
                if what == 2:
                    for i in range(0, Jp, 16):
                        blend(i, Jp, stack, top, other, w, masks, 0)
                    for m in range(joints, size):
                        stack[top + m] += w * (stack[other + m] - stack[top + m])
                else:
                    mask = op["argument"] * (Jp + Mp)
                    if what == 3:
                        for i in range(0, Jp, 16):
                            layer(i, Jp, stack, top, other, w, masks, mask)
                        for m in range(Mp):
                            k = w * masks[mask + Jp + m]
                            if k != np.float32(0):
                                stack[top + joints + m] += k * (
                                    stack[other + joints + m] - stack[top + joints + m]
                                )
                    else:
                        for i in range(0, Jp, 16):
                            add(i, Jp, stack, top, other, w, masks, mask)
                        for m in range(Mp):
                            stack[top + joints + m] += w * masks[mask + Jp + m] * stack[other + joints + m]
            elif what <= 7:
                top -= size
                combine(what, op, masks, Jp, Mp, stack, top, scratch, parents)
            else:
                top = special(
                    what, op, Jp, Mp, stack, top, parents, memory, base, vectors, vector, ints, floats
                )

    interpret = helper(interpret)

    def run(start, ops, bank, clip_start, clip_frames, clip_rate, masks, parents, Jp, Mp, joints, inverse_bind, stack, local, model, memory, memory_stride, vectors, vector_stride, ints, floats, what, out_pose, out_model, out_palette, n0, n1):  # fmt: skip
        J, P, size = parents.shape[0], joints.shape[0], 10 * Jp + Mp
        for n in range(n0, n1):
            interpret(start[n], start[n + 1], ops, bank, clip_start, clip_frames, clip_rate, masks, parents, Jp, Mp, stack, model, memory, n * memory_stride, vectors, n * vector_stride, ints, floats)  # fmt: skip
            if what & 1:
                for k in range(size):
                    out_pose[n * size + k] = stack[k]
            if what & 6:
                for i in range(0, Jp, 16):
                    local_matrices(i, Jp, stack, 0, local)
                for j in range(J):
                    p = parents[j]
                    if p < 0:
                        copy_matrix(local, 16 * j, model, 16 * j)
                    else:
                        chain(model, 16 * p, local, 16 * j, model, 16 * j)
            if what & 2:
                for j in range(J):
                    write_matrix(model, 16 * j, out_model, (n * J + j) * 12)
            if what & 4:
                for p in range(P):
                    product(model, 16 * joints[p], inverse_bind, 12 * p, out_palette, (n * P + p) * 12)

    return run
