"""The one folder that the cache owns: how it is made and marked, what in it is believed, and what is deleted.

`MARROW_CACHE`, or the platform's folder for caches, is somebody's folder: it may be `$HOME`. The cache makes one folder
in it, `marrow-cache`, marked by a `CACHEDIR.TAG` with a line of ours, and knows its entries by their names: the 64
digits of a SHA-256 and `.marrow`. It deletes such files of its own and nothing else, looks into no folder below, and
follows no link. Others can neither read nor write there (0700, entries 0600); a folder that is not marked, is a link,
belongs to another user or may be written by others is not used at all, and an entry of that kind is no entry.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from marrow.pyodide import IN_BROWSER

__all__ = [
    "ENTRY_SUFFIX",
    "Kept",
    "delete",
    "entries",
    "evict",
    "folder",
    "is_free",
    "is_private",
    "prepared",
    "problem",
    "read",
]

NAME = "marrow-cache"
TAG = "CACHEDIR.TAG"
# The first line is the standard's (bford.info/cachedir): programs that make backups leave such folders out.
MARK = b"""Signature: 8a477f597d28d172789f06886806bc55
# marrow cache 1
# Everything in here can be made again: marrow cache clear empties it.
"""
_OURS = MARK[: MARK.index(b"1\n") + 2]
ENTRY_SUFFIX = ".marrow"
_ENTRY = re.compile(r"[0-9a-f]{64}\.marrow")
_UNFINISHED = re.compile(r"\.[0-9a-f]{64}\.marrow\.[a-z0-9_]{8}\.tmp")
# A process that was killed leaves its unfinished file; nobody takes this long to write one.
_STALE_SECONDS = 3600.0
_UNUSED_SECONDS = 30 * 86400.0
_MAX_BYTES = 4 << 30
_POSIX = hasattr(os, "geteuid")


@dataclass(frozen=True)
class Kept:
    """A file in the folder: an entry, or what is left of one that was never finished."""

    path: Path
    bytes: int
    used: float


def folder() -> Path | None:
    """Where the cache's own folder is or would be, by `MARROW_CACHE` or the platform's custom; None when it is off."""
    wanted = os.environ.get("MARROW_CACHE", "")
    if wanted.lower() in ("off", "0", "no", "false"):
        return None
    if IN_BROWSER and not wanted:  # its files are in memory, and gone with the page
        return None
    if wanted:
        return Path(os.path.expanduser(wanted)) / NAME
    import platformdirs

    try:
        return platformdirs.user_cache_path("marrow", appauthor=False) / NAME
    except RuntimeError:  # no home folder
        return None


def problem(place: Path) -> str:
    """Why the folder is not used, in words; empty where it is fine, or can be made."""
    try:
        found = os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return _cannot_be_made(place)
    except (OSError, ValueError) as error:
        return f"cannot be looked at: {getattr(error, 'strerror', None) or error}"
    if not stat.S_ISDIR(found.st_mode):
        return "is a link or a file, not a folder"
    if _POSIX and found.st_uid != os.geteuid():
        return "belongs to another user"
    if not is_private(found):
        return "can be written by other users (chmod 700 mends it)"
    if not read(place / TAG).startswith(_OURS):
        return "was not made by marrow: name another folder by MARROW_CACHE, or move this one away"
    return ""


def _cannot_be_made(place: Path) -> str:
    above = place.parent
    while not os.path.lexists(above) and above != above.parent:
        above = above.parent
    if not os.path.isdir(above):
        return f"cannot be made: {above} is not a folder"
    try:  # permissions are not all of it: /proc and full disks let nobody make a folder
        os.rmdir(_fresh(above))
    except OSError as error:
        return f"cannot be made: {above} cannot be written to ({error.strerror})"
    return ""


def prepared() -> Path | None:
    """The folder, made where it is not there yet; None where there is none that can be used."""
    place = folder()
    if place is None:
        return None
    if not os.path.lexists(place):
        with contextlib.suppress(OSError, ValueError):
            _make(place)
    return place if os.path.lexists(place) and not problem(place) else None


def _make(place: Path) -> None:
    """Makes the folder with its mark at once: it is never seen without."""
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = _fresh(place.parent)
    tag = os.path.join(fresh, TAG)
    try:
        with os.fdopen(os.open(tag, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(MARK)
        os.rename(fresh, place)  # fails where another process was quicker
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(tag)
        with contextlib.suppress(OSError):
            os.rmdir(fresh)


def _fresh(above: Path) -> str:
    """A new folder with a name of its own."""
    import tempfile

    return tempfile.mkdtemp(prefix=f".{NAME}.", dir=above)  # 0700, whatever the umask


def is_private(found: os.stat_result) -> bool:
    """Whether a file or folder is this user's own, and others cannot write to it."""
    return not _POSIX or (found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def read(path: Path) -> bytes:
    """The bytes of a file of our own; none where it is not there, a link, another's, or others may write to it."""
    # Not blocking: a pipe under the name of an entry has no writer to wait for.
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            usable = stat.S_ISREG(found.st_mode) and is_private(found) and found.st_size <= _MAX_BYTES
            return file.read() if usable else b""
    except (OSError, ValueError):
        return b""


def is_free(path: Path) -> bool:
    """Whether an entry may be written there: there is nothing, or an entry of our own to replace."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return _is_own_file(found)


def _is_own_file(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and (not _POSIX or found.st_uid == os.geteuid())


def entries(place: Path) -> list[Kept]:
    """Every entry, the one that was not used for longest first."""
    return sorted(_files(place, _ENTRY.fullmatch), key=lambda kept: kept.used)


def _files(place: Path, is_named: Callable[[str], object]) -> list[Kept]:
    """The files of our own by such a name; none where the folder is not to be used."""
    found: list[Kept] = []
    if problem(place):
        return found
    with contextlib.suppress(OSError), os.scandir(place) as items:
        for item in items:
            if is_named(item.name):
                with contextlib.suppress(OSError):
                    seen = item.stat(follow_symlinks=False)
                    if _is_own_file(seen):
                        found.append(Kept(Path(item.path), seen.st_size, seen.st_mtime))
    return found


def delete(place: Path) -> tuple[int, list[OSError]]:
    """Deletes every entry and unfinished file: the number of entries that went, and why others did not."""
    gone, kept = 0, []
    for entry in entries(place):
        try:
            entry.path.unlink()
            gone += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            kept.append(error)
    _sweep(place, older_than=0.0)
    return gone, kept


def evict(place: Path, limit: int, keep: Path) -> None:
    """Deletes what was not used for longest until the entries are within the limit, and what nobody used for a month;
    `keep` stays."""
    found = entries(place)
    total, unused = sum(entry.bytes for entry in found), time.time() - _UNUSED_SECONDS
    for entry in found:
        if total <= limit and entry.used > unused:
            break
        if entry.path != keep:
            with contextlib.suppress(OSError):
                entry.path.unlink()
                total -= entry.bytes
    _sweep(place, older_than=_STALE_SECONDS)


def _sweep(place: Path, older_than: float) -> None:
    """Deletes unfinished files of processes that are gone."""
    before = time.time() - older_than
    for left in _files(place, _UNFINISHED.fullmatch):
        if left.used <= before:
            with contextlib.suppress(OSError):
                left.path.unlink()
