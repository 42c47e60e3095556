"""What a command says on stderr: how far it is, and the one line and the exit code it ends with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from marrow.errors import MarrowError
from marrow.printing import one_line, printable, unguarded

__all__ = [
    "BAD_CALL",
    "BAD_FILE",
    "FINE",
    "INTERRUPTED",
    "UsageError",
    "is_quiet",
    "note",
    "on_terminal",
    "quietly",
    "show_error",
    "write_over",
]

FINE, BAD_FILE, BAD_CALL, INTERRUPTED = 0, 1, 2, 130


_QUIET = ContextVar("quiet", default=False)


@contextmanager
def quietly(quiet: bool) -> Iterator[None]:
    """Lets a command say nothing but errors and what it was asked for."""
    before = _QUIET.set(quiet)
    try:
        yield
    finally:
        _QUIET.reset(before)


def is_quiet() -> bool:
    """Whether a command was told to be quiet."""
    return _QUIET.get()


class UsageError(MarrowError):
    """The call is wrong, not the file: exit code 2."""


def show_error(message: object) -> None:
    """One line on stderr, red on a terminal."""
    _line("error", message, "31")


def note(message: object) -> None:
    """One line on stderr that stops nothing."""
    if not is_quiet():
        _line("note", message, "33")


def _line(label: str, message: object, color: str) -> None:
    text = "; ".join(part.strip() for part in printable(message).split("\n") if part.strip())
    label = f"{label}:"
    if on_terminal() and "NO_COLOR" not in os.environ:
        label = f"\x1b[1;{color}m{label}\x1b[0m"
    print(f"{label} {text}", file=unguarded(sys.stderr))


def on_terminal() -> bool:
    """Whether stderr is a terminal."""
    return unguarded(sys.stderr).isatty()


def write_over(text: str) -> None:
    """Writes on a terminal over what its line has."""
    if is_quiet():
        return
    print(f"\r{one_line(text)}", end="", file=unguarded(sys.stderr), flush=True)
