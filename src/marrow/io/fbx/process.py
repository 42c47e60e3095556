"""Runs the reader of untrusted native code in a process of its own, and brings its answer or its failure
home.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io.fbx.child import ERROR, LIMIT

__all__ = ["run_child"]

_START = (
    "import sys, json; a = json.loads(sys.argv[1]); sys.path[:] = a['path'];"
    "from marrow.io.fbx.child import main; main(a['memory'], a['seconds'], a['options'])"
)
# What a file of any size may take, and what each of its bytes adds: real scenes stay far below.
BASE_MEMORY, MEMORY_PER_BYTE = 2 << 30, 30
BASE_SECONDS, SECONDS_PER_MEGABYTE = 8, 1.0


def run_child(data: bytes | memoryview, options: dict[str, float | None], path: Path) -> bytes:
    """The `.marrow` bytes the child makes of an FBX file; any way it can fail is a `FormatError`."""
    seconds = int(BASE_SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1e6)
    arguments = {
        "path": [*(p for p in sys.path if p), str(Path(__file__).parents[3])],
        "memory": BASE_MEMORY + MEMORY_PER_BYTE * len(data),
        "seconds": seconds,
        "options": json.dumps(options),
    }
    # -I -S: nothing of the user's environment runs in the child, and it starts quicker.
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, json.dumps(arguments)]
    try:
        done = subprocess.run(
            command,
            input=data,
            capture_output=True,
            timeout=wall_limit(seconds),
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ResourceLimitError(f"was not read within {wall_limit(seconds):g} seconds", path=path) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"the FBX reader could not be started: {error}", path=path) from None
    for mark, kind in ((LIMIT, ResourceLimitError), (ERROR, FormatError)):
        if done.returncode == 1 and done.stdout.startswith(mark):
            raise kind(done.stdout[len(mark) :].decode("utf-8", "replace"), path=path)
    if done.returncode == 0:
        return done.stdout
    raise _failure(done.returncode, done.stderr.decode("utf-8", "replace"), seconds, path)


def wall_limit(seconds: int) -> float:
    """The limit on CPU time strikes first unless the machine is busy or has no such limit."""
    return 3.0 * seconds


def _environment() -> dict[str, str]:
    # Threads the child does not use would reserve address space it may not have.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MARROW"))}
    return kept | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def _failure(code: int, complaint: str, seconds: int, path: Path) -> FormatError | MissingExtraError:
    if code in (-getattr(signal, "SIGXCPU", 24), -9):
        return ResourceLimitError(
            f"took the FBX reader more than {seconds} seconds or more memory than there is", path=path
        )
    last = complaint.strip().rpartition("\n")[2]
    if "No module named 'ufbx'" in last:
        return MissingExtraError("ufbx", "", "reading FBX files")
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return FormatError(
            f"made the FBX reader crash ({name})", path=path, remedy="the file is likely damaged"
        )
    return FormatError(f"the FBX reader failed: {last or f'exit code {code}'}", path=path)
