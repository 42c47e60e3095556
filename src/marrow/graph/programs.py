"""`Programs`: the pose programs of a crowd as the control pass writes them.

Programs are numbered as `kernels.control_program` says: an even and an odd one for each `Function` of the graph, and two
for the rest, of which the last gives the poses. All lie in one array of operations, each in a part of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.compiled import CompiledGraph
from marrow.graph.program import Program
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import OPERATION

__all__ = ["Programs"]

Array = NDArray[Any]
SECTIONS = 16
"""Sections of one instance for which there is room in any case."""


class Programs:
    """`starts (R, N + 1)` into `operations`, where program r is written at `heads[r]`. `kept` says whether they have to
    be run before the next update, because they keep something for later or call functions."""

    def __init__(self, compiled: CompiledGraph, count: int) -> None:
        self.compiled = compiled
        self.kept = False
        R = 2 * len(compiled.functions) + 2
        self.heads = np.zeros(R, ct.PROGRAM)
        section, longest = SECTIONS * compiled.section, compiled.longest + SECTIONS * compiled.section
        self.heads["reserve"] = [
            longest if r % 2 and r < R - 1 else compiled.longest if r % 2 else section for r in range(R)
        ]
        self.starts = np.zeros((R, count + 1), np.int64)
        own = np.where(np.arange(R) % 2, compiled.longest * count, 0) + self.heads["reserve"]
        self._lay_out(own)

    def _lay_out(self, room: Array) -> None:
        """Gives each program so much room."""
        self.begins = np.concatenate([[0], np.cumsum(room)[:-1]]).astype(np.int64)
        self.heads["limit"] = self.begins + room
        self.heads["cursor"] = self.begins
        self.operations = np.empty(int(room.sum()), OPERATION)
        depths = [self.compiled.depth] * (len(self.starts) - 1) + [self.compiled.pose_depth]
        self._programs = [
            Program(starts, self.operations, depth) for starts, depth in zip(self.starts, depths)
        ]

    def clear(self) -> None:
        self.heads["cursor"] = self.begins
        self.kept = False

    def grow(self) -> bool:
        """Twice the room for the programs that have less left than one instance may need (whether there are such); what is
        written stays."""
        begins, written, operations = self.begins, self.heads["cursor"] - self.begins, self.operations
        room = self.heads["limit"] - begins
        short = room - written < np.maximum(self.heads["reserve"], 1)
        if not short.any():
            return False
        self._lay_out(np.where(short, 2 * room + 1, room))
        for r in range(len(self.heads)):
            self.operations[self.begins[r] : self.begins[r] + written[r]] = operations[
                begins[r] : begins[r] + written[r]
            ]
        self.starts += (self.begins - begins)[:, None]
        self.heads["cursor"] = self.begins + written
        return True

    def join(self, parts: list[Programs]) -> None:
        """Takes over the programs of parts of the crowd, which lie behind one another."""
        written = np.array([p.heads["cursor"] - p.begins for p in parts])
        if (written.sum(axis=0) > self.heads["limit"] - self.begins).any():
            self._lay_out(written.sum(axis=0) + self.heads["reserve"])
        self.kept = any(p.kept for p in parts)
        for r in range(len(self.heads)):
            at, first = int(self.begins[r]), 0
            for part, size in zip(parts, written[:, r].tolist()):
                begin = int(part.begins[r])
                self.operations[at : at + size] = part.operations[begin : begin + size]
                self.starts[r, first : first + part.count + 1] = part.starts[r] + (at - begin)
                at, first = at + size, first + part.count
            self.heads["cursor"][r] = at

    def append(self, instances: Array, operations: Array) -> None:
        """One more operation at the end of what gives the poses of some instances."""
        first, end = int(self.begins[-1]), int(self.heads["cursor"][-1])
        written = np.insert(self.operations[first:end], self.starts[-1, instances + 1] - first, operations)
        short = len(written) - int(self.heads["limit"][-1] - first)
        if short > 0:
            # It lies behind all others, so that its room can grow.
            self.operations = np.concatenate([self.operations, np.empty(short, OPERATION)])
            self.heads["limit"][-1] += short
            self._programs = [Program(p.start, self.operations, p.depth) for p in self._programs]
        self.operations[first : first + len(written)] = written
        more = np.zeros(self.count + 1, np.int64)
        more[instances + 1] = 1
        self.starts[-1] += np.cumsum(more)
        self.heads["cursor"][-1] += len(operations)

    @property
    def count(self) -> int:
        return self.starts.shape[1] - 1

    def program(self, r: int) -> Program:
        return self._programs[r]

    @property
    def main(self) -> Program:
        """The one that gives the poses."""
        return self.program(len(self.heads) - 1)

    def is_empty(self, r: int) -> bool:
        return bool(self.heads["cursor"][r] == self.begins[r])

    # -- other instances ------------------------------------------------------------------------------------------
    # What is run once has been run by now: of those that stay, only the last program counts.
    def _pieces(self) -> list[list[Array]]:
        empty, last = self.operations[:0], len(self.heads) - 1
        starts = self.starts[last].tolist()
        found = [[empty] * self.count for _ in range(last)]
        return [*found, [self.operations[starts[n] : starts[n + 1]] for n in range(self.count)]]

    def _of(self, pieces: list[list[Array]]) -> Programs:
        """Programs made of these operations: for each program, of each instance."""
        made = Programs(self.compiled, len(pieces[0]))
        needed = np.array([sum(map(len, p)) for p in pieces])
        room = made.heads["limit"] - made.begins
        if (needed > room).any():
            made._lay_out(np.maximum(room, needed + made.heads["reserve"]))
        for r, instances in enumerate(pieces):
            lengths = np.cumsum([0, *map(len, instances)])
            made.starts[r] = made.begins[r] + lengths
            made.heads["cursor"][r] = made.starts[r, -1]
            if lengths[-1]:
                made.operations[made.starts[r, 0] : made.starts[r, -1]] = np.concatenate(instances)
        return made

    def taken(self, rows: Array) -> Programs:
        """The programs of some instances."""
        return self._of([[piece[n] for n in rows.tolist()] for piece in self._pieces()])

    def extended(self, count: int) -> Programs:
        """With `count` more instances that have none yet."""
        return self._of([piece + [self.operations[:0]] * count for piece in self._pieces()])

    def replaced(self, rows: Array, other: Programs) -> Programs:
        """With the programs of other instances in place of those at `rows`."""
        pieces = self._pieces()
        for r in range(len(self.heads)):
            for k, n in enumerate(rows.tolist()):
                pieces[r][n] = other.operations[other.starts[r, k] : other.starts[r, k + 1]]
        made = self._of(pieces)
        made.kept = other.kept
        return made
