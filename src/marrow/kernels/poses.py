"""Sampling and kinematics kernels. Same names and meaning as in `reference`, on flat batches: Q or F poses."""

from __future__ import annotations

import math
from typing import Any

from marrow.kernels.language.annotations import ANY, F, J, K, Out, P, Q, Records, S, T, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.operations.sums import put_morphs, put_sample
from marrow.kernels.polar import nearest_rotation
from marrow.kernels.pose_programs import product
from marrow.model.clip import TRACK_DTYPE

__all__ = ["LANE_ROOM", "dual_quaternions", "sample_frames", "sample_tracks", "skinning_matrices", "to_model"]


# -- sampling -----------------------------------------------------------------------------------------------------

ARC = (
    1.5707963050, -0.2145988016, 0.0889789874, -0.0501743046, 0.0308918810, -0.0170881256, 0.0066700901, -0.0012624911,
)  # fmt: skip
"""`arccos(x) = sqrt(1 - x) * polynomial(x)` for x in 0..1, to 2e-8 (Abramowitz and Stegun, 4.4.46)."""
SINE = (1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0, -1.0 / 39916800.0)
"""`sin(x) = x * polynomial(x^2)` up to a quarter turn, to 6e-8."""
LANE_ROOM = 13 * 16
"""Floats in which 16 slerps work: two quaternions, a share, a result, each component 16 lanes."""


def polynomial(e: Any, coefficients: tuple[float, ...], x: Any) -> Any:
    value = e.splat(coefficients[-1])
    for c in coefficients[-2::-1]:
        value = e.fma(value, x, e.splat(c))
    return value


def slerped(e: Any, a: Any, b: Any, u: Any) -> list[Any]:
    """16 spherical interpolations between unit quaternions (zero where they are none) by the shares `u`, the short way round. Zero
    where both are becomes the identity."""
    cosine = e.dot(a, b)
    sign = e.select(cosine.compare("<", 0.0), e.splat(-1.0), e.splat(1.0))
    cosine = sign * cosine
    cosine = e.select(cosine.compare(">", 1.0), e.splat(1.0), cosine)
    angle = e.sqrt(1.0 - cosine) * polynomial(e, ARC, cosine)

    def sine(x: Any) -> Any:
        return x * polynomial(e, SINE, x * x)

    near = angle.compare("<", 1e-3)
    inverse = 1.0 / sine(e.select(near, e.splat(1.0), angle))
    rest = 1.0 - u
    wa = e.select(near, rest, sine(rest * angle) * inverse)
    wb = sign * e.select(near, u, sine(u * angle) * inverse)
    q = [e.fma(wb, y, wa * x) for x, y in zip(a, b)]
    squared = e.dot(q, q)
    scale = e.inverse_length(squared)
    made = [x * scale for x in q]
    made[3] = e.select(squared.compare("==", 0.0), e.splat(1.0), made[3])
    return made


def emit_slerp(e: Any, at: Any, room: Any) -> None:
    """16 spherical interpolations: from the quaternions at `at`, to those behind them, by the shares behind these; the results lie
    behind all."""
    a = e.unit([e.load(room, e.at(at, 16 * c)) for c in range(4)])
    b = e.unit([e.load(room, e.at(at, 64 + 16 * c)) for c in range(4)])
    made = slerped(e, a, b, e.load(room, e.at(at, 128)))
    for c in range(4):
        e.store(room, e.at(at, 144 + 16 * c), made[c])


slerp = block(emit_slerp)


def inverse_norm4(x, y, z, w):
    squared = x * x + y * y + z * z + w * w
    return 0.0 if squared == 0.0 else 1.0 / math.sqrt(squared)


