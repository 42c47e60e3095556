"""`GpuEvaluator`: runs pose programs on a GPU, as `PoseEvaluator` does on the CPU."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.cached import cached_property
from marrow.errors import GpuMemoryError, ValidationError
from marrow.gpu.batches import Batch, GpuJob, batches, parcels
from marrow.gpu.buffers import Buffer, Pages, chunks, usage
from marrow.gpu.clock import Clock
from marrow.gpu.device import Device
from marrow.gpu.handed_poses import hand_over_poses
from marrow.gpu.ik_solver import GpuSolvers
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import (
    ALONE,
    BATCH,
    COMPILED_AT_ONCE,
    OUTPUTS,
    TABLES,
    USUAL,
    WANTED,
    PoseShader,
    shader_text,
)
from marrow.gpu.program_upload import ProgramUpload
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals, unsound
from marrow.kernels.operations.springs import SPRINGS
from marrow.kernels.pose_layout import padded
from marrow.model._derived import derived
from marrow.model.character import Palette

__all__ = ["GpuEvaluator"]

Array = NDArray[Any]
SCRATCH = 1 << 28
"""Bytes of a buffer for the stacks of instances that run at once, at most; more instances take turns."""
STEP = 64
"""Whole numbers from what one dispatch is told to what the next is: uniforms begin at multiples of 256 bytes."""
_TOLD = {name: k for k, name in enumerate(BATCH)}
WIDEST = 256
"""Invocations of a workgroup, at most."""


class _Shared:
    """What evaluators of one crowd share: clips, the long operations that occurred so far, and the buffers for what is
    handed over at every update. What stays the same lies at the beginning of `program`, up to `fixed` (words of four
    bytes)."""

    def __init__(self, device: Device, bank: ClipBank) -> None:
        self.device, self.clips = device, bank
        self.bank_size = device.max_binding // 4
        self.banks = [
            Buffer.of(device, bank.rows[first:last], label="clips")
            for first, last in chunks(max(1, len(bank.rows)), self.bank_size)
        ]
        self.program = Buffer(device, 4, label="pose programs")
        self.fixed = 0
        self.packed = self.keep(bank.packed) if len(bank.packed) else 0
        self.told = Buffer(device, 4 * STEP, label="batches", flags=usage("uniform"))
        self.scratch = Buffer(device, 4, label="stacks of poses")
        self.nothing = Buffer(device, 16, label="nothing")
        self.upload = ProgramUpload()
        self.table = np.zeros((4, STEP), np.int32)
        self.alone: set[int] = set()
        self.double = "shader-f64" in device.raw.features

    @cached_property
    def solvers(self) -> GpuSolvers:
        """What solves for whole bodies."""
        return GpuSolvers(self.device, double=self.double)

    def keep(self, words: Array) -> int:
        """Puts tables behind those that are there; where they begin."""
        at = self.fixed
        self.program.write(words, 4 * at)
        self.fixed = at + len(words)
        return at


class GpuEvaluator(PoseEvaluator):
    """Holds what does not change of one character (or of a level of it) in GPU memory. `run` takes and fills arrays, as
    that of a `PoseEvaluator`; `submit` leaves results in GPU memory."""

    def __init__(
        self,
        device: Device,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
        *,
        joints: int | None = None,
        shared: _Shared | None = None,
    ) -> None:
        if device.adapter.is_software:
            # Where the CPU stands in for a GPU, the shader of packed clips takes minutes to compile.
            bank = derived(bank, "unpacked", bank.unpacked)
        super().__init__(bank, palette, masks, procedurals, joints=joints)
        self.device = device
        self.on_cpu = self._procedurals.swings and device.adapter.is_software
        """Whether the CPU makes the poses, and hands them over. Where it stands in for a GPU, the shader of springs takes
        minutes to compile."""
        self.shared = shared if shared is not None and shared.clips is bank else _Shared(device, bank)
        self.status = Pages(device, 4, label="status", dtype=np.int32)
        self._tables: dict[int, dict[str, int]] = {}
        self._rows: dict[tuple[int, ...], Array] = {}
        self._bound: dict[tuple[int, bool], tuple[list[Any], Any, PoseShader, Any]] = {}
        self._order, self._levels = _levels(self._parents)
        self._ancestors = _ancestors(self._parents, padded(self.joints))

    def again(
        self,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
        *,
        joints: int | None = None,
    ) -> GpuEvaluator:
        return GpuEvaluator(self.device, bank, palette, masks, procedurals, joints=joints, shared=self.shared)

    def hold(self, memory: Any) -> Any:
        """The memory of instances on the GPU; an array where the CPU makes the poses."""
        if self.on_cpu:
            return super().hold(memory)
        held = memory if isinstance(memory, GpuMemory) else GpuMemory.of(self.device, memory)
        held.solvers = self.shared.solvers
        return held

    def pages(self, name: str) -> Pages:
        """Empty room for results: `palette`, `model`, `pose` or `morphs`."""
        shapes = {
            "palette": (len(self.palette.joints), 3, 4), "model": (self.joints, 3, 4), "pose": (self.layout.size,),
            "morphs": (self.layout.M,),
        }  # fmt: skip
        shape = shapes[name]
        return Pages(self.device, max(4, 4 * int(np.prod(shape))), label=name, dtype=np.float32, shape=shape)

    # -- shaders ----------------------------------------------------------------------------------------------------
    def expect(self, codes: Iterable[int]) -> None:
        """Operations that programs may have: of those that run alone, which are long, the shader has only such as were
        expected or occurred."""
        found = ALONE.intersection(codes)
        # In software compiling takes longest of all: one shader serves every graph.
        self.shared.alone |= found | COMPILED_AT_ONCE if found and self.device.adapter.is_software else found

    def room(self, depth: int) -> int:
        """Floats that an instance needs while its program runs: so many poses, and matrices."""
        spare = 2 if self._procedurals.swings or self._procedurals.constrained else 1
        return max(1, depth * self.layout.size + spare * 16 * self.layout.joints)

    @cached_property
    def shader(self) -> PoseShader:
        """The shader in which a workgroup runs the program of an instance."""
        shared, limits = self.shared, self.device.limits
        banks, joints = len(shared.banks), padded(self.joints)
        most = min(WIDEST, limits["max-compute-invocations-per-workgroup"])
        # In software invocations take turns: few of them do.
        needed = max(joints, self.layout.morphs, 32)
        jumps = needed <= most and not self.device.adapter.is_software
        lanes = 1 << (needed - 1).bit_length() if jumps else 32
        operations = USUAL | {SPRINGS.code} if self._procedurals.swings else USUAL
        packed = len(self.bank.packed) > 0
        made = PoseShader(
            lanes, banks, shared.bank_size if banks > 1 else 0, jumps, operations, packed=packed
        )
        buffers = limits["max-storage-buffers-per-shader-stage"]
        if len(made.bindings) - 1 > buffers:
            raise GpuMemoryError(
                f"the clips take {self.bank.rows.nbytes:,} bytes: on {self.device.adapter.name}, where a shader sees "
                f"{buffers} buffers of {self.device.max_binding:,} bytes, that is too much; resample them at a lower "
                "rate or drop some"
            )
        return made

    def shaders(self) -> list[PoseShader]:
        """That one, and the one for operations that run alone, with those that were expected or occurred."""
        double, alone = self.shared.double, frozenset(self.shared.alone)
        return (
            [self.shader, PoseShader(lanes=32, operations=alone, double=double)] if alone else [self.shader]
        )

    def pipeline(self, shader: PoseShader) -> Any:
        """A compiled shader."""
        return self.device.compute_pipeline(shader_text(shader), label="pose programs")

    def compile(self) -> None:
        """Compiles the shaders now rather than when they are needed."""
        if self.on_cpu:
            return
        for shader in self.shaders():
            self.pipeline(shader)

    def _most(self, depth: int) -> int:
        """How many instances may run at once."""
        room, most = 4 * self.room(depth), self.device.max_binding
        if room > most:
            raise GpuMemoryError(
                f"the poses of one instance take {room:,} bytes, more than the {most:,} that "
                f"{self.device.adapter.name} lets a shader see"
            )
        return min(self.device.max_workgroups, max(1, min(SCRATCH, most) // room))

    def _sizes(self, memory: int) -> dict[str, int]:
        """Sizes of the character, and where its tables begin; what operations may name depends on how much memory there
        is."""
        if memory not in self._tables:
            bank, given, layout = self.bank, self._procedurals, self.layout
            floats = (self._masks.reshape(-1), given.floats, self.palette.inverse_bind.reshape(-1), bank.rate)
            masks, numbers, inverse_bind, rate = (
                np.ascontiguousarray(a, np.float32).view(np.int32) for a in floats
            )
            parts = {
                "rules": np.minimum(self._rules(memory), 2**31 - 1), "parents": self._parents, "levels": self._levels,
                "level_joints": self._order, "ancestors": self._ancestors.reshape(-1), "ints": given.ints,
                "palette_joints": self.palette.joints, "clip_start": bank.start, "clip_frames": bank.frames,
                "clip_rate": rate, "clip_packed": bank.packed_at, "masks": masks, "floats": numbers,
                "inverse_bind": inverse_bind,
            }  # fmt: skip
            words = [np.asarray(parts[name]).astype(np.int32) for name in TABLES]
            begins = self.shared.keep(np.concatenate(words)) + np.cumsum([0, *(len(w) for w in words[:-1])])
            self._tables[memory] = {
                "row": layout.joints, "morph_lanes": layout.morphs, "lanes": padded(self.joints), "joints": self.joints,
                "morphs": layout.M, "palette": len(self.palette.joints), "memory": memory,
                "level_count": len(self._levels) - 1, "rounds": len(self._ancestors),
                "ints_count": len(given.ints), "floats_count": len(given.floats), "masks_count": len(masks),
                **dict(zip(TABLES, begins.tolist())), "packed": self.shared.packed,
            }  # fmt: skip
        return self._tables[memory]

    def _row(self, memory: int, vectors: int, depth: int, wanted: int) -> Array:
        """What a dispatch is told, `(STEP,)`, as far as that stays the same from update to update."""
        key = (memory, vectors, depth, wanted)
        if key not in self._rows:
            own = {
                **self._sizes(memory), "vectors": vectors, "depth": depth, "matrices": depth * self.layout.size,
                "room": self.room(depth), "wanted": wanted,
            }  # fmt: skip
            row = np.zeros(STEP, np.int32)
            row[: len(BATCH)] = [own.get(name, 0) for name in BATCH]
            self._rows[key] = row
        return self._rows[key]

    # -- running ----------------------------------------------------------------------------------------------------
    def run(
        self,
        program: PoseProgram,
        *,
        memory: Any = None,
        vectors: Array | None = None,
        pose: Array | None = None,
        model: Array | None = None,
        palette: Array | None = None,
        morphs: Array | None = None,
        instances: Array | None = None,
        threads: int = 1,
    ) -> None:
        """See `PoseEvaluator.run`. `memory` may be an array, which is then carried to the GPU and back."""
        if self.on_cpu:
            super().run(
                program, memory=memory, vectors=vectors, pose=pose, model=model, palette=palette, morphs=morphs,
                instances=instances, threads=threads,
            )  # fmt: skip
            return
        if instances is not None:
            instances = np.ascontiguousarray(instances, np.int64)
            if instances.size and (instances[0] < 0 or instances[-1] >= len(program)):
                raise unsound(program, int(instances[0] if instances[0] < 0 else instances[-1]), 0)
        count = len(program) if instances is None else len(instances)
        if not count:
            return
        given = {"pose": pose, "model": model, "palette": palette, "morphs": morphs}
        outputs = {name: self.pages(name) for name, array in given.items() if array is not None}
        kept = (
            memory if memory is None or isinstance(memory, GpuMemory) else GpuMemory.of(self.device, memory)
        )
        # Of the results that share a buffer of the shader, one comes at a time.
        shared = [name for name in outputs if OUTPUTS[name][0] == "results"]
        first = {name: outputs[name] for name in outputs if name not in shared[1:]}
        self.submit([GpuJob(self, instances, first)], program, kept, vectors)
        for name in shared[1:]:
            again = kept if kept is memory else GpuMemory.of(self.device, memory)
            self.submit([GpuJob(self, instances, {name: outputs[name]})], program, again, vectors)
        if not outputs and kept is memory:
            return
        self.check(program, instances, count)
        for name, pages in outputs.items():
            into = given[name]
            assert into is not None
            found = pages.numpy()[:count]
            if name == "morphs":
                into.reshape(count, -1)[:, : self.layout.M] = found
            else:
                into[...] = found.reshape(into.shape)
        if kept is not None and kept is not memory:
            memory[...] = kept.copy()

    def check(self, program: PoseProgram, instances: Array | None, count: int) -> None:
        """Raises the error of the first program that names what is not there. Waits for the GPU."""
        if self.on_cpu:
            return  # it was raised when the programs were run
        status = self.status.numpy()[:count].reshape(-1)
        wrong = np.flatnonzero(status)
        if len(wrong):
            n = int(wrong[0] if instances is None else instances[wrong[0]])
            joined = PoseProgram(program.start, program.ops, program.depth)
            raise unsound(joined, n, int(status[wrong[0]]) - 1)

    def submit(
        self,
        jobs: Sequence[GpuJob],
        program: PoseProgram,
        memory: Any,
        vectors: Array | None,
        timer: Clock | None = None,
        *,
        threads: int = 1,
    ) -> None:
        """Runs the programs of the jobs' instances, without waiting for the results."""
        if self.on_cpu:
            hand_over_poses(jobs, program, memory, vectors, threads)
            return
        if memory is not None and memory.size and len(memory) < len(program):
            raise ValidationError(f"memory: expected {len(program)} rows, got {len(memory)}")
        for job in jobs:
            count = len(program) if job.instances is None else len(job.instances)
            for pages in (job.evaluator.status, *job.outputs.values()):
                pages.resize(count)
        places = self.shared.upload.take(program)
        for first, last in parcels(places, max(1, self.device.max_binding // 32)):
            self._hand_over(jobs, program.depth, memory, vectors, first, last, timer)

    def _hand_over(
        self,
        jobs: Sequence[GpuJob],
        depth: int,
        memory: GpuMemory | None,
        vectors: Array | None,
        first: int,
        last: int,
        timer: Clock | None,
    ) -> None:
        """The instances `first..last`, whose operations are handed over at once."""
        shared, device, upload = self.shared, self.device, self.shared.upload
        upload.begin(first, last)
        self.expect(upload.alone)
        columns = memory.shape[1] if memory is not None else 0
        width = vectors.shape[1] if vectors is not None and vectors.size else 0
        told: list[tuple[Array, Batch, int, int, int]] = []
        dispatches: list[tuple[GpuEvaluator, Batch, bool, int]] = []
        for job in jobs:
            row = job.evaluator._row(columns, width, depth, sum(WANTED[n] for n in job.outputs))
            for batch in batches(job, memory, first, last, job.evaluator._most(depth)):
                vector = upload.put(vectors[batch.taken]) if width else 0  # type: ignore[index]
                for alone, at, count in upload.steps(batch):
                    told.append((row, batch, vector, at, count))
                    dispatches.append((job.evaluator, batch, alone, count))
        if not dispatches:
            return
        # The tables of levels that came up just now lie before what is handed over.
        words = shared.fixed + 4 * len(upload.operations)
        shared.program.reserve(4 * (words + upload.size), keep=True)
        device.write(shared.program.raw, upload.operations, 4 * shared.fixed)
        device.write(shared.program.raw, upload.words[: upload.size], 4 * words)
        shared.told.write(self._table(told, words))
        most = max(batch.count for _, batch, _, _ in dispatches)
        shared.scratch.reserve(4 * self.room(depth) * most)
        with device.guard("posing"):
            encoder = device.raw.create_command_encoder()
            work = encoder.begin_compute_pass(**({} if timer is None else timer.writes("poses")))
            for k, (evaluator, batch, alone, count) in enumerate(dispatches):
                evaluator._dispatch(work, k, batch, alone, count)
            work.end()
            if timer is not None:
                timer.finish(encoder)
            device.raw.queue.submit([encoder.finish()])

    def _table(self, told: Sequence[tuple[Array, Batch, int, int, int]], words: int) -> Array:
        """What the dispatches are told, `(n, STEP)`: of each its own row, the batch, and where in the words, which begin at
        `words`, its vectors and records are."""
        shared, upload = self.shared, self.shared.upload
        if len(shared.table) < len(told):
            shared.table = np.zeros((2 * len(told), STEP), np.int32)
        table = shared.table[: len(told)]
        for k, (row, batch, vector, at, count) in enumerate(told):
            table[k] = row
            own = table[k]
            own[_TOLD["first_record"]], own[_TOLD["records"]] = words + at, count
            own[_TOLD["first_vector"]], own[_TOLD["count"]] = words + vector, batch.count
            for name, first in batch.rows.items():
                own[_TOLD[f"{name}_row"]] = first
        table[:, _TOLD["first_operation"]], table[:, _TOLD["base"]] = shared.fixed, upload.base
        table[:, _TOLD["operations"]] = len(upload.operations)
        return table

    def _dispatch(self, work: Any, k: int, batch: Batch, alone: bool, count: int) -> None:
        shared, nothing = self.shared, self.shared.nothing
        pages = batch.pages
        results = [
            pages[name] for name, (buffer, _) in OUTPUTS.items() if buffer == "results" and name in pages
        ]
        used = {
            "program": shared.program, "memory": batch.memory or nothing, "status": pages["status"],
            "scratch": shared.scratch, "palettes": pages.get("palette", nothing), "results": [*results, nothing][0],
        }  # fmt: skip
        now = [shared.told.raw, len(shared.alone), *(buffer.raw for buffer in used.values())]
        kept = self._bound.get((k, alone))
        if kept is None or not all(map(operator.is_, kept[0], now)):
            shader = self.shaders()[1] if alone else self.shader
            pipeline, most = self.pipeline(shader), self.device.max_binding
            used |= {f"bank_{n}" if n else "bank": bank for n, bank in enumerate(shared.banks)}
            views = {name: (b.raw, 0, min(b.size, most)) for name, b in used.items()}
            views["batch"] = (shared.told.raw, 4 * STEP * k, 4 * STEP)
            group = self.device.bind(pipeline, [views[name] for name in shader.bindings])
            kept = self._bound[k, alone] = (now, group, shader, pipeline)
        _, group, shader, pipeline = kept
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(-(-count // shader.lanes) if alone else count)


def _ancestors(parents: Array, lanes: int) -> Array:
    """For each joint its ancestor 1, 2, 4, ... levels above it (-1: none), as many rows as it takes to reach every
    root."""
    rows, now = [], np.full(lanes, -1, np.int64)
    now[: len(parents)] = parents
    while (now >= 0).any():
        rows.append(now)
        now = np.where(now >= 0, now[now], -1)
    return np.array(rows, np.int32).reshape(len(rows), lanes)


def _levels(parents: Array) -> tuple[Array, Array]:
    """The joints by depth, and where each depth begins among them, and the end."""
    depth = np.zeros(len(parents), np.int64)
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            depth[j] = depth[p] + 1
    order = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[order], np.arange(depth.max(initial=-1) + 2))
    return order.astype(np.int32), edges.astype(np.int32)
