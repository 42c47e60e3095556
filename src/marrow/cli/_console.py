"""Rich's console for text that has names from files in it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from marrow.printing import printable, unguarded

__all__ = ["NameSafeConsole"]


class NameSafeConsole(Console):
    """Shows control characters of all text escaped, takes nothing for markup, and adds styles on terminals alone."""

    def __init__(self, *, stderr: bool = False, **options: Any) -> None:
        stream = unguarded(sys.stderr if stderr else sys.stdout)
        super().__init__(file=stream, markup=False, emoji=False, highlight=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text)
            yield segment if text == segment.text else segment._replace(text=text)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(printable(text), **options)  # Rich would leave some of them out
