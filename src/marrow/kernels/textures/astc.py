"""ASTC blocks of any size, low dynamic range, and the 4 x 4 blocks of UASTC (Basis Universal), which are ASTC in
another order.

Written after the Khronos Data Format Specification, chapter 23. A block that the format does not allow is magenta.
"""

from __future__ import annotations

from typing import NamedTuple

from marrow.kernels.language.annotations import ANY, H, Out, W, i8, u1, u2
from marrow.kernels.language.kernel import apart, kernel
from marrow.kernels.textures.bits import bits, octets, reversed_bits

__all__ = ["AstcTables", "AstcWork", "astc_blocks", "uastc_blocks"]


class AstcTables(NamedTuple):
    """`ranges`: bits, trits and quints of a number of each range; `colors` and `weights`: what it stands for; `trits`
    and `quints`: those in
    a packed group."""

    ranges: i8[21, 3]
    colors: u1[21, 256]
    weights: u1[12, 32]
    trits: u1[256, 5]
    quints: u1[128, 3]


class AstcWork(NamedTuple):
    """Room for one block: `numbers` of its weights, `values` and `ends` of its colours (low, then high), `kinds` of its
    partitions."""

    numbers: Out[i8[128]]
    values: Out[i8[64]]
    ends: Out[i8[4, 8]]
    kinds: Out[i8[4]]


def sequence_length(count, bit_count, trits, quints):
    """Bits of a sequence of numbers of one range."""
    return count * bit_count + (8 * count + 4) // 5 * trits + (7 * count + 2) // 3 * quints


def part(low, high, at, count, end):
    """Bits before `end`; zeros from there on."""
    return bits(low, high, at, min(count, end - at))


@apart
def read_sequence(low, high, begin, count, kind, tables, into):
    """Numbers of one range, packed."""
    n, trits, quints = tables.ranges[kind, 0], tables.ranges[kind, 1], tables.ranges[kind, 2]
    end = begin + sequence_length(count, n, trits, quints)
    at, i = begin, 0
    if trits == 1:
        while i < count:
            m0 = part(low, high, at, n, end)
            t = part(low, high, at + n, 2, end)
            m1 = part(low, high, at + n + 2, n, end)
            t |= part(low, high, at + 2 * n + 2, 2, end) << 2
            m2 = part(low, high, at + 2 * n + 4, n, end)
            t |= part(low, high, at + 3 * n + 4, 1, end) << 4
            m3 = part(low, high, at + 3 * n + 5, n, end)
            t |= part(low, high, at + 4 * n + 5, 2, end) << 5
            m4 = part(low, high, at + 4 * n + 7, n, end)
            t |= part(low, high, at + 5 * n + 7, 1, end) << 7
            into[i] = m0 | (tables.trits[t, 0] << n)
            into[i + 1] = m1 | (tables.trits[t, 1] << n)
            into[i + 2] = m2 | (tables.trits[t, 2] << n)
            into[i + 3] = m3 | (tables.trits[t, 3] << n)
            into[i + 4] = m4 | (tables.trits[t, 4] << n)
            at += 5 * n + 8
            i += 5
    elif quints == 1:
        while i < count:
            m0 = part(low, high, at, n, end)
            q = part(low, high, at + n, 3, end)
            m1 = part(low, high, at + n + 3, n, end)
            q |= part(low, high, at + 2 * n + 3, 2, end) << 3
            m2 = part(low, high, at + 2 * n + 5, n, end)
            q |= part(low, high, at + 3 * n + 5, 2, end) << 5
            into[i] = m0 | (tables.quints[q, 0] << n)
            into[i + 1] = m1 | (tables.quints[q, 1] << n)
            into[i + 2] = m2 | (tables.quints[q, 2] << n)
            at += 3 * n + 7
            i += 3
    else:
        while i < count:
            into[i] = bits(low, high, at, n)
            at += n
            i += 1


