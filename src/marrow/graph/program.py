"""`Program`: the pose programs of a crowd, built by the control pass and run by the pose kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import ValidationError
from marrow.kernels import program as kernel
from marrow.kernels.compiler import readonly
from marrow.kernels.memory import aligned_zeros
from marrow.model.character import Palette
from marrow.skinning.threads import run_split

__all__ = ["PoseEvaluator", "Procedurals", "Program", "ProgramBuilder"]

Array = NDArray[Any]
SECONDS_PER_JOINT = 12e-9
"""About what a program takes; enough to tell whether it is worth a thread."""


@dataclass(frozen=True, eq=False)
class Program:
    """For instance n the operations `start[n]..start[n + 1]` of `ops`, records (`kernels.program.OPERATION`) of `code`,
    `argument` (clip, mask, memory...), `time` and `weight`. `depth` is how many poses they stack up at most."""

    start: Array
    ops: Array
    depth: int = 4

    def __len__(self) -> int:
        return len(self.start) - 1

    def operations(self, n: int) -> list[tuple[int, int, float, float]]:
        """The program of one instance, to read or to hand to the reference interpreter."""
        rows = slice(int(self.start[n]), int(self.start[n + 1]))
        return self.ops[rows].tolist()


class ProgramBuilder:
    """Collects operations column by column: each call adds one operation to every instance it names."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._columns: list[tuple[Array | None, int, ArrayLike, ArrayLike, ArrayLike]] = []

    def add(
        self,
        code: int,
        *,
        argument: ArrayLike = 0,
        time: ArrayLike = 0.0,
        weight: ArrayLike = 1.0,
        instances: Array | None = None,
    ) -> None:
        """One operation for `instances` (indices without repeats; None: all), arguments scalar or one per instance."""
        self._columns.append((instances, code, argument, time, weight))

    def build(self, depth: int = 4) -> Program:
        """Lays the columns out instance by instance, in the order they were added."""
        if len(self._columns) == 1 and self._columns[0][0] is None:
            _, code, argument, time, weight = self._columns[0]
            ops = np.empty(self.count, kernel.OPERATION)
            ops["code"], ops["argument"], ops["time"], ops["weight"] = code, argument, time, weight
            return Program(np.arange(self.count + 1), ops, depth)
        lengths = np.zeros(self.count, np.int64)
        for instances, *_ in self._columns:
            lengths[slice(None) if instances is None else instances] += 1
        start = np.zeros(self.count + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        ops = np.empty(int(start[-1]), kernel.OPERATION)
        cursor = start[:-1].copy()
        for instances, code, argument, time, weight in self._columns:
            rows = slice(None) if instances is None else instances
            at = cursor[rows]
            ops["code"][at], ops["argument"][at] = code, argument
            ops["time"][at], ops["weight"][at] = time, weight
            cursor[rows] += 1
        return Program(start, ops, depth)


@dataclass(frozen=True, eq=False)
class Procedurals:
    """The constants of the limbs and chains a graph solves (see `kernels.procedural`)."""

    ints: Array = field(default_factory=lambda: readonly(np.zeros(0, np.int32)))
    floats: Array = field(default_factory=lambda: readonly(np.zeros(0, np.float32)))


class PoseEvaluator:
    """Runs programs over a bank: holds the kernel's scratch memory and constant tables for one character."""

    def __init__(
        self,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
    ) -> None:
        self.bank = bank
        Jp, Mp = bank.joint_stride, bank.morph_stride
        J = len(bank.skeleton)
        table = aligned_zeros((0 if masks is None else len(masks), Jp + Mp))
        if masks is not None:
            if masks.ndim != 2 or masks.shape[1] not in (J, J + len(bank.skeleton.morph_names)):
                raise ValidationError(f"masks: expected shape (n, {J}), got {masks.shape}")
            table[:, :J] = masks[:, :J]
            table[:, Jp : Jp + masks.shape[1] - J] = masks[:, J:]
        self.palette = palette
        self._masks = readonly(table.ravel())
        self._procedurals = procedurals or Procedurals()
        # The kernel reads whole vectors: four floats past the last matrix must exist.
        inverse = np.zeros(len(palette) * 12 + 16, np.float32)
        inverse[: len(palette) * 12] = palette.inverse_bind.ravel()
        self._inverse_bind = readonly(inverse)
        self._empty = np.zeros(0, np.float32)
        self._desks: list[_Desk] = []

    def run(
        self,
        program: Program,
        *,
        memory: Array | None = None,
        vectors: Array | None = None,
        pose: Array | None = None,
        model: Array | None = None,
        palette: Array | None = None,
        threads: int = 1,
    ) -> None:
        """Evaluates all instances into the outputs given: pose rows `(N, 10 * Jp + Mp)`, model matrices
        `(N, J, 3, 4)`, skinning matrices `(N, P, 3, 4)`. `memory (N, ...)` and `vectors (N, ...)` are what programs keep
        from one update to the next and the places they reach and look for; None where they do neither."""
        bank = self.bank
        Jp, Mp = bank.joint_stride, bank.morph_stride
        what = kernel.POSE * (pose is not None) + kernel.MODEL * (model is not None)
        what += kernel.PALETTE * (palette is not None)
        before = (
            program.start, program.ops,
            bank.rows, bank.start, bank.frames, bank.rate, self._masks, bank.skeleton.parents, Jp, Mp,
            self.palette.joints, self._inverse_bind,
        )  # fmt: skip
        after = (
            self._empty if memory is None else memory.reshape(-1),
            0 if memory is None else memory.shape[1],
            self._empty if vectors is None else vectors.reshape(-1),
            0 if vectors is None else vectors.shape[1],
            self._procedurals.ints, self._procedurals.floats, what,
            self._empty if pose is None else pose.reshape(-1),
            self._empty if model is None else model.reshape(-1),
            self._empty if palette is None else palette.reshape(-1),
        )  # fmt: skip

        def run(first: int, last: int) -> None:
            try:
                desk = self._desks.pop()
            except IndexError:  # all are taken by other threads
                desk = _Desk(Jp)
            try:
                desk.reserve(program.depth * (10 * Jp + Mp))
                kernel.run_programs(*before, desk.stack, desk.local, desk.model, *after, first, last)
            finally:
                self._desks.append(desk)

        count = len(program)
        if threads == 1:
            run(0, count)
        else:
            run_split(run, count, count * Jp * SECONDS_PER_JOINT, threads)


class _Desk:
    """What one thread works with: a stack of poses, and the matrices of one instance."""

    def __init__(self, joints: int) -> None:
        self.local, self.model = aligned_zeros(joints * 16 + 16), aligned_zeros(joints * 16 + 16)
        self.stack = np.zeros(0, np.float32)

    def reserve(self, floats: int) -> None:
        if len(self.stack) < floats:
            self.stack = aligned_zeros(floats)
