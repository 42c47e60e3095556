"""A sign of life for a command that takes long and cannot say how far it is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from marrow.cli._errors import is_quiet, on_terminal, write_over
from marrow.display.progress import QUIET

__all__ = ["working"]

EVERY = 0.5
"""Seconds from one line to the next."""


@contextmanager
def working(label: str) -> Iterator[Callable[[str], None]]:
    """On a terminal, what is done and for how long, from the moment on that it takes more than two seconds. Gives what is
    to be called with what comes next."""
    now = label

    def turn_to(text: str) -> None:
        nonlocal now
        now = text

    if is_quiet() or not on_terminal():
        yield turn_to
        return
    begun, ended, wide = monotonic(), threading.Event(), 0

    def tell() -> None:
        nonlocal wide
        pause = QUIET
        while not ended.wait(pause):
            line = f"{now}: {monotonic() - begun:.0f} s"
            write_over(line.ljust(wide))
            wide, pause = max(wide, len(line)), EVERY

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield turn_to
    finally:
        ended.set()
        teller.join()
        if wide:
            write_over(" " * wide)
            write_over("")
