"""`ProgramUpload`: the pose programs of a crowd as they are handed over to the GPU, put together by kernels in memory that
is used again at every update."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.batches import Batch
from marrow.gpu.pose_shader import ALONE
from marrow.graph.pose_program import SECONDS_PER_COPY, PoseProgram, unsound
from marrow.kernels.jobs import Job, thread_count, worth
from marrow.kernels.language.kernel import CallFrame, Kernel
from marrow.kernels.operations import OPERATION, OPERATIONS
from marrow.kernels.program_steps import RECORD, hand_over, list_steps, place_programs

__all__ = ["ProgramUpload"]

Array = NDArray[Any]
CHUNK = 256
"""Programs that a thread puts in their places at a time."""
_ALONE = np.array([o.code in ALONE for o in OPERATIONS], np.uint8)
_EFFECT = np.array([o.pushes - o.pops for o in OPERATIONS], np.int64)
_EVERYBODY = np.zeros(0, np.int64)


class ProgramUpload:
    """`take` a program of all instances, `begin` with a run of them, and ask for the `steps` of each batch. Then
    `operations` and `words[:size]` are what the GPU is handed: operations, and arrays of numbers that dispatches are told
    the places of."""

    def __init__(self) -> None:
        self.size = 0
        self.base = 0
        """Which operation of all is the first of those that are handed over, as `PoseProgram.ops` has them."""
        self.alone: list[int] = []
        """Codes of the operations among them that run alone."""
        self.words = np.empty(64, np.int32)
        self._rows = np.empty(0, OPERATION)
        self._begin = self._end = 0
        self._together = False
        self._places = np.zeros(1, np.int64)
        self._turns = np.zeros(0, np.int64)
        self._found = np.zeros(len(_ALONE), np.uint8)
        self._counts, self._cursors = np.zeros((2, 0), np.int64)
        self._placing, self._handing, self._listing = (
            CallFrame(kernel) for kernel in (place_programs, hand_over, list_steps)
        )
        self._handing.put(alone=_ALONE, found=self._found)
        self._listing.put(alone=_ALONE, effect=_EFFECT)
        self._job = Job(self._handing, "first", "last", told=True)

    def take(self, program: PoseProgram) -> Array:
        """The programs of all instances; returns where each begins when they are put behind one another, `(N + 1,)`."""
        count = len(program)
        if len(self._turns) != count:
            self._places, self._turns = np.zeros(count + 1, np.int64), np.zeros(count, np.int64)
        kept = self._placing.kept
        if kept.get("begins") is not program.begins or kept["ends"] is not program.ends:
            for frame in (self._placing, self._handing, self._listing):
                frame.sizes.clear()
                _bind(frame, begins=program.begins, ends=program.ends)
        for frame in (self._placing, self._handing, self._listing):
            _bind(frame, operations=program.rows, places=self._places)
        _bind(self._handing, turns=self._turns)
        _bind(self._listing, turns=self._turns)
        wrong, together = self._placing.run() or (-1, 0)
        if wrong >= 0:
            raise unsound(program, wrong, max(int(program.ends[wrong]), 0))
        self._program, self._together = program, bool(together)
        return self._places

    def begin(self, first: int, last: int) -> None:
        """The instances `first..last` are handed over next: their operations are put together."""
        rows, places = self._program.rows, self._places
        origin, end = int(places[first]), int(places[last])
        self.size, count = 0, end - origin
        self.base = origin + (int(self._program.begins[0]) if self._together else 0)
        if not self._together and len(self._rows) < count:
            self._rows = np.empty(count + count // 2, OPERATION)
        self._operations = rows[self.base : self.base + count] if self._together else self._rows[:count]
        _bind(self._handing, joined=self._rows)
        _set(self._handing, origin=origin, copied=not self._together)
        _set(self._listing, origin=origin)
        self._found[:] = 0
        workers = worth(count * SECONDS_PER_COPY, thread_count(None))
        self._job.run(first, last, step=CHUNK, workers=workers)
        told = self._job.results
        self.alone = np.flatnonzero(self._found).tolist() if self._found.any() else []
        most = int(told[:, 1].max(initial=0))
        self._more = int(told[:, 2].sum())
        if len(self._counts) != most:
            self._counts, self._cursors = np.zeros((2, most), np.int64)
            _bind(self._listing, counts=self._counts, cursors=self._cursors)

    @property
    def operations(self) -> Array:
        return self._operations

    def put(self, array: Array) -> int:
        """Puts numbers of four bytes behind the words; returns where they begin."""
        at = self.size
        self._reserve(array.size)
        self.words[at : at + array.size] = array.reshape(-1).view(np.int32)
        self.size = at + array.size
        return at

    def steps(self, batch: Batch) -> list[tuple[bool, int, int]]:
        """The dispatches of a batch, one after the other: whether that is of the shader for operations that run alone,
        where its records begin among the words, and how many they are."""
        count, at = batch.count, self.size
        self._reserve(len(RECORD) * (count + 2 * self._more))
        frame = self._listing
        _bind(
            frame,
            instances=_EVERYBODY if batch.chosen is None else batch.chosen,
            counts=self._counts,
            cursors=self._cursors,
            records=self.words,
        )
        _set(
            frame, low=batch.low, high=batch.high, everybody=batch.chosen is None, memory_first=batch.memory_first, at=at,
        )  # fmt: skip
        (self.size,) = frame.run() or (at,)
        found = [(False, at, count)]
        at += len(RECORD) * count
        for some in self._counts.tolist():
            if some:
                found += [(True, at, some), (False, at + len(RECORD) * some, some)]
                at += 2 * len(RECORD) * some
        return found

    def _reserve(self, count: int) -> None:
        """Makes room for so many more words."""
        if self.size + count > len(self.words):
            larger = np.empty(2 * (self.size + count), np.int32)
            larger[: self.size] = self.words[: self.size]
            self.words = larger


def _bind(frame: CallFrame, **arrays: Array) -> None:
    """Puts arrays in, where others are."""
    for name, array in arrays.items():
        if frame.kept.get(name) is not array:
            frame.put_one(name, array)


def _set(frame: CallFrame, **numbers: int) -> None:
    at: Kernel = frame.kernel
    for name, number in numbers.items():
        frame.words[at.offsets[name]] = number
