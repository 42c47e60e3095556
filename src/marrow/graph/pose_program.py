"""`PoseProgram`: the pose programs of a crowd, built by the control pass and run by the pose kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import MarrowError, ValidationError
from marrow.kernels import pose_programs as kernel
from marrow.kernels.control_chunks import join_programs
from marrow.kernels.jobs import Job, Pace, thread_count, worth
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.kernels.memory import aligned_zeros, packed, readonly
from marrow.kernels.operations import OPERATION, OPERATIONS, PoseWork, rules
from marrow.kernels.pose_layout import padded
from marrow.model.character import Palette

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph

__all__ = ["PoseEvaluator", "PoseProgram", "PoseProgramBuilder", "Procedurals", "unsound"]

Array = NDArray[Any]
SECONDS_PER_JOINT = 12e-9
"""About what a program takes, as long as nothing was measured."""
SECONDS_PER_COPY = 3e-9
"""About what it takes to copy an operation."""
CHUNKS = 8
"""Chunks for each thread: few are left to wait for at the end."""


class PoseProgram:
    """For instance n the operations `start[n]..start[n + 1]` of `ops`, records (`kernels.operations.OPERATION`) of `code`,
    `argument` (clip, mask, memory...), `time` and `weight`. `depth` is how many poses they stack up at most.

    Those of a crowd may lie anywhere, as threads wrote them: of n from `begins[n]` to `ends[n]` of `rows`. They are put
    behind one another when somebody asks for `start` or `ops`.
    """

    __slots__ = ("begins", "depth", "ends", "joined", "rows")

    def __init__(self, start: Array, ops: Array, depth: int = 4) -> None:
        start = np.asarray(start, np.int64)
        self.begins, self.ends, self.rows, self.depth = start[:-1], start[1:], ops, depth
        self.joined: tuple[Array, Array] | None = (start, ops)
        """`start` and `ops`, once somebody asked for them; None before, and whenever the programs are written anew."""

    @classmethod
    def scattered(cls, begins: Array, ends: Array, rows: Array, depth: int) -> PoseProgram:
        """Programs that lie anywhere in `rows`."""
        made = object.__new__(cls)
        made.begins, made.ends, made.rows, made.depth, made.joined = begins, ends, rows, depth, None
        return made

    @property
    def start(self) -> Array:
        return self._together()[0]

    @property
    def ops(self) -> Array:
        return self._together()[1]

    def _together(self) -> tuple[Array, Array]:
        if self.joined is None:
            start = np.zeros(len(self) + 1, np.int64)
            np.cumsum(self.ends - self.begins, out=start[1:])
            first = int(self.begins[0]) if len(self) else 0
            if np.array_equal(self.begins, first + start[:-1]):  # they do
                self.joined = first + start, self.rows
            else:
                ops = np.empty(int(start[-1]), OPERATION)
                frame = join_programs.frame(
                    starts=self.begins, ends=self.ends, operations=self.rows, places=start[:-1], joined=ops, first=0, last=0
                )  # fmt: skip
                workers = worth(len(ops) * SECONDS_PER_COPY, thread_count(None))
                Job(frame, "first", "last").run(0, len(self), step=256, workers=workers)
                self.joined = start, ops
        return self.joined

    def __len__(self) -> int:
        return len(self.begins)

    def operations(self, n: int) -> list[tuple[int, int, float, float]]:
        """The program of one instance, to read or to hand to the reference interpreter."""
        if not -len(self) <= n < len(self):
            raise ValidationError(f"program {n} does not exist: there are {len(self)}")
        n %= len(self)
        return self.rows[int(self.begins[n]) : int(self.ends[n])].tolist()


class PoseProgramBuilder:
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

    def build(self, depth: int = 4) -> PoseProgram:
        """Lays the columns out instance by instance, in the order they were added."""
        if len(self._columns) == 1 and self._columns[0][0] is None:
            _, code, argument, time, weight = self._columns[0]
            ops = np.empty(self.count, OPERATION)
            ops["code"], ops["argument"], ops["time"], ops["weight"] = code, argument, time, weight
            return PoseProgram(np.arange(self.count + 1), ops, depth)
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
        return PoseProgram(start, ops, depth)


@dataclass(frozen=True, eq=False)
class Procedurals:
    """The constants of the limbs and chains a graph solves (see `kernels.operations.limbs`). They name joints below
    `joints`; `swings` says whether there are springs among them, which take a longer shader and more room,
    `constrained` whether there are constraints, which take more room."""

    ints: Array = field(default_factory=lambda: readonly(np.zeros(0, np.int32)))
    floats: Array = field(default_factory=lambda: readonly(np.zeros(0, np.float32)))
    joints: int = 0
    swings: bool = False
    constrained: bool = False


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
        self._pace = Pace(padded(self.joints) * SECONDS_PER_JOINT)
        self._calls = FramePool(lambda: _PoseCall(self._make_frame(), self.layout.joints))

    @classmethod
    def of(cls, compiled: CompiledGraph) -> PoseEvaluator:
        """That of a compiled graph and its whole character."""
        return cls(compiled.bank, compiled.character.palette, compiled.masks, compiled.procedurals)

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

    def _make_frame(self) -> CallFrame:
        """A frame with all that does not change, and scratch memory of its own."""
        bank, layout, empty = self.bank, self.layout, self._empty
        work = PoseWork(
            before=_ALL, start=_ALL, end=_ALL, ops=np.zeros(0, OPERATION), rules=self._rules(0), bank=bank.rows,
            clip_start=bank.start, clip_frames=bank.frames, clip_rate=bank.rate, clip_packed=bank.packed_at,
            packed=bank.packed, masks=self._masks.reshape(-1),
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
        program: PoseProgram,
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
        chosen = _ALL if instances is None else np.asarray(instances, np.int64)

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
        workers = 1 if threads == 1 else self._pace.workers(count, threads)
        call = self._calls.take()
        frame = call.frame
        self._bind(frame, program, memory, vectors)
        if frame.kept["work.instances"] is not chosen:
            frame.put_one("work.instances", chosen)
        words = frame.words
        for name, out in outputs.items():
            frame.lend(_OUTPUTS[name], out)
        words[_WANTED] = wanted
        began = perf_counter()
        if workers == 1:
            words[_FIRST], words[_LAST] = 0, count
            frame.entry(frame.argument)
            frame.lent.clear()
            wrong, operation = words[_RESULT], words[_RESULT + 1]
        else:
            wrong, operation = call.run(count, workers)
        self._pace.note(perf_counter() - began, count, workers)
        self._calls.give(call)
        if wrong >= 0:
            raise unsound(program, wrong, operation)

    def bound_frame(self, program: PoseProgram, memory: Array, vectors: Array) -> CallFrame:
        """A frame of one's own to run a program with."""
        frame = self._make_frame()
        self._bind(frame, program, memory, vectors)
        return frame

    def _bind(self, frame: CallFrame, program: PoseProgram, memory: Array, vectors: Array) -> None:
        """Puts in what changes now and then; arrays that are there already stay."""
        kept = frame.kept
        if kept["work.start"] is not program.begins:
            frame.put_one("work.start", program.begins)
            frame.put_one("work.end", program.ends)
        if kept["work.ops"] is not program.rows:
            frame.put_one("work.ops", program.rows)
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


