"""Forward and deferred: two ways to the same picture. Contact shading, and materials against three.js."""

from __future__ import annotations

import re

import golden_pictures as pictures
import numpy as np
import pytest
import swatches
import three_pictures
from golden_pictures import GOLDEN, assert_alike

import marrow as mw
from marrow.rendering.resources.targets import read_pixels
from marrow.rendering.resources.wgsl import piece

SIZE = (160, 120)


@pytest.fixture(scope="module")
def plain(device):
    """Forward with one sample a pixel, as the deferred path has."""
    return mw.Renderer(SIZE, device=device, samples=1)


@pytest.fixture(scope="module")
def loaded_swatches(tmp_path_factory):
    """The swatches as they come back from a GLB. Tangents that the reader made are left out: three.js derives them too."""
    path = tmp_path_factory.mktemp("swatches") / "swatches.glb"
    mw.save(swatches.swatches(), path)
    found = mw.load(path, cache=False)
    meshes = [m.replace(tangents=None) if m.name == "bumps, derived" else m for m in found.meshes]
    return path, found.replace(meshes=tuple(meshes))


def camera(target=(0, 0.9, 0), eye=(1.8, 1.6, 3.2), **options):
    return mw.Camera.perspective(eye, target, fov=0.6, width=SIZE[0], height=SIZE[1], **options)


def lamps(count=80):
    rng = np.random.default_rng(3)
    out = [mw.DirectionalLight(intensity=0.8)]
    for i in range(count):
        place, color = tuple(rng.uniform([-1.5, 0.1, -1.5], [1.5, 2.0, 1.5])), tuple(rng.random(3))
        if i % 3:
            out.append(mw.PointLight(place, color, 0.2, 1.0))
        else:
            out.append(mw.SpotLight(place, tuple(rng.normal(size=3)), color, 0.5, 1.5, 0.2, 0.7))
    return out


def light_of(renderer, scene, eye, size=SIZE):
    """Linear light before tone mapping, `(H, W, 4)`."""
    renderer.size = size
    renderer.render(scene, eye)
    return read_pixels(renderer.device, renderer.targets.light, np.float16).astype(np.float64)


def test_both_paths_give_the_same_light(plain, deferred_renderer, hero, loaded_swatches):
    """Shadows, ground, lamps; every material, blended ones too. What differs: 8 bits of base colour and roughness."""
    world = mw.Scene(mw.Actor(hero, clip="walk", time=0.3), lights=lamps())
    material = swatches.scene(loaded_swatches[1], ambient=1.0)
    for scene, eye, size in (
        (world, camera(), SIZE),
        (world, _straight(), SIZE),
        (material, swatches.camera((200, 160)), (200, 160)),
    ):
        a, b = (light_of(r, scene, eye, size) for r in (plain, deferred_renderer))
        assert a[..., :3].max() > 0.3
        off = np.abs(a - b) / (0.1 + np.abs(a))
        assert off.mean() < 0.002
        assert np.quantile(off, 0.999) < 0.03


def _straight():
    return mw.Camera.orthographic(
        (1.8, 1.6, 3.2), (0, 0.9, 0), size=2.4, width=SIZE[0], height=SIZE[1], near=0.1, far=20
    )


def test_both_paths_look_alike(renderer, deferred_renderer, hero):
    scene = mw.Scene(mw.Actor(hero, clip="attack", time=0.4), lights=lamps())
    found = []
    for one in (renderer, deferred_renderer):
        one.size = (320, 240)
        eye = mw.Camera.perspective((1.8, 1.6, 3.2), (0, 0.9, 0), fov=0.6, width=320, height=240)
        found.append(np.asarray(one.render(scene, eye), np.float64))
    assert_alike(*found, "paths", mean=0.6, worst=18, structure=0.985)


def test_a_picture_does_not_depend_on_its_scale(deferred_renderer):
    """A micrometre, a metre, a kilometre: lamps, contact shading and ground scale with the scene."""
    found = []
    for scale in (1e-6, 1.0, 1e3):
        rows = np.eye(3, 4) * scale
        lights = [mw.DirectionalLight(intensity=0.8)]
        lights += [
            mw.PointLight(
                tuple(scale * p for p in l.position), l.color, l.intensity * scale**2, l.range * scale
            )
            for l in lamps(30)
            if isinstance(l, mw.PointLight)
        ]
        eye = mw.Camera.perspective(
            np.array([1.8, 1.6, 3.2]) * scale,
            np.array([0, 0.9, 0]) * scale,
            fov=0.6,
            width=SIZE[0],
            height=SIZE[1],
            near=0.05 * scale,
            far=100 * scale,
        )
        deferred_renderer.size = SIZE
        scene = mw.Scene(
            mw.Actor(mw.samples.mannequin(), transforms=rows, levels=0), lights=lights, grid=False
        )
        found.append(np.asarray(deferred_renderer.render(scene, eye), np.float64))
    for name, other in zip(("micrometre", "kilometre"), (found[0], found[2])):
        assert_alike(other, found[1], name, mean=0.3, worst=6, structure=0.99)


