"""The pictures of a stage: files beside it, or in its package, each read once."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

from marrow.errors import FormatError
from marrow.io.images import media_type
from marrow.io.source import Source
from marrow.io.usd.notes import RootNotes
from marrow.io.usd.stage import beside
from marrow.model import Image, Texture
from marrow.report import ReportBuilder

__all__ = ["StagePictures"]

MAX_IMAGE_BYTES = 512 << 20


class StagePictures:
    """The images met so far; `shown`: those that marrow wrote, by the names of the files that shaders use."""

    def __init__(self, source: Source, report: ReportBuilder) -> None:
        self.source, self.report = source, report
        self.images: list[Image] = []
        self.shown: dict[str, int] = {}
        self._index: dict[str, int | None] = {}

    def add_own(self, notes: RootNotes, where: str) -> None:
        """All images of a character that marrow wrote, in their order, used or not."""
        package = self.source.path.suffix.lower() == ".usdz"
        for name, kind, file, shown in notes.images:
            path = f"{self.source.path.name}[{file}]" if package else file
            data, reason = self._data(path) if file else (b"", "")
            if data is None:
                self.report.add("dropped", where, f"texture {file!r}: {reason}; left out")
            elif shown:
                self.shown[shown.rpartition("/")[2]] = len(self.images)
            self.images.append(Image(name, kind, data or b""))

    def add(self, data: bytes, like: Texture, what: str) -> Texture:
        """A picture that was made of others, and its texture."""
        self.images.append(Image(f"{self.images[like.image].name}_{what}", "image/png", data))
        return replace(like, image=len(self.images) - 1)

    def number(self, file: Any, where: str) -> int | None:
        """The image in a file that a shader names; None, with a line in the report, where it cannot be had."""
        path = str(file.resolvedPath or file.path)
        own = self.shown.get(path.rstrip("]").replace("[", "/").rpartition("/")[2])
        if own is not None:
            return own
        if path not in self._index:
            self._index[path] = self._load(path, where)
        return self._index[path]

    def _load(self, path: str, where: str) -> int | None:
        name = path.rstrip("]").replace("\\", "/").replace("[", "/").rsplit("/", 1)[-1]
        data, reason = self._data(path)
        if data is None:
            self.report.add("dropped", where, f"texture {name!r}: {reason}; left out")
            return None
        self.images.append(Image(name, media_type(data, name=name), data))
        return len(self.images) - 1

    def _data(self, path: str) -> tuple[bytes | None, str]:
        if "[" not in path:
            own = self.source.path.resolve()
            return self.source.picture(beside((own.parent / path).resolve(), own))
        try:
            return self._packaged(path), ""
        except FormatError as error:
            return None, error.message

    def _packaged(self, path: str) -> bytes:
        """A file inside the .usdz package itself, which is a zip archive that stores and never packs."""
        inner = path.rstrip("]").split("[", 1)[1]
        try:
            with zipfile.ZipFile(io.BytesIO(self.source.data)) as package:
                if package.getinfo(inner).file_size > MAX_IMAGE_BYTES:
                    raise FormatError(
                        f"texture {inner!r} is larger than an image should be", path=self.source.path
                    )
                return package.read(inner)
        except (KeyError, zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError) as error:
            raise FormatError(f"texture {inner!r} cannot be read: {error}", path=self.source.path) from None
