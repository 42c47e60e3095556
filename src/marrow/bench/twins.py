"""Builds the C++ twins with the machine's own compiler and binds them."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from marrow.io import cache_folder
from marrow.kernels.backend import backend

__all__ = ["Twins", "load_twins"]

# The freedoms marrow's own kernels take, one by one: -ffast-math would also link code that, when the library is loaded,
# makes the whole process treat the smallest numbers as zero.
FAST_MATH = (
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-fassociative-math",
    "-freciprocal-math",
)
FLAGS = ("-O3", *FAST_MATH, "-std=c++17", "-shared", "-fPIC")


class Twins:
    """The functions of `twins.cpp`, called with NumPy arrays."""

    def __init__(self, library: ctypes.CDLL, compiler: str) -> None:
        self._library, self.compiler = library, compiler

    @staticmethod
    def bind(*arguments: Any) -> list[Any]:
        """Arguments as ctypes: arrays by address, integers as 64 bits."""
        return [
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int64(a)
            for a in arguments
        ]

    def prepared(self, name: str, *arguments: Any) -> Any:
        """A call without arguments, everything bound beforehand, so that only the kernel is timed."""
        function, bound = getattr(self._library, name), self.bind(*arguments)

        def call(alive: tuple[Any, ...] = arguments) -> None:  # the addresses are good while the arrays live
            function(*bound)

        return call


@functools.cache
def load_twins() -> Twins | None:
    """The twins, compiled on first use and kept; None where there is no C++ compiler."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++") or shutil.which("c++")
    if compiler is None:
        return None
    source = Path(__file__).with_name("twins.cpp")
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.partition("\n")[
        0
    ]
    # For the instructions marrow's own kernels use in this process.
    flags = ("-march=x86-64-v3" if backend().name == "v3" else "-march=native", *FLAGS)
    recipe = source.read_bytes() + " ".join((version, *flags, _cpu())).encode()
    key = hashlib.blake2b(recipe, digest_size=8).hexdigest()
    folder = cache_folder.prepared() or Path(tempfile.mkdtemp(prefix="marrow-twins-"))
    library = folder / f"twins-{key}.so"
    if not library.is_file() or not cache_folder.is_private(os.lstat(library)):
        part = folder / f"twins-{key}.{os.getpid()}.tmp"
        done = subprocess.run(
            [compiler, *flags, "-o", str(part), str(source)], capture_output=True, text=True
        )
        if done.returncode:
            return None
        os.chmod(part, 0o700)
        os.replace(part, library)
    return Twins(ctypes.CDLL(str(library)), version)


def _cpu() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
        return next((line for line in text.splitlines() if line.startswith("flags")), "")
    except OSError:
        return ""
