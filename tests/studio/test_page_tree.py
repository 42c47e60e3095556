"""The joint tree of the page: linear in the number of joints, with only the rows in the page that are in sight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import Tab

import marrow as mw

JOINTS = 20_000


def skeleton_of(parents: Any, name: str) -> mw.Character:
    names = tuple(f"{name}_{k}" for k in range(len(parents)))
    bones = mw.Skeleton(names, parents)
    return mw.Character(bones, (mw.Mesh.rigid("chip", np.eye(3), [[0, 1, 2]], 0),), name=name)


def rows(tab: Tab) -> list[str]:
    """The rows that are in sight, from top to bottom."""
    return tab.js(
        """(() => {
          const box = document.querySelector('[role=tree]').getBoundingClientRect();
          return [...document.querySelectorAll('[role=treeitem]')].filter((row) => {
            const { top, bottom } = row.getBoundingClientRect();
            return bottom > box.top + 1 && top < box.bottom - 1;
          }).map((row) => row.textContent);
        })()"""
    )


@pytest.fixture(scope="module")
def opened(browser: Any) -> Iterator[tuple[mw.StudioView, Tab]]:
    """A studio whose page shows its joints."""
    with mw.view(skeleton_of(np.arange(-1, JOINTS - 1), "nested"), browser=False, port=0) as view:
        tab = Tab(browser, view.url, height=560).loaded()
        tab.page.get_by_role("tab", name="Joints").click()
        yield view, tab
        assert tab.errors == []
        tab.close()


def show(opened: tuple[mw.StudioView, Tab], parents: Any, name: str) -> Tab:
    view, tab = opened
    view.show(skeleton_of(parents, name))
    tab.until("s.characters[0]?.name === a", name)
    return tab


def test_twenty_thousand_nested_joints_are_a_few_rows(opened: tuple[mw.StudioView, Tab]) -> None:
    _, tab = opened
    tree = tab.page.get_by_role("tree", name="Joints")
    in_page = "document.querySelectorAll('[role=treeitem]').length"
    assert 10 < tab.until(in_page) < 100 and rows(tab)[0] == "nested_0"
    # The last of all, picked elsewhere, comes into sight; scrolled to the top, the first does.
    tab.js("s.select(a)", JOINTS - 1)
    assert rows(tab)[-1] == f"nested_{JOINTS - 1}" and tab.js(in_page) < 100
    assert tree.get_attribute("aria-activedescendant") == f"joint-{JOINTS - 1}"
    tree.evaluate("(list) => (list.scrollTop = 0)")
    tab.until("document.querySelector('[data-joint=\\'0\\']') !== null")
    assert rows(tab)[:3] == ["nested_0", "nested_1", "nested_2"]
    # Search finds, in order, whatever is folded.
    search = tab.page.get_by_label("Search joints")
    search.fill("_1999")
    assert rows(tab) == ["nested_1999", *(f"nested_{k}" for k in range(19990, 20000))]
    search.fill("nobody")
    assert tab.page.get_by_text("No joint has that in its name.").is_visible()
    search.fill("")
    # Folded, the rest of a chain is one row.
    tab.page.locator("[data-joint='2'] .twist").click()
    assert rows(tab) == ["nested_0", "nested_1", "nested_2"]
    assert tab.page.locator("[data-joint='2']").get_attribute("aria-expanded") == "false"
    tab.js("s.select(a)", 9_000)
    assert "nested_9000" in rows(tab), "what is picked is opened"


def test_twenty_thousand_joints_of_one_are_gone_through_with_keys(opened: tuple[mw.StudioView, Tab]) -> None:
    tab = show(opened, np.r_[-1, np.zeros(JOINTS - 1, int)], "flat")
    assert rows(tab)[:2] == ["flat_0", "flat_1"] and tab.page.get_by_role("treeitem").count() < 100
    tree = tab.page.get_by_role("tree", name="Joints")
    last = tab.page.locator(f"[data-joint='{JOINTS - 1}']")
    tree.focus()
    for key in ("ArrowDown", "End"):
        tab.page.keyboard.press(key)
    assert rows(tab)[-1] == f"flat_{JOINTS - 1}"
    assert [last.get_attribute(f"aria-{a}") for a in ("level", "posinset", "setsize")] == [
        "2",
        "19999",
        "19999",
    ]
    tab.page.keyboard.press("Enter")
    tab.until("s.state.selected === a", JOINTS - 1)
    for key in ("ArrowLeft", "ArrowLeft"):  # to its parent, which is then closed
        tab.page.keyboard.press(key)
    assert rows(tab) == ["flat_0"]
    tab.page.keyboard.press("ArrowRight")
    assert rows(tab)[:2] == ["flat_0", "flat_1"]
