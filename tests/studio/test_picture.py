"""The picture in a real browser: light, wireframe, normals, crowds and figures, picking in a crowd, resolution."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import NARROW, Tab
from numpy.typing import NDArray
from PIL import Image
from studio_world import VERTICES, small_character

import marrow as mw
from marrow.scene.colors import LEFT, RIGHT
from marrow.scene.views.bounds import EXACT, LOOSE
from marrow.studio.assets import describe

Pixels = NDArray[np.float64]


def pixels(tab: Tab) -> Pixels:
    """The viewport as it stands, `(H, W, 3)` from 0 to 255."""
    tab.rest()
    shot = Image.open(io.BytesIO(tab.page.locator(".viewport").screenshot())).convert("RGB")
    return np.asarray(shot, np.float64)


def around(tab: Tab, picture: Pixels, joint: int, reach: int = 12) -> Pixels:
    """The pixels near a joint, `(P, 3)`."""
    at = tab.js("s.viewport.screenPosition(a)", joint)
    x, y = int(at["x"]), int(at["y"])
    return picture[max(0, y - reach) : y + reach, max(0, x - reach) : x + reach].reshape(-1, 3)


def ball(material: mw.Material) -> mw.Character:
    """A sphere on one joint."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 33), np.linspace(0, np.pi, 17), indexing="ij")
    points = np.stack([np.sin(v) * np.sin(u), np.cos(v), np.sin(v) * np.cos(u)], -1).reshape(-1, 3)
    corner = (np.arange(32)[:, None] * 17 + np.arange(16)).reshape(-1)
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + 17], 1), np.stack([corner + 1, corner + 18, corner + 17], 1)]
    )
    mesh = mw.Mesh.rigid("ball", points, faces, 0).replace(
        normals=points.astype(np.float32), sections=(mw.Section(0, len(faces), 0),)
    )
    bones = mw.Skeleton(
        ("root",), [-1], mw.Pose(np.zeros((1, 3)), np.array([[0.0, 0, 0, 1]]), np.ones((1, 3)))
    )
    return mw.Character(bones, (mesh,), [], (material,), name="ball")


@pytest.fixture(scope="module")
def still(browser: Any) -> Iterator[Tab]:
    """The mannequin in mid-step, standing still."""
    with mw.view("mannequin", browser=False) as view:
        tab = Tab(browser, view.url, width=900, height=560).loaded()
        tab.send(type="mode", value="clip")
        tab.send(type="clip", name="walk")
        tab.send(type="play", playing=False)
        tab.send(type="seek", time=0.3)
        tab.until("s.state.clip === 'walk' && !s.state.playing")
        yield tab
        assert tab.errors == []
        tab.close()


# -- light ------------------------------------------------------------------------------------------------------


def test_metal_mirrors_the_studio_and_is_not_black(small: Any) -> None:
    view, tab = small(None)
    for roughness in (0.1, 0.5):
        name = f"ball {roughness}"
        view.show(ball(mw.Material("metal", metallic=1.0, roughness=roughness)).replace(name=name))
        tab.until("s?.characters[0]?.name === a && s.viewport.character()?.count > 0", name)
        near = around(tab, pixels(tab), 0, 60).mean(1)
        assert near.mean() > 60 and near.min() > 15
        assert near.max() - near.min() > 30, "it mirrors something"


def test_light_falls_from_above_and_its_shadow_on_the_floor(still: Tab) -> None:
    lit = pixels(still)
    still.js("s.set('shadows', false)")
    plain = pixels(still)
    still.js("s.set('shadows', true)")
    darker = (plain.mean(2) - lit.mean(2)) > 4
    assert darker.sum() > 500
    assert np.nonzero(darker.any(1))[0].max() > 0.6 * len(lit), "some of it lies on the floor"
    assert (lit.mean(2) - plain.mean(2)).max() < 60, "nothing is brighter for a shadow"


