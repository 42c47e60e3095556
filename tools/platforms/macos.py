"""What wheels for macOS hold, in a Python for Linux: their files as they are, their modules loaded by `macho`."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from platforms import linux_arm
from platforms.foreign import LAB, Foreign, Missing, unpacked

__all__ = ["arm64", "x86_64"]

LOADER = str(Path(__file__).with_name("macho.py"))


def x86_64() -> Foreign:
    """In this Python."""
    if platform.machine() != "x86_64":
        raise Missing("this machine's processor is not x86-64")
    paths = [str(unpacked("macos-x86_64")), *(p for p in sys.path if p.endswith("site-packages"))]
    return Foreign("macos-x86_64", [sys.executable, LOADER], {"PYTHONPATH": ":".join(paths)})


def arm64() -> Foreign:
    """In Linux's under qemu."""
    linux_arm.python()  # fetches what it needs
    there = linux_arm.interpreter(str(unpacked("macos-arm64")), str(LAB / linux_arm.NAME / "site"))
    return Foreign("macos-arm64", [*there.command, LOADER], there.environment)
