"""One thing done with many files: what `marrow bake`, `convert`, `check` and `lod` do when they are given more than one.

The thing is a function `(path, making, options) -> result`; `making(name)` is a path to write one of its files at, which
appears when it is whole. Work is spread over processes or a cluster as shards of a data set are, and journalled as they
are: the same command does what is missing, and again what depends on something that has changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from marrow._version import __version__
from marrow.dataset.journal import is_same, locked
from marrow.dataset.pool import run_tasks
from marrow.dataset.recipe import digest_of
from marrow.dataset.rows import Dependency
from marrow.dataset.sources import found, problem_of, stamp
from marrow.dataset.storage import BuildError, LocalStore, OutputError
from marrow.errors import MarrowError, ValidationError
from marrow.io.source import watched
from marrow.printing import printable

__all__ = ["FOLDER", "Done", "Making", "each_file", "expanded", "named"]

CALL = "marrow.dataset.file_batch:one_file"
FOLDER = ".marrow"
"""Where a folder of results keeps what is done."""
Making = Callable[[str], contextlib.AbstractContextManager[Path]]


@dataclass(frozen=True)
class Done:
    """What came of a file: a result, or the name of an error and its words. `kept`: it was done before."""

    file: str
    result: Any = None
    kind: str = ""
    error: str = ""
    kept: bool = False


class FileTask(msgspec.Struct, frozen=True):
    """One file to do. `out` is the folder that is written to, if any."""

    call: str
    file: str
    options: dict[str, Any]
    out: str | None
    key: str
    skipped: dict[str, str] = {}


class FileRecord(msgspec.Struct, frozen=True):
    """A file that is done: what it was made of, what was written (with sizes), and the result."""

    dependencies: tuple[Dependency, ...]
    written: dict[str, int]
    result: Any


def expanded(files: Sequence[str]) -> list[str]:
    """Files as they were given; folders and patterns as the files in them."""
    return [path for path, _ in named(files)]


def named(files: Sequence[str]) -> list[tuple[str, str]]:
    """Files and what each is called below the folder or pattern it was found by, without its suffix; no two are called
    the same."""
    pairs: dict[str, str] = {}
    for file in files:
        if os.path.isdir(file) or (any(c in file for c in "*?[") and not os.path.exists(file)):
            for s in found(file, what="files"):
                pairs.setdefault(s.path if os.path.isabs(file) else os.path.relpath(s.path), s.name)
        else:
            pairs.setdefault(file, os.path.basename(file))
    taken: set[str] = set()
    out = []
    for path, name in pairs.items():
        stem = unique = os.path.splitext(name)[0]
        n = 2
        while unique.lower() in taken:
            unique, n = f"{stem}_{n}", n + 1
        taken.add(unique.lower())
        out.append((path, unique))
    return out


def each_file(
    call: str,
    files: Sequence[str],
    options: Sequence[dict[str, Any]],
    *,
    out: Path | None = None,
    workers: int | None = 0,
    on: str | None = None,
    force: bool = False,
) -> Iterator[Done]:
    """Calls `module:function` for every file with its options; what comes of each, in the order of `files`.

    With `out`, what was written there before and is still good is kept unless `force` is set.
    """
    store = LocalStore(out) if out is not None else None
    try:
        msgspec.json.encode([store and store.url, list(options)])
    except UnicodeEncodeError as error:  # workers are sent UTF-8
        raise ValidationError(f"{error.object}: a name that is not UTF-8; rename it") from None
    problems = {f: "" if "://" in f else problem_of(f) for f in files}
    tasks = [
        FileTask(call, f, o, None if store is None else store.url, digest_of([__version__, call, f, o])[:16])
        for f, o in zip(files, options)
        if not problems[f]
    ]
    with contextlib.ExitStack() as stack:
        if store is not None:
            stack.enter_context(locked(store, FOLDER))
        kept = {} if force or store is None else {k: r for k, t in enumerate(tasks) if (r := _kept(store, t))}
        todo = [k for k in range(len(tasks)) if k not in kept]
        outcomes = run_tasks(CALL, [msgspec.to_builtins(tasks[k]) for k in todo], workers=workers, on=on)
        stack.callback(outcomes.close)  # type: ignore[attr-defined]
        ready: dict[int, Done] = {k: Done(tasks[k].file, r.result, kept=True) for k, r in kept.items()}
        k = -1
        for file in files:
            if problems[file]:
                shown = printable(file)
                yield Done(shown, None, "FormatError", f"{shown}: {problems[file]}")
                continue
            k += 1
            while k not in ready:
                outcome = next(outcomes)
                at = todo[outcome.index]
                if outcome.failure is not None:
                    if outcome.failure.kind in ("OutputError", "BuildError"):
                        kind = OutputError if outcome.failure.kind == "OutputError" else BuildError
                        raise kind(outcome.failure.message)
                    ready[at] = Done(tasks[at].file, None, outcome.failure.kind, outcome.failure.message)
                else:
                    ready[at] = Done(tasks[at].file, **outcome.result)
            yield ready.pop(k)


def _name(key: str) -> str:
    return f"{FOLDER}/{key}.json"


def _kept(store: LocalStore, task: FileTask) -> FileRecord | None:
    data = store.read(_name(task.key))
    try:
        record = None if data is None else msgspec.json.decode(data, type=FileRecord)
    except msgspec.MsgspecError:
        return None
    if record is None or any(store.size(name) != size for name, size in record.written.items()):
        return None
    return record if all(is_same(d.path, d) for d in record.dependencies) else None


def one_file(argument: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Does one file, in whatever process this is."""
    task = msgspec.convert(argument, FileTask)
    if task.file in task.skipped:
        return {"kind": "FormatError", "error": f"{task.file}: {task.skipped[task.file]}"}
    tell({"source": task.file})
    module, _, name = task.call.partition(":")
    function = getattr(importlib.import_module(module), name)
    store = LocalStore(Path(task.out)) if task.out is not None else None
    written: list[str] = []

    @contextlib.contextmanager
    def making(name: str) -> Iterator[Path]:
        assert store is not None
        with store.making(name, keep_suffix=True) as path:
            yield path
        written.append(name)

    with watched() as files:
        try:
            result = function(task.file, making, task.options)
        except BuildError:
            raise
        except MarrowError as error:
            return {"kind": type(error).__name__, "error": str(error)}
    if store is not None:
        made = tuple(
            Dependency(str(p), stamp(str(p)), hashlib.sha256(d).hexdigest()) for p, d in files.items()
        )
        record = FileRecord(made, {n: store.size(n) or 0 for n in written}, result)
        store.write(_name(task.key), msgspec.json.encode(record))
    return {"result": result}
