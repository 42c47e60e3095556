"""The clips of a character made small: pose rows told in whole steps, with an error that is measured.

Of each clip, a number that never changes is told once, or not at all where it is the rest pose's. Others are told in steps over time,
by the differences that are smallest. Rotations are told against their mean over the clip, by three numbers, so that the fourth
follows; a joint's step is as much smaller as what hangs on it is longer. `web/src/local/packed_motion.ts` makes rows of it again, to
the bit as `unpack_motion` does here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation import ClipBank
from marrow.animation.resampling import unpack_rows
from marrow.kernels.pose_layout import PoseLayout
from marrow.math import quaternion
from marrow.model import Skeleton
from marrow.studio.page.packing import PackedWriter

__all__ = ["PackedMotion", "pack_motion"]

Array = NDArray[Any]
TOLERANCE = 5e-5
"""How far a step may move anything, as a part of the skeleton's size: 0.1 mm of a person."""
MORPH_STEP = 1 / 4096
REST, CONSTANT, COUNTED, WIDE_TURN, PLAIN = 0, 1, 2, 5, 6
"""How a number is told: as at rest, one float, whole steps (2 to 4 by their differences), a rotation by all four, floats."""
LEAST_W = 0.4
"""The fourth number of a rotation against its mean; what turns further is told by all four."""
MOST = 1 << 29


@dataclass(eq=False)
class PackedMotion:
    """The bytes, and what the page needs to know: how many frames each clip has, the sizes of a row, steps of joints `(J,)` for
    rotation and scale, and of translations. `rows (T, size)` are what the page plays; `error` is how far a joint, or a
    point that hangs on it, may be off, in metres."""

    data: bytes
    frames: list[int]
    joints: int
    morphs: int
    steps: list[float]
    step: float
    morph_step: float
    rows: Array
    error: float


class _Clip:
    """One clip being told: rows `(F, size)` in float64, and those that the page will have."""

    def __init__(self, rows: Array, rest: Array, layout: PoseLayout, writer: PackedWriter) -> None:
        self.rows, self.rest, self.layout, self.writer = rows, rest, layout, writer
        self.out = np.empty(rows.shape, np.float32)
        self.out[:] = rest
        self.states: list[int] = []
        self.resting = (rows == rest).all(axis=0).tolist()
        self.still = (rows == rows[0]).all(axis=0).tolist()

    def number(self, column: int, step: float) -> None:
        """A translation, a scale or a morph weight."""
        if self.resting[column]:
            self.states.append(REST)
            return
        values = self.rows[:, column]
        if self.still[column]:
            self._constant(column, values)
            return
        if not np.isfinite(values).all() or np.abs(values).max() / step > MOST:
            self.states.append(PLAIN)
            self.writer.floats(values)
            self.out[:, column] = values
            return
        whole = np.rint(values / step).astype(np.int64)
        if (whole == whole[0]).all():
            self._constant(column, values)
            return
        self.states.append(COUNTED + self.writer.column(whole))
        self.out[:, column] = whole * step

    def _constant(self, column: int, values: Array) -> None:
        self.states.append(CONSTANT)
        self.out[:, column] = np.float32(values[0])
        self.writer.floats(values[:1])

    def rotation(self, joint: int, step: float) -> None:
        columns = [(3 + c) * self.layout.joints + joint for c in range(4)]
        if all(self.resting[c] for c in columns):
            self.states.append(REST)
            return
        turns = self.rows[:, columns]
        if not np.isfinite(turns).all() or not (np.abs(np.linalg.norm(turns, axis=1) - 1) < 1e-3).all():
            self.states.append(PLAIN)
            self.writer.floats(turns)
            self.out[:, columns] = turns
            return
        steady = turns.copy()  # the same rotations, without jumps of sign
        steady[1:] *= np.cumprod(np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0, -1.0, 1.0))[:, None]
        mean = steady.sum(axis=0)
        length = np.linalg.norm(mean)
        mean = (mean / length if length > 1e-3 else steady[0]).astype(np.float32).astype(np.float64)
        mean = (mean / np.linalg.norm(mean)).astype(np.float32)
        against = quaternion.multiply(quaternion.conjugate(mean.astype(np.float64)), steady)
        against *= np.where(against[:, 3:] < 0, -1.0, 1.0)
        if (against[:, 3] < LEAST_W).any():
            self.states.append(WIDE_TURN)
            whole = np.rint(steady / step).astype(np.int64)
            told = [self.writer.column(whole[:, c]) for c in range(4)]
            self.out[:, columns] = _unit(whole * step)
        else:
            whole = np.rint(against[:, :3] / step).astype(np.int64)
            if (whole == 0).all():
                self.states.append(CONSTANT)
                self.writer.floats(mean)
                self.out[:, columns] = mean
                return
            self.states.append(COUNTED)
            self.writer.floats(mean)
            told = [self.writer.column(whole[:, c]) for c in range(3)]
            self.out[:, columns] = turned(mean.astype(np.float64), whole * step)
        self.states.extend(told)


