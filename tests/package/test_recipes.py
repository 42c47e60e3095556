"""The recipes of CONTRIBUTING.md are followed, word for word and all of them, in one copy of the repository: what they
lead to works together."""

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
RECIPES = re.findall(r"^## (Add an? .+)$", PAGE, re.M)
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
    for folder in ("src", "tests", "docs", "tools", "web", "runtime"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=LEFT_OUT)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    modules = ROOT / "web" / "node_modules"
    if shutil.which("npm") is None or not modules.is_dir():
        missing("the page's packages are not installed: run `npm ci` in web/")
    (tmp_path / "web" / "node_modules").symlink_to(modules)
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


def changes_kernels(title):
    """Whether a recipe adds to the kernels: these are then compiled on the spot, which takes longer than the tests."""
    return "`src/marrow/kernels/" in section(title)


def run_tests(folder, names, **environment):
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *sorted(set(names)))
    assert " passed" in run_in(folder, *command, **environment)


def test_all_recipes_together_lead_to_a_tree_that_passes(clone):
    """What they generate, the checks, and every test that they name. Those that leave the kernels as they are come first,
    while the modules that were built are still those of the sources."""
    assert {"Add an operation with constants", "Add a node", "Add a format", "Add a view"} < set(RECIPES)
    made, changed, of_all = [], [], []
    for kernels in (False, True):
        tests = []
        for title in (one for one in RECIPES if changes_kernels(one) == kernels):
            new, old = follow(title, clone)
            made, changed = made + new, changed + old
            own = {str(p.relative_to(clone)) for p in new if p.name.startswith("test_")}
            named = [name for line in TESTS.findall(section(title)) for name in line.split()]
            assert own <= set(named), f"{title}: its tests are run"
            assert own or "npm run check" in section(title), (
                f"{title}: a recipe shows how its result is tested"
            )
            tests += named
        of_all += [name for name in tests if name.startswith("tests/package/")]
        run_tests(clone, set(tests) - set(of_all), **({"MARROW_KERNELS": "jit"} if kernels else {}))
    run_in(clone, sys.executable, "tools/docs/generated.py")
    page, shader = clone / "docs/operations.md", clone / "tests/gpu/golden/pose_programs_alone.wgsl"
    assert "| `NUDGE` | nudge |" in page.read_text() and "fn run_nudge(" in shader.read_text()
    run_tests(clone, of_all, MARROW_KERNELS="numpy")
    files = [path for path in dict.fromkeys([*made, *changed]) if path.suffix == ".py"]
    run_in(clone, sys.executable, "-m", "ruff", "check", *files)
    run_in(clone, sys.executable, "-m", "ruff", "format", "--check", *files)
    sources = [p for p in files if p.is_relative_to(clone / "src")]
    run_in(clone, sys.executable, "-m", "mypy", *sources, "--follow-imports=silent")
    run_in(clone / "web", "npm", "run", "--silent", "check")
    run_in(clone / "web", "npm", "run", "--silent", "build")
    assert '"Picked"' in (clone / "src/marrow/studio/static/studio.js").read_text()
