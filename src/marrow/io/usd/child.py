"""The process that opens a USD stage: takes its options as JSON, writes the character on standard output.

The output is a `.marrow` file, or, on failure, a line of JSON after the mark `FAILED`.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

__all__ = ["FAILED", "main"]

FAILED = b"marrow failed: "


def main(arguments: dict[str, Any]) -> None:
    """Reads the stage at `path`, writes the answer, leaves."""
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints does not end up in the result
    try:
        answer = _answer(arguments)
    except MemoryError:
        answer = _failed("ResourceLimitError", "needs more memory than a file of its size may have")
    except Exception as error:  # the parent turns it into a FormatError: no file may bring its caller down
        answer = _failed("FormatError", f"does not fit together: {type(error).__name__}: {error}")
    with os.fdopen(out, "wb") as file:
        file.write(answer)
    # USD's threads and caches need no orderly end.
    os._exit(1 if answer.startswith(FAILED) else 0)


def _answer(arguments: dict[str, Any]) -> bytes:
    from marrow.errors import FormatError, MarrowError, MissingExtraError
    from marrow.io.native import write_to
    from marrow.io.source import LoadOptions, Source
    from marrow.io.usd.reader import read_stage

    try:
        import pxr.Usd  # noqa: F401  (before the limits: loading libraries is not the file's fault)
    except ImportError:
        return _failed("MissingExtraError", "")
    _limit(arguments["memory"], arguments["seconds"])
    options = LoadOptions(**arguments["options"])
    source = Source.open(Path(arguments["path"]), allow_outside=options.allow_outside)
    try:
        character = read_stage(source, options)
    except FormatError as error:
        return _failed(type(error).__name__, error.message, error.place, error.remedy)
    except MissingExtraError:
        return _failed("MissingExtraError", "")
    except MarrowError as error:
        return _failed("FormatError", f"does not fit together: {error}")
    buffer = io.BytesIO()
    write_to(buffer, character, {"references": json.dumps(list(source.references))})
    return buffer.getvalue()


def _failed(kind: str, message: str, place: str = "", remedy: str = "") -> bytes:
    text = json.dumps({"kind": kind, "message": message, "place": place, "remedy": remedy})
    return FAILED + text.encode("utf-8", "replace")


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
