"""Elementary functions of arrays in plain arithmetic: the same bits on every processor, unlike NumPy's.

The formulas are those of Sun's fdlibm, shared with the kernels (`kernels.language.elementary` chooses among the same parts
with branches). Results are float64 whatever goes in; errors stay below one or two units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["arccos", "arctan2", "cross", "dot", "exp", "sincos"]

Array = NDArray[Any]

PI, HALF_PI = 3.141592653589793, 1.5707963267948966
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
PIO2_1, PIO2_2, PIO2_3 = 1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21


def sin_part(x: Any, y: Any) -> Any:
    """Sine of `x + y`, at most a quarter of pi, `y` being the tail of `x`."""
    z = x * x
    v = z * x
    r = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))  # fmt: skip # noqa: E501
    return x - ((z * (0.5 * y - v * r) - y) - v * -1.66666666666666324348e-01)


def cos_part(x: Any, y: Any) -> Any:
    """Cosine, likewise."""
    z = x * x
    r = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))))  # fmt: skip # noqa: E501
    h = 0.5 * z
    w = 1.0 - h
    return w + (((1.0 - w) - h) + (z * r - x * y))


def reduced_angle(x: Any, k: Any) -> tuple[Any, Any]:
    """What is left of an angle without `k` quarter turns, in two parts."""
    r = x - k * PIO2_1
    w = k * PIO2_2
    first = r - w
    tail = k * PIO2_3 - ((r - first) - w)
    high = first - tail
    return high, (first - high) - tail


def arctan_part(x: Any, high: Any, low: Any) -> Any:
    """The arc tangent of a small `x`, and of what it was reduced by."""
    z = x * x
    w = z * z
    odd = z * (3.33333333333329318027e-01 + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + w * (6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))))  # fmt: skip # noqa: E501
    even = w * (-1.99999999998764832476e-01 + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))))  # fmt: skip # noqa: E501
    return high - ((x * (odd + even) - low) - x)


def dot(a: ArrayLike, b: ArrayLike) -> Array:
    """The products of `(..., n)` numbers summed from first to last; matrix libraries sum as suits the processor."""
    a, b = np.asarray(a), np.asarray(b)
    total: Array = a[..., 0] * b[..., 0]
    for k in range(1, a.shape[-1]):
        total = total + a[..., k] * b[..., k]
    return total


def cross(a: Array, b: Array) -> Array:
    """The cross products of vectors `(..., 3)`: NumPy's, which takes ten times as long for a few."""
    ax, ay, az, bx, by, bz = a[..., 0], a[..., 1], a[..., 2], b[..., 0], b[..., 1], b[..., 2]
    x = ay * bz - az * by
    out = np.empty((*x.shape, 3), x.dtype)
    out[..., 0], out[..., 1], out[..., 2] = x, az * bx - ax * bz, ax * by - ay * bx
    return out


def exp(x: ArrayLike) -> Array:
    """`e ** x`, for x up to 700; below -700 it is zero."""
    x = np.asarray(x, np.float64)
    inside = np.clip(x, -700.0, 700.0)
    k = np.floor(inside * 1.4426950408889634 + 0.5)
    high, low = inside - k * LN2_HIGH, k * LN2_LOW
    r = high - low
    t = r * r
    c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * (6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))))  # fmt: skip # noqa: E501
    with np.errstate(invalid="ignore"):
        out = np.ldexp(1.0 - ((low - (r * c) / (2.0 - c)) - high), np.nan_to_num(k).astype(np.int64))
    return np.where(x < -700.0, 0.0, out)


def sincos(x: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine."""
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        k = np.floor(x * 0.6366197723675814 + 0.5)
        high, low = reduced_angle(x, k)
        quarter = k - 4 * np.floor(k / 4)
        sine, cosine = sin_part(high, low), cos_part(high, low)
    odd = (quarter == 1) | (quarter == 3)
    sine, cosine = np.where(odd, cosine, sine), np.where(odd, sine, cosine)
    return np.where(quarter >= 2, -sine, sine), np.where((quarter == 1) | (quarter == 2), -cosine, cosine)


def arctan2(y: ArrayLike, x: ArrayLike) -> Array:
    """The angle of the point (x, y); 0 at the origin."""
    y, x = np.broadcast_arrays(np.asarray(y, np.float64), np.asarray(x, np.float64))
    a, b = np.abs(y), np.abs(x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        t = a / b
        steps = [t >= 2.4375, t >= 1.1875, t >= 0.6875, t >= 0.4375]
        small = np.select(
            steps,
            [-1.0 / t, (t - 1.5) / (1.0 + 1.5 * t), (t - 1.0) / (t + 1.0), (2.0 * t - 1.0) / (2.0 + t)],
            t,
        )
        high = np.select(
            steps,
            [1.57079632679489655800e00, 9.82793723247329054082e-01, 7.85398163397448278999e-01, 4.63647609000806093515e-01],
            0.0,
        )  # fmt: skip
        low = np.select(
            steps,
            [6.12323399573676603587e-17, 1.39033110312309984516e-17, 3.06161699786838301793e-17, 2.2698777452961687e-17],
            0.0,
        )  # fmt: skip
        angle = arctan_part(small, high, low)
    angle = np.where(b == 0, np.where(a > 0, HALF_PI, 0.0), angle)
    angle = np.where(x < 0, PI - (angle - 1.2246467991473531772e-16), angle)
    angle = np.where(y < 0, -angle, angle)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, angle)


def arccos(x: ArrayLike) -> Array:
    """For x in -1..1."""
    x = np.asarray(x, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return arctan2(np.sqrt((1.0 - x) * (1.0 + x)), x)
