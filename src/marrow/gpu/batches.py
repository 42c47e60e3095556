"""What is handed over to the shaders of pose programs: instances in batches, each within one page of every buffer, and
the parts of their programs that one shader runs after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, Pages, chunks
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import ALONE, RECORD
from marrow.kernels.operations import OPERATIONS

if TYPE_CHECKING:
    from marrow.gpu.evaluator import GpuEvaluator

__all__ = ["Batch", "Job", "Step", "batches", "parcels", "steps"]

Array = NDArray[Any]
_IS_ALONE = np.array([o.code in ALONE for o in OPERATIONS])
_EFFECT = np.array([o.pushes - o.pops for o in OPERATIONS], np.int64)


@dataclass
class Job:
    """Some instances (numbers in order; None: all) and where an evaluator puts their results, behind one another."""

    evaluator: GpuEvaluator
    instances: Array | None
    outputs: dict[str, Pages] = field(default_factory=dict)


@dataclass
class Batch:
    """Instances that run at once: their numbers, how to take their rows of the crowd's arrays, their page of memory and
    the first instance on it, and the page of every result with the row of the first."""

    instances: Array
    taken: Any
    memory: Buffer | None
    memory_first: int
    pages: dict[str, Buffer]
    rows: dict[str, int]


@dataclass
class Step:
    """A dispatch: of the shader for operations that run alone, or of the other; a record (`RECORD`) for each
    instance."""

    alone: bool
    records: Array


def parcels(start: Array, most: int) -> Iterator[tuple[int, int]]:
    """Runs of instances with at most `most` operations together (or one instance)."""
    first, count = 0, len(start) - 1
    while first < count:
        last = int(np.searchsorted(start, start[first] + most, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def batches(job: Job, memory: GpuMemory | None, first: int, last: int, most: int) -> Iterator[Batch]:
    """The job's instances among `first..last`, at most so many at once, each run within one page of every buffer."""
    everybody = job.instances is None
    chosen = np.arange(first, last) if job.instances is None else job.instances
    begin, end = (0, len(chosen)) if everybody else np.searchsorted(chosen, (first, last)).tolist()
    slot = first if everybody else 0  # where the result of the first of `chosen` lies
    outputs = {"status": job.evaluator.status, **job.outputs}
    cuts = {begin, end}
    for pages in outputs.values():
        cuts.update(range(-slot % pages.per_page, end, pages.per_page))
    if memory is not None and memory.size:
        cuts.update(np.searchsorted(chosen, range(0, len(memory), memory.pages.per_page)).tolist())
    edges = sorted(k for k in cuts if begin <= k <= end)
    for low, high in pairwise(edges):
        for x, y in chunks(high - low, most):
            instances = chosen[low + x : low + y]
            page, row = None, 0
            if memory is not None and memory.size:
                number = int(instances[0]) // memory.pages.per_page
                page, row = memory.pages.buffers[number], number * memory.pages.per_page
            found = {name: divmod(slot + low + x, pages.per_page) for name, pages in outputs.items()}
            yield Batch(
                instances,
                slice(int(instances[0]), int(instances[-1]) + 1) if everybody else instances,
                page,
                row,
                {name: outputs[name].buffers[number] for name, (number, _) in found.items()},
                {name: row for name, (_, row) in found.items()},
            )


def steps(batch: Batch, start: Array, codes: Array, base: int) -> list[Step]:
    """What the shaders do one after the other. `start` are the programs' first operations, `codes` those handed over,
    from the operation `base` on."""
    count = len(batch.instances)
    begin, end = start[batch.instances] - base, start[batch.instances + 1] - base
    rows = batch.instances - batch.memory_first
    where = np.flatnonzero(_IS_ALONE[np.minimum(codes, len(OPERATIONS) - 1)]) if len(codes) else codes
    owner = np.searchsorted(begin, where, side="right") - 1
    kept = (owner >= 0) & (where < end[np.maximum(owner, 0)]) if len(where) else np.zeros(0, bool)
    where, owner = where[kept], owner[kept]
    records = _records(np.arange(count), begin, end, 0, rows, 1)
    if not len(where):
        return [Step(False, records)]
    # Neighbours of one program run together: (owner, first, last), in order.
    new = np.ones(len(where), bool)
    new[1:] = (np.diff(where) != 1) | (np.diff(owner) != 0)
    heads = np.flatnonzero(new)
    owner, first = owner[heads], where[heads]
    last = where[np.append(heads[1:], len(where)) - 1] + 1
    height = np.concatenate([[0], np.cumsum(_EFFECT[codes])])
    turn = np.arange(len(owner)) - np.searchsorted(owner, owner)  # the how manieth of its program
    following = np.append(owner[1:] == owner[:-1], False)
    after = np.where(following, np.append(first[1:], 0), end[owner])
    lead = turn == 0
    records[owner[lead], RECORD.index("last")] = first[lead]
    records[owner[lead], RECORD.index("writes")] = 0
    made = [Step(False, records)]
    for k in range(int(turn.max()) + 1):
        now = turn == k
        who = owner[now]
        below = height[first[now]] - height[begin[who]], height[last[now]] - height[begin[who]]
        made.append(Step(True, _records(who, first[now], last[now], below[0], rows[who], 0)))
        made.append(Step(False, _records(who, last[now], after[now], below[1], rows[who], ~following[now])))
    return made


def _records(slot: Array, first: Any, last: Any, poses: Any, rows: Any, writes: Any) -> Array:
    records = np.empty((len(slot), len(RECORD)), np.int32)
    for k, column in enumerate((slot, first, last, poses, rows, writes)):
        records[:, k] = column
    return records
