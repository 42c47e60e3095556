"""Plain JSON-like data of other programs, as far as marrow keeps it."""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_BYTES", "NOTED_DEPTH", "check_depth"]

MAX_BYTES = 16 << 20
MAX_DEPTH = 32
NOTED_DEPTH = MAX_DEPTH + 8
"""Where marrow notes such data together with what it belongs to."""


def check_depth(value: Any, left: int = MAX_DEPTH) -> None:
    """Refuses data that is nested deeper than anybody needs."""
    if left < 0:
        raise ValueError("they are nested too deeply")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check_depth(inner, left - 1)
