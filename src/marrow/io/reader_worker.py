"""What runs in the process of a reader: it loads its libraries, then reads file after file, each in a worker
split off (`fork`) from it, which has hard limits on memory and time and dies with whatever the file did to it.

Where processes cannot be split (Windows; macOS, whose system libraries do not survive it), the process reads
one file and ends.

The module of a reader has two functions: `prepare()` imports what it needs (an ImportError means that its
extra is not installed), and `answer(data, options)` reads a file and gives bytes, or a list of them to be written one
after the other. Errors of marrow's go to the parent as they are; any other exception becomes a `FormatError` there.

Nothing of marrow's is imported here: a reader that needs nothing of it either starts in a fraction of the time
(`Reader.library`).

A request is `HEAD` (the lengths of both parts), a JSON description and the bytes of the file; a reply is
`REPLY_HEAD` (its kind and length) and the answer, or the failure as JSON.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import struct
import sys
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = [
    "FAILED",
    "HEAD",
    "LOOK_SECONDS",
    "REPLY",
    "REPLY_HEAD",
    "STOPPED",
    "Refusal",
    "is_stopped",
    "serve",
]

HEAD, REPLY_HEAD = struct.Struct("<QQ"), struct.Struct("<cQ")
REPLY, FAILED = b"+", b"-"
IDLE_SECONDS = 20.0
LOOK_SECONDS = 0.5
"""How often those who wait look whether the other side was stopped (SIGSTOP): then nothing comes of it."""
STOPPED = 65
"""The exit code of a server whose worker was stopped."""
Answer = Callable[..., Any]
_SPLITS = hasattr(os, "fork") and sys.platform != "darwin"


class Refusal(Exception):
    """A file that a reader refuses; in the parent it is a `ResourceLimitError`."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message, self.place, self.remedy = message, "", remedy


def serve(module: str) -> NoReturn:
    """Answers requests on standard input until there are no more, or none came for a while."""
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints does not end up in the answers
    gc.disable()
    try:
        reader = importlib.import_module(module)
        reader.prepare()
    except ImportError as error:
        _send(out, FAILED, _failure("MissingExtraError", str(error)))
        os._exit(0)
    gc.freeze()
    _silence()
    while _is_asked():
        head = _read(HEAD.size)
        if len(head) < HEAD.size:
            break
        length, size = HEAD.unpack(head)
        request = json.loads(_read(length))
        code = (
            _split(reader.answer, request, size, out) if _SPLITS else _work(reader.answer, request, size, out)
        )
        if code:
            os._exit(code)
    os._exit(0)


def _silence() -> None:
    """From here on nothing reads what the libraries print, so it must not fill a pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _is_asked() -> bool:
    if not _SPLITS:
        return True
    import select

    return bool(select.select([0], [], [], IDLE_SECONDS)[0])


def _split(answer: Answer, request: dict[str, Any], size: int, out: int) -> int:
    """Has a worker answer, and waits for its end: its exit code, 128 and the number for a signal."""
    import select
    import signal

    alive, held = os.pipe()  # closes when the worker ends
    worker = os.fork()
    if not worker:
        os.close(alive)
        _work(answer, request, size, out)
    os.close(held)
    poller = select.poll()
    for end in (0, alive):
        poller.register(end, 0)  # tells of the other side's end only
    stopped = 0
    while not (ended := {end for end, _ in poller.poll(1000 * LOOK_SECONDS)}):
        stopped = stopped + 1 if is_stopped(worker) else 0
        if stopped > 1:
            os.kill(worker, signal.SIGKILL)
            os._exit(STOPPED)
    if alive not in ended:  # nobody waits for the answer any more
        os.kill(worker, signal.SIGKILL)
        os._exit(0)
    os.close(alive)
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    return code if code >= 0 else 128 - code


def is_stopped(child: int) -> bool:
    """Whether a child process was stopped and not continued; False where the system cannot tell."""
    try:
        return os.waitid(os.P_PID, child, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except (AttributeError, OSError):
        return False


def _work(answer: Answer, request: dict[str, Any], size: int, out: int) -> NoReturn:
    try:
        data = _read(size)
        _limit(request["memory"], request["seconds"])
        payload = answer(data, request["options"])
        kind, parts = REPLY, payload if isinstance(payload, list) else [payload]
    except MemoryError:
        words = "needs more memory than a file of its size may have"
        kind, parts = FAILED, [_failure("ResourceLimitError", words)]
    except Exception as error:  # no file may bring its caller down
        kind, parts = FAILED, [_told(error)]
    with contextlib.suppress(OSError):
        _send(out, kind, *parts)
    os._exit(0)  # native libraries do not all survive an orderly end


def _told(error: Exception) -> bytes:
    """An error on its way to the parent."""
    name = type(error).__name__
    if isinstance(error, Refusal):
        return _failure("ResourceLimitError", error.message, remedy=error.remedy)
    errors = sys.modules.get("marrow.errors")  # not there: none of them was raised
    if errors is not None:
        if isinstance(error, errors.FormatError):
            return _failure(name, error.message, error.place, error.remedy)
        if isinstance(error, errors.MissingExtraError):
            return _failure(name, str(error))
        if isinstance(error, errors.MarrowError):
            return _failure("FormatError", f"does not fit together: {error}")
    if isinstance(error, (ValueError, OverflowError, IndexError, KeyError)):
        return _failure("FormatError", f"does not fit together: {error}")
    return _failure("FormatError", f"does not fit together: {name}: {error}")


def _failure(kind: str, message: str, place: str = "", remedy: str = "") -> bytes:
    text = json.dumps({"kind": kind, "message": message, "place": place, "remedy": remedy})
    return text.encode("utf-8", "replace")


def _read(size: int) -> bytes:
    """So many bytes of standard input; fewer where it ends."""
    parts, left = [], size
    while left:
        part = os.read(0, min(left, 1 << 20))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _send(out: int, kind: bytes, *parts: Any) -> None:
    for part in (REPLY_HEAD.pack(kind, sum(map(len, parts))), *parts):
        view = memoryview(part)
        while view:
            view = view[os.write(out, view[: 1 << 20]) :]


def _limit(memory: int, seconds: int) -> None:
    """Hard limits where the system has them; elsewhere the parent's clock is the only one."""
    try:
        import resource
    except ImportError:
        return
    for what, amount in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(what)
            amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            resource.setrlimit(what, (amount, amount))
