"""`GpuEvaluator`: runs pose programs on a GPU, as `PoseEvaluator` does on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import GpuMemoryError, MarrowError
from marrow.gpu.buffers import Buffer, Pages, chunks, usage
from marrow.gpu.clock import Clock
from marrow.gpu.device import Device
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import BATCH, OUTPUTS, RECORD, TABLES, WANTED, PoseShader, shader_text
from marrow.graph.program import PoseEvaluator, Procedurals, Program, unsound
from marrow.kernels.pose_layout import padded
from marrow.model.character import Palette

__all__ = ["GpuEvaluator", "Job"]

Array = NDArray[Any]
ROOMS = tuple(1024 * k for k in (4, 8, 12, 16, 24, 32, 48))
"""Bytes of a workgroup's memory that shaders are written for."""
SCRATCH = 1 << 26
"""Bytes of a buffer for stacks that a workgroup's own memory has no room for; more instances than fit take turns."""
_ROWS = {"status": "status_row", "palette": "palette_row", "morphs": "morphs_row", "pose": "pose_row", "model": "model_row"}  # fmt: skip


@dataclass
class Job:
    """Some instances (numbers in order; None: all) and where an evaluator puts their results, behind one another."""

    evaluator: GpuEvaluator
    instances: Array | None
    outputs: dict[str, Pages] = field(default_factory=dict)


class _Shared:
    """What evaluators of one crowd share: clips, and the buffers for what is handed over at every update. What stays the same
    lies at the beginning of `program`, up to `fixed` (a word of four bytes each)."""

    def __init__(self, device: Device, bank: ClipBank) -> None:
        self.device, self.clips = device, bank
        self.bank_size = device.max_binding // 4
        self.banks = [
            Buffer.of(device, bank.rows[first:last], label="clips")
            for first, last in chunks(max(1, len(bank.rows)), self.bank_size)
        ]
        self.program = Buffer(device, 4, label="pose programs")
        self.fixed = 0
        self.batches = Buffer(device, 256, label="batches", flags=usage("uniform"))
        self.scratch = Buffer(device, 4, label="stacks of poses")
        self.nothing = Buffer(device, 16, label="nothing")

    def keep(self, words: Array) -> int:
        """Puts tables behind those that are there; where they begin."""
        at = self.fixed
        self.program.write(words, 4 * at)
        self.fixed = at + len(words)
        return at


