"""The studio as a frame inside another site's page, as notebooks show it."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from browser import chromium
from studio_world import small_character

import marrow as mw
from surroundings import HANG_SECONDS


@contextmanager
def notebook(html: str) -> Iterator[str]:
    """A page on a port of its own that holds `html`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(f"<!doctype html><title>notebook</title><body>{html}</body>".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_the_frame_shows_the_character():
    with (
        chromium() as browser,
        mw.view(small_character(name="framed"), browser=False) as view,
        notebook(view._repr_html_()) as address,
    ):
        page = browser.new_page()
        page.set_default_timeout(1000 * HANG_SECONDS)
        page.goto(address)
        inside = page.frame_locator("iframe")
        inside.get_by_role("heading", level=1, name="framed").wait_for()
        inside.get_by_role("img", name="The character").wait_for()
        assert inside.get_by_role("tab", name="Clips").is_visible()
