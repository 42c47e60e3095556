"""Work on many tasks: in this process, in local processes, or on a Ray cluster (`marrow.dataset.cluster`). What a task
does and gives is the same everywhere.

A worker that dies costs the task it was at, which is done again. Where it dies of the same source twice, the source is
to blame and is left out with a line; where somebody killed it (`SIGKILL`: a user, or the system short of memory)
nothing is to blame, and after a few times the task is given up.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from marrow.dataset.worker import LENGTH, called, failure_of, frame
from marrow.errors import WrongTypeError
from marrow.model import _validate
from marrow.pyodide import IN_BROWSER

__all__ = ["Outcome", "TaskFailure", "WorkerSlot", "default_workers", "run_tasks"]

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]);from marrow.dataset.worker import serve; serve()"
)
BLAMED, KILLED = 2, 6
"""After so many deaths at one place a source is left out; after so many kills there a task is given up."""
_OUTSIDE = {getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")}
Task = dict[str, Any]
Tell = Callable[[int, dict[str, Any]], None]


@dataclass(frozen=True)
class TaskFailure:
    """Why a task was not done: the name of marrow's error (empty for any other), and its words."""

    kind: str
    message: str


@dataclass(frozen=True)
class Outcome:
    """What came of the task of that number."""

    index: int
    result: Any = None
    failure: TaskFailure | None = None


def default_workers() -> int:
    """As many as there are processors for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    call: str,
    tasks: Sequence[Task],
    *,
    workers: int | None = None,
    on: str | None = None,
    tell: Tell | None = None,
) -> Iterator[Outcome]:
    """Does all tasks (`call` is `module:function`) and gives what comes of each, in whatever order they end.

    `workers` are local processes (None: one for each processor; 0: this process does it all, as it does in a browser).
    `on` is `"ray"` or the address of a cluster. `tell` hears how far each task is.
    """
    say: Tell = tell or (lambda index, what: None)
    if on is not None:
        from marrow.dataset.cluster import run_on_ray

        if not isinstance(on, str):
            raise WrongTypeError(f"on: expected 'ray' or an address, got {_validate.shown(on)}")
        yield from run_on_ray(call, tasks, on, say)
        return
    count = default_workers() if workers is None else _validate.integer("run", "workers", workers, low=0)
    if IN_BROWSER:
        count = 0
    if count == 0:
        for index, task in enumerate(tasks):
            yield _inline(call, index, task, say)
    elif tasks:
        yield from _local(call, tasks, min(count, len(tasks)), say)


def _inline(call: str, index: int, task: Task, tell: Tell) -> Outcome:
    try:
        return Outcome(index, called(call, task, lambda what: tell(index, what)))
    except Exception as error:
        return Outcome(index, failure=TaskFailure(**failure_of(error)))


def _local(call: str, tasks: Sequence[Task], count: int, tell: Tell) -> Iterator[Outcome]:
    """A thread for each worker process takes tasks in order; outcomes come through one queue."""
    waiting: queue.SimpleQueue[tuple[int, Task]] = queue.SimpleQueue()
    for pair in enumerate(tasks):
        waiting.put(pair)
    ended: queue.SimpleQueue[Outcome | tuple[int, dict[str, Any]] | BaseException] = queue.SimpleQueue()
    slots = [WorkerSlot() for _ in range(count)]
    stopping = threading.Event()

    def work(slot: WorkerSlot) -> None:
        while not stopping.is_set():
            try:
                index, task = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                ended.put(slot.do(call, index, task, lambda i, what: ended.put((i, what))))
            except BaseException as error:
                ended.put(error)
                return
        slot.end()

    threads = [threading.Thread(target=work, args=(slot,), daemon=True) for slot in slots]
    for thread in threads:
        thread.start()
    try:
        left = len(tasks)
        while left:
            item = ended.get()
            if isinstance(item, BaseException):
                raise item
            if isinstance(item, Outcome):
                left -= 1
                yield item
            else:
                tell(*item)
    finally:
        stopping.set()
        for slot in slots:
            slot.kill()
        for thread in threads:
            thread.join()


class Died(Exception):
    """A worker ended in the middle of its work; `code` as `subprocess` gives it."""

    def __init__(self, code: int) -> None:
        self.code = code

    @property
    def words(self) -> str:
        with contextlib.suppress(ValueError):
            return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"
        return f"signal {-self.code}"


class WorkerSlot:
    """One worker process at a time; another takes its place when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def do(self, call: str, index: int, task: Task, tell: Tell) -> Outcome:
        """Does one task, again where its worker dies."""
        deaths: dict[str, list[int]] = {}
        while True:
            at = ""

            def heard(what: dict[str, Any]) -> None:
                nonlocal at
                at = what.get("source", at)
                tell(index, what)

            try:
                return self._ask(call, index, task, heard)
            except Died as death:
                if self._ended:
                    raise
                deaths.setdefault(at, []).append(death.code)
                blame = [c for c in deaths[at] if -c not in _OUTSIDE]
                if len(blame) >= BLAMED:
                    words = f"took the process that read it down ({death.words}), {len(blame)} times"
                    if at and "skipped" in task:
                        task = {**task, "skipped": {**task["skipped"], at: f"{words}: left out"}}
                        continue
                    return Outcome(index, failure=TaskFailure("", words))
                if len(deaths[at]) >= KILLED:
                    where = f" at {at}" if at else ""
                    return Outcome(
                        index,
                        failure=TaskFailure(
                            "BuildError",
                            f"a worker was killed {KILLED} times{where}; is there enough memory for it?",
                        ),
                    )

    def _ask(self, call: str, index: int, task: Task, tell: Callable[[dict[str, Any]], None]) -> Outcome:
        process = self._process
        if process is None or process.poll() is not None:
            process = self._process = _started()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(frame({"call": call, "argument": task}))
            process.stdin.flush()
        while True:
            head = process.stdout.read(LENGTH.size)
            data = process.stdout.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
            if not data:
                process.kill()
                raise Died(process.wait())
            message = msgspec.msgpack.decode(data)
            if "tell" in message:
                tell(message["tell"])
            elif "result" in message:
                return Outcome(index, message["result"])
            else:
                return Outcome(index, failure=TaskFailure(**message["failure"]))

    def end(self) -> None:
        """Lets the process go: it ends with its input."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()  # type: ignore[union-attr]
            process.wait()
            process.stdout.close()  # type: ignore[union-attr]

    def kill(self) -> None:
        """Ends the process in the middle of whatever it does."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()


def _started() -> subprocess.Popen[bytes]:
    path = [*(p for p in sys.path if p), str(Path(__file__).parents[2])]
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    # -I -S: nothing of the user's environment runs in the child, and it starts quicker. A session of its own: Ctrl-C
    # ends it by way of the parent.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, json.dumps(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **one_thread},
        start_new_session=os.name == "posix",
    )
