"""What can be taken away from the page: a picture, a video, a character, the code."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Tab
from studio_world import small_character, small_graph

import marrow as mw
from marrow.graph import save_graph


def save(tab: Tab, item: str) -> None:
    tab.page.get_by_role("button", name="Save and export").click()
    tab.page.get_by_role("menuitem", name=item).click()


def saved(tab: Tab, item: str) -> tuple[str, bytes]:
    """The name and content of the file that an item of the menu downloads."""
    with tab.page.expect_download() as download:
        save(tab, item)
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def copied_code(tab: Tab) -> str:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    save(tab, "Copy Python code")
    tab.page.get_by_text("Python code copied").last.wait_for()
    return tab.js("navigator.clipboard.readText()")


def run(code: str) -> Any:
    """The animator that the code makes; it would open a studio of its own at the end."""
    names: dict[str, Any] = {}
    exec(code.replace("mw.view(animator)", ""), names)
    return names["animator"]


def seen(tab: Tab) -> np.ndarray:
    """The skinning matrices on the screen, of the first instance."""
    palette = tab.js("s.characters[0].palette")
    values = tab.js("Array.from(s.viewport.character().matrices.slice(0, 12 * a))", palette)
    return np.array(values).reshape(-1, 3, 4)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A character that glTF can hold to the last bit of its clips."""
    file = tmp_path_factory.mktemp("save") / "arm.glb"
    mw.save(small_character(), file)
    return file


@pytest.fixture(scope="module")
def opened(browser: Any, arm: Path) -> Iterator[Tab]:
    """A page with that character."""
    with mw.view(str(arm), browser=False, port=0) as view:
        tab = Tab(browser, view.url, width=900, height=560).loaded()
        yield tab
        assert tab.errors == []
        tab.close()


@pytest.fixture
def tab(opened: Tab) -> Tab:
    """It stands still in its first clip."""
    opened.send(type="clip", name="wave")
    opened.until("s.state.clip === 'wave'")
    opened.settle()
    return opened


def test_a_picture_is_as_large_as_the_viewport(tab: Tab) -> None:
    tab.rest()
    name, data = saved(tab, "Picture")
    assert name == "arm-wave.png" and data[:8] == b"\x89PNG\r\n\x1a\n"
    size = struct.unpack(">II", data[16:24])
    assert list(size) == tab.js(
        "[s.viewport.renderer.domElement.width, s.viewport.renderer.domElement.height]"
    )
    assert size[0] / size[1] == pytest.approx(
        tab.js("s.viewport.element.clientWidth / s.viewport.element.clientHeight"), rel=0.01
    )


def test_the_exported_character_is_the_one_that_is_open(tab: Tab, arm: Path, tmp_path: Path) -> None:
    name, data = saved(tab, "Export character")
    assert name == "arm.glb"
    (tmp_path / "again.glb").write_bytes(data)
    before, after = mw.load(arm, cache=False), mw.load(tmp_path / "again.glb", cache=False)
    assert list(after.clips) == list(before.clips) and after.skeleton.names == before.skeleton.names
    for clip in before.clips.values():
        times = np.linspace(0, clip.duration, 23)
        for channel in ("translation", "rotation", "scale", "morphs"):
            expected, found = (getattr(c.sample(times), channel) for c in (clip, after.clips[clip.name]))
            np.testing.assert_allclose(found, expected, atol=1e-6)
    for a, b in zip(before.meshes, after.meshes):
        np.testing.assert_array_equal(a.positions, b.positions)
        np.testing.assert_array_equal(a.triangles, b.triangles)


def test_the_copied_code_reproduces_the_pose_of_a_clip(tab: Tab) -> None:
    tab.send(type="clip", name="bend")
    tab.send(type="seek", time=0.31)
    tab.until("s.state.clip === 'bend'")
    tab.settle()
    animator = run(copied_code(tab))
    np.testing.assert_allclose(animator.matrices, seen(tab), atol=1e-4)


def test_the_copied_code_reproduces_the_pose_of_a_graph(small: Any, arm: Path, tmp_path: Path) -> None:
    save_graph(small_graph(), tmp_path / "arm.json")
    _, tab = small(str(arm), graph=tmp_path / "arm.json")
    tab.loaded()
    tab.send(type="parameter", name="x", value=0.3)
    tab.send(type="parameter", name="nod", value=0.6)
    tab.send(type="mode", value="clip")
    tab.send(type="mode", value="graph")  # begins anew, with these parameters
    tab.send(type="play", playing=False)
    tab.until("s.state.mode === 'graph' && !s.state.playing && s.state.parameters.nod === 0.6")
    tab.send(type="step", frames=30)
    tab.send(type="trigger", name="hello")
    for _ in range(6):
        tab.send(type="step", frames=1)
    tab.until("s.live?.machines[0]?.state === 'greet'")
    tab.settle()
    code = copied_code(tab)
    assert f"mw.load_graph({str(tmp_path / 'arm.json')!r})" in code and "animator.trigger('hello')" in code
    np.testing.assert_allclose(run(code).matrices, seen(tab), atol=2e-3)


def test_code_is_shown_where_the_clipboard_is_closed(tab: Tab) -> None:
    tab.js(
        "Object.defineProperty(navigator.clipboard, 'writeText',"
        " {value: () => Promise.reject(new Error('no')), configurable: true})"
    )
    save(tab, "Copy Python code")
    dialog = tab.page.get_by_role("dialog", name="Python code")
    dialog.wait_for()
    assert "import marrow as mw" in dialog.inner_text()
    dialog.get_by_role("button", name="Close").click()
    dialog.wait_for(state="detached")
    tab.js("delete navigator.clipboard.writeText")
