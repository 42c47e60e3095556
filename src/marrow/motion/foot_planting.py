"""The solve over a whole clip that plants feet: its problem in arrays, and the kernel that finds the moves of hips and
ankles (see `marrow.kernels.planting_reference` for what is minimised).

A long clip is solved in windows: each begins where the one before it ended, and looks ahead for a second. A clip that
repeats is solved with what comes before and after it. Of more than `FASTEST` frames a second some are solved first, and
then all, from curves through those.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import planting
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.kernels.planting_reference import (
    DAMPING,
    FIRST,
    HIPS,
    PER_SECOND,
    SOFT,
    STEP,
    smoothness,
)

__all__ = ["FREE", "PlantMoves", "PlantProblem", "plant_moves"]

Array = NDArray[Any]
FASTEST = 75.0
"""Frames a second that are solved from nothing at the most."""
WINDOW, AHEAD = 448, 64
"""Frames of a window, and how many it looks ahead."""
AROUND = 64
"""Frames before and after a clip that repeats."""
ROUNDS, AGAIN, STOP = 10, 3, 1e-3
"""Steps at the most, from nothing and from moves that are nearly right; fewer where one moves nothing further than this, in
legs."""
HELD = 1e6
"""How much hips want to stay that cannot move."""
ROUNDING = 5e-7
"""Damping that keeps the kernel's float32 numbers sound, by the largest of them."""
FREE = 1e3
"""How far under where it is what may sink as it likes may go, in legs."""
STEEP = 800.0
"""The square of how fast a knee bends at the most, in radians a leg."""


