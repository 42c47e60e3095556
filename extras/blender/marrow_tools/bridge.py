"""The way to marrow: a process of its own, in another Python. Nothing here needs Blender."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "READS", "WRITES", "BridgeError", "Finding", "check_arguments", "command", "convert_arguments", "findings",
    "level_arguments", "level_files", "retarget_arguments", "run",
]  # fmt: skip

READS = (
    ".glb", ".gltf", ".vrm", ".vrma", ".fbx", ".bvh", ".usd", ".usda", ".usdc", ".usdz", ".marrow", ".npz", ".npy", ".trc",
    ".c3d", ".csv", ".json", ".urdf", ".xml",
)  # fmt: skip
WRITES = (".glb", ".gltf", ".vrm", ".vrma", ".fbx", ".bvh", ".usda", ".usdc", ".usdz", ".marrow", ".obj", ".ply")
TIMEOUT = 600
_OF_BLENDER = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONUSERBASE", "PYTHONNOUSERSITE")


class BridgeError(Exception):
    """What went wrong on the way to marrow, in words for the status bar."""


@dataclass(frozen=True)
class Finding:
    """A line of `marrow check`."""

    severity: str
    place: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        tail = f" ({self.remedy})" if self.remedy else ""
        return f"{self.severity}: {self.place + ': ' if self.place else ''}{self.message}{tail}"


def command(setting: str) -> list[str]:
    """The program of the setting: a path, a name to be found, or a command line such as `python3 -m marrow`."""
    text = setting.strip() or "marrow"
    if Path(text).is_file():
        return [text]
    words = shlex.split(text, posix=os.name != "nt")
    words = [word.strip('"') for word in words]
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise BridgeError(
            f"there is no program {words[0] if words else text!r}: pip install marrow-engine, and name its command in the "
            "preferences of this add-on"
        )
    return [found, *words[1:]]


def run(setting: str, arguments: Sequence[str], *, timeout: float = TIMEOUT) -> str:
    """What marrow prints for these arguments; its own words where it says no."""
    environment = {k: v for k, v in os.environ.items() if k not in _OF_BLENDER}
    environment |= {"NO_COLOR": "1", "COLUMNS": "200"}
    try:
        done = subprocess.run(
            [*command(setting), *arguments], capture_output=True, text=True, encoding="utf-8", errors="replace",
            env=environment, timeout=timeout, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise BridgeError(f"marrow {arguments[0]} took more than {timeout:.0f} seconds") from None
    except OSError as error:
        raise BridgeError(f"marrow could not be started: {error}") from None
    if done.returncode and not (arguments and arguments[0] == "check" and done.stdout.lstrip().startswith("[")):
        told = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise BridgeError(told[-1].removeprefix("error: ") if told else f"marrow ended with {done.returncode}")
    return done.stdout


def convert_arguments(source: str, target: str) -> list[str]:
    """From any file to any other."""
    return ["convert", source, target, "--force"]


def retarget_arguments(motions: Sequence[str], character: str, target: str, *, contacts: bool | None = None) -> list[str]:
    """Motion of files on a character. The result has its meshes too: without a skin Blender would make no armature of it."""
    if not motions:
        raise BridgeError("no file with motion was chosen")
    chosen = [] if contacts is None else ["--contacts" if contacts else "--no-contacts"]
    return ["retarget", *motions, character, "-o", target, "--force", *chosen]


def check_arguments(source: str) -> list[str]:
    return ["check", source, "--json", "--all"]


def level_arguments(source: str, target: str, parts: Sequence[float]) -> list[str]:
    """Levels of detail, a file each."""
    if not parts or not all(0 < part < 1 for part in parts):
        raise BridgeError(f"levels are parts of the triangles, above 0 and below 1: {', '.join(map(str, parts))}")
    return ["lod", source, "-o", target, "--split", "--force", "--triangles", *(f"{part:g}" for part in parts)]


def level_files(target: str) -> list[Path]:
    """The files that `level_arguments` made, finest first, without the first level."""
    path = Path(target)
    out = []
    while (level := path.with_stem(f"{path.stem}_lod{len(out) + 1}")).is_file():
        out.append(level)
    return out


def findings(text: str) -> list[Finding]:
    """The lines of `marrow check --json`."""
    try:
        reports = json.loads(text)
    except ValueError:
        raise BridgeError("marrow check gave no list of findings: is that marrow 0.1 or newer?") from None
    out = []
    for report in reports if isinstance(reports, list) else []:
        if report.get("error"):
            out.append(Finding("error", "", str(report["error"])))
        for item in report.get("findings", []):
            out.append(_finding(item))
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(out, key=lambda finding: order.get(finding.severity, 3))


def _finding(item: dict[str, Any]) -> Finding:
    return Finding(
        str(item.get("severity", "info")), str(item.get("place", "")), str(item.get("message", "")), str(item.get("remedy", ""))
    )
