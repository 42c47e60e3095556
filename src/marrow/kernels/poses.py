"""Sampling and kinematics kernels: plain scalar loops, compiled on first use.

Same names and meaning as in `reference`, on flat batches: Q or F poses.
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.compiler import kernel
from marrow.kernels.linking import helper

__all__ = ["dual_quaternions", "sample_tracks", "skinning_matrices", "to_model"]


@kernel
def sample_tracks() -> Any:
    import numpy as np

    def slerp_weights(cosine, u):
        """The weights of two quaternions `u` of the way between them; cosine is not negative."""
        if cosine > 0.9999995:
            return 1.0 - u, u
        theta = np.arccos(min(cosine, 1.0))
        inverse = 1.0 / np.sin(theta)
        return np.sin((1.0 - u) * theta) * inverse, np.sin(u * theta) * inverse

    slerp_weights = helper(slerp_weights)

    def inverse_norm4(x, y, z, w):
        squared = x * x + y * y + z * z + w * w
        return 0.0 if squared == 0.0 else 1.0 / np.sqrt(squared)

    inverse_norm4 = helper(inverse_norm4)

    def run(
        target,
        path,
        interpolation,
        keys,
        time_start,
        value_start,
        times,
        values,
        query,
        t_out,
        r_out,
        s_out,
        m_out,
        x,
    ):
        """Writes what the tracks say at each time of `query (Q,)` into outputs that already hold the rest pose. `x (4,)` is
        for its own use."""
        for q in range(query.shape[0]):
            time = query[q]
            for k in range(target.shape[0]):
                n, t0, v0, kind = keys[k], time_start[k], value_start[k], path[k]
                width = 4 if kind == 1 else (1 if kind == 3 else 3)
                stride = 3 * width if interpolation[k] == 2 else width
                # The last key at or before the time.
                low, high = 0, n
                while high - low > 1:
                    middle = (low + high) >> 1
                    if times[t0 + middle] <= time:
                        low = middle
                    else:
                        high = middle
                span, u = 0.0, 0.0
                if low + 1 < n and time > times[t0]:
                    span = np.float64(times[t0 + low + 1]) - times[t0 + low]
                    u = (time - times[t0 + low]) / span if span > 0.0 else 0.0
                if time != time:
                    u = time
                a = v0 + low * stride
                b = a + stride if low + 1 < n else a
                if interpolation[k] == 2:
                    u2, u3 = u * u, u * u * u
                    ha, hb = 2.0 * u3 - 3.0 * u2 + 1.0, 3.0 * u2 - 2.0 * u3
                    ta, tb = (u3 - 2.0 * u2 + u) * span, (u3 - u2) * span
                    for c in range(width):
                        x[c] = ha * values[a + width + c] + ta * values[a + 2 * width + c] + hb * values[b + width + c] + tb * values[b + c]  # fmt: skip
                elif interpolation[k] == 0:
                    for c in range(width):
                        x[c] = values[a + c] + 0.0 * u
                elif kind == 1:
                    na = inverse_norm4(np.float64(values[a]), np.float64(values[a + 1]), np.float64(values[a + 2]), np.float64(values[a + 3]))  # fmt: skip
                    nb = inverse_norm4(np.float64(values[b]), np.float64(values[b + 1]), np.float64(values[b + 2]), np.float64(values[b + 3]))  # fmt: skip
                    cosine = 0.0
                    for c in range(4):
                        cosine += (values[a + c] * na) * (values[b + c] * nb)
                    if cosine < 0.0:
                        nb, cosine = -nb, -cosine
                    wa, wb = slerp_weights(cosine, u)
                    for c in range(4):
                        x[c] = wa * na * values[a + c] + wb * nb * values[b + c]
                else:
                    for c in range(width):
                        x[c] = values[a + c] + u * (np.float64(values[b + c]) - values[a + c])
                j = target[k]
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

    return run


@kernel
def to_model() -> Any:
    def run(parents, joints, t, r, s, out):
        """Model matrices `out (F, J, 12)` of the `joints` listed (in order); their parents must be there already."""
        for f in range(t.shape[0]):
            for i in range(joints.shape[0]):
                j = joints[i]
                x, y, z, w = r[f, j, 0], r[f, j, 1], r[f, j, 2], r[f, j, 3]
                x2, y2, z2 = x + x, y + y, z + z
                xx, yy, zz, xy, xz, yz = x * x2, y * y2, z * z2, x * y2, x * z2, y * z2
                wx, wy, wz = w * x2, w * y2, w * z2
                sx, sy, sz = s[f, j, 0], s[f, j, 1], s[f, j, 2]
                m00, m01, m02 = (1 - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz
                m10, m11, m12 = (xy + wz) * sx, (1 - (xx + zz)) * sy, (yz - wx) * sz
                m20, m21, m22 = (xz - wy) * sx, (yz + wx) * sy, (1 - (xx + yy)) * sz
                tx, ty, tz = t[f, j, 0], t[f, j, 1], t[f, j, 2]
                p = parents[j]
                o = out[f, j]
                if p < 0:
                    o[0], o[1], o[2], o[3] = m00, m01, m02, tx
                    o[4], o[5], o[6], o[7] = m10, m11, m12, ty
                    o[8], o[9], o[10], o[11] = m20, m21, m22, tz
                else:
                    q = out[f, p]
                    for i3 in range(0, 12, 4):
                        a, b, c, d = q[i3], q[i3 + 1], q[i3 + 2], q[i3 + 3]
                        o[i3] = a * m00 + b * m10 + c * m20
                        o[i3 + 1] = a * m01 + b * m11 + c * m21
                        o[i3 + 2] = a * m02 + b * m12 + c * m22
                        o[i3 + 3] = a * tx + b * ty + c * tz + d

    return run


@kernel
def skinning_matrices() -> Any:
    def run(model, joints, inverse_bind, out):
        """`out (F, P, 12) = model (F, J, 12)[joints] @ inverse_bind (P, 12)`."""
        for f in range(model.shape[0]):
            for p in range(joints.shape[0]):
                q, b, o = model[f, joints[p]], inverse_bind[p], out[f, p]
                for i in range(0, 12, 4):
                    x, y, z = q[i], q[i + 1], q[i + 2]
                    o[i] = x * b[0] + y * b[4] + z * b[8]
                    o[i + 1] = x * b[1] + y * b[5] + z * b[9]
                    o[i + 2] = x * b[2] + y * b[6] + z * b[10]
                    o[i + 3] = x * b[3] + y * b[7] + z * b[11] + q[i + 3]

    return run


@kernel
def dual_quaternions() -> Any:
    import numpy as np

    def nearest_rotation(m, q, work):
        """The quaternion `q (4,)` of the rotation nearest to `m (9,)`: the top eigenvector of Horn's symmetric 4x4
        matrix, by Jacobi sweeps. `work (32,)` holds the matrix and its eigenvectors."""
        a, v = work[:16], work[16:]
        a[0] = m[0] - m[4] - m[8]
        a[5] = m[4] - m[0] - m[8]
        a[10] = m[8] - m[0] - m[4]
        a[15] = m[0] + m[4] + m[8]
        a[1] = a[4] = m[1] + m[3]
        a[2] = a[8] = m[2] + m[6]
        a[6] = a[9] = m[5] + m[7]
        a[3] = a[12] = m[7] - m[5]
        a[7] = a[13] = m[2] - m[6]
        a[11] = a[14] = m[3] - m[1]
        for i in range(16):
            v[i] = 1.0 if i % 5 == 0 else 0.0
        for _ in range(24):
            off, size = 0.0, 0.0
            for i in range(4):
                size += a[5 * i] * a[5 * i]
                for j in range(i):
                    off += a[4 * i + j] * a[4 * i + j]
            if not off > 1e-30 * size:
                break
            for p in range(3):
                for r in range(p + 1, 4):
                    apr = a[4 * p + r]
                    if apr == 0.0:
                        continue
                    theta = (a[5 * r] - a[5 * p]) / (2.0 * apr)
                    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                    if theta < 0.0:
                        t = -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(4):
                        x, y = a[4 * k + p], a[4 * k + r]
                        a[4 * k + p], a[4 * k + r] = c * x - s * y, s * x + c * y
                    for k in range(4):
                        x, y = a[4 * p + k], a[4 * r + k]
                        a[4 * p + k], a[4 * r + k] = c * x - s * y, s * x + c * y
                    for k in range(4):
                        x, y = v[4 * k + p], v[4 * k + r]
                        v[4 * k + p], v[4 * k + r] = c * x - s * y, s * x + c * y
        best = 3
        for i in range(3):
            if a[5 * i] > a[5 * best]:
                best = i
        for i in range(4):
            q[i] = v[4 * i + best]

    nearest_rotation = helper(nearest_rotation)

    def run(matrices, pivots, dual, stretch, scratch):
        """Splits `matrices (F, P, 12)` into unit dual quaternions `dual (F, P, 8)` and stretches `(F, P, 12)`; returns
        whether any matrix stretches. `scratch (66,)` is for its own use."""
        work, m, rot, s = scratch[:32], scratch[32:41], scratch[41:50], scratch[50:59]
        q, c = scratch[59:63], scratch[63:66]
        any_stretch = False
        for f in range(matrices.shape[0]):
            for p in range(matrices.shape[1]):
                a = matrices[f, p]
                for i in range(3):
                    for j in range(3):
                        m[3 * i + j] = a[4 * i + j]
                det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6])  # fmt: skip
                sign = -1.0 if det < 0.0 else 1.0
                error = 0.0
                for i in range(3):
                    for j in range(i + 1):
                        d = m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j]
                        error = max(error, abs(d - 1.0) if i == j else abs(d))
                rigid = error < 2e-6 and det > 0.0
                if rigid:
                    # Shepperd's method, the largest component first.
                    tr = m[0] + m[4] + m[8]
                    if tr >= m[0] and tr >= m[4] and tr >= m[8]:
                        q[0], q[1], q[2], q[3] = m[7] - m[5], m[2] - m[6], m[3] - m[1], 1.0 + tr
                    elif m[0] >= m[4] and m[0] >= m[8]:
                        q[0], q[1], q[2], q[3] = (
                            1.0 + m[0] - m[4] - m[8],
                            m[1] + m[3],
                            m[2] + m[6],
                            m[7] - m[5],
                        )
                    elif m[4] >= m[8]:
                        q[0], q[1], q[2], q[3] = (
                            m[1] + m[3],
                            1.0 - m[0] + m[4] - m[8],
                            m[5] + m[7],
                            m[2] - m[6],
                        )
                    else:
                        q[0], q[1], q[2], q[3] = (
                            m[2] + m[6],
                            m[5] + m[7],
                            1.0 - m[0] - m[4] + m[8],
                            m[3] - m[1],
                        )
                    n = 1.0 / np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
                    for i in range(4):
                        q[i] *= n
                    for i in range(9):
                        s[i] = 1.0 if i % 4 == 0 else 0.0
                else:
                    any_stretch = True
                    for i in range(9):
                        m[i] *= sign
                    nearest_rotation(m, q, work)
                x, y, z, w = q[0], q[1], q[2], q[3]
                rot[0], rot[1], rot[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
                rot[3], rot[4], rot[5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
                rot[6], rot[7], rot[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
                if not rigid:
                    for i in range(3):
                        for j in range(3):
                            s[3 * i + j] = sign * (
                                rot[i] * m[j] + rot[3 + i] * m[3 + j] + rot[6 + i] * m[6 + j]
                            )
                for i in range(3):
                    c[i] = pivots[p, i] - (s[3 * i] * pivots[p, 0] + s[3 * i + 1] * pivots[p, 1] + s[3 * i + 2] * pivots[p, 2])  # fmt: skip
                    for j in range(3):
                        stretch[f, p, 4 * i + j] = s[3 * i + j]
                    stretch[f, p, 4 * i + 3] = c[i]
                tx = a[3] - (rot[0] * c[0] + rot[1] * c[1] + rot[2] * c[2])
                ty = a[7] - (rot[3] * c[0] + rot[4] * c[1] + rot[5] * c[2])
                tz = a[11] - (rot[6] * c[0] + rot[7] * c[1] + rot[8] * c[2])
                o = dual[f, p]
                o[0], o[1], o[2], o[3] = x, y, z, w
                o[4] = 0.5 * (tx * w + ty * z - tz * y)
                o[5] = 0.5 * (-tx * z + ty * w + tz * x)
                o[6] = 0.5 * (tx * y - ty * x + tz * w)
                o[7] = -0.5 * (tx * x + ty * y + tz * z)
        return (any_stretch,)

    return run
