"""What runs in a worker process: it takes calls from standard input, one after the other, and answers on standard
output.

A message is its length (4 bytes) and MessagePack. A call is `{call: "module:function", argument}`; the function gets
the argument and `tell`, with which it says how far it is. Nothing is pickled. The process ends at once when its parent
does, however that came about.
"""

from __future__ import annotations

import importlib
import os
import queue
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from marrow.errors import MarrowError
from marrow.printing import guarded

__all__ = ["LENGTH", "called", "failure_of", "frame", "serve"]

LENGTH = struct.Struct("<I")
Tell = Callable[[dict[str, Any]], None]


def frame(message: Any) -> bytes:
    """A message as it travels."""
    data = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(data)) + data


def called(call: str, argument: dict[str, Any], tell: Tell) -> Any:
    """Calls `module:function`."""
    module, _, name = call.partition(":")
    return getattr(importlib.import_module(module), name)(argument, tell)


def failure_of(error: BaseException) -> dict[str, str]:
    """An error as plain data."""
    if isinstance(error, MarrowError):
        return {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, MemoryError):
        return {"kind": "ResourceLimitError", "message": "needs more memory than there is"}
    place = traceback.extract_tb(error.__traceback__)
    at = f" ({os.path.basename(place[-1].filename)}:{place[-1].lineno})" if place else ""
    return {"kind": "", "message": f"a fault inside marrow: {type(error).__name__}: {error}{at}"}


def serve() -> NoReturn:
    """Answers calls until standard input ends."""
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints does not end up among the answers
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # A thread listens, so that the end of the parent is noticed in the middle of the work too.
    threading.Thread(target=_listen, args=(calls,), daemon=True).start()

    def send(message: Any) -> None:
        data = memoryview(frame(message))
        while data:
            data = data[os.write(out, data) :]

    with guarded():  # the standard error is that of the command
        while True:
            request = calls.get()
            try:
                result = called(request["call"], request["argument"], lambda what: send({"tell": what}))
                send({"result": result})
            except BrokenPipeError:
                os._exit(1)
            except BaseException as error:
                send({"failure": failure_of(error)})


def _listen(calls: queue.SimpleQueue[Any]) -> None:
    stdin = sys.stdin.buffer
    while True:
        head = stdin.read(LENGTH.size)
        data = stdin.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
        if not data:
            os._exit(0)
        calls.put(msgspec.msgpack.decode(data))
