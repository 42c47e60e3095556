"""How kernels are compiled: lazily, one by one, with the machine code kept in the user's cache folder.

`@kernel` marks a function that defines and returns a kernel. The first call looks for machine code made for such arguments in
a folder named after the content of this package, so an edited kernel is never answered with stale code. Only where there is
none yet Numba is imported and compiles the kernel. Where the folder cannot be written, kernels are compiled anew in every
process and one line of advice says so.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from marrow.kernels.calling import Kind, describe
from marrow.kernels.loading import REFUSED, load, machine

__all__ = ["Kernel", "cache_folder", "kernel", "nothing_kept", "readonly"]

log = logging.getLogger("marrow")

_lock = threading.RLock()
_CHECKSUM = 32
_dtypes: dict[np.dtype[Any], np.dtype[Any]] = {}
"""One of all that are equal."""


def user_cache() -> Path:
    """The folder the platform keeps caches in."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    return Path.home() / ".cache"


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; None when no such folder can be written. `MARROW_KERNEL_CACHE` overrides."""
    wanted = os.environ.get("MARROW_KERNEL_CACHE")
    if wanted == "off":
        return None
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{sys.version} {machine()}".encode())
    try:
        folder = (Path(wanted) if wanted else user_cache() / "marrow" / "kernels") / digest.hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError) as error:
        log.warning(
            "compiled kernels cannot be kept (%s), so each process compiles them anew; "
            "set MARROW_KERNEL_CACHE to a folder that can be written",
            error,
        )
        return None


def nothing_kept() -> bool:
    """Whether all kernels still have to be compiled."""
    folder = cache_folder()
    return folder is None or next(folder.glob("*.o"), None) is None


class Kernel:
    """A function in machine code, made for the kinds of arguments it meets. `build` returns its source: the definition sits
    inside a function because what it calls needs Numba to exist."""

    def __init__(self, name: str, build: Callable[[], Callable[..., Any]]) -> None:
        self.name, self._build = name, build
        self._entries: tuple[Callable[..., Any], ...] = ()
        self._known: set[str] = set()

    def __call__(self, *arguments: Any) -> Any:
        for entry in self._entries:
            result = entry(*arguments)
            if result is not REFUSED:
                return result
        return self._call_first(tuple(map(_plain, arguments)))

    def _call_first(self, arguments: tuple[Any, ...]) -> Any:
        """A call with arguments no entry took: a kind not met before, or arrays that only looked different."""
        for entry in self._entries:
            result = entry(*arguments)
            if result is not REFUSED:
                return result
        kinds = tuple(map(describe, arguments))
        key = ",".join(map(str, kinds))
        with _lock:
            if key not in self._known:
                self._entries = (*self._entries, load(self.name, self._code(key, kinds), kinds))
                self._known.add(key)
        return self(*arguments)

    def is_there(self, arguments: tuple[Any, ...]) -> bool:
        """Whether a call with such arguments would find machine code, and need not compile any."""
        key = ",".join(map(str, map(describe, arguments)))
        if key in self._known:
            return True
        file = self._file(key)
        return file is not None and file.exists()

    def _file(self, key: str) -> Path | None:
        folder = cache_folder()
        name = f"{self.name}-{hashlib.blake2b(key.encode(), digest_size=8).hexdigest()}.o"
        return None if folder is None else folder / name

    def _code(self, key: str, kinds: tuple[Kind, ...]) -> bytes:
        """The machine code: kept from before, or compiled now and kept."""
        file = self._file(key)
        code = None if file is None else _kept(file)
        if code is None:
            from marrow.kernels.translation import translate

            code = translate(self._build(), kinds)
            if file is not None:
                _keep(file, code)
        return code


def _kept(file: Path) -> bytes | None:
    """What was kept under that name, whole; None where it is not."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    checksum, code = data[:_CHECKSUM], data[_CHECKSUM:]
    return code if hashlib.blake2b(code, digest_size=_CHECKSUM).digest() == checksum else None


def _keep(file: Path, code: bytes) -> None:
    try:
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as temporary:
            temporary.write(hashlib.blake2b(code, digest_size=_CHECKSUM).digest() + code)
        os.replace(temporary.name, file)
    except OSError as error:  # a full disk must not stop the animation
        log.warning("a compiled kernel could not be kept: %s", error)


def _plain(argument: Any) -> Any:
    """The same argument with the very types entries know: no subclass of an array, no equal but other dtype."""
    if isinstance(argument, tuple):
        items = tuple(map(_plain, argument))
        return type(argument)(*items) if hasattr(argument, "_fields") else items
    if isinstance(argument, np.ndarray):
        return np.asarray(argument).view(_dtypes.setdefault(argument.dtype, argument.dtype))
    return argument


def kernel(build: Callable[[], Callable[..., Any]]) -> Kernel:
    """Decorates a function that defines and returns a kernel, which is named after it."""
    return Kernel(build.__name__, build)


def readonly(array: Any) -> Any:
    """A read-only view. Read-only and writeable arrays are different kinds: kernels take their inputs read-only throughout,
    so that each is compiled once and none can write where it should not."""
    view = array.view()
    view.flags.writeable = False
    return view
