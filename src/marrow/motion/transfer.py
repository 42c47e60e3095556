"""What the kernel `transfer_motion` does for two skeletons: which joints it reads, how their turns become the target's,
where hips and root go.

With `R_target = G R_source C` (see `alignment.py`) a target joint's local turn is `C_parent^-1 V C`, where `V` is what the
source turns between the two joints' drivers. Mostly that is one local turn of the source, and the whole is one 4 x 4 matrix
per joint: no forward kinematics. Only joints between which the source has others, and shares of chains, need products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import motion_transfer as kernel
from marrow.kernels.jobs import Job, thread_count, worth
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.math import quaternion
from marrow.model import Skeleton, Tracks
from marrow.motion.alignment import Driver
from marrow.motion.posture import Posture
from marrow.motion.retarget_rotations import LocalTracks, left_matrix, right_matrix
from marrow.motion.tree import is_above, path_down

__all__ = ["JointPlace", "Transfer", "TransferBuilder"]

Array = NDArray[Any]
SECONDS_PER_STEP = 6e-9
"""What a frame of one step or one track that is read takes, about."""
CHUNK = 256
"""Frames that a thread takes at once."""


@dataclass(frozen=True, slots=True)
class JointPlace:
    """Where a joint of the target goes: `point (3,)`, carried by the source joint `source`, through `matrix (3, 4)`, less
    `aside (3,)` turned as the target joint `carrier` is (-1: nothing), then through `seen (3, 4)` and out of the `above`
    joints of the target, outermost first. `grounded`: its height is over the ground of a clip."""

    source: int
    point: Array
    matrix: Array
    aside: Array = field(default_factory=lambda: np.zeros(3))
    carrier: int = -1
    seen: Array = field(default_factory=lambda: np.eye(3, 4))
    above: tuple[int, ...] = ()
    grounded: bool = False


class Transfer:
    """The kernel made ready for clips whose tracks move the same joints in the same order. `written` are the tracks it
    makes, as joint and path."""

    def __init__(
        self, tracks: Tracks, written: tuple[tuple[int, int], ...], slots: Array, work: dict[str, Array]
    ) -> None:
        """`slots (J, 3)` is where translation, rotation and scale of a source joint go in the room (-1: nowhere)."""
        self.written = written
        table = tracks.table
        known = np.flatnonzero(table["path"] < 3)
        to = slots[table["target"][known], table["path"][known]]
        work["reads"] = np.stack([known, to], axis=1)[to >= 0].astype(np.int64).reshape(-1)
        self._work = work
        self._room = work.pop("room")
        self._widths = np.array([4 if path == 1 else 3 for _, path in written], np.int64)
        self._places = len(work["places"]) // kernel.PLACE
        steps = len(work["steps"]) // 5 + len(work["reads"]) // 2 + 8 * self._places
        self._seconds = steps * SECONDS_PER_STEP
        self._frames = FramePool(self._frame)

    def _frame(self) -> CallFrame:
        frame = kernel.transfer_motion.frame()
        for name, array in (self._work | self._own()).items():
            frame.put_one(f"work.{name}", array)
        return frame

    def _own(self) -> dict[str, Array]:
        """What each thread has for itself."""
        wide = np.zeros(kernel.WIDE + 48 * self._places)
        return {"room": self._room.copy(), "wide": wide, "keys": np.zeros(16, np.int64)}

    def run(self, tracks: Tracks, times: Array, lift: float, threads: int | None) -> LocalTracks:
        """What `tracks` give at `times (T,)`. `lift` is how much higher the places over the ground are."""
        T = len(times)
        starts = np.zeros(len(self.written) + 1, np.int64)
        np.cumsum(self._widths * T, out=starts[1:])
        out = np.empty(int(starts[-1]), np.float32)
        frame = self._frames.take()
        for name, array in (
            ("table", tracks.table), ("times", tracks.times), ("values", tracks.values), ("query", times),
            ("starts", starts), ("out", out),
        ):  # fmt: skip
            frame.lend(f"work.{name}", array)
        frame.put(lift=lift, first=0, last=T)
        seconds = T * self._seconds
        workers = 1 if T <= CHUNK or worth(seconds, 2) == 1 else worth(seconds, thread_count(threads))
        if workers == 1:
            frame.run()
        else:
            job = Job(frame, "first", "last")
            others = [self._own() for _ in range(workers - 1)]
            job.own({f"work.{name}": [own[name] for own in others] for name in ("room", "wide", "keys")})
            job.run(0, T, step=CHUNK, workers=workers)
        self._frames.give(frame)
        at = starts.tolist()
        return {
            key: out[at[k] : at[k + 1]].reshape(T, 4 if key[1] == 1 else 3)
            for k, key in enumerate(self.written)
        }


class TransferBuilder:
    """Writes down what the kernel is to do."""

    def __init__(self, source: Skeleton, target: Skeleton, rest: Posture) -> None:
        self.source, self.target, self.rest = source, target, rest
        self._slot_of = np.full((len(source), 3), -1, np.int64)
        self._room: list[Array] = [np.zeros(kernel.STAGE, np.float32)]
        self._steps: list[tuple[int, int, int, int, int]] = []
        self._constants: list[Array] = []
        self._size = 0
        self._links: list[tuple[int, int, int, int]] = []
        self._places: list[list[int]] = []
        self._numbers: list[Array] = []
        self._tracks: list[tuple[int, int]] = []
        self._made: dict[Any, int] = {}
        self._placed: dict[int, int] = {}

    @property
    def needed(self) -> Array:
        """Whether translation, rotation and scale of each joint of the source are read, `(J, 3)`."""
        return self._slot_of >= 0

    def build(self, tracks: Tracks) -> Transfer:
        """For clips with such tracks."""
        work = {
            name: np.array(rows, np.int64).reshape(-1)
            for name, rows in (("steps", self._steps), ("links", self._links), ("places", self._places))
        }
        work["constants"] = np.concatenate([np.zeros(0), *self._constants]).astype(np.float32)
        work["numbers"] = np.concatenate([np.zeros(0), *self._numbers])
        work["room"] = np.concatenate(self._room)
        return Transfer(tracks, tuple(self._tracks), self._slot_of, work)

    # -- slots ----------------------------------------------------------------------------------------------------
    def _slot(self, value: Array | tuple[()] = ()) -> int:
        at = kernel.STAGE + kernel.SLOT * (len(self._room) - 1)
        held = np.zeros((4, 16), np.float32)
        held[: len(value)] = np.asarray(value, np.float32)[:, None]
        self._room.append(held.reshape(-1))
        return at

    def _read(self, joint: int, path: int) -> int:
        """The slot of a property of a source joint; without keys it rests."""
        if self._slot_of[joint, path] < 0:
            rest = self.source.rest
            self._slot_of[joint, path] = self._slot(
                (rest.translation, rest.rotation, rest.scale)[path][joint]
            )
        return int(self._slot_of[joint, path])

    def _target(self, joint: int, path: int) -> int:
        """The slot of a property of a target joint: what was made of it, else as it rests."""
        if (joint, path) not in self._made:
            rest = self.target.rest
            self._made[joint, path] = self._slot((rest.translation, rest.rotation, rest.scale)[path][joint])
        return self._made[joint, path]

    def _constant(self, values: Array) -> int:
        at = self._size
        self._constants.append(np.asarray(values, np.float64).reshape(-1))
        self._size += self._constants[-1].size
        return at

    # -- rotations ------------------------------------------------------------------------------------------------
    def _step(self, step: int, a: int, b: int, c: int = 0) -> int:
        """The slot that a step makes, each once."""
        key = ("step", step, a, b, c)
        if key not in self._made:
            self._made[key] = self._slot()
            self._steps.append((step, self._made[key], a, b, c))
        return self._made[key]

    def _between(self, above: int, joint: int) -> int:
        """What the source turns from the frame of `above` (-1: the world) to that of `joint` below it."""
        path = path_down(self.source, above, joint)
        slot = self._read(path[0], 1)
        for j in path[1:]:
            slot = self._step(kernel.MULTIPLY, slot, self._read(j, 1))
        return slot

    def _value(self, driver: Driver) -> int:
        """`V` of a driver in model space."""
        if driver.b < 0:
            return self._between(-1, driver.a)
        key = ("value", driver.a, driver.b, driver.w)
        if key not in self._made:
            a, b = (
                self._step(
                    kernel.FIXED,
                    self._between(-1, j),
                    self._constant(quaternion.conjugate(self.rest.rotation[j])),
                )
                for j in (driver.a, driver.b)
            )
            self._made[key] = self._step(kernel.SHARE, a, b, self._constant(np.array([driver.w])))
        return self._made[key]

    def turn(self, drivers: Mapping[int, Driver], world: Array) -> None:
        """The local turns of the joints of the target that have drivers; `world` is `G`."""
        own = quaternion.normalize(np.asarray(self.target.rest.rotation, np.float64))
        outside = Driver(-1, -1, 0.0, quaternion.identity(dtype=np.float64))
        of: list[Driver] = []
        for j, parent in enumerate(self.target.parents.tolist()):
            above = of[parent] if parent >= 0 else outside
            mine = drivers.get(j)
            if mine is None:
                of.append(Driver(above.a, above.b, above.w, quaternion.multiply(above.turn, own[j])))
                continue
            of.append(mine)
            # Out of the world: the parent stands still, and the world's turn comes in between.
            before = quaternion.conjugate(above.turn)
            if above.a < 0:
                before = quaternion.multiply(before, world)
            matrix = left_matrix(before) @ right_matrix(mine.turn)
            plain = mine.b < 0 and above.b < 0
            if plain and (above.a < 0 or (above.a != mine.a and is_above(self.source, above.a, mine.a))):
                value = self._between(above.a, mine.a)
            elif above.a < 0:
                value = self._value(mine)
            else:
                value = self._step(kernel.BACK, self._value(above), self._value(mine))
            self._made[j, 1] = self._slot()
            self._steps.append(
                (kernel.WRITE, self._made[j, 1], value, self._constant(matrix), len(self._tracks))
            )
            self._tracks.append((j, 1))

    # -- translations ---------------------------------------------------------------------------------------------
    def slide(self, joint: int, source: int, rest: Array, matrix: Array, after: Array) -> None:
        """The translation `matrix (3, 3)` of what a source joint is off `rest (3,)`, plus `after (3,)`."""
        at = self._constant(np.concatenate([rest, matrix.reshape(-1), after]))
        self._steps.append((kernel.SLIDE, 0, self._read(source, 0), at, len(self._tracks)))
        self._tracks.append((joint, 0))

    def place(self, joint: int, place: JointPlace) -> None:
        """Where a joint goes. Places of the joints above it come before."""
        at = sum(map(len, self._numbers))
        self._numbers += [place.point, place.aside, place.matrix.reshape(-1), place.seen.reshape(-1)]
        row = [len(self._tracks), at]
        path = path_down(self.source, -1, place.source)
        chains: list[list[tuple[int, int, int, int]]] = [
            [(self._read(j, 0), self._read(j, 1), self._read(j, 2), -1) for j in reversed(path)],
            [(0, self._target(j, 1), 0, -1) for j in reversed(path_down(self.target, -1, place.carrier))],
            [
                (self._target(j, 0), self._target(j, 1), self._target(j, 2), self._placed.get(j, -1))
                for j in place.above
            ],
        ]
        for chain in chains:
            row += [len(self._links), len(chain)]
            self._links += chain
        self._placed[joint] = len(self._places)
        self._places.append([*row, int(place.grounded)])
        self._tracks.append((joint, 0))
