"""Poses that outlive an update: `STORE` and `LOAD`. Memory is a row of floats per instance, named by offset."""

from __future__ import annotations

from marrow.kernels.operations.record import Operation, ReferenceWorld, Rows, copy_lanes, copy_pose

__all__ = ["LOAD", "STORE"]


def run_store(work, n, top, argument, time, weight):
    kept = work.memory[n]
    copy_pose(work, work.stack, top, kept, argument)


def run_load(work, n, top, argument, time, weight):
    kept = work.memory[n]
    copy_pose(work, kept, argument, work.stack, top)


def reference_store(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    world.memory[argument] = [a.copy() for a in stack[-1]]


def reference_load(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    stack.append([a.copy() for a in world.memory[argument]])


STORE = Operation(
    "STORE", 9, "keeps the top for later", 1, 1, "pose memory", "", "", run_store, reference_store, (copy_lanes,)
)  # fmt: skip
LOAD = Operation(
    "LOAD", 10, "what was kept", 0, 1, "pose memory", "", "", run_load, reference_load, (copy_lanes,)
)