@dataclass(frozen=True, eq=False)
class PlantProblem:
    """What the kernel reads (see `PlantWork`), with axes `(T, ...)`: steps belong to the frame they start from."""

    leg: Array
    change: Array
    step: Array
    high: Array
    near: Array
    need: Array
    bend: Array
    lift: Array
    place: Array
    hold: Array
    between: Array
    join: Array

    @classmethod
    def still(cls, T: int) -> PlantProblem:
        """Nothing is asked for in `T` frames."""
        shapes = (2, 3), (2, 2), (2,), (2,), (2,), (2,), (2,), (), (2, 3), (2,), (3,), ()
        out = cls(*(np.zeros((T, *shape)) for shape in shapes))
        return replace(out, need=out.need - FREE, lift=out.lift - FREE)

    def at(self, frames: Array | slice) -> PlantProblem:
        return PlantProblem(*(getattr(self, name)[frames] for name in FIELDS))

    def thinned(self, frames: Array) -> PlantProblem:
        """Only the given frames: steps between them are sums, and what must not sink does not in between either."""
        begins, last = frames[:-1], len(self.leg)
        spans = np.diff(frames)
        total = np.add.reduceat(self.change[: last - 1], begins, axis=0)
        weight = np.sqrt(np.add.reduceat(self.step[: last - 1] ** 2, begins, axis=0) / spans[:, None] ** 3)
        around = np.maximum(frames - int(spans.max()) // 2, 0)
        out = self.at(frames)
        need, lift = (
            np.maximum(np.maximum.reduceat(all, around, axis=0), some)
            for all, some in ((self.need, out.need), (self.lift, out.lift))
        )
        return replace(
            out, change=np.append(total, total[-1:] * 0, axis=0), step=np.append(weight, weight[-1:] * 0, axis=0),
            need=need, lift=lift,
        )  # fmt: skip


FIELDS = tuple(field.name for field in fields(PlantProblem))


class PlantMoves(NamedTuple):
    """`moves (T, 9)` of the hips, and of left and right ankle against them, in legs; `lost`: in how many frames the solve
    lost its numbers and moves stay as they were."""

    moves: Array
    lost: int


def plant_moves(
    problem: PlantProblem, bones: Array, seconds: float, *, loops: bool, hips: bool = True
) -> PlantMoves:
    """How hips and ankles move. `bones (4,)` are the lengths of thighs and shins, frames are `seconds` apart; `loops` says
    that the clip goes on where it began, `hips` that these may move."""
    T = len(problem.leg)
    every = round(1.0 / (seconds * FASTEST) + 0.25)
    if every <= 1 or 4 * every > T:
        solver = _Solver(bones, seconds, hips)
        return PlantMoves(_slow_moves(solver, problem, loops), min(solver.lost, T))
    frames = np.round(np.linspace(0, T - 1, round((T - 1) / every) + 1)).astype(np.intp)
    coarse = _Solver(bones, seconds * (T - 1) / (len(frames) - 1), hips)
    found = _slow_moves(coarse, problem.thinned(frames), loops)
    near = _curve(frames, found, np.arange(T), loops)
    fine = _Solver(bones, seconds, hips)
    if loops:
        near = fine.solve(problem.at(_round(T, T + 1)), near[_round(T, T + 1)], exact=True)[:T]
    else:
        near = fine.solve(problem, near, exact=False)
    return PlantMoves(near, min(max(fine.lost, every * coarse.lost), T))


def _round(T: int, count: int, before: int = 0) -> Array:
    """The frames of a clip of `T` that repeats, from so many before its first on."""
    return np.arange(-before, count) % (T - 1)


def _slow_moves(solver: _Solver, problem: PlantProblem, loops: bool) -> Array:
    """The moves of a clip of few frames a second. One that repeats is solved first as one of several rounds, which may
    drift from one to the next; then from what its first frames were on the mean to the same."""
    T = len(problem.leg)
    if not loops:
        return solver.solve(problem)
    around = min(T - 1, AROUND)
    made = solver.solve(problem.at(_round(T, T + around, around)))[around : around + T + 1]
    seam = (made[:2] + made[-2:]) / 2
    made -= np.linspace(-0.5, 0.5, T + 1)[:, None] * (made[-1] - made[1])
    made[:2] = made[-2:] = seam
    return solver.solve(problem.at(_round(T, T + 1)), made, exact=True, rounds=ROUNDS)[:T]


def _curve(at: Array, values: Array, wanted: Array, loops: bool) -> Array:
    """Cubic curves through `values (n, k)` at `at (n,)`, as they go from neighbour to neighbour."""
    if loops:
        at = np.concatenate([at[-2:-1] - at[-1], at, at[1:2] + at[-1]])
        values = np.concatenate([values[-2:-1], values, values[1:2]])
    slope = np.gradient(values, at, axis=0)
    k = np.clip(np.searchsorted(at, wanted, side="right") - 1, 0, len(at) - 2)
    wide = (at[k + 1] - at[k])[:, None].astype(np.float64)
    u = (wanted - at[k])[:, None] / wide
    a, b = values[k], values[k + 1]
    return np.asarray(
        a + (b - a) * u * u * (3 - 2 * u) + wide * u * (1 - u) * ((1 - u) * slope[k] - u * slope[k + 1])
    )


class _Solver:
    """The kernel for legs of such bones and frames so far apart."""

    def __init__(self, bones: Array, seconds: float, hips: bool) -> None:
        self.smooth = smoothness(seconds)
        self.hips = HIPS * HIPS if hips else HELD
        self.bones = np.ascontiguousarray(bones, np.float64)
        largest = 6 * (self.smooth[0] + self.smooth[2] * STEEP) + 2 * (STEP * PER_SECOND / seconds) ** 2
        self.sound = max(ROUNDING * largest, DAMPING)
        self.lost = 0
        """In how many frames numbers were lost."""

    def solve(
        self, problem: PlantProblem, near: Array | None = None, *, exact: bool = False, rounds: int = AGAIN
    ) -> Array:
        """The moves `(T, 9)`, window by window. `near (T, 9)` are about what they are; `exact`: the first and the last two
        are."""
        T = len(problem.leg)
        out = np.zeros((T, 9)) if near is None else near.copy()
        frame = _FRAMES.take()
        for name, value in zip(
            ("hips", "smooth_hips", "smooth_feet", "smooth_knees", "bones"),
            (self.hips, *self.smooth, self.bones),
        ):
            frame.put_one(f"work.{name}", value)
        begin = 2 if exact else 0
        while begin < T:
            held = min(begin, 2)
            first = begin - held
            last = T if T - begin <= WINDOW + AHEAD else begin + WINDOW + AHEAD
            if near is None and held:
                out[begin:last] = out[begin - 1]
            window = problem.at(slice(first, last))
            again = near is not None and rounds == AGAIN
            made = _window(
                frame, window, out[first:last], held, 2 if exact and last == T else 0,
                ROUNDS if near is None else rounds, SOFT if again else FIRST, self.sound, again,
            )  # fmt: skip
            keep = T if last == T else begin + WINDOW
            if made is None:
                self.lost += keep - begin
            else:
                out[begin:keep] = made[held : held + keep - begin]
            begin = keep
        _FRAMES.give(frame)
        return out


def _window(
    frame: CallFrame, problem: PlantProblem, near: Array, held: int, kept: int, rounds: int, first: float, sound: float,
    again: bool,
) -> Array | None:  # fmt: skip
    """The moves of a window of which the first `held` and the last `kept` of `near` are right. Steps that lose their
    numbers to rounding are taken again with more damping; None where that does not help."""
    T = len(problem.leg)
    n = 9 * T
    arrays = {
        f"work.{name}": np.ascontiguousarray(getattr(problem, name), np.float64) for name in FIELDS
    } | {
        f"work.{name}": np.zeros(size, kind)
        for name, size, kind in (
            ("band", planting.COLUMN * (n + planting.COLUMN), np.float32), ("right", n + 2 * planting.COLUMN, np.float32),
            ("column", 2 * planting.COLUMN, np.float32), ("gradient", n, np.float64), ("error", 2 * T, np.float64),
            ("slope", 6 * T, np.float64), ("wanted", 4 * T, np.float64),
        )
    }  # fmt: skip
    for damping in (sound, 30 * sound) if again else (DAMPING, sound, 30 * sound):
        move = near.copy()
        for name, array in arrays.items():
            frame.lend(name, array)
        frame.lend("work.move", move)
        frame.put_one("work.damping", damping)
        frame.put(held=held, kept=kept, rounds=rounds, stop=STOP, first=first)
        done = frame.run()
        if done is not None and done[0] > 0:
            return move
    return None


_FRAMES: FramePool[CallFrame] = FramePool(planting.plant_feet.frame)
