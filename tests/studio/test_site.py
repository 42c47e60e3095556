"""The documentation as a site: all pages are built, have the parts they should, and open in a browser without a network."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from browser import chromium, coarse_mannequin

import marrow as mw
from surroundings import HANG_SECONDS, needed
from website.build import build
from website.checks import problems
from website.hooks import common
from website.moving import MOVING
from website.pages import ROOT, all_pages

COUNTED = ("h1", "h2", "h3", "h4", "li", "ul", "ol", "pre", "table", "tr", "td", "img", "blockquote")


def export_small(path: Path) -> None:
    mw.export_page(coarse_mannequin(), path, clips=["walk"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    needed("material")
    folder = tmp_path_factory.mktemp("site") / "site"
    # One picture moves: that of a small character, which stands for those that take longer to make.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(MOVING, "docs/samples/lizard.png", ("Play it", export_small))
        assert build(folder, pictures=["docs/samples/lizard.png"]) == []
    return folder


class Tags(HTMLParser):
    """How often each kind of element is in a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.counts[tag] += tag in COUNTED


def counts(text: str) -> dict[str, int]:
    return {tag: n for tag, n in Tags(text).counts.items() if n}


def test_every_page_has_the_parts_that_a_repository_shows_of_it(site: Path) -> None:
    reader = needed("markdown_it").MarkdownIt("commonmark").enable("table")
    for page in all_pages():
        html = (site / page.replace("README.md", "index.md")).with_suffix(".html").read_text(encoding="utf-8")
        article = re.search(r'<article class="md-content__inner[^>]*>(.*?)</article>', html, re.DOTALL)
        assert article is not None
        assert counts(article[1]) == counts(reader.render((ROOT / page).read_text(encoding="utf-8"))), page


def test_lists_are_spelled_out() -> None:
    text = "Words\n- one\n  goes on\n  - inner\n\n    its text\n- two\n\n```\n- no item\n```\nEnd\n1. first\n"
    wanted = "Words\n\n-   one\n    goes on\n\n    -   inner\n\n        its text\n-   two\n"
    assert common(text) == wanted + "\n```\n- no item\n```\nEnd\n\n1.  first\n"


def test_what_leads_nowhere_or_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="x">A</h1><b id="x"></b><a href="b.html#here">1</a><a href="b.html#there">2</a><a href="c.html">3</a>'
        '<a href="#y">4</a><a href="https://example.org">fine</a><script src="https://example.org/a.js"></script>'
        '<img src="none.png"><a href="vbscript:x">5</a>'
    )
    (tmp_path / "b.html").write_text('<h2 id="here">B</h2>')
    found = "\n".join(problems(tmp_path))
    for words in (
        "b.html#there",
        "c.html",
        "#y",
        "loads https://example.org/a.js",
        "none.png",
        "vbscript:x",
        "called #x",
    ):
        assert words in found
    assert len(found.splitlines()) == 7 and "#here" not in found


@pytest.fixture(scope="module")
def opened(site: Path) -> Iterator[Any]:
    with chromium() as browser:
        context = browser.new_context(
            offline=True, color_scheme="dark", viewport={"width": 1200, "height": 800}
        )
        page = context.new_page()
        page.set_default_timeout(1000 * HANG_SECONDS)
        page.wrong = []
        # Who goes on to the next page has no use for what the last one still asked for.
        page.on("requestfailed", lambda r: None if "ABORTED" in r.failure else page.wrong.append(r.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda said: page.wrong.append(said.text) if said.type == "error" else None)
        yield page
        context.close()


def test_it_opens_from_a_disk_in_the_dark_without_a_network(site: Path, opened: Any) -> None:
    opened.goto((site / "index.html").as_uri())
    assert opened.evaluate("document.body.getAttribute('data-md-color-scheme')") == "slate"
    assert opened.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    opened.goto((site / "README.ko.html").as_uri())
    assert opened.evaluate("document.documentElement.lang") == "ko"
    assert opened.wrong == []


def test_the_search_finds_pages_from_a_disk(site: Path, opened: Any) -> None:
    opened.goto((site / "docs" / "graph.html").as_uri())
    opened.focus(".md-search__input")
    ready = "() => !document.querySelector('.md-search-result__meta').textContent.includes('Initializing')"
    opened.wait_for_function(ready)
    opened.keyboard.type("retargeting")
    opened.wait_for_selector(".md-search-result__link", state="attached")
    links = opened.eval_on_selector_all(".md-search-result__link", "all => all.map(a => a.href)")
    assert links and all("retargeting" in _text_of(site, link).lower() for link in links[:3])
    assert opened.wrong == []


def _text_of(site: Path, link: str) -> str:
    place = link.partition(site.name + "/")[2]
    return (site / re.split("[?#]", place)[0]).read_text(encoding="utf-8")


def test_a_picture_that_moves_opens_where_it_is(site: Path, opened: Any) -> None:
    opened.goto((site / "docs" / "samples.html").as_uri())
    assert opened.locator("iframe[title*=lizard]").count() == 0, "not before it is asked for"
    opened.locator(".moving > button").click()
    frame = opened.frame_locator(".moving iframe")
    frame.locator("canvas").first.wait_for()
    assert opened.locator(".moving.open img").count() == 0
    assert opened.wrong == []


def test_all_pictures_that_move_are_on_a_page() -> None:
    shown = "".join((ROOT / page).read_text(encoding="utf-8") for page in all_pages())
    for picture, (words, _) in MOVING.items():
        assert words and (ROOT / picture).is_file() and f"]({picture.removeprefix('docs/')})" in shown, (
            picture
        )


def test_a_telephone_shows_no_more_than_its_width(site: Path, opened: Any) -> None:
    opened.set_viewport_size({"width": 390, "height": 800})
    for name in ("index.html", "docs/graph.html", "docs/coming_from.html"):
        opened.goto((site / name).as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert opened.wrong == []
