"""Builds the kernels for a browser's Python: `python -m marrow.kernels.build_wasm [FOLDER]`.

The modules `_wasm` and `_wasm_strict` are Emscripten side modules, which Pyodide loads as it does any extension: in its own
memory, with frames and arrays as they are. They ask for Python's stable ABI and for nothing of C's library, so that one file
serves every Pyodide. It needs llvmlite, and the linker of the PyPI package `ziglang`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marrow.kernels.language.kernel import Kernel

__all__ = ["build", "build_module", "link", "module_name"]

FOLDER = Path(__file__).resolve().parent


def module_name(level: str) -> str:
    return f"_{level}.abi3.so"


def build(folder: Path = FOLDER) -> list[Path]:
    """Builds what is not built from these very sources yet; returns both module files."""
    from marrow.kernels import catalogue
    from marrow.kernels.backend import sources_digest
    from marrow.kernels.language.wasm_code import WASM_LEVELS

    digest = sources_digest()
    files = {level: folder / module_name(level) for level in WASM_LEVELS}
    for name, file in files.items():
        if not file.is_file() or digest.encode() not in file.read_bytes():
            began, kernels = time.perf_counter(), catalogue.kernels()
            build_module(name, kernels, digest, file)
            took = time.perf_counter() - began
            print(f"marrow: built {len(kernels)} kernels for {name} in {took:.1f} s", file=sys.stderr)
    return list(files.values())


def build_module(name: str, kernels: Sequence[Kernel], digest: str, file: Path) -> None:
    """The side module of a level (`WASM_LEVELS`) with these kernels, built from sources of this digest."""
    from marrow.kernels.language.extension import glue_code
    from marrow.kernels.language.machine import object_code, target_machine, written
    from marrow.kernels.language.wasm_code import TRIPLE, WASM_LEVELS, lowered

    level = WASM_LEVELS[name]
    machine = target_machine(level, triple=TRIPLE)
    code = object_code(lowered(written(kernels, machine), strict=name != "wasm"), machine)
    link({"kernels.o": code, "glue.o": glue_code(f"_{name}", kernels, level, digest)}, file)


def link(objects: Mapping[str, bytes], file: Path) -> None:
    """Makes a side module of object code, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent) as name:
        folder = Path(name)
        for part, code in objects.items():
            (folder / part).write_bytes(code)
        flags = ["-shared", "--experimental-pic", "--no-entry", "--allow-undefined", "--strip-all"]
        command = [sys.executable, "-m", "ziglang", "wasm-ld", *flags, "-o", file.name, *objects]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise SystemExit(f"marrow: linking {file.name} failed (it takes PyPI's ziglang):\n{done.stderr}")
        os.replace(folder / file.name, file)


if __name__ == "__main__":
    build(*map(Path, sys.argv[1:2]))