def block(size=0.5):
    """A cube of this half size, standing on the ground."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (0, 2) for z in (-1, 1)], np.float32) * size
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for f in faces for t in ((f[0], f[1], f[2]), (f[0], f[2], f[3]))]
    mesh = mw.Mesh.rigid("block", corners, triangles, 0, sections=(mw.Section(0, 12, 0),))
    material = mw.Material(base_color=(0.7, 0.7, 0.7, 1), metallic=0.0, double_sided=True)
    return mw.Character(mw.Skeleton(("root",), [-1]), (mesh,), materials=(material,))


@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_contact_shading_is_where_things_meet(request, path):
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    renderer.size = SIZE
    sun = mw.DirectionalLight(shadows=False)
    scene = mw.Scene(mw.Actor(block()), lights=[sun], grid=False)
    eye = camera((0, 0.2, 0), (0.6, 1.0, 3.0))
    renderer.contact = True
    with_contact = np.asarray(renderer.render(scene, eye), np.float64)[..., :3]
    renderer.contact = False
    without = np.asarray(renderer.render(scene, eye), np.float64)[..., :3]
    renderer.contact = True
    darker = (without - with_contact).mean(-1)
    assert darker.min() > -1  # never lighter

    def pixel(point):
        x, y, w = (eye.projection @ np.append(eye.view @ np.append(point, 1), 1))[[0, 1, 3]]
        return round((0.5 - 0.5 * y / w) * SIZE[1] - 0.5), round((0.5 + 0.5 * x / w) * SIZE[0] - 0.5)

    near, far, top = pixel((0.1, 0, 0.52)), pixel((0.1, 0, 0.9)), pixel((0.0, 1.0, 0.0))
    assert darker[near] > 5 and darker[far] < 1 and darker[top] < 2, (darker[near], darker[far], darker[top])


def test_contact_shading_leaves_what_is_not_lit(renderer):
    character = block()
    unlit = character.replace(
        materials=(mw.Material(base_color=(0.5, 0.5, 0.5, 1), unlit=True, double_sided=True),)
    )
    renderer.size = SIZE
    eye = camera((0, 0.2, 0), (0.6, 1.0, 3.0))
    pixels = np.asarray(renderer.render(mw.Scene(mw.Actor(unlit), lights=[mw.DirectionalLight()]), eye))
    assert len(np.unique(pixels[SIZE[1] // 2, SIZE[0] // 2 - 3 : SIZE[0] // 2 + 3, :3], axis=0)) == 1


# -- three.js -------------------------------------------------------------------------------------------------------
GLASS = (slice(236, 308), slice(316, 388))
"""Where the blended ball is: three.js mixes encoded colours, marrow light."""


def drawn_swatches(renderer, character, ambient):
    renderer.size = swatches.SIZE
    return np.asarray(
        renderer.render(swatches.scene(character, ambient=ambient), swatches.camera()), np.float64
    )


@pytest.mark.parametrize(("name", "ambient"), [("three_sun", 0.0), ("three_studio", 1.0)])
@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_materials_look_as_three_js_draws_them(request, loaded_swatches, name, ambient, path):
    """The same GLB, camera, sun and, in the second picture, surroundings as an environment map that three.js filters; ours
    is a formula, so that one may be off by more."""
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    renderer.contact = False
    found = drawn_swatches(renderer, loaded_swatches[1], ambient)
    renderer.contact = True
    wanted = pictures.load(GOLDEN / f"{name}.png")
    found[GLASS] = wanted[GLASS]
    limits = (
        {"mean": 1.0, "worst": 22, "structure": 0.985}
        if ambient == 0
        else {"mean": 3.0, "worst": 26, "structure": 0.97}
    )
    assert_alike(found, wanted, f"{name}_{path}", **limits)


def test_the_studio_has_the_same_light():
    """The numbers of the page's formula, web/src/view/light.ts, stand in the shader as well."""
    folder = three_pictures.TESTS.parent
    page = (folder / "web" / "src" / "view" / "light.ts").read_text()
    shader = piece("ambient")
    numbers = re.findall(r"\d+\.\d+", page.split("vec3 mwLight")[1].split("return light")[0])
    assert len(numbers) > 30
    assert re.findall(r"\d+\.\d+", shader.split("fn ambient_light")[1].split("return light")[0]) == numbers
