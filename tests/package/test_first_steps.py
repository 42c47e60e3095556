"""What the front page asks a newcomer to type works, with what it tells them to install and wherever they put it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from surroundings import missing

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BLOCK = """
import importlib.machinery, sys
class NotInstalled(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, NotInstalled)
"""


def extras_of(line: str) -> set[str]:
    """The extras that `pip install` of a clone is asked for."""
    found = re.search(r"pip install [^\n]*?['\"]?\.(?:\[([a-z,]+)\])?['\"]?(?:\s|`|$)", line)
    assert found, f"no `pip install` of a clone in {line!r}"
    return set((found[1] or "").split(",")) - {""}


def not_installed(extras: set[str]) -> set[str]:
    """Modules of packages that marrow knows and that are in other extras only."""
    optional = PROJECT["optional-dependencies"]

    def names(lines: list[str]) -> set[str]:
        return {canonicalize_name(Requirement(line).name) for line in lines}

    has = names(PROJECT["dependencies"] + [line for extra in extras for line in optional[extra]])
    others = names([line for lines in optional.values() for line in lines]) - has
    modules = packages_distributions().items()
    return {module for module, owners in modules if {canonicalize_name(o) for o in owners} <= others}


def run_without(extras: set[str], code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs code where only marrow and these extras are installed."""
    text = BLOCK.format(names=sorted(not_installed(extras))) + code
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=folder)


class Steps:
    """What `make` does: Python is a script that writes down how it was called."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder, folder / "calls.txt"
        folder.mkdir()
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        (folder / "web").mkdir()
        stub = folder / "python"
        stub.write_text(
            '#!/bin/sh\nprintf "%s\\n" "$*" >>calls.txt\n'
            '[ "$2" = venv ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\nexit 0\n'
        )
        stub.chmod(0o755)
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ("node", "npm"):
            (self.bin / tool).write_text("#!/bin/sh\nexit 0\n")
            (self.bin / tool).chmod(0o755)

    def make(self, target: str) -> tuple[list[str], str]:
        """The calls of Python, and what was said."""
        done = subprocess.run(
            ["make", target, f"PYTHON={self.folder / 'python'}"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}", "MAKEFLAGS": ""},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert not done.stderr, done.stderr
        return self.log.read_text().splitlines(), done.stdout


@pytest.fixture
def steps(tmp_path: Path) -> Steps:
    if shutil.which("make") is None:
        missing("make is not on the path: apt-get install make")
    return Steps(tmp_path / "새 폴더 (my clone)")


def test_the_demo_opens_in_a_folder_with_spaces_and_korean_letters(steps: Steps) -> None:
    calls, said = steps.make("demo")
    assert calls[-1] == "-m marrow view mannequin"
    # A line before each step that takes a while, and nothing that only a programmer reads.
    assert "installing marrow" in said and "minute" in said and "pip" not in said
    assert steps.make("demo")[0][len(calls) :] == ["-m marrow view mannequin"], "installed once"


def test_the_tests_run_in_a_folder_with_spaces_and_korean_letters(steps: Steps) -> None:
    calls, said = steps.make("test")
    tools = [call.split()[1] for call in calls if call.startswith("-m ")]
    assert {"ruff", "mypy", "pytest"} <= set(tools)
    assert any("importlinter" in call for call in calls)
    assert "minutes" in said
    assert steps.make("corpus")[0][len(calls) :] == ["tests/corpus/fetch.py"], (
        "fetching needs nothing installed"
    )


def test_the_first_lines_run_with_what_the_front_page_installs(steps: Steps, tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    korean = (ROOT / "README.ko.md").read_text(encoding="utf-8")
    above, _, below = page.partition("```python\n")
    told = extras_of(above)
    assert extras_of(korean.partition("```python\n")[0]) == told
    demo = next(call for call in steps.make("demo")[0] if "pip install" in call and " -e " in call)
    done = run_without(told & extras_of(demo), below.partition("```")[0], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "hero.glb").is_file()


WANTED = {
    "marrow.render('mannequin')": "render",
    "marrow.Renderer()": "render",
    "marrow.contact_sheet(['mannequin'])": "render",
    "marrow.gpu.Device.best()": "gpu",
    "next(iter(marrow.window(marrow.Scene(marrow.samples.mannequin()))))": "window",
    "marrow.view(marrow.samples.mannequin(), window=True)": "window",
    "marrow.render_video('mannequin', 'a.mp4')": "video",
}


def test_what_is_missing_is_named_by_the_extra_that_brings_all_of_it(tmp_path: Path) -> None:
    code = "import marrow\n" + "".join(
        f"try:\n    {call}\nexcept marrow.errors.MissingExtraError as error:\n    print(error)\n"
        for call in WANTED
    )
    done = run_without(set(), code, tmp_path)
    assert done.returncode == 0, done.stderr
    found = [re.sub(r".*\[(\w+)\]'$", r"\1", line) for line in done.stdout.splitlines()]
    assert found == list(WANTED.values()), done.stdout
    for extra in {"render", "window", "video"}:
        assert "wgpu" not in not_installed({extra}), f"[{extra}] draws, and does not bring what it draws with"
