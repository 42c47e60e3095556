"""What is handed over to the shader of pose programs: instances in batches, each within one page of every buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, Pages, chunks
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import BATCH, RECORD

if TYPE_CHECKING:
    from marrow.gpu.evaluator import GpuEvaluator

__all__ = ["Batch", "Job", "Parcel", "batches", "parcels"]

Array = NDArray[Any]
STEP = 64
"""Whole numbers from one batch to the next: uniforms begin at multiples of 256 bytes."""


@dataclass
class Job:
    """Some instances (numbers in order; None: all) and where an evaluator puts their results, behind one another."""

    evaluator: GpuEvaluator
    instances: Array | None
    outputs: dict[str, Pages] = field(default_factory=dict)


@dataclass
class Batch:
    """Instances of one dispatch: their numbers, how to take their rows of the crowd's arrays, their page of memory and the first
    instance on it, and the page of every result with the row of the first."""

    instances: Array
    taken: Any
    memory: Buffer | None
    memory_first: int
    pages: dict[str, Buffer]
    rows: dict[str, int]


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
    for low, high in zip(edges, edges[1:]):
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


class Parcel:
    """The words that follow the operations, and what each dispatch is told of them."""

    def __init__(self, begin: int, operations: int, start: Array, base: int) -> None:
        self._begin, self._operations, self._start, self._base = begin, operations, start, base
        self.size = begin + 4 * operations
        self._words: list[Array] = []
        self._told: list[Array] = []

    def add(self, batch: Batch, sizes: dict[str, int], vectors: Array | None) -> None:
        """The records and vectors of a batch."""
        records = np.empty((len(batch.instances), len(RECORD)), np.int32)
        records[:, 0] = self._start[batch.instances] - self._base
        records[:, 1] = self._start[batch.instances + 1] - self._base
        records[:, 2] = batch.instances - batch.memory_first
        told = {
            **sizes, "first_operation": self._begin, "operations": self._operations, "count": len(records),
            "first_record": self._put(records), **{f"{name}_row": row for name, row in batch.rows.items()},
        }  # fmt: skip
        if vectors is not None and vectors.size:
            told["first_vector"] = self._put(vectors[batch.taken])
        self._told.append(np.array([told.get(name, 0) for name in BATCH], np.int32))

    def _put(self, words: Array) -> int:
        at = self.size
        self._words.append(np.ascontiguousarray(words).view(np.int32).reshape(-1))
        self.size += self._words[-1].size
        return at

    def words(self) -> Array:
        """What follows the operations."""
        return np.concatenate(self._words)

    def told(self) -> Array:
        """What the dispatches are told."""
        out = np.zeros((len(self._told), STEP), np.int32)
        out[:, : len(BATCH)] = self._told
        return out
