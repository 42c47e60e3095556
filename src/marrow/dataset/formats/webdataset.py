"""WebDataset: tar files in which all members of a row share the part of their name before the first dot."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from marrow.dataset.formats.facts import facts
from marrow.dataset.recipe import Recipe
from marrow.dataset.rows import Row
from marrow.dataset.schema import Schema
from marrow.errors import FormatError

__all__ = ["TarReader", "TarWriter", "libraries"]


def libraries() -> dict[str, str]:
    return {}


class TarWriter:
    """A row is `KEY.json` with what is said of it and `KEY.FEATURE.npy` for each array."""

    def __init__(self, path: Path, schema: Schema, recipe: Recipe) -> None:
        self._tar = tarfile.open(path, "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        # The name of a shard is its place in the data set: keys are unique over all of them.
        self._stem = path.name.strip(".").partition(".")[0]
        self._count = 0

    def add(self, row: Row) -> None:
        key = f"{self._stem}-{self._count:06d}"
        self._count += 1
        self._member(f"{key}.json", json.dumps(facts(row), ensure_ascii=False, sort_keys=True).encode())
        for name, values in row.arrays.items():
            file = io.BytesIO()
            np.lib.format.write_array(file, values, version=(1, 0), allow_pickle=False)
            self._member(f"{key}.{name}.npy", file.getbuffer())

    def _member(self, name: str, data: bytes | memoryview) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mtime, info.mode = len(data), 0, 0o644
        self._tar.addfile(info, io.BytesIO(data))

    def close(self) -> None:
        self._tar.close()

    def abandon(self) -> None:
        if self._tar.fileobj is not None:
            self._tar.fileobj.close()


class TarReader:
    """Rows of a tar file, in any order."""

    def __init__(self, path: Path, schema: Schema) -> None:
        try:
            self._tar = tarfile.open(path, "r:")  # noqa: SIM115
            members = self._tar.getmembers()
        except (OSError, tarfile.TarError) as error:
            raise FormatError(f"cannot be read: {error}", path=path) from None
        self._rows: dict[str, dict[str, tarfile.TarInfo]] = {}
        for member in members:
            key, _, rest = member.name.partition(".")
            self._rows.setdefault(key, {})[rest] = member
        self._keys = list(self._rows)

    def __len__(self) -> int:
        return len(self._keys)

    def row(self, index: int, fields: Sequence[str] | None = None) -> dict[str, Any]:
        members = self._rows[self._keys[index]]
        out: dict[str, Any] = json.loads(self._bytes(members["json"]))
        for name, member in members.items():
            feature = name.removesuffix(".npy")
            if feature != name and (fields is None or feature in fields):
                out[feature] = np.load(io.BytesIO(self._bytes(member)), allow_pickle=False)
        return out if fields is None else {k: v for k, v in out.items() if k in fields}

    def _bytes(self, member: tarfile.TarInfo) -> bytes:
        file = self._tar.extractfile(member)
        assert file is not None
        return file.read()

    def close(self) -> None:
        self._tar.close()
