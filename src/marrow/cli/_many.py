"""What commands that work on many files share: how far they are, and what is said of a file that failed."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marrow.cli._errors import (
    BAD_CALL,
    BAD_FILE,
    FINE,
    UsageError,
    note,
    on_terminal,
    show_error,
    write_over,
)
from marrow.errors import MarrowError

if TYPE_CHECKING:
    from marrow.dataset.file_batch import Done

__all__ = ["failure_code", "into_folder", "is_folder", "shown_progress", "told"]

_CALL = ("UsageError", "UnknownNameError", "ValidationError")


def told(done: Done) -> MarrowError:
    """The error of a file, with the name of the file in front."""
    named = done.error.startswith(done.file) or done.file in done.error
    text = done.error if named else f"{done.file}: {done.error}"
    return UsageError(text) if done.kind in _CALL else MarrowError(text)


def failure_code(done: Done) -> int:
    """The exit code of a file that failed: the call was wrong, or the file is bad."""
    return BAD_CALL if done.kind in _CALL else BAD_FILE


def shown_progress(done: Iterable[Done], count: int) -> Iterator[Done]:
    """The same, with a line on stderr that is written over: how many of how many, how fast, what is left."""
    if count < 2 or not on_terminal():
        yield from done
        return
    began, failed, new = time.perf_counter(), 0, 0
    for k, item in enumerate(done, 1):
        failed, new = failed + bool(item.error), new + (not item.kept)
        seconds = time.perf_counter() - began
        left = f", {(count - k) * seconds / new:.0f} s left" if new and k < count else ""
        bad = f", {failed} failed" if failed else ""
        write_over(f"{f'{k}/{count} files{bad}{left}':<60}")
        yield item
    print(file=sys.stderr)


def is_folder(files: Sequence[str], out: Path, to: str | None) -> bool:
    """Whether results go into a folder: there are several files, or the format of its files was named."""
    pattern = any(c in files[0] for c in "*?[") and not os.path.exists(files[0])
    several = len(files) > 1 or os.path.isdir(files[0]) or pattern
    if several and out.suffix and not out.is_dir():
        raise UsageError(f"{out}: several files need a folder (a name without a suffix)")
    return several or to is not None


def into_folder(
    call: str,
    files: Sequence[str],
    out: Path,
    to: str,
    options: dict[str, Any],
    *,
    workers: int,
    on: str | None,
    force: bool,
    json: bool = False,
) -> int:
    """Lets `call` make a file of the format `to` of each file; says what came of each. The exit code."""
    from marrow.cli._files import writable
    from marrow.cli._output import print_json, say
    from marrow.dataset.file_batch import each_file, named
    from marrow.errors import FormatError
    from marrow.io import registry

    suffix = f".{to.lstrip('.').lower()}"
    try:
        registry.for_writing(Path(f"x{suffix}"))
    except FormatError as error:
        raise UsageError(f"--to: {error}") from None
    if suffix in (".gltf", ".obj", ".ply"):
        raise UsageError(
            f"--to {to}: a folder gets one file for each: glb, vrm, usdc, usda, usdz, bvh or marrow"
        )
    writable(out, force=force, folder=True)
    pairs = named(files)
    each = [options | {"name": f"{name}{suffix}"} for _, name in pairs]
    code, kept, told_of = FINE, 0, []
    done = each_file(call, [place for place, _ in pairs], each, out=out, workers=workers, on=on, force=force)
    for item in shown_progress(done, len(pairs)):
        if item.error:
            show_error(told(item))
            code = max(code, failure_code(item))
            told_of.append({"source": item.file, "error": item.error})
            continue
        kept += item.kept
        told_of.append({"source": item.file} | item.result)
        for line in item.result["notes"] if not item.kept else ():
            note(line)
        if not json and not item.kept:
            say(f"{out / item.result['file']}: {item.result['text']}")
    if json:
        print_json(told_of)
    else:
        failed = sum("error" in entry for entry in told_of)
        before = f", {kept} of them before" if kept else ""
        say(f"{out}: {len(told_of) - failed} files{before}" + (f", {failed} failed" if failed else ""))
    return code
