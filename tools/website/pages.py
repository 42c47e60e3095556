"""Which pages the site has, and in which order; the folder that they are built from.

The site has the shape of the repository (`README.md` is its first page, the others are in `docs/`): a link that works on a
repository's page works here, and the other way round.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = ["NAVIGATION", "ROOT", "all_pages", "navigation", "place", "stage"]

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": (
        "README.md",
        "how_do_i.md",
        "gallery.md",
        "samples.md",
        "coming_from.md",
        "glossary.md",
        "README.ko.md",
    ),
    "Motion": (
        "graph.md",
        "constraints.md",
        "ik.md",
        "motion.md",
        "motion_pairs.md",
        "compression.md",
        "matching.md",
        "lod.md",
    ),
    "Seeing": ("studio.md", "export_page.md", "rendering.md", "gpu.md"),
    "Data": ("dataset.md", "torch.md"),
    "Files": (
        "gltf.md",
        "vrm.md",
        "fbx.md",
        "round_trips.md",
        "bvh-usd.md",
        "blender.md",
        "textures.md",
        "spaces.md",
    ),
    "Engine": (
        "design.md",
        "engine.md",
        "kernels.md",
        "operations.md",
        "benchmarks.md",
        "platforms.md",
        "runtime.md",
        "pyodide.md",
    ),
    "Reference": ("api.md", "cli.md", "CHANGELOG.md", "CONTRIBUTING.md"),
}
"""Headings, and the pages below each: files of `docs/`, or of the repository itself where they are there."""
LAST = "Reference"
TITLES: dict[str, str | dict[str, str]] = {"README.ko.md": {"한국어": "README.ko.md"}}
"""What a page is called there, if not by its heading."""


def place(name: str) -> str:
    """A page's path in the repository."""
    return name if (ROOT / name).is_file() else f"docs/{name}"


def all_pages() -> list[str]:
    """Every page of the repository that is for readers."""
    own = ["README.md", "README.ko.md", "CHANGELOG.md", "CONTRIBUTING.md"]
    return own + [f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))]


def navigation(pages: Iterable[str]) -> list[dict[str, list[str | dict[str, str]]]]:
    """The navigation, with the pages that are built."""
    wanted = set(pages)
    found = {title: [place(n) for n in names if place(n) in wanted] for title, names in NAVIGATION.items()}
    # A page that is new has its place among the others, until somebody gives it a better one.
    found[LAST] += sorted(wanted - {name for names in found.values() for name in names})
    return [{title: [TITLES.get(n, n) for n in names]} for title, names in found.items() if names]


def _linked(page: str) -> Iterator[Path]:
    """Files of the repository that a page links to and that are no pages: examples, sources."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s#]+)", text):
        path = ((ROOT / page).parent / link).resolve()
        if path.is_file() and path.is_relative_to(ROOT) and path.suffix != ".md":
            yield path


def stage(folder: Path, pages: Iterable[str]) -> None:
    """A folder with these pages and all that they show, as in the repository."""
    shutil.rmtree(folder, ignore_errors=True)
    skipped = shutil.ignore_patterns("*.md", "*.py", "measured", "__pycache__")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=skipped)
    for page in pages:
        target = folder / page
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / page, target)
        for path in _linked(page):
            beside = folder / path.relative_to(ROOT)
            beside.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, beside)
    shutil.copytree(Path(__file__).parent / "theme", folder / "website")
