"""What `kernels.planting` minimises, in NumPy and float64: the specification of planting feet over a whole clip.

`x (T, 9)` are the moves of the hips, and of the left and the right ankle against the hips, in lengths of a leg; `u` is the direction from hip to ankle, `b` how
far the knee is bent. The sum of the squares of

| what | weight |
| --- | --- |
| a planted point's step over the ground, less what takes it back | `STEP` a tenth of a second |
| a slow point's step, as the source's | `SLIDE` a tenth of a second |
| height over the ground, as the source's where that is near it | `NEAR` |
| depth of the skin under the ground, of feet, and of the body by the hips | `FLOOR` |
| an ankle's (hand's) move, less what brings it to its place | `hold` |
| the left one's move against the right one's, less what brings them together | `join` |
| the leg's direction: `u - u0` | `LEAN` |
| the knee: `b - b0` | `BEND` |
| a knee straighter than `ENOUGH` (and than it was), smoothly | `LIMIT` |
| hips: their move | `HIPS` |
| accelerations of hips, ankles, and of what knees are off | see `smoothness` |

Bends are measured by the law of cosines, and go on linearly below `SOFT`: a leg out of reach has one too, and it is
never longer than it is for long, since that costs. So they do where a knee is folded but for `SOFT`: shin and thigh of
different lengths have no bend whose ankle is nearer to the hip, and next to there any move would be a large turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BEND", "DAMPING", "ENOUGH", "FIRST", "FLOOR", "HIPS", "LEAN", "LIMIT", "MOVE", "NEAR", "SHARP", "SHRINK", "SLIDE", "SOFT",
    "STEP", "knee_bend", "plant_feet", "smoothness",
]  # fmt: skip

Array = NDArray[Any]
HIPS, LEAN, BEND, STEP, SLIDE, NEAR, FLOOR, LIMIT = 0.25, 1.0, 0.35, 60.0, 6.0, 10.0, 120.0, 6.0
DAMPING = 1e-3
SOFT, ENOUGH, SHARP = 0.13962634015954636, 0.06981317007977318, 0.017453292519943295
"""8, 4 and 1 degrees."""
FIRST, SHRINK, MOVE = 0.3490658503988659, 0.7, 0.2
"""The first step takes knees that are soft below 20 degrees; no step moves anything further than MOVE legs."""
PER_SECOND = 0.1
SLOW_HIPS, SLOW_FEET, SLOW_KNEES, FEET = 0.12, 0.08, 0.06, 0.35


def smoothness(seconds: float) -> tuple[float, float, float]:
    """Squared weights of the second differences of hips, ankles and knees, for frames so many seconds apart."""
    hips, feet, knees = ((tau / seconds) ** 2 for tau in (SLOW_HIPS, SLOW_FEET, SLOW_KNEES))
    return hips**2, (FEET * feet) ** 2, knees**2


def knee_bend(d: Array, a: Array, b: Array, soft: float) -> tuple[Array, Array]:
    """How far a knee is bent whose ankle is `d` from its hip, and the derivative."""
    first = np.sqrt(a * a + b * b + 2 * a * b * np.cos(soft))
    slope = -first / (a * b * np.sin(soft))
    last = np.sqrt(a * a + b * b - 2 * a * b * np.cos(SOFT))
    steep = -last / (a * b * np.sin(SOFT))
    angle = np.arccos(np.clip((d * d - a * a - b * b) / (2 * a * b), -1, 1))
    far, folded = d > first, d < last
    return (
        np.where(far, soft + slope * (d - first), np.where(folded, np.pi - SOFT + steep * (d - last), angle)),
        np.where(far, slope, np.where(folded, steep, -d / (a * b * np.maximum(np.sin(angle), 1e-6)))),
    )


def plant_feet(
    leg: Array, bones: Array, change: Array, step: Array, high: Array, near: Array, need: Array, bend: Array,
    lift: Array, place: Array, hold: Array, between: Array, join: Array, *, hips: float, smooth: tuple[float, float, float], rounds: int, stop: float,
) -> tuple[Array, int]:  # fmt: skip
    """The moves `(T, 9)` and the number of steps it took; arguments as in `PlantWork`, with their axes. It builds the whole
    matrix: for short clips."""
    T, soft = len(leg), FIRST
    x: Array = np.zeros((T, 9))
    a, b = bones[:2], bones[2:]

    def reach(angle: Array) -> Array:
        return np.sqrt(a * a + b * b + 2 * a * b * np.cos(angle))

    rows: list[Array] = []
    values: list[Array] = []

    def add(row: Array, value: Array) -> None:
        rows.append(row.reshape(len(value), -1))
        values.append(value)

    def unit(t: int, i: int) -> Array:
        out = np.zeros((T, 9))
        out[t, i] = 1.0
        return out.reshape(1, -1)

    had = np.maximum(bend, 0.0)
    for done in range(1, rounds + 1):
        rows.clear()
        values.clear()

        wanted = knee_bend(reach(had), a, b, soft)[0]
        least = knee_bend(reach(np.clip(had, ENOUGH / 4, ENOUGH)), a, b, soft)[0]
        slopes, errors = np.zeros((T, 2, T, 9)), np.zeros((T, 2))
        for t in range(T):
            for i in range(3):
                add(np.sqrt(hips) * unit(t, i), np.sqrt(hips) * x[t, i : i + 1])
                apart = x[t, 3 + i] - x[t, 6 + i] - between[t, i]
                add(join[t] * (unit(t, 3 + i) - unit(t, 6 + i)), np.array([join[t] * apart]))
            if lift[t] > 0 if done == 1 else x[t, 1] < lift[t]:
                add(FLOOR * unit(t, 1), np.array([FLOOR * (x[t, 1] - lift[t])]))
            for k in range(2):
                o = 3 + 3 * k
                v = leg[t, k] + x[t, o : o + 3]
                d = np.linalg.norm(v)
                u = v / d
                angle, slope = (float(n[k]) for n in knee_bend(np.full(2, d), a, b, soft))
                slopes[t, k, t, o : o + 3] = u * slope
                errors[t, k] = angle - wanted[t, k]
                add(BEND * slopes[t, k][None], BEND * errors[t, k : k + 1, None][0])
                missing = (least[t, k] - angle) / SHARP
                root = np.sqrt(missing**2 + 4)
                add(
                    -LIMIT * (1 + missing / root) / 2 * slopes[t, k][None],
                    np.array([LIMIT * SHARP * (missing + root) / 2]),
                )
                across = np.zeros((3, T, 9))
                across[:, t, o : o + 3] = (np.eye(3) - np.outer(u, u)) / d
                add(LEAN * across, LEAN * (u - leg[t, k] / np.linalg.norm(leg[t, k])))
                for i in range(3):
                    off = x[t, i] + x[t, o + i] - place[t, k, i]
                    add(hold[t, k] * (unit(t, i) + unit(t, o + i)), np.array([hold[t, k] * off]))
                y, up = x[t, 1] + x[t, o + 1], unit(t, 1) + unit(t, o + 1)
                add(near[t, k] * up, np.array([near[t, k] * (y - high[t, k])]))
                if need[t, k] > 0 if done == 1 else y < need[t, k]:
                    add(FLOOR * up, np.array([FLOOR * (y - need[t, k])]))
                if t + 1 < T:
                    for i in range(2):
                        ways = [unit(s, 2 * i) + unit(s, o + 2 * i) for s in (t, t + 1)]
                        row = ways[1] - ways[0]
                        add(step[t, k] * row, step[t, k] * (row @ x.reshape(-1) - change[t, k, i]))
        for t in range(T - 2):
            for i in range(9):
                w = np.sqrt(smooth[0 if i < 3 else 1])
                ways = [unit(s, i) + (unit(s, i % 3) if i >= 3 else 0.0) for s in (t, t + 1, t + 2)]
                row = ways[0] - 2 * ways[1] + ways[2]
                add(w * row, w * (row @ x.reshape(-1)))
            for k in range(2):
                w = np.sqrt(smooth[2])
                row = slopes[t, k] - 2 * slopes[t + 1, k] + slopes[t + 2, k]
                add(w * row[None], np.array([w * (errors[t, k] - 2 * errors[t + 1, k] + errors[t + 2, k])]))
        jacobian, residual = np.concatenate(rows), np.concatenate(values)
        matrix = jacobian.T @ jacobian + DAMPING * np.eye(9 * T)
        found = np.linalg.solve(matrix, -jacobian.T @ residual).reshape(T, 9)
        largest = float(np.abs(found).max())
        x = x + found * min(1.0, MOVE / max(largest, 1e-300))
        if largest < stop and soft <= SOFT:
            break
        soft = max(SOFT, soft * SHRINK)
    return x, done
