"""Parquet, one row a sample. Arrays are Arrow's canonical tensors: `arrow.fixed_shape_tensor` where all rows have one
shape, else `arrow.variable_shape_tensor` (a list of numbers and its shape)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from marrow.dataset.formats.facts import facts
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import Row
from marrow.dataset.schema import RowField, Schema
from marrow.errors import FormatError, MissingExtraError

__all__ = ["ParquetReader", "ParquetWriter", "arrow_schema", "libraries"]

GROUP_BYTES = 8 << 20
"""Rows are written when this much is waiting: what a reader has to take at once, and a writer to keep."""


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "dataset", "a data set in Parquet") from None
    return pyarrow, pyarrow.parquet


def libraries() -> dict[str, str]:
    return {"pyarrow": _arrow()[0].__version__}


def arrow_schema(schema: Schema) -> Any:
    """The columns as Arrow has them."""
    pa, _ = _arrow()
    columns = [
        pa.field("id", pa.string()),
        pa.field("source", pa.string()),
        pa.field("clip", pa.string()),
        pa.field("start", pa.int32()),
        pa.field("frames", pa.int32()),
        pa.field("rate", pa.float64()),
        pa.field("mirrored", pa.bool_()),
        pa.field("skeleton", pa.string()),
    ]
    for name in schema.tables:
        columns.append(pa.field(name, pa.list_(_event_type(pa) if name == "events" else pa.string())))
    columns += [_column(pa, field) for field in schema.fields]
    about = {"joints": schema.joints, "parents": schema.parents, "morphs": schema.morphs}
    return pa.schema(columns, metadata={"marrow": json.dumps(about, ensure_ascii=False)})


def _event_type(pa: Any) -> Any:
    return pa.struct(
        [("time", pa.float64()), ("name", pa.string()), ("duration", pa.float64()), ("payload", pa.string())]
    )


def _column(pa: Any, field: RowField) -> Any:
    kind = pa.from_numpy_dtype(np.dtype(field.dtype))
    if field.fixed:
        return pa.field(
            field.name, pa.fixed_shape_tensor(kind, list(field.shape), dim_names=list(field.axes))
        )
    storage = pa.struct([("data", pa.list_(kind)), ("shape", pa.list_(pa.int32(), len(field.shape)))])
    metadata = {"dim_names": list(field.axes), "uniform_shape": list(field.shape)}
    extension = {
        "ARROW:extension:name": "arrow.variable_shape_tensor",
        "ARROW:extension:metadata": json.dumps(metadata),
    }
    return pa.field(field.name, storage, metadata=extension)


class ParquetWriter:
    """Writes rows in groups of a few megabytes."""

    def __init__(self, path: Path, schema: Schema, recipe: Recipe) -> None:
        self._pa, parquet = _arrow()
        self._schema, self._columns = schema, arrow_schema(schema)
        self._waiting: list[Row] = []
        self._bytes = 0
        self._file = parquet.ParquetWriter(
            path,
            self._columns,
            compression=recipe.compression,
            compression_level=3 if recipe.compression == "zstd" else None,
            use_dictionary=["source", "clip", "skeleton"],
            # Bytes of the same weight side by side: floats of motion compress by a third then.
            use_byte_stream_split=False,
            write_statistics=["start", "frames"],
            version="2.6",
            data_page_size=1 << 20,
        )

    def add(self, row: Row) -> None:
        self._waiting.append(row)
        self._bytes += sum(a.nbytes for a in row.arrays.values())
        if self._bytes >= GROUP_BYTES:
            self._write()

    def _write(self) -> None:
        pa = self._pa
        columns = []
        said = [facts(row) for row in self._waiting]
        for column in self._columns:
            field = next((f for f in self._schema.fields if f.name == column.name), None)
            if field is None:
                columns.append(pa.array([s[column.name] for s in said], column.type))
            else:
                columns.append(
                    self._tensors(field, column.type, [row.arrays[field.name] for row in self._waiting])
                )
        table = pa.Table.from_arrays(columns, schema=self._columns)
        self._file.write_table(table, row_group_size=max(len(said), 1))
        self._waiting, self._bytes = [], 0

    def _tensors(self, field: RowField, kind: Any, arrays: list[Any]) -> Any:
        pa = self._pa
        flat = pa.array(np.concatenate([a.reshape(-1) for a in arrays]))
        if field.fixed:
            storage = pa.FixedSizeListArray.from_arrays(flat, math.prod(field.shape))  # type: ignore[arg-type]
            return pa.ExtensionArray.from_storage(kind, storage)
        ends = np.cumsum([0, *(a.size for a in arrays)])
        shapes = pa.array(np.array([a.shape for a in arrays], np.int32).reshape(-1))
        data = pa.ListArray.from_arrays(pa.array(ends.astype(np.int32)), flat)
        sizes = pa.FixedSizeListArray.from_arrays(shapes, len(field.shape))
        return pa.StructArray.from_arrays([data, sizes], fields=list(kind))

    def close(self) -> None:
        if self._waiting:
            self._write()
        self._file.close()

    def abandon(self) -> None:
        self._waiting = []
        self._file.close()


class ParquetReader:
    """Rows of a file; the group that was read last is kept."""

    def __init__(self, path: Path, schema: Schema) -> None:
        self._pa, parquet = _arrow()
        try:
            self._file = parquet.ParquetFile(path, memory_map=True)
        except (OSError, ValueError) as error:
            raise FormatError(f"cannot be read: {error}", path=path) from None
        counts = [
            self._file.metadata.row_group(g).num_rows for g in range(self._file.metadata.num_row_groups)
        ]
        self._starts = np.cumsum([0, *counts])
        self._schema = schema
        self._kept: tuple[int, tuple[str, ...], Any] | None = None

    def __len__(self) -> int:
        return int(self._starts[-1])

    def row(self, index: int, fields: Sequence[str] | None = None) -> dict[str, Any]:
        group = int(np.searchsorted(self._starts, index, side="right")) - 1
        names = tuple(fields) if fields is not None else tuple(self._file.schema_arrow.names)
        if self._kept is None or self._kept[:2] != (group, names):
            self._kept = group, names, self._file.read_row_group(group, columns=list(names)).combine_chunks()
        table, at = self._kept[2], index - int(self._starts[group])
        known = {f.name: f for f in self._schema.fields}
        out: dict[str, Any] = {}
        for name in names:
            column = table.column(name).chunk(0)
            out[name] = _array(column, known[name], at) if name in known else column[at].as_py()
        return out

    def close(self) -> None:
        self._kept = None
        self._file.close()


def _array(column: Any, field: RowField, at: int) -> Any:
    dtype = np.dtype(field.dtype)
    if field.fixed:
        storage = column.storage
        size = math.prod(field.shape)  # type: ignore[arg-type]
        flat = storage.values.to_numpy(zero_copy_only=False)
        begin = (storage.offset + at) * size
        return flat[begin : begin + size].astype(dtype, copy=False).reshape(field.shape)  # type: ignore[arg-type]
    # Where Arrow knows the type by name it wraps the struct, elsewhere it hands it out as it is.
    one = getattr(column, "storage", column)[at]
    values = one["data"].values.to_numpy(zero_copy_only=False)
    return values.astype(dtype, copy=False).reshape(one["shape"].as_py())
