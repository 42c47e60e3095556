"""Numbers written as text, and angles of motion files: what reading BVH spends its time on.

A decimal number is `mantissa / 10 ** k` (or times). Up to 2**53 and 10**22 both are exact in float64, so that one division gives the
nearest float, as `float(text)` does. Longer ones are divided in two float64 each, whose sum is known to a hundred bits: enough to
tell the nearest float in all but the rarest cases. Those, and words that are no plain numbers, are left to Python.
"""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, H, N, Out, S, T, W, f4, f8, i8, u1
from marrow.kernels.language.elementary import sincos
from marrow.kernels.language.kernel import kernel, rare

__all__ = ["MOST_HARD", "POWERS", "euler_rotations", "parse_numbers"]

POWERS = tuple(10.0**k for k in range(23))
"""The powers of ten that float64 has exactly."""
MOST_HARD = 1024
EXACT = 1 << 53
MOST_DIGITS = 100_000_000_000_000_000
SMALLEST = 88
"""The smallest power of ten that is divided by, four exact ones."""
SPLIT = 134217729.0
RADIANS = 0.017453292519943295


def halves(a):
    """A float64 as the sum of two with 26 bits each (Veltkamp)."""
    c = SPLIT * a
    high = c - (c - a)
    return high, a - high


@rare
def long_quotient(mantissa, power, powers):
    """`mantissa / 10 ** power` rounded once, and whether that is certain; a mantissa of up to 18 digits."""
    high = float(mantissa)
    low = float(mantissa - int(high))
    left = power
    while left > 0:
        step = min(left, 22)
        left -= step
        d = powers[step]
        first = high / d
        # What is left of `high + low` without `first * d`, whose product is exact in two parts (Dekker).
        a, b = halves(first)
        c, e = halves(d)
        product = first * d
        error = ((a * c - product) + a * e + b * c) + b * e
        rest = ((high - product) - error) + low
        second = rest / d
        high = first + second
        low = second - (high - first)
    # Certain where the tail is not within a ten-thousandth of the middle between two floats.
    return high, high + low * 1.0001 == high


def is_space(c):
    """What separates words, as `bytes.split` has it."""
    return c == 32 or (c >= 9 and c <= 13)


@kernel
def parse_numbers(
    text: u1[ANY], powers: f8[23], values: Out[f8[ANY]], hard: Out[i8[H, 3]], begin: int, first: int
) -> tuple[int, int, int]:
    """Numbers of `text` from byte `begin` on into `values` from `first` on. Words that Python must read are listed in `hard` as
    (index, begin, end). Returns how many values there are now, how many hard words, and where the next word begins; it stops when
    `values` or `hard` is full."""
    size = len(text)
    at, n, found = begin, first, 0
    while n < len(values) and found < len(hard):
        while at < size and is_space(text[at]):
            at += 1
        if at >= size:
            break
        start = at
        c = text[at]
        negative = c == 45
        if negative or c == 43:
            at += 1
        mantissa, digits, fraction = 0, 0, 0
        plain = True
        while at < size:
            d = text[at] - 48
            if d < 0 or d > 9:
                break
            if mantissa >= MOST_DIGITS:
                plain = False
                break
            mantissa = 10 * mantissa + d
            digits += 1
            at += 1
        if at < size and text[at] == 46:
            at += 1
            begun = at
            while at < size:
                d = text[at] - 48
                if d < 0 or d > 9:
                    break
                if mantissa >= MOST_DIGITS:
                    plain = False
                    break
                mantissa = 10 * mantissa + d
                at += 1
            fraction = at - begun
            digits += fraction
        power = -fraction
        if digits == 0:
            plain = False
        if at < size and (text[at] == 101 or text[at] == 69):
            at += 1
            down = False
            if at < size and (text[at] == 45 or text[at] == 43):
                down = text[at] == 45
                at += 1
            exponent, begun = 0, at
            while at < size and text[at] >= 48 and text[at] <= 57 and at - begun < 5:
                exponent = 10 * exponent + text[at] - 48
                at += 1
            if at == begun:
                plain = False
            power = power - exponent if down else power + exponent
        if at < size and not is_space(text[at]):
            plain = False
        value = 0.0
        if plain and mantissa > 0:
            if mantissa <= EXACT and power >= -22 and power <= 22:
                value = float(mantissa)
                value = value / powers[-power] if power < 0 else value * powers[power]
            elif power < 0 and power >= -SMALLEST:
                value, plain = long_quotient(mantissa, -power, powers)
            else:
                plain = False
        if not plain:
            while at < size and not is_space(text[at]):
                at += 1
            hard[found, 0], hard[found, 1], hard[found, 2] = n, start, at
            found += 1
        values[n] = -value if negative else value
        n += 1
    while at < size and is_space(text[at]):
        at += 1
    return n, found, at


@kernel
def euler_rotations(values: f8[T, W], joints: i8[N, 3], turns: i8[S, 2], out: Out[f4[ANY]]) -> int:
    """Quaternions of channels in degrees. A row of `joints` is where in `out` the rotations of a joint begin (four numbers a frame), and
    which of `turns` are its own: from the first on, and how many. A turn is an axis and a column of `values`."""
    T = len(values)
    for block in range(
        0, T, 64
    ):  # few frames at a time: neither what is read nor what is written leaves the cache
        for j in range(len(joints)):
            at, first, count = joints[j, 0], joints[j, 1], joints[j, 2]
            for t in range(block, min(block + 64, T)):
                x, y, z, w = 0.0, 0.0, 0.0, 1.0
                for k in range(first, first + count):
                    s, c = sincos(values[t, turns[k, 1]] * RADIANS / 2.0)
                    axis = turns[k, 0]
                    if k == first:
                        w = c
                        if axis == 0:
                            x = s
                        elif axis == 1:
                            y = s
                        else:
                            z = s
                    elif axis == 0:
                        x, y, z, w = c * x + s * w, c * y + s * z, c * z - s * y, c * w - s * x
                    elif axis == 1:
                        y, z, x, w = c * y + s * w, c * z + s * x, c * x - s * z, c * w - s * y
                    else:
                        z, x, y, w = c * z + s * w, c * x + s * y, c * y - s * x, c * w - s * z
                place = at + 4 * t
                out[place], out[place + 1], out[place + 2], out[place + 3] = x, y, z, w
    return T
