"""Builds the extension modules that hold the kernels: `python -m marrow.kernels.build [LEVEL ...] [--force]`.

The build of the package runs this (see hatch_build.py); so does whoever has changed a kernel. It needs llvmlite and a linker:
the machine's own (`cc`), or that of the PyPI package `ziglang`.
"""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def levels() -> tuple[str, ...]:
    """The processor levels that modules are built for on this machine."""
    machine = platform.machine().lower()
    if machine in ("x86_64", "amd64"):
        return ("v3", "v4")
    return ("arm64",) if machine in ("aarch64", "arm64") else ("host",)


def linker() -> list[str] | None:
    """The command that links; None where there is none."""
    if os.environ.get("CC"):
        return os.environ["CC"].split()
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    try:
        importlib.import_module("ziglang")
    except ImportError:
        return None
    return [sys.executable, "-m", "ziglang", "cc"]


def module_file(level: str) -> Path:
    return FOLDER / (f"_{level}.pyd" if sys.platform == "win32" else f"_{level}.abi3.so")


def build(wanted: tuple[str, ...] | None = None, *, force: bool = False) -> list[Path]:
    """Builds what is not built from these very sources yet; returns all module files."""
    from marrow.kernels.backend import sources_digest

    files = {level: module_file(level) for level in wanted or levels()}
    stamp = sources_digest().encode()
    stale = [k for k, file in files.items() if force or not file.is_file() or stamp not in file.read_bytes()]
    if stale:
        _build(stale)
    return list(files.values())


def _build(stale: list[str]) -> None:
    from marrow.kernels import catalogue
    from marrow.kernels.backend import sources_digest
    from marrow.kernels.language.extension import glue_code
    from marrow.kernels.language.machine import LEVELS, target_machine, written

    link = linker()
    if link is None:
        raise SystemExit("marrow: there is no linker: install a C compiler, or the package ziglang from PyPI")
    began, kernels = time.perf_counter(), catalogue.kernels()
    # All levels of one machine have one text, which each turns into code in a process of its own.
    text = written(kernels, target_machine(LEVELS[stale[0]]))
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        source = Path(folder) / "kernels.ll"
        source.write_text(text, encoding="utf-8")
        running = []
        for name in stale:
            command = [
                sys.executable,
                str(FOLDER / "build.py"),
                "--compile",
                name,
                str(source),
                f"{folder}/{name}.o",
            ]
            running.append((name, subprocess.Popen(command, stderr=subprocess.PIPE, text=True)))
        for name, process in running:
            _, said = process.communicate()
            if process.returncode:
                raise SystemExit(f"marrow: compiling the kernels failed:\n{said}")
            glue = glue_code(f"_{name}", kernels, LEVELS[name], sources_digest())
            _link(
                link,
                {"kernels.o": Path(f"{folder}/{name}.o").read_bytes(), "glue.o": glue},
                module_file(name),
            )
    seconds = time.perf_counter() - began
    print(f"marrow: built {len(kernels)} kernels for {', '.join(stale)} in {seconds:.1f} s", file=sys.stderr)


def _compile(level: str, source: str, out: str) -> None:
    """Object code for one level, of kernels in LLVM's language."""
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine

    Path(out).write_bytes(
        object_code(Path(source).read_text(encoding="utf-8"), target_machine(LEVELS[level]))
    )


def _link(link: list[str], objects: dict[str, bytes], file: Path) -> None:
    """Makes a module of object code, whole or not at all."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        for name, code in objects.items():
            (Path(folder) / name).write_bytes(code)
        made = Path(folder) / file.name
        flags = {"darwin": ["-undefined", "dynamic_lookup"], "win32": _windows()}.get(
            sys.platform, ["-Wl,-s", "-nostdlib"]
        )
        command = [*link, "-shared", "-o", str(made), *(str(Path(folder) / name) for name in objects), *flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"marrow: linking the kernels failed:\n{done.stderr}")
        os.replace(made, file)


def _windows() -> list[str]:
    return [f"-L{Path(sys.base_prefix) / 'libs'}", "-lpython3"]


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--compile"]:
        _compile(*arguments[1:])
        return
    named = tuple(a for a in arguments if not a.startswith("-"))
    build(named or None, force="--force" in arguments)


if __name__ == "__main__":
    # While the package is being built, marrow itself cannot be imported: its dependencies are not there. Kernels need none.
    if "marrow" not in sys.modules or sys.modules["__main__"].__package__ in (None, ""):
        package = types.ModuleType("marrow")
        package.__path__ = [str(FOLDER.parent)]
        sys.modules["marrow"] = package
        from marrow.kernels.build import main as run

        run(sys.argv[1:])
    else:
        main(sys.argv[1:])
