"""Which files a data set is made of: folders, patterns, lists and URLs as one sorted list with a name for each.

Names are relative to what was given, so that the same files under another folder or on another machine make the same
data set.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from marrow.errors import FormatError, MissingExtraError, ValidationError
from marrow.io.registry import FORMATS
from marrow.io.source import MAX_FILE_BYTES, Source, read_bytes
from marrow.model import _validate

__all__ = ["SourceFile", "found", "opened", "stamp"]

SUFFIXES = frozenset(s for form in FORMATS for s in form.suffixes) - {".npz"}
"""What is taken from a folder. An .npz may be a body model or anything else: it is taken when it is named."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file: its `name` in the data set, where it is, its size, and what changes when it is written to (`stamp`)."""

    name: str
    place: str
    size: int
    stamp: str


def found(given: Any, *, what: str = "build") -> list[SourceFile]:
    """The files of folders, patterns (`clips/**/*.bvh`), paths and URLs, sorted by name, each once."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if not isinstance(given, Iterable):
        raise ValidationError(f"{what}: expected paths, got {_validate.shown(given)}")
    places: dict[str, tuple[str, int, str]] = {}
    for item in given:
        if not isinstance(item, (str, os.PathLike)):
            raise ValidationError(f"{what}: expected a path, got {_validate.shown(item)}")
        text = os.fspath(item)
        files = _remote(text) if "://" in text else _local(text)
        if not files:
            raise FormatError(
                "has no files that marrow reads", path=text, remedy="name the files, or another folder"
            )
        for name, place, size, mark in files:
            places.setdefault(place, (name, size, mark))
    taken: dict[str, str] = {}
    out = []
    for place, (name, size, mark) in places.items():
        if taken.setdefault(name, place) != place:
            raise ValidationError(
                f"{what}: {place} and {taken[name]} would both be called {name!r}; give the folder that holds both"
            )
        out.append(SourceFile(name, place, size, mark))
    return sorted(out, key=lambda s: s.name)


def _local(text: str) -> list[tuple[str, str, int, str]]:
    path = Path(text)
    if path.is_dir():
        return _scanned(os.path.abspath(text))
    if any(c in text for c in "*?[") and not path.exists():
        fixed = Path(*_fixed_part(path.parts))
        matches = (Path(m) for m in glob.glob(text, recursive=True))
        paths = [p for p in matches if p.is_file()]
        return [(p.relative_to(fixed).as_posix(), str(p.absolute()), *_facts(p)) for p in paths]
    if not path.exists():
        raise FormatError("no such file or folder", path=text)
    return [(path.name, str(path.absolute()), *_facts(path))]


def _fixed_part(parts: tuple[str, ...]) -> list[str]:
    """The folders of a pattern before the first that varies."""
    fixed = []
    for part in parts[:-1]:
        if any(c in part for c in "*?["):
            break
        fixed.append(part)
    return fixed or ["."]


def _scanned(root: str) -> list[tuple[str, str, int, str]]:
    """The files below a folder; scanning gives their facts at the cost of listing them."""
    out = []
    stack = [root]
    while stack:
        with os.scandir(stack.pop()) as items:
            for item in items:
                if item.name.startswith("."):
                    continue
                if item.is_dir():
                    stack.append(item.path)
                elif os.path.splitext(item.name)[1].lower() in SUFFIXES:
                    stat = item.stat()
                    name = os.path.relpath(item.path, root).replace(os.sep, "/")
                    out.append((name, item.path, stat.st_size, f"{stat.st_size}-{stat.st_mtime_ns}"))
    return out


def _facts(path: Path) -> tuple[int, str]:
    stat = path.stat()
    return stat.st_size, f"{stat.st_size}-{stat.st_mtime_ns}"


def _remote(url: str) -> list[tuple[str, str, int, str]]:
    system, root = _file_system(url)
    scheme = url.partition("://")[0]
    try:
        if any(c in root for c in "*?["):
            paths = [p for p in system.glob(root) if system.isfile(p)]
            top = PurePosixPath(*_fixed_part(PurePosixPath(root).parts))
        elif system.isdir(root):
            paths = [p for p in system.find(root) if PurePosixPath(p).suffix.lower() in SUFFIXES]
            top = PurePosixPath(root)
        else:
            paths, top = [root], PurePosixPath(root).parent
        return [
            (
                str(PurePosixPath(p).relative_to(top)),
                f"{scheme}://{p.lstrip('/')}",
                int(system.size(p)),
                str(system.ukey(p)),
            )
            for p in paths
        ]
    except Exception as error:  # every backend has errors of its own
        raise FormatError(f"cannot be listed: {type(error).__name__}: {error}", path=url) from None


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "dataset", "files behind a URL") from None
    try:
        system, root = fsspec.core.url_to_fs(url)
    except Exception as error:
        raise FormatError(f"cannot be reached: {type(error).__name__}: {error}", path=url) from None
    return system, str(root)


def stamp(place: str) -> str | None:
    """What changes when a file is written to; None where there is none."""
    if "://" in place:
        try:
            system, root = _file_system(place)
            return str(system.ukey(root)) if system.exists(root) else None
        except Exception:
            return None
    try:
        stat = os.stat(place)
    except OSError:
        return None
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def bytes_at(place: str) -> bytes:
    """The bytes of a file, on this machine or behind a URL."""
    if "://" not in place:
        return read_bytes(Path(place), place)
    system, root = _file_system(place)
    try:
        if system.size(root) > MAX_FILE_BYTES:
            raise FormatError(f"is larger than the {MAX_FILE_BYTES} bytes marrow reads", path=place)
        return bytes(system.cat_file(root))
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"cannot be fetched: {type(error).__name__}: {error}", path=place) from None


def opened(place: str, *, allow_outside: bool = False) -> Source:
    """A file for a reader; behind a URL it has no neighbours."""
    if "://" in place:
        return Source.of_bytes(bytes_at(place), place.partition("?")[0])
    return Source.open(place, allow_outside=allow_outside)
