"""Printing that all commands share."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from marrow.cli._errors import is_quiet
from marrow.printing import CONTROL, one_line, unguarded

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["bytes_text", "console", "print_json", "say", "shown"]


def say(text: str) -> None:
    """One line on stdout, whatever names it has in it; none for a command that is to be quiet."""
    if not is_quiet():
        print(one_line(text), flush=True)


def print_json(value: Any) -> None:
    """Readable JSON on stdout; numbers JSON does not know become null, and control characters JSON's own escapes."""
    stream = unguarded(sys.stdout)
    ascii_only = not (getattr(stream, "encoding", None) or "").lower().startswith("utf")
    text = json.dumps(_plain(value), indent=2, ensure_ascii=ascii_only, allow_nan=False)
    print(CONTROL.sub(lambda found: json.dumps(found[0])[1:-1], text), file=stream)


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
    from marrow.cli._console import NameSafeConsole

    terminal = unguarded(sys.stdout).isatty()
    return NameSafeConsole(width=None if terminal else 200, soft_wrap=not terminal)


def shown(value: Any) -> Any:
    """Plain data with every text in it as it may be printed in one line."""
    if isinstance(value, dict):
        return {k: shown(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    return one_line(value) if isinstance(value, str) else value
