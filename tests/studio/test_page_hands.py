"""How the page feels: keys after clicks, narrow windows, drops in a row, links, clip tools, videos, accessibility."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Tab
from PIL import Image
from studio_world import small_character

import marrow as mw
from surroundings import missing

AXE = Path(__file__).resolve().parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Tab]:
    with mw.view(small_character(), browser=False, port=0) as view:
        tab = Tab(browser, view.url, width=1120, height=640).loaded()
        yield tab
        assert tab.errors == []
        tab.close()


# -- keys -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("clicked", ["button:Loop (L)", "switch:Skeleton", "tab:Crowd", "tab:View"])
def test_space_plays_after_a_click_and_does_not_repeat_it(page: Tab, clicked: str) -> None:
    role, name = clicked.split(":")
    control = page.page.get_by_role(role, name=name, exact=role != "switch").first  # type: ignore[arg-type]
    loop = page.js("s.state.loop")
    control.click()
    page.until("s.state.loop !== a[0] || !a[1]", [loop, name.startswith("Loop")])
    before = page.js("[s.state.playing, s.state.loop, s.options.skeleton]")
    page.page.keyboard.press("Space")
    page.until("s.state.playing !== a", before[0])
    assert page.js("[s.state.loop, s.options.skeleton]") == before[1:]
    page.page.keyboard.press("ArrowRight")
    page.until("s.state.playing === false")
    if role != "tab":
        control.click()


# -- files ------------------------------------------------------------------------------------------------------


def test_drops_wait_for_one_another(page: Tab, tmp_path: Path) -> None:
    for name in ("one", "two"):
        mw.save(small_character(name=name), tmp_path / f"{name}.glb")
    chooser = page.page.get_by_label("Choose a file")
    chooser.set_input_files(str(tmp_path / "one.glb"))
    chooser.set_input_files(str(tmp_path / "two.glb"))
    page.until("s.characters[0]?.name === 'two'")
    assert page.page.locator(".problem").count() == 0


def test_what_went_wrong_is_no_longer_said_when_things_are_well(page: Tab, tmp_path: Path) -> None:
    (tmp_path / "broken.glb").write_bytes(b"glTF nonsense")
    mw.save(small_character(name="sound"), tmp_path / "sound.glb")
    chooser = page.page.get_by_label("Choose a file")
    chooser.set_input_files(str(tmp_path / "broken.glb"))
    page.page.locator(".problem").wait_for()
    chooser.set_input_files(str(tmp_path / "sound.glb"))
    page.page.locator(".problem").wait_for(state="detached")


def test_a_graph_is_offered_to_any_character(page: Tab) -> None:
    page.page.get_by_role("radio", name="Graph", exact=True).click()
    page.page.locator(".graph-offer", has_text="has no graph").wait_for()
    assert page.page.get_by_role("button", name="Open a graph file").is_visible()
    page.page.get_by_role("tab", name="Timeline").click()


# -- the clip ---------------------------------------------------------------------------------------------------


def test_a_part_is_looped_a_clip_is_edited_and_the_edit_undone(page: Tab) -> None:
    page.send(type="clip", name="wave")
    page.until("s.state.clip === 'wave'")
    page.send(type="range", start=0.25, end=0.75)
    page.until("s.state.range?.[0] === 0.25")
    page.page.get_by_role("button", name="Clip tools").click()
    page.page.get_by_role("menuitem", name="Trim to the looped part").click()
    page.until("s.characters[0].clips.find((c) => c.name === 'wave').duration < 0.51")
    page.page.keyboard.press("Control+z")
    page.until("s.characters[0].clips.find((c) => c.name === 'wave').duration > 0.9")
    page.send(type="range", start=None, end=None)


def test_keys_of_joints_are_shown_where_the_clip_has_them(page: Tab) -> None:
    page.send(type="clip", name="wave")
    page.js("s.select(1)")
    page.page.get_by_role("radio", name="Keys", exact=True).click()
    page.page.locator(".dope-name", has_text="upper").wait_for()
    keys = page.js("s.source.json('api/keys', {slot: 0, clip: 'wave', joints: '1'})")
    assert keys["joints"][0]["rotation"] == pytest.approx([k / 10 for k in range(11)])
    page.page.get_by_role("radio", name="Curves", exact=True).click()


@pytest.mark.parametrize("kind", ["WebM", "GIF"])
def test_a_video_has_the_pictures_size_rate_and_duration_that_were_asked_for(page: Tab, kind: str) -> None:
    page.send(type="clip", name="wave")
    page.until("s.state.clip === 'wave'")
    page.page.get_by_role("button", name="Save and export").click()
    page.page.get_by_role("menuitem", name="Make a video").click()
    page.page.get_by_role("radio", name=kind).click()
    for field, value in (("Width", "96"), ("Height", "64"), ("Duration", "0.5")):
        page.page.get_by_role("spinbutton", name=field).fill(value)
    page.page.get_by_role("combobox", name="Pictures a second").select_option("20")
    with page.page.expect_download() as download:
        page.page.get_by_role("button", name="Make the video").click()
    data = Path(download.value.path()).read_bytes()
    if kind == "GIF":
        film = Image.open(io.BytesIO(data))
        assert (film.size, film.n_frames) == ((96, 64), 10)
        pictures, length = set(), 0
        for k in range(film.n_frames):
            film.seek(k)
            length += film.info["duration"]
            pictures.add(film.convert("RGB").tobytes())
        assert length == 500 and len(pictures) == 10, "each picture is another moment"
    else:
        av = pytest.importorskip("av")
        with av.open(io.BytesIO(data)) as film:
            frames = list(film.decode(video=0))
        assert len(frames) == 10 and (frames[0].width, frames[0].height) == (96, 64)
        assert [f.time for f in frames] == pytest.approx([k / 20 for k in range(10)], abs=2e-3)


# -- looks ------------------------------------------------------------------------------------------------------


def test_nothing_vanishes_in_a_narrow_window(page: Tab) -> None:
    page.page.set_viewport_size({"width": 700, "height": 900})
    for selector in (".title", ".clip-name", ".clock", ".clip-tools", ".transport", ".top .segments"):
        box = page.page.locator(selector).first.bounding_box()
        assert box and box["width"] > 10 and box["x"] >= 0 and box["x"] + box["width"] <= 700.5, selector
    assert page.js("document.documentElement.scrollWidth") <= 700
    page.page.set_viewport_size({"width": 1120, "height": 640})


def test_panels_are_resized_and_the_graph_fills_the_window(page: Tab) -> None:
    edge = page.page.get_by_role("separator", name="Width of the settings")
    before = page.page.locator(".side.right").bounding_box()["width"]
    edge.focus()
    page.page.keyboard.press("ArrowLeft")
    page.page.keyboard.press("ArrowLeft")
    assert page.page.locator(".side.right").bounding_box()["width"] == pytest.approx(before + 32, abs=1)
    fill = page.page.get_by_role("button", name="Give the timeline and the graph the whole window")
    fill.click()
    assert page.page.locator(".dock").bounding_box()["height"] > 560
    fill.click()
    assert page.page.locator(".viewport").is_visible()


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_axe_finds_nothing_serious(page: Tab, theme: str) -> None:
    if not AXE.is_file():
        missing("axe-core is not installed: run `npm ci` in web/")
    page.send(type="play", playing=False)
    page.js("s.set('theme', a)", theme)
    page.js("s.select(1)")
    page.page.evaluate(AXE.read_text())
    for panel in ("Rig", "Crowd", "Check", "Info", "View"):
        page.page.get_by_role("tab", name=panel, exact=True).click()
        found = page.page.evaluate(
            """axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations
              .filter((v) => ['serious', 'critical'].includes(v.impact))
              .map((v) => [v.id, v.nodes.map((n) => n.html.slice(0, 120))]))"""
        )
        assert found == [], panel
