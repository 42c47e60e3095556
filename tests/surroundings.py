"""What a test may need around it: the corpus of real files, a compiler, Node, a browser."""

from __future__ import annotations

import importlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

HANG_SECONDS = 240.0
"""After so long a test counts as hung. It ends a run that would never end, and says nothing about how long things take: no
test may fail because its machine is busy."""


def repeats(thorough: int) -> int:
    """How often to try something at random: so often under `make fuzz`, two fifths of that in a usual run."""
    return thorough if float(os.environ.get("MARROW_FUZZ_SECONDS", "0")) else 2 * thorough // 5


NO_CORPUS = "no corpus of real files: `make corpus` fetches it"


def missing(reason: str) -> None:
    """Skips a test whose surroundings are missing, or fails it where MARROW_STRICT=1 promises that they are there."""
    if os.environ.get("MARROW_STRICT") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def needed(module: str) -> Any:
    """A module a test needs, imported; `missing` where it is not installed. `pytest.importorskip` would skip under
    MARROW_STRICT=1 too."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if os.environ.get("MARROW_STRICT") == "1":
            raise
        pytest.skip(f"{module} cannot be imported: make install ({error})", allow_module_level=True)


def corpus_folder() -> Path:
    """Where the real files are: MARROW_CORPUS, a folder `shared/corpus` beside the repository, or where `make corpus` puts
    them."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "corpus"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(
        os.environ.get("MARROW_CORPUS") or (beside if beside.is_dir() else Path(home) / "marrow-corpus")
    )


def said_of_skips(reasons: list[str]) -> str:
    """One line: how many tests were skipped, why, and how to have them; nothing where none was."""
    if not reasons:
        return ""
    short = Counter(" ".join(reason.removeprefix("Skipped: ").split())[:160] for reason in reasons)
    parts = "; ".join(f"{count}: {reason}" for reason, count in short.most_common())
    return f"{len(reasons)} skipped ({parts})"