@apart
def partition_of(seed, x, y, count, small):
    """Which of 2 to 4 partitions a texel belongs to."""
    if small:
        x, y = x << 1, y << 1
    seed += (count - 1) * 1024
    n = seed
    n ^= n >> 15
    n = (n - (n << 17)) & 4294967295
    n = (n + (n << 7)) & 4294967295
    n = (n + (n << 4)) & 4294967295
    n ^= n >> 5
    n = (n + (n << 16)) & 4294967295
    n ^= n >> 7
    n ^= n >> 3
    n = (n ^ (n << 6)) & 4294967295
    n ^= n >> 17
    s1, s2, s3, s4 = n & 15, (n >> 4) & 15, (n >> 8) & 15, (n >> 12) & 15
    s5, s6, s7, s8 = (n >> 16) & 15, (n >> 20) & 15, (n >> 24) & 15, (n >> 28) & 15
    s1, s2, s3, s4 = s1 * s1, s2 * s2, s3 * s3, s4 * s4
    s5, s6, s7, s8 = s5 * s5, s6 * s6, s7 * s7, s8 * s8
    if seed & 1:
        first = 4 if seed & 2 else 5
        second = 6 if count == 3 else 5
    else:
        first = 6 if count == 3 else 5
        second = 4 if seed & 2 else 5
    s1, s3, s5, s7 = s1 >> first, s3 >> first, s5 >> first, s7 >> first
    s2, s4, s6, s8 = s2 >> second, s4 >> second, s6 >> second, s8 >> second
    a = (s1 * x + s2 * y + (n >> 14)) & 63
    b = (s3 * x + s4 * y + (n >> 10)) & 63
    c = (s5 * x + s6 * y + (n >> 6)) & 63 if count > 2 else 0
    d = (s7 * x + s8 * y + (n >> 2)) & 63 if count > 3 else 0
    if a >= b and a >= c and a >= d:
        return 0
    if b >= c and b >= d:
        return 1
    return 2 if c >= d else 3


def clamped(v):
    return 0 if v < 0 else 255 if v > 255 else v


def set_low(ends, p, r, g, b, a):
    ends[p, 0], ends[p, 1], ends[p, 2], ends[p, 3] = clamped(r), clamped(g), clamped(b), clamped(a)


def set_high(ends, p, r, g, b, a):
    ends[p, 4], ends[p, 5], ends[p, 6], ends[p, 7] = clamped(r), clamped(g), clamped(b), clamped(a)


def moved(a, b):
    """An offset and a base, of which the first gives a bit to the second (`bit_transfer_signed`)."""
    base = (b >> 1) | (a & 128)
    step = (a >> 1) & 63
    return (step - 64 if step & 32 else step), base


@apart
def read_ends(values, v, kind, ends, p):
    """The two colours of a partition; magenta for kinds of high dynamic range."""
    a, b = values[v], values[v + 1]
    if kind == 0:
        set_low(ends, p, a, a, a, 255)
        set_high(ends, p, b, b, b, 255)
        return
    if kind == 1:
        level = (a >> 2) | (b & 192)
        top = level + (b & 63)
        set_low(ends, p, level, level, level, 255)
        set_high(ends, p, top, top, top, 255)
        return
    c, d = values[v + 2], values[v + 3]
    if kind == 4:
        set_low(ends, p, a, a, a, c)
        set_high(ends, p, b, b, b, d)
        return
    if kind == 5:
        step, base = moved(b, a)
        alpha_step, alpha = moved(d, c)
        set_low(ends, p, base, base, base, alpha)
        set_high(ends, p, base + step, base + step, base + step, alpha + alpha_step)
        return
    if kind == 6:
        set_low(ends, p, (a * d) >> 8, (b * d) >> 8, (c * d) >> 8, 255)
        set_high(ends, p, a, b, c, 255)
        return
    e, f = values[v + 4], values[v + 5]
    if kind == 10:
        set_low(ends, p, (a * d) >> 8, (b * d) >> 8, (c * d) >> 8, e)
        set_high(ends, p, a, b, c, f)
        return
    if kind == 8 or kind == 12:
        g, h = 255, 255
        if kind == 12:
            g, h = values[v + 6], values[v + 7]
        if b + d + f >= a + c + e:
            set_low(ends, p, a, c, e, g)
            set_high(ends, p, b, d, f, h)
        else:
            set_low(ends, p, (b + f) >> 1, (d + f) >> 1, f, h)
            set_high(ends, p, (a + e) >> 1, (c + e) >> 1, e, g)
        return
    if kind == 9 or kind == 13:
        red_step, red = moved(b, a)
        green_step, green = moved(d, c)
        blue_step, blue = moved(f, e)
        alpha_step, alpha = 0, 255
        if kind == 13:
            alpha_step, alpha = moved(values[v + 7], values[v + 6])
        r, g, b2, a2 = red + red_step, green + green_step, blue + blue_step, alpha + alpha_step
        if red_step + green_step + blue_step >= 0:
            set_low(ends, p, red, green, blue, alpha)
            set_high(ends, p, r, g, b2, a2)
        else:
            set_low(ends, p, (r + b2) >> 1, (g + b2) >> 1, b2, a2)
            set_high(ends, p, (red + blue) >> 1, (green + blue) >> 1, blue, alpha)
        return
    set_low(ends, p, 255, 0, 255, 255)
    set_high(ends, p, 255, 0, 255, 255)


