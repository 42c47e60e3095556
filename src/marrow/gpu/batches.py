"""What is handed over to the shaders of pose programs: instances in batches, each within one page of every buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, Pages, chunks
from marrow.gpu.memory import GpuMemory

if TYPE_CHECKING:
    from marrow.gpu.evaluator import GpuEvaluator

__all__ = ["Batch", "GpuJob", "batches", "parcels"]

Array = NDArray[Any]


@dataclass
class GpuJob:
    """Some instances (numbers in order; None: all) and where an evaluator puts their results, behind one another."""

    evaluator: GpuEvaluator
    instances: Array | None
    outputs: dict[str, Pages] = field(default_factory=dict)


@dataclass
class Batch:
    """Instances that run at once: the numbers `low..high`, or those of `chosen`; their page of memory and the first
    instance on it, and the page of every result with the row of the first."""

    chosen: Array | None
    low: int
    high: int
    memory: Buffer | None
    memory_first: int
    pages: dict[str, Buffer]
    rows: dict[str, int]

    @property
    def count(self) -> int:
        return self.high - self.low

    @property
    def taken(self) -> Any:
        """How to take their rows of the crowd's arrays."""
        return slice(self.low, self.high) if self.chosen is None else self.chosen[self.low : self.high]


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
    chosen = job.instances
    low, high = (first, last) if chosen is None else np.searchsorted(chosen, (first, last)).tolist()
    outputs = {"status": job.evaluator.status, **job.outputs}
    cuts = {low, high}
    for pages in outputs.values():
        cuts.update(range(pages.per_page, high, pages.per_page))
    kept = memory if memory is not None and memory.size else None
    if kept is not None:
        borders = range(0, len(kept), kept.pages.per_page)
        cuts.update(borders if chosen is None else np.searchsorted(chosen, borders).tolist())
    for begin, end in pairwise(sorted(k for k in cuts if low <= k <= high)):
        for x, y in chunks(end - begin, most):
            page, row = None, 0
            if kept is not None:
                one = begin + x if chosen is None else int(chosen[begin + x])
                number = one // kept.pages.per_page
                page, row = kept.pages.buffers[number], number * kept.pages.per_page
            found = {name: divmod(begin + x, pages.per_page) for name, pages in outputs.items()}
            yield Batch(
                chosen,
                begin + x,
                begin + y,
                page,
                row,
                {name: outputs[name].buffers[number] for name, (number, _) in found.items()},
                {name: row for name, (_, row) in found.items()},
            )