class _PoseCall:
    """A frame of the pose kernel, and what each thread has for itself where several run it."""

    def __init__(self, frame: CallFrame, joints: int) -> None:
        self.frame, self._joints = frame, joints
        self._job: Job | None = None
        self._stack = np.zeros(0, np.float32)

    def run(self, count: int, workers: int) -> tuple[int, int]:
        """Runs it over `count` instances; returns what the kernel does."""
        stack = self.frame.kept["work.stack"]
        if self._job is None or self._job.owners < workers or self._stack is not stack:
            self._stack, size = stack, (self._joints * 16, np.float32)
            names = {"work.stack": (len(stack), np.float32), "work.local": size, "work.model": size}
            rooms = [packed(names) for _ in range(workers - 1)]
            self._job = Job(self.frame, "n0", "n1", told=True)
            self._job.own({name: [room[name] for room in rooms] for name in names})
        self._job.run(0, count, step=max(1, min(64, count // (CHUNKS * workers))), workers=workers)
        found = self._job.results
        wrong = found[found[:, 1] >= 0]
        return (int(wrong[0, 1]), int(wrong[0, 2])) if len(wrong) else (-1, -1)


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


def unsound(program: PoseProgram, instance: int, operation: int) -> MarrowError:
    """The error of a program that names what is not there or takes more poses than there are."""
    if not 0 <= instance < len(program):
        return MarrowError(f"there is no instance {instance}: there are {len(program)}")
    if operation >= program.ends[instance]:
        return MarrowError(f"the pose program of instance {instance} does not leave exactly one pose")
    code, argument, *_ = program.rows[operation].tolist()
    name = OPERATIONS[code].name if 0 <= code < len(OPERATIONS) else f"operation {code}"
    return MarrowError(f"the pose program of instance {instance} is unsound: {name} {argument}")
