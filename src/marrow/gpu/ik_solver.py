"""`GpuSolvers`: the solvers of a graph's `FullBodyIK`, `ChainIK` and `LimitJoints` on the GPU; poses stay there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, chunks, usage
from marrow.gpu.clock import Clock
from marrow.gpu.device import Device
from marrow.gpu.ik_shader import (
    FLOATS,
    INTEGERS,
    LANES,
    OWN,
    PASSES,
    TABLES,
    WORK,
    WORKGROUP,
    bindings,
    ik_shader_text,
)
from marrow.graph.ik_steps import (
    MOST_TICKS,
    IkStep,
    fixed_fields,
    floors_of,
    schedule,
    state_of,
    targets_of,
)
from marrow.ik.plan import TURN_WEIGHT
from marrow.kernels.ik.rows import GIVEN
from marrow.kernels.jobs import worth

if TYPE_CHECKING:
    from marrow.gpu.memory import GpuMemory
    from marrow.graph.control import GraphControl

__all__ = ["GpuSolvers"]

Array = NDArray[Any]
SCRATCH = 1 << 28
"""Bytes of a buffer in which a solver works, at most; more instances take turns."""
STEP = 128
"""Whole numbers from what a round is told to what the next is: uniforms begin at multiples of 256 bytes."""
HEAD = 4
"""Words of an instance beside its targets: its row, its update, the seconds since the one before, its weight."""
SECONDS = 2e-7
"""About what looking up the targets of an instance takes."""


class GpuSolvers:
    """The solvers of one crowd, each made when its node is met first. `double` says whether what is not in lanes is in
    float64."""

    def __init__(self, device: Device, *, double: bool) -> None:
        self.device, self.double = device, double
        self.enabled = not device.adapter.is_software
        """Whether to solve here. Where the CPU stands in for a GPU, its own kernels are faster, and need no compiling."""
        self.timer: Clock | None = None
        """Times the passes, where it is set, under the name `ik`."""
        self._made: WeakKeyDictionary[IkStep, _GpuSolver] = WeakKeyDictionary()

    def solve(
        self, memory: GpuMemory, control: GraphControl, step: IkStep, instances: Array, weights: Array, ticks: Array,
        at: int,
    ) -> bool:  # fmt: skip
        """Solves for instances whose poses lie in `memory` from column `at` on, each in so many `ticks`; False where the
        CPU has to: it stands in for the GPU, or the GPU has no room for what one group of instances takes."""
        if not self.enabled:
            return False
        solver = self._made.get(step)
        if solver is None:
            solver = self._made[step] = _GpuSolver(self.device, step, self.double)
        if not solver.most:
            return False
        for count in np.unique(ticks).tolist():
            some = ticks == count
            solver.solve(memory, control, step, instances[some], weights[some], count, at, self.timer)
        return True


class _GpuSolver:
    """One of them: its tables, and the buffers it works in."""

    def __init__(self, device: Device, step: IkStep, double: bool) -> None:
        self.device, solver = device, step.solver
        assert solver is not None
        fields: dict[str, Any] = {**solver.fixed, **fixed_fields(step)}
        cold, warm, inner = schedule(step)
        steps = {name: np.concatenate([cold[name], warm[name]]) for name in cold}
        sizes = {
            "nodes": len(solver.tree.joints), "effectors": len(solver.effectors), "joints_all": len(solver.skeleton),
            "turns": len(step.targets.turning), "takes": len(step.targets.used), "steps": len(steps["fades"]),
            "over_floors": len(solver.floor), "state": state_of(step),
        }  # fmt: skip
        numbers: dict[str, Any] = {**fields, **sizes, "cold": len(cold["fades"]), "cold_inner": inner}
        numbers |= {"body": solver.tree.size, "weight": TURN_WEIGHT, "holds": int(not solver.floor)}
        words, at = [], 0
        for name, (letter, *_) in TABLES.items():
            table = np.ascontiguousarray({**fields, **steps}[name], np.float32 if letter == "f" else np.int32)
            numbers[f"{name}_at"] = at
            words.append(table.reshape(-1).view(np.int32))
            at += len(words[-1])
        room = 0
        for name, (of, width) in (WORK | OWN).items():
            numbers[f"{name}_at"] = room
            room += LANES * (sizes[width] if isinstance(width, str) else width) * (sizes[of] if of else 1)
        self.tables = Buffer.of(device, np.concatenate([*words, np.zeros(1, np.int32)]), label="solver")
        self.room = numbers["room"] = room
        record = 4 * (HEAD + GIVEN * sizes["effectors"] + 4 * sizes["over_floors"])
        self.most = min(
            LANES * (min(SCRATCH, device.max_binding) // (4 * room)), device.max_binding // record,
            WORKGROUP * device.max_workgroups,
        )  # fmt: skip
        """Instances that are solved for at once, at most."""
        self.told = np.zeros((2 * MOST_TICKS, STEP), np.int32)
        end = len(INTEGERS)
        self.told[:, :end] = [numbers.get(name, 0) for name in INTEGERS]
        self.told.view(np.float32)[:, end : end + len(FLOATS)] = [numbers[name] for name in FLOATS]
        rounds = np.arange(2 * MOST_TICKS)
        self.told[:, INTEGERS.index("tick")], self.told[:, INTEGERS.index("again")] = np.divmod(rounds, 2)
        self.batch = Buffer(device, self.told.nbytes, label="solver batch", flags=usage("uniform"))
        self.records = Buffer(device, 4, label="targets")
        self.scratch = Buffer(device, 4, label="solver room")
        self.double = double
        self._bound: dict[tuple[int, int], tuple[list[Any], list[tuple[Any, Any]]]] = {}

    def solve(
        self, memory: GpuMemory, control: GraphControl, step: IkStep, instances: Array, weights: Array, ticks: int, at: int,
        timer: Clock | None,
    ) -> None:  # fmt: skip
        """Solves for instances whose updates take so many `ticks`."""
        self._tell(
            columns=memory.shape[1], Jp=control.compiled.bank.layout.joints, at=at, kept=step.kept, ticks=ticks,
            ticks_left=ticks - self.told[:, INTEGERS.index("tick")],
        )  # fmt: skip
        heads, state = np.empty((len(instances), HEAD), np.int32), control.state.instances
        heads[:, 0], heads[:, 1] = instances, state["stamp"][instances]
        numbers = heads.view(np.float32)
        numbers[:, 2], numbers[:, 3] = state["since"][instances] / ticks, weights
        workers = worth(len(instances) * SECONDS, control.threads)
        targets = targets_of(control, step, instances, workers, single=True)
        floors = floors_of(control, step, instances)
        for number, (first, last, page) in enumerate(memory.pages):
            low, high = np.searchsorted(instances, (first, last)).tolist()
            heads[low:high, 0] -= first
            for begin, end in chunks(high - low, self.most):
                part = slice(low + begin, low + end)
                self._run((heads[part], targets[part], floors[part]), ticks, number, page, timer)

    def _tell(self, **values: Any) -> None:
        for name, value in values.items():
            self.told[:, INTEGERS.index(name)] = value

    def _run(
        self, given: tuple[Array, Array, Array], ticks: int, number: int, page: Buffer, timer: Clock | None
    ) -> None:
        """Solves for instances on one page of memory, which has that number."""
        device, count, at = self.device, len(given[0]), 0
        self._tell(count=count)
        self.records.reserve(sum(array.nbytes for array in given))
        for array in given:
            if array.size:
                self.records.write(array, at)
                at += array.nbytes
        self.scratch.reserve(4 * self.room * -(-count // LANES))
        self.batch.write(self.told[: 2 * ticks])
        with device.guard("inverse kinematics"):
            encoder = device.raw.create_command_encoder()
            work = encoder.begin_compute_pass(**({} if timer is None else timer.writes("ik")))
            for slot in range(2 * ticks):
                for pipeline, group in self._groups(slot, number, page):
                    work.set_pipeline(pipeline)
                    work.set_bind_group(0, group)
                    work.dispatch_workgroups(-(-count // WORKGROUP))
            work.end()
            if timer is not None:
                timer.finish(encoder)
            device.raw.queue.submit([encoder.finish()])

    def _groups(self, slot: int, number: int, page: Buffer) -> list[tuple[Any, Any]]:
        """The pipelines and bind groups of a round, one after the other."""
        device = self.device
        buffers = {"tables": self.tables, "records": self.records, "memory": page, "scratch": self.scratch}
        now = [self.batch.raw, *(buffer.raw for buffer in buffers.values())]
        kept = self._bound.get((slot, number))
        if kept is None or any(a is not b for a, b in zip(kept[0], now)):
            views = {name: (b.raw, 0, min(b.size, device.max_binding)) for name, b in buffers.items()}
            views["batch"] = (self.batch.raw, 4 * STEP * slot, 4 * STEP)
            groups = []
            for part in PASSES:
                text = ik_shader_text(part, double=self.double)
                pipeline = device.compute_pipeline(text, label=f"inverse kinematics: {part}")
                groups.append((pipeline, device.bind(pipeline, [views[name] for name in bindings(part)])))
            kept = self._bound[slot, number] = (now, groups)
        return kept[1]
