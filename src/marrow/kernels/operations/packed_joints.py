"""Packed motion (`kernels.packed_layout`) joint by joint: what a shader does in the place of `packed_lanes`, an invocation for each joint."""

from __future__ import annotations

import math

from marrow.kernels.language.hierarchy import side_by_side
from marrow.kernels.operations.spatial import multiplied
from marrow.kernels.packed_layout import HEAD, LENGTH, OWN_BITS, SEGMENTS, shapes_at

__all__ = ["add_packed_joints"]

OWN_UNIT = 2.0 ** (1 - OWN_BITS)


def half_at(packed, at, number):
    word = packed[at + (number >> 1)]
    return (word >> 16) & 65535 if (number & 1) != 0 else word & 65535


def octet_at(packed, number):
    return (packed[number >> 2] >> (8 * (number & 3))) & 255


def bits_at(packed, begin, bit, width):
    """Up to 24 bits from a bit on, by halves of words."""
    number, s = bit >> 4, bit & 15
    found = (half_at(packed, begin, number) >> s) | (half_at(packed, begin, number + 1) << (16 - s))
    if s > 8:
        found = found | (half_at(packed, begin, number + 2) << (32 - s))
    return found & ((1 << width) - 1)


def ones(mask):
    count = 0
    while mask != 0:
        count += 1
        mask = mask & (mask - 1)
    return count


def step_of(code):
    """The step that a code stands for."""
    power = 1.0
    exponent = (code >> 3) - 28
    for _ in range(abs(exponent)):
        power = power * 2.0
    step = 1.0 + (code & 7) * 0.125
    return step / power if exponent < 0 else step * power


def float_at(a, b, c, d):
    """The number whose float32 has these octets, the lowest first."""
    exponent = ((d & 127) << 1) + (c >> 7)
    fraction = ((c & 127) << 16) + (b << 8) + a
    if exponent == 0:
        return 0.0
    power, far = 1.0, abs(exponent - 127)
    for _ in range(far):
        power = power * 2.0
    value = 1.0 + fraction / 8388608.0
    value = value / power if exponent < 127 else value * power
    return -value if (d & 128) != 0 else value


def signed(number, octets):
    """A number of so many octets with the sign of its highest bit."""
    top = 1 << (8 * octets - 1)
    return number - 2 * top if number >= top else number


def channel_value(packed, at, head, planes, x, y, z, bits, step):
    """What a channel says, the octets of whose constant begin at `at`, `planes` apart."""
    more, wide, degree = head & 3, (head >> 2) & 3, (head >> 4) & 3
    number, added = octet_at(packed, at) + (octet_at(packed, at + planes) << 8), 0.0
    if more == 2:
        added = float_at(
            number & 255,
            number >> 8,
            octet_at(packed, at + 2 * planes),
            octet_at(packed, at + 3 * planes),
        )
        number = 0
    elif more == 1:
        number = signed(number + (octet_at(packed, at + 2 * planes) << 16), 3)
    else:
        number = signed(number, 2)
    at += planes * (more + 2)
    curve = 512
    for k in range(3):
        if k < degree:
            value = octet_at(packed, at)
            octets = 2 if k < wide else 1
            if octets == 2:
                value = value + (octet_at(packed, at + planes) << 8)
            shape = x
            if k == 1:
                shape = y
            if k == 2:
                shape = z
            curve += signed(value, octets) * shape
            at += planes * octets
    return (number + (curve >> 10) + bits) * step + added


