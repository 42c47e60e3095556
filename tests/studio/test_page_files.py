"""Opening files in the page: chosen, dropped, several at once, side by side, motion for who is there; and refusals."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Tab
from studio_world import small_character

import marrow as mw


def drop(tab: Tab, files: list[Path], *, right: bool = False) -> None:
    """Drops files or folders on the viewport as a desktop does."""
    box = tab.page.locator(".viewport").bounding_box()
    at = {"x": box["x"] + box["width"] * (0.8 if right else 0.2), "y": box["y"] + box["height"] / 2}
    data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
    wire = tab.context.new_cdp_session(tab.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        wire.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
    wire.detach()


def choose(tab: Tab, *files: Path) -> None:
    """Opens files through the dialog."""
    tab.page.get_by_role("button", name="Open a character").click()
    tab.page.get_by_label("Choose a file").set_input_files([str(file) for file in files])


def until_named(tab: Tab, name: str, slot: int = 0) -> None:
    tab.until("s.characters[a[1]]?.name === a[0]", [name, slot])


def problem(tab: Tab) -> str:
    shown = tab.page.locator(".problem").last
    shown.wait_for()
    return shown.inner_text()


@pytest.fixture
def hero(tmp_path: Path) -> Path:
    file = tmp_path / "hero.glb"
    mw.save(small_character(), file)
    return file


def test_a_file_is_opened_and_a_broken_one_is_refused_in_words(
    small: Any, corpus: Path, tmp_path: Path
) -> None:
    _, tab = small()
    tab.page.get_by_text("Nothing is open", exact=True).wait_for()
    choose(tab, corpus / "Fox.glb")
    tab.loaded()
    assert tab.js("s.characters[0].clips.map((c) => c.name)") == ["Survey", "Walk", "Run"]
    broken = tmp_path / "broken.glb"
    broken.write_bytes((corpus / "Fox.glb").read_bytes()[:2000])
    choose(tab, broken)
    assert "broken.glb" in problem(tab)
    assert tab.js("s.characters[0].clips.length") == 3, "the fox is still there"
    assert tab.page.locator(".progress").is_hidden()


def gltf_folder(folder: Path) -> Path:
    """A glTF whose buffer lies in a folder below it."""
    import json

    folder.mkdir()
    mw.save(small_character(seed=4), folder / "figure.gltf")
    document = json.loads((folder / "figure.gltf").read_text())
    buffer = document["buffers"][0]["uri"]
    (folder / "data").mkdir()
    (folder / buffer).rename(folder / "data" / buffer)
    document["buffers"][0]["uri"] = f"data/{buffer}"
    (folder / "figure.gltf").write_text(json.dumps(document))
    return folder


def test_files_and_folders_are_dropped_and_chosen_together_with_what_they_need(
    small: Any, hero: Path, tmp_path: Path
) -> None:
    folder = gltf_folder(tmp_path / "assets")
    _, tab = small()
    tab.until("s?.hello")
    drop(tab, [hero])
    tab.loaded()
    assert tab.js("s.characters[0].joints.length") == 5
    assert tab.page.locator(".veil").is_hidden()
    drop(tab, [folder])
    until_named(tab, "figure")
    drop(tab, [hero])
    until_named(tab, "hero")
    choose(tab, folder / "figure.gltf")
    assert "no such file" in problem(tab)
    choose(tab, folder / "figure.gltf", *(folder / "data").iterdir())
    until_named(tab, "figure")


def test_motion_for_the_open_character_is_offered(small: Any, tmp_path: Path) -> None:
    bare = small_character(name="stroll").replace(meshes=())
    file = tmp_path / "stroll.marrow"
    mw.save(bare.replace(clips=[bare.clips["bend"]]), file)
    _, tab = small(small_character())
    tab.loaded()
    drop(tab, [file])
    dialog = tab.page.get_by_role("dialog", name="Add motion")
    dialog.wait_for()
    assert "its joints are those of arm" in dialog.inner_text()
    dialog.get_by_role("button", name="Add its clip").click()
    tab.until("s.characters[0].clips.length === 3 && s.state.clip === s.characters[0].clips[2].name")
    assert tab.js("s.characters[0].meshes.length") == 2
    drop(tab, [file])
    dialog.wait_for()
    tab.page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    drop(tab, [file])
    dialog.get_by_role("button", name="Open it by itself").click()
    until_named(tab, "stroll")
    tab.until("s.characters[0].meshes[0].name === 'stand-in'")  # Bones alone have a body to look at.


def test_motion_of_another_skeleton_shows_its_bone_map(small: Any, tmp_path: Path) -> None:
    mw.save(small_character(seed=8), tmp_path / "stroll.bvh", clip="bend")
    _, tab = small(small_character(), width=1120)
    tab.loaded()
    drop(tab, [tmp_path / "stroll.bvh"])
    tab.page.get_by_role("tab", name="Bone map").wait_for()
    field = tab.page.get_by_label("Joints of the character for head")
    assert field.input_value() == "head"
    field.fill("nobody")
    field.press("Tab")
    tab.page.get_by_text("there is no joint nobody").wait_for()
    field.fill("head")
    field.press("Tab")
    tab.page.get_by_role("button", name="Put the motion on the character").click()
    tab.until("s.characters[0].clips.length === 3")
    assert tab.js("s.characters[0].meshes.length") == 2
    # What the profile says of a chain counts at once.
    turning = tab.page.get_by_label("How much of the motion's turning it takes: head")
    turning.fill("2")
    turning.press("Tab")
    assert turning.get_attribute("aria-invalid") == "true"
    with tab.page.expect_response(lambda answer: "api/profile" in answer.url and answer.ok) as answered:
        turning.fill("0")
        turning.press("Tab")
    said = json.loads(answered.value.json()["map"]["profile"])
    assert said["chains"]["head"]["fk"] == 0 and turning.input_value() == "0"
    tab.page.get_by_role("button", name="Close the bone map").click()
    assert tab.page.get_by_role("tab", name="Bone map").is_hidden()


# -- exported again ---------------------------------------------------------------------------------------------


def test_a_file_that_is_exported_again_is_shown_where_one_was_looking(small: Any, tmp_path: Path) -> None:
    file = tmp_path / "arm.marrow"
    before = small_character()
    mw.save(before, file)
    _, tab = small(file)
    tab.loaded()
    tab.send(type="clip", name="bend")
    tab.send(type="play", playing=False)
    tab.send(type="seek", time=0.25)
    tab.js("s.select(2)")
    tab.until(
        "s.state.clip === 'bend' && Math.abs(s.viewport.character().time - 0.25) < 1e-3 && s.state.selected === 2"
    )
    tab.rest()  # Until then the camera goes along with the character.
    tab.js(
        "(s.viewport.camera.position.set(4, 5, 6), s.viewport.framing.taken = true, s.showMesh(0, 1, false))"
    )
    body = before.meshes[0]
    moved = body.positions.copy()
    moved[3] += np.float32([5, 0, 0])  # so far that the middle of all is elsewhere
    mw.save(before.replace(meshes=(body.replace(positions=moved), before.meshes[1])), file)
    tab.page.get_by_text("1 vertex moved by up to 5").wait_for()
    tab.rest()
    assert tab.js("[s.state.clip, s.selected, s.viewport.character().shows(1)]") == ["bend", 2, False]
    assert tab.js("s.viewport.camera.position.distanceTo({x: 4, y: 5, z: 6})") < 1e-3
    assert tab.js("s.viewport.character().time") == pytest.approx(0.25, abs=1e-3)
    tab.page.get_by_role("button", name="Colour the surface by the way").click()
    tab.until("s.viewport.character().parts[0].paint.on")
    colors = np.array(tab.js("Array.from(s.viewport.received.get(0).bytes('paint0'))")).reshape(-1, 3)
    assert np.flatnonzero(np.abs(colors - colors[0]).max(axis=1) > 3).tolist() == [3]


# -- side by side -----------------------------------------------------------------------------------------------


def test_two_files_stand_side_by_side(small: Any) -> None:
    _, tab = small(small_character(name="first"), compare=small_character(seed=5, name="second"), width=1120)
    tab.until("s?.viewport.character(0)?.count > 0 && s.viewport.character(1)?.count > 0")
    assert tab.js("s.options.compare") == "files"
    assert tab.page.locator(".panes span").all_inner_texts() == ["first", "second"]
    tab.settle()
    tab.rest()
    both = tab.page.locator(".viewport").screenshot()
    tab.page.get_by_role("radio", name="Off", exact=True).click()
    tab.rest()
    assert tab.page.locator(".viewport").screenshot() != both
    assert tab.page.locator(".panes").is_hidden()

    # Both play the same clip at the same time.
    tab.page.locator("[data-clip='bend']").click()
    tab.until("s.state.clip === 'bend'")
    tab.send(type="play", playing=False)
    tab.send(type="seek", time=0.25)
    tab.until("[0, 1].every((k) => Math.abs(s.viewport.character(k).time - 0.25) < 1e-3)")


def test_a_file_dropped_on_the_right_half_takes_the_second_place(small: Any, hero: Path) -> None:
    _, tab = small(small_character(name="first"), compare=small_character(seed=5, name="second"), width=1120)
    tab.until("s?.viewport.character(1)?.count > 0")
    drop(tab, [hero], right=True)
    until_named(tab, "hero", 1)
    assert tab.js("s.characters[0].name") == "first"
    drop(tab, [hero])
    until_named(tab, "hero", 0)
    tab.page.get_by_role("button", name="Close the second character").click()
    tab.until("s.characters[1] === null")
    tab.page.get_by_text("No second character yet").wait_for()


# -- refusals ---------------------------------------------------------------------------------------------------


def dismiss(tab: Tab) -> None:
    tab.page.get_by_role("button", name="Dismiss").last.click()
    tab.page.locator(".problem").wait_for(state="detached")


def test_files_that_are_too_large_or_too_many_or_do_not_arrive_are_refused_in_words(
    small: Any, hero: Path
) -> None:
    view, tab = small(small_character(name="first"))
    tab.loaded()
    data = base64.b64encode(hero.read_bytes()).decode()
    tab.js(
        "s.upload(Array.from({length: 300}, (_, k) => ({name: `${k}.glb`, file: new File([a], `${k}.glb`)})))",
        data,
    )
    assert "up to 256 at once" in problem(tab)
    dismiss(tab)
    view._server.studio.uploads.limit = 1000  # the page does not know
    choose(tab, hero)
    assert "hero.glb" in problem(tab) and tab.js("s.characters[0].name") == "first"
    dismiss(tab)
    tab.js("s.hello.max_upload_bytes = 1000")  # now it is not even sent
    choose(tab, hero)
    words = problem(tab)
    assert words.startswith("hero.glb has") and "more than" in words
    assert tab.js("s.characters[0].name") == "first"
    dismiss(tab)
    tab.js("s.hello.max_upload_bytes = 1e9")
    view.close()
    tab.page.get_by_text("The server is gone").wait_for()
    choose(tab, hero)
    assert "did not reach the server" in problem(tab)
