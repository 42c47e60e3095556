"""Our own elementary functions against exact values: errors in units in the last place, and special arguments."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from compiling import as_python
from marrow.kernels.language import elementary

PI = Fraction(314159265358979323846264338327950288419716939937510582097494459230781640628620899, 10**80)
TERM = Fraction(1, 2**130)


def exact_exp(x: float) -> Fraction:
    with localcontext() as context:
        context.prec = 50
        return Fraction(Decimal(x).exp())


def series(x: Fraction, start: Fraction, power: int) -> Fraction:
    """Of sine (`power` 1) or cosine (0)."""
    total = term = start
    k = power
    while abs(term) > TERM:
        term = (term * -x * x / ((k + 1) * (k + 2))).limit_denominator(2**200)
        total += term
        k += 2
    return total


def exact_sin(x: float) -> Fraction:
    r = Fraction(x) % (2 * PI)
    r = r - 2 * PI if r > PI else r
    r = r.limit_denominator(2**180)
    return series(r, r, 1)


def exact_cos(x: float) -> Fraction:
    r = Fraction(x) % (2 * PI)
    r = (r - 2 * PI if r > PI else r).limit_denominator(2**180)
    return series(r, Fraction(1), 0)


def exact_atan2(y: float, x: float) -> Fraction:
    """One Newton step from the library's value, which triples its digits: `a - tan(a - truth)`, nearly."""
    a = math.atan2(y, x)
    s, c = exact_sin(a), exact_cos(a)
    # sin(truth - a) = (Y c - X s) / |(X, Y)|, and arcsin of something tiny is itself.
    X, Y = Fraction(x), Fraction(y)
    square = X * X + Y * Y
    length = Fraction(math.isqrt(int(square * 4**200)), 2**200)
    return Fraction(a) + (Y * c - X * s) / length


def ulps(mine: float, truth: Fraction) -> float:
    return float(abs(Fraction(mine) - truth) / Fraction(math.ulp(float(truth))))


RNG = np.random.default_rng(7)
ANGLES = [
    *RNG.uniform(-7, 7, 150).tolist(),
    *RNG.uniform(-400, 400, 50).tolist(),
    *RNG.uniform(-1e-3, 1e-3, 20).tolist(),
]
ANGLES += [k * math.pi / 4 for k in range(-9, 10)]
EXPONENTS = [
    *RNG.uniform(-30, 3, 120).tolist(),
    *RNG.uniform(-690, 690, 80).tolist(),
    1e-9,
    -1e-9,
    0.0,
    1e-300,
]


@pytest.mark.parametrize(
    ("name", "truth", "arguments", "bound"),
    [
        ("exp", exact_exp, EXPONENTS, 1.0),
        ("sin", exact_sin, ANGLES, 1.0),
        ("cos", exact_cos, ANGLES, 1.0),
    ],
)
def test_errors_stay_below_one_unit_in_the_last_place(name, truth, arguments, bound):
    mine = as_python(getattr(elementary, name), 1)
    worst = max((ulps(mine(x), truth(x)), x) for x in arguments)
    assert worst[0] < bound, worst


def test_arc_tangent_is_within_two_units():
    mine = as_python(elementary.atan2, 2)
    points = [
        *RNG.normal(size=(150, 2)).tolist(),
        *(RNG.normal(size=(60, 2)) * [1e-8, 1]).tolist(),
        [1e-3, 1e3],
        [5.0, 5.0],
    ]
    worst = max((ulps(mine(y, x), exact_atan2(y, x)), y, x) for y, x in points)
    assert worst[0] < 2.0, worst


def test_arc_cosine_is_within_two_units_and_exact_at_the_ends():
    mine = as_python(elementary.arccos, 1)
    assert mine(1.0) == 0.0
    assert mine(-1.0) == math.pi
    assert mine(0.0) == math.pi / 2
    for x in [*RNG.uniform(-1, 1, 200).tolist(), 1 - 2**-52, -1 + 2**-52, 0.9999995]:
        # cos(angle + d) = x has the solution d = (cos(angle) - x) / sin(angle), nearly: d is tiny.
        angle = mine(x)
        off = abs((exact_cos(angle) - Fraction(x)) / exact_sin(angle))
        assert float(off) < 2 * math.ulp(angle), x
    assert math.isnan(mine(1.5))
    assert math.isnan(mine(math.nan))


def test_special_arguments():
    exp, sin, cos = (as_python(getattr(elementary, n), 1) for n in ("exp", "sin", "cos"))
    atan2 = as_python(elementary.atan2, 2)
    assert exp(0.0) == cos(0.0) == 1.0
    assert sin(0.0) == 0.0
    assert math.isnan(exp(math.nan))
    assert exp(-math.inf) == exp(-701.0) == 0.0
    assert exp(math.inf) == exp(1e9) == pytest.approx(math.exp(700.0), rel=1e-15)
    for function in (sin, cos):
        for x in (math.nan, math.inf, -math.inf):
            assert math.isnan(function(x))
        assert all(abs(function(x)) <= 1.0 for x in (1e15, -1e15, 1e-320))
    for y, x in [
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, -1),
        (1, 1),
        (1, -1),
        (-1, -1),
        (-1, 1),
        (1e-320, 1e-320),
        (1e308, -1e-308),
    ]:
        assert atan2(float(y), float(x)) == pytest.approx(math.atan2(y, x), rel=1e-15)
    assert atan2(0.0, 0.0) == 0.0
    assert math.isnan(atan2(math.nan, 1.0))
    assert math.isnan(atan2(1.0, math.nan))
    assert atan2(math.inf, 1.0) == math.pi / 2


def test_sine_and_cosine_belong_together():
    sin, cos = as_python(elementary.sin, 1), as_python(elementary.cos, 1)
    for x in ANGLES:
        s, c = sin(x), cos(x)
        assert abs(s * s + c * c - 1) < 4e-16
        assert abs(sin(-x) + s) <= math.ulp(1.0)
        assert abs(cos(-x) - c) <= math.ulp(1.0)


def test_machine_code_gives_the_same_bits():
    pytest.importorskip("llvmlite")
    from compiling import MachineCode, assert_same, make

    def all_of_them(x, y, out):
        for k in range(len(x)):
            out[k, 0], out[k, 1], out[k, 2] = elementary.exp(x[k]), elementary.sin(x[k]), elementary.cos(x[k])
            out[k, 3], out[k, 4] = elementary.atan2(y[k], x[k]), elementary.arccos(x[k] * 0.01)

    kernel = make(all_of_them, x="f8[N]", y="f8[N]", out="*f8[N,5]")
    special = [0.0, -0.0, math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324]
    x = np.array([*ANGLES, *EXPONENTS, *special, *special])
    y = np.concatenate([RNG.normal(size=len(x) - 16) * 3, special[::-1], [0.0] * 8])
    assert_same(MachineCode([kernel]), kernel, x=x, y=y, out=np.zeros((len(x), 5)))
