"""Builds the extension modules that hold the kernels: `python -m marrow.kernels.build [LEVEL ...] [--force]`.

The build of the package runs this (see hatch_build.py); so does whoever has changed a kernel. It needs llvmlite and a linker:
the machine's own (`cc`), or that of the PyPI package `ziglang`.

    python -m marrow.kernels.build --target windows-arm64 --into FOLDER

builds the modules of another machine (`targets.TARGETS`) into a folder. `kernel_objects` and `link` are what that is made of, for
whatever else is to hold kernels.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

FOLDER = Path(__file__).resolve().parent
ZIG = [sys.executable, "-m", "ziglang"]

if TYPE_CHECKING:
    from marrow.kernels.language.kernel import Kernel
    from marrow.kernels.targets import BuildTarget


def levels() -> tuple[str, ...]:
    """The processor levels that modules are built for on this machine."""
    from marrow.kernels.targets import target_here

    return target_here().levels


def linker(target: BuildTarget | None = None) -> list[str] | None:
    """The command that links: this machine's own or, for a machine that is named, zig's. None where there is none."""
    from marrow.kernels.targets import target_here

    here = target is None
    target = target or target_here()
    # Windows' own linkers want other flags and files than zig's.
    if here and target.system != "windows":
        if os.environ.get("CC"):
            return os.environ["CC"].split()
        for name in ("cc", "gcc", "clang"):
            if shutil.which(name):
                return [name]
    try:
        importlib.import_module("ziglang")
    except ImportError:
        return None
    return [*ZIG, "cc", "-target", target.zig]


def module_file(level: str) -> Path:
    """Where the module of a level is on this machine."""
    from marrow.kernels.targets import target_here

    return FOLDER / target_here().module_name(level)


def build(wanted: tuple[str, ...] | None = None, *, force: bool = False) -> list[Path]:
    """Builds this machine's modules that are not built from these very sources yet; returns all module files."""
    from marrow.kernels.targets import target_here

    target = target_here()
    files = {level: module_file(level) for level in wanted or target.levels}
    _build(target, files, linker(), force=force)
    return list(files.values())


def build_modules(target: BuildTarget, folder: Path) -> list[Path]:
    """The modules of any machine, in a folder: built there unless they are, from these very sources."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {level: folder / target.module_name(level) for level in target.levels}
    _build(target, files, linker(target))
    return list(files.values())


def _build(
    target: BuildTarget, files: dict[str, Path], command: list[str] | None, *, force: bool = False
) -> None:
    from marrow.kernels import catalogue
    from marrow.kernels.backend import sources_digest
    from marrow.kernels.language.extension import PYTHON, glue_code
    from marrow.kernels.language.machine import LEVELS

    stamp = sources_digest().encode()
    stale = [k for k, file in files.items() if force or not file.is_file() or stamp not in file.read_bytes()]
    if not stale:
        return
    if command is None:
        raise SystemExit("marrow: there is no linker: install a C compiler, or the package ziglang from PyPI")
    began, kernels = time.perf_counter(), catalogue.kernels()
    for level, code in kernel_objects(target, kernels, stale).items():
        glue = glue_code(f"_{level}", kernels, LEVELS[level], sources_digest(), triple=target.triple or None)
        objects = {"kernels.o": code, "glue.o": glue}
        link(target, objects, files[level], imports=PYTHON, command=command)
    made = ", ".join(f"{target.name}/{level}" for level in stale)
    seconds = time.perf_counter() - began
    print(f"marrow: built {len(kernels)} kernels for {made} in {seconds:.1f} s", file=sys.stderr)


def kernel_objects(
    target: BuildTarget, kernels: Sequence[Kernel], levels: Sequence[str] | None = None
) -> dict[str, bytes]:
    """Object code of kernels for some levels of a machine, in which each kernel is a hidden `void name(int64_t *frame)`."""
    from marrow.kernels.language.machine import LEVELS, target_machine, written

    levels = list(levels or target.levels)
    # All levels of one machine have one text, which each turns into code in a process of its own.
    text = written(kernels, target_machine(LEVELS[levels[0]], triple=target.triple or None))
    return compiled(text, target, levels)


def compiled(text: str, target: BuildTarget, levels: Sequence[str]) -> dict[str, bytes]:
    """Object code for some levels of a machine, of kernels in LLVM's language."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernels.ll"
        source.write_text(text, encoding="utf-8")
        running = []
        for level in levels:
            command = [sys.executable, str(FOLDER / "build.py"), "--compile"]
            command += [level, target.triple, str(source), f"{folder}/{level}.o"]
            running.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        said = [process.communicate()[1] for process in running]
        for process, words in zip(running, said, strict=True):
            if process.returncode:
                raise SystemExit(f"marrow: compiling the kernels failed:\n{words}")
        return {level: Path(f"{folder}/{level}.o").read_bytes() for level in levels}


