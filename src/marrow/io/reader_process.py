"""Runs readers of native code (FBX, USD) in processes of their own, and brings their answers or failures home.

No file can crash, hang or exhaust the caller. A process that has started is kept for the next file, since
starting takes longer than most files do: there it waits with its libraries loaded and splits off a worker for
each file, with limits on that worker's time and memory (`marrow.io.reader_worker`). Threads that load at once have one
each; a few are kept. It ends when it was idle for a while, and at once when its parent does, however that comes about.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, Any, Literal, cast

from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io.reader_worker import FAILED, HEAD, LOOK_SECONDS, REPLY, REPLY_HEAD, STOPPED, is_stopped
from marrow.pyodide import IN_BROWSER

__all__ = ["Reader", "ask", "end_all"]

_START = (
    "import sys; module, *path = sys.argv[1:]; sys.path[:] = path;"
    "from marrow.io.reader_worker import serve; serve(module)"
)
# Stands in for marrow's packages: their modules can be imported, what the packages themselves import is not.
_START_ALONE = """
import gc, sys
gc.disable()
module, folder, *path = sys.argv[1:]
sys.path += path
name = ""
for part in module.split(".")[:-1]:
    folder, name = f"{folder}/{part}", f"{name}.{part}" if name else part
    sys.modules[name] = package = type(sys)(name)
    package.__path__ = [folder]
from marrow.io.reader_worker import serve
serve(module)
"""
# What a file of any size may take, and what each of its bytes adds: real scenes stay far below.
MEMORY_PER_BYTE = 30
BASE_SECONDS, SECONDS_PER_MEGABYTE = 8, 1.0
MAX_IDLE = max(2, min(8, os.cpu_count() or 1))
_PIPE_SIZE = 1 << 20


@dataclass(frozen=True)
class Reader:
    """A reader in a process of its own: `module` has `prepare()` and `answer(data, options)`, see
    `marrow.io.reader_worker`. `package` and `extra` are named where the library it needs is not installed.

    With a `library` the module imports nothing else: neither NumPy nor marrow's packages, which take longer to start than
    most files to read. Only that library's folder and Python's own are on its path.
    """

    name: str
    module: str
    package: str
    extra: str
    base_memory: int = 2 << 30
    library: str = ""


def ask(
    reader: Reader, data: bytes | memoryview, options: Mapping[str, Any], *, size: int, path: Path
) -> bytes:
    """What the reader answers to `data` and `options`; any way it can fail is a `MarrowError`.

    `size` is that of the file: it decides how much time and memory the reader may take.
    """
    if IN_BROWSER:
        raise FormatError(
            f"{reader.name} is read by native code ({reader.package}) in its own process: a browser's Python has neither",
            path=path,
            remedy="on a computer, `marrow convert FILE hero.glb` makes a GLB of it, which can be read here",
        )
    seconds = int(BASE_SECONDS + SECONDS_PER_MEGABYTE * size / 1e6)
    request = {
        "memory": reader.base_memory + MEMORY_PER_BYTE * size,
        "seconds": seconds,
        "options": dict(options),
    }
    head = json.dumps(request).encode()
    message = [HEAD.pack(len(head), len(data)) + head, data]
    again = False
    while True:
        server, fresh = _take(reader, path)
        answer = server.ask(message, wall_limit(seconds))
        if isinstance(answer, tuple):
            break
        # One that was idle may have gone just now, or have been stopped from outside, and one that was started may have
        # given up waiting while this process was held up: that says nothing of the file.
        if (answer == STOPPED or (fresh and answer == 0)) and not again:
            again = True
        elif fresh or answer not in (0, "late"):
            raise _failure(reader, answer, server.complaint, seconds, path)
    kind, payload = answer
    if kind == REPLY:
        return payload
    raise _told(reader, json.loads(payload), path)


def wall_limit(seconds: float) -> float:
    """How long to wait. Where there is a limit on CPU time, that is the one that strikes, however busy the
    machine; the clock is for what sleeps.
    """
    return 10.0 + 4.0 * seconds if os.name == "posix" else 3.0 * seconds


class _Server:
    """One process, and the pipes to it."""

    def __init__(self, reader: Reader) -> None:
        own = str(Path(__file__).parents[2])
        if reader.library:
            code, arguments = _START_ALONE, [own, *_folder_of(reader.library)]
        else:
            code, arguments = _START, [*(p for p in sys.path if p), own]
        # -I -S: nothing of the user's environment runs in the child, and it starts quicker. A session of its
        # own: what ends the caller (Ctrl-C) ends the child by way of the caller, its worker included.
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", code, reader.module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # no locks: a process that is forked while a thread waits at one would wait for ever
            env=_environment(),
            start_new_session=os.name == "posix",
        )
        _widen(self.process.stdin, self.process.stdout)
        self.complaint = ""
        self.outcome: Literal["late"] | int | None = None
        """Why it was ended before it answered."""

    def ask(
        self, message: list[bytes | memoryview], limit: float
    ) -> tuple[bytes, bytes] | int | Literal["late"]:
        """Kind and bytes of the answer; or, where none came, the exit code, or that it took too long."""
        done = threading.Event()
        threading.Thread(target=self._watch, args=(limit, done), daemon=True).start()
        try:
            answer = self._exchange(message)
        except BaseException:  # Ctrl-C above all: nothing waits for the answer any more
            self.kill()
            self.end()
            raise
        finally:
            done.set()
        if answer is not None:
            _give_back(self)
            return answer
        self.end()
        return self.process.returncode if self.outcome is None else self.outcome

    def _exchange(self, message: list[bytes | memoryview]) -> tuple[bytes, bytes] | None:
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it may have said why before it left
            for part in message:
                left = memoryview(part)
                while left:
                    left = left[stdin.write(left) :]
        answers = io.BufferedReader(cast(io.RawIOBase, stdout))  # of this thread alone
        try:
            head = answers.read(REPLY_HEAD.size)
            if len(head) == REPLY_HEAD.size:
                kind, length = REPLY_HEAD.unpack(head)
                with contextlib.suppress(MemoryError, OverflowError):
                    payload = answers.read(length)
                    if kind in (REPLY, FAILED) and len(payload) == length:
                        return kind, payload
            return None
        finally:
            answers.detach()

    def _watch(self, limit: float, done: threading.Event) -> None:
        """Ends the process when its time is over, or when something has stopped it: it would never answer."""
        stopped = 0
        until = time.monotonic() + limit
        while not done.wait(max(min(LOOK_SECONDS, until - time.monotonic()), 0.0)):
            stopped = stopped + 1 if is_stopped(self.process.pid) else 0
            if stopped > 1 or time.monotonic() >= until:
                self.outcome = STOPPED if stopped > 1 else "late"
                self.kill()
                return

    def kill(self) -> None:
        """Ends the process and what it started."""
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    def end(self) -> None:
        """Waits for a process that has nothing more to do, and for its last words."""
        p = self.process
        if p.returncode is None:
            with contextlib.suppress(OSError):
                p.stdin.close()  # type: ignore[union-attr]
            try:
                p.wait(1.0)
            except subprocess.TimeoutExpired:
                self.kill()
                p.wait()
        # A worker that outlived its server keeps the pipe open.
        self.kill()
        with _lock:
            _reader_of.pop(self, None)
        with contextlib.suppress(OSError, ValueError):
            self.complaint = p.stderr.read().decode("utf-8", "replace")  # type: ignore[union-attr]
        self.close()

    def close(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


def _folder_of(library: str) -> list[str]:
    """The folder that a package lies in, if it is installed; finding it does not import it. Where Python was started
    (an empty entry of its path) is not looked at: what lies there runs for nobody else. A script or a folder of data by
    the same name is not it."""
    for folder in filter(None, sys.path):
        found = PathFinder.find_spec(library, [folder])
        if found is not None and found.loader is not None and found.submodule_search_locations:
            return [str(Path(found.submodule_search_locations[0]).parent)]
    return []


def _widen(*pipes: IO[bytes] | None) -> None:
    """Makes the pipes hold more at a time where the system can: fewer turns between reader and caller."""
    try:
        import fcntl

        for pipe in pipes:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)  # type: ignore[arg-type]
    except (ImportError, AttributeError, OSError):
        return  # they work as they are


_lock = threading.Lock()
_idle: dict[Reader, list[_Server]] = {}
_reader_of: dict[_Server, Reader] = {}


def _take(reader: Reader, path: Path) -> tuple[_Server, bool]:
    """A process for the reader, and whether it was started just now."""
    with _lock:
        waiting = _idle.get(reader, [])
        while waiting:
            server = waiting.pop()
            if server.process.poll() is None:
                return server, False
            _reader_of.pop(server, None)
            server.close()
    try:
        server = _Server(reader)
    except (OSError, ValueError) as error:
        raise FormatError(f"the {reader.name} reader could not be started: {error}", path=path) from None
    with _lock:
        _reader_of[server] = reader
    return server, True


def _give_back(server: _Server) -> None:
    with _lock:
        reader = _reader_of.get(server)
        waiting = _idle.setdefault(reader, []) if reader else []
        if reader and len(waiting) < MAX_IDLE:
            waiting.append(server)
            return
    server.end()


def end_all() -> None:
    """Ends the processes that wait for files. Happens by itself when this one ends."""
    with _lock:
        servers = list(_reader_of)
        _idle.clear()
        _reader_of.clear()
    for server in servers:
        server.kill()
        server.end()


def _forget_all() -> None:
    """In a process that was forked: what was started is its parent's, and so are the pipes to it."""
    global _lock
    _lock = threading.Lock()
    for server in _reader_of:
        server.process.returncode = 0
        server.close()
    _idle.clear()
    _reader_of.clear()


