"""Skinning kernels over vertices bucketed by joint set (see `marrow.skinning.layout`).

All 16 vertices of a block share their joints, so a block needs no gathers: it broadcasts matrices and runs its
arithmetic across vertices. There is one kernel for each combination of method, outputs and morphs, compiled when it
is first needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from marrow.kernels.compiler import Kernel

__all__ = ["METHODS", "TABLE", "skin_kernel"]

METHODS = ("linear", "dual_quaternion", "dual_quaternion_stretch")


# The arrays of a layout, passed to the kernels as a table of addresses: unpacking a dozen arrays at every call would cost
# as much as skinning a thousand vertices.
TABLE = (
    "joint_start", "joints", "weights", "rows", "positions", "normals", "tangents",
    "morph_start", "morph_target", "morph_deltas",
)  # fmt: skip
_INTEGERS = {"joint_start", "joints", "rows", "morph_start", "morph_target"}


@functools.cache
def skin_kernel(method: str, vectors: int, morphs: bool) -> Callable[..., None]:
    """The kernel for a method, with `vectors` 0 for positions, 1 for normals too, 2 for tangents too.

    Its arguments: `ranges (6,)` (first block of 1, 2, 3, 4 and more influences, end), the layout's `table` of addresses,
    flat `matrices (F * P * 12,)`, `dual (F * P * 8,)` and `morph_weights (F * targets,)`, the flat outputs, then P, V, the
    number of targets, and what to do: poses `f0..f1`, blocks `b0..b1`.
    """
    build = functools.partial(_build, method, vectors, morphs)
    return Kernel(f"skin_{method}_{vectors}{'_morphs' if morphs else ''}", build)


def _build(method: str, vectors: int, morphs: bool) -> Callable[..., None]:
    from marrow.kernels import simd

    blocks = [simd.block(functools.partial(_emit, method, vectors, morphs, k)) for k in (1, 2, 3, 4, 0)]
    one, two, three, four, many = blocks

    def run(ranges, table, matrices, dual, morph_weights, out_p, out_n, out_t, P, V, targets, f0, f1, b0, b1):
        for f in range(f0, f1):
            m, q, w, p, t = f * P * 12, f * P * 8, f * targets, f * V * 3, f * V * 4
            for b in range(max(b0, ranges[0]), min(b1, ranges[1])):
                one(b, table, matrices, m, dual, q, morph_weights, w, out_p, out_n, p, out_t, t)
            for b in range(max(b0, ranges[1]), min(b1, ranges[2])):
                two(b, table, matrices, m, dual, q, morph_weights, w, out_p, out_n, p, out_t, t)
            for b in range(max(b0, ranges[2]), min(b1, ranges[3])):
                three(b, table, matrices, m, dual, q, morph_weights, w, out_p, out_n, p, out_t, t)
            for b in range(max(b0, ranges[3]), min(b1, ranges[4])):
                four(b, table, matrices, m, dual, q, morph_weights, w, out_p, out_n, p, out_t, t)
            for b in range(max(b0, ranges[4]), min(b1, ranges[5])):
                many(b, table, matrices, m, dual, q, morph_weights, w, out_p, out_n, p, out_t, t)

    return run


def _emit(method: str, vectors: int, morphs: bool, influences: int, e: Any, b: Any, table: Any, matrices: Any, m: Any, dual: Any, q: Any, morph_weights: Any, w: Any, out_p: Any, out_n: Any, p: Any, out_t: Any, t: Any) -> None:  # fmt: skip
    """One block of 16 vertices: blend the matrices, morph the vertices, carry them, scatter them to their rows.
    `m`, `q`, `w`, `p`, `t` are where this pose's matrices, dual quaternions, morph weights, 3-rows and 4-rows begin."""
    joint_start, joints, weights, rows, pos, nor, tan, morph_start, morph_target, deltas = (
        e.pointer(table, i, integer=name in _INTEGERS) for i, name in enumerate(TABLE)
    )
    first = e.index(joint_start, b)
    count = e.builder.sub(e.index(joint_start, e.at(b, 1)), first)
    blend = _Blend(e, joints, weights, first, count, influences)
    if method == "linear":
        matrix = blend.sum(matrices, m, 12)
    else:
        matrix = _rigid_matrix(e, blend.sum_dual_quaternions(dual, q))
        if method == "dual_quaternion_stretch":
            matrix = _multiply(e, matrix, blend.sum(matrices, m, 12))

    at3, at4 = e.times(b, 48), e.times(b, 64)
    position = [e.load(pos, e.at(at3, 16 * c)) for c in range(3)]
    normal = [e.load(nor, e.at(at3, 16 * c)) for c in range(3)] if vectors else []
    tangent = [e.load(tan, e.at(at4, 16 * c)) for c in range(3)] if vectors > 1 else []
    if morphs:
        # Deltas of a target for one block: 16 x, y, z of the position, then of the normal, then of the tangent.
        start = e.index(morph_start, b)
        entries = e.builder.sub(e.index(morph_start, e.at(b, 1)), start)

        def add_target(k: Any, values: list[Any]) -> list[Any]:
            entry = e.plus(start, k)
            weight = e.broadcast(morph_weights, e.plus(w, e.index(morph_target, entry)))
            at = e.times(entry, 144)
            # A target that is off changes nothing, even where its deltas are not numbers.
            on = weight.compare("!=", 0.0)
            return [
                e.select(on, v + weight * e.load(deltas, e.at(at, 16 * i)), v) for i, v in enumerate(values)
            ]

        moved = e.accumulate(position + normal + tangent, entries, add_target)
        position, normal, tangent = moved[:3], moved[3:6], moved[6:]

    row = [matrix[4 * i : 4 * i + 3] for i in range(3)]
    dst = e.times(b, 16)
    e.scatter(out_p, rows, dst, [e.dot(row[i], position) + matrix[4 * i + 3] for i in range(3)], p)
    if not vectors:
        return
    cofactor = [e.cross(row[1], row[2]), e.cross(row[2], row[0]), e.cross(row[0], row[1])]
    n = _unit(e, [e.dot(c, normal) for c in cofactor])
    e.scatter(out_n, rows, dst, n, p)
    if vectors > 1:
        moved = [e.dot(r, tangent) for r in row]
        along = e.dot(n, moved)
        unit = _unit(e, [x - y * along for x, y in zip(moved, n)])
        e.scatter(out_t, rows, dst, [*unit, e.load(tan, e.at(at4, 48))], t)


