"""The recipes of CONTRIBUTING.md are followed, word for word, in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from surroundings import missing

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(
    r"^(?:New file `(?P<new>[^`]+)`|In `(?P<old>[^`]+)`, (?P<where>after|before) `(?P<anchor>[^`]+)`):\n\n"
    r"```\w+\n(?P<text>.*?)^```$"
    r"|^In `(?P<changed>[^`]+)`, replace `(?P<this>[^`]+)` with `(?P<that>[^`]+)`\.$",
    re.S | re.M,
)
NEXT_CODE = re.compile(r"\d+(?=,  # the next number)")  # others may have added operations since
TESTS = re.compile(r"^\.venv/bin/python -m pytest -q (tests/.*)$", re.M)
LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".*", "*.png", "*.webp", "*.jpg")


def section(title):
    """The text under a heading."""
    _, found, rest = PAGE.partition(f"## {title}\n")
    assert found, f"CONTRIBUTING.md has no recipe {title!r}"
    return rest.partition("\n## ")[0]


def follow(title, folder):
    """Does what the recipe says; answers with the new files, and those that were changed."""
    made, changed = [], []
    records = (folder / "src" / "marrow" / "kernels" / "operations").glob("*.py")
    code = sum(len(re.findall(r"^[A-Z_]+ = Operation\(", p.read_text(), re.M)) for p in records)
    steps = list(STEP.finditer(section(title)))
    assert steps
    for step in steps:
        path = folder / (step["new"] or step["old"] or step["changed"])
        if step["new"]:
            assert not path.exists(), f"{path} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(NEXT_CODE.sub(str(code), step["text"]))
            made.append(path)
            continue
        changed.append(path)
        text = path.read_text()
        if step["changed"]:
            assert text.count(step["this"]) == 1, f"{path.name} has no single {step['this']!r}"
            path.write_text(text.replace(step["this"], step["that"]))
            continue
        assert text.count(step["anchor"] + "\n") == 1, f"{path.name} has no single line {step['anchor']!r}"
        line = step["anchor"] + "\n"
        new = line + step["text"] if step["where"] == "after" else step["text"] + line
        path.write_text(text.replace(line, new))
    return made, changed


@pytest.fixture
def clone(tmp_path):
    """A copy of the sources, the tests and the pages."""
    for folder in ("src", "tests", "docs", "tools", "web/src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def run_in(folder, *command, **environment):
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_recipes_in_python_lead_to_tests_that_pass(clone):
    """All of them, what they generate, and every test that they name."""
    made, changed, tests = [], [], []
    for title in (
        "Add an operation",
        "Add an operation with constants",
        "Add a node",
        "Add a format",
        "Add a view",
    ):
        new, old = follow(title, clone)
        (named,) = TESTS.findall(section(title))
        own = [str(p.relative_to(clone)) for p in new if p.name.startswith("test_")]
        assert own and set(own) <= set(named.split()), "a recipe shows how its result is tested"
        made, changed, tests = made + new, changed + old, [*tests, *named.split()]
    run_in(clone, sys.executable, "tools/docs/generated.py")
    page, shader = clone / "docs/operations.md", clone / "tests/gpu/golden/pose_programs_alone.wgsl"
    assert "| `NUDGE` | nudge |" in page.read_text() and "fn run_nudge(" in shader.read_text()
    tests = list(dict.fromkeys(tests))
    said = run_in(clone, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert " passed" in said
    files = [p for p in dict.fromkeys([*made, *changed]) if p.suffix == ".py"]
    run_in(clone, sys.executable, "-m", "ruff", "check", *files)
    run_in(clone, sys.executable, "-m", "ruff", "format", "--check", *files)
    sources = [p for p in files if p.is_relative_to(clone / "src")]
    run_in(clone, sys.executable, "-m", "mypy", *sources, "--follow-imports=silent")


def test_a_panel_is_checked_and_becomes_part_of_the_page(tmp_path):
    modules = ROOT / "web" / "node_modules"
    if shutil.which("npm") is None or not modules.is_dir():
        missing("the page's packages are not installed: run `npm ci` in web/")
    shutil.copytree(ROOT / "web", tmp_path / "web", ignore=LEFT_OUT)
    (tmp_path / "web" / "node_modules").symlink_to(modules)
    follow("Add a panel to the studio", tmp_path)
    run_in(tmp_path / "web", "npm", "run", "--silent", "check")
    run_in(tmp_path / "web", "npm", "run", "--silent", "build")
    assert '"Picked"' in (tmp_path / "src/marrow/studio/static/studio.js").read_text()
