"""What every row says of itself beside its arrays, the same in every format."""

from __future__ import annotations

from typing import Any

from marrow.dataset.rows import Row

__all__ = ["FACTS", "facts"]

FACTS = ("id", "source", "clip", "start", "frames", "rate", "mirrored", "skeleton")


def facts(row: Row) -> dict[str, Any]:
    """The facts of a row, and its events, text and tags."""
    return {name: getattr(row, name) for name in FACTS} | row.tables
