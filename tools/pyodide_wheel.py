"""`python tools/pyodide_wheel.py FOLDER`: the wheel for a browser's Python, `marrow_engine-...-py3-none-any.whl`.

It is the wheel of this machine with other kernels: those of `marrow.kernels.build_wasm`, which Pyodide loads and no other
Python looks for.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from marrow.kernels import build_wasm

ROOT = Path(__file__).resolve().parents[1]
NATIVE = re.compile(r"marrow/kernels/_\w+\.(?:abi3\.so|pyd)")
TAG = "py3-none-any"


def main(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    modules = build_wasm.build(ROOT / "build" / "pyodide")
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-q"]
        done = subprocess.run([*command, "-w", name], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"marrow: the wheel of this machine was not built:\n{done.stderr}")
        (native,) = Path(name).glob("*.whl")
        target = folder / f"{'-'.join(native.name.split('-')[:2])}-{TAG}.whl"
        made = target.with_suffix(".tmp")
        repack(native, modules, made)
        os.replace(made, target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB")
    return target


def repack(native: Path, modules: list[Path], target: Path) -> None:
    """A wheel with these modules in place of its own, for every machine."""
    records = []
    with zipfile.ZipFile(native) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:

        def put(name: str, data: bytes) -> None:
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            records.append(f"{name},sha256={digest},{len(data)}")
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.external_attr, info.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            new.writestr(info, data)

        for name in sorted(old.namelist()):
            data = old.read(name)
            if name.endswith(".dist-info/RECORD"):
                record = name
            elif name.endswith(".dist-info/WHEEL"):
                text = re.sub(r"Tag: .*", f"Tag: {TAG}", data.decode())
                put(name, text.replace("Root-Is-Purelib: false", "Root-Is-Purelib: true").encode())
            elif not NATIVE.fullmatch(name):
                put(name, data)
        for module in modules:
            put(f"marrow/kernels/{module.name}", module.read_bytes())
        new.writestr(zipfile.ZipInfo(record, (2020, 1, 1, 0, 0, 0)), "\n".join([*records, f"{record},,", ""]))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tools/pyodide_wheel.py FOLDER")
    main(Path(sys.argv[1]))
