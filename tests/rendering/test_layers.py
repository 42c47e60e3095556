"""Materials as glTF's extensions have them: energy of each lobe, both paths, textures, what cannot be shown."""

import numpy as np
import pytest
from quads import drawn, picture, shown, square
from solids import at, ball, box, plate

import marrow as mw
from marrow.rendering.resources.material_layers import layers_of

K = "KHR_materials_"
WHITE = mw.EnvironmentMap(np.ones((16, 32, 3)))
CAMERA = mw.Camera.orthographic((0, 0, 5), (0, 0, 0), size=2.0, width=64, height=64, near=0.1, far=10)
LAYERS = {
    "clear coat": {K + "clearcoat": {"clearcoatFactor": 1.0, "clearcoatRoughnessFactor": 0.1}},
    "sheen": {K + "sheen": {"sheenColorFactor": [1, 1, 1], "sheenRoughnessFactor": 0.5}},
    "specular": {K + "specular": {"specularFactor": 0.5}},
    "index": {K + "ior": {"ior": 2.2}},
    "film": {K + "iridescence": {"iridescenceFactor": 0.0}, K + "ior": {"ior": 1.8}},
    "brushed": {K + "anisotropy": {"anisotropyStrength": 0.8}},
    "thin": {K + "diffuse_transmission": {"diffuseTransmissionFactor": 0.5}},
}


def seen(renderer, *things, background="transparent", ambient=0.5, light=WHITE, lights=()):
    renderer.size, renderer.contact = (64, 64), False
    try:
        scene = mw.Scene(
            *things,
            lights=lights or [mw.PointLight((0, 9, 0), intensity=0)],
            ground=False,
            environment=mw.Environment(background, ambient, light=light),
        )
        return renderer.render(scene, CAMERA).pixels / 255.0
    finally:
        renderer.contact = True


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("roughness", [0.2, 0.8])
def test_no_layer_makes_light_or_loses_much(renderer, name, roughness):
    """The furnace, layer by layer: a white ball in white light stays white."""
    material = mw.Material(
        base_color=(1, 1, 1, 1), metallic=0.0, roughness=roughness, extensions=LAYERS[name]
    )
    found = seen(renderer, ball(0.9, material))
    middle = found[16:48, 16:48, :3]
    assert middle.max() < shown(np.full(3, 0.5 * 1.03)).max()
    assert middle.min() > shown(np.full(3, 0.5 * 0.9)).min()


@pytest.mark.parametrize("name", LAYERS)
def test_both_paths_show_the_same(renderer, deferred_renderer, name):
    material = mw.Material(
        base_color=(0.5, 0.3, 0.2, 1), metallic=0.2, roughness=0.4, extensions=LAYERS[name]
    )
    lights = [mw.DirectionalLight(), mw.PointLight((1, 1, 2), intensity=3.0)]
    a, b = (
        seen(r, ball(0.9, material), light="softboxes", lights=lights) for r in (renderer, deferred_renderer)
    )
    assert np.abs(a - b)[16:48, 16:48].max() < 0.03
    if name != "brushed":  # which needs to know which way a surface runs: a ball without UVs does not
        plain = material.replace(extensions={})
        assert np.abs(a - seen(renderer, ball(0.9, plain), light="softboxes", lights=lights)).max() > 0.02


def test_brushed_metal_spreads_highlights_across_the_brush(renderer):
    pictures = []
    for strength in (0.0, 0.9):
        metal = {K + "anisotropy": {"anisotropyStrength": strength}}
        material = mw.Material(base_color=(0.9, 0.9, 0.9, 1), metallic=1.0, roughness=0.4, extensions=metal)
        pictures.append(drawn(renderer, square(material)))
    assert np.abs(pictures[0] - pictures[1]).max() > 0.05


