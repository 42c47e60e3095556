"""Nothing is ever half-written: files are written beside their place and renamed into it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from marrow.errors import FormatError, file_error
from marrow.pyodide import IN_BROWSER

__all__ = ["check_space", "replacing"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[IO[bytes]]:
    """A binary file to write; it takes the place of `path` when the block ends well, and is gone when it does
    not. `private`: for this user alone (0600).
    """
    import tempfile  # slow to import, and reading needs none of it

    target = Path(path)
    if "\0" in str(target):
        raise FormatError("cannot be written: a file's name has no NUL in it", path=path)
    try:
        # Names have at most 255 octets, and the temporary one has more letters than its target.
        start = os.fsencode(target.name)[:200].decode("utf-8", "ignore")
        handle, name = tempfile.mkstemp(prefix=f".{start}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise file_error(error, "cannot be written", path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        if not private:
            os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        raise file_error(error, "cannot be written", path) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def check_space(path: str | os.PathLike[str], size: int) -> None:
    """Refuses to begin a file of `size` bytes that the disk has no room for."""
    import shutil

    try:
        free = shutil.disk_usage(Path(path).absolute().parent).free
    except OSError:
        return  # what is wrong with the folder is said when the file is made
    if size > free:
        raise FormatError(
            f"takes {size / 1e9:,.1f} GB, and there are {free / 1e9:,.1f} GB left where it goes", path=path
        )


def _umask() -> int:
    if IN_BROWSER:  # where it says at first that nobody may do anything, the owner neither
        return 0o022
    value = os.umask(0)
    os.umask(value)
    return value
