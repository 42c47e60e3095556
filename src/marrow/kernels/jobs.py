"""Kernels over ranges, on several threads: `Job` and `JobChain`.

    job = Job(scaled.frame(x=x, out=out, first=0, last=0), "first", "last")
    job.run(0, len(x), step=256, workers=4)

A range is cut into chunks of `step`, which threads take one after the other; which thread gets which is left to chance, so a kernel
must give the same for any. The threads are those of the extension module (`language.pool_code`): the calling thread works too, and a
second caller who comes while they are busy runs its job alone. On the other backends a job runs chunk by chunk on the
calling thread, with the same bits.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels.backend import Built, backend
from marrow.kernels.language.kernel import CallFrame, Kernel
from marrow.kernels.language.pool_code import HEAD, JOB, MOST_WORKERS, WORDS
from marrow.pyodide import IN_BROWSER

__all__ = ["WORTH_SECONDS", "Job", "JobChain", "Pace", "in_machine_code", "thread_count", "worth"]

Array = NDArray[Any]
WORTH_SECONDS = 40e-6
"""Work for which it pays to have one more thread: waking one that sleeps takes some microseconds, and some ten until it is there."""
_AT = {name: k for k, name in enumerate(JOB)}
_BEGIN, _END, _STEP, _WORKERS = _AT["begin"], _AT["end"], _AT["step"], _AT["workers"]


def thread_count(threads: int | None) -> int:
    """How many threads a `threads=` setting allows: None means all the cores this process may use."""
    if threads is None:
        if IN_BROWSER:
            return 1
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return min(cores, _quota(), MOST_WORKERS)
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValidationError(f"threads: expected at least 1 (or None for all cores), got {threads!r}")
    return 1 if IN_BROWSER else min(int(threads), MOST_WORKERS)


@functools.cache
def _quota() -> int:
    """Cores' worth of time that a container grants; more threads than that would be stopped again and again."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()
        return MOST_WORKERS if quota == "max" else max(1, -(-int(quota) // int(period)))
    except (OSError, ValueError):
        return MOST_WORKERS


def worth(seconds: float, threads: int) -> int:
    """How many of `threads` so many seconds of work are worth."""
    return max(1, min(threads, int(seconds / WORTH_SECONDS)))


class Pace:
    """What one element of a job takes: a guess at first, then what the runs tell. A run that was held up by others counts for
    little."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def workers(self, count: int, threads: int) -> int:
        """How many of `threads` so many elements are worth."""
        return worth(count * self.seconds, threads)

    def note(self, elapsed: float, count: int, workers: int) -> None:
        """A run over `count` elements took so long."""
        self.seconds = min(elapsed * workers / count, 1.1 * self.seconds)


class Job:
    """A kernel over a range. `first` and `last` name the arguments that take the range of a chunk, `worker` and `chunk` those that
    take the numbers of who runs it and of the chunk, where the kernel asks. With `told`, what the kernel returns for each chunk is
    kept in `results`, behind the number of the worker.

    The frame is that of worker 0, the calling thread; the other workers get copies. What must not be shared, such as
    scratch memory, is handed in by `own`.
    """

    def __init__(
        self,
        frame: CallFrame,
        first: str,
        last: str,
        *,
        worker: str | None = None,
        chunk: str | None = None,
        told: bool = False,
    ) -> None:
        self.frame = frame
        kernel, at = frame.kernel, frame.kernel.offsets
        self._bytes = bytearray(8 * (HEAD + WORDS))
        self._whole = memoryview(self._bytes).cast("q")
        self._whole[0] = 1
        self.words = self._whole[HEAD:]
        self._places = (at[first], at[last], at.get(worker or "", -1), at.get(chunk or "", -1))
        self._told = kernel.returns if told else -1
        self._results = np.zeros((0, 1 + kernel.returns), np.int64)
        self._own: dict[str, list[Array]] = {}
        self._copies = np.zeros(0, np.int64)
        self._room = 1
        native = _native(kernel)
        self._spread: Callable[[Any], None] | None = None
        if native is None:
            return
        module, self.words[_AT["kernel"]] = native
        self._spread, self._address = module.spread, module.address
        self.words[_AT["frame"]] = self._address(frame.bytes)
        self.words[_AT["size"]] = kernel.size
        for name, place in zip(("first", "last", "worker", "chunk"), self._places):
            self.words[_AT[name]] = place
        self.words[_AT["results_at"]], self.words[_AT["results_count"]] = kernel.results, kernel.returns

    def own(self, arrays: Mapping[str, Sequence[Array]]) -> None:
        """Arrays that each worker has for itself, by the argument they are: one for every worker from the second on. They
        have the type and shape of what the frame has there."""
        kernel, count = self.frame.kernel, min(map(len, arrays.values()), default=0)
        places, values = [], np.zeros((count, len(arrays)), np.int64)
        for k, (name, many) in enumerate(arrays.items()):
            here = self.frame.kept[name]
            places.append(kernel.offsets[name])
            for w in range(count):
                if many[w].shape != here.shape or many[w].dtype != here.dtype or not many[w].flags.carray:
                    raise ValidationError(
                        f"{kernel.name}: {name} of worker {w + 1} is not as that of worker 0"
                    )
                values[w, k] = many[w].__array_interface__["data"][0]
        self._own = {name: list(many[:count]) for name, many in arrays.items()}
        self._patches = np.array(places, np.int64), values
        if self._spread is not None:
            self.words[_AT["own"]] = len(places)
            self.words[_AT["own_at"]], self.words[_AT["own_values"]] = map(self._address, self._patches)

    @property
    def owners(self) -> int:
        """Workers for which there is what they have for themselves."""
        return 1 + min(map(len, self._own.values()), default=MOST_WORKERS - 1)

    def set(self, begin: int, end: int, step: int, workers: int) -> int:
        """Says what the next run goes over; returns how many chunks that are."""
        words = self.words
        chunks = -(-(end - begin) // step)
        if workers > self._room and self._spread is not None:
            self._room = min(workers, MOST_WORKERS)
            self._copies = np.zeros((self._room - 1) * (self.frame.kernel.size + 7 & -8) + 8, np.int64)
            # On whole cache lines.
            words[_AT["copies"]] = self._address(self._copies) + 63 & -64
        words[_BEGIN], words[_END], words[_STEP], words[_WORKERS] = begin, end, step, workers
        if self._told >= 0 and chunks > len(self._results):
            self._results = np.zeros((chunks, 1 + self._told), np.int64)
            if self._spread is not None:
                words[_AT["results"]] = self._address(self._results)
        return chunks

    @property
    def results(self) -> Array:
        """What the kernel returned in the last run: a row for each chunk, the worker's number first."""
        begin, end, step = self.words[_BEGIN], self.words[_END], self.words[_STEP]
        return self._results[: -(-(end - begin) // step)]

    def run(self, begin: int, end: int, *, step: int, workers: int) -> None:
        """The kernel over `begin..end`, in chunks of `step`, on so many threads."""
        if workers > self.owners:
            workers = self.owners
        self.set(begin, end, step, workers)
        frame = self.frame
        if not frame.whole:
            frame.check()
        if self._spread is not None:
            if self.words.obj is not self._bytes:  # it is part of a chain
                self._whole[HEAD:] = self.words
            self._spread(self._bytes)
        else:
            self._run_here()
        if frame.lent:
            frame.lent.clear()

    def _run_here(self) -> None:
        """Chunk by chunk, on this thread."""
        frame, (first, last, worker, chunk) = self.frame, self._places
        begin, end, step = self.words[_BEGIN], self.words[_END], self.words[_STEP]
        words, kernel = frame.words, frame.kernel
        for k, at in enumerate(range(begin, end, step)):
            words[first], words[last] = at, min(at + step, end)
            if worker >= 0:
                words[worker] = 0
            if chunk >= 0:
                words[chunk] = k
            frame.entry(frame.argument)
            if self._told >= 0:
                self._results[k] = (0, *words[kernel.results : kernel.size])


class JobChain:
    """Several jobs as one call: each begins when the one before is done. What they go over is said by `Job.set`."""

    def __init__(self, *jobs: Job) -> None:
        self.jobs = jobs
        self.bytes = bytearray(8 * (HEAD + WORDS * len(jobs)))
        whole = memoryview(self.bytes).cast("q")
        whole[0] = len(jobs)
        for k, job in enumerate(jobs):
            place = whole[HEAD + WORDS * k : HEAD + WORDS * (k + 1)]
            place[:] = job.words
            job.words = place
        self.spread = jobs[0]._spread if all(job._spread is not None for job in jobs) else None
        """What runs `bytes` in machine code; None where the backend has none."""

    def run(self) -> None:
        if self.spread is not None:
            self.spread(self.bytes)
        else:
            for job in self.jobs:
                job._run_here()
        for job in self.jobs:
            if job.frame.lent:
                job.frame.lent.clear()


@functools.cache
def _module() -> Any:
    """The extension module, if that is what runs kernels."""
    chosen = backend()
    if not isinstance(chosen, Built):
        return None
    if hasattr(os, "register_at_fork"):
        # A forked child has none of its parent's threads.
        os.register_at_fork(after_in_child=chosen.module.forget)
    return chosen.module


def in_machine_code() -> bool:
    """Whether jobs run in the extension module."""
    return _module() is not None


@functools.cache
def _numbers() -> dict[str, int]:
    return {name: k for k, name in enumerate(_module().kernels.split(","))}


def _native(kernel: Kernel) -> tuple[Any, int] | None:
    """The module that has a kernel in machine code, and the kernel's number there; None where it runs elsewhere."""
    module = _module()
    number = None if module is None else _numbers().get(kernel.name)
    return None if number is None else (module, number)
