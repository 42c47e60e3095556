"""`make pyodide`: marrow in Pyodide under Node, with the wheel of `pyodide_wheel.py`.

The answers of docs/how_do_i.md run there, as far as a browser has what they need, and 300 updates of a crowd and a skin
have the bits that they have here. Pyodide, and NumPy and the others for it, come from its own server, packages by the
SHA-256 of its list; or from a folder that has them, a distribution of it (`MARROW_PYODIDE`).
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pyodide_wheel

ROOT = Path(__file__).resolve().parents[1]
VERSION = "0.27.7"
SERVER = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
PACKAGES = ("numpy", "msgspec", "pillow", "rich", "pygments", "typing-extensions")
PURE = ("platformdirs", "markdown-it-py", "mdurl")
"""What marrow and rich need and Pyodide has no copy of: from PyPI."""
BITS = """
import hashlib
import numpy as np
import marrow as mw
from marrow.kernels.backend import backend
digest, rng = hashlib.sha256(), np.random.default_rng(5)
hero = mw.samples.mannequin()
surface = mw.skin(hero, hero.clips["run"].sample(0.4))
for array in (surface.positions, surface.normals, surface.tangents):
    digest.update(array.tobytes())
crowd = mw.Animator(hero, mw.samples.mannequin_graph(), count=200, threads=1)
for k in range(300):
    if k % 10 == 0:
        crowd.trigger("jump", instances=rng.integers(0, 200, 5))
    if k % 50 == 0:
        crowd["speed"] = rng.uniform(0, 3.6, 200)
    crowd.update(1 / 60)
    digest.update(crowd.matrices.tobytes())
print("bits", backend().name, digest.hexdigest())
"""


def distribution(folder: Path) -> Path:
    """A folder with Pyodide and the packages."""
    given = os.environ.get("MARROW_PYODIDE")
    if given:
        return Path(given).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    for name in CORE:
        _fetched(folder / name, None)
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))["packages"]
    for name in PACKAGES:
        _fetched(folder / lock[name]["file_name"], lock[name]["sha256"])
    return folder


def _fetched(file: Path, wanted: str | None) -> None:
    if file.is_file():
        return
    try:
        with urllib.request.urlopen(SERVER + file.name, timeout=120) as answer:
            data = answer.read()
    except OSError as error:
        raise SystemExit(
            f"{SERVER}{file.name}: {error}; or name a folder with Pyodide {VERSION} by MARROW_PYODIDE"
        ) from None
    if wanted is not None and hashlib.sha256(data).hexdigest() != wanted:
        raise SystemExit(f"{SERVER}{file.name}: its SHA-256 is not {wanted}")
    made = file.with_suffix(".tmp")
    made.write_bytes(data)
    os.replace(made, file)


def main() -> None:
    place = ROOT / "build" / "pyodide"
    wheel, there = pyodide_wheel.main(place), distribution(place / VERSION)
    pure = place / "pure"
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(pure), *PURE]
    subprocess.run(command, check=True)
    wheels = [str(wheel), *map(str, sorted(pure.glob("*-none-any.whl")))]
    # What it is here, by what is compiled for this machine.
    here = subprocess.run(
        [sys.executable, "-c", BITS], capture_output=True, text=True, check=True
    ).stdout.split()
    failed = False
    for flags in (["--experimental-wasm-relaxed-simd"], []):
        node = ["node", *flags, str(ROOT / "tools" / "check_pyodide.mjs"), str(there), *wheels]
        told = subprocess.run(node, input=BITS, capture_output=True, text=True)
        said = told.stdout.splitlines()
        print("\n".join(line for line in said if line.startswith(("bits", "answers", "no answer"))))
        bits = [line.split() for line in said if line.startswith("bits")]
        if told.returncode or not bits or bits[0][2] != here[2]:
            failed = True
            print(f"wrong: {told.stderr[-2000:]}" if told.returncode else f"here: {here}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
