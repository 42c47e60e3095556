"""`GpuEvaluator`: runs pose programs on a GPU, as `PoseEvaluator` does on the CPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.errors import GpuMemoryError, ValidationError
from marrow.gpu.batches import STEP, Batch, Job, Parcel, batches, parcels
from marrow.gpu.buffers import Buffer, Pages, chunks, usage
from marrow.gpu.clock import Clock
from marrow.gpu.device import Device
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import ALONE, OUTPUTS, TABLES, WANTED, PoseShader, shader_text
from marrow.graph.program import PoseEvaluator, Procedurals, Program, unsound
from marrow.kernels.pose_layout import padded
from marrow.model.character import Palette

__all__ = ["GpuEvaluator"]

Array = NDArray[Any]
ROOMS = tuple(1024 * k for k in (4, 8, 12, 16, 24, 32, 48))
"""Bytes of a workgroup's memory that shaders are written for."""
SCRATCH = 1 << 26
"""Bytes of a buffer for stacks that a workgroup's own memory has no room for; more instances than fit take turns."""
KEPT = 64
"""Bind groups that are kept for next time."""


class _Shared:
    """What evaluators of one crowd share: clips, the long operations that occurred so far, and the buffers for what is handed over
    at every update. What stays the same lies at the beginning of `program`, up to `fixed` (words of four bytes)."""

    def __init__(self, device: Device, bank: ClipBank) -> None:
        self.device, self.clips = device, bank
        self.bank_size = device.max_binding // 4
        self.banks = [
            Buffer.of(device, bank.rows[first:last], label="clips")
            for first, last in chunks(max(1, len(bank.rows)), self.bank_size)
        ]
        self.program = Buffer(device, 4, label="pose programs")
        self.fixed = 0
        self.told = Buffer(device, 4 * STEP, label="batches", flags=usage("uniform"))
        self.scratch = Buffer(device, 4, label="stacks of poses")
        self.nothing = Buffer(device, 16, label="nothing")
        self.alone: set[int] = set()

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
        self.status = Pages(device, 4, label="status", dtype=np.int32)
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
        """Operations that programs may have. The shader has those of the long ones that were expected or occurred: one with all
        of them would be slower for everybody."""
        self.shared.alone |= ALONE.intersection(codes)

    def _meet(self, program: Program) -> None:
        codes = program.ops["code"][max(0, int(program.start[0])) : max(0, int(program.start[-1]))]
        if len(codes) and codes.min() >= 0:
            self.expect(np.flatnonzero(np.bincount(codes)).tolist())

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
        banks = len(shared.banks)
        made = PoseShader(
            room=room // 4,
            lanes=32 if self.joints <= 32 or software else 64,
            banks=banks,
            bank_size=shared.bank_size if banks > 1 else 0,
            alone=frozenset(shared.alone),
        )
        buffers = limits["max-storage-buffers-per-shader-stage"]
        if len(made.bindings) - 1 > buffers:
            raise GpuMemoryError(
                f"the clips take {self.bank.rows.nbytes:,} bytes: on {self.device.adapter.name}, where a shader sees {buffers} "
                f"buffers of {self.device.max_binding:,} bytes, that is too much; resample them at a lower rate or drop some"
            )
        return made

    def pipeline(self, depth: int) -> Any:
        """The compiled shader for programs that stack up so many poses."""
        return self.device.compute_pipeline(shader_text(self.shader(depth)), label="pose programs")

    def _most(self, depth: int) -> int:
        """How many instances may run at once."""
        if self.shader(depth).room:
            return self.device.max_workgroups
        room, most = 4 * self.room(depth), self.device.max_binding
        if room > most:
            raise GpuMemoryError(
                f"the poses of one instance take {room:,} bytes, more than the {most:,} that {self.device.adapter.name} lets a "
                "shader see"
            )
        return min(self.device.max_workgroups, max(1, min(SCRATCH, most) // room))

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
                "ints_count": len(given.ints), "floats_count": len(given.floats), "masks_count": len(masks),
                **dict(zip(TABLES, begins.tolist())),
            }  # fmt: skip
        return self._tables[memory]

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
        outputs = {name: self.pages(name) for name, array in given.items() if array is not None}
        kept = (
            memory if memory is None or isinstance(memory, GpuMemory) else GpuMemory.of(self.device, memory)
        )
        # Poses and model-space matrices share a buffer of the shader: they come one after the other.
        late = {"model": outputs.pop("model")} if {"pose", "model"} <= outputs.keys() else {}
        before = GpuMemory.of(self.device, kept.copy()) if late and kept is not None else None
        self.submit([Job(self, instances, outputs)], program, kept, vectors)
        if late:
            self.submit([Job(self, instances, late)], program, before, vectors)
        if not outputs and kept is memory:
            return
        self.check(program, instances, count)
        for name, pages in {**outputs, **late}.items():
            into = given[name]
            assert into is not None
            into[...] = pages.numpy()[:count].reshape(into.shape)
        if kept is not memory:
            memory[...] = kept.copy()

    def check(self, program: Program, instances: Array | None, count: int) -> None:
        """Raises the error of the first program that names what is not there. Waits for the GPU."""
        status = self.status.numpy()[:count].reshape(-1)
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
        if memory is not None and memory.size and len(memory) < len(program):
            raise ValidationError(f"memory: expected {len(program)} rows, got {len(memory)}")
        for job in jobs:
            count = len(program) if job.instances is None else len(job.instances)
            for pages in (job.evaluator.status, *job.outputs.values()):
                pages.resize(count)
        self._meet(program)
        for first, last in parcels(program.start, max(1, self.device.max_binding // 32)):
            self._hand_over(jobs, program, memory, vectors, first, last, timer)

    def _hand_over(
        self,
        jobs: Sequence[Job],
        program: Program,
        memory: GpuMemory | None,
        vectors: Array | None,
        first: int,
        last: int,
        timer: Clock | None,
    ) -> None:
        """The instances `first..last`, whose operations are handed over at once."""
        start, shared, depth, device = program.start, self.shared, program.depth, self.device
        columns = memory.shape[1] if memory is not None else 0
        base, end = (min(max(int(k), 0), len(program.ops)) for k in (start[first], start[last]))
        operations = program.ops[base:end]
        sizes = [
            {
                **job.evaluator._sizes(columns), "vectors": 0 if vectors is None else vectors.shape[1], "depth": depth,
                "matrices": depth * self.layout.size, "room": self.room(depth), "wanted": sum(WANTED[n] for n in job.outputs),
            }
            for job in jobs
        ]  # fmt: skip
        parcel, dispatches = Parcel(shared.fixed, len(operations), start, int(start[first])), []
        for job, own in zip(jobs, sizes):
            for batch in batches(job, memory, first, last, job.evaluator._most(depth)):
                parcel.add(batch, own, vectors)
                dispatches.append((job.evaluator, batch))
        if not dispatches:
            return
        shared.program.reserve(4 * parcel.size, keep=True)
        device.write(shared.program.raw, operations.view(np.int32), 4 * shared.fixed)
        device.write(shared.program.raw, parcel.words(), 4 * shared.fixed + 16 * len(operations))
        shared.told.write(parcel.told())
        with device.guard("posing"):
            encoder = device.raw.create_command_encoder()
            work = encoder.begin_compute_pass(**({} if timer is None else timer.writes("poses")))
            for k, (evaluator, batch) in enumerate(dispatches):
                evaluator._dispatch(work, k, depth, batch)
            work.end()
            if timer is not None:
                timer.finish(encoder)
            device.raw.queue.submit([encoder.finish()])

    def _dispatch(self, work: Any, k: int, depth: int, batch: Batch) -> None:
        shared, shader, pipeline = self.shared, self.shader(depth), self.pipeline(depth)
        if not shader.room:
            shared.scratch.reserve(4 * self.room(depth) * len(batch.instances))
        buffers = dict.fromkeys(("memory", "palettes", "morphs", "results"), shared.nothing)
        buffers |= {"program": shared.program, "scratch": shared.scratch}
        buffers |= {f"bank_{n}" if n else "bank": bank for n, bank in enumerate(shared.banks)}
        buffers |= {OUTPUTS[name][0]: page for name, page in batch.pages.items()}
        if batch.memory is not None:
            buffers["memory"] = batch.memory
        key = (shader, k, shared.told.version, *((id(b), b.version) for b in buffers.values()))
        if key not in self._bound:
            if len(self._bound) >= KEPT:
                self._bound.clear()
            most = self.device.max_binding
            views = {name: (b.raw, 0, min(b.size, most)) for name, b in buffers.items()}
            views["batch"] = (shared.told.raw, 4 * STEP * k, 4 * STEP)
            group = self.device.bind(pipeline, [views[name] for name in shader.bindings])
            self._bound[key] = (group, list(buffers.values()))
        work.set_pipeline(pipeline)
        work.set_bind_group(0, self._bound[key][0])
        work.dispatch_workgroups(len(batch.instances))


def _levels(parents: Array) -> tuple[Array, Array]:
    """The joints by depth, and where each depth begins among them, and the end."""
    depth = np.zeros(len(parents), np.int64)
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            depth[j] = depth[p] + 1
    order = np.argsort(depth, kind="stable")
    edges = np.searchsorted(depth[order], np.arange(depth.max(initial=-1) + 2))
    return order.astype(np.int32), edges.astype(np.int32)
