"""Starts the process that reads a stage, and brings its answer or its failure home."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from marrow.errors import FormatError, MissingExtraError, ResourceLimitError
from marrow.io.container import Container
from marrow.io.native import read_container
from marrow.io.source import LoadOptions, Source
from marrow.io.usd.child import FAILED
from marrow.model import Character

__all__ = ["read"]

_START = (
    "import sys, json; a = json.loads(sys.stdin.read()); sys.path[:] = a['import_path'];"
    "from marrow.io.usd.child import main; main(a)"
)
# USD maps files and reserves room for its threads, so the limit on addresses is wider than what it uses.
BASE_MEMORY, MEMORY_PER_BYTE = 4 << 30, 30
BASE_SECONDS, SECONDS_PER_MEGABYTE = 8, 1.0


def read(source: Source, options: LoadOptions) -> Character:
    """The character on a USD stage."""
    size = len(source.data)
    seconds = int(BASE_SECONDS + SECONDS_PER_MEGABYTE * size / 1e6)
    arguments = {
        "import_path": [*(p for p in sys.path if p), str(Path(__file__).parents[3])],
        "path": str(source.path.absolute()),
        "memory": BASE_MEMORY + MEMORY_PER_BYTE * size,
        "seconds": seconds,
        "options": asdict(options),
    }
    done = _run(arguments, 3.0 * seconds, source.path)
    if done.returncode == 0:
        container = Container(done.stdout)
        character = read_container(container, source.path)
        # The parent asks for the same neighbours by the same rules: the cache key needs their bytes.
        for reference in json.loads(container.metadata.get("references", "[]")):
            with contextlib.suppress(FormatError):
                source.neighbour(reference)
        return character
    if done.stdout.startswith(FAILED):
        raise _told(json.loads(done.stdout[len(FAILED) :]), source.path)
    raise _crashed(done.returncode, done.stderr.decode("utf-8", "replace"), seconds, source.path)


def _run(arguments: dict[str, object], limit: float, path: Path) -> subprocess.CompletedProcess[bytes]:
    # One thread: a character is no film set, and every thread reserves memory. -I -S: nothing of the user's
    # environment runs in the child, and it starts quicker.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MARROW"))}
    one = {"PXR_WORK_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        return subprocess.run(
            [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START],
            input=json.dumps(arguments).encode(),
            capture_output=True,
            timeout=limit,
            env=kept | one,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ResourceLimitError(f"was not read within {limit:g} seconds", path=path) from None
    except (OSError, ValueError) as error:
        raise FormatError(f"the USD reader could not be started: {error}", path=path) from None


def _told(failure: dict[str, str], path: Path) -> FormatError | MissingExtraError:
    if failure["kind"] == "MissingExtraError":
        return MissingExtraError("usd-core", "usd", "reading USD files")
    kind = ResourceLimitError if failure["kind"] == "ResourceLimitError" else FormatError
    return kind(failure["message"], path=path, place=failure["place"], remedy=failure["remedy"])


def _crashed(code: int, complaint: str, seconds: int, path: Path) -> FormatError:
    if code in (-getattr(signal, "SIGXCPU", 24), -9):
        return ResourceLimitError(
            f"took the USD reader more than {seconds} seconds or more memory than there is", path=path
        )
    if code < 0:
        return FormatError(
            f"made the USD reader crash (signal {-code})", path=path, remedy="the file is likely damaged"
        )
    last = complaint.strip().rpartition("\n")[2]
    return FormatError(f"the USD reader failed: {last or f'exit code {code}'}", path=path)
