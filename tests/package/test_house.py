"""docs/design.md draws the house as it is: every package, in the layers that the import contracts hold."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
OUTSIDE = {"__init__", "__main__", "_version"}
"""What belongs to no layer: the names of all layers, and the version."""


def parts():
    """Packages and modules of `src/marrow`."""
    found = {p.name for p in (ROOT / "src" / "marrow").iterdir() if (p / "__init__.py").is_file()}
    return found | {p.stem for p in (ROOT / "src" / "marrow").glob("*.py")} - OUTSIDE


def drawn():
    """The rows of the drawing: the names on each floor, from top to bottom."""
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## The house")[2]
    floors = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and (named := re.fullmatch(r"`(\w+)`", cells[1])):
            if cells[0]:
                floors.append(set())
            floors[-1].add(named[1])
            assert len(cells[2]) > 10, f"{named[1]} is not described"
    return floors


def layers():
    (contract,) = (c for c in CONTRACTS if c["type"] == "layers")
    return [{name.strip().removeprefix("marrow.") for name in row.split(":")} for row in contract["layers"]]


def test_the_drawing_has_the_layers_of_the_contract():
    assert drawn() == layers()


def test_the_layers_cover_every_package_and_module():
    assert set().union(*layers()) == parts()


def test_no_package_but_the_kernels_may_know_the_compiler():
    (contract,) = (c for c in CONTRACTS if c.get("forbidden_modules") == ["llvmlite"])
    packages = {n for n in parts() if (ROOT / "src" / "marrow" / n).is_dir()}
    assert {n.removeprefix("marrow.") for n in contract["source_modules"]} == packages - {"kernels"}


def test_the_tests_of_a_package_are_in_the_folder_of_its_name():
    """CONTRIBUTING names the folders that are for something else."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    (others,) = re.findall(
        r"^Folders of `tests/` that are for no one package: (.+?\.)\n\n", page, re.M | re.S
    )
    inside = (p for p in (ROOT / "tests").iterdir() if p.name != "__pycache__")
    folders = {p.name for p in inside if p.is_dir() and any(p.glob("*.*"))}
    packages = {n for n in parts() if (ROOT / "src" / "marrow" / n).is_dir()}
    assert folders == packages | set(re.findall(r"`(\w+)/`", others))


def test_test_modules_have_names_that_exist_once():
    """Processes that a test starts import its module by that name alone."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
