"""How far the skin of one motion is from that of another: joints' places, and their turns at the end of a radius."""

from __future__ import annotations

import math

from marrow.kernels.language.annotations import ANY, F, J, Out, f4, f8, i4
from marrow.kernels.language.kernel import kernel

__all__ = ["skin_errors"]


def mixed_matrix(rows, a, b, x, Jp, j, out, o):
    """The local matrix of a joint between the frames at `a` and `b`, mixed as pose programs do."""
    y = 1.0 - x
    qx, qy = (
        y * rows[a + 3 * Jp + j] + x * rows[b + 3 * Jp + j],
        y * rows[a + 4 * Jp + j] + x * rows[b + 4 * Jp + j],
    )
    qz, qw = (
        y * rows[a + 5 * Jp + j] + x * rows[b + 5 * Jp + j],
        y * rows[a + 6 * Jp + j] + x * rows[b + 6 * Jp + j],
    )
    squared = qx * qx + qy * qy + qz * qz + qw * qw
    s = 0.0 if squared == 0.0 else 2.0 / squared
    sx, sy = (
        y * rows[a + 7 * Jp + j] + x * rows[b + 7 * Jp + j],
        y * rows[a + 8 * Jp + j] + x * rows[b + 8 * Jp + j],
    )
    sz = y * rows[a + 9 * Jp + j] + x * rows[b + 9 * Jp + j]
    out[o], out[o + 1], out[o + 2] = (
        (1.0 - s * (qy * qy + qz * qz)) * sx,
        s * (qx * qy - qw * qz) * sy,
        s * (qx * qz + qw * qy) * sz,
    )
    out[o + 4], out[o + 5], out[o + 6] = (
        s * (qx * qy + qw * qz) * sx,
        (1.0 - s * (qx * qx + qz * qz)) * sy,
        s * (qy * qz - qw * qx) * sz,
    )
    out[o + 8], out[o + 9], out[o + 10] = (
        s * (qx * qz - qw * qy) * sx,
        s * (qy * qz + qw * qx) * sy,
        (1.0 - s * (qx * qx + qy * qy)) * sz,
    )
    for c in range(3):
        out[o + 4 * c + 3] = y * rows[a + c * Jp + j] + x * rows[b + c * Jp + j]


def after(m, p, o):
    """`m[o] = m[p] @ m[o]`, of affine matrices that lie in one array."""
    for c in range(4):
        x, y, z = m[o + c], m[o + 4 + c], m[o + 8 + c]
        last = 1.0 if c == 3 else 0.0
        for r in range(3):
            m[o + 4 * r + c] = (
                m[p + 4 * r] * x + m[p + 4 * r + 1] * y + m[p + 4 * r + 2] * z + last * m[p + 4 * r + 3]
            )


@kernel
def skin_errors(
    mine: f4[ANY],
    other: f4[ANY],
    parents: i4[J],
    radius: f8[J],
    limit: f8[J],
    alike: i4[J],
    shares: f8[ANY],
    a: Out[f8[ANY]],
    b: Out[f8[ANY]],
    ratio: Out[f8[F]],
    error: Out[f8[F]],
    Jp: int,
    size: int,
) -> int:
    """The largest errors from each frame on: as a part of what a joint's may be, and in metres; at the `shares` of the way to the next frame. `alike` marks
    joints whose matrices turn and scale all ways alike. `a` and `b` are for its own use."""
    J, T = len(parents), len(ratio)
    for f in range(T):
        here, there = f * size, min(f + 1, T - 1) * size
        worst, metres = 0.0, 0.0
        for k in range(len(shares)):
            for j in range(J):
                mixed_matrix(mine, here, there, shares[k], Jp, j, a, 12 * j)
                mixed_matrix(other, here, there, shares[k], Jp, j, b, 12 * j)
                if parents[j] >= 0:
                    after(a, 12 * parents[j], 12 * j)
                    after(b, 12 * parents[j], 12 * j)
                total = 0.0
                for r in range(3):
                    for c in range(3):
                        d = a[12 * j + 4 * r + c] - b[12 * j + 4 * r + c]
                        total += d * d
                x, y, z = (
                    a[12 * j + 3] - b[12 * j + 3],
                    a[12 * j + 7] - b[12 * j + 7],
                    a[12 * j + 11] - b[12 * j + 11],
                )
                # The difference of two turns has two singular values, and those are equal.
                turn = math.sqrt(0.5 * total if alike[j] != 0 else total)
                off = math.sqrt(x * x + y * y + z * z) + radius[j] * turn
                metres = max(metres, off)
                worst = max(worst, off / limit[j])
                if not off < 1e30:
                    worst, metres = 1e30, 1e30
        ratio[f], error[f] = worst, metres
    return T
