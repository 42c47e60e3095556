"""The cache of `mw.load`: a processed copy of every imported file, in the user's cache folder.

An entry is a `.marrow` file named after what it was made from: the contents of the source, the importer and
the options. Files the source refers to are listed inside with their fingerprints (or as missing), and asked
for again when the entry is looked up. Entries are written beside their place and renamed, so two processes or
a kill leave a whole entry or none; a damaged one fails its checksum. Whatever goes wrong here ends in a fresh
import, never in an error.

`MARROW_CACHE` is a folder, or `off`; `MARROW_CACHE_LIMIT` the size in bytes (default 2 GiB) above which the
entries that were not used for longest go.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from marrow._version import __version__
from marrow.errors import MarrowError
from marrow.io import native
from marrow.io.atomic import replacing
from marrow.io.container import VERSION, Container
from marrow.io.digest import fingerprint
from marrow.io.source import LoadOptions, Source
from marrow.model import Character

__all__ = ["CacheInfo", "Entry", "clear", "entry", "folder", "info"]

DEFAULT_LIMIT = 2 << 30
_SEED_BYTES = 32
# A process that was killed leaves its unfinished file; nobody takes this long to write one.
_STALE_SECONDS = 3600.0
_REFERENCES = msgspec.json.Decoder(list[tuple[str, str | None]])


@dataclass(frozen=True)
class CacheInfo:
    """Where the cache is (None when it is off), how many entries and bytes it holds, and how many it may."""

    path: Path | None
    entries: int
    bytes: int
    limit: int


def folder() -> Path | None:
    """The cache folder by `MARROW_CACHE` or the platform's custom; None when the cache is off."""
    wanted = os.environ.get("MARROW_CACHE", "")
    if wanted.lower() in ("off", "0", "no", "false"):
        return None
    if wanted:
        return Path(wanted).expanduser()
    try:
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA")
            return (Path(local) if local else Path.home() / "AppData" / "Local") / "marrow" / "cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "marrow"
        base = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "marrow"
    except RuntimeError:  # no home folder
        return None


def limit() -> int:
    """How many bytes the cache may take."""
    try:
        return max(0, int(os.environ["MARROW_CACHE_LIMIT"]))
    except (KeyError, ValueError):
        return DEFAULT_LIMIT


def info() -> CacheInfo:
    """What the cache holds."""
    place = folder()
    files = [size for _, size, _ in _entries(place)] if place else []
    return CacheInfo(place, len(files), sum(files), limit())


def clear() -> int:
    """Empties the cache; the number of entries that went."""
    place = folder()
    if place is None:
        return 0
    gone = 0
    for path, _, _ in _entries(place):
        with contextlib.suppress(OSError):
            path.unlink()
            gone += 1
    _sweep(place, older_than=0.0)
    return gone


@dataclass(frozen=True)
class Entry:
    """The place of one source in the cache, whether it is there or not."""

    path: Path
    source: Source
    seed: bytes

    def load(self) -> Character | None:
        """The character; None when there is none, it is damaged, or a file it was made from has changed."""
        try:
            container = Container(native.map_file(self.path), self.path)
            for reference, print_then in _REFERENCES.decode(container.metadata.get("references", "")):
                if self._print(reference) != print_then:
                    return None
            character = native.read_container(container, self.path)
        except (MarrowError, msgspec.MsgspecError, OSError):
            return None
        with contextlib.suppress(OSError):
            os.utime(self.path)  # the eviction goes by this
        return character

    def store(self, character: Character) -> None:
        """Keeps the character. A cache that cannot be written is no reason to fail."""
        references = [
            (name, None if data is None else fingerprint(data, seed=self.seed).hex())
            for name, data in self.source.references.items()
        ]
        with contextlib.suppress(MarrowError, OSError, MemoryError):
            text = msgspec.json.encode(references).decode()
            with replacing(self.path) as file:
                native.write_to(file, character, {"references": text})
            _evict(self.path.parent, keep=self.path)

    def _print(self, reference: str) -> str | None:
        try:
            data = self.source.neighbour(reference)
        except MarrowError:
            return None
        return fingerprint(data, seed=self.seed).hex()


def entry(source: Source, format_name: str, options: LoadOptions) -> Entry | None:
    """The place in the cache for what the format's reader makes of `source`; None when there is no cache."""
    place = folder()
    if place is None:
        return None
    try:
        seed = _seed(place)
    except OSError:
        return None
    # The name of the file is part of the result: a character without a name of its own is called after it.
    made_by = f"{format_name} {__version__} {VERSION} {_importer_stamp()} {options!r} {source.path.name!a}"
    key = fingerprint(made_by.encode(), source.data, seed=seed)
    return Entry(place / f"{key.hex()}.marrow", source, seed)


def _seed(place: Path) -> bytes:
    """The random number that keys this cache's fingerprints, so that nobody can prepare two files that share
    one.
    """
    path = place / "seed"
    for _ in range(3):
        with contextlib.suppress(FileNotFoundError):
            seed = path.read_bytes()
            if len(seed) == _SEED_BYTES:
                return seed
            path.unlink(missing_ok=True)
        place.mkdir(parents=True, exist_ok=True)
        draft = place / f".seed.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        try:
            draft.write_bytes(os.urandom(_SEED_BYTES))
            if path.exists():
                continue
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    return path.read_bytes()


@cache
def _importer_stamp() -> str:
    """Changes with the code an import runs through, so that a cache never outlives it, released or being
    edited.
    """
    root = Path(__file__).parent.parent
    lines = []
    for part in ("io", "model", "math"):
        for at, _, names in os.walk(root / part):
            for name in sorted(n for n in names if n.endswith(".py")):
                with contextlib.suppress(OSError):
                    stat = os.stat(os.path.join(at, name))
                    lines.append(f"{os.path.join(at, name)} {stat.st_size} {stat.st_mtime_ns}")
    return fingerprint("\n".join(sorted(lines)).encode()).hex()


def _entries(place: Path) -> list[tuple[Path, int, float]]:
    """Path, size and time of last use of every entry."""
    found = []
    with contextlib.suppress(OSError), os.scandir(place) as items:
        for item in items:
            if item.name.endswith(".marrow") and not item.name.startswith("."):
                with contextlib.suppress(OSError):
                    stat = item.stat()
                    found.append((Path(item.path), stat.st_size, stat.st_mtime))
    return found


def _evict(place: Path, keep: Path) -> None:
    """Deletes what was not used for longest until the cache is within its limit; the newest entry stays."""
    found = sorted(_entries(place), key=lambda e: e[2])
    total = sum(size for _, size, _ in found)
    for path, size, _ in found:
        if total <= limit():
            break
        if path != keep:
            with contextlib.suppress(OSError):
                path.unlink()
                total -= size
    _sweep(place, older_than=_STALE_SECONDS)


def _sweep(place: Path, older_than: float) -> None:
    """Deletes unfinished files of processes that are gone."""
    before = time.time() - older_than
    with contextlib.suppress(OSError), os.scandir(place) as items:
        for item in items:
            if item.name.startswith(".") and item.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if item.stat().st_mtime <= before:
                        os.unlink(item.path)
