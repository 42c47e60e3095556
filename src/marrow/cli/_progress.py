"""A sign of life for a command that takes long and cannot say how far it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from marrow.cli._errors import on_terminal, write_over
from marrow.display.progress import QUIET

__all__ = ["working"]

EVERY = 0.5
"""Seconds from one line to the next."""


@contextmanager
def working(label: str, *, quiet: bool = False) -> Iterator[None]:
    """On a terminal, what is done and for how long, from the moment on that it takes more than two seconds."""
    if quiet or not on_terminal():
        yield
        return
    begun, ended, wide = monotonic(), threading.Event(), 0

    def tell() -> None:
        nonlocal wide
        pause = QUIET
        while not ended.wait(pause):
            line = f"{label}: {monotonic() - begun:.0f} s"
            write_over(line)
            wide, pause = max(wide, len(line)), EVERY

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()
        if wide:
            write_over(" " * wide)
            write_over("")
