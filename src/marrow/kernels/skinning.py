"""Skinning kernels over vertices bucketed by joint set (see `marrow.skinning.layout`).

All 16 vertices of a block share their joints, so a block needs no gathers: it broadcasts matrices and runs its arithmetic across
vertices. There is one kernel for each method and choice of outputs; what an output is does not depend on which others are asked
for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from marrow.kernels.language.annotations import ANY, Out, f4, i4, i8
from marrow.kernels.language.kernel import Kernel
from marrow.kernels.language.lanes import block

__all__ = ["METHODS", "InfluenceBlend", "SkinWork", "carried", "carrier", "skin_kernel"]

METHODS = ("linear", "rigid", "uniform", "stretch", "blended")
"""`linear` blends matrices; `rigid` dual quaternions; `uniform` and `stretch` dual quaternions of joints that also scale, all
ways alike or in any way; `blended` mixes `linear` and `stretch` vertex by vertex."""


class SkinWork(NamedTuple):
    """What the kernels read and write: a layout, matrices and the like of F poses, outputs; all flat."""

    ranges: i8[6]
    joint_start: i4[ANY]
    joints: i4[ANY]
    weights: f4[ANY]
    rows: i4[ANY]
    runs: i4[ANY]
    positions: f4[ANY]
    normals: f4[ANY]
    tangents: f4[ANY]
    shares: f4[ANY]
    morph_start: i4[ANY]
    morph_target: i4[ANY]
    morph_deltas: f4[ANY]
    matrices: f4[ANY]
    stretch: f4[ANY]
    dual: f4[ANY]
    morph_weights: f4[ANY]
    out_p: Out[f4[ANY]]
    out_n: Out[f4[ANY]]
    out_t: Out[f4[ANY]]
    P: int
    V: int
    targets: int


def skin_kernel(method: str, vectors: int) -> Kernel:
    """The kernel for a method, with `vectors` 0 for positions, 1 for normals too, 2 for tangents too. Its arguments: `work`,
    then which poses `f0..f1` and blocks `b0..b1`."""
    return _KERNELS[method, vectors]


def _make(method: str, vectors: int) -> Kernel:
    one, two, three, four, many = (block(emit_block, method, vectors, k) for k in (1, 2, 3, 4, 0))

    def run(work: SkinWork, f0: int, f1: int, b0: int, b1: int) -> None:
        for f in range(f0, f1):
            one.each(max(b0, work.ranges[0]), min(b1, work.ranges[1]), 1, work, f)
            two.each(max(b0, work.ranges[1]), min(b1, work.ranges[2]), 1, work, f)
            three.each(max(b0, work.ranges[2]), min(b1, work.ranges[3]), 1, work, f)
            four.each(max(b0, work.ranges[3]), min(b1, work.ranges[4]), 1, work, f)
            many.each(max(b0, work.ranges[4]), min(b1, work.ranges[5]), 1, work, f)

    return Kernel(f"skin_{method}_{vectors}", run)


def emit_block(method: str, vectors: int, influences: int, e: Any, b: Any, work: Any, f: Any) -> None:
    """One block of 16 vertices in pose `f`: blend what moves them, morph them, carry them, write them to their rows."""
    first = e.index(work.joint_start, b)
    count = e.minus(e.index(work.joint_start, e.at(b, 1)), first)
    blend = InfluenceBlend(e, work.joints, work.weights, first, count, influences)
    pose = e.product(f, work.P)
    carry = carrier(method)(e, method, blend, work, pose, b)

    at3, at4 = e.times(b, 48), e.times(b, 64)
    position = [e.load(work.positions, e.at(at3, 16 * c)) for c in range(3)]
    normal = [e.load(work.normals, e.at(at3, 16 * c)) for c in range(3)] if vectors else []
    tangent = [e.load(work.tangents, e.at(at4, 16 * c)) for c in range(3)] if vectors > 1 else []
    moved = _morphed(e, work, b, f, position + normal + tangent)
    position, normal, tangent = moved[:3], moved[3:6], moved[6:]

    vertex = e.product(f, work.V)
    base3, base4 = e.times(vertex, 3), e.times(vertex, 4)
    p, n, t, mirrored = carried(e, carry, position, normal, tangent)
    outputs = [(work.out_p, p, base3)]
    if vectors:
        outputs.append((work.out_n, n, base3))
    if vectors > 1:
        hand = e.load(work.tangents, e.at(at4, 48))
        outputs.append(
            (work.out_t, [*t, hand if mirrored is None else e.select(mirrored, -hand, hand)], base4)
        )

    run = e.index(work.runs, b)

    def in_a_row() -> None:
        for out, parts, base in outputs:
            e.scatter_run(out, run, parts, base)

    def scattered() -> None:
        for out, parts, base in outputs:
            e.scatter(out, work.rows, e.times(b, 16), parts, base)

    e.branch(run, in_a_row, scattered)


def carrier(method: str) -> Any:
    """What moves vertices under a method."""
    return _DualCarrier if method in ("rigid", "uniform") else _MatrixCarrier


def carried(
    e: Any, carry: Any, position: list[Any], normal: list[Any], tangent: list[Any]
) -> tuple[list[Any], list[Any], list[Any], Any]:
    """A position, a unit normal and a unit tangent at a right angle to it, moved; no vectors where none are given. Last: where
    the surface is mirrored, so that a tangent's handedness turns; None where it never is."""
    p, n, t, mirrored = carry.point(position), [], [], None
    if normal:
        n, mirrored = carry.normal(normal)
        n = e.unit(n)
    if tangent:
        along = carry.direction(tangent)
        lifted = e.dot(n, along)
        t = e.unit([e.fnma(y, lifted, x) for x, y in zip(along, n)])
    return p, n, t, mirrored


