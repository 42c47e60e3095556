"""Who runs the kernels of this process: machine code from the package, the compiler, or Python itself.

The extension modules that the package was built with are tried first, the one for the most capable processor before the others.
Where the kernels' sources were changed since, they are compiled on the spot (that needs the extra `jit`), with a line on stderr;
where there is no compiler either, or no executable memory, the NumPy backend answers: the same bits, a hundred to a thousand times
slower. `MARROW_KERNELS=v4|v3|arm64|host|jit|numpy` asks for one of them; `debug` for the compiler with a look at every index.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from marrow.errors import MarrowError
from marrow.kernels.language.kernel import CallFrame, Kernel

__all__ = ["Backend", "KernelFault", "backend", "sources_digest"]

MODULES = ("wasm", "wasm_strict") if sys.platform == "emscripten" else ("v4", "v3", "arm64", "host")
FOLDER = Path(__file__).parent


class Backend(Protocol):
    """What can run kernels."""

    name: str

    def address(self, array: Any, /) -> int:
        """Where the memory of a C-contiguous array begins."""

    def entry(self, frame: CallFrame) -> tuple[Callable[[Any], Any], Any]:
        """A function that runs a frame's kernel, and what to call it with."""


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


class Built:
    """Kernels in an extension module."""

    def __init__(self, module: Any) -> None:
        self.module, self.name = module, str(module.level)
        self.address: Callable[[Any], int] = module.address

    def entry(self, frame: CallFrame) -> tuple[Callable[[Any], Any], Any]:
        run = getattr(self.module, frame.kernel.name, None)
        return (run, frame.bytes) if run is not None else _others().entry(frame)


class Compiled:
    """Kernels compiled one by one when they are first called."""

    name = "jit"
    address = staticmethod(_address)

    def __init__(self) -> None:
        import llvmlite  # noqa: F401  (that it is there)

        self._entries: dict[Kernel, Any] = {}
        self._compiling = threading.Lock()
        self._alive: list[Any] = []

    def entry(self, frame: CallFrame) -> tuple[Callable[[Any], Any], Any]:
        import ctypes

        kernel, place = frame.kernel, (ctypes.c_char * len(frame.bytes)).from_buffer(frame.bytes)

        def run(place: Any) -> None:
            if kernel not in self._entries:
                with self._compiling:
                    if kernel not in self._entries:
                        self._entries[kernel] = self._compile(kernel)
            self._entries[kernel](ctypes.addressof(place))

        return run, place

    def _compile(self, kernel: Kernel) -> Any:
        from marrow.kernels.language.machine import LEVELS, target_machine, written

        began = time.perf_counter()
        machine = target_machine(LEVELS["host"], jit=True)
        run, _ = self._loaded(kernel, written([kernel], machine), machine)
        self._say(kernel, began)
        return run

    def _say(self, kernel: Kernel, began: float) -> None:
        took = time.perf_counter() - began
        print(f"marrow: compiled kernel {kernel.name} in {took:.1f} s", file=sys.stderr)

    def _loaded(self, kernel: Kernel, text: str, machine: Any) -> tuple[Any, Any]:
        """Machine code of a kernel, ready to run, and the engine that holds it."""
        import ctypes

        from llvmlite import binding

        from marrow.kernels.language.machine import optimised

        engine = binding.create_mcjit_compiler(optimised(text, machine), machine)
        engine.finalize_object()
        self._alive.append(engine)
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.get_function_address(kernel.name)), engine


class KernelFault(MarrowError, IndexError):
    """The debug build found an index outside its array."""


class Checked(Compiled):
    """Kernels compiled with a look at every index. One runs at a time."""

    name = "debug"

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def _compile(self, kernel: Kernel) -> Any:
        import ctypes

        from marrow.kernels.language.machine import LEVELS, checked, target_machine

        began = time.perf_counter()
        machine = target_machine(LEVELS["host"], jit=True)
        text, sites = checked([kernel], machine)
        inner, engine = self._loaded(kernel, text, machine)
        fault = (ctypes.c_int64 * 3).from_address(engine.get_global_value_address("fault"))

        def run(place: Any) -> None:
            with self._lock:
                fault[0] = 0
                inner(place)
                site, index, size = fault
            if site:
                raise KernelFault(
                    f"kernel {kernel.name}: {sites[site - 1]}: index {index} where there are {size}"
                )

        self._say(kernel, began)
        return run


@functools.cache
def _others() -> Backend:
    """Who runs kernels that are not this package's."""
    try:
        return Compiled()
    except ImportError:
        return Plain()


class Plain:
    """Kernels as the Python functions they are, their lane formulas in NumPy."""

    name = "numpy"
    address = staticmethod(_address)

    def entry(self, frame: CallFrame) -> tuple[Callable[[Any], Any], Any]:
        return frame.kernel.run_plainly, frame


@functools.cache
def sources_digest() -> str:
    """The kernels' sources as one number."""
    digest = hashlib.sha256()
    # Shaders are written anew, and jobs are told to the module as they are.
    sources = [p for p in FOLDER.rglob("*.py") if not p.name.startswith("wgsl") and p.name != "jobs.py"]
    for path in sorted([*sources, FOLDER.parent / "math" / "elementary.py"]):
        digest.update(path.relative_to(FOLDER.parent).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _advise(words: str) -> None:
    print(f"marrow: {words}", file=sys.stderr)


@functools.cache
def backend() -> Backend:
    """The backend of this process."""
    wanted = os.environ.get("MARROW_KERNELS", "")
    if wanted not in ("", "debug", "jit", "numpy", *MODULES):
        raise MarrowError(
            f"MARROW_KERNELS must be one of {', '.join(MODULES)}, debug, jit, numpy; got {wanted!r}"
        )
    if wanted == "numpy":
        return Plain()
    if wanted == "debug":
        try:
            return Checked()
        except ImportError:
            raise MarrowError(
                "MARROW_KERNELS=debug needs the compiler: pip install 'marrow-engine[jit]'"
            ) from None
    problems = []
    for level in MODULES if not wanted else (wanted,):
        if level == "jit":
            break
        try:
            module = importlib.import_module(f"marrow.kernels._{level}")
        except ModuleNotFoundError:
            continue
        except ImportError as error:
            problems.append(str(error))
            if level == "wasm" and not wanted:
                _advise(
                    "this browser has no fused multiply-add of vectors: kernels are slower here, with the same bits"
                )
            elif "needs a processor" not in problems[-1] and not wanted:
                _advise(f"the kernels for {level} cannot be loaded ({error}): reinstall marrow-engine")
            continue
        if module.sources == sources_digest():
            return Built(module)
        problems.append("the kernels were changed since they were built")
        break
    reason = problems[-1] if problems else "this installation has no compiled kernels"
    if wanted in MODULES:
        raise MarrowError(f"MARROW_KERNELS={wanted}: {reason}")
    try:
        chosen = Compiled()
    except ImportError:
        _advise(
            f"{reason}, and there is no compiler (pip install 'marrow-engine[jit]'): kernels run on the NumPy backend, "
            "correctly but a hundred times slower"
        )
        return Plain()
    if not wanted:
        _advise(f"{reason}: they are compiled now; `python -m marrow.kernels.build` builds them once for all")
    return chosen
