"""Light from all around as a picture: read, filtered, and what surfaces make of it."""

import struct
import zlib

import numpy as np
import pytest
from quads import shown
from solids import ball

import marrow as mw
from marrow.errors import FormatError, MarrowError
from marrow.io.radiance import read_exr, read_hdr
from marrow.scene.environment_maps import directions
from marrow.scene.light_lobes import LAYERS, SIDE, filtered_layers, sphere_harmonics

WHITE = mw.EnvironmentMap(np.ones((16, 32, 3)))
CAMERA = mw.Camera.orthographic((0, 0, 5), (0, 0, 0), size=2.0, width=64, height=64, near=0.1, far=10)


def drawn(renderer, material, light, **environment):
    renderer.size = (64, 64)
    around = mw.Environment("transparent", light=light, **environment)
    scene = mw.Scene(
        mw.Actor(ball(0.9, material)),
        lights=[mw.PointLight((0, 9, 0), intensity=0)],
        ground=False,
        environment=around,
    )
    renderer.contact = False
    try:
        return renderer.render(scene, CAMERA).pixels / 255.0
    finally:
        renderer.contact = True


@pytest.mark.parametrize("path", ["forward", "deferred"])
@pytest.mark.parametrize("metallic", [0.0, 1.0])
@pytest.mark.parametrize("roughness", [0.0, 0.3, 0.6, 1.0])
def test_a_white_ball_in_white_light_cannot_be_seen(request, path, metallic, roughness):
    """The furnace: whatever it is made of, what arrives leaves again."""
    renderer = request.getfixturevalue("renderer" if path == "forward" else "deferred_renderer")
    material = mw.Material(base_color=(1, 1, 1, 1), metallic=metallic, roughness=roughness)
    found = drawn(renderer, material, WHITE, ambient=0.5)
    inside = found[..., 3] == 1
    inside[1:-1, 1:-1] &= inside[:-2, 1:-1] & inside[2:, 1:-1] & inside[1:-1, :-2] & inside[1:-1, 2:]
    assert inside.sum() > 1500
    assert np.abs(found[inside, :3] - shown(np.full(3, 0.5))).max() < 0.02


def test_layers_and_harmonics_of_one_colour_are_that_colour():
    flat = mw.EnvironmentMap(np.tile([0.25, 0.5, 2.0], (16, 32, 1)))
    np.testing.assert_allclose(
        filtered_layers(flat)[..., :3].astype(float),
        np.broadcast_to([0.25, 0.5, 2.0], (LAYERS, SIDE, SIDE, 3)),
        rtol=2e-3,
    )
    sums = sphere_harmonics(flat)
    np.testing.assert_allclose(sums[0], [0.25, 0.5, 2.0], rtol=2e-3)
    np.testing.assert_allclose(sums[1:], 0, atol=0.02)


def test_harmonics_are_what_a_cosine_gathers():
    """Against the sum over all directions, for light that changes smoothly."""
    d = directions(64, 128)
    light = np.stack([1 + d[..., 0], 1 + 0.5 * d[..., 1] * d[..., 2], 1 + d[..., 2] ** 2], -1)
    sums = sphere_harmonics(mw.EnvironmentMap(light))
    share = np.cos((0.5 - (np.arange(64) + 0.5) / 64) * np.pi)[:, None, None]
    for n in np.array([[0, 1, 0], [0.6, 0, 0.8], [-0.48, 0.6, 0.64]]):
        cosine = np.maximum(d @ n, 0)[..., None] * share
        wanted = (light * cosine).sum((0, 1)) / cosine.sum()
        x, y, z = n
        terms = np.array([1, y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y])
        np.testing.assert_allclose(terms @ sums, wanted, rtol=0.01)


def test_a_mirror_shows_what_is_there_and_a_turn_turns_it(renderer):
    """Red at +X, green at -X: a chrome ball shows red on its right; half a turn on, on its left."""
    d = directions(64, 128)
    sides = np.where(d[..., :1] > 0, [1.0, 0.05, 0.05], [0.05, 1.0, 0.05])
    chrome = mw.Material(base_color=(1, 1, 1, 1), metallic=1.0, roughness=0.0)
    right, left = (32, 58), (32, 5)
    plain = drawn(renderer, chrome, mw.EnvironmentMap(sides))
    turned = drawn(renderer, chrome, mw.EnvironmentMap(sides), rotation=np.pi)
    for picture, red, green in ((plain, right, left), (turned, left, right)):
        assert picture[red][0] > picture[red][1] + 0.4
        assert picture[green][1] > picture[green][0] + 0.4


