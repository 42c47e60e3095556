"""The page's controls: every key on the help card, themes, drawers, names, and that nothing jumps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from browser import Tab
from studio_world import small_character

import marrow as mw
from marrow.windows.camera_controls import CameraControls
from marrow.windows.inputs import Gamepad, InputState, Mouse, dead_zone

# -- keys -------------------------------------------------------------------------------------------------------


def toggles(option: str) -> Callable[[Tab, str], None]:
    """The key turns an option on and off again."""

    def check(tab: Tab, key: str) -> None:
        before = tab.js(f"s.options.{option}")
        tab.page.keyboard.press(key)
        tab.until(f"s.options.{option} !== a", before)
        tab.page.keyboard.press(key)
        tab.until(f"s.options.{option} === a", before)

    return check


def switches(view: str) -> Callable[[Tab, str], None]:
    """The key draws a view, and no longer."""

    def check(tab: Tab, key: str) -> None:
        tab.page.keyboard.press(key)
        tab.until("s.options.views === a", view)
        tab.page.keyboard.press(key)
        tab.until("s.options.views === ''")

    return check


def leads_to(state: str) -> Callable[[Tab, str], None]:
    """The key makes something come true of the page."""

    def check(tab: Tab, key: str) -> None:
        tab.page.keyboard.press(key)
        tab.until(state)

    return check


def steps(frames: int) -> Callable[[Tab, str], None]:
    """The key goes on by frames of the clip."""

    def check(tab: Tab, key: str) -> None:
        tab.send(type="play", playing=False)
        tab.send(type="seek", time=2.0)
        tab.until("!s.state.playing && Math.abs(s.state.time - 2) < 1e-3")
        rate = tab.js("s.state.rate")
        tab.page.keyboard.press(key)
        tab.until("Math.abs(s.state.time - a) < 1e-3", 2.0 + frames / rate)

    return check


def frames_the_picked_joint(tab: Tab, key: str) -> None:
    tab.js("s.select(s.characters[0].joints.findIndex((j) => j.name === 'hand_l'))")
    away = tab.js("s.viewport.camera.position.distanceTo(s.viewport.controls.target)")
    tab.page.keyboard.press(key)
    tab.until("s.viewport.camera.position.distanceTo(s.viewport.controls.target) < 0.6 * a", away)


def resets_the_camera(tab: Tab, key: str) -> None:
    tab.js("s.viewport.camera.position.set(9, 9, 9)")
    tab.page.keyboard.press(key)
    tab.until("s.viewport.camera.position.length() < 9")


def lets_go(tab: Tab, key: str) -> None:
    tab.js("s.select(3)")
    tab.until("s.state.selected === 3")
    tab.page.keyboard.press(key)
    tab.until("s.state.selected === -1")


def changes_mode(tab: Tab, key: str) -> None:
    for mode in ("graph", "clip"):
        tab.page.keyboard.press(key)
        tab.until("s.state.mode === a", mode)


def flies(across: int, up: int, ahead: int) -> Callable[[Tab, str], None]:
    """The key, held, moves the camera and what it looks at that way, until it is let go."""
    axes = """(() => {
      const { camera, controls } = s.viewport;
      const ahead = controls.target.clone().sub(camera.position).normalize();
      const across = ahead.clone().cross(camera.up).normalize();
      return [across.toArray(), [0, 1, 0], ahead.toArray()];
    })()"""

    def check(tab: Tab, key: str) -> None:
        tab.page.keyboard.press("c")  # a camera that follows would move too
        before, way = tab.js("s.viewport.camera.position.toArray()"), (across, up, ahead)
        wanted = np.array(way) @ np.array(tab.js(axes))
        tab.page.keyboard.down(key)
        tab.until("s.viewport.camera.position.distanceTo({x: a[0], y: a[1], z: a[2]}) > 0.02", before)
        tab.page.keyboard.up(key)
        after, drawn = tab.js("[s.viewport.camera.position.toArray(), s.viewport.drawn]")
        moved = np.subtract(after, before)
        np.testing.assert_allclose(moved / np.linalg.norm(moved), wanted, atol=1e-4)
        tab.until("s.viewport.drawn > a + 3", drawn)
        assert tab.js("s.viewport.camera.position.toArray()") == pytest.approx(after), "it stays there"
        tab.page.keyboard.press("Home")

    return check


def opens_and_closes(name: str) -> Callable[[Tab, str], None]:
    def check(tab: Tab, key: str) -> None:
        tab.page.keyboard.press(key)
        dialog = tab.page.get_by_role("dialog", name=name)
        dialog.wait_for()
        tab.page.keyboard.press("Escape")
        dialog.wait_for(state="hidden")

    return check


def loops_a_part(end: int) -> Callable[[Tab, str], None]:
    """The part that is looped begins, or ends, where time is."""

    def check(tab: Tab, key: str) -> None:
        tab.send(type="play", playing=False)
        tab.send(type="seek", time=2.0)
        tab.until("Math.abs(s.viewport.character().time - 2) < 1e-3")
        tab.page.keyboard.press(key)
        tab.until("s.state.range && Math.abs(s.state.range[a] - 2) < 1e-3", end)
        tab.send(type="range", start=None, end=None)
        tab.until("s.state.range === null")

    return check


KEYS: dict[str, Callable[[Tab, str], None]] = {
    "Space": leads_to("!s.state.playing"),
    "1": leads_to("s.state.clip === s.characters[0].clips[1].name"),
    "2": leads_to("s.state.clip === s.characters[0].clips.at(-1).name"),
    "←": steps(-1),
    "→": steps(1),
    "Shift ←": steps(-10),
    "Shift →": steps(10),
    "L": leads_to("!s.state.loop"),
    "[": loops_a_part(0),
    "]": loops_a_part(1),
    "F": frames_the_picked_joint,
    "Home": resets_the_camera,
    "C": toggles("follow"),
    "R": leads_to("s.state.travel"),
    "K": leads_to("s.options.method === 'dual_quaternion'"),
    "X": toggles("compare"),
    "T": toggles("theme"),
    "W": flies(0, 0, 1),
    "S": flies(0, 0, -1),
    "A": flies(-1, 0, 0),
    "D": flies(1, 0, 0),
    "Q": flies(0, -1, 0),
    "E": flies(0, 1, 0),
    "3": switches("skeleton"),
    "4": switches("weights"),
    "5": switches("normals"),
    "6": switches("wireframe"),
    "7": switches("bounds"),
    "8": switches("uv"),
    "9": switches("levels"),
    "O": switches("sockets"),
    "P": switches("trails"),
    "J": switches("contacts"),
    "U": toggles("grid"),
    "G": changes_mode,
    "Ctrl O": opens_and_closes("Open a character"),
    "Esc": lets_go,
    "?": opens_and_closes("Keyboard help"),
}
MOUSE = {"Drag", "Right drag", "Middle drag", "Shift drag", "Wheel", "Click", "Ctrl click", "Drop"}
FASTER = "Shift"  # tried against the window's camera
UNDO = "Ctrl Z"  # tried with an edit, in test_page_hands.py
PRESSED = {"←": "ArrowLeft", "→": "ArrowRight", "Esc": "Escape", "Ctrl": "Control", "Space": " "}


def test_the_help_card_has_every_key_there_is(tab: Tab) -> None:
    assert set(tab.js("[...document.querySelectorAll('.help kbd')].map((k) => k.textContent)")) == {
        *KEYS,
        *MOUSE,
        UNDO,
        FASTER,
    }


@pytest.mark.parametrize("key", KEYS, ids=list(KEYS))
def test_keys_do_what_the_help_card_says(tab: Tab, key: str) -> None:
    tab.page.locator(".viewport canvas").first.focus()
    KEYS[key](tab, "+".join(PRESSED.get(part, part) for part in key.split(" ")) if key != "Space" else " ")


EYE = "[...s.viewport.camera.position.toArray(), ...s.viewport.controls.target.toArray(), s.viewport.framing.size]"
PAD = """(() => {
  const buttons = Array.from({ length: 16 }, (_, i) => ({ value: i === 7 ? a.trigger : 0 }));
  navigator.getGamepads = () => [{ connected: true, mapping: "standard", axes: a.axes, buttons }];
  window.dispatchEvent(new Event("gamepadconnected"));
  s.viewport.flight.step(0.25);
  window.dispatchEvent(new Event("gamepaddisconnected"));
})()"""


def window_camera(place: list[float]) -> CameraControls:
    """The window's own camera where the page's is."""
    eye, target = np.array(place[:3]), np.array(place[3:6])
    away = eye - target
    distance = float(np.linalg.norm(away))
    yaw, pitch = math.atan2(away[0], away[2]), math.asin(away[1] / distance)
    return CameraControls(target, distance, yaw=yaw, pitch=pitch, size=place[6])


def test_the_camera_flies_looks_and_turns_as_the_windows_does(tab: Tab) -> None:
    tab.send(type="play", playing=False)
    tab.js("(s.set('follow', false), s.viewport.frame(true))")
    tab.rest()

    def same(inputs: InputState, act: Callable[[], None], seconds: float = 0.25) -> None:
        expected = window_camera(tab.js(EYE))
        expected.step(inputs, seconds, 400.0)
        act()
        place = tab.js(EYE)
        np.testing.assert_allclose(place[:3], expected.eye, atol=1e-5)
        np.testing.assert_allclose(place[3:6], expected.target, atol=1e-5)

    for keys in ({"w"}, {"s", "d", "e"}, {"a", "q", "shift"}):
        held = [sorted(keys - {"shift"}), "shift" in keys]
        same(
            InputState(keys=frozenset(keys)),
            lambda held=held: tab.js(
                """(() => {
                  const { flight } = s.viewport;
                  for (const key of a[0]) flight.press(key, a[1]);
                  flight.step(0.25);
                  for (const key of a[0]) flight.release(key, false);
                })()""",
                held,
            ),
        )
    # The right button looks around: 30 pixels to the right and 20 down.
    box = tab.page.locator(".viewport").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag() -> None:
        tab.page.mouse.move(x, y)
        tab.page.mouse.down(button="right")
        tab.page.mouse.move(x + 30, y + 20)
        tab.page.mouse.up(button="right")

    same(InputState(mouse=Mouse(dx=30, dy=20, buttons=frozenset({"right"}))), drag)
    # A gamepad: browsers count down as positive, and sticks have slack.
    pad = {"axes": [0.6, -0.7, 0.5, -0.4], "trigger": 0.8}
    sticks = Gamepad(0, left=dead_zone(0.6, 0.7), right=dead_zone(0.5, 0.4), right_trigger=0.75 / 0.95)
    same(InputState(gamepads=(sticks,)), lambda: tab.js(PAD, pad))
    tab.page.keyboard.press("Home")


def test_keys_are_letters_where_something_is_typed(tab: Tab) -> None:
    tab.page.get_by_label("Search clips").press("s")
    assert tab.page.get_by_label("Search clips").input_value() == "s"
    assert tab.js("s.options.views") == ""
    tab.page.get_by_label("Search clips").fill("")


def test_arrows_go_through_the_clips_and_enter_plays(tab: Tab) -> None:
    tab.page.get_by_role("option", name="idle 6.00 s").focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    tab.until("s.state.clip === 'walk_fast'")
    assert tab.page.locator("[data-clip][tabindex='0']").count() == 1, "one stop for the tab key"


def test_arrows_choose_among_radio_buttons(tab: Tab) -> None:
    tab.page.get_by_role("tab", name="View").click()
    tab.page.get_by_role("radio", name="As authored").focus()
    tab.page.keyboard.press("ArrowRight")
    tab.until("s.options.method === 'linear'")
    tab.page.keyboard.press("ArrowLeft")
    tab.until("s.options.method === 'file'")
    assert tab.js("document.activeElement.textContent") == "As authored"


# -- looks ------------------------------------------------------------------------------------------------------


def test_the_theme_changes_the_colours_of_the_page(tab: Tab) -> None:
    def brightness(selector: str) -> list[float]:
        colour = "getComputedStyle(document.querySelector(a)).backgroundColor.match(/[\\d.]+/g).slice(0, 3).map(Number)"
        return tab.js(colour, selector)

    dark = [sum(brightness(one)) for one in (".top", ".side.left", ".dock")]
    tab.page.get_by_role("button", name="Dark or light").click()
    tab.until("document.documentElement.dataset.theme === 'light'")
    light = [sum(brightness(one)) for one in (".top", ".side.left", ".dock")]
    assert max(dark) < 300 < 600 < min(light)


def test_the_theme_is_there_again_at_the_next_visit(small: Any) -> None:
    _, tab = small(small_character())
    tab.loaded()
    tab.page.get_by_role("button", name="Dark or light").click()
    tab.page.reload()
    tab.loaded()
    assert tab.js("document.documentElement.dataset.theme") == "light"


PANELS = (".top", ".side.left", ".side.right", ".dock", ".viewport", ".transport", ".dock .tabs", ".segments")


def layout(tab: Tab) -> dict[str, list[float]]:
    return tab.js(
        """Object.fromEntries(a.map((q) => {
          const r = document.querySelector(q).getBoundingClientRect();
          return [q, [r.x, r.y, r.width, r.height]];
        }))""",
        list(PANELS),
    )


def test_nothing_jumps_while_playing_switching_or_loading(tab: Tab) -> None:
    before = layout(tab)
    for clip in ("attack", "walk_back", "idle"):
        tab.send(type="clip", name=clip)
        tab.until("s.state.clip === a && s.viewport.character().time > 0.05", clip)
        assert layout(tab) == before
    tab.js("s.select(5)")
    tab.page.locator(".curve-value").first.wait_for()
    assert layout(tab) == before
    tab.js("s.emit('loading', {text: 'Reading something with a long name', fraction: 0.4})")
    tab.page.locator(".progress").wait_for()
    assert layout(tab) == before
    tab.js("s.emit('loading', null)")
    tab.js("s.emit('problem', 'Something went wrong. '.repeat(12))")
    tab.page.locator(".problem").wait_for()
    assert layout(tab) == before
    tab.page.get_by_role("button", name="Dismiss").click()


def test_nothing_jumps_when_another_character_comes(small: Any) -> None:
    view, tab = small(small_character(), width=1120)
    tab.loaded()
    before = layout(tab)
    view.show(
        small_character(seed=9, name="a name that is so long that it cannot possibly fit into any heading")
    )
    tab.until("s.characters[0].name.startsWith('a name')")
    tab.loaded()
    assert layout(tab) == before


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (820, 1180), (1024, 768)])
def test_the_page_fits_desktops_and_tablets(tab: Tab, width: int, height: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": height})
    tab.until(
        "Math.abs(document.querySelector('.viewport canvas').clientWidth - s.viewport.element.clientWidth) < 2"
    )
    assert tab.js("document.documentElement.scrollWidth") <= width
    canvas = tab.page.locator(".viewport").bounding_box()
    assert canvas["width"] >= 600 and canvas["height"] >= 300


def test_sides_become_drawers_on_a_tablet(tab: Tab) -> None:
    settings, clips = (tab.page.get_by_role("button", name=f"Show {what}") for what in ("settings", "clips"))
    assert settings.is_hidden() and clips.is_hidden(), "there is room for both sides"
    tab.page.set_viewport_size({"width": 1024, "height": 768})
    left, right = tab.page.locator(".side.left"), tab.page.locator(".side.right")
    settings.click()
    tab.page.get_by_role("tab", name="View").wait_for()
    tab.page.get_by_role("tab", name="View").click()
    assert right.is_visible()
    clips.click()
    tab.page.locator("[data-clip='walk']").click()
    tab.until("s.state.clip === 'walk'")
    assert left.is_visible()
    box = tab.page.locator(".viewport").bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 20)
    tab.page.locator("[data-clip='walk']").wait_for(state="hidden")


def nameless(tab: Tab) -> list[str]:
    """Roles of controls that assistive technology is told no name of, from Chromium's own accessibility tree."""
    wire = tab.context.new_cdp_session(tab.page)
    nodes = wire.send("Accessibility.getFullAXTree")["nodes"]
    wire.detach()
    roles = {"button", "checkbox", "switch", "slider", "spinbutton", "searchbox", "textbox", "combobox", "tab",
             "radio", "radiogroup", "tablist", "listbox", "option", "tree", "treeitem", "dialog", "menu", "menuitem",
             "image", "img", "group", "splitter", "separator", "progressbar", "timer"}  # fmt: skip
    found = []
    for node in nodes:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in roles:
            continue
        if not node.get("name", {}).get("value", "").strip():
            found.append(role)
    return found


