"""How far a long call is: a line on a terminal, a bar in a notebook, nothing where nobody looks or it is soon done.

with shown_progress("sheet", progress) as step:
    for k, thing in enumerate(things):
        ...
        step(k + 1, len(things))
"""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Literal

from marrow.display.notebook import Output, in_notebook
from marrow.printing import one_line

__all__ = ["Progress", "Step", "shown_progress"]

Step = Callable[[int, int], None]
Progress = Step | Literal[False] | None
"""What calls take: None shows by itself how far they are, False shows nothing, a function is told `(done, total)`."""
QUIET = 2.0
"""Seconds that pass before anything is shown."""
OFTEN = 0.1
"""Seconds from one line to the next."""


class _Shown:
    """What is shown of one call."""

    def __init__(self, label: str) -> None:
        self.label = one_line(label)
        self.begun = self.last = monotonic()
        self.done, self.total = 0, 0
        self._notebook = in_notebook()
        self._output: Output | None = None
        stream = sys.stderr
        self._stream = stream if stream is not None and not self._notebook and stream.isatty() else None
        self._wide = 0

    def __call__(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        now = monotonic()
        if now - self.begun < QUIET or (now - self.last < OFTEN and done < total):
            return
        self.last = now
        gone = now - self.begun
        left = f", about {_seconds(gone * (total - done) / done)} left" if 0 < done < total else ""
        line = f"{self.label}: {done} of {total}, {_seconds(gone)}{left}"
        if self._notebook:
            bar = f'<progress value="{done}" max="{max(total, 1)}" style="vertical-align:middle"></progress>'
            data = {"text/html": f"<div>{bar} {html.escape(line)}</div>", "text/plain": line}
            if self._output is None:
                self._output = Output(data)
            else:
                self._output.replace(data)
        elif self._stream is not None:
            line = line[: shutil.get_terminal_size().columns - 1]
            self._stream.write(f"\r{line.ljust(self._wide)}")
            self._stream.flush()
            self._wide = len(line)

    def end(self, *, failed: bool) -> None:
        gone = _seconds(monotonic() - self.begun)
        if self._output is not None:
            how = f"stopped after {self.done} of {self.total}, {gone}" if failed else f"{self.done} in {gone}"
            self._output.replace({"text/plain": f"{self.label}: {how}"})
        if self._stream is not None and self._wide:
            self._stream.write(f"\r{' ' * self._wide}\r")
            self._stream.flush()


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@contextmanager
def shown_progress(label: str, progress: Progress = None) -> Iterator[Step]:
    """Gives what is to be called with how much is done and how much there is."""
    if progress is False:
        yield lambda done, total: None
        return
    if progress is not None:
        yield progress
        return
    shown = _Shown(label)
    try:
        yield shown
    except BaseException:
        shown.end(failed=True)
        raise
    shown.end(failed=False)
