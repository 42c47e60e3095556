"""Torch is an extra: without it these tests are skipped, except where nothing may be."""

from __future__ import annotations

import importlib.util
import os

import pytest

collect_ignore_glob: list[str] = []

if importlib.util.find_spec("torch") is None:
    if os.environ.get("MARROW_STRICT"):
        raise pytest.UsageError("torch is not installed: pip install -e '.[torch]'")
    collect_ignore_glob = ["test_*.py"]
