"""Materials on a square, every pixel against what NumPy says it should be."""

from __future__ import annotations

import gc
import itertools
import math
import weakref

import brdf
import numpy as np
import pytest
from quads import SIZE, drawn, linear, lit, picture, pixel_uvs, shown, square

import marrow as mw
from marrow.rendering.resources.targets import read_pixels
from marrow.rendering.resources.textures import TextureLibrary

WORST = 2.5 / 255
RNG = np.random.default_rng(5)
CHECKS = RNG.integers(0, 256, (4, 4, 4), dtype=np.uint8) | np.array([0, 0, 0, 255], np.uint8)
WRAPS = {
    "repeat": lambda i, n: i % n,
    "clamp": lambda i, n: np.clip(i, 0, n - 1),
    "mirror": lambda i, n: np.where((i // n) % 2 == 0, i % n, n - 1 - i % n),
}


def unlit(texture):
    return mw.Material(base_color_texture=texture, unlit=True)


@pytest.mark.parametrize(("u", "v"), list(itertools.product(WRAPS, WRAPS)))
def test_wrapping_and_uv_transforms(renderer, u, v):
    texture = mw.Texture(
        0, 0, u, v, "nearest", "nearest", offset=(-0.83, 0.41), rotation=0.7, scale=(2.3, -3.1)
    )
    found = drawn(renderer, square(unlit(texture), [picture("checks", CHECKS)]))
    uv = pixel_uvs() * texture.scale
    c, s = math.cos(texture.rotation), math.sin(texture.rotation)
    # KHR_texture_transform: moved @ turned @ scaled, turned counter-clockwise as the picture lies.
    at = np.stack([c * uv[..., 0] + s * uv[..., 1], -s * uv[..., 0] + c * uv[..., 1]], -1) + texture.offset
    texel = at * 4
    clear = (np.abs(texel - np.round(texel)) > 0.03).all(-1)
    cells = np.floor(texel).astype(int)
    wanted = shown(linear(CHECKS[WRAPS[v](cells[..., 1], 4), WRAPS[u](cells[..., 0], 4), :3] / 255))
    assert clear.mean() > 0.8
    assert np.abs(found[..., :3] - wanted)[clear].max() < WORST


def test_second_set_of_uvs_and_linear_filter(renderer):
    texture = mw.Texture(0, 1, "clamp", "clamp", "linear")
    other = np.array([[0, 1], [1, 1], [1, 0], [0, 0]], np.float32)
    found = drawn(renderer, square(unlit(texture), [picture("checks", CHECKS)], uvs=(other * 0, other)))
    at = pixel_uvs() * 4 - 0.5
    low = np.floor(at).astype(int)
    part = at - low
    light, wanted = linear(CHECKS[..., :3] / 255), 0.0
    for dx, dy in itertools.product((0, 1), (0, 1)):
        weight = np.abs(1 - dx - part[..., 0]) * np.abs(1 - dy - part[..., 1])
        cell = np.clip(low + np.array([dx, dy]), 0, 3)
        wanted = wanted + weight[..., None] * light[cell[..., 1], cell[..., 0]]
    # Filters of drivers have 8 bits for the place between two texels.
    assert np.abs(found[..., :3] - shown(wanted)).max() < 2 * WORST


@pytest.mark.parametrize(("tangents", "mirrored"), [(True, False), (True, True), (False, False)])
def test_a_material_of_all_textures_is_lit_as_the_reference_says(renderer, tangents, mirrored):
    """Textures of 8 x 8 texels, each pixel of the picture inside one of them."""
    shape = (8, 8)
    pixels = {
        name: RNG.integers(0, 256, (*shape, 3), dtype=np.uint8)
        for name in ("base", "surface", "glow", "shade")
    }
    tilt = RNG.normal(size=(*shape, 3)) * [0.4, 0.4, 0] + [0, 0, 1]
    tilt /= np.linalg.norm(tilt, axis=-1, keepdims=True)
    pixels["normal"] = np.round((tilt * 0.5 + 0.5) * 255).astype(np.uint8)
    images = [picture(n, p) for n, p in pixels.items()]

    def texture(name):
        return mw.Texture(list(pixels).index(name), 0, "clamp", "clamp", "nearest", "nearest")

    material = mw.Material(
        base_color=(0.9, 0.8, 0.7, 1.0),
        metallic=0.8,
        roughness=0.9,
        emissive=(0.1, 0.2, 0.3),
        base_color_texture=texture("base"),
        metallic_roughness_texture=texture("surface"),
        normal_texture=texture("normal"),
        normal_scale=0.7,
        occlusion_texture=texture("shade"),
        occlusion_strength=0.6,
        emissive_texture=texture("glow"),
        extensions={"KHR_materials_emissive_strength": {"emissiveStrength": 2.0}},
    )
    color = np.array([0.7, 1.0, 0.5, 1.0])
    character = square(material, images, tangents=tangents, mirrored=mirrored, colors=np.tile(color, (4, 1)))
    found = drawn(renderer, character)
    cell = (pixel_uvs() * 8).astype(int)
    at = {name: p[cell[..., 1], cell[..., 0]] / 255 for name, p in pixels.items()}
    bent = (2 * at["normal"] - 1) * [0.7, 0.7, 1]
    # u grows along +X, v along -Y: glTF's green points up, and the bitangent with it.
    bent *= [-1 if mirrored else 1, 1, 1]
    wanted = lit(
        linear(at["base"]) * material.base_color[:3] * color[:3],
        at["surface"][..., 2:] * 0.8,
        np.maximum(at["surface"][..., 1:2] * 0.9, 0.045),
        bent,
        occlusion=1 + 0.6 * (at["shade"][..., :1] - 1),
        emissive=linear(at["glow"]) * material.emissive * 2.0,
    )
    # Polished texels magnify the 8 bits of a normal; a half float of light has eleven bits.
    off = np.abs(found[..., :3] - shown(wanted))
    assert np.quantile(off, 0.99) < WORST
    assert off.max() < 8 / 255


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -1, 3), (-1, -1, 1)])
@pytest.mark.parametrize("tangents", [True, False])
@pytest.mark.parametrize("joint", [True, False])
def test_bumps_stay_bumps_where_a_transform_or_a_joint_mirrors(renderer, scale, tangents, joint):
    tilt = RNG.normal(size=(8, 8, 3)) * [0.4, 0.4, 0] + [0, 0, 1]
    pixels = np.round((tilt / np.linalg.norm(tilt, axis=-1, keepdims=True) * 0.5 + 0.5) * 255)
    texture = mw.Texture(0, 0, "clamp", "clamp", "nearest", "nearest")
    material = mw.Material(metallic=0.0, roughness=0.6, base_color=(0.7, 0.6, 0.5, 1), normal_texture=texture)
    character = square(material, [picture("bumps", pixels)], tangents=tangents)
    if joint:
        rest = mw.Pose(np.zeros((1, 3)), [[0, 0, 0, 1]], np.array([scale]))
        found = drawn(renderer, character.replace(skeleton=mw.Skeleton(("root",), [-1], rest)))
    else:
        found = drawn(renderer, character, transforms=np.diag(scale) @ np.eye(3, 4))
    cell = (pixel_uvs() * 8).astype(int)
    x, y = (np.where(scale[k] < 0, 7 - cell[..., k], cell[..., k]) for k in (0, 1))
    bent = (2 * pixels[y, x] / 255 - 1) * np.sign(scale)
    wanted = shown(lit(np.array([0.7, 0.6, 0.5]), 0.0, 0.6, bent * [1, 1, np.sign(scale[2])]))
    assert np.abs(found[..., :3] - wanted).max() < WORST