def cell_values(packed, cell, number, lane, segment, k, length):
    """The three components of a joint of a cell at a frame of a segment; zero where it has none."""
    masks = (half_at(packed, cell, 0), half_at(packed, cell, 1), half_at(packed, cell, 2))
    tracks = masks[0] | masks[1] | masks[2]
    values = (0.0, 0.0, 0.0)
    if ((tracks >> lane) & 1) == 0:
        return values
    below = (1 << lane) - 1
    begin = 4 * segment + 2 * half_at(packed, segment + 1, number)
    head = octet_at(packed, begin)
    counts = (ones(masks[0]), ones(masks[1]), ones(masks[2]))
    planes, before, in_all = counts[0] + counts[1] + counts[2], 0, 0
    at = begin + 1
    for c in range(3):
        rank = ones(masks[c] & below)
        for r in range(counts[c]):
            width = octet_at(packed, at + r) & 31
            in_all += width
            if r < rank:
                before += width
        at += counts[c]
    octet = begin + 1 + planes * (3 + (head & 3) + ((head >> 4) & 3) + ((head >> 2) & 3))
    bit = 8 * (octet & 3) + before + in_all * k
    code = octet_at(packed, 4 * (cell + 2) + ones(tracks & below))
    step = step_of(code) * step_of(half_at(packed, segment, 0) & 255)
    x, y, z = shapes_at(k, length)
    at = begin + 1
    for c in range(3):
        if ((masks[c] >> lane) & 1) != 0:
            own = at + ones(masks[c] & below)
            width = octet_at(packed, own) & 31
            bits = bits_at(packed, octet >> 2, bit, width)
            value = channel_value(packed, own + planes, head, planes, x, y, z, bits, step)
            bit += width
            if c == 0:
                values = (value, values[1], values[2])
            if c == 1:
                values = (values[0], value, values[2])
            if c == 2:
                values = (values[0], values[1], value)
        at += counts[c]
    return values


def own_word(packed, cell, lane, size, c):
    """In which octet the `c`-th word of the own value of a joint begins, `size` words each."""
    tracks = half_at(packed, cell, 0) | half_at(packed, cell, 1) | half_at(packed, cell, 2)
    rank = ones(half_at(packed, cell, 3) & ((1 << lane) - 1))
    return 4 * (cell + 2 + ((ones(tracks) + 3) >> 2) + size * rank + c)


def own_turn(packed, at, count):
    """A number of an own rotation, whose octets lie so many apart."""
    low, high = octet_at(packed, at) + (octet_at(packed, at + count) << 8), octet_at(packed, at + 2 * count)
    return signed(low + (high << 16), 3)


def own_float(packed, octet):
    return float_at(
        octet_at(packed, octet),
        octet_at(packed, octet + 1),
        octet_at(packed, octet + 2),
        octet_at(packed, octet + 3),
    )


def turn_of(x, y, z):
    """The unit quaternion of modified Rodrigues parameters."""
    squared = x * x + y * y + z * z
    s = 1.0 / (1.0 + squared)
    return (2.0 * x * s, 2.0 * y * s, 2.0 * z * s, (1.0 - squared) * s)


def put_values(work, record, j, kind, row, o, a, k, b, l, length, t, weight, more, top):
    """Translation or scale of a joint."""
    packed, place, lane = work.packed, record + HEAD + 3 * (j >> 4) + kind, j & 15
    cell, number = record + (packed[place] & 65535), (packed[place] >> 16) & 65535
    first, second = (
        cell_values(packed, cell, number, lane, a, k, length),
        cell_values(packed, cell, number, lane, b, l, length),
    )
    own = (half_at(packed, cell, 3) >> lane) & 1
    for c in range(3):
        at = (row + c) * work.Jp + j
        start = work.bank[o + at]
        if own != 0:
            start = own_float(packed, own_word(packed, cell, lane, 3, c))
        put_sum(work, top + at, weight * (start + (first[c] + t * (second[c] - first[c]))), more)


def put_sum(work, at, value, more):
    """Puts a number on the stack, or adds it to what is there."""
    work.stack[at] = value + work.stack[at] if more != 0.0 else value


