"""Files that are made from the sources are those of these sources."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from surroundings import needed

ROOT = Path(__file__).resolve().parents[2]


def test_generated_files_are_current() -> None:
    needed("torch")
    spec = importlib.util.spec_from_file_location("generated", ROOT / "tools" / "docs" / "generated.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = dict(module.files())
    stale = [name for name, text in made.items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert len(made) > 5 and not stale, f"run `make generated` and commit {', '.join(stale)}"
    kept = {f"tests/gpu/golden/{path.name}" for path in (ROOT / "tests" / "gpu" / "golden").iterdir()}
    assert kept <= set(made), "a file that nothing makes any more"
