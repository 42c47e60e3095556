"""The files of a data set: one writer and one reader for each format, none of which needs marrow to be read.

A writer gets the rows of a shard one after the other and keeps few of them in memory. The bytes it leaves depend on the
rows alone: no times, no names of machines, one order.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import Row
from marrow.dataset.schema import Schema

__all__ = ["SUFFIX", "ShardReader", "ShardWriter", "libraries", "reader", "writer"]

SUFFIX = {
    "parquet": ".parquet", "webdataset": ".tar", "safetensors": ".safetensors", "npz": ".npz", "zarr": ".zarr",
}  # fmt: skip
_MODULES = {
    "parquet": "parquet", "webdataset": "webdataset", "safetensors": "columns", "npz": "columns", "zarr": "zarrs",
}  # fmt: skip
_CLASSES = {"parquet": "Parquet", "webdataset": "Tar", "columns": "Column", "zarrs": "Zarr"}


class ShardWriter(Protocol):
    """Writes the rows of a shard."""

    def add(self, row: Row) -> None:
        """The next row."""

    def close(self) -> None:
        """Finishes the file."""

    def abandon(self) -> None:
        """Lets go of what is open; the file will not be used."""


class ShardReader(Protocol):
    """Reads the rows of a shard, in any order."""

    def __len__(self) -> int: ...
    def row(self, index: int, fields: Sequence[str] | None = None) -> dict[str, Any]:
        """A row as in `Split.__getitem__`."""

    def close(self) -> None: ...


def _module(name: str) -> Any:
    return importlib.import_module(f"marrow.dataset.formats.{_MODULES[name]}")


def _class(format: str, kind: str) -> Any:
    return getattr(_module(format), f"{_CLASSES[_MODULES[format]]}{kind}")


def writer(path: Path, schema: Schema, recipe: Recipe) -> ShardWriter:
    """A writer for a shard in the format of the recipe."""
    made: ShardWriter = _class(recipe.format, "Writer")(path, schema, recipe)
    return made


def reader(path: Path, schema: Schema, format: str) -> ShardReader:
    made: ShardReader = _class(format, "Reader")(path, schema)
    return made


def libraries(format: str) -> dict[str, str]:
    """The versions of the libraries that shape the bytes of a format; raises `MissingExtraError` where one is missing."""
    found: dict[str, str] = _module(format).libraries()
    return found
