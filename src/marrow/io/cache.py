"""The cache of `mw.load`: a processed copy of every imported file, in a folder of its own (`cache_folder`).

An entry is a `.marrow` file named after its key, the SHA-256 of what it was made from: the contents of the
source, the importer, its libraries and the options. It carries that key inside, so an entry under another's
name is no entry. Files the source refers to are listed inside with their digests (or as missing), and asked
for again when the entry is looked up. Entries are written beside their place and renamed, so two processes or
a kill leave a whole entry or none; they are read, not mapped, so that one that is cut short while it is in use
does no harm; a damaged one fails its checksum. What is whole was checked when it was written, by this user: it is not
checked again. Whatever goes wrong here ends in a fresh import, never in an
error.

`MARROW_CACHE` is the folder the cache's own is made in, or `off`; `MARROW_CACHE_LIMIT` the size (bytes, or `500MB`, `2GiB`;
default 2 GiB) above which the entries that were not used for longest go. What nobody used for a month goes anyway. A
folder or a size that cannot be used is a warning, once.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from marrow._version import __version__
from marrow.errors import FormatError, MarrowError
from marrow.io import cache_folder, marrow_file
from marrow.io.atomic import replacing
from marrow.io.cache_folder import folder
from marrow.io.container import VERSION, Container
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.printing import warn

__all__ = ["CacheInfo", "Entry", "clear", "entry", "folder", "info"]

DEFAULT_LIMIT = 2 << 30
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmgt]?)(i?)b?", re.I)
# What each format's reader hands the work to: distributions, with the modules they install.
_LIBRARIES = {
    "FBX": {"ufbx": "ufbx"},
    "USD": {"usd_core": "pxr"},
    "glTF": {"DracoPy": "DracoPy", "meshoptimizer": "meshoptimizer"},
}
_SETTLED, _MOST_DIGESTS = 3_000_000_000, 1000
_digests: dict[tuple[int, ...], bytes] = {}
_REFERENCES = msgspec.json.Decoder(list[tuple[str, str | None]])


@dataclass(frozen=True)
class CacheInfo:
    """Where the cache is (None when it is off), how many entries and bytes it holds, how many it may, and why it is not
    used, where that is so (`problem`)."""

    path: Path | None
    entries: int
    bytes: int
    limit: int
    problem: str = ""


def limit() -> int:
    """How many bytes the cache may take."""
    wanted = os.environ.get("MARROW_CACHE_LIMIT", "").strip()
    if not wanted:
        return DEFAULT_LIMIT
    size = _SIZE.fullmatch(wanted)
    if size is None or (size[3] and not size[2]):
        _warn_once(f"MARROW_CACHE_LIMIT={wanted!r} is no size such as 500MB, 2GiB or 1000000: it is 2 GiB")
        return DEFAULT_LIMIT
    power = " kmgt".index(size[2].lower() or " ")
    return int(float(size[1]) * (1024 if size[3] else 1000) ** power)


@cache
def _warn_once(message: str) -> None:
    warn(message)


def info() -> CacheInfo:
    """What the cache holds."""
    place = folder()
    if place is None:
        return CacheInfo(None, 0, 0, limit())
    found = cache_folder.entries(place)
    return CacheInfo(place, len(found), sum(e.bytes for e in found), limit(), cache_folder.problem(place))


def clear() -> int:
    """Empties the cache; the number of entries that went. Raises `FormatError` where some could not be deleted."""
    place = folder()
    if place is None:
        return 0
    gone, kept = cache_folder.delete(place)
    if kept:
        reason = kept[0].strerror or kept[0]
        raise FormatError(
            f"{len(kept)} of {len(kept) + gone} entries could not be deleted: {reason}", path=place
        )
    return gone


@dataclass(frozen=True)
class Entry:
    """The place of one source in the cache, whether it is there or not."""

    path: Path
    source: Source
    key: str

    def load(self) -> Character | None:
        """The character; None when there is none, it is damaged, or a file it was made from has changed."""
        try:
            container = Container(cache_folder.read(self.path), self.path)
            if container.metadata.get("key") != self.key:
                return None
            for reference, digest_then in _REFERENCES.decode(container.metadata.get("references", "")):
                if self._digest(reference) != digest_then:
                    return None
            character = marrow_file.read_container(container, self.path, own=True)
        except (MarrowError, msgspec.MsgspecError, OSError, MemoryError):
            return None
        with contextlib.suppress(OSError):
            os.utime(self.path)  # the eviction goes by this
        return character

    def store(self, character: Character) -> None:
        """Keeps the character. A cache that cannot be written is no reason to fail."""
        references = [
            (name, None if data is None else _digest(data)) for name, data in self.source.references.items()
        ]
        with contextlib.suppress(MarrowError, OSError, MemoryError, UnicodeError):
            text = msgspec.json.encode(references).decode()
            place = cache_folder.prepared()
            if place is None or place != self.path.parent or not cache_folder.is_free(self.path):
                return
            with replacing(self.path, private=True) as file:
                marrow_file.write_to(file, character, {"key": self.key, "references": text})
            cache_folder.evict(place, limit(), keep=self.path)

    def _digest(self, reference: str) -> str | None:
        try:
            return _digest(self.source.neighbour(reference))
        except MarrowError:
            return None


def _digest(*parts: bytes | memoryview) -> str:
    state = hashlib.sha256()
    for part in parts:
        state.update(part)
    return state.hexdigest()


def _content_digest(source: Source) -> bytes:
    """The SHA-256 of a source. To make it is most of what a load from the cache takes: that of a file that has lain
    still is kept as long as the system says that it is the same file, written at the same time, and Python's own hash,
    which is quicker, says so too: what is written through a memory map need not change the times."""
    mark = None if source.identity is None else (*source.identity, hash(source.data))
    known = _digests.get(mark) if mark is not None else None
    if known is not None:
        return known
    found = hashlib.sha256(source.data).digest()
    # A file that was written just now may be written again before its times show it.
    if mark is not None and time.time_ns() - max(mark[-3:-1]) > _SETTLED:
        while len(_digests) >= _MOST_DIGESTS:
            with contextlib.suppress(KeyError, StopIteration, RuntimeError):  # another thread was quicker
                del _digests[next(iter(_digests))]
        _digests[mark] = found
    return found


def entry(source: Source, format_name: str, options: LoadOptions) -> Entry | None:
    """The place in the cache for what the format's reader makes of `source`; None when there is no cache."""
    place = folder()
    if place is None:
        return None
    if problem := cache_folder.problem(place):
        if os.environ.get("MARROW_CACHE"):  # somebody named it, and expects it to be used
            _warn_once(f"files are loaded without a cache: the folder {place} {problem}")
        return None
    # The name of the file is part of the result: a character without a name of its own is called after it.
    made_by = [format_name, __version__, VERSION, _importer_stamp(), _libraries(format_name), repr(options)]
    head = msgspec.json.encode([*made_by, ascii(source.path.name), len(source.data)])
    key = _digest(head, _content_digest(source))
    return Entry(place / f"{key}{cache_folder.ENTRY_SUFFIX}", source, key)


@cache
def _libraries(format_name: str) -> list[str]:
    """The versions of what the reader uses, as their metadata is named where they are installed."""
    found = []
    for distribution, module in _LIBRARIES.get(format_name, {}).items():
        with contextlib.suppress(ImportError, ValueError):
            spec = find_spec(module)
            if spec is not None and spec.origin is not None:
                near = Path(spec.origin).parent
                folders = (
                    near.glob(f"{distribution}-*.dist-info"),
                    near.parent.glob(f"{distribution}-*.dist-info"),
                )
                found += sorted(p.name for folder in folders for p in folder) or [f"{module} {spec.origin}"]
    return found


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
    return _digest("\n".join(sorted(lines)).encode())
