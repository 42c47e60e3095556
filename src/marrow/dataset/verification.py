"""Whether a data set is what its manifest says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marrow.dataset.dataset import Dataset, Split
from marrow.dataset.storage import file_digest
from marrow.errors import MarrowError

__all__ = ["problems"]


def problems(dataset: Dataset) -> Iterator[str]:
    """What is wrong, one line each: files that are missing or changed, rows of other shapes, numbers that are none."""
    seen: set[str] = set()
    for name in dataset.manifest.splits:
        split = dataset[name]
        for k, shard in enumerate(split.facts.shards):
            with dataset.store.local(shard.file) as path:
                if not path.exists():
                    yield f"{shard.file} is missing"
                    continue
                if file_digest(path) != shard.sha256:
                    yield f"{shard.file} was changed since it was written"
                    continue
            try:
                yield from _rows(split, k, shard.file, shard.rows, seen)
            except MarrowError as error:
                yield f"{shard.file}: {error}"
        split.close()


def _rows(split: Split, shard: int, file: str, wanted: int, seen: set[str]) -> Iterator[str]:
    count = 0
    for row in split.shard_rows(shard):
        count += 1
        if row["id"] in seen:
            yield f"{file}: two rows are called {row['id']!r}"
        seen.add(row["id"])
        for field in split.dataset.schema.fields:
            values = row[field.name]
            fits = len(values.shape) == len(field.shape) and all(
                n in (None, have) for n, have in zip(field.shape, values.shape)
            )
            if not fits or values.dtype != np.dtype(field.dtype):
                yield f"{file}: {field.name} of {row['id']!r} is {values.dtype} {values.shape}"
            elif values.dtype.kind == "f" and not np.isfinite(values).all():
                yield f"{file}: {field.name} of {row['id']!r} is not finite"
    if count != wanted:
        yield f"{file} has {count} rows, the manifest says {wanted}"
