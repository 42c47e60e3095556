"""Looks at a built site: every link leads somewhere, inside the page too, and nothing is fetched from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["problems"]

FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "link": "href"}
"""What a page loads by itself."""


class _Page(HTMLParser):
    """The links of a page, what it loads, and the names that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.names: set[str] = set()
        self.doubled: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        name = given.get("id", "")
        if name in self.names and not name.startswith("__"):
            self.doubled.add(name)
        if name:
            self.names.add(name)
        for key in ("href", "src", "data-page", "poster"):
            if key in given:
                self.links.append(("load" if FETCHED.get(tag) == key else "link", given[key]))


def problems(site: Path, *, partial: bool = False) -> list[str]:
    """What is wrong, in words. A `partial` site has links to pages that were not built."""
    pages = {
        file: _Page(file.read_text(encoding="utf-8"))
        for file in sorted(site.rglob("*.html"))
        if file.parent.name != "moving"
    }
    return [
        f"{file.relative_to(site)}: {words}" for file in pages for words in _page(site, file, pages, partial)
    ]


def _page(site: Path, file: Path, pages: dict[Path, _Page], partial: bool) -> Iterator[str]:
    if file.name == "404.html":  # MkDocs makes it for web servers, with addresses from their root
        return
    for name in sorted(pages[file].doubled):
        yield f"two parts are called #{name}"
    for kind, link in pages[file].links:
        parts = urlsplit(link)
        if parts.scheme in ("http", "https", "mailto") or parts.netloc:
            if kind == "load" and "canonical" not in link:
                yield f"loads {link}"
            continue
        if parts.scheme:
            if parts.scheme not in ("data", "javascript"):
                yield f"links to {link}"
            continue
        target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
        if target.is_dir():
            target = target / "index.html"
        if not target.is_file():
            if not (partial and kind == "link" and target.suffix in (".html", ".md")):
                yield f"{link}: there is no such file"
        elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].names:
            yield f"{link}: there is no such part"