@pytest.mark.parametrize("panel", ["View", "Steer", "Crowd", "Info", "Joints", "Timeline"])
def test_every_control_has_a_name(tab: Tab, panel: str) -> None:
    if panel == "Steer":
        tab.send(type="mode", value="graph")
        tab.until("s.state.mode === 'graph'")
    tab.page.get_by_role("tab", name=panel, exact=True).click()
    assert nameless(tab) == []


def test_dialogs_and_menus_have_names_too(tab: Tab) -> None:
    tab.page.get_by_role("button", name="Save and export").click()
    tab.page.get_by_role("menu", name="Save").wait_for()
    assert nameless(tab) == []
    tab.page.keyboard.press("Escape")
    tab.page.keyboard.press("Control+o")
    tab.page.get_by_role("dialog", name="Open a character").wait_for()
    assert nameless(tab) == []
    tab.page.keyboard.press("Escape")


# -- what it shows ----------------------------------------------------------------------------------------------


def test_the_trail_of_the_picked_joint_is_drawn_through_the_clip(tab: Tab) -> None:
    tab.send(type="clip", name="walk")
    tab.js("s.select(s.characters[0].joints.findIndex((j) => j.name === 'foot_l'))")
    tab.until("s.state.clip === 'walk'")
    tab.page.keyboard.press("p")
    legend = tab.page.locator(".legend-box", has_text="trails")
    legend.wait_for()
    # The first picture may be of before the pick.
    tab.until("[...document.querySelectorAll('.legend-box li')].map((l) => l.innerText).join() === 'foot_l'")
    # 54 pieces of the way, and the point where the joint is.
    tab.until("s.viewport.received.get(0).floats('line_start').length / 3 === 55")


