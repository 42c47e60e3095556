"""How the page gets its token and where it never goes: links, reloads, other tabs, frames, and a server of somebody else's
on another port of the same machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote, unquote

import pytest
from browser import NARROW, Tab
from studio_world import small_character

import marrow as mw
from marrow.studio.browser import redirect_file

SMALL = {"width": NARROW, "height": 400}
ASK = """async (studio) => {
  const got = {};
  const told = async (name, call) => { try { got[name] = await call(); } catch (error) { got[name] = "refused"; } };
  await told("fetch", async () => (await fetch(studio + "api/clips", { credentials: "include" })).status);
  await told("page", async () => (await fetch(studio, { credentials: "include" })).text());
  const guess = { "X-Marrow-Token": "guess-guess" };
  await told("header", async () => (await fetch(studio + "api/clips", { headers: guess })).status);
  await told("script", () => new Promise((done, fail) => {
    const script = document.createElement("script");
    [script.src, script.onload, script.onerror] = [studio + "static/studio.js", () => done("ran"), fail];
    document.head.append(script);
  }));
  await told("socket", () => new Promise((done, fail) => {
    const socket = new WebSocket(studio.replace("http", "ws") + "ws", ["marrow", "marrow.token.guess-guess"]);
    [socket.onopen, socket.onerror] = [() => done("open"), fail];
  }));
  return got;
}"""


class Neighbour:
    """Another user's server on the same machine: it serves a page and writes down what browsers tell it."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        neighbour = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                neighbour.heard.append(f"{self.path} {self.headers}")
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                studio = unquote(self.path.partition("?")[2])
                self.wfile.write(f'<title>neighbour</title><iframe src="{studio}"></iframe>'.encode())

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture(scope="module")
def neighbour() -> Iterator[Neighbour]:
    one = Neighbour()
    yield one
    one.server.shutdown()


@pytest.fixture
def view() -> Iterator[mw.StudioView]:
    with mw.view(small_character(), browser=False, port=0) as one:
        yield one


def bare(view: mw.StudioView) -> str:
    return f"http://127.0.0.1:{view.port}/"


def test_the_token_goes_into_headers_alone_and_stays_with_the_tab(
    browser: Any, view: mw.StudioView, neighbour: Neighbour
) -> None:
    token, asked = view._address.token, []
    tab = Tab(browser, "about:blank", **SMALL)
    tab.page.on("request", lambda r: asked.append((r.url, r.headers)))
    # As a browser is started: with a file that leads on to the link.
    tab.page.goto(redirect_file(view.url).as_uri())
    tab.page.wait_for_url(bare(view))
    tab.loaded()
    assert tab.page.url == bare(view), "it has left the address bar"
    tab.page.reload()
    tab.loaded()
    assert asked and not any(token in url for url, _ in asked)
    assert not any(token in value for _, h in asked for name, value in h.items() if name != "x-marrow-token")
    assert (
        tab.context.cookies() == []
        and tab.js("document.cookie + localStorage.getItem('marrow-token')") == "null"
    )
    # In the same browser, another port of the same machine: it is told nothing, and gets nothing.
    other = tab.context.new_page()
    other.goto(neighbour.address)
    assert not any(token in said for said in neighbour.heard)
    got = other.evaluate(ASK, bare(view))
    assert got == dict.fromkeys(("fetch", "page", "header", "script", "socket"), "refused")
    assert other.evaluate("sessionStorage.length") == 0
    tab.close()


def test_a_page_without_its_link_says_so_and_gets_it_from_a_tab_or_a_link(
    browser: Any, view: mw.StudioView
) -> None:
    tab = Tab(browser, bare(view), **SMALL)
    tab.page.get_by_text("opened without its link").wait_for()
    assert tab.js("s.source.status") == "unlinked"
    # The link is opened in the same tab: only the fragment changes, nothing is loaded again.
    tab.page.goto(view.url)
    tab.loaded()
    tab.page.get_by_text("opened without its link").wait_for(state="hidden")
    # A second tab of the same browser, opened by the bare address, asks the first one.
    second = tab.context.new_page()
    second.goto(bare(view))
    while second.evaluate("window.marrowStudio?.source.status") != "open":
        second.wait_for_timeout(20)
    # A wrong link does not take away what works.
    tab.page.goto(bare(view) + "#token=somebody-elses")
    tab.until("location.hash === ''")
    tab.send(type="select", joint=2)
    tab.until("s.state.selected === 2")
    assert tab.errors == []
    tab.close()


def test_pages_of_before_a_restart_take_the_new_link_from_any_tab(browser: Any) -> None:
    first = mw.view(small_character(), browser=False, port=0, token="a-first-token-1")
    tab = Tab(browser, first.url, **SMALL).loaded()
    port = first.port
    first.close()
    with mw.view(small_character(name="again"), browser=False, port=port, token="another-token-2") as second:
        tab.page.get_by_text("Open the new link it printed").wait_for()
        other = tab.context.new_page()
        other.goto(second.url)
        tab.until("s.characters[0]?.name === 'again'")
        tab.page.get_by_text("Open the new link it printed").wait_for(state="hidden")
        tab.page.reload()
        tab.loaded()
    tab.close()


def test_nobody_frames_it_but_a_notebook_and_without_the_link_there_is_nothing_to_see(
    browser: Any, view: mw.StudioView, neighbour: Neighbour
) -> None:
    from playwright.sync_api import Error

    tab = Tab(browser, view.url, **SMALL).loaded()  # in the same browser, with a token of its own
    page = tab.context.new_page()

    def framed(address: str) -> Any:
        page.goto(f"{neighbour.address}?{quote(address)}")
        return page.frames[1]

    def status(frame: Any) -> str | None:
        try:
            return frame.evaluate("window.before ? null : (window.marrowStudio?.source.status ?? null)")
        except Error:  # it is being loaded
            return None

    assert status(framed(bare(view))) is None, "the browser shows an error in its place"
    view._server.studio.keys.framed = True  # as a notebook does that shows it
    frame = framed(bare(view))
    while status(frame) is None:
        page.wait_for_timeout(20)
    frame.get_by_text("opened without its link").wait_for()
    frame = framed(view.url)
    while status(frame) != "open":
        page.wait_for_timeout(20)
    frame.evaluate("(window.before = true, setTimeout(() => location.reload()))")
    while status(frame) != "open":
        page.wait_for_timeout(20)
    tab.close()
