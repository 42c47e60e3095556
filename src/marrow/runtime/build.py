"""Builds the runtimes: `python -m marrow.runtime.build [wasm] [strict] [native] [--force]`.

`marrow.wasm` and `marrow-strict.wasm` for pages, `libmarrow` for engines: one driver in C (`runtime/c`), and the
kernels' object code.
It needs llvmlite, and PyPI's `ziglang` as compiler and linker. What was built from these very sources is not built
again."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from marrow.errors import MissingExtraError, ValidationError

__all__ = ["BUILT", "WASM", "build", "built", "library_name"]

FOLDER = Path(__file__).resolve().parent
BUILT = FOLDER / "built"
"""Where what is built lies, in the package."""
SOURCES = FOLDER.parents[2] / "runtime" / "c"
"""The driver's sources, in the repository."""
WASM = {"wasm": "marrow.wasm", "strict": "marrow-strict.wasm"}
_C_FLAGS = [
    "-std=c11",
    "-O2",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fvisibility=hidden",
    "-DMRW_BUILDING",
]


def library_name() -> str:
    """What `libmarrow` is called on this machine."""
    return {"win32": "marrow.dll", "darwin": "libmarrow.dylib"}.get(sys.platform, "libmarrow.so")


def file_of(what: str) -> Path:
    """Where `wasm`, `strict` or `native` lies."""
    return BUILT / WASM.get(what, library_name())


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
    for path in sorted(
        [*SOURCES.rglob("*.[ch]"), FOLDER / "layout.py", FOLDER / "build.py", FOLDER / "wasm_kernels.py"]
    ):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def build(
    wanted: tuple[str, ...] = ("wasm", "strict", "native"),
    *,
    force: bool = False,
    say: Callable[[str], None] | None = None,
) -> list[Path]:
    """Builds what is not built from these very sources yet; returns the files."""
    from marrow.io.atomic import replacing

    BUILT.mkdir(exist_ok=True)
    for what in wanted:
        file, stamp = file_of(what), BUILT / f".{what}"
        if not force and file.is_file() and stamp.is_file() and stamp.read_text() == sources_digest():
            continue
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            made = (_native if what == "native" else functools.partial(_wasm, strict=what == "strict"))(
                Path(folder)
            )
            with replacing(file) as out:
                out.write(made.read_bytes())
        if what == "native":
            os.chmod(file, 0o755)
        stamp.write_text(sources_digest())
        (BUILT / "marrow.h").write_bytes((SOURCES / "include" / "marrow.h").read_bytes())
        (say or _say)(f"marrow: built {file.name} in {time.perf_counter() - began:.1f} s")
    return [file_of(what) for what in wanted]


def _say(words: str) -> None:
    print(words, file=sys.stderr)


def zig(*arguments: str, folder: Path) -> None:
    """Runs zig, which PyPI's `ziglang` brings."""
    if importlib.util.find_spec("ziglang") is None:
        raise MissingExtraError("ziglang", "runtime", "the runtimes are built with it")
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *arguments], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"marrow: building the runtime failed:\n{done.stderr}")


def _headers(folder: Path, levels: list[tuple[str, str]], find: str, *, small: bool = False) -> None:
    """The headers that are made: the layout, and the table of kernels."""
    from marrow.runtime.layout import KERNELS_USED, SMALL_KERNELS, header

    there = {name: name if name in SMALL_KERNELS or not small else name[:-1] + "2" for name in KERNELS_USED}
    (folder / "marrow_layout.h").write_text(header())
    lines = ["typedef struct { const char *name; mrw_kernels kernels; } mrw_level_entry;"]
    for prefix, _ in levels:
        lines += [f"void {prefix}{name}(void *frame);" for name in sorted(set(there.values()))]
    for prefix, name in levels:
        entries = ", ".join(f"{prefix}{there[kernel]}" for kernel in KERNELS_USED)
        lines.append(f'static const mrw_level_entry level_{name} = {{"{name}", {{{entries}}}}};')
    (folder / "marrow_kernels.h").write_text("\n".join([*lines, find]) + "\n")


