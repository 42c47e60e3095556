"""Where data sets lie: a folder, or anything fsspec reaches (`s3://...`, `gs://...`, `memory://...`).

What is written appears as a whole or not at all: in a folder by renaming a file that was finished beside its place, in
object storage because an upload counts when it is complete.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from marrow.errors import FormatError, MarrowError, MissingExtraError

__all__ = [
    "BuildError",
    "LocalStore",
    "OutputError",
    "RemoteStore",
    "Store",
    "file_digest",
    "is_url",
    "store_at",
]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_BLOCK = 1 << 20


class BuildError(MarrowError):
    """A data set could not be finished. What is finished is kept: the same call goes on from there."""


class OutputError(BuildError):
    """The place a data set is written to refused it: full, read-only, gone."""


def is_url(text: object) -> bool:
    return isinstance(text, str) and _URL.match(text) is not None


def store_at(path: str | os.PathLike[str]) -> Store:
    """The storage at a path or URL."""
    text = os.fspath(path)
    if is_url(text) and not text.startswith("file://"):
        return RemoteStore(text)
    return LocalStore(Path(text.removeprefix("file://")))


class Store:
    """Files by name, with `/` between folders."""

    url: str

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None where there is none."""
        raise NotImplementedError

    def size(self, name: str) -> int | None:
        """The bytes of a file or of all files of a folder; None where there is none."""
        raise NotImplementedError

    def stamp(self, name: str) -> str | None:
        """What changes when a file, or a file of a folder, is written to; None where there is none."""
        raise NotImplementedError

    def names(self, folder: str) -> list[str]:
        """What lies in a folder, sorted; empty where it does not exist."""
        raise NotImplementedError

    def remove(self, name: str) -> None:
        """Deletes a file or a folder, if it is there."""
        raise NotImplementedError

    def local(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """A file or folder as one on this machine."""
        raise NotImplementedError

    def making(self, name: str) -> contextlib.AbstractContextManager[Path]:
        """A path to write a file or a folder at; it takes its place under `name` when the block ends well."""
        raise NotImplementedError

    def write(self, name: str, data: bytes) -> None:
        """Writes a small file."""
        with self.making(name) as path:
            path.write_bytes(data)


@contextlib.contextmanager
def _refusals(url: str) -> Iterator[None]:
    """What the system refuses, in words."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = (
            "make room, then run the same command again" if full else "the same command goes on from here"
        )
        words = os.strerror(error.errno) if error.errno else error
        raise OutputError(f"{url}: cannot be written: {words}; {remedy}") from None


class LocalStore(Store):
    """A folder of this machine, or one that all machines share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.absolute()
        self.url = str(self.folder)

    def path(self, name: str) -> Path:
        return self.folder / name

    def read(self, name: str) -> bytes | None:
        try:
            return self.path(name).read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror or error}", path=self.path(name)) from None

    def size(self, name: str) -> int | None:
        path = self.path(name)
        try:
            if path.is_dir():
                return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
            return path.stat().st_size
        except OSError:
            return None

    def stamp(self, name: str) -> str | None:
        path = self.path(name)
        try:
            if not path.is_dir():
                stat = path.stat()
                return f"{stat.st_size}-{stat.st_mtime_ns}"
            parts = [
                (p.relative_to(path).as_posix(), p.stat().st_size, p.stat().st_mtime_ns)
                for p in sorted(path.rglob("*"))
                if p.is_file()
            ]
            return hashlib.sha256(repr(parts).encode()).hexdigest()
        except OSError:
            return None

    def names(self, folder: str) -> list[str]:
        try:
            return sorted(n for n in os.listdir(self.path(folder)) if not n.startswith("."))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def remove(self, name: str) -> None:
        path = self.path(name)
        with _refusals(str(path)), contextlib.suppress(FileNotFoundError):
            if path.is_dir() and not path.is_symlink():
                # Out of sight at once: a folder that is half deleted is no data set.
                gone = path.with_name(f".{path.name}.gone{os.getpid()}")
                os.replace(path, gone)
                shutil.rmtree(gone)
            else:
                path.unlink()

    @contextlib.contextmanager
    def local(self, name: str) -> Iterator[Path]:
        yield self.path(name)

    @contextlib.contextmanager
    def making(self, name: str, *, keep_suffix: bool = False) -> Iterator[Path]:
        """`keep_suffix` is for writers that go by it."""
        target = self.path(name)
        with _refusals(str(target)):
            target.parent.mkdir(parents=True, exist_ok=True)
            # A name of its own: two machines of a cluster may be at the same shard, one of them given up as lost.
            mark = secrets.token_hex(6)
            made = target.with_name(f".{target.name}.{mark}.tmp{target.suffix if keep_suffix else ''}")
            try:
                yield made
                _flush(made)
                self._place(made, target, name)
                _flush_folder(target.parent)
            finally:
                _forget(made)

    def _place(self, made: Path, target: Path, name: str) -> None:
        for last in (False, False, True):
            if made.is_dir() and target.exists():
                self.remove(name)
            try:
                os.replace(made, target)
                return
            except OSError as error:
                # Between the two calls another may have put the same folder there.
                if last or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise

    def sweep(self, folder: str) -> None:
        """Deletes what processes that are gone left unfinished."""
        with contextlib.suppress(OSError):
            for item in os.listdir(self.path(folder)):
                if item.startswith(".") and re.search(r"\.(tmp(\.\w+)?|gone\d+)$", item):
                    _forget(self.path(folder) / item)


