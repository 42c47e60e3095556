"""Fixtures of the tests that look at the studio's page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import Tab, chromium

import marrow as mw

DEFAULTS = {
    "theme": "dark",
    "method": "file",
    "compare": "off",
    "follow": True,
    "grid": True,
    "views": "",
    "differenceTo": "skinning",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def studio(browser: Any) -> Iterator[mw.StudioView]:
    """The mannequin with its clips and its graph, and a fraction of its vertices: those take a processor's time."""
    whole = mw.samples.mannequin()
    coarse = whole.replace(meshes=whole.reduced[1].meshes, reduced=(), lod=None)
    with mw.view(coarse, graph=mw.samples.mannequin_graph(), browser=False, port=0) as view:
        yield view


@pytest.fixture(scope="module")
def shared(browser: Any, studio: Any) -> Iterator[Tab]:
    tab = Tab(browser, studio.url).loaded()
    tab.js("s.set('shadows', false)")
    yield tab
    assert tab.errors == []
    tab.close()


@pytest.fixture
def tab(shared: Tab) -> Iterator[Tab]:
    """The page as a visitor finds it: playing the first clip, nothing picked, one character in its place. It stands still
    afterwards: where the processor draws, a page that moves takes it from those that are looked at."""
    shared.page.set_viewport_size({"width": 1120, "height": 640})
    shared.send(type="count", value=1)
    shared.send(type="travel", on=False)
    shared.send(type="speed", value=1.0)
    shared.send(type="loop", value=True)
    shared.send(type="mode", value="clip")
    shared.send(type="clip", name="idle")
    shared.send(type="play", playing=True)
    shared.send(type="select", joint=-1)
    for name, value in DEFAULTS.items():
        shared.js("s.set(a[0], a[1])", [name, value])
    shared.until("s.state.mode === 'clip' && s.state.clip === 'idle' && s.state.playing && s.selected === -1")
    yield shared
    shared.send(type="play", playing=False)


@pytest.fixture(scope="module")
def visitor(browser: Any) -> Iterator[Tab]:
    """The tab that goes from one small studio to the next."""
    tab = Tab(browser, "about:blank")
    yield tab
    tab.close()


@pytest.fixture
def small(visitor: Tab) -> Iterator[Any]:
    """Opens a small studio of a test's own."""
    opened: list[Any] = []

    def open_one(thing: Any = None, *, width: int = 900, **options: Any) -> tuple[Any, Tab]:
        assert not opened, "there is one tab for it"
        view = mw.view(thing, browser=False, port=0, **options)
        opened.append(view)
        visitor.visit(view.url, width=width, height=560)
        return view, visitor

    yield open_one
    visitor.leave()
    for one in opened:
        one.close()