def test_the_theme_changes_the_background_of_the_picture(still: Tab) -> None:
    dark = pixels(still)[4, 4]
    still.js("s.set('theme', 'light')")
    light = pixels(still)[4, 4]
    still.js("s.set('theme', 'dark')")
    assert dark.mean() < 60 < 200 < light.mean()


# -- ways to show it --------------------------------------------------------------------------------------------


def test_wireframe_draws_edges_on_the_character_and_nowhere_else(still: Tab) -> None:
    before = pixels(still)
    still.draw("wireframe")
    wired = pixels(still)
    still.draw("")
    changed = np.abs(wired - before).max(2) > 6
    assert changed.sum() > 800
    changed[: changed.shape[0] // 4] = False  # there it says how many triangles there are
    assert changed[:, : changed.shape[1] // 8].sum() == 0
    assert np.abs(pixels(still) - before).max() < 3, "and it goes away again"


def test_the_pixels_have_the_colours_that_the_engine_drew(still: Tab) -> None:
    def has(picture: Pixels, color: Any, off: int = 3) -> int:
        return int((np.abs(picture.astype(int) - np.round(255 * np.asarray(color))).max(2) <= off).sum())

    before = pixels(still)
    still.draw("bounds")
    picture = pixels(still)
    for color in (EXACT, LOOSE):
        assert has(picture, color) > has(before, color) + 100
    still.draw("skeleton:plain")
    picture = pixels(still)
    for color in (LEFT, RIGHT):
        assert has(picture, color, 45) > has(before, color, 45) + 5
    # Not lit: what faces the camera has the very colour of its normal.
    still.draw("normals")
    normals = pixels(still)
    still.draw("")
    changed = np.abs(normals.astype(int) - before).max(2) > 20
    facing = normals[changed].astype(np.float64) / (0.88 * 255) * 2 - 1
    length = np.linalg.norm(facing, axis=1)
    assert changed.sum() > 1000 and np.median(np.abs(length - 1)) < 0.02


def test_a_picture_at_rest_has_all_the_pixels_there_are(still: Tab) -> None:
    still.send(type="play", playing=True)
    drawn = still.js("s.viewport.drawn")
    still.until("s.viewport.drawn > a + 2", drawn)
    still.settle()
    still.rest()
    ratio = still.js("s.viewport.renderer.domElement.width / s.viewport.element.clientWidth")
    assert ratio >= still.js("Math.min(window.devicePixelRatio, 2)")


def test_programs_are_compiled_before_the_character_comes(still: Tab) -> None:
    kinds = still.js(
        "s.viewport.renderer.info.programs.filter((p) => /marrow (surface|shape)/.test(p.cacheKey)).map((p) => p.type)"
    )
    still.rest()
    assert kinds.count("MeshStandardMaterial") == 1, (
        "all of the mannequin's materials share the stand-in's program"
    )
    marks = still.js("performance.getEntriesByType('mark').map((m) => m.name)")
    assert {"marrow: page built", "marrow: character", "marrow: first picture"} <= set(marks)


# -- the camera -------------------------------------------------------------------------------------------------


def walker() -> mw.Character:
    """Goes two metres a second along +X."""
    character = small_character()
    rest = character.skeleton.rest.translation[0]
    times = np.linspace(0, 10, 11)
    path = rest + np.stack([2 * times, 0 * times, 0 * times], 1)
    clip = mw.Clip("go", character.skeleton, [mw.Track(0, "translation", times, path)], rate=20.0)
    return character.replace(clips=[clip])


def test_the_camera_follows_a_character_that_walks_away_unless_told_not_to(small: Any) -> None:
    _, tab = small(walker(), width=NARROW)
    tab.loaded()
    tab.js("s.set('follow', true)")
    tab.until("s.viewport.controls.target.x > 5")
    tab.js("s.set('follow', false)")
    start, time = tab.js("[s.viewport.controls.target.x, s.viewport.character().time]")
    tab.send(type="seek", time=(time + 5) % 10)
    tab.until("Math.abs(s.viewport.character().time - a) > 3", time)
    assert abs(tab.js("s.viewport.controls.target.x") - start) < 1e-6


# -- crowds -----------------------------------------------------------------------------------------------------


def crowded(tab: Tab, count: int) -> None:
    tab.send(type="spread", on=True)
    tab.send(type="count", value=count)
    tab.until("s.viewport.character().count === a", count)


def test_a_crowd_of_300_moves_and_says_what_is_drawn_as_figures(small: Any) -> None:
    _, tab = small(mw.samples.mannequin().replace(reduced=(), lod=None), width=NARROW)
    tab.loaded()
    tab.js("s.set('shadows', false)")
    tab.send(type="mode", value="clip")
    crowded(tab, 300)
    drawn, frame = tab.js("[s.viewport.drawn, s.shownFrame(0)]")
    tab.until("s.viewport.drawn > a[0] + 3 && s.shownFrame(0) > a[1]", [drawn, frame])
    note = tab.page.locator(".viewport-note")
    assert "of 300 drawn in full, the rest as figures" in note.inner_text()
    tab.settle()
    full = tab.js("s.viewport.character().chosen.length")
    assert 1 <= full < 300
    # Figures stand where the characters do: most of them are seen against the floor.
    picture = pixels(tab)
    places = tab.js("Array.from({length: 300}, (_, i) => s.viewport.screenPosition(5, i))")
    bright = [
        picture[int(at["y"]) - 2 : int(at["y"]) + 3, int(at["x"]) - 2 : int(at["x"]) + 3].max()
        for at in places
    ]
    assert np.median(bright) > 100
    crowded(tab, 1)
    tab.until("document.querySelector('.viewport-note').textContent === ''")
    assert tab.errors == []


def test_a_crowd_is_drawn_at_levels_of_detail_and_two_thousand_are_too(small: Any) -> None:
    _, tab = small("mannequin", width=NARROW)
    tab.loaded()
    tab.js("s.set('shadows', false)")
    tab.send(type="mode", value="clip")
    crowded(tab, 12)
    total = "s.viewport.drawnLevels.instances.reduce((a, b) => a + b, 0)"
    tab.until(f"s.viewport.character().levels.length === 12 && {total} > 8")
    assert "figures" not in tab.page.locator(".viewport-note").inner_text()
    triangles = {}
    for level in (3, 1):
        tab.send(type="level", value=level)
        tab.until(
            f"s.viewport.drawnLevels.instances[a] > 8 && s.viewport.drawnLevels.instances[a] === {total}",
            level,
        )
        triangles[level] = tab.js(
            "s.viewport.drawnLevels.triangles / s.viewport.drawnLevels.instances[a]", level
        )
        # Joints of a crowd travel with 16 bits a number.
        assert tab.difference_to_engine("linear") < 5e-5
        tab.send(type="play", playing=True)
    info = tab.js("s.characters[0].levels.map((l) => l.triangles)")
    assert triangles == {3: info[2], 1: info[0]}
    tab.settle()
    plain = pixels(tab)
    tab.draw("levels")
    tab.settle()
    assert np.abs(pixels(tab).astype(int) - plain).max() > 40
    tab.until("document.querySelector('.levels-table tbody').textContent.includes('mm')")
    # 2000 of them, each at the level that fits, neither hang the page nor lose its context.
    tab.send(type="level", value=0)
    tab.until("s.state.level === 0")
    crowded(tab, 2000)
    drawn = tab.js("s.viewport.drawn")
    tab.send(type="play", playing=True)
    tab.until("s.viewport.drawn > a + 3", drawn)
    assert tab.js("s.viewport.renderer.getContext().isContextLost()") is False
    assert tab.errors == []


def test_a_crowd_of_bare_skeletons_has_bodies_along_its_bones(small: Any) -> None:
    _, tab = small(small_character().replace(meshes=()))
    tab.loaded()
    crowded(tab, 9)
    tab.settle()
    picture = pixels(tab)
    floor = np.median(picture.reshape(-1, 3), axis=0)
    for instance in range(1, 9):  # the first one is drawn with all its joints, if at all
        ends = [tab.js("s.viewport.screenPosition(a[0], a[1])", [joint, instance]) for joint in (1, 2)]
        x, y = (round((ends[0][c] + ends[1][c]) / 2) for c in "xy")
        bone = picture[y - 3 : y + 4, x - 3 : x + 4].reshape(-1, 3)
        assert np.abs(bone - floor).max() > 20
    assert tab.errors == []


def test_a_click_picks_the_joint_of_the_instance_under_it(small: Any) -> None:
    _, tab = small(small_character())
    tab.loaded()
    crowded(tab, 4)
    tab.settle()
    tab.rest()
    for instance in (3, 0, 2):
        at = tab.js("s.viewport.screenPosition(3, a)", instance)
        tab.page.locator(".viewport canvas").first.click(position=at)
        tab.until("s.selected >= 0 && s.viewport.pickedInstance === a", instance)
        marked = tab.js("s.viewport.overlays().positions[0].toArray()")
        place = tab.js("Array.from(s.viewport.character().placements.slice(12 * a, 12 * a + 12))", instance)
        root = tab.js("Array.from(s.viewport.character().matrices.slice(0, 12))")
        assert np.isfinite(marked).all() and np.isfinite(root).all()
        assert abs(marked[0] - place[3]) < tab.js("s.viewport.character().size"), (
            "overlays go where it stands"
        )


# -- what comes over the wire -----------------------------------------------------------------------------------


def test_morph_targets_bring_their_tangents() -> None:
    character = small_character()
    body = character.meshes[0]
    change = np.random.default_rng(5).normal(size=(VERTICES, 3)).astype(np.float32)
    targets = (
        mw.MorphTarget("smile", 0, body.morph_targets[0].positions, tangents=change),
        body.morph_targets[1],
    )
    tangents = np.tile(np.array([1, 0, 0, 1], np.float32), (VERTICES, 1))
    asset = describe(
        character.replace(
            meshes=(body.replace(tangents=tangents, morph_targets=targets), character.meshes[1])
        ),
        0,
        None,
    )
    info = asset.info.meshes[0].buffers["morph_tangents"]
    assert info.shape == [2, VERTICES, 3]
    values = np.frombuffer(asset.blob, np.float32, 2 * VERTICES * 3, info.offset).reshape(2, VERTICES, 3)
    np.testing.assert_array_equal(values[0], change)
    assert not values[1].any()


def test_every_corpus_character_is_drawn(small: Any, corpus: Path) -> None:
    """Textures, vertex colours, morph targets, many meshes: programs of all kinds compile and show something."""
    _, tab = small(width=NARROW)
    tab.until("s?.hello")
    for name in (
        "CesiumMan.glb",
        "BrainStem.glb",
        "MorphStressTest.glb",
        "Soldier.glb",
        "AnimatedMorphCube.glb",
    ):
        tab.page.get_by_role("button", name="Open a character").click()
        tab.page.get_by_label("Choose a file").set_input_files(corpus / name)
        tab.until(
            "s.characters[0]?.name && s.viewport.character()?.count > 0 && s.characters[0].name !== window.last"
        )
        tab.js("void (window.last = s.characters[0].name)")
        tab.js("s.viewport.character().library.settled()")
        tab.settle()
        picture = pixels(tab)
        middle = picture[60:-120, picture.shape[1] // 3 : -picture.shape[1] // 3]
        assert middle.std() > 8, name
        gl_errors = tab.js("s.viewport.renderer.getContext().getError()")
        assert gl_errors == 0, name
    assert tab.errors == []