def put_turn(work, record, j, o, a, k, b, l, length, t, weight, more, top):
    """The rotation of a joint."""
    packed, place, lane, Jp = work.packed, record + HEAD + 3 * (j >> 4) + 1, j & 15, work.Jp
    cell, number = record + (packed[place] & 65535), (packed[place] >> 16) & 65535
    x, y, z = cell_values(packed, cell, number, lane, a, k, length)
    p = turn_of(x, y, z)
    x, y, z = cell_values(packed, cell, number, lane, b, l, length)
    q = turn_of(x, y, z)
    side = -t if p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0 else t
    start = (
        work.bank[o + 3 * Jp + j],
        work.bank[o + 4 * Jp + j],
        work.bank[o + 5 * Jp + j],
        work.bank[o + 6 * Jp + j],
    )
    if ((half_at(packed, cell, 3) >> lane) & 1) != 0:
        own = half_at(packed, cell, 3)
        tracks = half_at(packed, cell, 0) | half_at(packed, cell, 1) | half_at(packed, cell, 2)
        at, count = 4 * (cell + 2) + ones(tracks) + ones(own & ((1 << lane) - 1)), ones(own)
        x, y = own_turn(packed, at, count), own_turn(packed, at + 3 * count, count)
        z = own_turn(packed, at + 6 * count, count)
        start = turn_of(x * OWN_UNIT, y * OWN_UNIT, z * OWN_UNIT)
    rest = 1.0 - t
    mixed = (
        rest * p[0] + side * q[0],
        rest * p[1] + side * q[1],
        rest * p[2] + side * q[2],
        rest * p[3] + side * q[3],
    )
    v = multiplied(start, mixed)
    at = top + 3 * Jp + j
    s = weight / math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3])
    if more != 0.0:
        present = (work.stack[at], work.stack[at + Jp], work.stack[at + 2 * Jp], work.stack[at + 3 * Jp])
        if present[0] * v[0] + present[1] * v[1] + present[2] * v[2] + present[3] * v[3] < 0.0:
            s = -s
    for c in range(4):
        put_sum(work, at + c * Jp, s * v[c], more)


def put_morph(work, record, m, o, a, k, b, l, length, t, weight, more, top):
    """A morph weight."""
    packed, place, lane = work.packed, record + HEAD + 3 * (work.Jp >> 4) + (m >> 4), m & 15
    cell, number = record + (packed[place] & 65535), (packed[place] >> 16) & 65535
    first, second = (
        cell_values(packed, cell, number, lane, a, k, length),
        cell_values(packed, cell, number, lane, b, l, length),
    )
    at = 10 * work.Jp + m
    start = work.bank[o + at]
    if ((half_at(packed, cell, 3) >> lane) & 1) != 0:
        start = own_float(packed, own_word(packed, cell, lane, 1, 0))
    put_sum(work, top + at, weight * (start + (first[0] + t * (second[0] - first[0]))), more)


def add_packed_joints(work, clip, time, weight, more, top):
    """What `add_packed` does."""
    record, frames, o = work.clip_packed[clip], work.clip_frames[clip], work.clip_start[clip]
    u = time * work.clip_rate[clip]
    u = min(u, frames - 1.0) if u > 0.0 else 0.0
    f = min(int(u), max(frames - 2, 0))
    g = f + 1 if frames > 1 else f
    t, length = u - f, work.packed[record + LENGTH]
    table = record + work.packed[record + SEGMENTS]
    a, b = record + work.packed[table + f // length], record + work.packed[table + g // length]
    k, l = f % length, g % length
    for j in side_by_side(0, work.lanes):
        put_values(work, record, j, 0, 0, o, a, k, b, l, length, t, weight, more, top)
        put_turn(work, record, j, o, a, k, b, l, length, t, weight, more, top)
        put_values(work, record, j, 2, 7, o, a, k, b, l, length, t, weight, more, top)
    for m in side_by_side(0, work.Mp):
        put_morph(work, record, m, o, a, k, b, l, length, t, weight, more, top)
