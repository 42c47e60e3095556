"""`Parcel`: the files of one upload, in a folder of their own under names of our own.

A browser's names never become paths: they are kept in a table, and what one file says of another is looked up there.
Several files come in one body: the length of a JSON list of names and sizes (four bytes, little endian), the list, then
the files end to end, as `UploadManifest` describes them.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote

import msgspec

from marrow.errors import MissingFileError, ResourceLimitError, ValidationError
from marrow.io.registry import FORMATS, FOUND_IN_FOLDERS
from marrow.io.source import Source, read_bytes
from marrow.studio.answers import MAX_UPLOAD_FILES, UploadManifest

__all__ = ["Parcel", "ParcelSource", "remove_left_behind", "safe_name"]

PREFIX = "marrow-upload-"
MAX_MANIFEST_BYTES = 256 << 10
_SUFFIXES = {suffix for form in FORMATS for suffix in form.suffixes}
_CHARACTERS = FOUND_IN_FOLDERS | {".npz", ".npy"}


def remove_left_behind() -> None:
    """Throws away the uploads of studios of this user that were killed before they could."""
    import shutil

    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        with contextlib.suppress(OSError, ValueError):
            mine = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
            if mine and folder.is_dir() and not folder.is_symlink() and not _running(int(number)):
                shutil.rmtree(folder, ignore_errors=True)


def _running(number: int) -> bool:
    if os.name == "nt":  # there, asking would end it; folders in use cannot be removed anyway
        return number == os.getpid()
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def safe_name(name: str) -> str:
    """What is left of a name from a browser once it cannot be a path or more than a label."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w. ()+-]", "_", last).strip(". ")[:100] or "character"


def _key(name: str) -> str:
    """A name as it is looked up: forward slashes, no `.` and no `..`."""
    parts: list[str] = []
    for part in name.replace("\\", "/").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


@dataclass
class Held:
    """A file that has come: what the browser calls it, and where it is."""

    name: str
    path: Path

    @property
    def label(self) -> str:
        return safe_name(self.name)

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.label).suffix.lower()


class Parcel:
    """The files of one upload; a context manager that throws them away in the end."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.files: list[Held] = []
        self._folder = tempfile.TemporaryDirectory(
            prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True
        )

    def __enter__(self) -> Parcel:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    # -- receiving -------------------------------------------------------------------------------------------
    def _create(self, name: str) -> BinaryIO:
        """A new file, of which only a known suffix is taken from the browser's name."""
        suffix = PurePosixPath(safe_name(name)).suffix.lower()
        # A .marrow file would be mapped and outlive the folder; by its content it is found and read all the same.
        known = suffix if suffix in _SUFFIXES and suffix != ".marrow" else ".upload"
        path = Path(self._folder.name) / f"{len(self.files)}{known}"
        self.files.append(Held(name, path))
        return path.open("wb")

    async def receive_one(self, chunks: AsyncIterator[bytes], name: str) -> None:
        """A body that is one file."""
        size = 0
        with self._create(name) as file:
            async for chunk in chunks:
                size += len(chunk)
                self._check(size)
                file.write(chunk)

    async def receive_several(self, chunks: AsyncIterator[bytes]) -> None:
        """A body that begins with the list of its files."""
        incoming = _Incoming(chunks)
        length = int.from_bytes(await incoming.exactly(4), "little")
        if length > MAX_MANIFEST_BYTES:
            raise ResourceLimitError(f"the list of files may have at most {MAX_MANIFEST_BYTES} bytes")
        try:
            manifest = msgspec.json.decode(await incoming.exactly(length), type=UploadManifest)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise ValidationError(f"not a list of up to {MAX_UPLOAD_FILES} files: {error}") from None
        self._check(sum(file.size for file in manifest.files))
        for entry in manifest.files:
            with self._create(entry.name) as file:
                async for piece in incoming.pieces(entry.size):
                    file.write(piece)

    def _check(self, size: int) -> None:
        if size > self.limit:
            raise ResourceLimitError(f"is larger than the {self.limit >> 20} MiB the studio takes")

    # -- reading ---------------------------------------------------------------------------------------------
    @property
    def characters(self) -> list[Held]:
        """The files that may hold a character, by their suffix; where none does, the only one, whatever it is."""
        found = [held for held in self.files if held.suffix in _CHARACTERS]
        return found or self.files[:1]

    def find(self, reference: str, beside: Held) -> Path | None:
        """The file that another one refers to: by its path from there; or by its name alone, where folders got lost
        and there is but one of that name. Upper and lower case differ only where that decides."""
        names = [(_key(held.name), held.path) for held in self.files]
        folder = _key(beside.name).rpartition("/")[0]
        wanted = _key(f"{folder}/{reference}")
        for fold in (str, str.casefold):
            exact = [path for name, path in names if fold(name) == fold(wanted)]
            if exact:
                return exact[0]
        base = wanted.rpartition("/")[2].casefold()
        alike = [path for name, path in names if name.rpartition("/")[2].casefold() == base]
        return alike[0] if len(alike) == 1 and base else None


class _Incoming:
    """The bytes of a body, asked for by length."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._left = b""

    async def pieces(self, size: int) -> AsyncIterator[bytes]:
        """The next `size` bytes, as they come."""
        while size > 0:
            if not self._left:
                try:
                    self._left = await anext(self._chunks)
                except StopAsyncIteration:
                    raise ValidationError("the upload ends before its last file does") from None
            piece, self._left = self._left[:size], self._left[size:]
            size -= len(piece)
            yield piece

    async def exactly(self, size: int) -> bytes:
        return b"".join([piece async for piece in self.pieces(size)])


class ParcelSource(Source):
    """A file of a parcel, being read: it can refer to the others, and to nothing else."""

    __slots__ = ("held", "parcel")

    def __init__(self, parcel: Parcel, held: Held) -> None:
        super().__init__(held.path, read_bytes(held.path, held.label))
        self.parcel, self.held = parcel, held

    def neighbour(self, reference: str) -> bytes:
        self.references.setdefault(reference, None)
        text = unquote(reference)
        path = None if "\0" in text or "://" in text else self.parcel.find(text, self.held)
        if path is None:
            raise MissingFileError("no such file", path=reference[:200])  # in the words readers know
        data = self.neighbours.get(path)
        if data is None:
            data = self.neighbours[path] = read_bytes(path, reference)
        self.references[reference] = data
        return data
