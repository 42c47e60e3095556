"""Elementary functions of float64 numbers in plain arithmetic: the same bits on every machine, where libraries differ.

Argument reduction and polynomials are those of Sun's fdlibm (`marrow.math.elementary` has them for arrays). Errors stay below one unit in the last place of the result for the
arguments kernels have (angles of a few turns, exponents within a hundred); `tests/kernels/test_elementary.py` measures them.
"""

from __future__ import annotations

import math

import numpy as np

from marrow.math.elementary import arctan_part, cos_part, reduced_angle, sin_part

__all__ = ["arccos", "atan2", "cos", "exp", "sin", "sincos"]

HALF_PI = 1.5707963267948966
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


def exp(x):
    """`e ** x`, for x up to 700; below -700 it is zero."""
    if x != x:
        return x
    if x < -700.0:
        return 0.0
    x = min(x, 700.0)
    k = np.floor(x * 1.4426950408889634 + 0.5)
    high, low = x - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))))  # fmt: skip
    return math.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), int(k))


def reduced(x):
    """The number of quarter turns nearest to x, and what is left in two parts."""
    k = np.floor(x * 0.6366197723675814 + 0.5)
    high, low = reduced_angle(x, k)
    return int(k) & 3, high, low


def sin(x):
    n, r, t = reduced(x)
    if n == 0:
        return sin_part(r, t)
    if n == 1:
        return cos_part(r, t)
    if n == 2:
        return -sin_part(r, t)
    return -cos_part(r, t)


def cos(x):
    n, r, t = reduced(x)
    if n == 0:
        return cos_part(r, t)
    if n == 1:
        return -sin_part(r, t)
    if n == 2:
        return -cos_part(r, t)
    return sin_part(r, t)


def sincos(x):
    """Sine and cosine of one angle."""
    n, r, t = reduced(x)
    s, c = sin_part(r, t), cos_part(r, t)
    if n & 1 == 1:
        s, c = c, s
    return -s if n >= 2 else s, -c if n == 1 or n == 2 else c


def arctan_positive(x):
    """The arc tangent of zero or more."""
    high, low = 0.0, 0.0
    if x >= 2.4375:
        x, high, low = -1.0 / x, 1.57079632679489655800e00, 6.12323399573676603587e-17
    elif x >= 1.1875:
        x, high, low = (x - 1.5) / (1.0 + 1.5 * x), 9.82793723247329054082e-01, 1.39033110312309984516e-17
    elif x >= 0.6875:
        x, high, low = (x - 1.0) / (x + 1.0), 7.85398163397448278999e-01, 3.06161699786838301793e-17
    elif x >= 0.4375:
        x, high, low = (2.0 * x - 1.0) / (2.0 + x), 4.63647609000806093515e-01, 2.26987774529616870924e-17
    return arctan_part(x, high, low)


def atan2(y, x):
    """The angle of the point (x, y); 0 at the origin."""
    a, b = abs(y), abs(x)
    if a != a or b != b:
        return a + b
    angle = 0.0
    if b > 0.0 or a > 0.0:
        angle = HALF_PI if b == 0.0 else arctan_positive(a / b)
    if x < 0.0:
        angle = 3.141592653589793 - (angle - 1.2246467991473531772e-16)
    return -angle if y < 0.0 else angle


def arccos(x):
    """For x in -1..1."""
    return atan2(math.sqrt((1.0 - x) * (1.0 + x)), x)
