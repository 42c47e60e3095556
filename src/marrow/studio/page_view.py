"""What `mw.view` gives where no studio can be served, in a browser's Python: a page that needs no server."""

from __future__ import annotations

from html import escape
from typing import Any

from marrow.studio.notebook import FRAME

__all__ = ["PageView"]


class PageView:
    """A character as a page (`mw.export_page`) that JupyterLite, marimo and other notebooks show in a frame. It has what
    the character was when it was made: the program does not move it."""

    running = False
    url = "about:srcdoc"
    """Where it is: in the notebook's own page."""

    def __init__(self, name: str, html: str) -> None:
        self.name, self.html = name, html

    def close(self) -> None:
        """There is nothing to close."""

    def _repr_html_(self) -> str:
        page = self.html.replace("&", "&amp;").replace('"', "&quot;")
        return FRAME.format(title=escape(f"marrow: {self.name}"), page=page)

    def _mime_(self) -> tuple[str, str]:
        """As marimo asks."""
        return "text/html", self._repr_html_()

    def __repr__(self) -> str:
        return f"PageView({self.name!r}, {len(self.html):,} letters)"


def page_view(thing: Any, graph: Any) -> PageView:
    """The page of what `mw.view` is given."""
    from marrow.studio.page.export import contents_of, page_of

    contents = contents_of(thing, graph, None, 1, None)
    return PageView(contents.name, page_of(contents)[0])