@pytest.mark.parametrize("name", ["softboxes", "outdoors"])
def test_built_in_environments_light_and_can_be_seen(renderer, name):
    renderer.size = (64, 64)
    scene = mw.Scene(ball(0.5), ground=False, environment=mw.Environment("environment", light=name))
    camera = mw.Camera.perspective((0, 0.3, 4), (0, 0, 0), fov=0.9, width=64, height=64)
    found = renderer.render(scene, camera).pixels
    assert (found[..., 3] == 255).all() and found[32, 32, :3].min() > 40
    assert len(np.unique(found[:, :4].reshape(-1, 4), axis=0)) > 8


def rgbe(pixels, coded):
    mantissa, exponent = np.frexp(pixels.max(-1))
    scale = np.where(pixels.max(-1) > 0, mantissa * 256 / np.maximum(pixels.max(-1), 1e-30), 0)
    bytes_ = np.concatenate([pixels * scale[..., None], (exponent + 128)[..., None]], -1).astype(np.uint8)
    h, w = pixels.shape[:2]
    out = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n" + f"-Y {h} +X {w}\n".encode()
    if not coded:
        return out + bytes_.tobytes()
    for row in bytes_:
        out += bytes((2, 2, w >> 8, w & 255))
        for channel in row.T:
            out += b"".join(bytes((1, v)) for v in channel[: w // 2].tolist())
            run = channel[w // 2 :]
            out += (
                bytes((128 + len(run), run[0]))
                if (run == run[0]).all()
                else bytes((len(run),)) + run.tobytes()
            )
    return out


@pytest.mark.parametrize("coded", [True, False])
def test_radiance_pictures_are_read(coded, tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.uniform(0, 8, (6, 16, 3))
    pixels[2, 8:] = 3.5
    data = rgbe(pixels, coded)
    np.testing.assert_allclose(read_hdr(data), pixels, atol=8 / 128)
    (tmp_path / "room.hdr").write_bytes(data)
    assert mw.Environment(light=tmp_path / "room.hdr").map.pixels.shape == (6, 16, 3)
    for cut in range(0, len(data), 7):
        with pytest.raises(FormatError):
            read_hdr(data[:cut])


def exr(pixels, kind, compression):
    """An OpenEXR file of rows, channels in their order B, G, R."""
    h, w = pixels.shape[:2]
    rows = [b"".join(pixels[y, :, c].astype(kind).tobytes() for c in (2, 1, 0)) for y in range(h)]
    number = {"<f2": 1, "<f4": 2}[kind]
    channels = b"".join(n + b"\0" + struct.pack("<iiii", number, 0, 1, 1) for n in (b"B", b"G", b"R")) + b"\0"

    def attribute(name, sort, body):
        return name + b"\0" + sort + b"\0" + struct.pack("<i", len(body)) + body

    head = b"\x76\x2f\x31\x01" + struct.pack("<I", 2) + attribute(b"channels", b"chlist", channels)
    head += attribute(b"compression", b"compression", bytes((compression,)))
    head += attribute(b"dataWindow", b"box2i", struct.pack("<4i", 0, 0, w - 1, h - 1)) + b"\0"
    per = 16 if compression == 3 else 1
    blocks = []
    for y in range(0, h, per):
        raw = b"".join(rows[y : y + per])
        if compression:
            flat = np.frombuffer(raw, np.uint8)
            apart = np.concatenate([flat[0::2], flat[1::2]]).astype(np.int64)
            raw = zlib.compress(np.concatenate([apart[:1], np.diff(apart) + 128]).astype(np.uint8).tobytes())
        blocks.append(struct.pack("<ii", y, len(raw)) + raw)
    starts = np.cumsum([len(head) + 8 * len(blocks), *(len(b) for b in blocks)])[:-1]
    return head + struct.pack(f"<{len(blocks)}Q", *starts) + b"".join(blocks)


@pytest.mark.parametrize("kind", ["<f2", "<f4"])
@pytest.mark.parametrize("compression", [0, 2, 3])
def test_openexr_pictures_are_read(kind, compression):
    pixels = np.kron(np.random.default_rng(1).uniform(0, 30, (5, 6, 3)), np.ones((4, 8, 1)))
    data = exr(pixels, kind, compression)
    np.testing.assert_allclose(read_exr(data), pixels, rtol=1e-3)
    for cut in range(0, len(data), 37):
        with pytest.raises(FormatError):
            read_exr(data[:cut])


@pytest.mark.parametrize("light", ["no such light", "nowhere.hdr", np.ones(3), 5, {}])
def test_what_is_no_environment_is_told(light):
    with pytest.raises((MarrowError, OSError)):
        mw.Environment(light=light)


def test_the_studio_cannot_be_a_background():
    with pytest.raises(MarrowError, match="is a formula"):
        mw.Environment("environment")
