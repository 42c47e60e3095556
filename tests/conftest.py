"""Fixtures every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def missing(reason: str) -> None:
    """Skips a test whose surroundings are missing, or fails it where MARROW_STRICT=1 promises that they are
    there."""
    if os.environ.get("MARROW_STRICT") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real characters with golden vertex positions: MARROW_CORPUS, or ../shared/corpus."""
    default = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
    folder = Path(os.environ.get("MARROW_CORPUS", default))
    if not (folder / "goldens.json").is_file():
        missing(f"no corpus at {folder}: set MARROW_CORPUS to a folder with goldens.json")
    return folder
