"""ETC1, ETC2 and EAC blocks of 4 x 4 texels. Written after the Khronos Data Format Specification, chapters 21 and 22."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, H, Out, W, i8, u1
from marrow.kernels.language.kernel import apart, kernel

__all__ = ["ALPHA", "ONE_BIT_ALPHA", "OPAQUE", "RED", "RED_GREEN", "etc2_blocks"]

OPAQUE, ONE_BIT_ALPHA, ALPHA, RED, RED_GREEN = range(5)


def octet(v):
    return 0 if v < 0 else 255 if v > 255 else v


def put(pixels, y, x, r, g, b):
    pixels[y, x, 0], pixels[y, x, 1], pixels[y, x, 2] = octet(r), octet(g), octet(b)


def signed(v):
    """Three bits, the highest of which is negative."""
    return v - 8 if v & 4 else v


@apart
def planar(data, at, y0, x0, pixels):
    b0, b1, b2, b3 = data[at], data[at + 1], data[at + 2], data[at + 3]
    b4, b5, b6, b7 = data[at + 4], data[at + 5], data[at + 6], data[at + 7]
    r, g = (b0 >> 1) & 63, ((b0 & 1) << 6) | ((b1 >> 1) & 63)
    b = ((b1 & 1) << 5) | (b2 & 24) | ((b2 & 3) << 1) | (b3 >> 7)
    rh, gh = (((b3 >> 2) & 31) << 1) | (b3 & 1), b4 >> 1
    bh = ((b4 & 1) << 5) | (b5 >> 3)
    rv, gv, bv = ((b5 & 7) << 3) | (b6 >> 5), ((b6 & 31) << 2) | (b7 >> 6), b7 & 63
    r, b = (r << 2) | (r >> 4), (b << 2) | (b >> 4)
    rh, bh = (rh << 2) | (rh >> 4), (bh << 2) | (bh >> 4)
    rv, bv = (rv << 2) | (rv >> 4), (bv << 2) | (bv >> 4)
    g, gh, gv = (g << 1) | (g >> 6), (gh << 1) | (gh >> 6), (gv << 1) | (gv >> 6)
    for y in range(4):
        for x in range(4):
            red = (x * (rh - r) + y * (rv - r) + 4 * r + 2) >> 2
            green = (x * (gh - g) + y * (gv - g) + 4 * g + 2) >> 2
            blue = (x * (bh - b) + y * (bv - b) + 4 * b + 2) >> 2
            put(pixels, y0 + y, x0 + x, red, green, blue)
            pixels[y0 + y, x0 + x, 3] = 255


@apart
def colors(data, at, one_bit, levels, distances, y0, x0, pixels):
    """The colours of a block."""
    b0, b1, b2, b3 = data[at], data[at + 1], data[at + 2], data[at + 3]
    choice = (data[at + 4] << 24) | (data[at + 5] << 16) | (data[at + 6] << 8) | data[at + 7]
    flag = b3 & 2 != 0
    clear = one_bit and not flag
    paint = 0  # 0: two tables, 1: T, 2: H
    if not flag and not one_bit:
        r1, g1, c1 = (b0 >> 4) * 17, (b1 >> 4) * 17, (b2 >> 4) * 17
        r2, g2, c2 = (b0 & 15) * 17, (b1 & 15) * 17, (b2 & 15) * 17
    else:
        r1, g1, c1 = b0 >> 3, b1 >> 3, b2 >> 3
        r2, g2, c2 = r1 + signed(b0 & 7), g1 + signed(b1 & 7), c1 + signed(b2 & 7)
        if r2 < 0 or r2 > 31:
            paint = 1
            r1, g1, c1 = (((b0 >> 1) & 12) | (b0 & 3)) * 17, (b1 >> 4) * 17, (b1 & 15) * 17
            r2, g2, c2 = (b2 >> 4) * 17, (b2 & 15) * 17, (b3 >> 4) * 17
        elif g2 < 0 or g2 > 31:
            paint = 2
            r1, g1 = (b0 >> 3) & 15, ((b0 & 7) << 1) | ((b1 >> 4) & 1)
            c1 = (b1 & 8) | ((b1 & 3) << 1) | (b2 >> 7)
            r2, g2, c2 = (b2 >> 3) & 15, ((b2 & 7) << 1) | (b3 >> 7), (b3 >> 3) & 15
        elif c2 < 0 or c2 > 31:
            planar(data, at, y0, x0, pixels)
            return
        else:
            r1, g1, c1 = (r1 << 3) | (r1 >> 2), (g1 << 3) | (g1 >> 2), (c1 << 3) | (c1 >> 2)
            r2, g2, c2 = (r2 << 3) | (r2 >> 2), (g2 << 3) | (g2 >> 2), (c2 << 3) | (c2 >> 2)
    far = 0
    if paint == 1:
        far = distances[((b3 >> 1) & 6) | (b3 & 1)]
    elif paint == 2:
        larger = (r1 << 8) + (g1 << 4) + c1 >= (r2 << 8) + (g2 << 4) + c2
        far = distances[(b3 & 4) | ((b3 & 1) << 1) | (1 if larger else 0)]
        r1, g1, c1, r2, g2, c2 = r1 * 17, g1 * 17, c1 * 17, r2 * 17, g2 * 17, c2 * 17
    for x in range(4):
        for y in range(4):
            i = 4 * x + y
            which = ((choice >> (16 + i)) & 1) * 2 + ((choice >> i) & 1)
            alpha = 255
            if clear and which == 2:
                put(pixels, y0 + y, x0 + x, 0, 0, 0)
                alpha = 0
            elif paint == 1:
                if which == 0:
                    put(pixels, y0 + y, x0 + x, r1, g1, c1)
                else:
                    step = far * (2 - which)
                    put(pixels, y0 + y, x0 + x, r2 + step, g2 + step, c2 + step)
            elif paint == 2:
                step = far if which & 1 == 0 else -far
                if which < 2:
                    put(pixels, y0 + y, x0 + x, r1 + step, g1 + step, c1 + step)
                else:
                    put(pixels, y0 + y, x0 + x, r2 + step, g2 + step, c2 + step)
            else:
                first = y < 2 if b3 & 1 else x < 2
                table = b3 >> 5 if first else (b3 >> 2) & 7
                step = levels[table, which & 1]
                if which >= 2:
                    step = -step
                if clear and which == 0:
                    step = 0
                if first:
                    put(pixels, y0 + y, x0 + x, r1 + step, g1 + step, c1 + step)
                else:
                    put(pixels, y0 + y, x0 + x, r2 + step, g2 + step, c2 + step)
            pixels[y0 + y, x0 + x, 3] = alpha


@apart
def channel(data, at, eac, fine, y0, x0, c, pixels):
    """One channel of EAC: in 8 bits, or in 11 (`fine`), of which the highest remain."""
    base, factor, table = data[at], data[at + 1] >> 4, data[at + 1] & 15
    choice = 0
    for k in range(6):
        choice |= data[at + 2 + k] << (40 - 8 * k)
    for x in range(4):
        for y in range(4):
            step = eac[table, (choice >> (45 - 3 * (4 * x + y))) & 7]
            if fine:
                v = 8 * base + 4 + (8 * step * factor if factor > 0 else step)
                v = 0 if v < 0 else 2047 if v > 2047 else v
                pixels[y0 + y, x0 + x, c] = (v * 255 + 1023) // 2047
            else:
                pixels[y0 + y, x0 + x, c] = octet(base + step * factor)


@kernel
def etc2_blocks(
    data: u1[ANY], kind: int, levels: i8[8, 2], distances: i8[8], eac: i8[16, 8], pixels: Out[u1[H, W, 4]]
) -> None:
    """Blocks row by row into a picture of whole blocks; `kind` is one of those above. `levels`, `distances` and `eac`
    are the tables
    of the format."""
    at = 0
    for y in range(len(pixels) // 4):
        for x in range(len(pixels[0]) // 4):
            if kind == ALPHA:
                colors(data, at + 8, False, levels, distances, 4 * y, 4 * x, pixels)
                channel(data, at, eac, False, 4 * y, 4 * x, 3, pixels)
                at += 16
            elif kind >= RED:
                channel(data, at, eac, True, 4 * y, 4 * x, 0, pixels)
                at += 8
                if kind == RED_GREEN:
                    channel(data, at, eac, True, 4 * y, 4 * x, 1, pixels)
                    at += 8
            else:
                colors(data, at, kind == ONE_BIT_ALPHA, levels, distances, 4 * y, 4 * x, pixels)
                at += 8