class RemoteStore(Store):
    """Storage behind fsspec."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise MissingExtraError("fsspec", "dataset", "a data set behind a URL") from None
        self.url = url.rstrip("/")
        try:
            self.system, root = fsspec.core.url_to_fs(self.url)
        except Exception as error:  # every backend has errors of its own
            raise FormatError(f"cannot be reached: {type(error).__name__}: {error}", path=url) from None
        self.root = PurePosixPath(root)

    def _path(self, name: str) -> str:
        return str(self.root / name)

    def read(self, name: str) -> bytes | None:
        with self._trouble(name, reading=True):
            try:
                return bytes(self.system.cat_file(self._path(name)))
            except (FileNotFoundError, IsADirectoryError):
                return None

    def size(self, name: str) -> int | None:
        with self._trouble(name, reading=True):
            if not self.system.exists(self._path(name)):
                return None
            return int(
                sum(
                    self.system.find(self._path(name), detail=True)[p]["size"]
                    for p in self.system.find(self._path(name))
                )
            )

    def stamp(self, name: str) -> str | None:
        with self._trouble(name, reading=True):
            self.system.invalidate_cache()
            files = sorted(self.system.find(self._path(name)))
            parts = [(str(p).removeprefix(self._path(name)), str(self.system.ukey(p))) for p in files]
            return hashlib.sha256(repr(parts).encode()).hexdigest() if parts else None

    def names(self, folder: str) -> list[str]:
        with self._trouble(folder, reading=True):
            self.system.invalidate_cache()
            try:
                return sorted(PurePosixPath(p).name for p in self.system.ls(self._path(folder), detail=False))
            except FileNotFoundError:
                return []

    def remove(self, name: str) -> None:
        with self._trouble(name), contextlib.suppress(FileNotFoundError):
            self.system.rm(self._path(name), recursive=True)

    @contextlib.contextmanager
    def local(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="marrow-") as folder:
            copy = Path(folder) / PurePosixPath(name).name
            with self._trouble(name, reading=True):
                if self.system.isdir(self._path(name)):
                    self.system.get(self._path(name), str(copy), recursive=True)
                else:
                    self.system.get_file(self._path(name), str(copy))
            yield copy

    @contextlib.contextmanager
    def making(self, name: str) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="marrow-") as folder:
            made = Path(folder) / PurePosixPath(name).name
            with _refusals(str(made)):
                yield made
            with self._trouble(name):
                self.system.makedirs(str(PurePosixPath(self._path(name)).parent), exist_ok=True)
                if made.is_dir():
                    with contextlib.suppress(FileNotFoundError):
                        self.system.rm(self._path(name), recursive=True)
                    self.system.put(str(made), self._path(name), recursive=True)
                else:
                    self.system.put_file(str(made), self._path(name))

    @contextlib.contextmanager
    def _trouble(self, name: str, *, reading: bool = False) -> Iterator[None]:
        try:
            yield
        except MarrowError:
            raise
        except Exception as error:  # every backend has errors of its own
            words = f"{type(error).__name__}: {error}"
            if reading:
                raise FormatError(f"cannot be read: {words}", path=f"{self.url}/{name}") from None
            raise OutputError(f"{self.url}/{name}: cannot be written: {words}") from None


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, or of the names and files of a folder."""
    state = hashlib.sha256()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    for file in files:
        if file is not path:
            state.update(file.relative_to(path).as_posix().encode() + b"\0")
        with open(file, "rb") as stream:
            while block := stream.read(_BLOCK):
                state.update(block)
    return state.hexdigest()


def _forget(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _flush(path: Path) -> None:
    """Onto the disk before the name is given: a power cut leaves a whole file or none."""
    if not path.is_file():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(path: Path) -> None:
    with contextlib.suppress(OSError):  # not every system can
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
