"""What a test may need around it: the corpus, a compiler, Node, a browser."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

HANG_SECONDS = 240.0
"""After so long a test counts as hung. It ends a run that would never end, and says nothing about how long things take: no
test may fail because its machine is busy."""


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
        pytest.skip(f"{module} is not installed: {error}", allow_module_level=True)
