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

from marrow.errors import FormatError, MissingExtraError, MissingFileError, ValidationError, WrongTypeError
from marrow.io.registry import FOUND_IN_FOLDERS
from marrow.io.source import MAX_FILE_BYTES, Source, read_bytes
from marrow.model import _validate
from marrow.printing import is_text, printable

__all__ = ["SourceFile", "found", "opened", "problem_of", "stamp"]

SUFFIXES = FOUND_IN_FOLDERS
"""What is taken from a folder. An .npz may be a body model or anything else: it is taken when it is named."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file: its `name` in the data set, where it is, its size, what changes when it is written to (`stamp`), and why
    it cannot be opened at all (`problem`)."""

    name: str
    path: str
    size: int
    stamp: str
    problem: str = ""


def found(given: Any, *, what: str = "build") -> list[SourceFile]:
    """The files of folders, patterns (`clips/**/*.bvh`), paths and URLs, sorted by name, each once."""
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    if not isinstance(given, Iterable):
        raise WrongTypeError(f"{what}: expected paths, got {_validate.shown(given)}")
    paths: dict[str, SourceFile] = {}
    for item in given:
        if not isinstance(item, (str, os.PathLike)):
            raise WrongTypeError(f"{what}: expected a path, got {_validate.shown(item)}")
        text = os.fspath(item)
        files = _remote(text) if "://" in text else _local(text)
        if not files:
            raise FormatError(
                "has no files that marrow reads", path=text, remedy="name the files, or another folder"
            )
        for file in files:
            paths.setdefault(file.path, file)
    taken: dict[str, str] = {}
    for path, file in paths.items():
        if taken.setdefault(file.name, path) != path:
            raise ValidationError(
                f"{what}: {path} and {taken[file.name]} would both be called {file.name!r}; "
                "give the folder that holds both"
            )
    return sorted(paths.values(), key=lambda s: s.name)


def problem_of(path: str) -> str:
    """Why what is listed at a path can be no source; empty where it may be one, or where there is nothing."""
    if not is_text(path):
        return "its name is not UTF-8; rename it"
    if os.path.islink(path):
        if os.path.isdir(path):
            return "is a link to a folder that is read already; it is not followed"
        if not os.path.exists(path):
            try:
                os.stat(path)
            except FileNotFoundError:
                return f"is a link to {printable(os.readlink(path))}, which does not exist"
            except OSError as error:
                return f"is a link that cannot be followed: {error.strerror or error}"
    if os.path.exists(path) and not os.path.isfile(path):
        return "is a folder that cannot be listed" if os.path.isdir(path) else "is not a regular file"
    return ""


def _file(name: str, path: str) -> SourceFile:
    problem = problem_of(path)
    mark = None if problem else stamp(path)
    if mark is None:
        return SourceFile(printable(name), path, 0, "", problem or "cannot be read: no such file")
    return SourceFile(name, path, int(mark.partition("-")[0]), mark)


def _local(text: str) -> list[SourceFile]:
    path = Path(text)
    if path.is_dir():
        return _scanned(os.path.abspath(text))
    if any(c in text for c in "*?[") and not os.path.lexists(text):
        return _matched(text, Path(*_fixed_part(path.parts)))
    if not os.path.lexists(text):
        raise MissingFileError("no such file or folder", path=text)
    return [_file(path.name, str(path.absolute()))]


def _matched(pattern: str, fixed: Path) -> list[SourceFile]:
    """The files of a pattern. `**` goes around in links: of each folder the shortest path counts."""
    matches = [Path(m) for m in glob.glob(pattern, recursive=True)]
    first: dict[str, Path] = {}
    out: dict[Path, SourceFile] = {}
    for path in sorted(matches, key=lambda p: (len(p.parts), str(p))):
        if path.is_dir():
            continue
        folder = path.parent
        if first.setdefault(os.path.realpath(folder), folder) != folder:
            links = (p for p in (*reversed(folder.parents), folder) if p.is_symlink())
            path = next(links, path)
        out.setdefault(path, _file(path.relative_to(fixed).as_posix(), str(path.absolute())))
    return list(out.values())


def _fixed_part(parts: tuple[str, ...]) -> list[str]:
    """The folders of a pattern before the first that varies."""
    fixed = []
    for part in parts[:-1]:
        if any(c in part for c in "*?["):
            break
        fixed.append(part)
    return fixed or ["."]


def _scanned(root: str) -> list[SourceFile]:
    """The files below a folder. Every folder is read once: links to folders come last, so that none goes in circles."""
    out: list[SourceFile] = []
    seen: set[str] = set()
    folders: list[str] = [root]
    links: list[str] = []
    while folders or links:
        if folders:
            folder = folders.pop()
        else:
            links.sort(reverse=True)
            folder = links.pop()
        real = os.path.realpath(folder)
        name = os.path.relpath(folder, root).replace(os.sep, "/")
        if real in seen:
            if os.path.islink(folder):
                out.append(_file(name, folder))
            continue
        seen.add(real)
        try:
            with os.scandir(folder) as found:
                items = list(found)
        except OSError as error:
            out.append(SourceFile(printable(name), folder, 0, "", f"cannot be listed: {error.strerror}"))
            continue
        for item in items:
            if item.name.startswith("."):
                continue
            if item.is_dir(follow_symlinks=False):
                folders.append(item.path)
            elif os.path.isdir(item.path):
                links.append(item.path)
            elif os.path.splitext(item.name)[1].lower() in SUFFIXES:
                out.append(_file(os.path.relpath(item.path, root).replace(os.sep, "/"), item.path))
    return out


def _remote(url: str) -> list[SourceFile]:
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
            SourceFile(
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


def stamp(path: str) -> str | None:
    """What changes when a file is written to; None where there is none."""
    if "://" in path:
        try:
            system, root = _file_system(path)
            return str(system.ukey(root)) if system.exists(root) else None
        except Exception:
            return None
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return f"{stat.st_size}-{stat.st_mtime_ns}"


def bytes_at(path: str) -> bytes:
    """The bytes of a file, on this machine or behind a URL."""
    if "://" not in path:
        return read_bytes(Path(path), path)
    system, root = _file_system(path)
    try:
        if system.size(root) > MAX_FILE_BYTES:
            raise FormatError(f"is larger than the {MAX_FILE_BYTES} bytes marrow reads", path=path)
        return bytes(system.cat_file(root))
    except FormatError:
        raise
    except Exception as error:
        raise FormatError(f"cannot be fetched: {type(error).__name__}: {error}", path=path) from None


def opened(path: str, *, allow_outside: bool = False) -> Source:
    """A file for a reader; behind a URL it has no neighbours."""
    if "://" in path:
        return Source.of_bytes(bytes_at(path), path.partition("?")[0])
    return Source.open(path, allow_outside=allow_outside)