def last_key(times, first, count, time):
    """The last of `count` keys from `first` on that is at or before the time, counted from there."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if times[first + middle] <= time:
            low = middle
        else:
            high = middle
    return low


def write_turns(room, joints, waiting, r_out, q):
    """Interpolates the rotations that wait, up to 16, and writes them to their joints."""
    slerp(0, room)
    for k in range(waiting):
        j = joints[k]
        for c in range(4):
            r_out[q, j, c] = room[144 + 16 * c + k]


def interpolate(values, a, b, u, span, interpolation, width, x):
    """A value of a track that is not a slerp, into `x`."""
    if interpolation == 2:
        u2, u3 = u * u, u * u * u
        ha, hb = 2.0 * u3 - 3.0 * u2 + 1.0, 3.0 * u2 - 2.0 * u3
        ta, tb = (u3 - 2.0 * u2 + u) * span, (u3 - u2) * span
        for c in range(width):
            x[c] = ha * values[a + width + c] + ta * values[a + 2 * width + c] + hb * values[b + width + c] + tb * values[b + c]  # fmt: skip
    elif interpolation == 0:
        for c in range(width):
            x[c] = values[a + c] + 0.0 * u
    else:
        for c in range(width):
            x[c] = values[a + c] + u * (values[b + c] - values[a + c])


@kernel
def sample_tracks(
    table: Records[TRACK_DTYPE, K],
    times: f4[ANY],
    values: f4[ANY],
    query: f8[Q],
    t_out: Out[f4[Q, J, 3]],
    r_out: Out[f4[Q, J, 4]],
    s_out: Out[f4[Q, J, 3]],
    m_out: Out[f4[Q, ANY]],
    x: Out[f8[4]],
    room: Out[f4[208]],
    joints: Out[i8[16]],
) -> None:
    """Writes what the tracks say at each time of `query` into outputs that already hold the rest pose. Rotations between keys
    are interpolated 16 at a time. `x`, `room` and `joints` are for its own use."""
    for q in range(len(query)):
        time = query[q]
        waiting = 0
        for k in range(len(table)):
            track = table[k]
            n, t0, v0, kind = track["keys"], track["time_start"], track["value_start"], track["path"]
            interpolation, j = track["interpolation"], track["target"]
            width = 4 if kind == 1 else (1 if kind == 3 else 3)
            stride = 3 * width if interpolation == 2 else width
            low = last_key(times, t0, n, time)
            span, u = 0.0, 0.0
            if low + 1 < n and time > times[t0]:
                span = times[t0 + low + 1] - times[t0 + low]
                u = (time - times[t0 + low]) / span if span > 0.0 else 0.0
            if time != time:
                u = time
            a = v0 + low * stride
            b = a + stride if low + 1 < n else a
            if kind == 1 and interpolation == 1:
                for c in range(4):
                    room[16 * c + waiting], room[64 + 16 * c + waiting] = values[a + c], values[b + c]
                room[128 + waiting], joints[waiting] = u, j
                waiting += 1
                if waiting == 16:
                    write_turns(room, joints, waiting, r_out, q)
                    waiting = 0
                continue
            interpolate(values, a, b, u, span, interpolation, width, x)
            if kind == 1:
                scale = inverse_norm4(x[0], x[1], x[2], x[3])
                if scale == 0.0:
                    x[3], scale = 1.0, 1.0
                for c in range(4):
                    r_out[q, j, c] = x[c] * scale
            elif kind == 0:
                for c in range(3):
                    t_out[q, j, c] = x[c]
            elif kind == 2:
                for c in range(3):
                    s_out[q, j, c] = x[c]
            else:
                m_out[q, j] = x[0]
        if waiting > 0:
            write_turns(room, joints, waiting, r_out, q)


@kernel
def sample_frames(
    rows: f4[T, S],
    flat: f4[ANY],
    query: f8[Q],
    row: Out[f4[S]],
    t_out: Out[f4[Q, J, 3]],
    r_out: Out[f4[Q, J, 4]],
    s_out: Out[f4[Q, J, 3]],
    m_out: Out[f4[Q, ANY]],
    rate: float,
    Jp: int,
) -> None:
    """Poses of a clip at uniform frames: the two around each time, mixed straight, rotations made unit. `flat` is `rows` without
    its axes; `row` is for its own use."""
    T, S, J = rows.shape[0], rows.shape[1], t_out.shape[1]
    for q in range(len(query)):
        u = query[q] * rate
        # What is not a number is the beginning.
        u = min(u, T - 1.0) if u > 0.0 else 0.0
        f = min(int(u), max(T - 2, 0))
        a = f * S
        b = a + S if T > 1 else a
        put_sample.each(0, Jp, 16, Jp, flat, a, b, u - f, 1.0, row, 0)
        put_morphs.each(10 * Jp, S, 16, flat, a, b, u - f, 1.0, row, 0)
        for j in range(J):
            for c in range(3):
                t_out[q, j, c], s_out[q, j, c] = row[c * Jp + j], row[(7 + c) * Jp + j]
            for c in range(4):
                r_out[q, j, c] = row[(3 + c) * Jp + j]
        for m in range(m_out.shape[1]):
            m_out[q, m] = row[10 * Jp + m]


# -- kinematics ---------------------------------------------------------------------------------------------------


def put_local(t, r, s, f, j, out, at):
    """The local matrix of a joint, at `at` of the flat `out`."""
    x, y, z, w = r[f, j, 0], r[f, j, 1], r[f, j, 2], r[f, j, 3]
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    sx, sy, sz = s[f, j, 0], s[f, j, 1], s[f, j, 2]
    out[at], out[at + 1], out[at + 2] = (1.0 - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz
    out[at + 4], out[at + 5], out[at + 6] = (xy + wz) * sx, (1.0 - (xx + zz)) * sy, (yz - wx) * sz
    out[at + 8], out[at + 9], out[at + 10] = (xz - wy) * sx, (yz + wx) * sy, (1.0 - (xx + yy)) * sz
    out[at + 3], out[at + 7], out[at + 11] = t[f, j, 0], t[f, j, 1], t[f, j, 2]


@kernel
def to_model(
    parents: i4[J], joints: i4[ANY], t: f4[F, J, 3], r: f4[F, J, 4], s: f4[F, J, 3], out: Out[f4[ANY]]
) -> None:
    """Model matrices, flat `out (F * J * 12,)`, of the `joints` listed (in order); their parents must be there already."""
    J = len(parents)
    for f in range(t.shape[0]):
        for i in range(len(joints)):
            j = joints[i]
            at, p = (f * J + j) * 12, parents[j]
            put_local(t, r, s, f, j, out, at)
            if p >= 0:
                product(out, (f * J + p) * 12, out, at, out, at)


@kernel
def skinning_matrices(
    model: f4[ANY], joints: i4[P], inverse_bind: f4[ANY], out: Out[f4[ANY]], F: int, J: int
) -> None:
    """`out (F, P, 12) = model (F, J, 12)[joints] @ inverse_bind (P, 12)`, all flat."""
    P = len(joints)
    for f in range(F):
        for p in range(P):
            product(model, (f * J + joints[p]) * 12, inverse_bind, 12 * p, out, (f * P + p) * 12)


# -- dual quaternions ---------------------------------------------------------------------------------------------


def shepperd(m):
    """The quaternion of a rotation matrix `m`, its largest component first."""
    tr = m[0] + m[4] + m[8]
    if tr >= m[0] and tr >= m[4] and tr >= m[8]:
        x, y, z, w = m[7] - m[5], m[2] - m[6], m[3] - m[1], 1.0 + tr
    elif m[0] >= m[4] and m[0] >= m[8]:
        x, y, z, w = 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5]
    elif m[4] >= m[8]:
        x, y, z, w = m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7], m[2] - m[6]
    else:
        x, y, z, w = m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8], m[3] - m[1]
    n = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return x * n, y * n, z * n, w * n


def linear_part(matrices, f, p):
    """The 3x3 part of a matrix, row by row."""
    return (
        matrices[f, p, 0], matrices[f, p, 1], matrices[f, p, 2], matrices[f, p, 4], matrices[f, p, 5], matrices[f, p, 6],
        matrices[f, p, 8], matrices[f, p, 9], matrices[f, p, 10],
    )  # fmt: skip


def divided(m, s):
    return (m[0] / s, m[1] / s, m[2] / s, m[3] / s, m[4] / s, m[5] / s, m[6] / s, m[7] / s, m[8] / s)


def determinant(m):
    return (
        m[0] * (m[4] * m[8] - m[5] * m[7])
        - m[1] * (m[3] * m[8] - m[5] * m[6])
        + m[2] * (m[3] * m[7] - m[4] * m[6])
    )


def likeness(m):
    """The mean square of the lengths of the columns of `m`, and how far the matrix is from turning and scaling all ways
    alike: the largest difference of a product of columns from what it would be then."""
    xx, yy = m[0] * m[0] + m[3] * m[3] + m[6] * m[6], m[1] * m[1] + m[4] * m[4] + m[7] * m[7]
    zz = m[2] * m[2] + m[5] * m[5] + m[8] * m[8]
    xy, xz = m[0] * m[1] + m[3] * m[4] + m[6] * m[7], m[0] * m[2] + m[3] * m[5] + m[6] * m[8]
    yz = m[1] * m[2] + m[4] * m[5] + m[7] * m[8]
    square = (xx + yy + zz) / 3.0
    off = max(max(abs(xx - square), abs(yy - square)), abs(zz - square))
    return square, max(max(off, abs(xy)), max(abs(xz), abs(yz)))


def uniform_scale(m):
    """The scale of a matrix that turns and scales all ways alike; 0 for any other. 1 exactly where it only turns."""
    square, error = likeness(m)
    if not (determinant(m) > 0.0 and error < 2e-6 * square):
        return 0.0
    return 1.0 if abs(square - 1.0) < 2e-6 else math.sqrt(square)


def common_scale(matrices, used, f):
    """The scale that all `used` matrices of a pose share, as where a mesh is in other units than its joints; 1 for none."""
    if len(used) == 0:
        return 1.0
    square = likeness(linear_part(matrices, f, used[0]))[0]
    for k in range(len(used)):
        m = linear_part(matrices, f, used[k])
        own, error = likeness(m)
        if not (determinant(m) > 0.0 and error + abs(own - square) <= 1e-4 * square):
            return 1.0
    size = math.sqrt(square)
    return size if abs(size - 1.0) > 1e-5 else 1.0


def turning(q):
    """The 3x3 matrix of a unit quaternion."""
    x, y, z, w = q
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


def put_dual(dual, f, p, q, tx, ty, tz):
    """The unit dual quaternion of a turn and a move."""
    x, y, z, w = q
    dual[f, p, 0], dual[f, p, 1], dual[f, p, 2], dual[f, p, 3] = x, y, z, w
    dual[f, p, 4] = 0.5 * (tx * w + ty * z - tz * y)
    dual[f, p, 5] = 0.5 * (-tx * z + ty * w + tz * x)
    dual[f, p, 6] = 0.5 * (tx * y - ty * x + tz * w)
    dual[f, p, 7] = -0.5 * (tx * x + ty * y + tz * z)


def symmetric_stretch(m, r):
    """What is left of `m` when the turn `r` is taken back, as the six numbers xx, xy, xz, yy, yz, zz."""
    xx, yy = r[0] * m[0] + r[3] * m[3] + r[6] * m[6], r[1] * m[1] + r[4] * m[4] + r[7] * m[7]
    zz = r[2] * m[2] + r[5] * m[5] + r[8] * m[8]
    xy, xz = r[0] * m[1] + r[3] * m[4] + r[6] * m[7], r[0] * m[2] + r[3] * m[5] + r[6] * m[8]
    return xx, xy, xz, yy, r[1] * m[2] + r[4] * m[5] + r[7] * m[8], zz


@kernel
def dual_quaternions(
    matrices: f4[F, P, 12],
    pivots: f8[P, 3],
    used: i4[ANY],
    dual: Out[f4[F, P, 8]],
    stretch: Out[f4[F, P, 12]],
    kinds: Out[i8[F]],
    scratch: Out[f8[ANY]],
) -> None:
    """Splits matrices into unit dual quaternions and stretches about the pivots, after a scale that the `used` ones share. `kinds`
    says how each pose stretches: 0 not at all, 1 all ways alike, 2 in some other way. `scratch (32,)` is for its own use."""
    for f in range(matrices.shape[0]):
        kind = 0
        sigma = common_scale(matrices, used, f)
        for p in range(matrices.shape[1]):
            m = linear_part(matrices, f, p)
            if sigma != 1.0:
                m = divided(m, sigma)
            cx, cy, cz = sigma * pivots[p, 0], sigma * pivots[p, 1], sigma * pivots[p, 2]
            scale = uniform_scale(m)
            if scale > 0.0:
                if scale != 1.0:
                    m = divided(m, scale)
                q = shepperd(m)
                r = turning(q)
                if sigma * scale != 1.0:
                    kind = max(kind, 1)
                s = (scale, 0.0, 0.0, scale, 0.0, scale)
            else:
                kind = 2
                sign = -1.0 if determinant(m) < 0.0 else 1.0
                q = nearest_rotation(divided(m, sign), scratch, 1e-30, 0.0)
                r = turning(q)
                s = symmetric_stretch(m, r)
            ox = cx - (s[0] * cx + s[1] * cy + s[2] * cz)
            oy = cy - (s[1] * cx + s[3] * cy + s[4] * cz)
            oz = cz - (s[2] * cx + s[4] * cy + s[5] * cz)
            stretch[f, p, 0], stretch[f, p, 1], stretch[f, p, 2], stretch[f, p, 3] = (
                sigma * s[0],
                sigma * s[1],
                sigma * s[2],
                ox,
            )
            stretch[f, p, 4], stretch[f, p, 5], stretch[f, p, 6], stretch[f, p, 7] = (
                sigma * s[1],
                sigma * s[3],
                sigma * s[4],
                oy,
            )
            stretch[f, p, 8], stretch[f, p, 9], stretch[f, p, 10], stretch[f, p, 11] = (
                sigma * s[2],
                sigma * s[4],
                sigma * s[5],
                oz,
            )
            tx = matrices[f, p, 3] - (r[0] * ox + r[1] * oy + r[2] * oz)
            ty = matrices[f, p, 7] - (r[3] * ox + r[4] * oy + r[5] * oz)
            tz = matrices[f, p, 11] - (r[6] * ox + r[7] * oy + r[8] * oz)
            put_dual(dual, f, p, q, tx, ty, tz)
        kinds[f] = kind
