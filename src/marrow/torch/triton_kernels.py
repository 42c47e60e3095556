"""The Triton kernels. Imported only where CUDA is used."""

# Triton reads these functions itself: its annotations are not types.
# mypy: ignore-errors

from __future__ import annotations

import triton
import triton.language as tl

__all__ = [
    "add_chunks",
    "forward",
    "kinematics",
    "kinematics_gradient",
    "to_matrices",
    "to_points",
    "to_weights",
]


@triton.jit
def _four(tile, BLOCK: tl.constexpr):
    """The columns of a `(BLOCK, 4)` tile."""
    even, odd = tl.split(tl.reshape(tile, [BLOCK, 2, 2]))
    x, z = tl.split(even)
    y, w = tl.split(odd)
    return x, y, z, w


@triton.jit
def _influences(
    joints, weights, at, row, there, group: tl.constexpr, V, K: tl.constexpr, BLOCK: tl.constexpr
):
    """Four joints and four weights of each vertex; a weight beyond K is zero."""
    c = tl.arange(0, 4)
    k = group * 4 + c
    j = tl.load(
        joints + ((group * V).to(tl.int64) + at)[:, None] * 4 + c[None, :], mask=there[:, None], other=0
    )
    w = tl.load(weights + row[:, None] * K + k[None, :], mask=there[:, None] & (k < K)[None, :], other=0.0)
    return _four(j, BLOCK), _four(w, BLOCK)


@triton.jit
def _row(base, js, ws, c, total, COUNT: tl.constexpr):
    """`total` plus a row of up to four weighted matrices, `(BLOCK, 4)`."""
    total += ws[0][:, None] * tl.load(base + (js[0] * 12)[:, None] + c[None, :])
    if COUNT > 1:
        total += ws[1][:, None] * tl.load(base + (js[1] * 12)[:, None] + c[None, :])
    if COUNT > 2:
        total += ws[2][:, None] * tl.load(base + (js[2] * 12)[:, None] + c[None, :])
    if COUNT > 3:
        total += ws[3][:, None] * tl.load(base + (js[3] * 12)[:, None] + c[None, :])
    return total


