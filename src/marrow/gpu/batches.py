"""What is handed over to the shaders of pose programs: instances in batches, each within one page of every buffer, and
the parts of their programs that one shader runs after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
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

__all__ = ["Batch", "GpuJob", "Handed", "Step", "batches", "parcels", "steps"]

Array = NDArray[Any]
_IS_ALONE = np.isin(np.arange(256), list(ALONE))
_EFFECT = np.zeros(256, np.int32)
_EFFECT[: len(OPERATIONS)] = [o.pushes - o.pops for o in OPERATIONS]


@dataclass
class GpuJob:
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


def batches(job: GpuJob, memory: GpuMemory | None, first: int, last: int, most: int) -> Iterator[Batch]:
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


class Handed:
    """Operations that are handed over: where those are that run alone, and how many poses lie on the stack before each."""

    def __init__(self, operations: Array, base: int) -> None:
        codes = operations["code"].astype(np.uint8)  # what is out of range is refused by the shader
        self.base, self._codes = base, codes
        self.where = np.flatnonzero(_IS_ALONE[codes])
        self.alone = np.flatnonzero(np.bincount(codes[self.where])).tolist() if len(self.where) else []

    @cached_property
    def height(self) -> Array:
        """Counted from the first operation of all."""
        out = np.zeros(len(self._codes) + 1, np.int32)
        np.cumsum(_EFFECT[self._codes], out=out[1:])
        return out


def steps(batch: Batch, start: Array, handed: Handed) -> list[Step]:
    """What the shaders do one after the other; `start` are the programs' first operations."""
    count = len(batch.instances)
    begin, end = start[batch.instances] - handed.base, start[batch.instances + 1] - handed.base
    rows = batch.instances - batch.memory_first
    records = _records(np.arange(count), begin, end, 0, rows, 1)
    low, high = np.searchsorted(handed.where, (begin[0], end[-1]))
    where = handed.where[low:high]
    owner = np.searchsorted(begin, where, side="right") - 1
    kept = where < end[owner]  # others have their turn in another batch
    where, owner = where[kept], owner[kept]
    if not len(where):
        return [Step(False, records)]
    # Neighbours of one program run together: (owner, first, last), in order.
    new = np.ones(len(where), bool)
    new[1:] = (np.diff(where) != 1) | (np.diff(owner) != 0)
    heads = np.flatnonzero(new)
    owner, first = owner[heads], where[heads]
    last = where[np.append(heads[1:], len(where)) - 1] + 1
    height = handed.height
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
