"""Arrays from `.npy` and `.npz` files. Nothing is unpickled, and nothing is unpacked that is too large for the size of
the file."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError

__all__ = ["npy_array", "npz_arrays", "npz_names"]

Array = NDArray[Any]
MAX_BYTES = 2 << 30
# What a small file may unpack to: zeros pack a thousand to one, real recordings and bodies about five to one.
SMALL_BYTES, MOST_RATIO = 64 << 20, 40
PICKLED = "sparse or pickled arrays must be saved as plain ones: np.save(path, np.asarray(array, np.float32))"
_FAULTS = (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError, RuntimeError, KeyError)


def npy_array(data: bytes | memoryview, path: Path | str, place: str = "") -> Array:
    """The array in a `.npy` file, of any kind but objects."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version} of the format is not known")
        shape, by_columns, dtype = read(stream)
    except (ValueError, OSError, EOFError, SyntaxError, TypeError, RecursionError, TokenError) as error:
        raise FormatError(f"its header cannot be read: {error}", path=path, place=place) from None
    if dtype.hasobject:
        raise FormatError(
            "holds Python objects, which are not read: opening them runs whatever code is in them",
            path=path,
            place=place,
            remedy=PICKLED,
        )
    if min(shape, default=0) < 0 or any(not isinstance(n, int) for n in shape):
        raise FormatError(f"its shape is {shape}", path=path, place=place)
    count, begin = math.prod(shape), stream.tell()
    if count * dtype.itemsize > len(data) - begin:
        raise FormatError(
            f"is cut short: an array {shape} of {dtype} has {count * dtype.itemsize:,} bytes, "
            f"{len(data) - begin:,} are there",
            path=path,
            place=place,
        )
    values = np.frombuffer(data, dtype, count, begin)
    return values.reshape(shape, order="F" if by_columns else "C")


def npz_names(data: bytes | memoryview) -> list[str]:
    """The names of the arrays in an archive; none where it is no archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [n.removesuffix(".npy") for n in archive.namelist() if n.endswith(".npy")]
    except _FAULTS:
        return []


def npz_arrays(data: bytes | memoryview, path: Path | str, wanted: Iterable[str]) -> dict[str, Array]:
    """Those of the `wanted` arrays that an archive has."""
    found: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = {info.filename: info for info in archive.infolist()}
            names = [n for n in wanted if f"{n}.npy" in infos]
            most = min(MAX_BYTES, SMALL_BYTES + MOST_RATIO * len(data))
            size = sum(infos[f"{n}.npy"].file_size for n in names)
            if size > most:
                raise ResourceLimitError(
                    f"unpacks to {size / 1e6:,.0f} MB, more than the {most / 1e6:,.0f} MB that a file of its size holds",
                    path=path,
                )
            for name in names:
                with archive.open(f"{name}.npy") as member:
                    found[name] = npy_array(member.read(size + 1), path, name)
    except _FAULTS as error:
        raise FormatError(f"cannot be read: {error}", path=path, remedy=PICKLED) from None
    return found
