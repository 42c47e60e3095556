"""`mw.dataset.open`: a data set as rows of arrays."""

from __future__ import annotations

import contextlib
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.dataset import formats
from marrow.dataset.manifest import SKELETONS, SOURCES, Manifest, SplitFacts, read_manifest, read_statistics
from marrow.dataset.recipe import SPLITS
from marrow.dataset.schema import Schema
from marrow.dataset.storage import Store, store_at
from marrow.errors import OutOfRangeError, UnknownNameError

if TYPE_CHECKING:
    from marrow.dataset.torch_data import RowStream, TorchRows

__all__ = ["Dataset", "FeatureStatistics", "Split", "open_dataset"]

Array = NDArray[Any]
MOST_OPEN = 8


@dataclass(frozen=True, eq=False)
class FeatureStatistics:
    """Of one feature over the rows of training, channel by channel, float64; `count` values each."""

    count: int
    mean: Array
    std: Array
    min: Array
    max: Array


def open_dataset(path: str | os.PathLike[str]) -> Dataset:
    """The data set in a folder or at a URL; `dataset["train"][0]` is a row: its arrays and what is said of them, by
    name."""
    return Dataset(store_at(path))


class Dataset:
    """A finished data set. `dataset["train"]`, `["validation"]` and `["test"]` are its splits."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.manifest: Manifest = read_manifest(store)

    @property
    def schema(self) -> Schema:
        return self.manifest.schema

    @cached_property
    def statistics(self) -> Mapping[str, FeatureStatistics]:
        """Means, deviations and ranges over the rows of training, by feature."""
        out = {}
        for name, s in read_statistics(self.store).items():
            parts = (np.array(v).reshape(s.shape) for v in (s.mean, s.std, s.min, s.max))
            out[name] = FeatureStatistics(s.count, *parts)
        return out

    @cached_property
    def skeletons(self) -> Mapping[str, dict[str, Any]]:
        """The skeletons of the rows by the name in their `skeleton`: joints, parents, and the rest pose."""
        found: dict[str, dict[str, Any]] = msgspec.json.decode(self.store.read(SKELETONS) or b"{}")
        return found

    def sources(self) -> Iterator[dict[str, Any]]:
        """One dictionary for each source: its split, its SHA-256, its clips with lines worth knowing, or its error."""
        with self.store.local(SOURCES) as path, open(path, "rb") as file:
            for line in file:
                yield msgspec.json.decode(line)

    def __getitem__(self, split: str) -> Split:
        if split not in self.manifest.splits:
            raise UnknownNameError("split", split, SPLITS)
        return Split(self, split)

    def __len__(self) -> int:
        """The rows of all splits."""
        return sum(s.rows for s in self.manifest.splits.values())

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {s.rows}" for name, s in self.manifest.splits.items())
        names = ", ".join(f.name for f in self.schema.fields)
        return f"Dataset({self.store.url!r}, rows: {parts}; {names})"


class Split(Sequence[dict[str, Any]]):
    """The rows of a split, in order. A row is a dictionary: arrays by feature, and `id`, `source`, `clip`, `start`,
    `frames`..."""

    def __init__(self, dataset: Dataset, name: str) -> None:
        self.dataset, self.name = dataset, name
        self.facts: SplitFacts = dataset.manifest.splits[name]
        self._starts = np.cumsum([0, *(s.rows for s in self.facts.shards)])
        self._open: OrderedDict[int, tuple[formats.ShardReader, contextlib.ExitStack]] = OrderedDict()

    def __len__(self) -> int:
        return self.facts.rows

    @property
    def files(self) -> list[str]:
        """The paths or URLs of its shards, for other readers."""
        return [f"{self.dataset.store.url}/{s.file}" for s in self.facts.shards]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.row(index)

    def row(self, index: int, fields: str | Sequence[str] | None = None) -> dict[str, Any]:
        """A row; with `fields` only those."""
        fields = (fields,) if isinstance(fields, str) else fields
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise OutOfRangeError(f"{self.name} has {len(self)} rows; there is no row {index}")
        shard = int(np.searchsorted(self._starts, at, side="right")) - 1
        return self._reader(shard).row(at - int(self._starts[shard]), fields)

    def shard_rows(self, shard: int, fields: str | Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The rows of one shard, in order; with `fields` only those."""
        fields = (fields,) if isinstance(fields, str) else fields
        reader = self._reader(shard)
        for k in range(len(reader)):
            yield reader.row(k, fields)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for shard in range(len(self.facts.shards)):
            yield from self.shard_rows(shard)

    def array(self, name: str) -> Array | list[Array]:
        """A feature of all rows: one array `(rows, ...)`, or a list where their shapes differ."""
        field = next((f for f in self.dataset.schema.fields if f.name == name), None)
        if field is None:
            raise UnknownNameError("feature", name, [f.name for f in self.dataset.schema.fields])
        found = [
            row[name] for shard in range(len(self.facts.shards)) for row in self.shard_rows(shard, [name])
        ]
        if not field.fixed:
            return found
        return np.stack(found) if found else np.zeros((0, *(int(n or 0) for n in field.shape)), field.dtype)

    def torch(self, fields: str | Sequence[str] | None = None, *, normalize: bool = False) -> TorchRows:
        """A `torch.utils.data.Dataset` of the rows; see `marrow.dataset.torch_data`."""
        from marrow.dataset.torch_data import rows

        return rows(self, fields, normalize)

    def torch_stream(
        self,
        fields: str | Sequence[str] | None = None,
        *,
        normalize: bool = False,
        shuffle: int = 0,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ) -> RowStream:
        """A `torch.utils.data.IterableDataset` that reads shard after shard: for sets larger than memory. With
        `shuffle`, shards come in any order and rows through a buffer of so many; `set_epoch` changes the order. Workers
        of a loader, and `world` machines of which this is `rank`, share the shards."""
        from marrow.dataset.torch_data import stream

        return stream(self, fields, normalize, shuffle, seed, rank, world)

    def _reader(self, shard: int) -> formats.ShardReader:
        """The reader of a shard; a few stay open."""
        if shard in self._open:
            self._open.move_to_end(shard)
            return self._open[shard][0]
        stack = contextlib.ExitStack()
        path = stack.enter_context(self.dataset.store.local(self.facts.shards[shard].file))
        reader = formats.reader(path, self.dataset.schema, self.dataset.manifest.recipe.format)
        stack.callback(reader.close)
        self._open[shard] = reader, stack
        if len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)[1][1].close()
        return reader

    def close(self) -> None:
        """Closes the files that are open."""
        while self._open:
            self._open.popitem()[1][1].close()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.dataset.store.url, "name": self.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(open_dataset(state["path"]), state["name"])  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Split({self.name!r}, {len(self)} rows in {len(self.facts.shards)} shards)"
