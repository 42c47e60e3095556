"""Feet planted over a whole clip: how far hips and ankles move so that feet stand, and legs stay as they were.

Unknown are, for every frame, how far the hips move against a motion that was transferred freely, and how far each ankle
moves against the hips: nine numbers, in lengths of the leg. (Ankles by themselves would be unknowns that hardly differ from
the hips', and float32 would not do.) Legs follow in closed form. `planting_reference.py` says what is minimised and is the
specification.

Gauss-Newton steps on a block-pentadiagonal system, frame by frame three unknown places: column `c` of the lower band is
`band[32 c + m] = A[c + m, c]`, 27 numbers and zeros. The band is float32 in lanes and only finds the way; gradients are
float64, so that what is found does not depend on how the band was rounded.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from marrow.kernels.language.annotations import ANY, Out, f4, f8
from marrow.kernels.language.elementary import arccos
from marrow.kernels.language.kernel import apart, kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.planting_reference import (
    BEND,
    ENOUGH,
    FLOOR,
    LEAN,
    LIMIT,
    MOVE,
    SHARP,
    SHRINK,
    SOFT,
)

__all__ = ["COLUMN", "PlantWork", "plant_feet"]

COLUMN = 32
"""Numbers that the band has for each unknown."""
HELD = 1e12
FOLDED, SOFT_COSINE, SOFT_SINE = math.pi - SOFT, math.cos(SOFT), math.sin(SOFT)


class PlantWork(NamedTuple):
    """T frames, flat. `leg (T, 2, 3)` from hip to ankle; `bones (4)` lengths of thighs, then of shins; `change (T, 2, 2)`
    by how much the moves over the ground (x, z) must change from a frame to the next, as far as `step (T, 2)` says; `high
    (T, 2)` the wanted raise, as far as `near (T, 2)` says; `need (T, 2)` the least raise, `lift (T)` that of the hips; `bend
    (T, 2)` how far knees are bent; `place (T, 2, 3)` the wanted moves of ankles, as far as `hold (T, 2)` says, and `between
    (T, 3)` that of the left against the right, as far as `join (T)` says. `move (T, 9)` is what is found. The rest is room: `band (9 T + 32, 32)`, `right (9 T + 32)`, `column (64)`,
    `error (T, 2)`, `slope (T, 2, 3)`, `wanted (T, 2, 2)`."""

    leg: f8[ANY]
    bones: f8[ANY]
    change: f8[ANY]
    step: f8[ANY]
    high: f8[ANY]
    near: f8[ANY]
    need: f8[ANY]
    bend: f8[ANY]
    lift: f8[ANY]
    place: f8[ANY]
    hold: f8[ANY]
    between: f8[ANY]
    join: f8[ANY]
    move: Out[f8[ANY]]
    band: Out[f4[ANY]]
    right: Out[f4[ANY]]
    column: Out[f4[ANY]]
    gradient: Out[f8[ANY]]
    error: Out[f8[ANY]]
    slope: Out[f8[ANY]]
    wanted: Out[f8[ANY]]
    hips: float
    """How much hips want to stay."""
    damping: float
    smooth_hips: float
    smooth_feet: float
    smooth_knees: float


def reach_of(a, b, angle_cosine):
    """From hip to ankle, where the knee is bent by an angle with this cosine."""
    return math.sqrt(max(a * a + b * b + 2.0 * a * b * angle_cosine, 1e-12))


def knee(a, b, d, soft, soft_cosine, soft_sine):
    """How far a knee is bent whose ankle is `d` from its hip, and the derivative: linear where it is bent less than
    `soft`, or folded but for `SOFT`."""
    first = reach_of(a, b, soft_cosine)
    slope = -first / (a * b * soft_sine)
    angle = soft + slope * (d - first)
    if d <= first:
        last = reach_of(a, b, -SOFT_COSINE)
        if d < last:
            slope = -last / (a * b * SOFT_SINE)
            angle = FOLDED + slope * (d - last)
        else:
            c = max((d * d - a * a - b * b) / (2.0 * a * b), -1.0)
            angle = arccos(c)
            slope = -d / (a * b * max(math.sqrt(1.0 - c * c), 1e-6))
    return angle, slope


def cosine(x):
    """For angles up to half a turn: by its series."""
    y = x * x
    return 1.0 - y / 2.0 * (
        1.0
        - y
        / 12.0
        * (1.0 - y / 30.0 * (1.0 - y / 56.0 * (1.0 - y / 90.0 * (1.0 - y / 132.0 * (1.0 - y / 182.0)))))
    )


@apart
def want_knees(work, T, soft, soft_cosine, soft_sine):
    """The angles that knees had and the least they may have, as `knee` measures them."""
    for t in range(T):
        for k in range(2):
            a, b = work.bones[k], work.bones[2 + k]
            had = max(work.bend[2 * t + k], 0.0)
            least = min(max(had, ENOUGH / 4.0), ENOUGH)
            at = 4 * t + 2 * k
            work.wanted[at], _ = knee(a, b, reach_of(a, b, cosine(had)), soft, soft_cosine, soft_sine)
            work.wanted[at + 1], _ = knee(a, b, reach_of(a, b, cosine(least)), soft, soft_cosine, soft_sine)


def put_leg(band, column, rows, xx, xy, xz, yx, yy, yz, zx, zy, zz):
    """Adds a 3 x 3 block to columns from `column` on, `rows` below the diagonal. Blocks on the diagonal are symmetric: what is
    above it is left out."""
    at = COLUMN * column + rows
    band[at] += xx
    band[at + 1] += yx
    band[at + 2] += zx
    band[at + COLUMN] += yy
    band[at + COLUMN + 1] += zy
    band[at + 2 * COLUMN] += zz
    if rows > 0:
        band[at + COLUMN - 1] += xy
        band[at + 2 * COLUMN - 2] += xz
        band[at + 2 * COLUMN - 1] += yz


def put_ankle(band, hips, ankle, rows, value):
    """Adds a number between the moves of an ankle, which are the sum of unknowns `hips` and `ankle`, `rows` below."""
    apart_ = ankle - hips
    band[COLUMN * hips + rows] += value
    band[COLUMN * hips + rows + apart_] += value
    band[COLUMN * ankle + rows] += value
    if rows > 0:
        band[COLUMN * ankle + rows - apart_] += value


@apart
def add_frame(work, t, T, first, soft, soft_cosine, soft_sine):
    """What one frame asks for by itself, and the step to the next."""
    move, band, gradient = work.move, work.band, work.gradient
    column = 9 * t
    for i in range(9):
        stay = work.hips if i < 3 else 0.0
        band[COLUMN * (column + i)] += work.damping + stay
        gradient[column + i] += stay * move[column + i]
    lift = work.lift[t]
    if lift > 0.0 if first else move[column + 1] < lift:
        band[COLUMN * (column + 1)] += FLOOR * FLOOR
        gradient[column + 1] += FLOOR * FLOOR * (move[column + 1] - lift)
    join = work.join[t] * work.join[t]
    if join > 0.0:
        for i in range(3):
            left, right = column + 3 + i, column + 6 + i
            off = join * (move[left] - move[right] - work.between[3 * t + i])
            band[COLUMN * left] += join
            band[COLUMN * right] += join
            band[COLUMN * left + 3] -= join
            gradient[left] += off
            gradient[right] -= off
    for k in range(2):
        o = 3 + 3 * k
        at = 6 * t + 3 * k
        hold = work.hold[2 * t + k] * work.hold[2 * t + k]
        if hold > 0.0:
            for i in range(3):
                h, a = column + i, column + o + i
                off = hold * (move[h] + move[a] - work.place[at + i])
                put_ankle(band, h, a, 0, hold)
                gradient[h] += off
                gradient[a] += off
        lx, ly, lz = work.leg[at], work.leg[at + 1], work.leg[at + 2]
        x, y, z = lx + move[column + o], ly + move[column + o + 1], lz + move[column + o + 2]
        d = max(math.sqrt(x * x + y * y + z * z), 1e-6)
        before = max(math.sqrt(lx * lx + ly * ly + lz * lz), 1e-6)
        angle, slope = knee(work.bones[k], work.bones[2 + k], d, soft, soft_cosine, soft_sine)
        x, y, z = x / d, y / d, z / d
        error = angle - work.wanted[4 * t + 2 * k]
        work.error[2 * t + k] = error
        work.slope[at], work.slope[at + 1], work.slope[at + 2] = x * slope, y * slope, z * slope
        # The least angle: a smooth way from zero to what is missing.
        missing = (work.wanted[4 * t + 2 * k + 1] - angle) / SHARP
        root = math.sqrt(missing * missing + 4.0)
        short, rate = SHARP * (missing + root) / 2.0, (1.0 + missing / root) / 2.0
        along = (BEND * BEND + LIMIT * LIMIT * rate * rate) * slope * slope
        pull = (BEND * BEND * error - LIMIT * LIMIT * short * rate) * slope
        # Its direction: across the leg only.
        across = LEAN * LEAN / (d * d)
        rx, ry, rz = x - lx / before, y - ly / before, z - lz / before
        rest = x * rx + y * ry + z * rz
        lean = LEAN * LEAN / d
        gx = pull * x + lean * (rx - rest * x)
        gy = pull * y + lean * (ry - rest * y)
        gz = pull * z + lean * (rz - rest * z)
        gradient[column + o] += gx
        gradient[column + o + 1] += gy
        gradient[column + o + 2] += gz
        s = along - across
        put_leg(
            band, column + o, 0, s * x * x + across, s * x * y, s * x * z, s * x * y, s * y * y + across, s * y * z,
            s * x * z, s * y * z, s * z * z + across,
        )  # fmt: skip
        up = move[column + 1] + move[column + o + 1]
        near = work.near[2 * t + k] * work.near[2 * t + k]
        need = work.need[2 * t + k]
        floor = FLOOR * FLOOR if (need > 0.0 if first else up < need) else 0.0
        put_ankle(band, column + 1, column + o + 1, 0, near + floor)
        pull = near * (up - work.high[2 * t + k]) + floor * (up - need)
        gradient[column + 1] += pull
        gradient[column + o + 1] += pull
        step = work.step[2 * t + k] * work.step[2 * t + k]
        if t + 1 < T and step > 0.0:
            for i in range(2):
                h, a = column + 2 * i, column + o + 2 * i
                off = step * (move[h + 9] + move[a + 9] - move[h] - move[a] - work.change[4 * t + 2 * k + i])
                put_ankle(band, h, a, 0, step)
                put_ankle(band, h, a, 9, -step)
                put_ankle(band, h + 9, a + 9, 0, step)
                gradient[h] -= off
                gradient[a] -= off
                gradient[h + 9] += off
                gradient[a + 9] += off


def second(t, T, m):
    """The number that products of second differences of frames `t` and `t + m` have in all."""
    out = 0.0
    if t >= 0 and t + 2 < T:
        out += 1.0 if m != 1 else -2.0
    if m < 2 and t >= 1 and t + 1 < T:
        out += 4.0 if m == 0 else -2.0
    if m == 0 and t >= 2 and t < T:
        out += 1.0
    return out


@apart
def add_smoothness(work, t, T):
    """Accelerations of hips, feet and knees over the frames around `t`."""
    move, band, gradient = work.move, work.band, work.gradient
    column = 9 * t
    if t + 2 < T:
        for i in range(3):
            c = column + i
            bent = move[c] - 2.0 * move[c + 9] + move[c + 18]
            total = work.smooth_hips * bent
            for k in range(2):
                r = c + 3 + 3 * k
                pull = work.smooth_feet * (bent + (move[r] - 2.0 * move[r + 9] + move[r + 18]))
                gradient[r] += pull
                gradient[r + 9] -= 2.0 * pull
                gradient[r + 18] += pull
                total += pull
            gradient[c] += total
            gradient[c + 9] -= 2.0 * total
            gradient[c + 18] += total
        for k in range(2):
            e = work.error
            bent = work.smooth_knees * (e[2 * t + k] - 2.0 * e[2 * t + 2 + k] + e[2 * t + 4 + k])
            for s in range(3):
                pull = bent if s != 1 else -2.0 * bent
                for i in range(3):
                    gradient[9 * (t + s) + 3 + 3 * k + i] += pull * work.slope[6 * (t + s) + 3 * k + i]
    for m in range(3):
        times = second(t, T, m)
        if t + m < T and times != 0.0:
            for i in range(3):
                c = column + i
                band[COLUMN * c + 9 * m] += times * work.smooth_hips
                for k in range(2):
                    put_ankle(band, c, c + 3 + 3 * k, 9 * m, times * work.smooth_feet)
            w = times * work.smooth_knees
            for k in range(2):
                here, there = 6 * t + 3 * k, 6 * (t + m) + 3 * k
                x, y, z = work.slope[here], work.slope[here + 1], work.slope[here + 2]
                u, v, q = w * work.slope[there], w * work.slope[there + 1], w * work.slope[there + 2]
                put_leg(
                    band, column + 3 + 3 * k, 9 * m, u * x, u * y, u * z, v * x, v * y, v * z, q * x, q * y, q * z
                )  # fmt: skip


@block
def _clear(e: Any, at: Any, band: Any) -> None:
    e.store(band, at, e.splat(0.0))


@block
def _scale(e: Any, at: Any, band: Any, column: Any, start: Any, inverse: Any) -> None:
    """A column of the band, divided by the root of its first number."""
    for part in (0, 16):
        scaled = e.load(band, e.at(at, part)) * e.splat(inverse)
        e.store(band, e.at(at, part), scaled)
        e.store(column, e.at(start, part), scaled)


@block
def _eliminate(e: Any, at: Any, band: Any, column: Any, start: Any, right: Any, c: Any, own: Any) -> None:
    """Takes a column out of those that follow, and of the right side."""
    for m in range(1, 27):
        factor = e.broadcast(column, e.at(start, m))
        for part in range(0, 27 - m, 16):
            to = e.at(at, COLUMN * m + part)
            e.store(band, to, e.fnma(factor, e.load(column, e.at(start, m + part)), e.load(band, to)))
    for part in (0, 16):
        to = e.at(c, 1 + part)
        e.store(right, to, e.fnma(e.splat(own), e.load(column, e.at(start, 1 + part)), e.load(right, to)))


@apart
def factor(work, n):
    """The Cholesky factor of the band in place, with the first half of the solution. Diagonals become their inverses."""
    band, right = work.band, work.right
    for i in range(64):
        work.column[i] = 0.0
    for c in range(n):
        inverse = 1.0 / math.sqrt(max(band[COLUMN * c], 1e-9))
        _scale(COLUMN * c, band, work.column, 0, inverse)
        own = right[c] * inverse
        right[c] = own
        _eliminate(COLUMN * c, band, work.column, 0, right, c, own)
        band[COLUMN * c] = inverse


@apart
def back(work, n):
    """The second half of the solution, into `right`; returns the largest number."""
    band, right = work.band, work.right
    largest = 0.0
    for k in range(n):
        c = n - 1 - k
        at = COLUMN * c
        a, b, d, f = right[c], 0.0, 0.0, 0.0
        for m in range(6):
            i = 4 * m + 1
            a -= band[at + i] * right[c + i]
            b -= band[at + i + 1] * right[c + i + 1]
            d -= band[at + i + 2] * right[c + i + 2]
            f -= band[at + i + 3] * right[c + i + 3]
        a -= band[at + 25] * right[c + 25]
        b -= band[at + 26] * right[c + 26]
        v = ((a + b) + (d + f)) * band[at]
        right[c] = v
        largest = largest if abs(v) <= largest else abs(v)
    return largest


@kernel
def plant_feet(work: PlantWork, held: int, kept: int, rounds: int, stop: float, first: float) -> int:
    """Finds the moves of all frames in so many steps at most, fewer where one moves nothing by more than `stop`. The first
    `held` and the last `kept` frames stay as they are given. In the first step knees are soft below the angle `first`. Returns the number of steps, or 0 where
    numbers were lost."""
    T = len(work.leg) // 6
    n = 9 * T
    done = 0
    soft, before = max(first, SOFT), 0.0
    for turn in range(rounds):
        soft_cosine = cosine(soft)
        soft_sine = math.sqrt(1.0 - soft_cosine * soft_cosine)
        if soft != before:
            want_knees(work, T, soft, soft_cosine, soft_sine)
        before = soft
        _clear.each(0, COLUMN * (n + COLUMN), 16, work.band)
        for i in range(n):
            work.gradient[i] = 0.0
        for t in range(T):
            add_frame(work, t, T, turn == 0 and held == 0, soft, soft_cosine, soft_sine)
        for t in range(T):
            add_smoothness(work, t, T)
        for i in range(n):
            work.right[i] = -work.gradient[i]
        for i in range(9 * held):
            work.band[COLUMN * i] += HELD
            work.right[i] = 0.0
        for i in range(n - 9 * kept, n):
            work.band[COLUMN * i] += HELD
            work.right[i] = 0.0
        for i in range(32):
            work.right[n + i] = 0.0
        factor(work, n)
        largest = back(work, n)
        if not largest < 1e6:
            return 0
        part = MOVE / largest if largest > MOVE else 1.0
        for i in range(9 * held, n - 9 * kept):
            work.move[i] += part * work.right[i]
        done += 1
        if largest < stop and soft <= SOFT:
            break
        soft = max(SOFT, soft * SHRINK)
    return done