def test_the_count_slider_goes_to_two_thousand_and_the_figures_follow(small: Any) -> None:
    _, tab = small(small_character(), width=1120)
    tab.loaded()
    tab.page.get_by_role("tab", name="Crowd").click()
    slider = tab.page.get_by_role("slider", name="Number of characters")
    slider.focus()
    slider.press("End")
    tab.until("s.viewport.character().count === 2000")
    assert tab.page.get_by_role("spinbutton", name="Number of characters").input_value() == "2000"
    figures = "[...document.querySelectorAll('.figures dd b')].map((b) => Number(b.textContent))"
    tab.until(f"{figures}[0] > 0 && {figures}[2] > 0")
    shown = tab.js(f"{figures}.join()")
    slider.press("Home")
    tab.until("s.viewport.character().count === 1")
    tab.until(f"{figures}.join() !== a", shown)


def test_the_camera_goes_along_with_a_character_that_travels(small: Any) -> None:
    times = [0.0, 1.0]
    character = small_character()
    ahead = mw.Track(0, "translation", times, [[0, 0, 0], [0, 0, 4.0]])
    walking = character.replace(clips=[mw.Clip("walk", character.skeleton, [ahead], rate=30.0)])
    _, tab = small(walking, width=1120)
    tab.loaded()
    tab.js("s.set('follow', true)")
    tab.page.get_by_role("switch", name="Travel over the floor").click()
    tab.until("s.state.travel && s.viewport.controls.target.z > 6")
    tab.page.keyboard.press("Home")
    tab.until("s.viewport.controls.target.z < 5")
    tab.page.keyboard.press("c")
    tab.until("!s.options.follow")
    at = tab.js("s.viewport.controls.target.z")
    drawn = tab.js("s.viewport.drawn")
    tab.until("s.viewport.drawn > a + 10", drawn)
    assert tab.js("s.viewport.controls.target.z") == pytest.approx(at)


def test_left_is_on_the_left_of_the_pad(tab: Tab) -> None:
    tab.send(type="mode", value="graph")
    tab.until("s.state.mode === 'graph'")
    names = ("strafe_left", "walk", "strafe_right")
    pad = tab.page.get_by_role("slider", name="Blend space of Strafe and Speed")
    places = [pad.locator(".pad-name", has_text=name).first.bounding_box()["x"] for name in names]
    assert places == sorted(places) and places[0] < places[2] - 50