@pytest.mark.parametrize("path", ["forward", "deferred"])
def test_glass_that_bends_nothing_cannot_be_seen(request, path):
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    glass = {
        K + "transmission": {"transmissionFactor": 1.0},
        K + "ior": {"ior": 1.0},
        K + "specular": {"specularFactor": 0.0},
    }
    pane = mw.Material(base_color=(1, 1, 1, 1), metallic=0.0, roughness=0.0, extensions=glass)
    post = mw.Actor(
        box((0.3, 1.6, 0.1), mw.Material(base_color=(0.9, 0.3, 0.1, 1), metallic=0.0)),
        transforms=at((0.1, -0.8, -1)),
    )
    with_ = seen(renderer, post, plate(1.5, 1.5, pane), background="dark")
    without = seen(renderer, post, background="dark")
    assert np.abs(with_ - without)[12:52, 12:52].max() < 0.03
    red = mw.Material(base_color=(1, 0.2, 0.2, 1), metallic=0.0, roughness=0.0, extensions=glass)
    tinted = seen(renderer, post, plate(1.5, 1.5, red), background="dark")
    assert (tinted[30, 34, 1:3] < without[30, 34, 1:3] - 0.05).all()


def test_glass_takes_away_what_its_volume_swallows(renderer):
    """Beer's law through a plate of a known thickness."""
    body = {
        K + "transmission": {"transmissionFactor": 1.0},
        K + "ior": {"ior": 1.0},
        K + "specular": {"specularFactor": 0.0},
        K + "volume": {
            "thicknessFactor": 0.5,
            "attenuationDistance": 0.25,
            "attenuationColor": [0.9, 0.5, 0.7],
        },
    }
    pane = mw.Material(base_color=(1, 1, 1, 1), metallic=0.0, roughness=0.0, extensions=body)
    grey = mw.Actor(
        plate(3, 3, mw.Material(base_color=(0.5, 0.5, 0.5, 1), unlit=True)), transforms=at((0, 0, -1))
    )
    found = seen(renderer, grey, plate(1.5, 1.5, pane))[32, 32, :3]
    assert found == pytest.approx(shown(0.5 * np.array([0.9, 0.5, 0.7]) ** 2), abs=0.02)


def test_glass_before_nothing_is_nothing(renderer):
    """On a transparent background glass is as transparent as it is, but for what it mirrors."""
    glass = {K + "transmission": {"transmissionFactor": 1.0}}
    pane = mw.Material(base_color=(1, 1, 1, 1), metallic=0.0, roughness=0.0, extensions=glass)
    assert seen(renderer, plate(1.5, 1.5, pane))[32, 32, 3] < 0.1


def test_textures_of_layers_are_looked_up(renderer):
    """The left half has a coat, the right half none."""
    pixels = np.zeros((2, 2, 3), np.uint8)
    pixels[:, 0] = 255
    info = {"texture": {"image": 0, "mag_filter": "nearest"}}
    coated = {K + "clearcoat": {"clearcoatFactor": 1.0, "clearcoatTexture": info}}
    material = mw.Material(base_color=(0.02, 0.02, 0.02, 1), metallic=0.0, roughness=1.0, extensions=coated)
    found = drawn(renderer, square(material, [picture("mask", pixels)]))
    plain = drawn(
        renderer, square(mw.Material(base_color=(0.02, 0.02, 0.02, 1), metallic=0.0, roughness=1.0))
    )
    assert np.abs(found[20:44, 40:60] - plain[20:44, 40:60]).max() < 0.01
    assert np.abs(found[20:44, 4:24] - plain[20:44, 4:24]).max() > 0.01


def test_what_cannot_be_shown_is_told(renderer):
    told = {
        K + "iridescence": {"iridescenceFactor": 2.0, "iridescenceTexture": {"texture": {"image": 0}}},
        K + "sheen": {"sheenColorFactor": "red"},
        "EXT_materials_velvet": {"velvet": 1.0},
    }
    material = mw.Material("odd", extensions=told)
    seen(renderer, ball(0.5, material))
    lines = [str(line) for line in renderer.materials.report if "odd" in str(line)]
    for words in (
        "out of range",
        "no colour",
        "iridescenceTexture is not shown",
        "velvet is kept, and not shown",
    ):
        assert any(words in line for line in lines), (words, lines)
    assert all("warning" in line for line in lines)


@pytest.mark.parametrize(
    "body",
    [
        None,
        5,
        [],
        {"clearcoatFactor": "1"},
        {"clearcoatFactor": -1},
        {"clearcoatTexture": 3},
        {"clearcoatTexture": {"texture": {"image": "x"}}},
    ],
)
def test_damaged_extensions_do_no_harm(body):
    told = []
    assert not layers_of(mw.Material(extensions={K + "clearcoat": body}), told.append).shown
    assert bool(told) == isinstance(body, dict)
