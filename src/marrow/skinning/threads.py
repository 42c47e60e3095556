"""Splitting one kernel call over threads.

Kernels release the GIL, so plain Python threads do. A call is split only when every part is worth it, the calling thread
works on a part itself, and calls from several threads share one pool without waiting for each other's parts.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from marrow.errors import ValidationError

__all__ = ["WORTH_SECONDS", "run_split", "thread_count"]

# Handing work to another thread costs some ten microseconds and a busy machine may make it wait: below this much work
# for each part, one thread is at least as fast.
WORTH_SECONDS = 0.25e-3

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def thread_count(threads: int | None) -> int:
    """How many threads a `threads=` setting allows: None means all the cores this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValidationError(f"threads: expected at least 1 (or None for all cores), got {threads!r}")
    return int(threads)


def _executor() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(2, thread_count(None)), thread_name_prefix="marrow")
        return _pool


def _forget_pool() -> None:
    """A forked child has none of its parent's threads, and a lock that one of them held would stay shut."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def run_split(work: Callable[[int, int], None], count: int, seconds: float, threads: int) -> None:
    """Runs `work(start, stop)` over `range(count)`, in up to `threads` parts if `seconds` of work is worth splitting."""
    parts = min(threads, count, int(seconds / WORTH_SECONDS))
    if parts < 2:
        work(0, count)
        return
    edges = [count * i // parts for i in range(parts + 1)]
    pool = _executor()
    waiting: list[Future[None]] = [pool.submit(work, a, b) for a, b in pairwise(edges[1:])]
    try:
        work(edges[0], edges[1])
    finally:
        for future in reversed(waiting):
            # A part no worker has taken yet is done here rather than waited for.
            if future.cancel():
                i = waiting.index(future) + 1
                work(edges[i], edges[i + 1])
    for future in waiting:
        if not future.cancelled():
            future.result()
