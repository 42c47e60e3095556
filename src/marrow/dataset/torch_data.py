"""Rows for PyTorch: a map-style data set, and a stream of shards for sets that are larger than memory."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from marrow.dataset.dataset import Split
from marrow.errors import MissingExtraError, UnknownNameError, ValidationError
from marrow.model import _validate

try:
    from torch.utils.data import Dataset, IterableDataset, get_worker_info

    import torch
except ImportError:
    raise MissingExtraError("torch", "torch", "rows for PyTorch") from None

__all__ = ["RowStream", "TorchRows", "rows", "stream"]


class _Reading:
    """Which fields are read, and how they become tensors."""

    def __init__(self, split: Split, fields: str | Sequence[str] | None, normalize: bool) -> None:
        self.split = split
        known = [f.name for f in split.dataset.schema.fields]
        self.fields = known if fields is None else [fields] if isinstance(fields, str) else list(fields)
        for name in self.fields:
            if name not in known:
                raise UnknownNameError("feature", name, known)
        self._scale: dict[str, tuple[Any, Any]] = {}
        if _validate.flag("torch", "normalize", normalize):
            for name, found in split.dataset.statistics.items():
                # What never changes has no spread to divide by.
                std = np.where(found.std > 1e-8, found.std, 1.0)
                self._scale[name] = found.mean.astype(np.float32), std.astype(np.float32)

    def tensors(self, row: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for name in self.fields:
            values = np.array(row[name])  # memory of its own: rows may be views of a mapped file
            if name in self._scale and values.dtype.kind == "f":
                mean, std = self._scale[name]
                values = (values - mean) / std
            out[name] = torch.from_numpy(values)
        return out


class TorchRows(_Reading, Dataset):
    """Rows by number, as dictionaries of tensors."""

    def __len__(self) -> int:
        return len(self.split)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return self.tensors(self.split.row(index, self.fields))


class RowStream(_Reading, IterableDataset):
    """Rows shard after shard, each once in an epoch over all workers and machines."""

    def __init__(
        self,
        split: Split,
        fields: str | Sequence[str] | None,
        normalize: bool,
        shuffle: int,
        seed: int,
        rank: int,
        world: int,
    ) -> None:
        super().__init__(split, fields, normalize)
        self.shuffle = _validate.integer("torch_stream", "shuffle", shuffle, low=0)
        self.seed, self.epoch = _validate.integer("torch_stream", "seed", seed), 0
        self.rank = _validate.integer("torch_stream", "rank", rank, low=0)
        self.world = _validate.integer("torch_stream", "world", world, low=1)
        if self.rank >= self.world:
            raise ValidationError(f"torch_stream: rank {rank} of {world} machines does not exist")

    def set_epoch(self, epoch: int) -> None:
        """Another order for the next time."""
        self.epoch = _validate.integer("set_epoch", "epoch", epoch, low=0)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        order = list(range(len(self.split.facts.shards)))
        chance = random.Random(f"{self.seed} {self.epoch}")
        if self.shuffle:
            chance.shuffle(order)
        info = get_worker_info()
        workers, me = (info.num_workers, info.id) if info is not None else (1, 0)
        mine = order[self.rank * workers + me :: self.world * workers]
        found = (row for shard in mine for row in self.split.shard_rows(shard, self.fields))
        own = random.Random(f"{self.seed} {self.epoch} {self.rank} {me}")
        for row in _shuffled(found, self.shuffle, own) if self.shuffle else found:
            yield self.tensors(row)


def _shuffled(rows: Iterator[dict[str, Any]], size: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """Through a buffer of `size` rows, out of which any comes next."""
    waiting: list[dict[str, Any]] = []
    for row in rows:
        if len(waiting) < size:
            waiting.append(row)
            continue
        k = chance.randrange(size)
        waiting[k], row = row, waiting[k]
        yield row
    chance.shuffle(waiting)
    yield from waiting


def rows(split: Split, fields: str | Sequence[str] | None, normalize: bool) -> TorchRows:
    return TorchRows(split, fields, normalize)


def stream(
    split: Split,
    fields: str | Sequence[str] | None,
    normalize: bool,
    shuffle: int,
    seed: int,
    rank: int,
    world: int,
) -> RowStream:
    return RowStream(split, fields, normalize, shuffle, seed, rank, world)
