"""Builds the runtimes: `python -m marrow.runtime.build [wasm] [strict] [native] [--force] [--target NAME --out FOLDER]`.

`marrow.wasm` and `marrow-strict.wasm` for pages, `libmarrow` for engines: one driver in C (`runtime/c`), and the kernels'
object code. It needs llvmlite, and PyPI's `ziglang` as compiler and linker. What was built from these very sources is
not built again.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from marrow.errors import MissingExtraError, ValidationError

if TYPE_CHECKING:
    from marrow.kernels.targets import BuildTarget

__all__ = ["BUILT", "WASM", "build", "build_library", "built", "web_files"]

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER / "built"
"""Where what is built lies, in the package."""
SOURCES = FOLDER.parents[2] / "runtime" / "c"
"""The driver's sources, in the repository."""
WASM = {"wasm": "marrow.wasm", "strict": "marrow-strict.wasm"}
WEB = FOLDER.parents[2] / "runtime" / "web"
"""The npm package, in the repository."""
_C_FLAGS = (
    "-std=c11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden",
    "-DMRW_BUILDING",
)  # fmt: skip


def file_of(what: str) -> Path:
    """Where `wasm`, `strict` or `native` lies."""
    from marrow.kernels.targets import target_here

    return BUILT / (WASM.get(what) or target_here().library_name("marrow"))


def built(what: str) -> Path:
    """The file of `wasm`, `strict` or `native`, built first where these sources have not been."""
    file = file_of(what)
    if not SOURCES.is_dir():
        if not file.is_file():
            raise ValidationError(f"this installation of marrow has no {file.name}: reinstall marrow-engine")
        return file
    build((what,))
    return file


