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

Weights of one `SAMPLE` and its `ACCUMULATE`s must sum to one. Rotations on the stack may have any length; they are made
unit where they are mixed and at the end.
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.compiler import kernel

__all__ = ["ACCUMULATE", "ADD", "BLEND", "LAYER", "MODEL", "PALETTE", "POSE", "SAMPLE", "run_programs"]

SAMPLE, ACCUMULATE, BLEND, LAYER, ADD = range(5)
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


def _emit_add(e: Any, i: Any, Jp: Any, stack: Any, top: Any, other: Any, w: Any, masks: Any, mask: Any) -> None:
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
    for group in range(4):
        for k in range(4):
            lanes = range(4 * group, 4 * group + 4)
            at = e.at(base, 16 * (4 * group + k))
            for r in range(3):
                e.store(local, e.at(at, 4 * r), e.shuffle(quads[r][k], quads[r][k], lanes))


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

    from marrow.kernels.compiler import jit
    from marrow.kernels.simd import block

    push = block(partial(_emit_sample, True))
    accumulate = block(partial(_emit_sample, False))
    blend, layer = block(partial(_emit_mix, False)), block(partial(_emit_mix, True))
    add, local_matrices = block(_emit_add), block(_emit_local)
    chain, product = block(partial(_emit_product, 16)), block(partial(_emit_product, 12))

    def interpret(first, last, code, arg, time, weight, bank, clip_start, clip_frames, clip_rate, masks, Jp, Mp, stack):
        """Runs one program; its result is the pose at the bottom of the stack."""
        size, joints = 10 * Jp + Mp, 10 * Jp
        top = -size
        for op in range(first, last):
            what, w = code[op], weight[op]
            if what <= 1:
                clip = arg[op]
                frames = clip_frames[clip]
                u = min(max(time[op] * clip_rate[clip], np.float32(0)), np.float32(frames - 1))
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
            else:
                other = top
                top -= size
                if what == 2:
                    for i in range(0, Jp, 16):
                        blend(i, Jp, stack, top, other, w, masks, 0)
                    for m in range(joints, size):
                        stack[top + m] += w * (stack[other + m] - stack[top + m])
                else:
                    mask = arg[op] * (Jp + Mp)
                    if what == 3:
                        for i in range(0, Jp, 16):
                            layer(i, Jp, stack, top, other, w, masks, mask)
                        for m in range(Mp):
                            k = w * masks[mask + Jp + m]
                            if k != np.float32(0):
                                stack[top + joints + m] += k * (stack[other + joints + m] - stack[top + joints + m])
                    else:
                        for i in range(0, Jp, 16):
                            add(i, Jp, stack, top, other, w, masks, mask)
                        for m in range(Mp):
                            stack[top + joints + m] += w * masks[mask + Jp + m] * stack[other + joints + m]

    interpret = jit(interpret)

    def run(start, code, arg, time, weight, bank, clip_start, clip_frames, clip_rate, masks, parents, Jp, Mp, joints, inverse_bind, stack, local, model, what, out_pose, out_model, out_palette, n0, n1):  # fmt: skip
        J, P, size = parents.shape[0], joints.shape[0], 10 * Jp + Mp
        for n in range(n0, n1):
            interpret(start[n], start[n + 1], code, arg, time, weight, bank, clip_start, clip_frames, clip_rate, masks, Jp, Mp, stack)  # fmt: skip
            if what & 1:
                for k in range(size):
                    out_pose[n * size + k] = stack[k]
            if what & 6:
                for i in range(0, Jp, 16):
                    local_matrices(i, Jp, stack, 0, local)
                for j in range(J):
                    p = parents[j]
                    if p < 0:
                        for k in range(12):
                            model[16 * j + k] = local[16 * j + k]
                    else:
                        chain(model, 16 * p, local, 16 * j, model, 16 * j)
            if what & 2:
                for j in range(J):
                    for k in range(12):
                        out_model[(n * J + j) * 12 + k] = model[16 * j + k]
            if what & 4:
                for p in range(P):
                    product(model, 16 * joints[p], inverse_bind, 12 * p, out_palette, (n * P + p) * 12)

    return run