def turned(mean: Array, small: Array) -> Array:
    """`mean * (x, y, z, w)` with the `w` that follows from `small (F, 3)`, in float64, in this order of operations."""
    x, y, z = small.T
    w = np.sqrt(np.maximum(1.0 - x * x - y * y - z * z, 0.0))
    a, b, c, e = mean
    return np.stack(
        [
            e * x + a * w + b * z - c * y,
            e * y - a * z + b * w + c * x,
            e * z + a * y - b * x + c * w,
            e * w - a * x - b * y - c * z,
        ],
        axis=1,
    )


def _unit(turns: Array) -> Array:
    x, y, z, w = turns.T
    return turns / np.sqrt(x * x + y * y + z * z + w * w)[:, None]


def pack_motion(bank: ClipBank) -> PackedMotion:
    """All clips of a bank, for a page."""
    layout, skeleton = bank.layout, bank.skeleton
    reach, size = _reaches(skeleton)
    tolerance = TOLERANCE * size
    steps = (tolerance / reach).astype(np.float32).astype(np.float64)
    step = float(np.float32(tolerance))
    writer = PackedWriter()
    table = bank.rows.reshape(-1, layout.size)
    rest = table[0].astype(np.float64)
    rows = [table[:1].astype(np.float32)]
    for start, count in zip(bank.start[1:].tolist(), bank.frames[1:].tolist()):
        first = start // layout.size
        clip = _Clip(table[first : first + count].astype(np.float64), rest, layout, writer)
        for joint in range(layout.J):
            for row in (0, 1, 2):
                clip.number(row * layout.joints + joint, step)
            clip.rotation(joint, float(steps[joint]))
            for row in (7, 8, 9):
                clip.number(row * layout.joints + joint, float(steps[joint]))
        for channel in range(layout.M):
            clip.number(10 * layout.joints + channel, MORPH_STEP)
        writer.states(clip.states)
        rows.append(clip.out)
    played = np.concatenate(rows)
    error = _error(bank, table, played)
    return PackedMotion(
        writer.packed(),
        bank.frames[1:].tolist(),
        layout.J,
        layout.M,
        steps.tolist(),
        step,
        MORPH_STEP,
        played,
        error,
    )


def _reaches(skeleton: Skeleton) -> tuple[Array, float]:
    """How far what hangs on a joint reaches from it at rest, `(J,)`, and the size of the skeleton."""
    places = np.nan_to_num(skeleton.rest_model[:, :, 3].astype(np.float64))
    size = float(np.ptp(places, axis=0).max()) if len(places) else 0.0
    size = size if 1e-6 < size < 1e6 else 1.0
    reach = np.full(len(places), 0.03 * size)
    for joint in range(len(places) - 1, 0, -1):
        parent = int(skeleton.parents[joint])
        if parent >= 0:
            way = float(np.linalg.norm(places[joint] - places[parent]))
            reach[parent] = max(reach[parent], reach[joint] + way)
    return np.minimum(reach, 4 * size), size


def _error(bank: ClipBank, before: Array, after: Array) -> float:
    """How far joints, and points at three hundredths of the skeleton's size around them, are off at frames, in metres."""
    lever, worst = 0.03 * _reaches(bank.skeleton)[1], 0.0
    for start, count in zip(bank.start[1:].tolist(), bank.frames[1:].tolist()):
        part = slice(start // bank.layout.size, start // bank.layout.size + count)
        with np.errstate(invalid="ignore", over="ignore"):  # files may hold what is no number
            was, now = (
                bank.skeleton.to_model(unpack_rows(rows[part], bank.layout.J, bank.layout.M))
                for rows in (before, after)
            )
            apart = now.astype(np.float64) - was
            off = np.linalg.norm(apart[..., 3], axis=-1) + lever * np.linalg.norm(apart[..., :3], axis=(-2, -1))
        worst = max(worst, float(np.nan_to_num(off).max(initial=0.0)))
    return worst
