"""From what a user names or sends to an `Actor`: files, samples, uploads."""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from marrow.errors import FormatError, ResourceLimitError, UnknownNameError
from marrow.graph import Graph
from marrow.io import load
from marrow.io.registry import FORMATS
from marrow.model import Character
from marrow.studio.actor import Actor, Origin

__all__ = ["UploadFolder", "actor_of_upload", "receive", "safe_name", "sample_actor"]

_SUFFIXES = {suffix for form in FORMATS for suffix in form.suffixes}


def sample_actor(
    name: str, slot: int, *, graph: Graph | None = None, graph_file: str | None = None
) -> Callable[[], Actor]:
    """Loads a built-in character; the call makes an actor of it, with its own graph where none is given."""
    from marrow import samples

    if name not in samples.NAMES:
        raise UnknownNameError("sample", name, samples.NAMES)
    chosen = sample_graph(name) if graph is None else graph
    return partial(Actor, samples.load(name), slot, Origin("sample", name, graph_file), graph=chosen)


def sample_graph(name: str) -> Graph | None:
    """The graph that comes with a sample."""
    from marrow import samples

    make = getattr(samples, f"{name}_graph", None)
    return make() if make is not None else None


def safe_name(name: str) -> str:
    """What is left of a name from a browser once it cannot be a path or more than a label."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w. ()+-]", "_", last).strip(". ")[:100] or "character"


async def receive(chunks: AsyncIterator[bytes], file: BinaryIO, limit: int) -> int:
    """Writes an upload to a file, and stops where it gets too long."""
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise ResourceLimitError(f"is larger than the {limit >> 20} MiB the studio takes")
        file.write(chunk)
    file.flush()
    return size


def actor_of_upload(file: Path, name: str, slot: int) -> Actor:
    """A character from an uploaded file, which lies alone in a folder of its own: references lead nowhere."""
    try:
        character: Character = load(file)
    except FormatError as error:
        raise type(error)(error.message, path=name, place=error.place, remedy=error.remedy) from None
    return Actor(character.replace(name=Path(name).stem), slot, Origin("file", name))


class UploadFolder:
    """A folder with one file in it, named by us: only a known suffix is taken from the browser's name."""

    def __init__(self, name: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="marrow-upload-", ignore_cleanup_errors=True)
        suffix = Path(name).suffix.lower()
        # A .marrow file would be mapped and outlive the folder; by its content it is found and read all the same.
        known = suffix if suffix in _SUFFIXES and suffix != ".marrow" else ".upload"
        self.file = Path(self._folder.name) / f"character{known}"

    def __enter__(self) -> UploadFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
