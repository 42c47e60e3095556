"""Cards: what a character, a clip, a graph or a report is, as a few lines of HTML for notebooks.

Names come from files: each is escaped, shown on one line, and cut where it is long.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from marrow.printing import one_line

__all__ = ["Titled", "card", "counted", "escape", "some", "table"]

LONGEST = 60
"""Letters of a name that are shown."""
_CARD = (
    "font:13px/1.5 system-ui,sans-serif;display:inline-block;max-width:100%;box-sizing:border-box;"
    "border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:.5em .9em;margin:.2em 0"
)
_CELL = "text-align:left;vertical-align:top;padding:.05em .9em .05em 0;background:none;border:0"
_FAINT = "opacity:.65"


def escape(text: object, *, longest: int = LONGEST) -> str:
    """Text as HTML shows it: one line, no longer than that, control characters as escapes."""
    line = one_line(text)
    return html.escape(line if len(line) <= longest else f"{line[: longest - 3]}...", quote=True)


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 clip`, `1,200 clips`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def some(items: Sequence[str], most: int) -> str:
    """The first of them, with commas, and how many more there are."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown}, ... {len(items) - most:,} more"


class Titled(NamedTuple):
    """A cell, and what is shown when the mouse is over it ("": nothing)."""

    text: str
    title: str


def table(rows: Iterable[Sequence[object]], *, longest: int = LONGEST) -> str:
    """Rows of cells as HTML; the first column is faint."""
    lines = []
    for row in rows:
        cells = (
            f'<td style="{_CELL}{";" + _FAINT if k == 0 else ""}">{_inside(cell, longest)}</td>'
            for k, cell in enumerate(row)
        )
        lines.append(f'<tr style="background:none">{"".join(cells)}</tr>')
    return f'<table style="border-collapse:collapse;border:0;margin:.2em 0">{"".join(lines)}</table>'


def _inside(cell: object, longest: int) -> str:
    if not isinstance(cell, Titled):
        return escape(cell, longest=longest)
    text = escape(cell.text, longest=longest)
    return f'<span title="{escape(cell.title, longest=longest)}">{text}</span>' if cell.title else text


def card(kind: str, name: str, *parts: str, note: str = "") -> str:
    """A card: the kind of thing, its name, `parts` of HTML that are safe already, and a faint last line."""
    title = f'<span style="{_FAINT}">{escape(kind)}</span> <b>{escape(name)}</b>'
    last = f'<div style="{_FAINT}">{escape(note, longest=200)}</div>' if note else ""
    return f'<div style="{_CARD}">{title}{"".join(parts)}{last}</div>'
