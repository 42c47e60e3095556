"""Handles in the page: joints that are dragged with a mouse, a finger or the keyboard, and the body that bends for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import Tab, coarse_mannequin

import marrow as mw


@pytest.fixture(scope="module")
def view() -> Iterator[mw.StudioView]:
    with mw.view(coarse_mannequin(), browser=False, port=0) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(browser: Any, view: mw.StudioView) -> Iterator[Tab]:
    tab = Tab(browser, view.url).loaded()
    tab.js("s.set('shadows', false)")
    tab.page.get_by_role("tab", name="Rig").click()
    tab.page.get_by_role("radio", name="Effectors").click()
    tab.until("s.viewport.handles.on && !s.state.playing")
    tab.rest()
    yield tab
    assert tab.errors == []
    tab.close()


@pytest.fixture
def tab(page: Tab) -> Tab:
    page.send(type="count", value=1)
    page.send(type="reset_effectors")
    page.until("s.state.count === 1 && s.state.effectors.every((e) => !e.places.length)")
    page.rest()
    return page


def joint(tab: Tab, name: str) -> int:
    return tab.js("s.characters[0].joints.findIndex((j) => j.name === a)", name)


def on_screen(tab: Tab, number: int) -> tuple[float, float]:
    """Where a joint is in the window."""
    box = tab.page.locator(".viewport canvas").first.bounding_box()
    at = tab.js("s.viewport.screenPosition(a)", number)
    return box["x"] + at["x"], box["y"] + at["y"]


def place(tab: Tab, number: int) -> np.ndarray:
    return np.array(tab.js("s.viewport.handles.place(a).toArray()", number))


HELD = "s.state.effectors.find((e) => e.joint === a)?.places[0]"


def test_a_handle_is_dragged_and_the_body_follows(tab: Tab, view: mw.StudioView) -> None:
    hand, foot = joint(tab, "hand_l"), joint(tab, "foot_l")
    before, stood, camera = place(tab, hand), place(tab, foot), tab.js("s.viewport.camera.position.toArray()")
    x, y = on_screen(tab, hand)
    mouse = tab.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 30, y - 30, steps=2)
    tab.until(HELD, hand)  # live: nothing was let go of yet
    mouse.move(x + 40, y - 60)
    mouse.up()
    tab.until("s.selected === a && !s.viewport.handles.dragging", hand)
    tab.until("s.viewport.handles.distance(a) < 2e-3", hand)
    now = place(tab, hand)
    assert now[1] > before[1] + 0.1
    np.testing.assert_allclose(place(tab, foot), stood, atol=2e-3)
    assert tab.js("s.viewport.camera.position.toArray()") == pytest.approx(
        camera
    )  # it was the hand that moved
    # The handle is where the pointer left it, and a script reads the same.
    assert on_screen(tab, hand) == pytest.approx((x + 40, y - 60), abs=3)
    np.testing.assert_allclose(view.effectors["hand_l"], now, atol=2e-3)
    # What is off is drawn by the engine.
    tab.page.locator(".legend-box", has_text="effectors").wait_for()


def test_a_finger_takes_a_handle_from_farther_away_and_does_not_turn_the_camera(tab: Tab) -> None:
    hand = joint(tab, "hand_r")
    camera = tab.js("s.viewport.camera.position.toArray()")
    x, y = on_screen(tab, hand)
    tab.js(
        """(() => {
          const canvas = document.querySelector('.viewport canvas');
          canvas.setPointerCapture = () => {};
          const touch = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, {
            clientX: x, clientY: y, pointerId: 7, pointerType: 'touch', button: 0, bubbles: true, cancelable: true}));
          touch('pointerdown', a[0] - 18, a[1]);
          touch('pointermove', a[0] - 48, a[1] - 40);
          touch('pointerup', a[0] - 48, a[1] - 40);
          delete canvas.setPointerCapture;
        })()""",
        [x, y],
    )
    tab.until(HELD, hand)
    tab.until("s.viewport.handles.distance(a) < 2e-3", hand)
    assert on_screen(tab, hand) == pytest.approx(
        (x - 30, y - 40), abs=3
    )  # not where the finger is: as far beside it
    assert tab.js("s.viewport.camera.position.toArray()") == pytest.approx(camera)


def test_the_keyboard_holds_moves_and_lets_go(tab: Tab) -> None:
    head = joint(tab, "head")
    tab.page.get_by_role("group", name="Effectors").get_by_role(
        "button", name="head", exact=False
    ).first.focus()
    tab.page.keyboard.press("Enter")
    tab.until("s.selected === a", head)
    before = place(tab, head)
    field = tab.page.get_by_role("spinbutton", name="Y of the picked joint's target in metres")
    field.fill(f"{before[1] - 0.1:.3f}")
    field.press("Enter")
    tab.until("Math.abs(s.viewport.handles.place(a[0]).y - a[1]) < 2e-3", [head, before[1] - 0.1])
    hold = tab.page.get_by_role("button", name="Hold head")
    assert hold.get_attribute("aria-pressed") == "true"
    hold.focus()
    tab.page.keyboard.press("Enter")
    tab.until("s.viewport.handles.how(a) === 'free'", head)
    tab.until("Math.abs(s.viewport.handles.place(a[0]).y - a[1]) < 2e-3", [head, before[1]])
    foot = joint(tab, "foot_l")
    assert tab.js("s.viewport.handles.how(a)", foot) == "posed"
    tab.page.get_by_role("button", name="Hold foot_l").click()
    tab.until("s.viewport.handles.how(a) === 'free'", foot)


def test_what_a_script_holds_is_seen_and_too_far_is_said(tab: Tab, view: mw.StudioView) -> None:
    view.effectors["hand_l"] = (0.2, 9.0, 0.0)
    hand = joint(tab, "hand_l")
    tab.until("s.viewport.handles.how(a) === 'placed' && s.viewport.handles.distance(a) > 5", hand)
    tab.page.locator(".effector", has_text="hand_l").get_by_text("m off").wait_for()
    tab.page.get_by_role("button", name="Let all joints go").click()
    tab.until("s.viewport.handles.how(a) === 'free'", hand)
    assert set(view.effectors) == {"foot_l", "foot_r"}


def test_in_a_crowd_the_one_that_was_picked_is_dragged(tab: Tab, view: mw.StudioView) -> None:
    tab.send(type="count", value=3)
    tab.until("s.viewport.character().count === 3")
    tab.rest()
    hand = joint(tab, "hand_l")
    tab.js("(() => { s.viewport.instance = 2; s.select(a); })()", hand)
    tab.rest()
    x, y = on_screen(tab, hand)
    mouse = tab.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20, y - 30, steps=2)
    mouse.up()
    assert tab.until(HELD, hand)[0] == 2
    tab.until("s.viewport.handles.distance(a) < 2e-3", hand)
    held = view.effectors["hand_l"]
    assert np.isnan(held[:2]).all() and np.isfinite(held[2]).all()
    tab.js("(() => { s.viewport.instance = 0; s.select(-1); })()")


def test_a_pose_by_hand_begins_with_what_the_handles_made(tab: Tab, view: mw.StudioView) -> None:
    view.effectors["hand_l"] = (0.3, 1.4, 0.4)
    hand = joint(tab, "hand_l")
    tab.until("s.viewport.handles.how(a) === 'placed' && s.viewport.handles.distance(a) < 2e-3", hand)
    tab.page.get_by_role("radio", name="By hand").click()
    at = tab.js("s.viewport.character().poser.model(a).elements.slice(12, 15)", hand)
    assert at == pytest.approx([0.3, 1.4, 0.4], abs=2e-3)
    assert not tab.js("s.viewport.handles.on")
    tab.page.get_by_role("radio", name="Effectors").click()
    tab.until("s.viewport.handles.on")
