"""Building one shard: what workers do, wherever they run. The result depends on the task alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec

from marrow._version import __version__
from marrow.dataset import formats
from marrow.dataset.journal import FOLDER, ShardRecord, SourceRecord, write_record
from marrow.dataset.plan import Shard
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import SourceRows
from marrow.dataset.schema import Schema
from marrow.dataset.sources import SourceFile
from marrow.dataset.statistics import Running
from marrow.dataset.storage import BuildError, file_digest, store_at
from marrow.errors import MarrowError
from marrow.model import Character

__all__ = ["CALL", "PLAN", "ShardTask", "build_shard"]

CALL = "marrow.dataset.shard_task:build_shard"
PLAN = f"{FOLDER}/plan.json"
Tell = Callable[[dict[str, Any]], None]


class ShardTask(msgspec.Struct, frozen=True):
    """All a worker needs to know. `plan` is the number of the build, which the storage must show to whoever writes
    there; `skipped` are sources that took their worker down, with what is said of them."""

    store: str
    plan: str
    recipe: Recipe
    schema: Schema
    shard: Shard
    libraries: dict[str, str]
    character: str | None = None
    character_sha256: str = ""
    skipped: dict[str, str] = {}
    version: str = __version__


_characters: dict[tuple[str, str, Recipe], Character] = {}


def build_shard(argument: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Makes the shard of a `ShardTask` and its record; tells of each source before it is read and after."""
    task = msgspec.convert(argument, ShardTask)
    recipe, schema, shard = task.recipe, task.schema, task.shard
    _check_place(task)
    onto = _character(task) if task.character is not None else None
    store = store_at(task.store)
    file = f"{shard.split}/{shard.key}{formats.SUFFIX[recipe.format]}"
    running = Running(schema.fields if shard.split == "train" else ())
    sources: list[SourceRecord] = []
    skeletons: dict[str, Any] = {}
    rows = frames = size = 0
    digest = ""
    with contextlib.ExitStack() as stack:
        writer = None
        try:
            for source in shard.sources:
                tell({"source": source.name})
                found = SourceRows(recipe, schema, source, onto)
                error = source.problem or task.skipped.get(source.name, "")
                before = frames
                if not error:
                    try:
                        for row in found:
                            if writer is None:
                                path = stack.enter_context(store.making(file))
                                writer = formats.writer(path, schema, recipe)
                            writer.add(row)
                            running.add(row.arrays)
                            rows, frames = rows + 1, frames + row.frames
                    except BuildError:
                        raise
                    except MarrowError as problem:
                        error = found.failure(problem)
                    except OSError:
                        raise
                    except MemoryError:
                        error, found.sha256 = "needs more memory than there is", ""
                    except (
                        Exception
                    ) as problem:  # one file's fault is one line, also where it is marrow's own
                        error = f"a fault inside marrow: {type(problem).__name__}: {problem}"
                sources.append(_said(source, found, error, skipped=source.name in task.skipped))
                skeletons |= found.skeletons
                tell({"done": source.name, "frames": frames - before, "error": error})
        except BaseException:
            if writer is not None:
                writer.abandon()
            raise
        if writer is not None:
            writer.close()
            digest, size = file_digest(path), _bytes(path)
    record = ShardRecord(
        shard.key,
        shard.split,
        file if rows else "",
        size,
        digest,
        rows,
        frames,
        tuple(sources),
        running.sums(),
        dict(sorted(skeletons.items())),
        store.stamp(file) if rows else None,
    )
    write_record(store, record)
    return {"rows": rows, "frames": frames, "bytes": size, "failed": sum(bool(s.error) for s in sources)}


def _bytes(path: Any) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(p.stat().st_size for p in files if p.is_file())


def _said(source: SourceFile, found: SourceRows, error: str, *, skipped: bool) -> SourceRecord:
    if source.problem:
        return SourceRecord(source.name, 0, "", error=error, problem=source.problem)
    if skipped:
        with contextlib.suppress(MarrowError):
            found.note_file()
    return SourceRecord(
        source.name,
        source.size,
        found.sha256,
        tuple(found.clips),
        tuple(dict.fromkeys(found.report)),
        error,
        not found.sha256,
        tuple(found.dependencies),
    )


def _check_place(task: ShardTask) -> None:
    """This machine must see the place all write to, and have what the data set is made with."""
    if task.version != __version__:
        raise BuildError(f"this machine has marrow {__version__}, the build was begun with {task.version}")
    mine = formats.libraries(task.recipe.format)
    if mine != task.libraries:
        raise BuildError(
            f"this machine has {mine}, the build was begun with {task.libraries}: bytes would differ"
        )
    plan = store_at(task.store).read(PLAN)
    if plan is None or msgspec.json.decode(plan).get("plan") != task.plan:
        raise BuildError(
            f"{task.store}: this machine does not see the folder of the build; write to storage that all machines share"
        )


def _character(task: ShardTask) -> Character:
    """The character that motion is put on, read once by each worker."""
    assert task.character is not None
    key = (task.character, task.character_sha256, task.recipe)
    if key not in _characters:
        from marrow.dataset.characters import character_at, character_digest

        source, character = character_at(task.character, task.recipe)
        if source is not None and character_digest(source, task.character) != task.character_sha256:
            raise BuildError(
                f"{task.character}: the character was changed while the data set was built; build again"
            )
        _characters.clear()
        _characters[key] = character
    return _characters[key]
