"""Turns as three angles that run on, for files whose curves are angles (`marrow.io.fbx.writing.eulers` says what they are for).

A turn is looked at in a frame whose axes are those of its order, from the outermost inwards: rotations are relabelled once, and all
orders are XYZ from there on."""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.annotations import J, K, M, N, Out, R, T, f4, f8, i1, i4, i8
from marrow.kernels.language.elementary import arccos, atan2, sincos
from marrow.kernels.language.kernel import kernel
from marrow.kernels.rotations import LOCKED, unit

__all__ = ["joined_turns", "key_angles", "pole_sines", "turn_angles"]

PI, TURN = 3.141592653589793, 6.283185307179586
DEGREES = 57.29577951308232
LINEAR, CUBIC = 4, 3080
STRAIGHT = 1e-7


def axes(order):
    """The axes of FBX's orders XYZ, YZX and ZXY from the outermost inwards, and their hand."""
    if order == 0:
        return 2, 1, 0, -1.0
    if order == 1:
        return 1, 2, 0, 1.0
    return 2, 0, 1, 1.0


def product(ax, ay, az, aw, bx, by, bz, bw):
    """The rotation b, then a."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def angles(x, y, z, w):
    """The angles about X, Y and Z, each in the frame the ones before it left."""
    a, b = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z)
    cosine = math.sqrt(a * a + b * b)
    last, s, c = 0.0, 0.0, 1.0
    # At gimbal lock only the sum of first and last is defined: put it all into the first.
    if cosine >= LOCKED:
        last, s, c = atan2(-b, a), -b / cosine, a / cosine
    up = 2.0 * (x * z - w * y) * s + 2.0 * (y * z + w * x) * c
    along = 2.0 * (x * y + w * z) * s + (1.0 - 2.0 * (x * x + z * z)) * c
    return atan2(up, along), atan2(2.0 * (x * z + w * y), cosine), last


def apart(a, b):
    """How far two angles are from each other."""
    d = abs(a - b)
    return abs(d - TURN * np.floor(d / TURN + 0.5))


def after(pf, pm, pl, f, m, n):
    """Angles that stand for the rotation of f, m, n, next to the ones before: of both sets the nearer, whole turns added."""
    of, om, ol = f + PI, PI - m, n + PI
    if apart(pf, of) + apart(pm, om) + apart(pl, ol) < apart(pf, f) + apart(pm, m) + apart(pl, n):
        f, m, n = of, om, ol
    f += TURN * np.floor((pf - f) / TURN + 0.5)
    m += TURN * np.floor((pm - m) / TURN + 0.5)
    n += TURN * np.floor((pl - n) / TURN + 0.5)
    return f, m, n


def between(x, y, z, w, u, v, s, c):
    """The angle between two rotations."""
    x, y, z, w = product(-x, -y, -z, w, u, v, s, c)
    length = math.sqrt(x * x + y * y + z * z)
    return 2.0 * atan2(length, abs(w)) if length > 1e-4 else 2.0 * length


def from_angles(f, m, n):
    """The rotation of three angles."""
    fs, fc = sincos(0.5 * f)
    ms, mc = sincos(0.5 * m)
    ns, nc = sincos(0.5 * n)
    x, y, z, w = fs * mc, fc * ms, fs * ms, fc * mc
    return x * nc + y * ns, y * nc - x * ns, z * nc + w * ns, w * nc - z * ns


@kernel
def turn_angles(
    a: f8[N, 4],
    b: f8[N, 4],
    out: f8[N, 4],
    into: f8[N, 4],
    cubic: i1[N],
    span: f8[N],
    order: i4[N],
    row: i8[M],
    begin: f8[M],
    end: f8[M],
    points: Out[f8[M, 4, 3]],
    way: Out[f8[M, 7, 4]],
    off: Out[f8[M]],
    widest: Out[f8[M]],
    chord: Out[f8[M]],
    first: int,
    last: int,
) -> int:
    """Parts of turns, each from `begin` to `end` of its way: the angles at four points of it, evenly spread, inner axes last
    (`points`); how far the cubic through them is from the true turn at three points between; the widest way of an angle; and
    how far a straight turn from end to end is from a cubic one. `way` is room for the rotations."""
    for m in range(first, last):
        n = row[m]
        i, j, k, sign = axes(order[n])
        ax, ay, az, aw = sign * a[n, i], sign * a[n, j], sign * a[n, k], a[n, 3]
        bx, by, bz, bw = sign * b[n, i], sign * b[n, j], sign * b[n, k], b[n, 3]
        step = (end[m] - begin[m]) / 6.0
        if cubic[n] != 0:
            h = span[n]
            ox, oy, oz, ow = h * sign * out[n, i], h * sign * out[n, j], h * sign * out[n, k], h * out[n, 3]
            ix, iy, iz, iw = (
                h * sign * into[n, i],
                h * sign * into[n, j],
                h * sign * into[n, k],
                h * into[n, 3],
            )
            for p in range(7):
                t = begin[m] + step * p
                t2, t3 = t * t, t * t * t
                ha, hb, ho, hi = 2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3, t3 - 2.0 * t2 + t, t3 - t2
                x, y, z, w = unit(
                    ha * ax + ho * ox + hb * bx + hi * ix,
                    ha * ay + ho * oy + hb * by + hi * iy,
                    ha * az + ho * oz + hb * bz + hi * iz,
                    ha * aw + ho * ow + hb * bw + hi * iw,
                )
                way[m, p, 0], way[m, p, 1], way[m, p, 2], way[m, p, 3] = x, y, z, w
        else:
            cosine = ax * bx + ay * by + az * bz + aw * bw
            if cosine < 0.0:
                bx, by, bz, bw, cosine = -bx, -by, -bz, -bw, -cosine
            theta = arccos(min(cosine, 1.0))
            sine = sincos(theta)[0]
            if sine < 1e-6:
                for p in range(7):
                    t = begin[m] + step * p
                    x, y, z, w = unit(
                        ax + t * (bx - ax), ay + t * (by - ay), az + t * (bz - az), aw + t * (bw - aw)
                    )
                    way[m, p, 0], way[m, p, 1], way[m, p, 2], way[m, p, 3] = x, y, z, w
            else:
                # a, and what is at right angles to it: the way is a circle.
                ux, uy = (bx - cosine * ax) / sine, (by - cosine * ay) / sine
                uz, uw = (bz - cosine * az) / sine, (bw - cosine * aw) / sine
                s, c = sincos(begin[m] * theta)
                ds, dc = sincos(step * theta)
                for p in range(7):
                    way[m, p, 0], way[m, p, 1] = ax * c + ux * s, ay * c + uy * s
                    way[m, p, 2], way[m, p, 3] = az * c + uz * s, aw * c + uw * s
                    s, c = s * dc + c * ds, c * dc - s * ds
        pf, pm, pl = angles(way[m, 0, 0], way[m, 0, 1], way[m, 0, 2], way[m, 0, 3])
        points[m, 0, 0], points[m, 0, 1], points[m, 0, 2] = pf, pm, pl
        sf, sm, sl = pf, pm, pl
        for p in range(1, 7):
            f, g, h = angles(way[m, p, 0], way[m, p, 1], way[m, p, 2], way[m, p, 3])
            pf, pm, pl = after(pf, pm, pl, f, g, h)
            if p % 2 == 0:
                points[m, p // 2, 0], points[m, p // 2, 1], points[m, p // 2, 2] = pf, pm, pl
        widest[m] = max(abs(pf - sf), max(abs(pm - sm), abs(pl - sl)))
        worst = 0.0
        for p in range(3):
            c0, c1, c2, c3 = 5.0, 15.0, -5.0, 1.0
            if p == 1:
                c0, c1, c2, c3 = -1.0, 9.0, 9.0, -1.0
            if p == 2:
                c0, c1, c2, c3 = 1.0, -5.0, 15.0, 5.0
            f = (
                c0 * points[m, 0, 0] + c1 * points[m, 1, 0] + c2 * points[m, 2, 0] + c3 * points[m, 3, 0]
            ) / 16.0
            g = (
                c0 * points[m, 0, 1] + c1 * points[m, 1, 1] + c2 * points[m, 2, 1] + c3 * points[m, 3, 1]
            ) / 16.0
            h = (
                c0 * points[m, 0, 2] + c1 * points[m, 1, 2] + c2 * points[m, 2, 2] + c3 * points[m, 3, 2]
            ) / 16.0
            x, y, z, w = from_angles(f, g, h)
            at = 2 * p + 1
            worst = max(
                worst, between(x, y, z, w, way[m, at, 0], way[m, at, 1], way[m, at, 2], way[m, at, 3])
            )
        off[m] = worst
        chord[m] = 0.0
        if cubic[n] != 0:
            ax, ay, az, aw = way[m, 0, 0], way[m, 0, 1], way[m, 0, 2], way[m, 0, 3]
            bx, by, bz, bw = way[m, 6, 0], way[m, 6, 1], way[m, 6, 2], way[m, 6, 3]
            side = -1.0 if ax * bx + ay * by + az * bz + aw * bw < 0.0 else 1.0
            x, y, z, w = unit(ax + side * bx, ay + side * by, az + side * bz, aw + side * bw)
            chord[m] = between(x, y, z, w, way[m, 3, 0], way[m, 3, 1], way[m, 3, 2], way[m, 3, 3])
    return last - first


@kernel
def joined_turns(
    points: f8[M, 4, 3],
    track: i8[M],
    order: i4[M],
    begin: f8[M],
    long: f8[M],
    ends: f8[T],
    times: Out[f8[R]],
    values: Out[f8[R, 3]],
    kind: Out[i4[R, 3]],
    slopes: Out[f8[R, 3, 2]],
    starts: Out[i8[T]],
) -> int:
    """The keys of curves in degrees by axis, of parts of turns in order (`turn_angles`): each part begins where the one before it on
    its track ends, and a key closes the track at `ends`. `begin` and `long` are seconds; slopes are per second. `starts`: the
    first key of each track that has any. Returns how many keys there are."""
    r = 0
    pf, pm, pl = 0.0, 0.0, 0.0
    for m in range(len(track)):
        i, j, k, sign = axes(order[m])
        flip, tf, tm, tl = 1.0, 0.0, 0.0, 0.0
        new = m == 0 or track[m] != track[m - 1]
        if new:
            starts[track[m]] = r
        f, g, h = points[m, 0, 0], points[m, 0, 1], points[m, 0, 2]
        if not new:
            # Both sets of angles are one set and its mirror: first and last half a turn on, the middle one the other way.
            of, om, ol = f + PI, PI - g, h + PI
            if apart(pf, of) + apart(pm, om) + apart(pl, ol) < apart(pf, f) + apart(pm, g) + apart(pl, h):
                flip, tf, tm, tl = -1.0, PI, PI, PI
            tf += TURN * np.floor((pf - (f + tf)) / TURN + 0.5)
            tm += TURN * np.floor((pm - (flip * g + tm)) / TURN + 0.5)
            tl += TURN * np.floor((pl - (h + tl)) / TURN + 0.5)
        pf, pm, pl = points[m, 3, 0] + tf, flip * points[m, 3, 1] + tm, points[m, 3, 2] + tl
        times[r] = begin[m]
        for c in range(3):
            add = tf if c == 0 else tm if c == 1 else tl
            side = flip if c == 1 else 1.0
            axis = i if c == 0 else j if c == 1 else k
            scale = sign * DEGREES
            p0, p1 = scale * (side * points[m, 0, c] + add), scale * (side * points[m, 1, c] + add)
            p2, p3 = scale * (side * points[m, 2, c] + add), scale * (side * points[m, 3, c] + add)
            leave = (-11.0 * p0 + 18.0 * p1 - 9.0 * p2 + 2.0 * p3) / 2.0
            arrive = (11.0 * p3 - 18.0 * p2 + 9.0 * p1 - 2.0 * p0) / 2.0
            run = p3 - p0
            straight = abs(leave - run) <= STRAIGHT and abs(arrive - run) <= STRAIGHT
            values[r, axis], values[r + 1, axis] = p0, p3
            kind[r, axis], kind[r + 1, axis] = LINEAR if straight else CUBIC, LINEAR
            slopes[r, axis, 0], slopes[r, axis, 1] = leave / long[m], arrive / long[m]
            slopes[r + 1, axis, 0], slopes[r + 1, axis, 1] = 0.0, 0.0
        r += 1
        if m + 1 == len(track) or track[m + 1] != track[m]:
            times[r] = ends[track[m]]
            r += 1
    return r


@kernel
def pole_sines(
    q: f4[N, 4],
    joint: i8[N],
    goes_on: i1[N],
    before: f8[J, 4],
    wide: float,
    worst: Out[f8[K, J]],
) -> int:
    """For each order (0, 1, 2) and joint how near its rotations come to the pole, as the sine of the middle angle at most (added to
    what `worst` has). Where a key goes on to the next and that is far, the way between them counts too."""
    for n in range(len(q)):
        j = joint[n]
        x, y, z, w = unit(q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        vx, vy, vz, vw = x, y, z, w
        steps, turn, sine = 1, 0.0, 1.0
        if goes_on[n] != 0:
            vx, vy, vz, vw = unit(q[n + 1, 0], q[n + 1, 1], q[n + 1, 2], q[n + 1, 3])
            cosine = x * vx + y * vy + z * vz + w * vw
            if abs(cosine) < wide:
                steps = 8
                turn = arccos(abs(cosine))
                sine = sincos(turn)[0]
                if cosine < 0.0:
                    vx, vy, vz, vw = -vx, -vy, -vz, -vw
        for p in range(steps):
            a, b = 1.0, 0.0
            if p > 0:
                a, b = sincos((1.0 - p / 8.0) * turn)[0] / sine, sincos(p / 8.0 * turn)[0] / sine
            rx, ry, rz, rw = product(
                -before[j, 0], -before[j, 1], -before[j, 2], before[j, 3],
                a * x + b * vx, a * y + b * vy, a * z + b * vz, a * w + b * vw,
            )  # fmt: skip
            worst[0, j] = max(worst[0, j], abs(2.0 * (rx * rz - rw * ry)))
            worst[1, j] = max(worst[1, j], abs(2.0 * (rx * ry + rw * rz)))
            worst[2, j] = max(worst[2, j], abs(2.0 * (ry * rz + rw * rx)))
    return len(q)


@kernel
def key_angles(q: f8[N, 4], order: i4[N], track: i8[N], out: Out[f8[N, 3]]) -> int:
    """Angles in degrees by axis of keys that nothing lies between, those of a track next to each other."""
    pf, pm, pl = 0.0, 0.0, 0.0
    for n in range(len(q)):
        i, j, k, sign = axes(order[n])
        x, y, z, w = unit(q[n, 0], q[n, 1], q[n, 2], q[n, 3])
        x, y, z = pick(x, y, z, i), pick(x, y, z, j), pick(x, y, z, k)
        f, m, h = angles(sign * x, sign * y, sign * z, w)
        if n > 0 and track[n] == track[n - 1]:
            f, m, h = after(pf, pm, pl, f, m, h)
        pf, pm, pl = f, m, h
        scale = sign * DEGREES
        out[n, i], out[n, j], out[n, k] = scale * f, scale * m, scale * h
    return len(q)


def pick(x, y, z, axis):
    """One of three numbers."""
    return x if axis == 0 else y if axis == 1 else z