def _kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Object code of kernels, which takes longest: kept until they change."""
    from marrow.io.atomic import replacing
    from marrow.kernels.backend import sources_digest as kernels
    from marrow.runtime.layout import KERNELS_USED, SMALL_KERNELS

    sources = (
        f"{kernels()} {KERNELS_USED} {SMALL_KERNELS}".encode() + (FOLDER / "wasm_kernels.py").read_bytes()
    )
    file = BUILT / "objects" / f"{name}-{hashlib.sha256(sources).hexdigest()[:16]}.o"
    if not file.is_file():
        made = make()
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.glob(f"{name}-*.o"):
            if len(old.name) == len(file.name):
                old.unlink(missing_ok=True)
        with replacing(file) as out:
            out.write(made)
    return file.read_bytes()


def _sources() -> list[str]:
    return [str(path) for path in sorted((SOURCES / "src").glob("*.c"))]


def _wasm(folder: Path, *, strict: bool) -> Path:
    from marrow.runtime.wasm_kernels import FEATURES, wasm_object

    _headers(
        folder,
        [("", "wasm")],
        "static const mrw_level_entry *mrw_find_level(void) { return &level_wasm; }",
        small=True,
    )
    made = _kept("strict" if strict else "wasm", lambda: wasm_object(strict=strict))
    (folder / "kernels.o").write_bytes(made)
    exported = [f"-Wl,--export={name}" for name in _exports()]
    zig(
        "cc", "-target", "wasm32-freestanding", "-DMRW_WIDE_SKINS=1", *(f"-m{name}" for name in FEATURES), *_C_FLAGS,
        *(() if strict else ("-mrelaxed-simd",)),
        "-I", str(SOURCES / "include"), "-I", str(SOURCES / "src"), "-I", str(folder), *_sources(),
        *([str(SOURCES / "wasm" / "strict.c")] if strict else []),
        str(SOURCES / "wasm" / "probe.c"), "kernels.o", "-nostdlib", "-Wl,--no-entry", "-Wl,--gc-sections",
        "-Wl,--strip-all",
        "-Wl,-z,stack-size=262144", "-Wl,--initial-memory=4194304", "-Wl,--max-memory=4294901760", *exported, "-o",
        "marrow.wasm", folder=folder,
    )  # fmt: skip
    return folder / "marrow.wasm"


def _exports() -> list[str]:
    """The functions of the header, and those of a page."""
    import re

    text = (SOURCES / "include" / "marrow.h").read_text()
    return [
        *re.findall(r"^MRW_API [^;(]*?\*?(mrw_\w+)\(", text, re.M),
        "mrw_alloc",
        "mrw_release",
        "mrw_is_fused",
    ]


def _native(folder: Path, *, flags: tuple[str, ...] = ("-Wl,-s",), checks: bool = False) -> Path:
    from marrow.kernels.build import levels
    from marrow.kernels.language.machine import LEVELS, object_code, target_machine
    from marrow.runtime.layout import runtime_kernels
    from marrow.runtime.wasm_kernels import renamed, written_kernels

    names = list(levels())
    find = (
        '#include "x86_level.h"'
        if "v3" in names
        else f"static const mrw_level_entry *mrw_find_level(void) {{ return &level_{names[0]}; }}"
    )
    _headers(folder, [(f"{name}_", name) for name in names], find)
    objects = []
    for name in names:

        def compiled(name: str = name) -> bytes:
            machine = target_machine(LEVELS[name])
            text = renamed(
                written_kernels(machine, checks=checks),
                {k.name: f"{name}_{k.name}" for k in runtime_kernels()},
            )
            return object_code(text, machine)

        (folder / f"{name}.o").write_bytes(_kept(f"{name}{'-checked' if checks else ''}", compiled))
        objects.append(f"{name}.o")
    out = library_name()
    zig(
        "cc",
        *_C_FLAGS,
        "-shared",
        "-fPIC",
        "-I",
        str(SOURCES / "src"),
        "-I",
        str(SOURCES / "include"),
        "-I",
        str(folder),
        *_sources(),
        *objects,
        *flags,
        "-o",
        out,
        folder=folder,
    )
    return folder / out


if __name__ == "__main__":
    given = tuple(a for a in sys.argv[1:] if not a.startswith("-"))
    unknown = set(given) - {"wasm", "strict", "native"}
    if unknown:
        raise SystemExit(f"marrow: expected wasm, strict or native, got {sorted(unknown)[0]!r}")
    build(given or ("wasm", "strict", "native"), force="--force" in sys.argv)
