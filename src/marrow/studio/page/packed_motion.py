"""The clips of a character made small: pose rows told in whole steps, with an error that is measured.

Of each clip, a number that never changes is told once, or not at all where it is the rest pose's. Others are told
in steps over time, by the differences that are smallest. Rotations are told against their mean over the clip, by
three numbers, so that the fourth follows; a joint's step is as much smaller as what hangs on it is longer.
`web/src/local/packed_motion.ts` makes rows of it again, to the bit as `unpack_motion` does here.
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
from marrow.studio.page.packing import Columns, PackedWriter

__all__ = ["PackedBank", "pack_motion"]

Array = NDArray[Any]
TOLERANCE = 5e-5
"""How far a step may move anything, as a part of the skeleton's size: 0.1 mm of a person."""
MORPH_STEP = 1 / 4096
REST, CONSTANT, COUNTED, WIDE_TURN, PLAIN = 0, 1, 2, 5, 6
"""How a number is told: as at rest, one float, whole steps (2 to 4 by their differences), a rotation by all four,
floats."""
LEAST_W = 0.4
"""The fourth number of a rotation against its mean; what turns further is told by all four."""
MOST = 1 << 29


@dataclass(eq=False)
class PackedBank:
    """The bytes, and what the page needs to know: how many frames each clip has, the sizes of a row, steps of
    joints `(J,)` for rotation and scale, and of translations. `rows (T, size)` are what the page plays; `error`
    is how far a joint, or a point that hangs on it, may be off, in metres."""

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
    """One clip being told: rows `(F, size)`, told in `steps (size,)`, and the rows `out` that the page will have."""

    def __init__(
        self, rows: Array, rest: Array, steps: Array, layout: PoseLayout, writer: PackedWriter
    ) -> None:
        self.rows, self.layout, self.writer, self.steps = rows.astype(np.float64), layout, writer, steps
        self.out = np.empty(rows.shape, np.float32)
        self.out[:] = rest
        self.states: list[int] = []
        self.resting = (rows == rest).all(axis=0).tolist()
        with np.errstate(invalid="ignore"):
            plain = ~(np.abs(self.rows).max(axis=0) / steps < MOST)
            whole = np.rint(self.rows / steps)
        whole[:, plain] = 0
        self.whole, self.plain = whole.astype(np.int64), plain.tolist()
        self.still = (~plain & (self.whole == self.whole[0]).all(axis=0)).tolist()
        self.told = Columns(self.whole)
        self._turns()

    def _turns(self) -> None:
        """Rotations of all joints, against their means."""
        layout, first = self.layout, 3 * self.layout.joints
        turns = self.rows[:, first : first + 4 * layout.joints].reshape(-1, 4, layout.joints)[
            :, :, : layout.J
        ]
        with np.errstate(invalid="ignore", over="ignore"):
            unit = (np.abs(np.linalg.norm(turns, axis=1) - 1) < 1e-3).all(axis=0)  # (J,)
            steady = np.where(unit, turns, np.array([0.0, 0.0, 0.0, 1.0])[None, :, None])
        # The same rotations, without jumps of sign.
        signs = np.where((steady[1:] * steady[:-1]).sum(axis=1) < 0, -1.0, 1.0)
        steady[1:] *= np.cumprod(signs, axis=0)[:, None]
        mean = steady.sum(axis=0)
        length = np.linalg.norm(mean, axis=0)
        mean = np.where(length > 1e-3, mean / np.maximum(length, 1e-3), steady[0])
        self.mean = (mean / np.linalg.norm(mean, axis=0)).astype(np.float32)  # (4, J)
        against = quaternion.multiply(
            quaternion.conjugate(self.mean.T.astype(np.float64)), steady.transpose(0, 2, 1)
        )
        against *= np.where(against[..., 3:] < 0, -1.0, 1.0)
        self.unit: list[bool] = unit.tolist()
        self.wide: list[bool] = np.any(against[..., 3] < LEAST_W, axis=0).tolist()
        steps = self.steps[first : first + layout.J]
        self.small = np.rint(against[..., :3] / steps[:, None]).astype(np.int64)  # (F, J, 3)
        self.turned = (self.small != 0).any(axis=(0, 2)).tolist()
        self.told_small = Columns(self.small.reshape(len(turns), -1))
        self.steady: Array = steady

    def number(self, column: int) -> None:
        """A translation, a scale or a morph weight."""
        if self.resting[column]:
            self.states.append(REST)
        elif self.plain[column]:
            self.states.append(PLAIN)
            self.writer.floats(self.rows[:, column])
            self.out[:, column] = self.rows[:, column]
        elif self.still[column]:
            self.states.append(CONSTANT)
            self.writer.floats(self.rows[:1, column])
            self.out[:, column] = self.rows[0, column]
        else:
            self.states.append(COUNTED + self.writer.column(self.told, column))
            self.out[:, column] = self.whole[:, column] * self.steps[column]

    def rotation(self, joint: int) -> None:
        columns = [(3 + c) * self.layout.joints + joint for c in range(4)]
        if all(self.resting[c] for c in columns):
            self.states.append(REST)
        elif not self.unit[joint]:
            self.states.append(PLAIN)
            self.writer.floats(self.rows[:, columns])
            self.out[:, columns] = self.rows[:, columns]
        elif self.wide[joint]:
            step = self.steps[columns[0]]
            whole = np.rint(self.steady[:, :, joint] / step).astype(np.int64)
            told = Columns(whole)
            self.states += [WIDE_TURN, *(self.writer.column(told, c) for c in range(4))]
            self.out[:, columns] = _unit(whole * step)
        elif not self.turned[joint]:
            self.states.append(CONSTANT)
            self.writer.floats(self.mean[:, joint])
            self.out[:, columns] = self.mean[:, joint]
        else:
            self.writer.floats(self.mean[:, joint])
            self.states += [COUNTED, *(self.writer.column(self.told_small, 3 * joint + c) for c in range(3))]
            mean = self.mean[:, joint].astype(np.float64)
            self.out[:, columns] = turned(mean, self.small[:, joint] * self.steps[columns[0]])


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


