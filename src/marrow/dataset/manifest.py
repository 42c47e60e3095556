"""The description of a finished data set: `manifest.json`, and beside it `sources.jsonl`, `skeletons.json` and
`statistics.json`.

None of them names a machine, a time or a folder: the same sources and options give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from marrow._version import __version__
from marrow.dataset.journal import ShardRecord, SourceRecord, read_record
from marrow.dataset.plan import Shard
from marrow.dataset.recipe import LAYOUT, SPLITS, Recipe, Shares
from marrow.dataset.schema import Schema
from marrow.dataset.statistics import Statistics, Sums
from marrow.dataset.storage import BuildError, Store
from marrow.errors import FormatError, MissingFileError
from marrow.motion.contacts import LEG, LOW, SLOW

__all__ = [
    "MANIFEST",
    "SKELETONS",
    "SOURCES",
    "STATISTICS",
    "Manifest",
    "ShardFacts",
    "SplitFacts",
    "finish",
    "read_manifest",
]

MANIFEST, SOURCES, SKELETONS, STATISTICS = (
    "manifest.json",
    "sources.jsonl",
    "skeletons.json",
    "statistics.json",
)


class ShardFacts(msgspec.Struct, frozen=True):
    """A file of a split."""

    file: str
    rows: int
    frames: int
    bytes: int
    sha256: str


class SplitFacts(msgspec.Struct, frozen=True):
    """A split: its shards in order."""

    sources: int
    rows: int
    frames: int
    shards: tuple[ShardFacts, ...]


class Manifest(msgspec.Struct, frozen=True):
    """All about a data set but its rows."""

    marrow_dataset: int
    marrow: str
    libraries: dict[str, str]
    recipe: Recipe
    schema: Schema
    split: Shares
    split_by: str
    character: str | None
    character_sha256: str
    contacts: dict[str, float]
    sources: int
    failed: int
    splits: dict[str, SplitFacts]


def read_manifest(store: Store) -> Manifest:
    data = store.read(MANIFEST)
    if data is None:
        if store.names("_build"):
            raise FormatError(
                "is not finished", path=store.url, remedy="run the same build again: it goes on where it was"
            )
        raise MissingFileError("is no data set: it has no manifest.json", path=store.url)
    try:
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise FormatError(f"manifest.json is damaged: {error}", path=store.url) from None


def finish(
    store: Store,
    recipe: Recipe,
    schema: Schema,
    shards: Sequence[Shard],
    *,
    libraries: dict[str, str],
    split: Shares,
    split_by: str,
    character: str | None,
    character_sha256: str,
) -> Manifest:
    """Writes what describes the data set, out of the records of its shards, which are read one at a time."""
    sums: dict[str, Sums] = {}
    skeletons: dict[str, Any] = {}
    found: dict[str, list[ShardRecord]] = {name: [] for name in SPLITS}
    count = failed = 0
    with store.making(SOURCES) as path, open(path, "wb") as lines:
        for record in _records(store, shards):
            for source in record.sources:
                count, failed = count + 1, failed + bool(source.error)
                lines.write(msgspec.json.encode(_line(source, record.split)) + b"\n")
            for name, part in record.sums.items():
                sums[name] = sums[name].merged(part) if name in sums else part
            skeletons |= record.skeletons
            found[record.split].append(
                msgspec.structs.replace(record, sources=record.sources[:0], sums={}, skeletons={})
            )
    store.write(SKELETONS, _pretty(dict(sorted(skeletons.items()))))
    statistics = {f.name: sums[f.name].statistics() for f in schema.fields if f.name in sums}
    store.write(STATISTICS, _pretty(statistics))
    leg = {"height": recipe.contact_height or LOW, "speed": recipe.contact_speed or SLOW}
    if recipe.contact_height is None or recipe.contact_speed is None:
        leg["leg"] = LEG
    manifest = Manifest(
        LAYOUT,
        __version__,
        libraries,
        recipe,
        schema,
        split,
        split_by,
        character,
        character_sha256,
        leg if "contacts" in recipe.features else {},
        count,
        failed,
        {
            name: _split(records, sum(len(s.sources) for s in shards if s.split == name))
            for name, records in found.items()
        },
    )
    store.write(MANIFEST, _pretty(manifest))
    return manifest


def _records(store: Store, shards: Sequence[Shard]) -> Iterator[ShardRecord]:
    for shard in shards:
        record = read_record(store, shard.key)
        if record is None:
            raise BuildError(
                f"{store.url}: the record of shard {shard.key} is gone; run the same build again"
            )
        yield record


def _split(records: list[ShardRecord], sources: int) -> SplitFacts:
    files = tuple(ShardFacts(r.file, r.rows, r.frames, r.bytes, r.sha256) for r in records if r.file)
    return SplitFacts(sources, sum(f.rows for f in files), sum(f.frames for f in files), files)


def _line(source: SourceRecord, split: str) -> dict[str, Any]:
    """A line of sources.jsonl: what a source gave, and what is worth knowing of it."""
    out: dict[str, Any] = {"name": source.name, "split": split, "bytes": source.size, "sha256": source.sha256}
    if source.error:
        return out | {"error": source.error}
    return out | {"clips": msgspec.to_builtins(source.clips), "report": list(source.report)}


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def read_statistics(store: Store) -> dict[str, Statistics]:
    return msgspec.json.decode(store.read(STATISTICS) or b"{}", type=dict[str, Statistics])
