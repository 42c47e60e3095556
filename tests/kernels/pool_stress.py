"""Many small jobs from many threads, with forks in between: `python pool_stress.py FOLDER JOBS [exit]`.

Builds an extension module around one small kernel in FOLDER, once. Every element must be visited exactly once by every
job, whoever ran it; with `exit` the process leaves while the pool is at work.
"""

import importlib.util
import os
import sys
import threading
from pathlib import Path

import numpy as np
from numpy.random import default_rng  # imported before any fork

from marrow.kernels import build, jobs
from marrow.kernels.language.annotations import N, Out, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.targets import target_here


@kernel
def visit(
    seen: Out[i8[N]],
    who: Out[i8[N]],
    scratch: Out[i8[4]],
    rounds: int,
    first: int,
    last: int,
    me: int,
    chunk: int,
) -> tuple[int, int]:
    """Adds one to what was seen of every element, by way of scratch memory that is not shared."""
    for k in range(first, last):
        scratch[0] = seen[k]
        for r in range(rounds):
            scratch[1] = r
        seen[k] = scratch[0] + 1
        who[k] = me
    return chunk, last - first


def load(folder):
    """The module with that kernel, and its jobs in place of the package's."""
    from marrow.kernels.language.extension import glue_code
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine, written

    level = LEVELS["host"]
    file = Path(folder) / build.module_file("host").name.replace("_host", "_visits")
    if not file.is_file():
        machine = target_machine(level)
        objects = {
            "kernels.o": object_code(written([visit], machine), machine),
            "glue.o": glue_code("_visits", [visit], level, "test"),
        }
        build.link(target_here(), objects, file, command=build.linker())
    spec = importlib.util.spec_from_file_location("_visits", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def use(module):
    """Makes jobs of this kernel run on the module's own pool."""
    numbers = {name: k for k, name in enumerate(module.kernels.split(","))}
    jobs._native = lambda kernel: (module, numbers[kernel.name])
    os.register_at_fork(after_in_child=module.forget)


def visiting(count, workers, rounds=0, told=True):
    """A job over `count` elements, with scratch memory for so many workers."""
    frame = visit.frame(
        seen=np.zeros(count, np.int64), who=np.zeros(count, np.int64), scratch=np.zeros(4, np.int64), rounds=rounds,
        first=0, last=0, me=0, chunk=0,
    )  # fmt: skip
    job = jobs.Job(frame, "first", "last", worker="me", chunk="chunk", told=told)
    job.own({"scratch": [np.zeros(4, np.int64) for _ in range(workers - 1)]})
    return job


def hammer(seed, count, failures):
    """`count` jobs of all sizes."""
    rng = default_rng(seed)
    many = [(visiting(int(n), w), w) for n, w in ((1, 2), (7, 2), (64, 3), (300, 7), (1000, 16))]
    runs = [0] * len(many)
    for k in rng.integers(0, len(many), count).tolist():
        job, workers = many[k]
        n = len(job.frame.kept["seen"])
        step = int(rng.integers(1, 40))
        job.run(0, n, step=step, workers=workers)
        runs[k] += 1
        rows = job.results
        if not np.array_equal(rows[:, 1], np.arange(-(-n // step))) or rows[:, 2].sum() != n:
            failures.append(f"chunks {rows.tolist()}")
    for (job, _), times in zip(many, runs):
        seen = job.frame.kept["seen"]
        if (seen != times).any():
            failures.append(f"{times} runs, seen {np.unique(seen).tolist()}")


def forked(seed, failures):
    """The same in a child that was forked while the pool was at work."""
    child = os.fork()
    if child == 0:
        found = ["it ended early"]
        try:
            hammer(seed, 200, found)
            found.pop(0)
        finally:
            os._exit(len(found))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        failures.append("a forked child")


def main(folder, count, leave):
    use(load(folder))
    failures = []
    callers = [
        threading.Thread(
            target=hammer, args=(seed, 1_000_000 if leave else count // 8, failures), daemon=True
        )
        for seed in range(8)
    ]
    for caller in callers:
        caller.start()
    if leave:
        hammer(99, 200, failures)
        print("left", flush=True)
        return
    for k in range(3 if hasattr(os, "fork") else 0):
        forked(100 + k, failures)
    for caller in callers:
        caller.join()
    print(failures or "sound", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["exit"])
