"""The pose kernel: interprets the pose programs of a crowd, from clip frames to skinning matrices in one pass.

A *bank* is all frames of all clips as pose rows, end to end. A *program* is a short list of operations (`kernels.operations`) on a
stack of pose rows; the stack is a few KB of scratch that never leaves the L1 cache. The result is the pose at its bottom.
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.language.dispatch import Dispatch
from marrow.kernels.language.kernel import kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.operations import OPERATIONS, PoseWork, sound
from marrow.kernels.operations.record import copy_lanes, copy_pose, row_size

__all__ = ["MODEL", "MORPHS", "PALETTE", "POSE", "product", "run_programs"]

POSE, MODEL, PALETTE, MORPHS = 1, 2, 4, 8
"""What `run_programs` writes: pose rows, model-space matrices, skinning matrices, morph weights; sums of these."""
OPERATION_COUNT = len(OPERATIONS)


def local_rows(e: Any, t: list[Any], q: list[Any], scale: list[Any]) -> list[list[Any]]:
    """The three rows of a joint's local matrix."""
    x, y, z, w = q
    sx, sy, sz = scale
    squared = e.dot(q, q)
    # A rotation of no length at all is the identity.
    s = e.select(squared.compare("==", 0.0), e.splat(0.0), 2.0 / squared)
    x2, y2, z2 = s * x, s * y, s * z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return [
        [(1.0 - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, t[0]],
        [(xy + wz) * sx, (1.0 - (xx + zz)) * sy, (yz - wx) * sz, t[1]],
        [(xz - wy) * sx, (yz + wx) * sy, (1.0 - (xx + yy)) * sz, t[2]],
    ]


def _emit_local(e: Any, i: Any, Jp: Any, stack: Any, top: Any, local: Any) -> None:
    """The local matrices of 16 joints, each 16 floats of `local`: three rows of four and four to spare."""
    pose = [e.load(stack, e.plus(top, e.row(i, r, Jp))) for r in range(10)]
    rows = local_rows(e, pose[:3], pose[3:7], pose[7:])
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


def _emit_write(e: Any, source: Any, a: Any, out: Any, o: Any) -> None:
    """An affine matrix: the first 12 of 16 floats."""
    e.store12(out, o, e.load(source, a))


def _emit_product(
    left_spare: bool, spare: bool, e: Any, left: Any, a: Any, right: Any, b: Any, out: Any, o: Any
) -> None:
    """`out = left @ right` for affine matrices. `left` has 16 floats where it has room to spare, else 12; so has `out`."""
    p = e.load(left, a) if left_spare else e.load12(left, a)
    total = e.shuffle(p, e.splat(0.0), [16 + k if k % 4 < 3 else k for k in range(16)])
    for c in range(3):
        column = e.shuffle(p, p, [4 * (k // 4) + c for k in range(16)])
        total = e.fma(column, e.broadcast4(right, e.at(b, 4 * c)), total)
    (e.store if spare else e.store12)(out, o, total)


local_matrices, write_matrix = block(_emit_local), block(_emit_write)
chain, product = block(_emit_product, True, True), block(_emit_product, False, False)
palette_matrix = block(_emit_product, True, False)
operate = Dispatch([o.run for o in OPERATIONS])


def interpret(work, n, first, last, poses):
    """Runs one program, from where `poses` lie on the stack. Returns the operation that names what is not there, or -1 when all
    are sound: a program that breaks a rule is not run any further."""
    size = row_size(work)
    if first < 0 or last < first or last > len(work.ops):
        return max(last, 0)
    for o in range(first, last):
        op = work.ops[o]
        code, argument = op["code"], op["argument"]
        if code < 0 or code >= OPERATION_COUNT:
            return o
        limit, pops, more = work.rules[4 * code], work.rules[4 * code + 1], work.rules[4 * code + 2]
        if argument < 0 or argument >= limit or poses < pops or poses + more > work.depth:
            return o
        named = work.rules[4 * code + 3]
        if named != 0 and not sound(work, n, named, argument):
            return o
        poses += more
        operate(code, work, n, (poses - 1) * size, argument, op["time"], op["weight"])
    # A program that only keeps something for later may leave any number of poses.
    return -1 if poses == 1 or work.wanted == 0 else last


def write_outputs(work, n):
    """Pose row, model matrices and palette of the pose at the bottom of the stack, as far as they are wanted, as the n-th."""
    J, P, size = len(work.parents), len(work.palette_joints), row_size(work)
    if work.wanted & 1:
        copy_pose(work, work.stack, 0, work.out_pose, n * size)
    if work.wanted & 8:
        copy_lanes.each(0, work.Mp, 16, work.stack, 10 * work.Jp, work.out_morphs, n * work.Mp)
    if work.wanted & 6:
        local_matrices.each(0, work.lanes, 16, work.Jp, work.stack, 0, work.local)
        for j in range(J):
            p = work.parents[j]
            if p < 0:
                copy_lanes(16 * j, work.local, 0, work.model, 0)
            else:
                chain(work.model, 16 * p, work.local, 16 * j, work.model, 16 * j)
    if work.wanted & 2:
        for j in range(J):
            write_matrix(work.model, 16 * j, work.out_model, (n * J + j) * 12)
    if work.wanted & 4:
        for p in range(P):
            joint = work.palette_joints[p]
            palette_matrix(
                work.model, 16 * joint, work.inverse_bind, 12 * p, work.out_palette, (n * P + p) * 12
            )


@kernel
def run_programs(work: PoseWork, n0: int, n1: int) -> tuple[int, int]:
    """Evaluates instances `n0..n1`, or those of `work.instances`. Returns the first instance whose program is unsound and the
    operation that makes it so, or twice -1; twice -2 where there are operations that have to be run before these."""
    for r in range(len(work.before)):
        if work.before[r] != 0:
            return -2, -2
    for k in range(n0, n1):
        n = work.instances[k] if len(work.instances) > 0 else k
        if n < 0 or n >= len(work.start) or n >= len(work.end):
            return n, 0
        wrong = interpret(work, n, work.start[n], work.end[n], 0)
        if wrong >= 0:
            return n, wrong
        write_outputs(work, k)
    return -1, -1