def _compile(level: str, triple: str, source: str, out: str) -> None:
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine

    machine = target_machine(LEVELS[level], triple=triple or None)
    Path(out).write_bytes(object_code(Path(source).read_text(encoding="utf-8"), machine))


def link(
    target: BuildTarget,
    inputs: Mapping[str, bytes],
    file: Path,
    *,
    imports: Mapping[str, Sequence[str]] | None = None,
    libc: bool = False,
    flags: Sequence[str] = (),
    command: Sequence[str] | None = None,
) -> None:
    """Makes a shared library of object code (or of C: inputs are named like files), whole or not at all, by zig unless there is another
    `command`.

    `imports` are the functions it finds in other libraries, which Windows must be told by library (`"NAME DATA"` for what is no
    function); `libc` links C's library; `flags` come last.
    """
    from marrow.kernels.language.stack_probe import stack_probe

    command = command or linker(target)
    if command is None:
        raise SystemExit(f"marrow: linking for {target.name} needs the package ziglang from PyPI")
    with tempfile.TemporaryDirectory(dir=file.parent) as name:
        # The linker runs there, and is told no other path: none can get into the file.
        folder = Path(name)
        if target.system == "windows" and not libc:
            inputs = {**inputs, "stack_probe.s": stack_probe(target.triple)}
        for part, code in inputs.items():
            (folder / part).write_bytes(code)
        told = [*command, "-o", file.name, *inputs]
        if target.system == "windows":
            told += _import_libraries(target, imports or {}, folder)
        told += [*target.link_flags(file.name, libc=libc), *flags]
        done = subprocess.run(told, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise SystemExit(f"marrow: linking {file.name} for {target.name} failed:\n{done.stderr}")
        os.replace(folder / file.name, file)


def _import_libraries(target: BuildTarget, imports: Mapping[str, Sequence[str]], folder: Path) -> list[str]:
    """What Windows' linker reads about other libraries: made from their names, so that none of them need be there."""
    machine = "i386:x86-64" if target.triple.startswith("x86_64") else "arm64"
    made = []
    for library, names in imports.items():
        stem = Path(library).stem
        text = f"LIBRARY {library}\nEXPORTS\n" + "".join(f"{name}\n" for name in names)
        (folder / f"{stem}.def").write_text(text, encoding="utf-8")
        command = [*ZIG, "dlltool", "-m", machine, "-d", f"{stem}.def", "-l", f"lib{stem}.a", "-D", library]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode:
            raise SystemExit(f"marrow: naming what {library} has failed:\n{done.stderr}")
        made.append(f"lib{stem}.a")
    return made


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--compile"]:
        _compile(*arguments[1:])
        return
    if arguments[:1] == ["--target"]:
        from marrow.kernels.targets import MODULE_TARGETS, TARGETS

        if len(arguments) != 4 or arguments[2] != "--into" or arguments[1] not in MODULE_TARGETS:
            raise SystemExit(f"usage: --target NAME --into FOLDER, NAME one of {', '.join(MODULE_TARGETS)}")
        build_modules(TARGETS[arguments[1]], Path(arguments[3]).resolve())
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
