"""Zarr, version 3: a group for each shard with one chunked array for each feature, laid out as in `columns`. For
vertices: a reader fetches the frames it asks for and no others."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from marrow.dataset.formats.columns import Spool, row_from
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import Row
from marrow.dataset.schema import Schema
from marrow.errors import FormatError, MissingExtraError

__all__ = ["ZarrReader", "ZarrWriter", "libraries"]

CHUNK_BYTES = 4 << 20


def _zarr() -> Any:
    try:
        import zarr
    except ImportError:
        raise MissingExtraError("zarr", "zarr", "a data set in Zarr") from None
    return zarr


def libraries() -> dict[str, str]:
    from importlib.metadata import version

    return {"zarr": _zarr().__version__, "numcodecs": version("numcodecs")}


class ZarrWriter:
    """Rows wait on disk beside the group until the shard is known."""

    def __init__(self, path: Path, schema: Schema, recipe: Recipe) -> None:
        self._zarr, self._path = _zarr(), path
        self._compressed = recipe.compression == "zstd"
        path.mkdir(parents=True)
        self._spool = Spool(schema, path.parent)

    def add(self, row: Row) -> None:
        self._spool.add(row)

    def close(self) -> None:
        try:
            rows = json.dumps(self._spool.rows, ensure_ascii=False, sort_keys=True)
            group = self._zarr.create_group(store=str(self._path), zarr_format=3, attributes={"rows": rows})
            codecs = [self._zarr.codecs.ZstdCodec(level=3)] if self._compressed else None
            for name, (dtype, shape, data) in self._spool.columns().items():
                self._array(group, name, dtype, shape, data, codecs)
        finally:
            self._spool.close()

    def _array(
        self, group: Any, name: str, dtype: Any, shape: tuple[int, ...], data: Any, codecs: Any
    ) -> None:
        row_bytes = max(dtype.itemsize * math.prod(shape[1:]), 1)
        step = max(1, min(CHUNK_BYTES // row_bytes, shape[0] or 1))
        array = group.create_array(
            name, shape=shape, dtype=dtype, chunks=(step, *(max(n, 1) for n in shape[1:])), compressors=codecs, fill_value=0
        )  # fmt: skip
        for start in range(0, shape[0], step):
            stop = min(start + step, shape[0])
            if isinstance(data, np.ndarray):
                array[start:stop] = data[start:stop]
            else:
                block = data.read(row_bytes * (stop - start))
                array[start:stop] = np.frombuffer(block, dtype).reshape(stop - start, *shape[1:])

    def abandon(self) -> None:
        self._spool.close()


class ZarrReader:
    """Rows of a group."""

    def __init__(self, path: Path, schema: Schema) -> None:
        try:
            self._group = _zarr().open_group(store=str(path), mode="r")
            self._rows: list[dict[str, Any]] = json.loads(self._group.attrs["rows"])
        except (OSError, ValueError, KeyError) as error:
            raise FormatError(f"cannot be read: {error}", path=path) from None
        self._schema, self._arrays = schema, dict[str, Any]()

    def __len__(self) -> int:
        return len(self._rows)

    def _array(self, name: str) -> Any:
        if name not in self._arrays:
            self._arrays[name] = self._group[name]
        return self._arrays[name]

    def row(self, index: int, fields: Sequence[str] | None = None) -> dict[str, Any]:
        return row_from(self._schema, self._rows, self._array, index, fields)

    def close(self) -> None:
        self._arrays = {}
