"""`ProgramBuffers`: the pose programs of a crowd as the control pass writes them.

Programs are numbered as `kernels.control_program` says: an even and an odd one for each `Function` of the graph, and two
for the rest, of which the last gives the poses. All lie in one array of operations, in which each chunk of the crowd has a
region for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.compiled import CompiledGraph
from marrow.graph.pose_program import PoseProgram
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import OPERATION
from marrow.math.counting import repeat

__all__ = ["ProgramBuffers"]

Array = NDArray[Any]
SECTIONS = 16
"""Sections of one instance for which there is room in any case."""


class ProgramBuffers:
    """Of program r and instance n the `operations` from `starts[r, n]` to `ends[r, n]`, `written[r]` in all; those of
    `step` instances in each of the `regions (C, R)`. `kept` says whether they have to be run before the next update,
    because they keep something for later or call functions."""

    def __init__(self, compiled: CompiledGraph, count: int, step: int | None = None) -> None:
        self.compiled, self.count, self.step = compiled, count, max(count if step is None else step, 1)
        self.kept = False
        R, C = 2 * len(compiled.functions) + 2, max(-(-count // self.step), 1)
        section, longest = SECTIONS * compiled.section, compiled.longest + SECTIONS * compiled.section
        self.reserve = np.array(
            [
                longest if r % 2 and r < R - 1 else compiled.longest if r % 2 else section
                for r in range(R)
            ]
        )  # fmt: skip
        """Operations of one instance for which there is room in any case."""
        self.starts, self.ends = np.zeros((2, R, count), np.int64)
        self.written = np.zeros(R, np.int64)
        self.regions = np.zeros((C, R), ct.REGION)
        room = np.where(np.arange(R) % 2, compiled.longest * min(self.step, count), 0) + self.reserve
        self._lay_out(np.broadcast_to(room, (C, R)))

    def _lay_out(self, room: Array) -> None:
        """Gives each region so much room."""
        ends = np.cumsum(room).reshape(room.shape)
        self.regions["begin"] = self.regions["cursor"] = ends - room
        self.regions["limit"] = ends
        self._use(np.empty(int(ends[-1, -1]), OPERATION))

    def _use(self, operations: Array) -> None:
        self.operations = operations
        last = len(self.starts) - 1
        self._programs = [
            PoseProgram.scattered(
                self.starts[r],
                self.ends[r],
                operations,
                self.compiled.pose_depth if r == last else self.compiled.depth,
            )
            for r in range(last + 1)
        ]

    def clear(self) -> None:
        """Before they are written anew."""
        self.kept = False
        self.forget()

    def forget(self) -> None:
        """What was put together of them no longer holds."""
        for program in self._programs:
            program.joined = None

    def grow(self) -> bool:
        """Twice the room for the programs that have less left than one instance may need (whether there are such); what is
        written stays."""
        old, operations = self.regions.copy(), self.operations
        written, room = old["cursor"] - old["begin"], old["limit"] - old["begin"]
        short = room - written < np.maximum(self.reserve, 1)
        if not short.any():
            return False
        self._lay_out(np.where(short, 2 * room + 1, room))
        for c, r in np.argwhere(written > 0).tolist():
            at, begin, size = int(self.regions["begin"][c, r]), int(old["begin"][c, r]), int(written[c, r])
            self.operations[at : at + size] = operations[begin : begin + size]
        moved = np.repeat(self.regions["begin"] - old["begin"], self.step, axis=0)[: self.count].T
        self.starts += moved
        self.ends += moved
        self.regions["cursor"] = self.regions["begin"] + written
        return True

    def append(self, instances: Array, operations: Array) -> None:
        """One more operation at the end of what gives the poses of some instances: their programs move behind the rest."""
        starts, lengths = self.starts[-1, instances], (self.ends[-1] - self.starts[-1])[instances]
        base, size = int(self.regions["limit"].max()), int(lengths.sum()) + len(instances)
        if len(self.operations) < base + size:
            self._use(np.concatenate([self.operations[:base], np.empty(size, OPERATION)]))
        places = base + np.cumsum(lengths + 1) - lengths - 1
        inside = np.arange(int(lengths.sum())) - repeat(np.cumsum(lengths) - lengths, lengths)
        moved = self.operations[repeat(starts, lengths) + inside]
        self.operations[repeat(places, lengths) + inside] = moved
        self.operations[places + lengths] = operations
        self.starts[-1, instances], self.ends[-1, instances] = places, places + lengths + 1
        self.written[-1] += len(instances)
        self._programs[-1].joined = None

    def __len__(self) -> int:
        """How many programs each instance has."""
        return len(self.starts)

    def program(self, r: int) -> PoseProgram:
        return self._programs[r]

    @property
    def main(self) -> PoseProgram:
        """The one that gives the poses."""
        return self._programs[-1]

    def is_empty(self, r: int) -> bool:
        return bool(self.written[r] == 0)

    # -- other instances ------------------------------------------------------------------------------------------
    # What is run once has been run by now: of those that stay, only the last program counts.
    def _pieces(self) -> list[list[Array]]:
        empty, last = self.operations[:0], len(self) - 1
        found = [[empty] * self.count for _ in range(last)]
        return [*found, self._rows(last, range(self.count))]

    def _rows(self, r: int, instances: Any) -> list[Array]:
        starts, ends = self.starts[r].tolist(), self.ends[r].tolist()
        return [self.operations[starts[n] : ends[n]] for n in instances]

    def _of(self, pieces: list[list[Array]]) -> ProgramBuffers:
        """Programs made of these operations: for each program, of each instance."""
        made = ProgramBuffers(self.compiled, len(pieces[0]))
        needed = np.array([[sum(map(len, p)) for p in pieces]])
        room = made.regions["limit"] - made.regions["begin"]
        if (needed > room).any():
            made._lay_out(np.maximum(room, needed + made.reserve))
        for r, instances in enumerate(pieces):
            ends = made.regions["begin"][0, r] + np.cumsum([0, *map(len, instances)])
            made.starts[r], made.ends[r] = ends[:-1], ends[1:]
            made.regions["cursor"][0, r] = ends[-1]
            if needed[0, r]:
                made.operations[ends[0] : ends[-1]] = np.concatenate(instances)
        made.written[:] = needed[0]
        return made

    def taken(self, rows: Array) -> ProgramBuffers:
        """The programs of some instances."""
        return self._of([[piece[n] for n in rows.tolist()] for piece in self._pieces()])

    def extended(self, count: int) -> ProgramBuffers:
        """With `count` more instances that have none yet."""
        return self._of([piece + [self.operations[:0]] * count for piece in self._pieces()])

    def replaced(self, rows: Array, other: ProgramBuffers) -> ProgramBuffers:
        """With the programs of other instances in place of those at `rows`."""
        pieces = self._pieces()
        for r in range(len(self)):
            for n, piece in zip(rows.tolist(), other._rows(r, range(len(rows)))):
                pieces[r][n] = piece
        made = self._of(pieces)
        made.kept = other.kept
        return made
