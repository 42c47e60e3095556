"""What ends a command: the exit codes, and the one line on stderr that says why."""

from __future__ import annotations

import os
import sys

from marrow.errors import MarrowError

__all__ = ["BAD_CALL", "BAD_FILE", "FINE", "INTERRUPTED", "UsageError", "note", "show_error"]

FINE, BAD_FILE, BAD_CALL, INTERRUPTED = 0, 1, 2, 130


class UsageError(MarrowError):
    """The call is wrong, not the file: exit code 2."""


def show_error(message: object) -> None:
    """One line on stderr, red on a terminal."""
    _line("error", message, "31")


def note(message: object) -> None:
    """One line on stderr that stops nothing."""
    _line("note", message, "33")


def _line(label: str, message: object, color: str) -> None:
    text = "; ".join(part.strip() for part in str(message).splitlines() if part.strip())
    if sys.stderr.isatty() and "NO_COLOR" not in os.environ:
        label = f"\x1b[1;{color}m{label}:\x1b[0m"
    else:
        label = f"{label}:"
    print(f"{label} {text}", file=sys.stderr)
