"""What is finished: one record for each shard, written after the shard itself. A shard without a record does not count.

Records lie in `_build/` beside the data, by the key of their shard. They say what the shard was made of, so that the
next build can tell whether it is still good: the size and time of every file, and where only the time has changed, its
SHA-256.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from marrow.dataset.plan import Shard
from marrow.dataset.rows import ClipFacts, Dependency
from marrow.dataset.sources import bytes_at, stamp
from marrow.dataset.statistics import Sums
from marrow.dataset.storage import BuildError, LocalStore, Store, file_digest
from marrow.errors import MarrowError

__all__ = [
    "FOLDER",
    "ShardRecord",
    "SourceRecord",
    "is_fresh",
    "is_same",
    "locked",
    "read_record",
    "record_name",
]

FOLDER = "_build"


class SourceRecord(msgspec.Struct, frozen=True):
    """What became of one source. `unread` says that its bytes could not be had: it is tried again by the next build.
    `problem` is what was wrong with it before anybody tried."""

    name: str
    size: int
    sha256: str
    clips: tuple[ClipFacts, ...] = ()
    report: tuple[str, ...] = ()
    error: str = ""
    unread: bool = False
    dependencies: tuple[Dependency, ...] = ()
    problem: str = ""


class ShardRecord(msgspec.Struct, frozen=True):
    """A finished shard; `file` is empty where it has no rows. `stamp` changes when somebody writes to the file."""

    key: str
    split: str
    file: str
    bytes: int
    sha256: str
    rows: int
    frames: int
    sources: tuple[SourceRecord, ...]
    sums: dict[str, Sums]
    skeletons: dict[str, Any]
    stamp: str | None = None


_DECODER = msgspec.json.Decoder(ShardRecord)


def record_name(key: str) -> str:
    return f"{FOLDER}/{key}.json"


def write_record(store: Store, record: ShardRecord) -> None:
    store.write(record_name(record.key), msgspec.json.encode(record))


def read_record(store: Store, key: str) -> ShardRecord | None:
    """The record of a shard; None where there is none, or it is damaged."""
    data = store.read(record_name(key))
    try:
        return None if data is None else _DECODER.decode(data)
    except msgspec.MsgspecError:
        return None


def is_fresh(store: Store, shard: Shard, record: ShardRecord | None) -> bool:
    """Whether a shard is finished, its file is as it was written, and what it was made of is as it was."""
    if record is None or [s.name for s in record.sources] != [s.name for s in shard.sources]:
        return False
    if record.file and not _is_whole(store, record):
        return False
    for source, now in zip(record.sources, shard.sources):
        if source.unread or source.size != now.size or source.problem != now.problem:
            return False
        for k, dependency in enumerate(source.dependencies):
            path = now.path if k == 0 else dependency.path
            if not is_same(path, dependency, now.stamp if k == 0 else None):
                return False
    return True


def _is_whole(store: Store, record: ShardRecord) -> bool:
    """Whether the file of a shard is what was written; where its time says otherwise, its SHA-256 decides."""
    if store.size(record.file) != record.bytes:
        return False
    now = store.stamp(record.file)
    if now is not None and now == record.stamp:
        return True
    with store.local(record.file) as path:
        if file_digest(path) != record.sha256:
            return False
    write_record(store, msgspec.structs.replace(record, stamp=now))  # a copy is read once
    return True


def is_same(path: str, dependency: Dependency, mark: str | None = None) -> bool:
    """Whether a file is what it was."""
    mark = mark or stamp(path)
    if mark is None or dependency.sha256 is None:
        return mark is None and dependency.sha256 is None
    if mark == dependency.stamp and path == dependency.path:
        return True
    try:
        return hashlib.sha256(bytes_at(path)).hexdigest() == dependency.sha256
    except MarrowError:
        return False


@contextlib.contextmanager
def locked(store: Store, folder: str = FOLDER) -> Iterator[None]:
    """One build at a time. The lock goes with the process that holds it, however that ends."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    if not isinstance(store, LocalStore):
        yield
        return
    try:
        store.path(folder).mkdir(parents=True, exist_ok=True)
        handle = os.open(store.path(f"{folder}/.lock"), os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise BuildError(f"{store.url}: cannot be written: {error.strerror or error}") from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BuildError(
                f"{store.url}: another build is writing here; wait for it, or end it first"
            ) from None
        yield
    finally:
        os.close(handle)