def _unit(e: Any, v: list[Any]) -> list[Any]:
    scale = e.inverse_length(e.dot(v, v))
    return [x * scale for x in v]


class _Blend:
    """Weighted sums over the joints of a block: unrolled for 1 to 4 influences, a loop for more (`influences` 0).

    In the loop blocks, vertices of different joint sets share a block, so a weight may be zero: such a lane is left
    alone rather than multiplied by zero, which would spread another joint's NaN.
    """

    def __init__(self, e: Any, joints: Any, weights: Any, first: Any, count: Any, influences: int) -> None:
        self.e, self.joints, self.weights = e, joints, weights
        self.first, self.count, self.influences = first, count, influences

    def _joint(self, k: Any) -> Any:
        return self.e.index(
            self.joints, self.e.plus(self.first, k) if not isinstance(k, int) else self.e.at(self.first, k)
        )

    def _weight(self, k: Any) -> Any:
        at = self.e.plus(self.first, k) if not isinstance(k, int) else self.e.at(self.first, k)
        return self.e.load(self.weights, self.e.times(at, 16))

    def sum(self, table: Any, base: Any, width: int) -> list[Any]:
        """`sum_k w_k table[joint_k]`, `width` numbers per joint."""
        e = self.e
        if self.influences == 1:
            at = e.plus(base, e.times(self._joint(0), width))
            return [e.broadcast(table, e.at(at, i)) for i in range(width)]
        if self.influences:
            at = [e.plus(base, e.times(self._joint(k), width)) for k in range(self.influences)]
            w = [self._weight(k) for k in range(self.influences)]
            return [e.dot(w, [e.broadcast(table, e.at(a, i)) for a in at]) for i in range(width)]

        def step(k: Any, total: list[Any]) -> list[Any]:
            at, w = e.plus(base, e.times(self._joint(k), width)), self._weight(k)
            used = w.compare("!=", 0.0)
            return [e.select(used, t + w * e.broadcast(table, e.at(at, i)), t) for i, t in enumerate(total)]

        return e.accumulate([e.splat(0.0)] * width, self.count, step)

    def sum_dual_quaternions(self, dual: Any, base: Any) -> list[Any]:
        """The same for dual quaternions, each on the side of the block's first joint, which has the largest weight."""
        e = self.e
        lead_at = e.plus(base, e.times(self._joint(0), 8))
        lead = [e.scalar(dual, e.at(lead_at, i)) for i in range(4)]
        if self.influences == 1:
            return [e.broadcast(dual, e.at(lead_at, i)) for i in range(8)]

        def signed(k: Any) -> tuple[Any, list[Any]]:
            at = e.plus(base, e.times(self._joint(k), 8))
            part = [e.scalar(dual, e.at(at, i)) for i in range(8)]
            side = e.dot(lead, part[:4])
            sign = e.select(side.compare("<", 0.0), e.constant(-1.0), e.constant(1.0))
            return self._weight(k), [e.splat(sign * x) for x in part]

        if self.influences:
            terms = [signed(k) for k in range(self.influences)]
            return [e.dot([w for w, _ in terms], [part[i] for _, part in terms]) for i in range(8)]

        def step(k: Any, total: list[Any]) -> list[Any]:
            w, part = signed(k)
            used = w.compare("!=", 0.0)
            return [e.select(used, t + w * x, t) for t, x in zip(total, part)]

        return e.accumulate([e.splat(0.0)] * 8, self.count, step)


def _rigid_matrix(e: Any, dual: list[Any]) -> list[Any]:
    """The affine matrix of a dual quaternion of any length: dividing by the squared length normalises both parts."""
    x, y, z, w, dx, dy, dz, dw = dual
    s = 2.0 / e.dot(dual[:4], dual[:4])
    sx, sy, sz = s * x, s * y, s * z
    xx, yy, zz, xy, xz, yz = x * sx, y * sy, z * sz, x * sy, x * sz, y * sz
    wx, wy, wz = w * sx, w * sy, w * sz
    # Translation: 2 * dual * conjugate(real) / |real|^2.
    tx = s * (w * dx - dw * x + y * dz - z * dy)
    ty = s * (w * dy - dw * y + z * dx - x * dz)
    tz = s * (w * dz - dw * z + x * dy - y * dx)
    return [
        1.0 - (yy + zz), xy - wz, xz + wy, tx,
        xy + wz, 1.0 - (xx + zz), yz - wx, ty,
        xz - wy, yz + wx, 1.0 - (xx + yy), tz,
    ]  # fmt: skip


def _multiply(e: Any, a: list[Any], b: list[Any]) -> list[Any]:
    """The product of two affine matrices."""
    out = []
    for i in range(3):
        for j in range(4):
            value = e.dot(a[4 * i : 4 * i + 3], [b[j], b[4 + j], b[8 + j]])
            out.append(value + a[4 * i + 3] if j == 3 else value)
    return out
