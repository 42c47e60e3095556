"""NPZ and safetensors: one array for each feature over all rows of a shard, and `rows`: what is said of them, as JSON.

Where all rows have one shape, an array is `(rows, ...)`. Where only their frames differ, the rows lie end to end and row
`i` is `array[offsets[i]:offsets[i + 1]]`. Where anything else differs the array is flat, with `FEATURE.shapes` and
`FEATURE.offsets`.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from marrow.dataset.formats.facts import facts
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import Row
from marrow.dataset.schema import RowField, Schema
from marrow.errors import FormatError
from marrow.pyodide import IN_BROWSER

__all__ = ["ColumnReader", "ColumnWriter", "libraries", "row_from", "uniform"]

Array = NDArray[Any]
_TYPES = {"<f4": "F32", "|u1": "U8", "<i8": "I64"}
_DTYPES = {name: np.dtype(kind) for kind, name in _TYPES.items()}
_DATE = (1980, 1, 1, 0, 0, 0)


def libraries() -> dict[str, str]:
    return {}


def uniform(field: RowField) -> bool:
    """Whether all rows agree but for their frames."""
    return None not in field.shape[1:]


class Spool:
    """The columns of a shard while its rows come in: on disk, since a shard may be larger than memory."""

    def __init__(self, schema: Schema, folder: Path) -> None:
        self.schema = schema
        self.rows: list[dict[str, Any]] = []
        self.shapes: dict[str, list[tuple[int, ...]]] = {f.name: [] for f in schema.fields}
        self.frames: list[int] = []
        self._folder = tempfile.TemporaryDirectory(prefix=".columns.", suffix=".tmp", dir=folder)
        self._files = {
            f.name: open(Path(self._folder.name) / f"{k}", "w+b")  # noqa: SIM115
            for k, f in enumerate(schema.fields)
        }

    def add(self, row: Row) -> None:
        self.rows.append(facts(row))
        self.frames.append(row.frames)
        for name, values in row.arrays.items():
            self.shapes[name].append(values.shape)
            self._files[name].write(np.ascontiguousarray(values).data)

    def columns(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...], IO[bytes] | Array]]:
        """The arrays by name: type, shape, and where their bytes are."""
        out: dict[str, tuple[np.dtype[Any], tuple[int, ...], IO[bytes] | Array]] = {}
        count = len(self.rows)
        if any(uniform(f) and not f.fixed for f in self.schema.fields):
            out["offsets"] = _whole(np.cumsum([0, *self.frames]))
        for f in self.schema.fields:
            dtype, file = np.dtype(f.dtype), self._files[f.name]
            file.flush()
            file.seek(0)
            if f.fixed:
                out[f.name] = dtype, (count, *(int(n or 0) for n in f.shape)), file
            elif uniform(f):
                out[f.name] = dtype, (sum(self.frames), *(int(n or 0) for n in f.shape[1:])), file
            else:
                sizes = [math.prod(s) for s in self.shapes[f.name]]
                out[f.name] = dtype, (sum(sizes),), file
                shapes = np.array(self.shapes[f.name], np.int64).reshape(count, len(f.shape))
                out[f"{f.name}.shapes"] = _whole(shapes)
                out[f"{f.name}.offsets"] = _whole(np.cumsum([0, *sizes]))
        return out

    def close(self) -> None:
        for file in self._files.values():
            with contextlib.suppress(OSError):  # what was waiting may not fit on the disk either
                file.close()
        self._folder.cleanup()


def _whole(values: Any) -> tuple[np.dtype[Any], tuple[int, ...], Array]:
    array = np.ascontiguousarray(values, "<i8")
    return array.dtype, array.shape, array


def _copy(source: IO[bytes] | Array, target: Any) -> None:
    if isinstance(source, np.ndarray):
        target.write(source.tobytes())
    else:
        shutil.copyfileobj(source, target, 1 << 20)


class ColumnWriter:
    """Both formats: the suffix of the shard says which."""

    def __init__(self, path: Path, schema: Schema, recipe: Recipe) -> None:
        self._path, self._format = path, recipe.format
        self._spool = Spool(schema, path.parent)

    def add(self, row: Row) -> None:
        self._spool.add(row)

    def close(self) -> None:
        try:
            write = _write_npz if self._format == "npz" else _write_safetensors
            said = json.dumps(self._spool.rows, ensure_ascii=False, sort_keys=True)
            write(self._path, self._spool.columns(), said)
        finally:
            self._spool.close()

    def abandon(self) -> None:
        self._spool.close()


def _write_npz(path: Path, columns: dict[str, Any], rows: str) -> None:
    text = np.frombuffer(rows.encode(), np.uint8)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, (dtype, shape, data) in {**columns, "rows": (text.dtype, text.shape, text)}.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as member:
                head = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, head)
                _copy(data, member)


def _write_safetensors(path: Path, columns: dict[str, Any], rows: str) -> None:
    # Wide types first: then every array lies at a multiple of its item size, without gaps.
    order = sorted(columns, key=lambda n: -columns[n][0].itemsize)
    header: dict[str, Any] = {"__metadata__": {"rows": rows}}
    end = 0
    for name in order:
        dtype, shape, _ = columns[name]
        start, end = end, end + dtype.itemsize * math.prod(shape)
        header[name] = {"dtype": _TYPES[dtype.str], "shape": list(shape), "data_offsets": [start, end]}
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            _copy(columns[name][2], file)


class ColumnReader:
    """Arrays mapped from the file; rows are views of them."""

    def __init__(self, path: Path, schema: Schema) -> None:
        try:
            with open(path, "rb") as file:
                zipped = file.read(2) == b"PK"
            self._arrays, rows = (_mapped_npz if zipped else _mapped_safetensors)(path)
            self._rows: list[dict[str, Any]] = json.loads(rows)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise FormatError(f"cannot be read: {error}", path=path) from None
        self._schema = schema

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int, fields: Sequence[str] | None = None) -> dict[str, Any]:
        return row_from(self._schema, self._rows, self._arrays.__getitem__, index, fields)

    def close(self) -> None:
        self._arrays = {}


def row_from(
    schema: Schema,
    rows: list[dict[str, Any]],
    array: Callable[[str], Any],
    index: int,
    fields: Sequence[str] | None,
) -> dict[str, Any]:
    """A row out of columns."""
    out = {k: v for k, v in rows[index].items() if fields is None or k in fields}
    for field in schema.fields:
        name = field.name
        if fields is not None and name not in fields:
            continue
        if field.fixed:
            out[name] = np.asarray(array(name)[index])
        elif uniform(field):
            begin, end = (int(n) for n in array("offsets")[index : index + 2])
            out[name] = np.asarray(array(name)[begin:end])
        else:
            begin, end = (int(n) for n in array(f"{name}.offsets")[index : index + 2])
            shape = [int(n) for n in array(f"{name}.shapes")[index]]
            out[name] = np.asarray(array(name)[begin:end]).reshape(shape)
    return out


def _mapped(path: Path, dtype: Any, begin: int, shape: tuple[int, ...]) -> Array:
    """An array in a file: mapped or, where nothing can be, read."""
    if IN_BROWSER:
        return np.fromfile(path, dtype, math.prod(shape), offset=begin).reshape(shape)
    return np.memmap(path, dtype, "r", begin, shape)


def _mapped_npz(path: Path) -> tuple[dict[str, Array], str]:
    """The members of an archive that is not compressed, mapped where they lie."""
    arrays = {}
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        for info in archive.infolist():
            file.seek(info.header_offset)
            head = file.read(30)
            file.seek(info.header_offset + 30 + sum(struct.unpack("<HH", head[26:30])))
            version = np.lib.format.read_magic(file)
            read = (
                np.lib.format.read_array_header_1_0
                if version == (1, 0)
                else np.lib.format.read_array_header_2_0
            )
            shape, _, dtype = read(file)
            size = math.prod(shape)
            arrays[info.filename.removesuffix(".npy")] = (
                _mapped(path, dtype, file.tell(), shape) if size else np.empty(shape, dtype)
            )
    return arrays, arrays.pop("rows").tobytes().decode()


def _mapped_safetensors(path: Path) -> tuple[dict[str, Array], str]:
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    rows = header.pop("__metadata__")["rows"]
    arrays: dict[str, Array] = {}
    for name, entry in header.items():
        dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
        begin = 8 + length + entry["data_offsets"][0]
        arrays[name] = _mapped(path, dtype, begin, shape) if math.prod(shape) else np.empty(shape, dtype)
    return arrays, rows