class _MatrixCarrier:
    """Moves vertices by an affine matrix each."""

    def __init__(self, e: Any, method: str, blend: InfluenceBlend, work: Any, pose: Any, b: Any) -> None:
        self.e, self.matrix = e, _matrix(e, method, blend, work, pose, b)
        self.rows = [self.matrix[4 * i : 4 * i + 3] for i in range(3)]

    def point(self, p: list[Any]) -> list[Any]:
        return [self.e.dot(self.rows[i], p, self.matrix[4 * i + 3]) for i in range(3)]

    def direction(self, v: list[Any]) -> list[Any]:
        return [self.e.dot(row, v) for row in self.rows]

    def normal(self, n: list[Any]) -> tuple[list[Any], Any]:
        """Through the cofactor, turned round where the matrix mirrors: what was outside stays outside."""
        e, rows = self.e, self.rows
        cofactor = [e.cross(rows[1], rows[2]), e.cross(rows[2], rows[0]), e.cross(rows[0], rows[1])]
        mirrored = e.dot(rows[0], cofactor[0]).compare("<", 0.0)
        return [e.select(mirrored, -x, x) for x in (e.dot(c, n) for c in cofactor)], mirrored


class _DualCarrier:
    """Moves vertices by a dual quaternion each, after a scale in all ways alike where joints have one.

    For `q` of any length and dual part `d`, with `s = 2 / |q|^2`: a vector turns to `v + s q x (q x v + w v)`, and a point goes to
    `p + s (q x (q x p + w p + d) + w d - dw q)`.
    """

    def __init__(self, e: Any, method: str, blend: InfluenceBlend, work: Any, pose: Any, b: Any) -> None:
        self.e = e
        dual = blend.sum_dual_quaternions(work.dual, e.times(pose, 8))
        self.q, self.w, self.d, self.dw = dual[:3], dual[3], dual[4:7], dual[7]
        self.s = 2.0 / e.dot(dual[:4], dual[:4])
        self.scale: Any = None
        if method == "uniform":
            self.scale, *self.shift = blend.sum(work.stretch, e.times(pose, 12), 12, (0, 3, 7, 11))

    def _crossed(self, v: list[Any], start: list[Any]) -> list[Any]:
        """`start + q x v`."""
        e, q = self.e, self.q
        return [
            e.fnma(q[2], v[1], e.fma(q[1], v[2], start[0])),
            e.fnma(q[0], v[2], e.fma(q[2], v[0], start[1])),
            e.fnma(q[1], v[0], e.fma(q[0], v[1], start[2])),
        ]

    def point(self, p: list[Any]) -> list[Any]:
        e, q, w, d = self.e, self.q, self.w, self.d
        if self.scale is not None:
            p = [e.fma(self.scale, x, c) for x, c in zip(p, self.shift)]
        inner = self._crossed(p, [e.fma(w, x, y) for x, y in zip(p, d)])
        moved = self._crossed(inner, [e.fnma(self.dw, x, w * y) for x, y in zip(q, d)])
        return [e.fma(self.s, m, x) for m, x in zip(moved, p)]

    def direction(self, v: list[Any]) -> list[Any]:
        e, q = self.e, self.q
        inner = self._crossed(v, [self.w * x for x in v])
        turned = [
            e.fnma(q[2], inner[1], q[1] * inner[2]),
            e.fnma(q[0], inner[2], q[2] * inner[0]),
            e.fnma(q[1], inner[0], q[0] * inner[1]),
        ]
        return [e.fma(self.s, t, x) for t, x in zip(turned, v)]

    def normal(self, n: list[Any]) -> tuple[list[Any], Any]:
        """What turns, and scales by more than nothing, never mirrors."""
        return self.direction(n), None