def pack_motion(bank: ClipBank) -> PackedBank:
    """All clips of a bank, for a page."""
    layout, skeleton = bank.layout, bank.skeleton
    reach, size = _reaches(skeleton)
    tolerance = TOLERANCE * size
    steps = (tolerance / reach).astype(np.float32).astype(np.float64)
    step = float(np.float32(tolerance / _scales(skeleton).max(initial=1.0)))
    writer = PackedWriter()
    told = np.full(layout.size, MORPH_STEP)
    told[: 10 * layout.joints] = step
    for row in range(3, 10):
        told[row * layout.joints : row * layout.joints + layout.J] = steps
    table = bank.rows.reshape(-1, layout.size)
    rows = [table[:1].astype(np.float32)]
    for start, count in zip(bank.start[1:].tolist(), bank.frames[1:].tolist()):
        first = start // layout.size
        clip = _Clip(table[first : first + count], table[0], told, layout, writer)
        for joint in range(layout.J):
            for row in (0, 1, 2):
                clip.number(row * layout.joints + joint)
            clip.rotation(joint)
            for row in (7, 8, 9):
                clip.number(row * layout.joints + joint)
        for channel in range(layout.M):
            clip.number(10 * layout.joints + channel)
        writer.states(clip.states)
        rows.append(clip.out)
    played = np.concatenate(rows)
    error = _error(bank, table, played)
    return PackedBank(
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


def _scales(skeleton: Skeleton) -> Array:
    """How many times larger a joint makes at rest what hangs on it, `(J,)`: files in centimetres scale by 100."""
    scales = np.linalg.norm(np.nan_to_num(skeleton.rest_model[:, :, :3].astype(np.float64)), axis=1).max(
        axis=1
    )
    return np.where((scales > 1e-4) & (scales < 1e4), scales, 1.0)


def _error(bank: ClipBank, before: Array, after: Array) -> float:
    """How far joints, and points at three hundredths of the skeleton's size around them, are off at frames, in
    metres."""
    lever, worst = 0.03 * _reaches(bank.skeleton)[1] / _scales(bank.skeleton), 0.0
    for start, count in zip(bank.start[1:].tolist(), bank.frames[1:].tolist()):
        part = slice(start // bank.layout.size, start // bank.layout.size + count)
        with np.errstate(invalid="ignore", over="ignore"):  # files may hold what is no number
            was, now = (
                bank.skeleton.to_model(unpack_rows(rows[part], bank.layout.J, bank.layout.M))
                for rows in (before, after)
            )
            apart = now.astype(np.float64) - was
            off = np.linalg.norm(apart[..., 3], axis=-1) + lever * np.linalg.norm(
                apart[..., :3], axis=(-2, -1)
            )
        worst = max(worst, float(np.nan_to_num(off).max(initial=0.0)))
    return worst
