"""The process that opens an FBX file: reads it on standard input, writes the character on standard output.

On success the output is a `.marrow` file; on failure it is one line of text after the mark `ERROR`, or after
`LIMIT` where the file asked for too much. The process has hard limits on memory and time, and always leaves
by `os._exit`: the binding does not survive an orderly end.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys

__all__ = ["ERROR", "LIMIT", "main"]

ERROR = b"marrow error: "
LIMIT = b"marrow limit: "


def main(memory: int, seconds: int, options: str) -> None:
    """Reads, converts, writes, leaves. `options` is JSON: `scale`, `fps`."""
    out = os.dup(1)
    os.dup2(2, 1)  # whatever prints does not end up in the result
    gc.disable()
    answer = ERROR + b"failed for an unknown reason"
    try:
        data = sys.stdin.buffer.read()
        import ufbx

        from marrow.errors import MarrowError, ResourceLimitError
        from marrow.io.fbx.convert import convert
        from marrow.io.native import write_to

        _limit(memory, seconds)
        try:
            wanted = json.loads(options)
            character, outside = convert(data, wanted["scale"], wanted["fps"])
            buffer = io.BytesIO()
            write_to(buffer, character, {"outside": json.dumps(outside)})
            answer = buffer.getvalue()
        except ufbx.UfbxError as error:
            answer = ERROR + f"is not a readable FBX file: {_reason(error)}".encode("utf-8", "replace")
        except MemoryError:
            answer = LIMIT + b"needs more memory than a file of its size may have"
        except ResourceLimitError as error:
            answer = LIMIT + error.message.encode("utf-8", "replace")
        except (MarrowError, ValueError, OverflowError, IndexError, KeyError) as error:
            answer = ERROR + f"does not fit together: {error}".encode("utf-8", "replace")
    except Exception as error:  # the parent turns it into a FormatError: no file may bring its caller down
        answer = ERROR + f"the FBX reader failed: {type(error).__name__}: {error}".encode("utf-8", "replace")
    finally:
        with os.fdopen(out, "wb") as file:
            file.write(answer)
        os._exit(1 if answer.startswith((ERROR, LIMIT)) else 0)


def _reason(error: Exception) -> str:
    kind = type(error).__name__.removesuffix("Error")
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip()
    return f"{words}: {error}" if str(error) else words


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
        try:
            _, hard = resource.getrlimit(what)
            amount = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
            resource.setrlimit(what, (amount, amount))
        except (ValueError, OSError):
            continue