atexit.register(end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _environment() -> dict[str, str]:
    # Threads the child does not use would reserve address space it may not have.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MARROW"))}
    one = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PXR_WORK_THREAD_LIMIT")
    # Arrays that come and go reuse memory instead of asking the system for it each time (glibc).
    heap = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
    return kept | dict.fromkeys(one, "1") | heap


def _told(reader: Reader, failure: dict[str, str], path: Path) -> FormatError | MissingExtraError:
    if failure["kind"] == "MissingExtraError":
        return MissingExtraError(reader.package, reader.extra, f"reading {reader.name} files")
    kind = ResourceLimitError if failure["kind"] == "ResourceLimitError" else FormatError
    return kind(failure["message"], path=path, place=failure["place"], remedy=failure["remedy"])


def _failure(
    reader: Reader, code: int | Literal["late"], complaint: str, seconds: int, path: Path
) -> FormatError:
    if code == "late":
        return ResourceLimitError(f"was not read within {wall_limit(seconds):g} seconds", path=path)
    if code == STOPPED:
        return ResourceLimitError(
            f"the {reader.name} reader was stopped from outside before it was done, twice", path=path
        )
    number = code - 128 if code > 128 else -code
    if number in (getattr(signal, "SIGXCPU", 24), 9):
        return ResourceLimitError(
            f"took the {reader.name} reader more than {seconds} seconds or more memory than there is",
            path=path,
        )
    if number > 0:
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        return FormatError(
            f"made the {reader.name} reader crash ({name})", path=path, remedy="the file is likely damaged"
        )
    last = complaint.strip().rpartition("\n")[2]
    return FormatError(f"the {reader.name} reader failed: {last or f'exit code {code}'}", path=path)
