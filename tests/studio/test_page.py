"""The studio's page in a real browser: it draws, plays, scrubs, steers, opens files and comes back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Tab
from studio_world import JOINTS, small_character

import marrow as mw
from builders import rotations

# Skinning in float32 on both sides, relative to the character's size.
SAME = 2e-6


# -- pictures ---------------------------------------------------------------------------------------------------


def test_the_sample_is_seen_to_move_and_to_stand_still_when_paused(tab: Tab) -> None:
    picture = tab.page.locator(".viewport")
    first, drawn = picture.screenshot(), tab.js("s.viewport.drawn")
    tab.until("s.viewport.drawn > a + 3", drawn)
    assert picture.screenshot() != first
    tab.settle()
    tab.rest()
    still, drawn = picture.screenshot(), tab.js("s.viewport.drawn")
    assert picture.screenshot() == still
    assert tab.js("s.viewport.drawn") == drawn, "nothing moves, so nothing is drawn"


@pytest.mark.parametrize("method", ["linear", "dual_quaternion"])
def test_positions_skinned_in_the_browser_equal_the_engines(tab: Tab, method: str) -> None:
    tab.send(type="clip", name="attack")
    tab.send(type="seek", time=0.55)
    tab.until("s.state.clip === 'attack'")
    assert tab.difference_to_engine(method) < SAME


def test_skinning_methods_differ_where_joints_twist(tab: Tab) -> None:
    tab.send(type="clip", name="attack")
    tab.settle()
    positions = []
    for name in ("Linear", "Dual quat."):
        tab.page.get_by_role("tab", name="View").click()
        tab.page.get_by_role("radio", name=name, exact=True).click()
        positions.append(np.array(tab.js("Array.from(s.viewport.skinnedPositions(0, 0))")))
    assert np.abs(positions[0] - positions[1]).max() > 1e-3


def test_scaled_and_sheared_joints_and_morphs_are_skinned_as_the_engine_does(small: Any) -> None:
    character = small_character()
    rng = np.random.default_rng(11)
    times = np.array([0.0, 1.0])
    tracks = [mw.Track(j, "rotation", times, rotations(rng, (2,))) for j in range(JOINTS)]
    tracks += [mw.Track(j, "scale", times, rng.uniform(0.5, 1.6, (2, 3))) for j in range(JOINTS)]
    tracks.append(mw.Track(0, "morph", times, np.array([0.2, 0.9])))
    clip = mw.Clip("grow", character.skeleton, tracks, rate=20.0)
    _, tab = small(character.replace(clips=[clip]))
    tab.loaded()
    tab.send(type="seek", time=0.5)
    for method in ("linear", "dual_quaternion"):
        assert tab.difference_to_engine(method) < 5 * SAME


def test_blended_skinning_of_a_file_equals_the_engines(small: Any, corpus: Path) -> None:
    _, tab = small(mw.load(corpus / "maya_dq_weights_7500_binary.fbx"))
    tab.loaded()
    tab.send(type="seek", time=0.5)
    assert tab.difference_to_engine() < 5 * SAME


# -- time -------------------------------------------------------------------------------------------------------


def test_scrubbing_on_the_ruler_goes_to_that_time(tab: Tab) -> None:
    tab.settle()
    before = tab.pose()
    ruler = tab.page.get_by_role("slider", name="Time in the clip").bounding_box()
    tab.page.mouse.move(ruler["x"] + ruler["width"] * 0.2, ruler["y"] + 15)
    tab.page.mouse.down()
    tab.page.mouse.move(ruler["x"] + ruler["width"] * 0.5, ruler["y"] + 15, steps=4)
    tab.page.mouse.up()
    tab.until("Math.abs(s.state.time - 3.0) < 0.05 && !s.state.playing")
    tab.settle()
    assert tab.pose() != before


def test_keys_change_clips_step_frames_and_pause(tab: Tab) -> None:
    keyboard = tab.page.keyboard
    tab.page.locator(".viewport canvas").first.focus()
    keyboard.press("1")
    tab.until("s.state.clip === 'walk'")
    assert tab.page.get_by_role("option", name="walk 0.90 s").get_attribute("aria-selected") == "true"
    keyboard.press("2")
    tab.until("s.state.clip === 'idle'")
    keyboard.press(" ")
    tab.until("!s.state.playing")
    at, rate = tab.js("s.state.time"), tab.js("s.state.rate")
    keyboard.press("ArrowRight")
    tab.until("s.state.time > a", at + 0.5 / rate)
    assert tab.js("s.state.time") == pytest.approx(at + 1 / rate, abs=1.01 / rate)


def test_searching_narrows_the_list_of_clips(tab: Tab) -> None:
    tab.page.get_by_label("Search clips").fill("strafe")
    shown = tab.page.locator("[data-clip]:visible")
    assert shown.count() == sum("strafe" in name for name in mw.samples.mannequin().clips)
    tab.page.get_by_label("Search clips").fill("no such thing")
    assert tab.page.get_by_text("No clip has that in its name.").is_visible()
    tab.page.get_by_label("Search clips").fill("")


def test_a_joint_clicked_in_the_view_is_picked_and_its_curves_are_drawn(tab: Tab) -> None:
    tab.settle()
    joint = tab.js("s.characters[0].joints.findIndex((j) => j.name === 'head')")
    frame = tab.page.locator(".viewport").bounding_box()
    place = tab.js("s.viewport.screenPosition(a)", joint)
    tab.page.mouse.click(frame["x"] + place["x"], frame["y"] + place["y"])
    tab.until("s.state.selected === a", joint)
    tab.page.get_by_role("tab", name="Joints").click()
    row = tab.page.locator(f"[data-joint='{joint}']")
    assert row.get_attribute("aria-selected") == "true"
    tab.page.locator(".curve-title", has_text="head").wait_for()
    tab.page.locator(".curve-value").first.wait_for()
    tab.page.get_by_role("tab", name="Clips").click()


# -- the graph --------------------------------------------------------------------------------------------------


def test_dragging_the_dot_of_a_blend_space_changes_parameters_and_pose(tab: Tab) -> None:
    tab.page.get_by_role("radio", name="Graph").click()
    tab.until("s.state.mode === 'graph'")
    pad = tab.page.get_by_role("slider", name="Blend space of Strafe and Speed")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    before = tab.pose()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.7)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.2, steps=5)
    tab.page.mouse.up()
    assert tab.until("s.state.parameters.speed > 2.5")
    tab.until("Object.entries(s.weights).some(([path, w]) => path.includes('.points[') && w > 0.3)")
    tab.until("s.viewport.character().matrices.slice(0, 12 * 20).some((x, k) => x !== a[k])", before)
    tab.page.locator(".node.active", has_text=re.compile("walk|jog|run")).first.wait_for(state="attached")


def test_a_trigger_lights_up_its_state_and_enters_the_history(tab: Tab) -> None:
    tab.page.get_by_role("radio", name="Graph").click()
    tab.until("s.state.mode === 'graph'")
    tab.page.locator(".state.active[data-state='move']").wait_for()
    tab.page.get_by_role("button", name="Fire jump").click()
    tab.page.locator(".state.active[data-state='jump']").wait_for()
    tab.until("s.history.some((entry) => entry.state === 'jump')")
    tab.page.locator(".state.active[data-state='move']").wait_for()


def test_a_layers_mask_is_shown_on_the_skeleton(tab: Tab) -> None:
    tab.page.get_by_role("radio", name="Graph").click()
    tab.until("s.state.mode === 'graph'")
    masked = tab.page.locator(".node.masked").first
    masked.dispatch_event("click")
    tab.page.get_by_text("how much of each joint the layer takes").wait_for()
    tab.until("s.viewport.character().parts[0].paint.on")
    masked.dispatch_event("click")
    tab.until("!s.viewport.character().parts[0].paint.on")


# -- the page itself --------------------------------------------------------------------------------------------


def test_two_pages_watch_and_steer_one_session(tab: Tab, browser: Any, studio: Any) -> None:
    other = Tab(browser, studio.url, width=900, height=560).loaded()
    try:
        other.send(type="clip", name="walk")
        tab.until("s.state.clip === 'walk'")
        seen = [one.js("s.shownFrame(0)") for one in (tab, other)]
        tab.until("s.shownFrame(0) > a", seen[0])
        other.until("s.shownFrame(0) > a", seen[1])
        assert other.errors == []
    finally:
        other.close()


def test_the_page_comes_back_after_the_server_restarts(browser: Any) -> None:
    first = mw.view(small_character(), token="again-and-again", browser=False)
    port = first.port
    tab = Tab(browser, first.url, width=900, height=560).loaded()
    try:
        first.close()
        tab.page.get_by_text("The server is gone").wait_for()
        with mw.view(small_character(name="second"), port=port, token="again-and-again", browser=False):
            tab.until("s.characters[0]?.name === 'second'")
            tab.page.get_by_text("The server is gone").wait_for(state="hidden")
            tab.until("s.shownFrame(0) > 0")
        assert tab.errors == []
    finally:
        tab.close()


def test_a_page_nobody_sees_is_sent_nothing_and_goes_on_when_seen(small: Any) -> None:
    view, tab = small(small_character())
    tab.loaded()
    tab.js(
        """(() => {
          window.drawing = s.viewport.beforeDraw;
          s.viewport.beforeDraw = () => {};
          Object.defineProperty(document, 'hidden', {get: () => true, configurable: true});
        })()"""
    )
    (client,) = view._server.studio.hub.clients
    while len(client.unacknowledged) < 2:
        tab.page.wait_for_timeout(20)
    # One answer later, whatever the server had begun when the second picture went out is done.
    tab.send(type="select", joint=3)
    tab.until("s.state.selected === a", 3)
    frame = view._server.studio.session.frame
    for joint in range(4):
        tab.send(type="select", joint=joint)
        tab.until("s.state.selected === a", joint)
    assert view._server.studio.session.frame == frame, "time goes on, but nobody asks for a picture"
    tab.js("(delete document.hidden, s.viewport.beforeDraw = window.drawing, s.viewport.invalidate())")
    tab.until("s.shownFrame(0) > a", frame)