def between(a, b, weight, srgb):
    """What lies between two octets, of 64 parts."""
    low = (a << 8) | (128 if srgb else a)
    high = (b << 8) | (128 if srgb else b)
    return ((low * (64 - weight) + high * weight + 32) >> 6) >> 8


@apart
def filled(pixels, y0, x0, height, width, r, g, b, a):
    """A block of one colour."""
    for y in range(height):
        for x in range(width):
            pixels[y0 + y, x0 + x, 0], pixels[y0 + y, x0 + x, 1] = r, g
            pixels[y0 + y, x0 + x, 2], pixels[y0 + y, x0 + x, 3] = b, a


def grid_of(mode):
    """Width and height of the grid of weights, their range (-1: there is no such mode), and whether there are two of
    them."""
    precise, planes = (mode >> 9) & 1, ((mode >> 10) & 1) + 1
    a, b = (mode >> 5) & 3, (mode >> 7) & 3
    width, height = 0, 0
    if mode & 3:
        kind = ((mode & 3) << 1) | ((mode >> 4) & 1)
        shape = (mode >> 2) & 3
        if shape == 0:
            width, height = b + 4, a + 2
        elif shape == 1:
            width, height = b + 8, a + 2
        elif shape == 2:
            width, height = a + 2, b + 8
        elif b & 2 == 0:
            width, height = a + 2, (b & 1) + 6
        else:
            width, height = (b & 1) + 2, a + 2
    else:
        kind = (((mode >> 2) & 3) << 1) | ((mode >> 4) & 1)
        if (mode >> 2) & 3 == 0:
            return 0, 0, -1, 1
        if b == 0:
            width, height = 12, a + 2
        elif b == 1:
            width, height = a + 2, 12
        elif b == 2:
            width, height = a + 6, ((mode >> 9) & 3) + 6
            precise, planes = 0, 1
        elif a == 0:
            width, height = 6, 10
        elif a == 1:
            width, height = 10, 6
        else:
            return 0, 0, -1, 1
    return width, height, kind - 2 + 6 * precise, planes