@triton.jit
def _blended(base, js, ws, joints, weights, at, row, there, V, K: tl.constexpr, BLOCK: tl.constexpr):
    """The three rows of every vertex's matrix. The first four influences are in registers, further ones are loaded."""
    c = tl.arange(0, 4)
    zero = tl.zeros([BLOCK, 4], tl.float32)
    r0 = _row(base, js, ws, c, zero, K)
    r1 = _row(base + 4, js, ws, c, zero, K)
    r2 = _row(base + 8, js, ws, c, zero, K)
    for group in tl.static_range(1, (K + 3) // 4):
        more_js, more_ws = _influences(joints, weights, at, row, there, group, V, K, BLOCK)
        r0 = _row(base, more_js, more_ws, c, r0, K - 4 * group)
        r1 = _row(base + 4, more_js, more_ws, c, r1, K - 4 * group)
        r2 = _row(base + 8, more_js, more_ws, c, r2, K - 4 * group)
    return r0, r1, r2


@triton.jit
def forward(order, joints, weights, matrices, points, out, V, J, B, point_stride,
            K: tl.constexpr, SHARED: tl.constexpr, BLOCK: tl.constexpr, POSES: tl.constexpr):  # fmt: skip
    """`out[b, v] = sum_k w[v, k] (A[b, j] p + t)`: a block of vertices over a few poses."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < V
    row = tl.load(order + at, mask=there, other=0).to(tl.int64)
    c = tl.arange(0, 4)
    inside = there[:, None] & (c < 3)[None, :]
    js, ws = _influences(joints, weights, at, row, there, 0, V, K, BLOCK)
    first = (tl.program_id(1) * POSES).to(tl.int64)
    p = tl.load(points + row[:, None] * 3 + c[None, :], mask=inside, other=1.0)
    for i in range(POSES):
        b = first + i
        if b < B:
            if not SHARED:
                p = tl.load(points + b * point_stride + row[:, None] * 3 + c[None, :], mask=inside, other=1.0)
            r0, r1, r2 = _blended(matrices + b * J * 12, js, ws, joints, weights, at, row, there, V, K, BLOCK)
            to = out + (b * V + row) * 3
            tl.store(to, tl.sum(r0 * p, 1), mask=there)
            tl.store(to + 1, tl.sum(r1 * p, 1), mask=there)
            tl.store(to + 2, tl.sum(r2 * p, 1), mask=there)


@triton.jit
def to_points(order, joints, weights, matrices, g, out, V, J, B,
              K: tl.constexpr, SUM: tl.constexpr, BLOCK: tl.constexpr, POSES: tl.constexpr):  # fmt: skip
    """`(sum_k w_k A_k)^T g`, for every pose or summed over the program's poses."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = at < V
    row = tl.load(order + at, mask=there, other=0).to(tl.int64)
    c = tl.arange(0, 4)
    inside = there[:, None] & (c < 3)[None, :]
    js, ws = _influences(joints, weights, at, row, there, 0, V, K, BLOCK)
    first = (tl.program_id(1) * POSES).to(tl.int64)
    total = tl.zeros([BLOCK, 4], tl.float32)
    for i in range(POSES):
        b = first + i
        if b < B:
            r0, r1, r2 = _blended(matrices + b * J * 12, js, ws, joints, weights, at, row, there, V, K, BLOCK)
            of = g + (b * V + row) * 3
            gx = tl.load(of, mask=there, other=0.0)[:, None]
            gy = tl.load(of + 1, mask=there, other=0.0)[:, None]
            gz = tl.load(of + 2, mask=there, other=0.0)[:, None]
            back = r0 * gx + r1 * gy + r2 * gz
            if SUM:
                total += back
            else:
                tl.store(out + (b * V + row)[:, None] * 3 + c[None, :], back, mask=inside)
    if SUM:
        group = tl.program_id(1).to(tl.int64)
        tl.store(out + (group * V + row)[:, None] * 3 + c[None, :], total, mask=inside)


@triton.jit
def to_weights(order, joints, matrices, points, g, out, V, J, B, point_stride,
               K: tl.constexpr, BLOCK: tl.constexpr, POSES: tl.constexpr):  # fmt: skip
    """`g . (A_k p + t_k)` of one influence, summed over the program's poses."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = tl.program_id(2)
    there = at < V
    row = tl.load(order + at, mask=there, other=0).to(tl.int64)
    j = tl.load(joints + ((k // 4 * V).to(tl.int64) + at) * 4 + k % 4, mask=there, other=0)
    c = tl.arange(0, 4)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(POSES):
        b = (tl.program_id(1) * POSES + i).to(tl.int64)
        if b < B:
            p = tl.load(
                points + b * point_stride + row[:, None] * 3 + c[None, :],
                mask=there[:, None] & (c < 3)[None, :],
                other=1.0,
            )
            m = matrices + b * J * 12 + (j * 12)[:, None] + c[None, :]
            of = g + (b * V + row) * 3
            gx = tl.load(of, mask=there, other=0.0)[:, None]
            gy = tl.load(of + 1, mask=there, other=0.0)[:, None]
            gz = tl.load(of + 2, mask=there, other=0.0)[:, None]
            mixed = gx * tl.load(m) + gy * tl.load(m + 4) + gz * tl.load(m + 8)
            total += tl.sum(mixed * p, 1)
    group = tl.program_id(1).to(tl.int64)
    tl.store(out + (group * V + row) * K + k, total, mask=there)


@triton.jit
def to_matrices(slots, chunks, weights, points, g, out, chunk_count, V, B, point_stride,
                K: tl.constexpr, CHUNK: tl.constexpr, POSES: tl.constexpr):  # fmt: skip
    """`sum_v w g (p, 1)^T` over one chunk of a joint's vertices: twelve numbers for every pose."""
    chunk = tl.program_id(0)
    first = tl.load(chunks + chunk * 2)
    last = tl.load(chunks + chunk * 2 + 1)
    at = first + tl.arange(0, CHUNK)
    there = at < last
    slot = tl.load(slots + at, mask=there, other=0).to(tl.int64)
    w = tl.load(weights + slot, mask=there, other=0.0)
    row = slot // K
    c = tl.arange(0, 4)
    for i in range(POSES):
        b = (tl.program_id(1) * POSES + i).to(tl.int64)
        if b < B:
            p = tl.load(
                points + b * point_stride + row[:, None] * 3 + c[None, :],
                mask=there[:, None] & (c < 3)[None, :],
                other=1.0,
            )
            of = g + (b * V + row) * 3
            gx = w * tl.load(of, mask=there, other=0.0)
            gy = w * tl.load(of + 1, mask=there, other=0.0)
            gz = w * tl.load(of + 2, mask=there, other=0.0)
            to = out + (b * chunk_count + chunk) * 16 + c
            tl.store(to, tl.sum(p * gx[:, None], 0))
            tl.store(to + 4, tl.sum(p * gy[:, None], 0))
            tl.store(to + 8, tl.sum(p * gz[:, None], 0))


@triton.jit
def add_chunks(
    first_chunk, pieces, out, last_joint, chunk_count, J, B, MOST: tl.constexpr, POSES: tl.constexpr
):
    """Adds a joint's chunks, in order. Joints beyond the last that counts get zero."""
    j = tl.program_id(0)
    b = (tl.program_id(1) * POSES + tl.arange(0, POSES)).to(tl.int64)
    c = tl.arange(0, 16)
    inside = (b < B)[:, None] & (c < 12)[None, :]
    total = tl.zeros([POSES, 16], tl.float32)
    known = j <= last_joint
    first = tl.load(first_chunk + j, mask=known, other=0)
    last = tl.load(first_chunk + j + 1, mask=known, other=0)
    for i in range(MOST):
        piece = pieces + (b * chunk_count + first + i)[:, None] * 16 + c[None, :]
        total += tl.load(piece, mask=inside & (first + i < last), other=0.0)
    tl.store(out + (b * J + j)[:, None] * 12 + c[None, :], total, mask=inside)


@triton.jit
def _tile(x, y, z, w, BLOCK: tl.constexpr):
    return tl.reshape(tl.join(tl.join(x, z), tl.join(y, w)), [BLOCK, 4])


@triton.jit
def _rows(at, mask, BLOCK: tl.constexpr):
    """The three rows of matrices `(BLOCK,)`, as twelve columns."""
    c = tl.arange(0, 4)
    m = at[:, None] + c[None, :]
    live = mask[:, None] & (c >= 0)[None, :]
    a, b, d, e = _four(tl.load(m, mask=live, other=0.0), BLOCK)
    f, g, h, i = _four(tl.load(m + 4, mask=live, other=0.0), BLOCK)
    p, q, r, s = _four(tl.load(m + 8, mask=live, other=0.0), BLOCK)
    return a, b, d, e, f, g, h, i, p, q, r, s


@triton.jit
def _put(at, mask, a, b, d, e, f, g, h, i, p, q, r, s, BLOCK: tl.constexpr):
    c = tl.arange(0, 4)
    m = at[:, None] + c[None, :]
    live = mask[:, None] & (c >= 0)[None, :]
    tl.store(m, _tile(a, b, d, e, BLOCK), mask=live)
    tl.store(m + 4, _tile(f, g, h, i, BLOCK), mask=live)
    tl.store(m + 8, _tile(p, q, r, s, BLOCK), mask=live)


@triton.jit
def kinematics(chains, local, out, J, total, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    """Each joint's matrix as the product along its own chain of ancestors: no joint waits for another."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    there = at < total
    joint = at % J
    pose = at - joint
    root = tl.load(chains + joint * DEPTH, mask=there, other=0).to(tl.int64)
    a, b, d, e, f, g, h, i, p, q, r, s = _rows(local + (pose + root) * 12, there, BLOCK)
    for level in range(1, DEPTH):
        link = tl.load(chains + joint * DEPTH + level, mask=there, other=-1).to(tl.int64)
        on = there & (link >= 0)
        x0, y0, z0, w0, x1, y1, z1, w1, x2, y2, z2, w2 = _rows(local + (pose + link) * 12, on, BLOCK)
        na, nb, nd, ne = (
            a * x0 + b * x1 + d * x2,
            a * y0 + b * y1 + d * y2,
            a * z0 + b * z1 + d * z2,
            a * w0 + b * w1 + d * w2 + e,
        )
        nf, ng, nh, ni = (
            f * x0 + g * x1 + h * x2,
            f * y0 + g * y1 + h * y2,
            f * z0 + g * z1 + h * z2,
            f * w0 + g * w1 + h * w2 + i,
        )
        np, nq, nr, ns = (
            p * x0 + q * x1 + r * x2,
            p * y0 + q * y1 + r * y2,
            p * z0 + q * z1 + r * z2,
            p * w0 + q * w1 + r * w2 + s,
        )
        a, b, d, e = tl.where(on, na, a), tl.where(on, nb, b), tl.where(on, nd, d), tl.where(on, ne, e)
        f, g, h, i = tl.where(on, nf, f), tl.where(on, ng, g), tl.where(on, nh, h), tl.where(on, ni, i)
        p, q, r, s = tl.where(on, np, p), tl.where(on, nq, q), tl.where(on, nr, r), tl.where(on, ns, s)
    _put(out + at * 12, there, a, b, d, e, f, g, h, i, p, q, r, s, BLOCK)


@triton.jit
def kinematics_gradient(order, parents, local, model, total, out, B, J: tl.constexpr, BLOCK: tl.constexpr):
    """Gradients of local matrices, children before parents: with `M = M_parent L` and the whole gradient G of M, the local
    matrix gets `M_parent^T G` and the parent `G L^T`. `total` holds the gradients of all M and is added to."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    on = at < B
    for step in range(J):
        j = tl.load(order + (J - 1 - step))
        up = tl.load(parents + j)
        own = (at * J + j) * 12
        a, b, d, e, f, g, h, i, p, q, r, s = _rows(total + own, on, BLOCK)
        if up >= 0:
            above = (at * J + up) * 12
            x0, y0, z0, w0, x1, y1, z1, w1, x2, y2, z2, w2 = _rows(local + own, on, BLOCK)
            A, B0, C, D, E, F, G, H, P, Q, R, S = _rows(total + above, on, BLOCK)
            A, B0, C, D = (
                A + a * x0 + b * y0 + d * z0 + e * w0,
                B0 + a * x1 + b * y1 + d * z1 + e * w1,
                C + a * x2 + b * y2 + d * z2 + e * w2,
                D + e,
            )
            E, F, G, H = (
                E + f * x0 + g * y0 + h * z0 + i * w0,
                F + f * x1 + g * y1 + h * z1 + i * w1,
                G + f * x2 + g * y2 + h * z2 + i * w2,
                H + i,
            )
            P, Q, R, S = (
                P + p * x0 + q * y0 + r * z0 + s * w0,
                Q + p * x1 + q * y1 + r * z1 + s * w1,
                R + p * x2 + q * y2 + r * z2 + s * w2,
                S + s,
            )
            _put(total + above, on, A, B0, C, D, E, F, G, H, P, Q, R, S, BLOCK)
            x0, y0, z0, w0, x1, y1, z1, w1, x2, y2, z2, w2 = _rows(model + above, on, BLOCK)
            _put(
                out + own, on,
                x0 * a + x1 * f + x2 * p, x0 * b + x1 * g + x2 * q, x0 * d + x1 * h + x2 * r, x0 * e + x1 * i + x2 * s,
                y0 * a + y1 * f + y2 * p, y0 * b + y1 * g + y2 * q, y0 * d + y1 * h + y2 * r, y0 * e + y1 * i + y2 * s,
                z0 * a + z1 * f + z2 * p, z0 * b + z1 * g + z2 * q, z0 * d + z1 * h + z2 * r, z0 * e + z1 * i + z2 * s,
                BLOCK,
            )  # fmt: skip
            tl.debug_barrier()
        else:
            _put(out + own, on, a, b, d, e, f, g, h, i, p, q, r, s, BLOCK)
