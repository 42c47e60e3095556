"""Builds the wheels of every machine on this one: `python tools/wheels.py [TARGET ...] [--into FOLDER] [--again]`
(`make wheels`).

Targets are those of `marrow.kernels.targets`. Every wheel has the same sources, samples and page, and the modules of
its own machine (`build/kernels/TARGET`), made by the kernels' compiler and linked by PyPI's ziglang. What a wheel
says of itself is then checked: by looking into its modules, by abi3audit (nothing but Python's stable ABI), and on
Linux by auditwheel (nothing that a platform in its name does not have). The same sources give the same bytes:
`--again` builds everything a second time and compares.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from marrow.kernels.backend import sources_digest
from marrow.kernels.targets import MODULE_TARGETS, TARGETS, BuildTarget
from platforms.binaries import inspect

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = {
    "linux": set(),
    "windows": {"python3.dll", "ntdll.dll"},
    "macos": {"/usr/lib/libSystem.B.dylib"},
}
"""What modules may be loaded with: nothing that Python itself is not."""

FILLING = {
    "linux": {"memset"},
    "windows": {"memset"},
    "macos": {"memset", "bzero", "__bzero", "memset_pattern16"},
}
"""The functions of C's library that the compiler calls."""


def build_wheel(target: BuildTarget, folder: Path) -> Path:
    """The wheel for a machine, in a folder."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        code = f"import hatchling.build as b; b.build_wheel({made!r})"
        environment = {**os.environ, "MARROW_TARGET": target.name}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{target.name}: {done.stdout}{done.stderr}")
        (wheel,) = Path(made).glob("*.whl")
        shutil.move(wheel, folder / wheel.name)
    return folder / wheel.name


def build_again(target: BuildTarget) -> bytes:
    """The wheel's bytes with kernels compiled anew."""
    shutil.rmtree(ROOT / "build" / "kernels" / target.name)
    with tempfile.TemporaryDirectory() as folder:
        return build_wheel(target, Path(folder)).read_bytes()


def check(wheel: Path, target: BuildTarget) -> list[str]:
    """What is wrong with a wheel, in words."""
    wrong = []
    if not wheel.name.endswith(f"-cp311-abi3-{target.wheel}.whl"):
        wrong.append(f"it is called {wheel.name}")
    with zipfile.ZipFile(wheel) as files:
        compiled = {
            n: files.read(n) for n in files.namelist() if n.endswith((".so", ".pyd", ".dll", ".dylib"))
        }
        said = next(files.read(n).decode() for n in files.namelist() if n.endswith(".dist-info/WHEEL"))
    tags = {line.partition(": ")[2] for line in said.splitlines() if line.startswith("Tag: ")}
    if tags != {f"cp311-abi3-{platform}" for platform in target.wheel.split(".")}:
        wrong.append(f"its tags are {', '.join(sorted(tags))}")
    if set(compiled) != {f"marrow/kernels/{target.module_name(level)}" for level in target.levels}:
        wrong.append(f"its modules are {', '.join(sorted(compiled))}")
    for name, data in compiled.items():
        module, level = inspect(data), Path(name).name.partition(".")[0]
        if module.target != target.name:
            wrong.append(f"{name} is for {module.target}")
        if module.exports != {f"PyInit_{level}"}:
            wrong.append(f"{name} shows {', '.join(sorted(module.exports))}")
        if not module.libraries <= LIBRARIES[target.system]:
            wrong.append(f"{name} is loaded with {', '.join(sorted(module.libraries))}")
        python = {n for n in module.imports if n.startswith(("Py", "_Py"))}
        if others := module.imports - python - FILLING[target.system]:
            wrong.append(f"{name} looks for {', '.join(sorted(others))}")
        if sources_digest().encode() not in data:
            wrong.append(f"{name} was made of other sources")
    return wrong


def audit(wheel: Path, target: BuildTarget) -> list[str]:
    """What the usual tools find."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        # These tools want one platform in a name: a copy for each.
        for platform in target.wheel.split("."):
            copy = Path(folder) / wheel.name.replace(target.wheel, platform)
            shutil.copy(wheel, copy)
            done = _run("abi3audit", "--strict", str(copy))
            if done.returncode:
                wrong.append(f"abi3audit of {platform}: {done.stdout}{done.stderr}")
            if target.system == "linux":
                done = _run("auditwheel", "show", str(copy))
                # manylinux2014 is the old name of 2_17. A file that asks for nothing fits the oldest platform there is.
                plain = platform.replace("manylinux2014", "manylinux_2_17")
                oldest = plain.replace("manylinux_2_17", "manylinux_2_5")
                if done.returncode or not {plain, oldest} & set(re.findall(r'"(\w+)"', done.stdout)):
                    wrong.append(f"auditwheel of {platform}: {done.stdout}{done.stderr}")
    return wrong


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description="builds wheels for every machine on this one")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(MODULE_TARGETS))
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--again", action="store_true", help="build twice, and compare")
    options = parser.parse_args(arguments)
    if unknown := set(options.targets) - set(MODULE_TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}: there are {', '.join(MODULE_TARGETS)}")
    options.into.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in options.targets or MODULE_TARGETS:
        began, target = time.perf_counter(), TARGETS[name]
        wheel = build_wheel(target, options.into)
        wrong = check(wheel, target) + audit(wheel, target)
        if options.again and build_again(target) != wheel.read_bytes():
            wrong.append("built again it has other bytes")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()[:16]
        seconds = time.perf_counter() - began
        print(
            f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, sha256 {digest}, {seconds:.0f} s", flush=True
        )
        for line in wrong:
            failed = True
            print(f"  {line}", file=sys.stderr)
    if failed:
        raise SystemExit("some wheels are not what they say")


if __name__ == "__main__":
    main(sys.argv[1:])
