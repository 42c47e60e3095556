"""The fuzz tests start from the same small files the readers' own tests use."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / "io"), str(Path(__file__).parents[1] / "io" / "fbx")]
