"""Printing that all commands share."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["bytes_text", "console", "print_json"]


def print_json(value: Any) -> None:
    """Readable JSON on stdout; numbers JSON does not know become null."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def bytes_text(count: int) -> str:
    """A size for people: 1.5 MB."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{count} bytes" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{count} bytes"


def console() -> Console:
    """Rich output on stdout: coloured on a terminal; plain and never folded when it goes elsewhere."""
    from rich.console import Console

    return Console(
        highlight=False, width=None if sys.stdout.isatty() else 200, soft_wrap=not sys.stdout.isatty()
    )
