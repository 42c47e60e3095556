"""Images decoded and uploaded: modes, KTX2, mipmaps."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image as pillow
from quads import linear

import marrow as mw
from marrow.io.images import Undecodable
from marrow.rendering.resources.targets import read_pixels
from marrow.rendering.resources.textures import TextureLibrary, decode

RNG = np.random.default_rng(6)
COLORS = RNG.integers(0, 256, (5, 7, 4), dtype=np.uint8)


def image(data, kind="image/png", name="picture"):
    return mw.Image(name, kind, data)


def encoded(picture, format="PNG", **options):
    buffer = io.BytesIO()
    picture.save(buffer, format, **options)
    return buffer.getvalue()


def test_kinds_of_pixels():
    grey = (np.arange(35).reshape(5, 7) * 1800).astype(np.uint16)
    sixteen = decode(image(encoded(pillow.fromarray(grey))))
    assert np.abs(sixteen[..., 0].astype(int) - grey / 257).max() <= 1 and (sixteen[..., 3] == 255).all()
    assert np.array_equal(decode(image(encoded(pillow.fromarray(COLORS)))), COLORS)
    assert np.array_equal(decode(image(encoded(pillow.fromarray(COLORS), "TGA"), name="a.tga")), COLORS)
    palette = pillow.fromarray(COLORS[..., :3]).quantize(255)
    clear = decode(image(encoded(palette, transparency=0)))
    assert (clear[..., 3] == 0).any() and (clear[..., 3] == 255).any()
    assert decode(image(encoded(pillow.fromarray(COLORS[..., :3]).convert("CMYK"), "JPEG"))).shape == (
        5,
        7,
        4,
    )
    assert set(np.unique(decode(image(encoded(pillow.new("1", (3, 2), 1))))[..., :3])) == {255}


def ktx2(pixels, format, *, scheme=0, cut=0):
    """A KTX2 file with one level, its header as the specification has it."""
    data = pixels.tobytes()
    stored = zlib.compress(data) if scheme == 3 else data
    height, width = pixels.shape[:2]
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", format, 1, width, height, 0, 0, 1, 1, scheme)
    head += struct.pack("<4I2Q", 0, 0, 0, 0, 0, 0)
    head += struct.pack("<3Q", len(head) + 24, len(stored), len(data))
    whole = head + stored
    return whole[: len(whole) - cut]


@pytest.mark.parametrize("scheme", [0, 3])
@pytest.mark.parametrize(
    ("format", "channels"), [(43, "rgba"), (37, "rgba"), (23, "rgb"), (44, "bgra"), (9, "r")]
)
def test_plain_ktx2_is_decoded(format, channels, scheme):
    order = ["rgba".index(c) for c in channels]
    found = decode(image(ktx2(np.ascontiguousarray(COLORS[..., order]), format, scheme=scheme), "image/ktx2"))
    assert np.array_equal(found[..., order], COLORS[..., order])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (ktx2(COLORS, 43, cut=30), "cut short"),
        (ktx2(COLORS, 43, scheme=3, cut=20), "cut short|damaged"),
        (ktx2(COLORS, 43, scheme=2), "damaged|marrow-engine"),
        (ktx2(COLORS, 0), "Basis Universal.*not decoded"),
        (ktx2(COLORS, 43)[:40], "cut short"),
        (ktx2(np.zeros((0, 4, 4), np.uint8), 43), "cut short|0 pixels|damaged"),
    ],
)
def test_other_ktx2_says_why_not(data, words):
    with pytest.raises(Undecodable, match=words):
        decode(image(data, "image/ktx2"))


@pytest.mark.parametrize("color", [True, False])
def test_mipmaps_are_means_of_light(device, color):
    """Every level of a picture of 16 x 8 against NumPy's means, in linear light where the picture is one of colours."""
    pixels = RNG.integers(0, 256, (8, 16, 4), dtype=np.uint8)
    texture = TextureLibrary(device).upload(pixels, color=color)
    light = np.array(pixels / 255.0)
    if color:
        light[..., :3] = linear(light[..., :3])
    for level in range(1, 5):
        height, width = max(1, 8 >> level), 16 >> level
        target = device.raw.create_texture(
            size=(width, height, 1), format=texture.raw.format, usage=0x01 | 0x02
        )
        encoder = device.raw.create_command_encoder()
        encoder.copy_texture_to_texture(
            {"texture": texture.raw, "mip_level": level}, {"texture": target}, (width, height, 1)
        )
        device.submit([encoder.finish()])
        found = read_pixels(device, target) / 255.0
        mean = light.reshape(height, 8 // height, width, 16 // width, 4).mean((1, 3))
        if color:
            found[..., :3] = linear(found[..., :3])
        assert np.abs(found - mean).max() < 0.02