@functools.cache
def sources_digest() -> str:
    """The sources of the runtimes as one number."""
    from marrow.kernels.backend import sources_digest as kernels

    digest = hashlib.sha256(kernels().encode())
    own = [FOLDER / name for name in ("layout.py", "build.py", "wasm_kernels.py", "wasm_strict.py")]
    for path in sorted([*SOURCES.rglob("*.[ch]"), *own]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build(
    wanted: Sequence[str] = ("wasm", "strict", "native"),
    *,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Builds what is not built from these very sources yet; returns the files."""
    from marrow.io.atomic import replacing
    from marrow.kernels.backend import backend
    from marrow.kernels.targets import target_here
    from marrow.runtime.wasm_strict import made_strict

    BUILT.mkdir(exist_ok=True)
    for what in wanted:
        file, stamp = file_of(what), BUILT / f".{what}"
        if not force and file.is_file() and stamp.is_file() and stamp.read_text() == sources_digest():
            continue
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as name:
            made = Path(name) / file.name
            if what == "native":
                # Wheels have all levels; whoever builds for himself needs that of his processor.
                level = backend().name
                build_library(target_here(), made, levels=[level] if level in target_here().levels else None)
            elif what == "strict":
                made.write_bytes(made_strict(built("wasm").read_bytes()))
            else:
                _wasm(made)
            with replacing(file) as out:
                out.write(made.read_bytes())
        if what == "native":
            os.chmod(file, 0o755)
        stamp.write_text(sources_digest())
        (BUILT / "marrow.h").write_bytes((SOURCES / "include" / "marrow.h").read_bytes())
        (say or _say)(f"marrow: built {file.name} in {time.perf_counter() - began:.1f} s")
    return [file_of(what) for what in wanted]


def web_files(folder: Path) -> list[Path]:
    """The files of the npm package, whole: its modules with the WebAssembly beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for source in [
        *sorted(WEB.glob("*.js")),
        *sorted(WEB.glob("*.d.ts")),
        WEB / "package.json",
        WEB / "README.md",
    ]:
        made.append(folder / source.name)
        made[-1].write_bytes(source.read_bytes())
    for what in WASM:
        made.append(folder / WASM[what])
        made[-1].write_bytes(built(what).read_bytes())
    return made


def _say(words: str) -> None:
    print(words, file=sys.stderr)


def _zig(*arguments: str) -> None:
    """Runs zig, which PyPI's `ziglang` brings."""
    if importlib.util.find_spec("ziglang") is None:
        raise MissingExtraError("ziglang", "dev", "building the runtimes")
    done = subprocess.run([sys.executable, "-m", "ziglang", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"marrow: building the runtime failed:\n{done.stderr}")


def _headers(
    folder: Path,
    levels: Sequence[tuple[str, str]],
    find: str,
    *,
    checked: bool = False,
    without: Sequence[str] = (),
) -> None:
    """The headers that are made: the layout, and the table of kernels, of which some may not be there."""
    from marrow.runtime.layout import KERNELS_USED, header

    there = [name for name in KERNELS_USED if name not in without]

    (folder / "marrow_layout.h").write_text(header())
    lines = ["typedef struct { const char *name; mrw_kernels kernels; } mrw_level_entry;"]
    for prefix, _ in levels:
        lines += [f"void {prefix}{name}(void *frame);" for name in there]
        if checked:
            lines += [_CHECKED.replace("NAME", f"{prefix}{name}") for name in there]
    for prefix, name in levels:
        called = [f"{'checked_' if checked else ''}{prefix}{kernel}" for kernel in KERNELS_USED]
        entries = ", ".join(c if k in there else "0" for c, k in zip(called, KERNELS_USED))
        lines.append(f'static const mrw_level_entry level_{name} = {{"{name}", {{{entries}}}}};')
    before = [_FAULT] if checked else []
    (folder / "marrow_kernels.h").write_text("\n".join([*before, *lines, find]) + "\n")


_FAULT = """#include <stdio.h>
#include <stdlib.h>
extern int64_t fault[3];
static void look(void) {
    if (!fault[0]) return;
    fprintf(stderr, "a kernel left an array: site %lld, index %lld of %lld\\n", (long long)fault[0], (long long)fault[1],
            (long long)fault[2]);
    abort();
}"""
_CHECKED = "static void checked_NAME(void *frame) { NAME(frame); look(); }"
"""In a library that looks at every index (`build_library(checked=True)`): what was found ends the process."""


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Object code of kernels, which takes longest: kept until they change."""
    from marrow.io.atomic import replacing
    from marrow.kernels.backend import sources_digest as kernels
    from marrow.runtime.layout import KERNELS_USED

    sources = f"{kernels()} {KERNELS_USED}".encode()
    if "wasm" in name:
        sources += (FOLDER / "wasm_kernels.py").read_bytes()
    file = BUILT / "objects" / f"{name}-{hashlib.sha256(sources).hexdigest()[:16]}.o"
    if not file.is_file():
        made = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.glob(f"{name}-{'?' * 16}.o"):
            old.unlink(missing_ok=True)
        with replacing(file) as out:
            out.write(made)
    return file.read_bytes()


def _sources() -> list[str]:
    return [str(path) for path in sorted((SOURCES / "src").glob("*.c"))]


def _includes(folder: str) -> list[str]:
    return ["-I", str(SOURCES / "include"), "-I", str(SOURCES / "src"), "-I", folder]


def _wasm(file: Path) -> None:
    """The module for pages, with the exact multiply-add in it that the strict one calls."""
    from marrow.kernels.targets import TARGETS
    from marrow.runtime.layout import NOT_IN_PAGES
    from marrow.runtime.wasm_kernels import FEATURES, wasm_object

    small = ["-Os" if flag == "-O2" else flag for flag in _C_FLAGS]

    find = "static const mrw_level_entry *mrw_find_level(void) { return &level_wasm; }"
    with tempfile.TemporaryDirectory() as folder:
        _headers(Path(folder), [("", "wasm")], find, without=NOT_IN_PAGES)
        (Path(folder) / "kernels.o").write_bytes(_kept("wasm", wasm_object))
        _zig(
            "cc", "-target", TARGETS["wasm"].zig, *(f"-m{name}" for name in FEATURES), *small, *_includes(folder),
            *_sources(), *(str(path) for path in sorted((SOURCES / "wasm").glob("*.c"))), f"{folder}/kernels.o",
            "-nostdlib", "-Wl,--no-entry", "-Wl,--gc-sections", "-Wl,--strip-all", "-Wl,-z,stack-size=262144",
            "-Wl,--initial-memory=4194304", "-Wl,--max-memory=4294901760", *(f"-Wl,--export={n}" for n in _exports()),
            "-o", str(file),
        )  # fmt: skip


def _exports() -> list[str]:
    """The functions of the header, and those of a page."""
    text = (SOURCES / "include" / "marrow.h").read_text()
    own = ["mrw_alloc", "mrw_release", "mrw_is_fused", "marrow_fma4"]
    return [*re.findall(r"^MRW_API [^;(]*?\*?(mrw_\w+)\(", text, re.M), *own]


def build_library(
    target: BuildTarget, file: Path, *, levels: Sequence[str] | None = None, checked: bool = False
) -> None:
    """`libmarrow` for a machine, this one or another, with the kernels of some of its levels (all). `checked`: for
    tests, with a
    look at every index of every kernel, and at what C leaves undefined; what is found ends the process."""
    from marrow.runtime.wasm_kernels import library_object

    levels = levels or (target.levels[:1] if checked else target.levels)
    find = f"static const mrw_level_entry *mrw_find_level(void) {{ return &level_{levels[0]}; }}"
    if "v3" in levels or "v4" in levels:
        lacks = [f"#define MRW_NO_{level.upper()}\n" for level in ("v3", "v4") if level not in levels]
        find = "".join(lacks) + '#include "x86_level.h"'
    flags = ["-fsanitize=undefined", "-fsanitize-trap=undefined", "-g"] if checked else []
    with tempfile.TemporaryDirectory() as folder:
        _headers(Path(folder), [(f"{level}_", level) for level in levels], find, checked=checked)

        def compiled(level: str) -> str:
            name = f"{target.name}-{level}{'-checked' if checked else ''}"
            code = _kept(name, lambda: library_object(target, level, checked=checked))
            (Path(folder) / f"{level}.o").write_bytes(code)
            return f"{folder}/{level}.o"

        with ThreadPoolExecutor(2) as beside:
            objects = list(beside.map(compiled, levels))
        machine = [] if target.zig == "native" else ["-target", target.zig]
        link = target.link_flags(file.name, libc=True)
        _zig(
            "cc",
            *machine,
            *_C_FLAGS,
            *flags,
            "-fPIC",
            *_includes(folder),
            *_sources(),
            *objects,
            *link,
            "-o",
            str(file),
        )


def main(arguments: list[str]) -> None:
    from marrow.kernels.targets import TARGETS

    others = [name for name in TARGETS if name != "wasm"]
    command = argparse.ArgumentParser(
        "python -m marrow.runtime.build", description="Builds marrow's runtimes."
    )
    command.add_argument("what", nargs="*", help="wasm, strict, native (all of them)")
    command.add_argument("--force", action="store_true", help="also what was built from these very sources")
    command.add_argument("--target", choices=others, help="libmarrow for another machine, into --out")
    command.add_argument("--out", type=Path, help="the folder for it, which is made where it is not there")
    given = command.parse_args(arguments)
    if unknown := [what for what in given.what if what not in ("wasm", "strict", "native")]:
        command.error(f"expected wasm, strict or native, got {unknown[0]!r}")
    if (given.target is None) != (given.out is None):
        command.error("--target and --out go together: --target windows-x86_64 --out FOLDER")
    if given.target is None:
        build(given.what or ("wasm", "strict", "native"), force=given.force)
        return
    if given.what:
        command.error(f"--target builds libmarrow alone, not {given.what[0]!r}")
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / TARGETS[given.target].library_name("marrow")
    began = time.perf_counter()
    build_library(TARGETS[given.target], file)
    (given.out / "marrow.h").write_bytes((SOURCES / "include" / "marrow.h").read_bytes())
    _say(f"marrow: built {file} for {given.target} in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
