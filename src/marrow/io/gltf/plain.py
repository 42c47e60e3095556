"""Plain JSON-like data of other programs, as far as marrow keeps it."""

from __future__ import annotations

from typing import Any

__all__ = ["MAX_BYTES", "check_depth"]

MAX_BYTES = 16 << 20
MAX_DEPTH = 32


def check_depth(value: Any, left: int = MAX_DEPTH) -> None:
    """Refuses data that is nested deeper than anybody needs."""
    if left < 0:
        raise ValueError(f"they are nested more than {MAX_DEPTH} deep")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        check_depth(inner, left - 1)