def _morphed(e: Any, work: Any, b: Any, f: Any, values: list[Any]) -> list[Any]:
    """Adds the morph targets that touch a block. Their deltas: 16 x, y, z of the position, then of the normal and tangent."""
    start = e.index(work.morph_start, b)
    entries = e.minus(e.index(work.morph_start, e.at(b, 1)), start)
    weights = e.product(f, work.targets)

    def add_target(k: Any, values: list[Any]) -> list[Any]:
        entry = e.plus(start, k)
        weight = e.broadcast(work.morph_weights, e.plus(weights, e.index(work.morph_target, entry)))
        at = e.times(entry, 144)
        # A target that is off changes nothing, even where its deltas are not numbers.
        on = weight.compare("!=", 0.0)
        return [
            e.select(on, e.fma(weight, e.load(work.morph_deltas, e.at(at, 16 * i)), v), v)
            for i, v in enumerate(values)
        ]

    return e.accumulate(values, entries, add_target)


def _matrix(e: Any, method: str, blend: InfluenceBlend, work: Any, pose: Any, b: Any) -> list[Any]:
    """The affine matrix of every vertex of a block, row by row."""
    matrices, dual = e.times(pose, 12), e.times(pose, 8)
    if method == "linear":
        return blend.sum(work.matrices, matrices, 12, range(12))
    rigid = _rigid_matrix(e, blend.sum_dual_quaternions(work.dual, dual))
    stretched = _multiply(e, rigid, blend.sum(work.stretch, matrices, 12, range(12)))
    if method == "stretch":
        return stretched
    share = e.load(work.shares, e.times(b, 16))
    rest = 1.0 - share
    linear = blend.sum(work.matrices, matrices, 12, range(12))
    return [e.fma(share, d, rest * m) for d, m in zip(stretched, linear)]