@apart
def colored(data, at, tables, work, y0, x0, height, width, srgb, pixels):
    """One block; False where the format does not allow it."""
    low, high = octets(data, at), octets(data, at + 8)
    mode = low & 2047
    if mode & 511 == 508:
        if mode & 512 != 0 or (low >> 10) & 3 != 3:
            return False
        s0, s1 = bits(low, high, 12, 13), bits(low, high, 25, 13)
        t0, t1 = bits(low, high, 38, 13), bits(low, high, 51, 13)
        free = s0 == 8191 and s1 == 8191 and t0 == 8191 and t1 == 8191
        if not free and (s0 >= s1 or t0 >= t1):
            return False
        r, g = bits(low, high, 64, 16) >> 8, bits(low, high, 80, 16) >> 8
        b, a = bits(low, high, 96, 16) >> 8, bits(low, high, 112, 16) >> 8
        filled(pixels, y0, x0, height, width, r, g, b, a)
        return True
    columns, rows, kind, planes = grid_of(mode)
    count = columns * rows * planes
    if kind < 0 or count > 64 or columns > width or rows > height:
        return False
    ranges = tables.ranges
    length = sequence_length(count, ranges[kind, 0], ranges[kind, 1], ranges[kind, 2])
    partitions = ((low >> 11) & 3) + 1
    if length < 24 or length > 96 or (planes == 2 and partitions == 4):
        return False
    end = 128 - length
    seed, begin, first = 0, 17, (low >> 13) & 15
    work.kinds[0] = first
    if partitions > 1:
        seed, begin = (low >> 13) & 1023, 29
        said = bits(low, high, 23, 6)
        if said & 3 == 0:
            for p in range(partitions):
                work.kinds[p] = said >> 2
        else:
            more = 3 * partitions - 4
            end -= more
            said |= bits(low, high, end, more) << 6
            for p in range(partitions):
                grown = (said & 3) - 1 + ((said >> (2 + p)) & 1)
                work.kinds[p] = (grown << 2) | ((said >> (2 + partitions + 2 * p)) & 3)
    second = -1
    if planes == 2:
        end -= 2
        second = bits(low, high, end, 2)
    needed = 0
    for p in range(partitions):
        needed += 2 * (work.kinds[p] >> 2) + 2
    room = end - begin
    if needed > 18 or room < (13 * needed + 4) // 5:
        return False
    best = 20
    while best > 4 and sequence_length(needed, ranges[best, 0], ranges[best, 1], ranges[best, 2]) > room:
        best -= 1
    read_sequence(low, high, begin, needed, best, tables, work.values)
    for i in range(needed):
        work.values[i] = tables.colors[best, work.values[i] & 255]
    v = 0
    for p in range(partitions):
        read_ends(work.values, v, work.kinds[p], work.ends, p)
        v += 2 * (work.kinds[p] >> 2) + 2
    read_sequence(reversed_bits(high), reversed_bits(low), 0, count, kind, tables, work.numbers)
    for i in range(count):
        work.numbers[i] = tables.weights[kind, work.numbers[i] & 31]
    step_x = (1024 + width // 2) // (width - 1)
    step_y = (1024 + height // 2) // (height - 1)
    small = width * height < 31
    for y in range(height):
        gy = (step_y * y * (rows - 1) + 32) >> 6
        fy = gy & 15
        for x in range(width):
            gx = (step_x * x * (columns - 1) + 32) >> 6
            fx = gx & 15
            w11 = (fx * fy + 8) >> 4
            w10, w01 = fy - w11, fx - w11
            w00 = 16 - fx - fy + w11
            i = ((gy >> 4) * columns + (gx >> 4)) * planes
            right, below = i + planes, i + columns * planes
            n = work.numbers
            # Beyond the grid's edge the share is 0, and `numbers` has room.
            weight = (n[i] * w00 + n[right] * w01 + n[below] * w10 + n[below + planes] * w11 + 8) >> 4
            other = weight
            if planes == 2:
                other = (
                    n[i + 1] * w00 + n[right + 1] * w01 + n[below + 1] * w10 + n[below + planes + 1] * w11 + 8
                ) >> 4
            p = 0
            if partitions > 1:
                p = partition_of(seed, x, y, partitions, small)
            e = work.ends
            for c in range(4):
                pixels[y0 + y, x0 + x, c] = between(
                    e[p, c], e[p, 4 + c], other if c == second else weight, srgb and c < 3
                )
    return True


@kernel
def astc_blocks(
    data: u1[ANY],
    tables: AstcTables,
    work: AstcWork,
    height: int,
    width: int,
    srgb: int,
    pixels: Out[u1[H, W, 4]],
) -> int:
    """Blocks of `height` times `width` texels, row by row, into a picture of whole blocks. Returns how many the format
    does not
    allow."""
    wrong = 0
    at = 0
    for y in range(len(pixels) // height):
        for x in range(len(pixels[0]) // width):
            if not colored(data, at, tables, work, y * height, x * width, height, width, srgb != 0, pixels):
                filled(pixels, y * height, x * width, height, width, 255, 0, 255, 255)
                wrong += 1
            at += 16
    return wrong


@apart
def uastc_colored(data, at, tables, modes, seeds, work, y0, x0, pixels):
    """One block of UASTC; False where the format does not allow it."""
    low, high = octets(data, at), octets(data, at + 8)
    mode = modes[19, low & 127]
    if mode > 18:
        return False
    at = modes[0, mode]
    if mode == 8:
        r, g = bits(low, high, at, 8), bits(low, high, at + 8, 8)
        b, a = bits(low, high, at + 16, 8), bits(low, high, at + 24, 8)
        filled(pixels, y0, x0, 4, 4, r, g, b, a)
        return True
    at += modes[1, mode]
    weight_bits, kind = modes[2, mode], modes[3, mode]
    subsets, planes, parts = modes[4, mode], modes[5, mode], modes[6, mode]
    seed = 0
    if subsets > 1:
        width = 4 if subsets == 3 else 5
        pattern = bits(low, high, at, width)
        at += width
        row = 2 if subsets == 3 else 1 if mode == 7 else 0
        seed = seeds[row, pattern]
        if seed > 1023:
            return False
    second = -1
    if planes == 2:
        second = 3
        if mode != 17:
            second = bits(low, high, at, 2)
            at += 2
    count = 2 * parts * subsets
    n, trits, quints = tables.ranges[kind, 0], tables.ranges[kind, 1], tables.ranges[kind, 2]
    values = work.values
    if trits + quints > 0:
        base = 3 if trits == 1 else 5
        group = 5 if trits == 1 else 3
        for first in range(0, count, 1):
            if first % group == 0:
                left = min(count - first, group)
                # 2, 4, 5, 7, 8 bits for one to five trits; 3, 5, 7 for one to three quints.
                size = (8 * left + 4) // 5 if trits == 1 else (7 * left + 2) // 3
                packed = bits(low, high, at, size)
                at += size
                for k in range(left):
                    values[first + k] = (packed % base) << n
                    packed //= base
    else:
        for i in range(count):
            values[i] = 0
    for i in range(count):
        values[i] = tables.colors[kind, (values[i] | bits(low, high, at, n)) & 255]
        at += n
    e = work.ends
    v = 0
    for p in range(subsets):
        if parts == 2:
            set_low(e, p, values[v], values[v], values[v], values[v + 2])
            set_high(e, p, values[v + 1], values[v + 1], values[v + 1], values[v + 3])
        elif parts == 3:
            set_low(e, p, values[v], values[v + 2], values[v + 4], 255)
            set_high(e, p, values[v + 1], values[v + 3], values[v + 5], 255)
        else:
            set_low(e, p, values[v], values[v + 2], values[v + 4], values[v + 6])
            set_high(e, p, values[v + 1], values[v + 3], values[v + 5], values[v + 7])
        v += 2 * parts
    # The first texel of each subset has a bit less.
    seen = 0
    levels = modes[7, mode]
    for i in range(16):
        p = 0
        if subsets > 1:
            p = partition_of(seed, i & 3, i >> 2, subsets, True)
        size = weight_bits
        if (seen >> p) & 1 == 0:
            size -= 1
            seen |= 1 << p
        weight = tables.weights[levels, bits(low, high, at, size)]
        at += size
        other = weight
        if planes == 2:
            other = tables.weights[levels, bits(low, high, at, size)]
            at += size
        for c in range(4):
            share = other if c == second else weight
            pixels[y0 + (i >> 2), x0 + (i & 3), c] = between(e[p, c], e[p, 4 + c], share, False)
    return True


@kernel
def uastc_blocks(
    data: u1[ANY],
    tables: AstcTables,
    modes: u1[20, 128],
    seeds: u2[3, 32],
    work: AstcWork,
    pixels: Out[u1[H, W, 4]],
) -> int:
    """Blocks of UASTC, row by row, into a picture of whole blocks. Returns how many the format does not allow. `modes`:
    what each
    mode has, and in its last row the mode that seven bits say; `seeds` of the partitions, 65,535 where there is none."""
    wrong = 0
    at = 0
    for y in range(len(pixels) // 4):
        for x in range(len(pixels[0]) // 4):
            if not uastc_colored(data, at, tables, modes, seeds, work, y * 4, x * 4, pixels):
                filled(pixels, y * 4, x * 4, 4, 4, 255, 0, 255, 255)
                wrong += 1
            at += 16
    return wrong
