"""What happens to pages on their way to the site.

MkDocs reads lists by other rules than repositories' pages do: there a list may follow a line of text at once, and two
spaces are enough to be inside it. `common` spells that out.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from website.moving import MOVING

__all__ = ["common", "use"]

_ITEM = re.compile(r"^(?P<space> *)(?P<mark>[-*+]|\d+[.)]) +(?=\S)")
_FENCE = re.compile(r"^ *(```+|~~~+)")


def common(text: str) -> str:
    """Markdown with lists as Python-Markdown wants them: a blank line before each, four spaces inside."""
    out: list[str] = []
    inside: list[
        tuple[int, int]
    ] = []  # of lists that are open: the columns of their marks, and of their text
    fence, before = "", ""
    for line in text.splitlines():
        bare, space = line.strip(), len(line) - len(line.lstrip(" "))
        if fence:
            out.append(_moved(line, inside))
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
            before = bare
            continue
        item = _ITEM.match(line)
        if bare:
            while inside and space < inside[-1][1] and not (item and space >= inside[-1][0]):
                # Text that goes on lazily stays in its item.
                if not item and before and not bare.startswith("#"):
                    break
                inside.pop()
        if item and (not inside or space >= inside[-1][1]) and space < (inside[-1][1] if inside else 0) + 4:
            if before and not _ITEM.match(before):
                out.append("")
            inside.append((space, item.end()))
        elif item and inside:
            inside[-1] = (space, item.end())
        if item:
            out.append("    " * (len(inside) - 1) + item["mark"].ljust(3) + " " + line[item.end() :])
        else:
            out.append(_moved(line, inside))
            mark = _FENCE.match(line)
            fence = mark[1] if mark else ""
        before = bare
    return "\n".join(out) + "\n"


def _moved(line: str, inside: list[tuple[int, int]]) -> str:
    """A line of text inside lists, at the column that it has there."""
    if not inside or not line.strip():
        return line
    space = len(line) - len(line.lstrip(" "))
    return " " * (4 * len(inside) + max(0, space - inside[-1][1])) + line.lstrip(" ")


_PICTURE = re.compile(r'<p>\s*<img alt="(?P<alt>[^"]*)" src="(?P<src>[^"]+)"\s*/?>\s*</p>')


class _Pages:
    """The hooks, as MkDocs calls them; `moving` are the names of exported pages, by picture."""

    def __init__(self, moving: Mapping[str, str]) -> None:
        self.moving = moving

    def on_page_markdown(self, markdown: str, *, page: Any, **_: Any) -> str:
        return common(markdown)

    def on_page_content(self, html: str, *, page: Any, **_: Any) -> str:
        folder = posixpath.dirname(page.file.dest_uri)

        def moved(match: re.Match[str]) -> str:
            picture = posixpath.normpath(posixpath.join(folder, match["src"]))
            if picture not in self.moving:
                return match[0]
            target = posixpath.relpath(f"moving/{self.moving[picture]}", folder or ".")
            words = MOVING[picture][0]
            return (
                f'<div class="moving" data-page="{target}" data-title="{match["alt"]}">'
                f'<img alt="{match["alt"]}" src="{match["src"]}"><button type="button"><span>{words}</span></button></div>'
            )

        return _PICTURE.sub(moved, html)

    def on_post_page(self, output: str, *, page: Any, **_: Any) -> str:
        # Material asks for a script of another server where a page comes from a disk: it is among the site's own files.
        up = posixpath.relpath(".", posixpath.dirname(page.file.dest_uri) or ".")
        output = output.replace("https://unpkg.com/iframe-worker/shim", f"{up}/website/disk-worker.js")
        korean = page.file.src_uri.endswith(".ko.md")
        return output.replace('<html lang="en"', '<html lang="ko"', 1) if korean else output


def use(config: Any, moving: Mapping[str, str]) -> None:
    """Has the hooks called."""
    pages = _Pages(moving)
    for name in ("on_page_markdown", "on_page_content", "on_post_page"):
        config.plugins._register_event(name.removeprefix("on_"), getattr(pages, name))
