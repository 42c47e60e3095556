"""Constraints that take over what other joints do: copy, drive, limit."""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import atan2, cos, sin
from marrow.kernels.operations.constraints.frames import (
    TINY,
    between,
    chosen,
    column_length,
    part_of,
    place_of,
    point_of,
    power,
    put_place,
    put_turn,
    rotation_of,
    unit_turn,
)
from marrow.kernels.operations.constraints.layout import OVER_REST, ROTATION, SCALE, TRANSLATION
from marrow.kernels.operations.spatial import conjugated, local_rotation, multiplied


def rest_rotation(c, k):
    r = c.rest[k]
    return (r[3], r[4], r[5], r[6])


def base_rotation(work, top, c, k):
    """The local rotation that a constraint begins with."""
    if c.option[k] & OVER_REST:
        return rest_rotation(c, k)
    return local_rotation(work.stack, top, work.Jp, c.joint[k])


def mean_rotation(total, q, share):
    """A rotation added to a sum, on the side of what is there."""
    side = share
    if total[0] * q[0] + total[1] * q[1] + total[2] * q[2] + total[3] * q[3] < 0.0:
        side = -share
    return (total[0] + side * q[0], total[1] + side * q[1], total[2] + side * q[2], total[3] + side * q[3])


def run_copy(work, n, top, c, k, weight):
    """What sources do in the frames of their parents, done by a joint."""
    rows, Jp, j, option, numbers = work.stack, work.Jp, c.joint[k], c.option[k], c.numbers[k]
    first, last, axes = c.first_source[k], c.first_source[k] + c.sources[k], (option >> 3) & 7
    factor, rest = numbers[0], c.rest[k]
    if option & ROTATION:
        total = (0.0, 0.0, 0.0, 0.0)
        for s in range(first, last):
            q = local_rotation(rows, top, Jp, c.source[s])
            total = mean_rotation(total, multiplied(multiplied(c.before[s], q), c.after[s]), c.share[s])
        turn, home = total, rest_rotation(c, k)
        if last > first + 1:
            turn = unit_turn(total)
        if axes != 7:
            turn = part_of(turn, axes)
        if factor != 1.0:
            turn = power(turn, factor)
        if option & OVER_REST:
            if weight < 1.0:
                turn = power(turn, weight)
            put_turn(work, top, j, multiplied(home, turn))
        else:
            base = local_rotation(rows, top, Jp, j)
            if axes != 7:
                turn = chosen(turn, multiplied(conjugated(home), base), axes)
            put_turn(work, top, j, between(base, multiplied(home, turn), weight))
    for d in range(3):
        if axes & (1 << d):
            if option & TRANSLATION:
                value, at = numbers[1 + d], top + d * Jp
                for s in range(first, last):
                    value += c.share[s] * factor * rows[at + c.source[s]]
                old = rest[d] if option & OVER_REST else rows[at + j]
                if math.isfinite(value):
                    rows[at + j] = old + weight * (value - old)
            if option & SCALE:
                ratio, at = 0.0, top + (7 + d) * Jp
                for s in range(first, last):
                    ratio += c.share[s] * rows[at + c.source[s]] * c.offset[s, d]
                value = numbers[4 + d] * (1.0 + factor * (ratio - 1.0))
                old = rest[7 + d] if option & OVER_REST else rows[at + j]
                if math.isfinite(value):
                    rows[at + j] = old + weight * (value - old)


def base_place(work, top, c, k):
    """Where in model space a constraint begins."""
    j = c.joint[k]
    if c.option[k] & OVER_REST:
        r = c.rest[k]
        return point_of(work, c.parent[k], (r[0], r[1], r[2]))
    return place_of(work, j)


def run_copy_model(work, n, top, c, k, weight):
    """Where sources are in model space, taken over by a joint."""
    rows, Jp, j, p, option = work.stack, work.Jp, c.joint[k], c.parent[k], c.option[k]
    first, last, axes = c.first_source[k], c.first_source[k] + c.sources[k], (option >> 3) & 7
    if option & ROTATION:
        total = (0.0, 0.0, 0.0, 0.0)
        for s in range(first, last):
            q = multiplied(rotation_of(work, c.source[s]), c.after[s])
            total = mean_rotation(total, q, c.share[s])
        if last > first + 1:
            total = unit_turn(total)
        above, base = rotation_of(work, p), base_rotation(work, top, c, k)
        if axes != 7:
            now = multiplied(above, base)
            turn = part_of(multiplied(total, conjugated(now)), axes)
            total = multiplied(turn, now)
        put_turn(work, top, j, between(base, multiplied(conjugated(above), total), weight))
    if option & TRANSLATION:
        x, y, z = 0.0, 0.0, 0.0
        for s in range(first, last):
            point, share = point_of(work, c.source[s], c.offset[s]), c.share[s]
            x, y, z = x + share * point[0], y + share * point[1], z + share * point[2]
        was = base_place(work, top, c, k)
        wx = weight if axes & 1 else 0.0
        wy = weight if axes & 2 else 0.0
        wz = weight if axes & 4 else 0.0
        put_place(
            work,
            top,
            j,
            p,
            (was[0] + wx * (x - was[0]), was[1] + wy * (y - was[1]), was[2] + wz * (z - was[2])),
        )
    if option & SCALE:
        for d in range(3):
            if axes & (1 << d):
                size, own, at = 0.0, column_length(work, j, d), top + (7 + d) * Jp + j
                for s in range(first, last):
                    size += c.share[s] * column_length(work, c.source[s], d)
                if own > TINY and math.isfinite(size):
                    rows[at] *= 1.0 + weight * (size / own - 1.0)


