"""`Program`: the pose programs of a crowd, built by the control pass and run by the pose kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import MarrowError, ValidationError
from marrow.kernels import program as kernel
from marrow.kernels.language.kernel import Frame, FramePool
from marrow.kernels.memory import aligned_zeros, readonly
from marrow.kernels.operations import OPERATION, OPERATIONS, PoseWork, rules
from marrow.kernels.pose_layout import padded
from marrow.model.character import Palette
from marrow.skinning.threads import run_split

__all__ = ["PoseEvaluator", "Procedurals", "Program", "ProgramBuilder", "unsound"]

Array = NDArray[Any]
SECONDS_PER_JOINT = 12e-9
"""About what a program takes; enough to tell whether it is worth a thread."""


@dataclass(frozen=True, eq=False)
class Program:
    """For instance n the operations `start[n]..start[n + 1]` of `ops`, records (`kernels.operations.OPERATION`) of `code`,
    `argument` (clip, mask, memory...), `time` and `weight`. `depth` is how many poses they stack up at most."""

    start: Array
    ops: Array
    depth: int = 4

    def __len__(self) -> int:
        return len(self.start) - 1

    def operations(self, n: int) -> list[tuple[int, int, float, float]]:
        """The program of one instance, to read or to hand to the reference interpreter."""
        if not -len(self) <= n < len(self):
            raise ValidationError(f"program {n} does not exist: there are {len(self)}")
        n %= len(self)
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
            ops = np.empty(self.count, OPERATION)
            ops["code"], ops["argument"], ops["time"], ops["weight"] = code, argument, time, weight
            return Program(np.arange(self.count + 1), ops, depth)
        lengths = np.zeros(self.count, np.int64)
        for instances, *_ in self._columns:
            lengths[slice(None) if instances is None else instances] += 1
        start = np.zeros(self.count + 1, np.int64)
        np.cumsum(lengths, out=start[1:])
        ops = np.empty(int(start[-1]), OPERATION)
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
    """The constants of the limbs and chains a graph solves (see `kernels.operations.limbs`). They name joints below
    `joints`."""

    ints: Array = field(default_factory=lambda: readonly(np.zeros(0, np.int32)))
    floats: Array = field(default_factory=lambda: readonly(np.zeros(0, np.float32)))
    joints: int = 0


class PoseEvaluator:
    """Runs programs over a bank with the pose kernel: holds its constant tables and scratch memory for one character.

    With `joints` it evaluates only the first so many, and those the graph's limbs and chains name: the joints of a level of
    detail, whose `palette` it then takes. What it gives for them has the same bits as where all are evaluated.

    Another evaluator of the same programs (on a GPU, say) has the same `run`."""

    def __init__(
        self,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
        *,
        joints: int | None = None,
    ) -> None:
        self.bank, self.palette, self.layout = bank, palette, bank.layout
        layout, J = self.layout, len(bank.skeleton)
        table = aligned_zeros((0 if masks is None else len(masks), layout.mask_size))
        if masks is not None:
            if masks.ndim != 2 or masks.shape[1] not in (J, J + layout.M):
                raise ValidationError(f"masks: expected shape (n, {J}), got {masks.shape}")
            table[:, :J] = masks[:, :J]
            table[:, layout.joints : layout.joints + masks.shape[1] - J] = masks[:, J:]
        self._masks = readonly(table)
        self._procedurals = procedurals or Procedurals()
        self.joints = J if joints is None else max(joints, self._procedurals.joints)
        self._parents = readonly(bank.skeleton.parents[: self.joints])
        self._empty = np.zeros(0, np.float32)
        self._nothing = np.zeros((0, 0), np.float32)
        self._frames = FramePool(self._make_frame)

    def again(
        self,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
        *,
        joints: int | None = None,
    ) -> PoseEvaluator:
        """An evaluator of the same kind for other programs, or for a level of detail."""
        return PoseEvaluator(bank, palette, masks, procedurals, joints=joints)

    def hold(self, memory: Any) -> Array:
        """The memory of instances as programs are run with it: an array."""
        return np.asarray(memory)

    def _make_frame(self) -> Frame:
        """A frame with all that does not change, and scratch memory of its own."""
        bank, layout, empty = self.bank, self.layout, self._empty
        work = PoseWork(
            start=np.zeros(1, np.int64), ops=np.zeros(0, OPERATION), rules=self._rules(0), bank=bank.rows,
            clip_start=bank.start, clip_frames=bank.frames, clip_rate=bank.rate, masks=self._masks.reshape(-1),
            parents=self._parents, palette_joints=self.palette.joints,
            inverse_bind=self.palette.inverse_bind.reshape(-1), memory=self._nothing, vectors=self._nothing,
            ints=self._procedurals.ints, floats=self._procedurals.floats, stack=empty,
            local=aligned_zeros(layout.joints * 16), model=aligned_zeros(layout.joints * 16), out_pose=empty,
            out_model=empty, out_palette=empty, out_morphs=empty, instances=_ALL, Jp=layout.joints, Mp=layout.morphs,
            lanes=padded(self.joints), depth=0, wanted=0,
        )  # fmt: skip
        return kernel.run_programs.frame(work=work, n0=0, n1=0)

    def _rules(self, memory: int) -> Array:
        return rules(
            self.layout,
            clips=len(self.bank),
            masks=len(self._masks),
            memory=memory,
            ints=len(self._procedurals.ints),
        )

    def run(
        self,
        program: Program,
        *,
        memory: Array | None = None,
        vectors: Array | None = None,
        pose: Array | None = None,
        model: Array | None = None,
        palette: Array | None = None,
        morphs: Array | None = None,
        instances: Array | None = None,
        threads: int = 1,
    ) -> None:
        """Evaluates all instances, or some (int64 numbers), into the outputs given: pose rows `(N, layout.size)`, model
        matrices `(N, joints, 3, 4)`, skinning matrices `(N, P, 3, 4)`, weights of the morph channels `(N, layout.morphs)`,
        behind one another. `memory (N, ...)` and `vectors (N, ...)` are what programs keep from one update to the next and
        the places they reach and look for; None where they do neither."""
        memory = self._nothing if memory is None else memory
        vectors = self._nothing if vectors is None else vectors
        wanted = (
            (pose is not None) * kernel.POSE
            | (model is not None) * kernel.MODEL
            | (palette is not None) * kernel.PALETTE
            | (morphs is not None) * kernel.MORPHS
        )
        count = len(program) if instances is None else len(instances)
        if not count:
            return
        chosen = _ALL if instances is None else instances

        outputs = {
            name: out
            for name, out in (("palette", palette), ("model", model), ("pose", pose), ("morphs", morphs))
            if out is not None
        }
        sizes = {"pose": self.layout.size, "morphs": self.layout.morphs, "model": 12 * self.joints}
        sizes["palette"] = 12 * len(self.palette)
        for name, out in outputs.items():
            if out.size != count * sizes[name]:
                raise ValidationError(
                    f"{name}: expected {count} x {sizes[name]} numbers, got shape {out.shape}"
                )
        if threads == 1:
            self._run(program, memory, vectors, outputs, chosen, wanted, 0, count)
        else:
            run_split(
                lambda a, b: self._run(program, memory, vectors, outputs, chosen, wanted, a, b),
                count,
                count * padded(self.joints) * SECONDS_PER_JOINT,
                threads,
            )

    def _run(
        self,
        program: Program,
        memory: Array,
        vectors: Array,
        outputs: dict[str, Array],
        instances: Array,
        wanted: int,
        first: int,
        last: int,
    ) -> None:
        """Instances `first..last`, or those of that list, on the calling thread."""
        frame = self._frames.take()
        self._bind(frame, program, memory, vectors)
        if frame.kept["work.instances"] is not instances:
            frame.put_one("work.instances", instances)
        words = frame.words
        for name, out in outputs.items():
            frame.lend(_OUTPUTS[name], out)
        words[_WANTED], words[_FIRST], words[_LAST] = wanted, first, last
        frame.entry(frame.argument)
        frame.lent.clear()
        wrong, operation = words[_RESULT], words[_RESULT + 1]
        self._frames.give(frame)
        if wrong >= 0:
            raise unsound(program, wrong, operation)

    def _bind(self, frame: Frame, program: Program, memory: Array, vectors: Array) -> None:
        """Puts in what changes now and then; arrays that are there already stay."""
        kept = frame.kept
        if kept["work.start"] is not program.start:
            frame.put_one("work.start", program.start)
        if kept["work.ops"] is not program.ops:
            frame.put_one("work.ops", program.ops)
        if kept["work.memory"] is not memory:
            if len(memory) < len(program) and memory.size:
                raise ValidationError(f"memory: expected {len(program)} rows, got {len(memory)}")
            frame.put_one("work.memory", memory)
            frame.put_one("work.rules", self._rules(memory.shape[1] if len(memory) else 0))
        if kept["work.vectors"] is not vectors:
            frame.put_one("work.vectors", vectors)
        if frame.words[_DEPTH] < program.depth:
            frame.put_one("work.stack", aligned_zeros(program.depth * self.layout.size))
            frame.words[_DEPTH] = program.depth


_ALL = readonly(np.zeros(0, np.int64))
"""The list of instances that stands for all."""
_OUTPUTS = {name: f"work.out_{name}" for name in ("palette", "model", "pose", "morphs")}
_OFFSETS = kernel.run_programs.offsets
_WANTED, _DEPTH, _FIRST, _LAST = (
    _OFFSETS["work.wanted"],
    _OFFSETS["work.depth"],
    _OFFSETS["n0"],
    _OFFSETS["n1"],
)
_RESULT = kernel.run_programs.results


def unsound(program: Program, instance: int, operation: int) -> MarrowError:
    """The error of a program that names what is not there or takes more poses than there are."""
    if not 0 <= instance < len(program):
        return MarrowError(f"there is no instance {instance}: there are {len(program)}")
    if operation >= program.start[instance + 1]:
        return MarrowError(f"the pose program of instance {instance} does not leave exactly one pose")
    code, argument, *_ = program.ops[operation].tolist()
    name = OPERATIONS[code].name if 0 <= code < len(OPERATIONS) else f"operation {code}"
    return MarrowError(f"the pose program of instance {instance} is unsound: {name} {argument}")
