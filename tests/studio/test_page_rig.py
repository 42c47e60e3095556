"""The rig in the page: textures, hidden meshes, framing, bind pose, hands, morphs, colours, compact joints."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from browser import BONES, NARROW, Tab, coarse_mannequin
from PIL import Image
from studio_world import small_character

import marrow as mw
from marrow.math import affine
from marrow.scene.colors import color_map


@pytest.fixture(scope="module")
def rig(browser: Any) -> Iterator[Tab]:
    """The small character, standing still in its first clip."""
    with mw.view(small_character(), browser=False, port=0) as view:
        tab = Tab(browser, view.url, width=1120, height=640).loaded()
        tab.page.get_by_role("tab", name="Rig").click()
        yield tab
        assert tab.errors == []
        tab.close()


def positions(tab: Tab) -> np.ndarray:
    return np.array(tab.js("Array.from(s.viewport.skinnedPositions(0, 0))")).reshape(-1, 3)


def png(color: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(out, "PNG")
    return out.getvalue()


def test_meshes_that_share_an_image_share_one_texture(small: Any) -> None:
    quad = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], np.float32)
    meshes = tuple(
        mw.Mesh.rigid(f"tile {k}", quad + np.array([1.2 * k, 0, 0]), [[0, 1, 2], [0, 2, 3]], 0).replace(
            normals=np.tile(np.float32([0, 0, 1]), (4, 1)),
            uvs=(quad[:, :2],),
            sections=(mw.Section(0, 2, k % 2),),
        )
        for k in range(6)
    )
    images = tuple(
        mw.Image(n, "image/png", png(c)) for n, c in (("a", (200, 40, 40)), ("b", (128, 128, 255)))
    )
    # The second image is data and a colour: that makes two textures of it, and one of the first.
    materials = (
        mw.Material("plain", base_color_texture=mw.Texture(0), metallic_roughness_texture=mw.Texture(1)),
        mw.Material("glow", base_color_texture=mw.Texture(0), emissive_texture=mw.Texture(1)),
    )
    bones = mw.Skeleton(("root",), [-1])
    _, tab = small(mw.Character(bones, meshes, [], materials, images, name="tiles"), width=NARROW)
    tab.loaded()
    tab.js("s.viewport.character().library.settled()")
    tab.rest()
    found = tab.js(
        """(() => {
          const known = new Map(), used = [];
          for (const {mesh} of s.viewport.character().parts) for (const m of mesh.material)
            for (const name of ['map', 'metalnessMap', 'roughnessMap', 'emissiveMap']) {
              const on = m[name] && s.viewport.renderer.properties.get(m[name]).__webglTexture;
              if (on) { if (!known.has(on)) known.set(on, known.size); used.push(known.get(on)); }
            }
          return [known.size, used.length];
        })()"""
    )
    assert found == [3, 3 * 3 + 3 * 2]


def test_what_a_file_hides_is_said_and_can_be_shown(small: Any) -> None:
    character = small_character()
    body, prop = character.meshes
    hidden = character.replace(meshes=(body.replace(visible=False), prop.replace(visible=False)))
    _, tab = small(hidden)
    tab.loaded()
    tab.page.get_by_text("All meshes are hidden in the file: body, prop").wait_for()
    tab.until(BONES)  # Never an empty stage.
    tab.page.get_by_role("button", name="Show the hidden meshes").click()
    tab.until("s.viewport.character().shows(0) && s.viewport.character().shows(1)")
    tab.page.get_by_text("All meshes are hidden in the file").wait_for(state="hidden")
    tab.until(f"!({BONES})")


def test_a_character_that_grows_and_wanders_stays_in_the_picture(small: Any) -> None:
    character = small_character()
    times = [0.0, 1.0, 2.0]
    tracks = [
        mw.Track(0, "scale", times, [[0.001] * 3, [200.0] * 3, [1.0] * 3]),
        mw.Track(0, "translation", times, [[0, 0, 0], [500, 0, 0], [0, -40, 0]]),
    ]
    wild = character.replace(clips=[mw.Clip("wild", character.skeleton, tracks, rate=30.0)])
    _, tab = small(wild, width=NARROW)
    tab.loaded()
    tab.send(type="play", playing=False)
    seen = """(() => {
      const points = [0, 1, 2, 3, 4].map((j) => s.viewport.screenPosition(j));
      const xs = points.map((p) => p.x), ys = points.map((p) => p.y), e = s.viewport.element;
      const size = Math.max(Math.max(...xs) - Math.min(...xs), Math.max(...ys) - Math.min(...ys));
      return size > 8 && xs.some((x, i) => x > 0 && x < e.clientWidth && ys[i] > 0 && ys[i] < e.clientHeight);
    })()"""
    for time in (0.0, 1.0, 1.9, 0.5, 0.0):
        tab.send(type="seek", time=time)
        tab.until("Math.abs(s.viewport.character().time - a) < 1e-3", time)
        tab.until(seen)


def test_the_bind_pose_is_the_mesh_as_it_was_made(rig: Tab) -> None:
    character = small_character()
    rig.page.get_by_role("radio", name="Bind").click()
    rig.until("s.viewport.hands.kind === 'bind'")
    made = np.concatenate([character.meshes[0].positions])
    np.testing.assert_allclose(positions(rig)[: len(made)], made, atol=2e-5)
    rig.page.get_by_role("radio", name="Played").click()
    assert rig.difference_to_engine() < 2e-6


def test_a_pose_by_hand_reaches_and_its_code_gives_the_same_vertices(rig: Tab, tmp_path: Any) -> None:
    rig.settle()
    rig.page.get_by_role("radio", name="By hand").click()
    rig.js("s.select(3)")
    rig.page.get_by_role("radio", name="Reach").click()
    places = """[1, 2, 3].map((j) => {
      const e = s.viewport.character().poser.model(j).elements;
      return [e[12], e[13], e[14]];
    })"""
    root, middle, end = np.array(rig.js(places))
    upper, lower = np.linalg.norm(middle - root), np.linalg.norm(end - middle)
    target = root + 0.8 * (upper + lower) * np.array([0.36, 0.48, 0.8])
    rig.js(
        """(() => {
          const h = s.viewport.hands;
          h.handle.position.fromArray(a);
          h.follow();
        })()""",
        target.tolist(),
    )
    after = np.array(rig.js(places))
    np.testing.assert_allclose(after[0], root, atol=1e-5)
    np.testing.assert_allclose(after[2], target, atol=1e-4)
    assert np.linalg.norm(after[1] - after[0]) == pytest.approx(upper, abs=1e-5)
    assert np.linalg.norm(after[2] - after[1]) == pytest.approx(lower, abs=1e-5)
    rig.context.grant_permissions(["clipboard-read", "clipboard-write"])
    rig.page.get_by_role("button", name="Copy the pose as Python code").click()
    rig.page.get_by_text("copied as Python code").last.wait_for()
    code = rig.js("navigator.clipboard.readText()").replace("character = ...", "character = made()")
    names: dict[str, Any] = {"made": small_character}
    exec(code, names)
    np.testing.assert_allclose(positions(rig), names["surface"].positions, atol=5e-5)
    rig.page.get_by_role("button", name="Put all joints back").click()
    rig.page.get_by_role("radio", name="Played").click()


def test_morph_targets_are_moved_by_hand_and_let_go(rig: Tab) -> None:
    rig.settle()
    played = positions(rig)
    slider = rig.page.get_by_role("slider", name="smile")
    slider.fill("1")
    character = small_character()
    clip = rig.js("[s.state.clip, s.viewport.character().time]")
    animator = mw.Animator(character)
    animator.play(clip[0], start=clip[1])
    pose = animator.pose.copy()
    pose.morphs[0] = 1.0
    np.testing.assert_allclose(positions(rig), mw.skin(character, pose).positions, atol=5e-5)
    rig.page.get_by_role("button", name="Let the clip move").click()
    np.testing.assert_allclose(positions(rig), played, atol=1e-6)


def test_colours_count_influences_and_find_those_over_a_limit(rig: Tab) -> None:
    mesh = small_character().meshes[0]
    # A joint that is listed twice is one influence.
    counts = np.array([len(set(j[w > 0])) for j, w in zip(mesh.joints, mesh.weights)])
    rig.js("s.set('views', 'influences:2')")
    over = int((counts > 2).sum())
    rig.page.get_by_text(f"{over} vertices have more than 2 influences").wait_for()
    painted = "Array.from(s.viewport.received.get(0).bytes('paint0'))"
    colors = np.array(rig.js(painted)).reshape(-1, 3)[: len(counts)]
    assert np.array_equal((colors == [0xD5, 0x5E, 0x00]).all(axis=1), counts > 2)
    rig.js("s.set('views', 'influences')")
    rig.page.locator(".legend-ends", has_text=str(counts.max())).wait_for()
    colors = np.array(rig.js(painted)).reshape(-1, 3)[: len(counts)]
    assert np.abs(colors - 255 * color_map(counts / counts.max())).max() <= 1
    rig.js("s.set('views', '')")


def test_a_click_on_the_surface_names_the_joints_that_move_the_vertex(rig: Tab) -> None:
    rig.settle()
    rig.page.get_by_role("button", name="Pick a vertex").click()
    rig.js("s.viewport.onPickVertex({mesh: 0, vertex: 5})")
    character = small_character()
    mesh = character.meshes[0]
    shown = rig.js(
        "[...document.querySelectorAll('.influences .row-note')].map((e) => Number(e.textContent))"
    )
    used = sorted((w for w in mesh.weights[5] if w > 0), reverse=True)
    np.testing.assert_allclose(sum(shown), sum(used), atol=2e-3)
    rig.page.get_by_role("button", name="Pick a vertex").click()


def test_compact_joints_of_a_crowd_are_decoded_as_the_engine_has_them(small: Any) -> None:
    _, tab = small(coarse_mannequin(), width=NARROW)
    tab.loaded()
    tab.js("s.set('shadows', false)")
    tab.send(type="clip", name="walk")
    tab.send(type="spread", on=True)
    tab.send(type="count", value=24)
    tab.until("s.viewport.character().count === 24 && s.viewport.character().store")
    tab.send(type="level", value=0)
    for method in ("linear", "dual_quaternion"):
        assert tab.difference_to_engine(method) < 1e-4
    # What the processor decodes is what the graphics card does.
    decoded = """(() => {
      const c = s.viewport.character();
      c.ensure(7);
      return Array.from(c.matrices.slice(12 * 7 * c.width, 12 * 8 * c.width));
    })()"""
    matrices = np.array(tab.js(decoded)).reshape(-1, 3, 4)
    turns = matrices[:, :, :3]
    np.testing.assert_allclose(
        turns @ turns.transpose(0, 2, 1), np.broadcast_to(np.eye(3), turns.shape), atol=1e-4
    )
    assert np.isfinite(affine.invert(matrices)).all()