def channel_value(rows, top, Jp, j, channel, rest, numbers):
    """A channel of a joint, from its rest pose: metres, radians about an axis, or a factor."""
    if channel < 3:
        r = numbers[6] if channel == 0 else numbers[7] if channel == 1 else numbers[8]
        return rows[top + channel * Jp + j] - r
    if channel < 6:
        q = multiplied(conjugated(rest), local_rotation(rows, top, Jp, j))
        angle = 2.0 * atan2(q[0] if channel == 3 else q[1] if channel == 4 else q[2], q[3])
        if angle > math.pi:
            angle -= 2.0 * math.pi
        elif angle < -math.pi:
            angle += 2.0 * math.pi
        return angle
    r = numbers[9] if channel == 6 else numbers[10] if channel == 7 else numbers[11]
    s = rows[top + (1 + channel) * Jp + j]
    return s / r if abs(r) > TINY else s


def curve_at(c, first, count, x):
    """A curve of straight lines through keys; level before the first and behind the last."""
    if not x > c.key[first, 0]:
        return c.key[first, 1]
    for i in range(first + 1, first + count):
        if x < c.key[i, 0]:
            a, b = c.key[i - 1, 0], c.key[i, 0]
            u = (x - a) / (b - a)
            return c.key[i - 1, 1] + u * (c.key[i, 1] - c.key[i - 1, 1])
    return c.key[first + count - 1, 1]


def run_drive(work, n, top, c, k, weight):
    """A channel of a joint, or a morph, by a curve over a channel of another joint."""
    rows, Jp, j, numbers, rest = work.stack, work.Jp, c.joint[k], c.numbers[k], c.rest[k]
    entry, into = int(numbers[0]), int(numbers[1])
    home = (numbers[2], numbers[3], numbers[4], numbers[5])
    x = channel_value(rows, top, Jp, c.source[c.first_source[k]], entry, home, numbers)
    if not math.isfinite(x):
        return
    y, over = curve_at(c, c.first_key[k], c.keys[k], x), c.option[k] & OVER_REST
    if c.extra[k] >= 0:
        at = top + 10 * Jp + c.extra[k]
        rows[at] = numbers[12] + weight * y if over else rows[at] + weight * y
    elif into < 3:
        at = top + into * Jp + j
        r = rest[0] if into == 0 else rest[1] if into == 1 else rest[2]
        rows[at] = (r if over else rows[at]) + weight * y
    elif into < 6:
        half = 0.5 * weight * y
        s, w = sin(half), cos(half)
        turn = (s, 0.0, 0.0, w)
        if into == 4:
            turn = (0.0, s, 0.0, w)
        elif into == 5:
            turn = (0.0, 0.0, s, w)
        put_turn(work, top, j, multiplied(base_rotation(work, top, c, k), turn))
    else:
        at = top + (1 + into) * Jp + j
        r = rest[7] if into == 6 else rest[8] if into == 7 else rest[9]
        rows[at] = (r if over else rows[at]) * (1.0 + weight * (y - 1.0))


def limited(q, before, after, ix, iy, et):
    """A local rotation put inside its limits of swing and twist (`kernels.ik.limits`)."""
    d = multiplied(multiplied(before, q), after)
    x, y, z, w = d
    if w < 0.0:
        x, y, z, w = -x, -y, -z, -w
    size = math.sqrt(z * z + w * w)
    t, cosine = 0.0, 1.0
    if size > 1e-6:
        t, cosine = z / size, w / size
    sx, sy = x * cosine - y * t, y * cosine + x * t
    a, b = sx * ix, sy * iy
    rho = math.sqrt(a * a + b * b)
    out = rho > 1.0
    if out:
        # Across the ellipse to first order, and then straight to its middle.
        hx, hy = a * ix, b * iy
        way = (rho - 1.0) * rho / max(hx * hx + hy * hy, 1e-12)
        sx, sy = sx - hx * way, sy - hy * way
        a, b = sx * ix, sy * iy
        rho = math.sqrt(a * a + b * b)
        inside = min(1.0 / max(rho, 1e-6), 1.0)
        sx, sy = sx * inside, sy * inside
    end = min(et, 1.0)
    if abs(t) > end:
        t, out = (end if t > 0.0 else -end), True
    if not out:
        return q
    m = math.sqrt(max(1.0 - sx * sx - sy * sy, 0.0))
    cosine = math.sqrt(max(1.0 - t * t, 0.0))
    d = (sx * cosine + sy * t, sy * cosine - sx * t, m * t, m * cosine)
    return multiplied(multiplied(conjugated(before), d), conjugated(after))


def run_limit(work, n, top, c, k, weight):
    """A joint kept inside its limits of swing and twist, and ranges of translation and scale."""
    rows, Jp, j, option, a = work.stack, work.Jp, c.joint[k], c.option[k], c.numbers[k]
    if option & ROTATION:
        q = local_rotation(rows, top, Jp, j)
        goal = limited(q, (a[0], a[1], a[2], a[3]), (a[4], a[5], a[6], a[7]), a[8], a[9], a[10])
        put_turn(work, top, j, between(q, goal, weight))
    for d in range(3):
        if option & TRANSLATION:
            at = top + d * Jp + j
            value = min(max(rows[at], a[11 + d]), a[14 + d])
            rows[at] += weight * (value - rows[at])
        if option & SCALE:
            at = top + (7 + d) * Jp + j
            value = min(max(rows[at], a[17 + d]), a[20 + d])
            rows[at] += weight * (value - rows[at])