class GpuEvaluator(PoseEvaluator):
    """Holds what does not change of one character (or of a level of it) in GPU memory. `run` takes and fills arrays, as that of
    a `PoseEvaluator`; `submit` leaves results in GPU memory."""

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
        super().__init__(bank, palette, masks, procedurals, joints=joints)
        self.device = device
        self.shared = shared if shared is not None and shared.clips is bank else _Shared(device, bank)
        self.status = Pages(device, 4, label="status")
        self._tables: dict[int, dict[str, int]] = {}
        self._bound: dict[Any, Any] = {}
        self._order, self._levels = _levels(self._parents)

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

    # -- programs ---------------------------------------------------------------------------------------------------
    def _sizes(self, memory: int) -> dict[str, int]:
        """Sizes of the character, and where its tables begin; what operations may name depends on how much memory there is."""
        if memory not in self._tables:
            bank, given, layout = self.bank, self._procedurals, self.layout
            floats = (self._masks.reshape(-1), given.floats, self.palette.inverse_bind.reshape(-1), bank.rate)
            masks, numbers, inverse_bind, rate = (
                np.ascontiguousarray(a, np.float32).view(np.int32) for a in floats
            )
            parts = {
                "rules": np.minimum(self._rules(memory), 2**31 - 1), "parents": self._parents, "levels": self._levels,
                "level_joints": self._order, "palette_joints": self.palette.joints, "ints": given.ints, "clip_start": bank.start,
                "clip_frames": bank.frames, "clip_rate": rate, "masks": masks, "floats": numbers, "inverse_bind": inverse_bind,
            }  # fmt: skip
            words = [np.asarray(parts[name]).astype(np.int32) for name in TABLES]
            begins = self.shared.keep(np.concatenate(words)) + np.cumsum([0, *(len(w) for w in words[:-1])])
            self._tables[memory] = {
                "row": layout.joints, "morph_lanes": layout.morphs, "lanes": padded(self.joints), "joints": self.joints,
                "morphs": layout.M, "palette": len(self.palette.joints), "memory": memory, "level_count": len(self._levels) - 1,
                "ints_count": len(given.ints), "floats_count": len(given.floats), **dict(zip(TABLES, begins.tolist())),
            }  # fmt: skip
        return self._tables[memory]

    def room(self, depth: int) -> int:
        """Floats that an instance needs while its program runs: so many poses, and matrices."""
        return depth * self.layout.size + 16 * self.layout.joints

    def shader(self, depth: int) -> PoseShader:
        """The shader for programs that stack up so many poses."""
        shared, limits, software = self.shared, self.device.limits, self.device.adapter.is_software
        most, needed = limits["max-compute-workgroup-storage-size"], 4 * self.room(depth)
        sizes = [size for size in ROOMS if needed <= size <= most]
        # A little memory lets more workgroups run at once; in software that does not matter, and compiling takes long.
        room = 0 if not sizes else sizes[-1] if software else sizes[0]
        lanes = 32 if self.joints <= 32 and not software else 64
        made = PoseShader(
            room // 4, lanes, len(shared.banks), shared.bank_size if len(shared.banks) > 1 else 0
        )
        most = limits["max-storage-buffers-per-shader-stage"]
        if len(made.bindings) - 1 > most:
            raise GpuMemoryError(
                f"the clips take {self.bank.rows.nbytes:,} bytes: on {self.device.adapter.name}, where a shader sees {most} "
                f"buffers of {self.device.max_binding:,} bytes, that is too much; resample them at a lower rate or drop some"
            )
        return made

    def pipeline(self, depth: int) -> Any:
        """The compiled shader for programs that stack up so many poses."""
        return self.device.compute_pipeline(shader_text(self.shader(depth)), label="pose programs")

    # -- running ----------------------------------------------------------------------------------------------------
    def run(
        self,
        program: Program,
        *,
        memory: Any = None,
        vectors: Array | None = None,
        pose: Array | None = None,
        model: Array | None = None,
        palette: Array | None = None,
        instances: Array | None = None,
        threads: int = 1,
    ) -> None:
        """See `PoseEvaluator.run`. `memory` may be an array, which is then carried to the GPU and back."""
        count = len(program) if instances is None else len(instances)
        if not count:
            return
        given = {"pose": pose, "model": model, "palette": palette}
        outputs = {n: Pages(self.device, stride(self, n), label=n) for n, a in given.items() if a is not None}
        kept = (
            memory if isinstance(memory, GpuMemory) or memory is None else GpuMemory.of(self.device, memory)
        )
        # Poses and model-space matrices come one after the other, since they share a buffer of the shader.
        together = {name: pages for name, pages in outputs.items() if name != "model" or pose is None}
        before = kept.copy() if kept is not None and len(together) < len(outputs) else None
        self.submit([Job(self, instances, together)], program, kept, vectors)
        if len(together) < len(outputs):
            again = None if before is None else GpuMemory.of(self.device, before)
            self.submit([Job(self, instances, {"model": outputs["model"]})], program, again, vectors)
        if not outputs and kept is memory:
            return
        self.check(program, instances, count)
        for name, pages in outputs.items():
            into = given[name]
            assert into is not None
            into[...] = pages.numpy(np.float32, (self._width(name),))[:count].reshape(into.shape)
        if kept is not memory:
            memory[...] = kept.copy()

    def _width(self, name: str) -> int:
        return stride(self, name) // 4

    def check(self, program: Program, instances: Array | None, count: int) -> None:
        """Raises the error of the first program that names what is not there. Waits for the GPU."""
        status = self.status.numpy(np.int32, ())[:count]
        wrong = np.flatnonzero(status)
        if len(wrong):
            n = int(wrong[0] if instances is None else instances[wrong[0]])
            raise unsound(program, n, int(program.start[n]) + int(status[wrong[0]]) - 1)

    def submit(
        self,
        jobs: Sequence[Job],
        program: Program,
        memory: GpuMemory | None,
        vectors: Array | None,
        timer: Clock | None = None,
    ) -> None:
        """Runs the programs of the jobs' instances, without waiting for the results."""
        columns = 0 if memory is None else memory.shape[1]
        if memory is not None and len(memory) < len(program) and memory.size:
            raise MarrowError(f"memory: expected {len(program)} rows, got {len(memory)}")
        for job in jobs:
            count = len(program) if job.instances is None else len(job.instances)
            for pages in (job.evaluator.status, *job.outputs.values()):
                pages.resize(count)
        most = max(1, self.device.max_binding // 16 // 2)
        for first, last in _parcels(program.start, most):
            self._parcel(jobs, program, memory, columns, vectors, first, last, timer)

    def _parcel(
        self, jobs: Sequence[Job], program: Program, memory: Any, columns: int, vectors: Array | None, first: int, last: int,
        timer: Clock | None,
    ) -> None:  # fmt: skip
        """The instances `first..last`, whose operations are handed over at once."""
        start, shared = program.start, self.shared
        base = int(start[first])
        operations = program.ops[max(0, base) : max(0, int(start[last]))]
        words: list[Array] = []
        for job in jobs:
            job.evaluator._sizes(columns)
        begin = shared.fixed
        at, headers, dispatches = begin + 4 * len(operations), [], []
        wide = 0 if vectors is None else vectors.shape[1]
        for job in jobs:
            evaluator = job.evaluator
            depth, wanted = program.depth, sum(WANTED[name] for name in job.outputs)
            sizes = {
                **evaluator._sizes(columns), "vectors": wide, "depth": depth, "matrices": depth * self.layout.size,
                "room": evaluator.room(depth), "wanted": wanted,
            }  # fmt: skip
            for batch in _batches(job, memory, columns, first, last, evaluator.turns(depth)):
                records = np.empty((len(batch.instances), len(RECORD)), np.int32)
                records[:, 0] = start[batch.instances] - base
                records[:, 1] = start[batch.instances + 1] - base
                records[:, 2] = batch.instances - batch.memory_row
                told = np.zeros(len(BATCH), np.int32)
                rows = {_ROWS[name]: row for name, row in batch.rows.items()}
                own = {
                    **sizes,
                    "first_operation": begin,
                    "operations": len(operations),
                    "first_record": at,
                    "count": len(records),
                    **rows,
                }
                words.append(records.reshape(-1))
                at += records.size
                own["first_vector"] = at
                if vectors is not None and vectors.size:
                    words.append(
                        np.ascontiguousarray(vectors[batch.chosen], np.float32).view(np.int32).reshape(-1)
                    )
                    at += words[-1].size
                for name, value in own.items():
                    told[BATCH.index(name)] = value
                headers.append(told)
                dispatches.append((evaluator, batch))
        if not dispatches:
            return
        shared.program.reserve(4 * at, keep=True)
        self.device.write(shared.program.raw, operations.view(np.int32), 4 * begin)
        self.device.write(shared.program.raw, np.concatenate(words), 4 * begin + 16 * len(operations))
        told = np.zeros((len(headers), 64), np.int32)
        told[:, : len(BATCH)] = headers
        shared.batches.write(told)
        with self.device.guard("posing"):
            encoder = self.device.raw.create_command_encoder()
            work = encoder.begin_compute_pass(**({} if timer is None else timer.writes("poses")))
            for k, (evaluator, batch) in enumerate(dispatches):
                evaluator._dispatch(work, k, program.depth, batch)
            work.end()
            if timer is not None:
                timer.finish(encoder)
            self.device.raw.queue.submit([encoder.finish()])

    def _dispatch(self, work: Any, k: int, depth: int, batch: _Batch) -> None:
        shared, shader, pipeline = self.shared, self.shader(depth), self.pipeline(depth)
        if not shader.room:
            shared.scratch.reserve(4 * self.room(depth) * min(len(batch.instances), self.turns(depth)))
        buffers = dict.fromkeys(("memory", "palettes", "morphs", "results"), shared.nothing)
        buffers |= {"program": shared.program, "scratch": shared.scratch}
        buffers |= {f"bank_{n}" if n else "bank": bank for n, bank in enumerate(shared.banks)}
        buffers |= {OUTPUTS[name][0]: page for name, page in batch.pages.items()}
        if batch.memory is not None:
            buffers["memory"] = batch.memory
        key = (shader, k, shared.batches.version, *((id(b), b.version) for b in buffers.values()))
        if key not in self._bound:
            if len(self._bound) > 64:
                self._bound.clear()
            raws = [
                (shared.batches.raw, 256 * k, 256)
                if name == "batch"
                else _visible(self.device, buffers[name])
                for name in shader.bindings
            ]
            self._bound[key] = (self.device.bind(pipeline, raws), list(buffers.values()))
        work.set_pipeline(pipeline)
        work.set_bind_group(0, self._bound[key][0])
        work.dispatch_workgroups(len(batch.instances))

    def turns(self, depth: int) -> int:
        """How many instances may run at once."""
        most = self.device.max_workgroups
        if not self.shader(depth).room:
            room = 4 * self.room(depth)
            if room > self.device.max_binding:
                raise GpuMemoryError(
                    f"the poses of one instance take {room:,} bytes, more than the {self.device.max_binding:,} that "
                    f"{self.device.adapter.name} lets a shader see"
                )
            most = min(most, max(1, min(SCRATCH, self.device.max_binding) // room))
        return most


def _visible(device: Device, buffer: Buffer) -> Any:
    """As much of a buffer as a shader may see."""
    return (buffer.raw, 0, min(buffer.size, device.max_binding))


def stride(evaluator: GpuEvaluator, name: str) -> int:
    """Bytes of one result."""
    layout = evaluator.layout
    sizes = {
        "palette": 48 * len(evaluator.palette.joints), "model": 48 * evaluator.joints, "pose": 4 * layout.size, "morphs": 4 * layout.M,
    }  # fmt: skip
    return max(4, sizes[name])


def _levels(parents: Array) -> tuple[Array, Array]:
    """The joints by depth, and where each depth begins among them, and the end."""
    depth = np.zeros(len(parents), np.int64)
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            depth[j] = depth[p] + 1
    order = np.argsort(depth, kind="stable")
    return order.astype(np.int32), np.searchsorted(depth[order], np.arange(depth.max(initial=-1) + 2)).astype(
        np.int32
    )


def _parcels(start: Array, most: int) -> Any:
    """Runs of instances with at most so many operations together."""
    first, count = 0, len(start) - 1
    while first < count:
        last = int(np.searchsorted(start, start[first] + most, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


@dataclass
class _Batch:
    """Instances of one dispatch: their numbers, which of the crowd's rows they are, and the page and row of every result."""

    instances: Array
    chosen: Any
    memory: Buffer | None
    memory_row: int
    pages: dict[str, Buffer]
    rows: dict[str, int]


def _batches(job: Job, memory: GpuMemory | None, columns: int, first: int, last: int, most: int) -> Any:
    """The job's instances among `first..last`, in runs within one page of every buffer."""
    evaluator = job.evaluator
    chosen = np.arange(first, last) if job.instances is None else job.instances
    begin, end = (
        (0, len(chosen)) if job.instances is None else np.searchsorted(chosen, (first, last)).tolist()
    )
    slot = first if job.instances is None else 0  # the result of the first of `chosen`
    outputs = {"status": evaluator.status, **job.outputs}
    cuts = {begin, end}
    for pages in outputs.values():
        cuts |= {k - slot for k in range(0, slot + end + 1, pages.per_page)}
    if memory is not None and columns:
        cuts |= set(np.searchsorted(chosen, np.arange(0, len(memory), memory.pages.per_page)).tolist())
    edges = sorted(k for k in cuts if begin <= k <= end)
    return (
        _batch(job, memory, columns, outputs, chosen, slot, a, b)
        for low, high in zip(edges, edges[1:])
        for a, b in ((low + x, low + y) for x, y in chunks(high - low, most))
    )


def _batch(
    job: Job, memory: GpuMemory | None, columns: int, outputs: dict[str, Pages], chosen: Array, slot: int, a: int, b: int
) -> _Batch:  # fmt: skip
    instances = chosen[a:b]
    page, row = None, 0
    if memory is not None and columns:
        number = int(instances[0]) // memory.pages.per_page
        page, row = memory.pages.buffers[number], number * memory.pages.per_page
    pages, rows = {}, {}
    for name, results in outputs.items():
        number, inside = divmod(slot + a, results.per_page)
        pages[name], rows[name] = results.buffers[number], inside
    together = slice(int(instances[0]), int(instances[-1]) + 1) if job.instances is None else instances
    return _Batch(instances, together, page, row, pages, rows)
