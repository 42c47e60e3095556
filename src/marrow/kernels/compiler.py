"""How kernels are compiled: lazily, one by one, with the machine code kept in the user's cache folder.

`@kernel` marks a plain Python function. The first call imports Numba, compiles the function for the argument types it
sees, and stores the result under a folder named after the content of this package, so an edited kernel is never
answered with stale code. Where that folder cannot be written, kernels are compiled anew in every process and one
line of advice says so.
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
from typing import Any, TypeVar

__all__ = ["cache_folder", "jit", "kernel", "readonly"]

log = logging.getLogger("marrow")

# Everything fast-math allows except assuming that NaN and infinity do not occur: those pass through.
FAST_MATH = ("contract", "arcp", "afn", "nsz", "reassoc")

F = TypeVar("F", bound=Callable[..., Any])
_lock = threading.RLock()


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
    digest.update(sys.version.encode())
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


def jit(function: F, name: str | None = None) -> F:
    """Compiles with the flags all kernels share. `name` tells its machine code from that of other kernels; helpers
    that only kernels call need none and are not kept by themselves."""
    import numba

    dispatcher = numba.njit(function, fastmath=set(FAST_MATH), error_model="numpy", nogil=True)
    folder = cache_folder() if name else None
    if folder is not None:
        dispatcher._cache = _cache_in(folder, function, str(name))
    return dispatcher


def _cache_in(folder: Path, function: Callable[..., Any], name: str) -> Any:
    """Numba's on-disk cache, in our folder. The folder's name stands for the sources of all kernels, so the kernel's
    name and the argument types are key enough (Numba's own key would hold objects that differ in every process)."""
    from numba.core import caching

    class Locator(caching._CacheLocator):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.name

        def get_disambiguator(self) -> str:
            return name

        def ensure_cache_path(self) -> None:
            folder.mkdir(parents=True, exist_ok=True)

        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> Any:
            return cls()

    class Impl(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = [Locator]  # noqa: RUF012

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Impl

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), name

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # a damaged file can fail in any way; the answer is always to compile anew
                log.debug("a kept kernel could not be read and is compiled anew", exc_info=True)
                self.flush()
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            try:
                super().save_overload(sig, data)
            except OSError as error:  # a full disk must not stop the animation
                log.warning("a compiled kernel could not be kept: %s", error)

    return Cache(function)


def kernel(build: Callable[[], F]) -> F:
    """Decorates a function that defines and returns a kernel: it is built and compiled on first call.

    The kernel's own definition sits inside the builder because what it calls needs Numba to exist.
    """
    compiled: list[Any] = []

    @functools.wraps(build)
    def call(*args: Any) -> Any:
        if not compiled:
            with _lock:
                if not compiled:
                    compiled.append(jit(build(), build.__name__))
        return compiled[0](*args)

    return call  # type: ignore[return-value]


def readonly(array: Any) -> Any:
    """A read-only view. Numba compiles read-only and writeable arrays as different types: kernels take their inputs
    read-only throughout, so that each is compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view
