"""What it takes to run a wheel of another machine on this one: its packages from PyPI, the wheel unpacked, and the
hashes that must come out. Everything lies in `build/platforms`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from marrow.kernels.build import ZIG
from marrow.kernels.targets import TARGETS

__all__ = ["LAB", "PYTHON", "ROOT", "Foreign", "Missing", "called", "packages", "unpacked", "zig"]

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "build" / "platforms"
PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
PACKAGES = ["numpy", "msgspec", "platformdirs", "pillow", "rich", "cyclopts", "ufbx", "pytest"]
PACKAGES += ["starlette", "uvicorn", "websockets"]


class Missing(Exception):
    """Something is not installed here, and how to have it."""


def called(command: list[str], **options: object) -> str:
    """What a command prints; its words where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    if done.returncode:
        said = f"{done.stdout}\n{done.stderr}".strip()
        raise RuntimeError(f"{' '.join(map(str, command))}: ended with {done.returncode}:\n{said[-4000:]}")
    return done.stdout


def zig(*arguments: str, folder: Path) -> None:
    called([*ZIG, *arguments], cwd=folder)


def packages(name: str, *platforms: str) -> Path:
    """What marrow depends on, for the platforms of a machine."""
    folder = LAB / name / "site"
    if not (folder / "numpy").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        wanted = [w for p in platforms for w in ("--platform", p)]
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            "--target",
            str(folder),
        ]
        called([*command, *wanted, "--only-binary=:all:", "--python-version", PYTHON, *PACKAGES])
    return folder


def unpacked(name: str) -> Path:
    """The wheel of a target as it is installed; `tools/wheels.py` has built it."""
    wheels = list((ROOT / "dist").glob(f"marrow_engine-*-{TARGETS[name].wheel}.whl"))
    if len(wheels) != 1:
        raise Missing(f"there is no wheel for {name} in dist, or several: make wheels")
    folder = LAB / name / "marrow"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheels[0]) as files:
        files.extractall(folder)
    return folder


@dataclass
class Foreign:
    """A Python of another machine: how it is started, with what around it, how it calls the root of this one's files."""

    name: str
    command: list[str]
    environment: dict[str, str]
    drive: str = ""

    def run(self, *arguments: str, **environment: str) -> str:
        base = {k: v for k, v in os.environ.items() if not k.startswith(("MARROW_", "PYTHON"))}
        own = {"PYTHONDONTWRITEBYTECODE": "1", "MARROW_CACHE": "off"}
        return called([*self.command, *arguments], env={**base, **own, **self.environment, **environment})

    def hashes(self, level: str, corpus: Path | None) -> dict[str, str]:
        """Of `tests/kernels/replay.py`, with the kernels of a level."""
        script = str(ROOT / "tests" / "kernels" / "replay.py")
        parts = ["skin", "sample", "graph", "few", *(["real skin", "real sample"] if corpus else [])]
        where = {"MARROW_CORPUS": f"{self.drive}{corpus}"} if corpus else {}
        said = self.run(f"{self.drive}{script}", *parts, MARROW_KERNELS=level, **where)
        return json.loads(said)