def test_the_back_of_a_double_sided_square_is_lit_from_behind(renderer):
    material = mw.Material(base_color=(0.5, 0.6, 0.7, 1), metallic=0.0, roughness=0.5, double_sided=True)
    found = drawn(renderer, square(material), behind=True)
    wanted = shown(lit(np.array([0.5, 0.6, 0.7]), 0.0, 0.5, (0, 0, -1.0), view=(0, 0, -1.0)))
    assert np.abs(found[SIZE // 2, SIZE // 2, :3] - wanted).max() < WORST
    single = mw.Material(base_color=(0.5, 0.6, 0.7, 1))
    assert not drawn(renderer, square(single), behind=True)[..., 3].any()


def test_a_mesh_without_normals_is_flat(renderer):
    material = mw.Material(base_color=(0.5, 0.6, 0.7, 1), metallic=0.0, roughness=0.5)
    with_normals = drawn(renderer, square(material))
    without = drawn(renderer, square(material, normals=False, tangents=False))
    assert np.abs(with_normals - without).max() < WORST


def test_mask_cuts_out_and_opaque_ignores_alpha(renderer):
    pixels = np.full((2, 2, 4), 255, np.uint8)
    pixels[0, 0, 3], pixels[1, 1, 3] = 100, 140
    texture = mw.Texture(0, 0, "clamp", "clamp", "nearest", "nearest")
    for mode, cutoff, there in (("mask", 0.5, 0.75), ("mask", 0.3, 1.0), ("opaque", 0.5, 1.0)):
        material = mw.Material(base_color_texture=texture, alpha_mode=mode, alpha_cutoff=cutoff)
        found = drawn(renderer, square(material, [picture("holes", pixels)]))
        assert found[..., 3].mean() == pytest.approx(there, abs=0.02)


def test_edges_of_a_mask_are_smooth(renderer):
    """A slanted edge of alpha: between all and nothing there are steps."""
    y, x = np.mgrid[0:64, 0:64]
    pixels = np.full((64, 64, 4), 255.0)
    pixels[..., 3] = np.clip((x + 0.3 * y - 40) * 8 + 128, 0, 255)
    texture = mw.Texture(0, 0, "clamp", "clamp")
    material = mw.Material(base_color_texture=texture, alpha_mode="mask", metallic=0.0)
    alpha = drawn(renderer, square(material, [picture("edge", pixels)]))[..., 3]
    between = (alpha > 0.1) & (alpha < 0.9)
    assert between.any(1).mean() > 0.4 and between.mean() < 0.05
    assert alpha.mean() == pytest.approx((pixels[..., 3] >= 127.5).mean(), abs=0.02)


def test_lamps_light_by_the_inverse_square(renderer):
    """A matt square under one point light, from which every pixel's distance and angle are known."""
    base, height = 0.6, 0.8
    material = mw.Material(base_color=(base, base, base, 1), metallic=0.0, roughness=1.0)
    lamp = mw.PointLight((0.3, -0.2, height), color=(1, 0.8, 0.6), intensity=1.5, range=100.0)
    found = drawn(renderer, square(material), lights=(lamp,), ambient=0.0)
    x = pixel_uvs() * [2, -2] + [-1, 1]
    way = np.concatenate([np.array(lamp.position[:2]) - x, np.full((SIZE, SIZE, 1), height)], -1)
    away2 = (way**2).sum(-1, keepdims=True)
    light = way / np.sqrt(away2)
    sent = brdf.reflected(np.broadcast_to([0, 0, 1.0], light.shape), light, np.full(3, base), 0.0, 1.0)
    wanted = shown(np.array(lamp.color) * lamp.intensity * sent / away2)
    assert np.abs(found[..., :3] - wanted).max() < WORST
    dark = drawn(renderer, square(material), lights=(mw.PointLight((0, 0, 1), range=0.5),), ambient=0.0)
    assert not dark[..., :3].any()


def test_every_lamp_of_hundreds_counts_once(renderer):
    """Cells of lamps against the sum over all of them: many small lamps and cones, in perspective."""
    rng = np.random.default_rng(8)
    material = mw.Material(base_color=(1, 1, 1, 1), metallic=0.0, roughness=1.0)
    lamps = []
    for i in range(150):
        place = (*rng.uniform(-1.2, 1.2, 2), rng.uniform(0.05, 0.5))
        color, reach = tuple(rng.random(3)), float(rng.uniform(0.2, 0.7))
        if i % 3:
            lamps.append(mw.PointLight(place, color, 0.02, reach))
        else:
            way = tuple(rng.normal(size=3) * [1, 1, 0.3] - [0, 0, 1])
            lamps.append(mw.SpotLight(place, way, color, 0.05, reach, 0.2, 0.6))
    lamps.append(mw.DirectionalLight(shadows=False, intensity=0.0))
    together = _linear_light(renderer, square(material), lamps)
    apart = sum(
        _linear_light(renderer, square(material), [lamps[-1], *lamps[i : i + 10]]) for i in range(0, 150, 10)
    )
    assert together.max() > 0.05
    # Half floats and eight bits of each part add up.
    assert np.abs(together - apart).max() < 0.02


def _linear_light(renderer, character, lights):
    """Linear light at every pixel, seen in perspective at an angle."""
    renderer.size = (SIZE * 2, SIZE)
    eye = mw.Camera.perspective((0.6, -1.4, 1.0), (0, 0, 0), width=2 * SIZE, height=SIZE, near=0.01)
    environment = mw.Environment(background="transparent", ambient=0.0)
    scene = mw.Scene(mw.Actor(character), lights=lights, ground=False, environment=environment)
    renderer.render(scene, eye)
    return read_pixels(renderer.device, renderer.targets.light, np.float16)[..., :3].astype(np.float64)


# -- textures that are not as they should be ------------------------------------------------------------------------
def _png(pixels):
    return picture("whatever", pixels).data


BAD = {
    "missing": (b"", "not found"),
    "broken": (b"\x89PNG\r\n\x1a\n" + b"nonsense" * 20, "cannot be shown"),
    "cut short": (
        _png(np.zeros((64, 64, 4), np.uint8) + RNG.integers(0, 255, (64, 64, 4), np.uint8))[:2000],
        "shown",
    ),
    "no picture": (b"hello", "cannot be shown"),
    "ktx2": (
        b"\xabKTX 20\xbb\r\n\x1a\n" + np.array([0, 1, 4, 4, 0, 0, 1, 1, 1], "<u4").tobytes() + bytes(200),
        "cut short",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_images_that_cannot_be_shown_leave_plain_colours_and_a_line(renderer, what):
    data, words = BAD[what]
    images = [mw.Image(f"{what}.png", "image/png", data)]
    texture = mw.Texture(0)
    material = mw.Material(
        base_color=(0.5, 0.6, 0.7, 1),
        roughness=0.5,
        emissive=(1, 1, 1),
        base_color_texture=texture,
        metallic_roughness_texture=texture,
        normal_texture=texture,
        emissive_texture=texture,
    )
    found = drawn(renderer, square(material, images))
    plain = mw.Material(base_color=(0.5, 0.6, 0.7, 1), roughness=0.5, metallic=0.0)
    # Not all metal, and not all aglow, as the factors alone would say.
    assert np.array_equal(found, drawn(renderer, square(plain)))
    lines = [str(line) for line in renderer.materials.report if f"{what}.png" in line.place]
    assert len(lines) == 1 and words in lines[0]


def test_uvs_that_are_not_there_are_reported(renderer):
    material = mw.Material("walls", base_color_texture=mw.Texture(0, uv_set=3), metallic=0.0)
    bare = mw.Material("bare", base_color_texture=mw.Texture(0), metallic=0.0)
    images = [picture("checks", CHECKS)]
    for character in (square(material, images), square(bare, images, uvs=())):
        assert drawn(renderer, character)[..., 3].all()
    text = str(renderer.materials.report)
    assert "'walls'" in text and "UV sets 0 to 1" in text and "'bare'" in text and "has no UVs" in text


def test_numbers_that_are_not_finite_are_reported(renderer):
    material = mw.Material("odd", roughness=math.nan, base_color=(1, math.inf, 0, 1), metallic=0.0)
    assert np.isfinite(drawn(renderer, square(material))).all()
    assert "'odd': has numbers that are not finite" in str(renderer.materials.report)


def test_images_larger_than_the_device_allows_are_scaled_down(device):
    library = TextureLibrary(device)
    library.max_side = 32
    pixels = np.zeros((20, 100, 4), np.uint8)
    pixels[:, :50] = 255
    found = library.get(picture("panorama", pixels), color=True)
    assert found.size == (32, 6)
    assert "image 'panorama'" in str(library.report) and "100 x 20" in str(library.report)
    assert "shown with 32 x 6" in str(library.report)


def test_textures_are_there_once_and_go_with_their_last_user(device):
    library = TextureLibrary(device)
    image = picture("checks", CHECKS)
    first = library.get(image, color=True)
    assert library.get(mw.Image("copy", image.media_type, bytes(image.data)), color=True) is first
    assert library.get(image, color=False) is not first
    assert len(library._textures) == 1
    del first
    assert not len(library._textures)


def test_a_renderer_forgets_characters_that_are_gone(renderer):
    """Whoever draws thousands of files has not all of them in memory."""
    character = square(unlit(mw.Texture(0)), [picture("only here", CHECKS ^ 1)])
    drawn(renderer, character)
    before, gone = len(renderer.materials.library._textures), weakref.ref(character)
    del character
    drawn(renderer, square(mw.Material()))
    for _ in range(2):  # what the GPU's objects hold goes a round later
        gc.collect()
    assert gone() is None and len(renderer.materials.library._textures) < before
