"""Elementary functions of float64 numbers in plain arithmetic: the same bits on every machine, where libraries differ.

Argument reduction and polynomials are those of Sun's fdlibm. Errors stay below one unit in the last place of the result for the
arguments kernels have (angles of a few turns, exponents within a hundred); `tests/kernels/test_elementary.py` measures them.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["arccos", "atan2", "cos", "exp", "sin"]

HALF_PI = 1.5707963267948966
PIO2_1, PIO2_2, PIO2_3 = 1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21
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


def sin_part(x, y):
    """Sine of `x + y`, at most a quarter of pi, `y` being the tail of `x`."""
    z = x * x
    v = z * x
    r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))  # fmt: skip
    return x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01)


def cos_part(x, y):
    z = x * x
    r = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))))  # fmt: skip
    h = 0.5 * z
    w = 1.0 - h
    return w + (((1.0 - w) - h) + (z * r - x * y))


def reduced(x):
    """The number of quarter turns nearest to x, and what is left in two parts."""
    k = np.floor(x * 0.6366197723675814 + 0.5)
    r = x - k * PIO2_1
    w = k * PIO2_2
    first = r - w
    tail = k * PIO2_3 - ((r - first) - w)
    high = first - tail
    return int(k) & 3, high, (first - high) - tail


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
    z = x * x
    w = z * z
    odd = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))))  # fmt: skip
    even = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))))  # fmt: skip
    return high - ((x * (odd + even) - low) - x)


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