class InfluenceBlend:
    """Weighted sums over the joints of a block: unrolled for 1 to 4 influences, a loop for more (`influences` 0).

    In the loop blocks, vertices of different joint sets share a block, so a weight may be zero: such a lane is left
    alone rather than multiplied by zero, which would spread another joint's NaN.
    """

    def __init__(self, e: Any, joints: Any, weights: Any, first: Any, count: Any, influences: int) -> None:
        self.e, self.joints, self.weights = e, joints, weights
        self.first, self.count, self.influences = first, count, influences

    def _joint(self, k: Any) -> Any:
        return self.e.index(
            self.joints, self.e.at(self.first, k) if isinstance(k, int) else self.e.plus(self.first, k)
        )

    def _weight(self, k: Any) -> Any:
        at = self.e.at(self.first, k) if isinstance(k, int) else self.e.plus(self.first, k)
        return self.e.load(self.weights, self.e.times(at, 16))

    def sum(self, table: Any, base: Any, width: int, columns: Any) -> list[Any]:
        """`sum_k w_k table[joint_k]`: some `columns` of tables with `width` numbers per joint."""
        e = self.e
        if self.influences == 1:
            at = e.plus(base, e.times(self._joint(0), width))
            return [e.broadcast(table, e.at(at, i)) for i in columns]
        if self.influences:
            at = [e.plus(base, e.times(self._joint(k), width)) for k in range(self.influences)]
            w = [self._weight(k) for k in range(self.influences)]
            return [e.dot(w, [e.broadcast(table, e.at(a, i)) for a in at]) for i in columns]

        def step(k: Any, total: list[Any]) -> list[Any]:
            at, w = e.plus(base, e.times(self._joint(k), width)), self._weight(k)
            used = w.compare("!=", 0.0)
            return [
                e.select(used, e.fma(w, e.broadcast(table, e.at(at, i)), t), t)
                for i, t in zip(columns, total)
            ]

        return e.accumulate([e.splat(0.0)] * len(columns), self.count, step)

    def sum_dual_quaternions(self, dual: Any, base: Any) -> list[Any]:
        """The same for dual quaternions, each on the side of the block's first joint, which has the largest weight."""
        e = self.e
        lead_at = e.plus(base, e.times(self._joint(0), 8))
        if self.influences == 1:
            return [e.broadcast(dual, e.at(lead_at, i)) for i in range(8)]
        lead = [e.scalar(dual, e.at(lead_at, i)) for i in range(4)]

        def signed(k: Any) -> tuple[Any, list[Any]]:
            at = e.plus(base, e.times(self._joint(k), 8))
            side = e.dot(lead, [e.scalar(dual, e.at(at, i)) for i in range(4)])
            # The sign goes with the weight: one factor instead of eight.
            sign = e.select(side.compare("<", 0.0), e.constant(-1.0), e.constant(1.0))
            return e.splat(sign) * self._weight(k), [e.broadcast(dual, e.at(at, i)) for i in range(8)]

        if self.influences:
            terms = [signed(k) for k in range(self.influences)]
            return [e.dot([w for w, _ in terms], [part[i] for _, part in terms]) for i in range(8)]

        def step(k: Any, total: list[Any]) -> list[Any]:
            w, part = signed(k)
            used = w.compare("!=", 0.0)
            return [e.select(used, e.fma(w, x, t), t) for t, x in zip(total, part)]

        return e.accumulate([e.splat(0.0)] * 8, self.count, step)


def _rigid_matrix(e: Any, dual: list[Any]) -> list[Any]:
    """The affine matrix of a dual quaternion of any length: dividing by the squared length normalises both parts."""
    x, y, z, w, dx, dy, dz, dw = dual
    s = 2.0 / e.dot(dual[:4], dual[:4])
    sx, sy, sz = s * x, s * y, s * z
    xx, yy, zz, xy, xz, yz = x * sx, y * sy, z * sz, x * sy, x * sz, y * sz
    wx, wy, wz = w * sx, w * sy, w * sz
    # Translation: 2 * dual * conjugate(real) / |real|^2.
    tx = s * e.fnma(z, dy, e.fma(y, dz, e.fnma(dw, x, w * dx)))
    ty = s * e.fnma(x, dz, e.fma(z, dx, e.fnma(dw, y, w * dy)))
    tz = s * e.fnma(y, dx, e.fma(x, dy, e.fnma(dw, z, w * dz)))
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
            column, start = [b[j], b[4 + j], b[8 + j]], a[4 * i + 3] if j == 3 else None
            out.append(e.dot(a[4 * i : 4 * i + 3], column, start))
    return out


_KERNELS = {(method, vectors): _make(method, vectors) for method in METHODS for vectors in range(3)}
