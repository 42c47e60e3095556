"""Python for Linux on ARM, under qemu: Debian's, with packages of PyPI."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from platforms.debian import unpack
from platforms.foreign import LAB, Foreign, Missing, packages, unpacked

__all__ = ["bare", "emulator", "interpreter", "python"]

NAME = "linux-aarch64"
VERSION = "3.11"
"""Of Debian 12's Python; other releases have another, and their own name for the libraries below."""
LIBRARIES = ["libc6", "libgcc-s1", "libexpat1", "zlib1g", "libssl3", "libffi8", "libbz2-1.0", "liblzma5"]
LIBRARIES += ["libstdc++6", "libuuid1"]
PROCESSOR = "cortex-a72"


def emulator(processor: str = PROCESSOR) -> list[str]:
    """The command that runs a program of ARM."""
    found = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if found is None:
        raise Missing("qemu is not installed: apt-get install qemu-user-static")
    return [found, "-cpu", processor]


def interpreter(*modules: str) -> Foreign:
    """Its Python, with these folders on its path."""
    names = [f"python{VERSION}-minimal", f"libpython{VERSION}-minimal", f"libpython{VERSION}-stdlib"]
    root = unpack("arm64", *names, *LIBRARIES) / "root"
    command = [*emulator(), "-L", str(root), str(root / "usr" / "bin" / f"python{VERSION}")]
    # Processes that it starts must run under qemu too: it is told that it is this script.
    script, started = LAB / NAME / "python", LAB / NAME / "started"
    started.mkdir(parents=True, exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o755)
    (started / "sitecustomize.py").write_text(f"import sys\nsys.executable = {str(script)!r}\n")
    paths = ":".join([*modules, str(started)])
    return Foreign(NAME, command, {"PYTHONHOME": str(root / "usr"), "PYTHONPATH": paths})


def bare(*folders: Path) -> Foreign:
    """The same with what marrow needs, and these folders in place of a wheel."""
    site = packages(NAME, *(f"manylinux{version}_aarch64" for version in ("2014", "_2_17", "_2_27", "_2_28")))
    return interpreter(*map(str, folders), str(site))


def python() -> Foreign:
    """The same with marrow's wheel."""
    return bare(unpacked(NAME))
