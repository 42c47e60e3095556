"""The studio as a frame inside another site's page, as notebooks show it, and what is left of it in a saved one."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from browser import chromium
from studio_world import small_character, small_graph

import marrow as mw
from marrow.rendering.frame import Frame
from surroundings import HANG_SECONDS


@contextmanager
def notebook(html: str) -> Iterator[str]:
    """A page on a port of its own that holds `html`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == "/"
            self.send_response(200 if found else 404)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(
                f"<!doctype html><title>notebook</title><body>{html if found else ''}</body>".encode()
            )

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


LIVE = '<script id="jupyter-config-data" type="application/json">{"baseUrl": "/"}</script>'
"""What JupyterLab has in its page, and a page that was made of a notebook has not."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium("--host-resolver-rules=MAP hub.example 127.0.0.1") as found:
        yield found


def opened_page(browser: Any, address: str) -> Any:
    page = browser.new_page()
    page.set_default_timeout(1000 * HANG_SECONDS)
    page.goto(address)
    return page


def test_the_frame_shows_the_character_and_the_next_time_there_is_a_picture(browser, monkeypatch):
    grey = Frame(np.full((54, 96, 4), 128, np.uint8))
    monkeypatch.setattr(mw.StudioView, "picture", lambda self: grey)
    with (
        mw.view(small_character(name="framed"), browser=False, embed=0) as view,
        notebook(LIVE + (html := view._repr_html_())) as address,
        notebook(html) as exported,
    ):
        page = opened_page(browser, exported)
        assert page.get_by_role("img", name="marrow studio: framed.").is_visible()
        page.wait_for_load_state("networkidle")
        assert not page.locator("iframe").count(), "an exported page asks nobody"
        page = opened_page(browser, address)
        inside = page.frame_locator("iframe")
        inside.get_by_role("heading", level=1, name="framed").wait_for()
        inside.get_by_role("img", name="The character").wait_for()
        assert inside.get_by_role("tab", name="Clips").is_visible()
        assert not page.get_by_text("still picture").count()
        page = opened_page(browser, address)  # what was saved, opened again: its ticket is used
        page.wait_for_load_state("networkidle")
        assert not page.get_by_text("jupyter-server-proxy").count(), "it could be reached"
        assert page.get_by_role("img", name="marrow studio: framed.").is_visible()
        assert not page.locator("iframe").count()


def test_a_notebook_from_elsewhere_says_what_to_install(browser, monkeypatch):
    """Its browser knows it by another name than this machine's, and its server has no proxy."""
    monkeypatch.setattr(mw.StudioView, "picture", lambda self: Frame(np.full((54, 96, 4), 128, np.uint8)))
    with (
        mw.view(small_character(), browser=False, embed=0) as view,
        notebook(LIVE + view._repr_html_()) as address,
    ):
        page = opened_page(browser, address.replace("localhost", "hub.example"))
        page.get_by_text("pip install jupyter-server-proxy").wait_for()
        assert not page.locator("iframe").count()


def test_a_saved_notebook_keeps_a_page_that_needs_no_kernel(browser, monkeypatch):
    grey = Frame(np.full((54, 96, 4), 128, np.uint8))
    monkeypatch.setattr(mw.StudioView, "picture", lambda self: grey)
    with mw.view(small_character(name='"kept" & <b>'), graph=small_graph(), browser=False) as view:
        html, token = view._repr_html_(), view.url.partition("token=")[2]
        assert view._repr_mimebundle_()["image/jpeg"]
    assert token not in html and len(html) < mw.studio.handle.EMBED + 100_000
    with notebook(html) as saved:
        page = opened_page(browser, saved)
        inside = page.frame_locator("iframe")
        inside.get_by_role("heading", level=1, name='"kept" & <b>').wait_for()
        inside.get_by_role("tab", name="Steer").wait_for(state="attached")
        frame = page.frames[1]
        for _ in range(2):  # it plays
            at = frame.evaluate("window.marrowStudio.viewport.character()?.time ?? 0")
            while frame.evaluate("window.marrowStudio.viewport.character()?.time ?? 0") <= at:
                page.wait_for_timeout(20)
        # It lies over its picture, and reaches nothing of the notebook.
        assert page.get_by_role("img", name="marrow studio").count() == 1
        assert (
            frame.evaluate("(() => { try { return parent.document.title; } catch { return null; } })()")
            is None
        )


def test_a_page_that_is_too_large_is_a_picture_with_words(monkeypatch):
    monkeypatch.setattr(mw.StudioView, "picture", lambda self: Frame(np.full((54, 96, 4), 128, np.uint8)))
    with mw.view(small_character(), browser=False, embed=1000) as view:
        html = view._repr_html_()
        assert "more than embed=1,000 lets in" in html and "<iframe" not in html and "<img" in html
    with pytest.raises(mw.errors.MarrowError, match="embed"):
        mw.view(small_character(), browser=False, embed=-1)
