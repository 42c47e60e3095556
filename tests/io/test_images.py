"""Pictures packed into others, checked pixel by pixel."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from marrow.io.images import Undecodable, as_png, media_type, with_alpha, with_metallic_roughness


def encoded(pixels: np.ndarray, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, kind)
    return buffer.getvalue()


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)))


def noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def test_roughness_goes_to_green_and_metalness_to_blue() -> None:
    rough, metal = noise(0, 6, 5), noise(1, 6, 5, 3)
    found = pixels(with_metallic_roughness((encoded(rough), "r"), (encoded(metal), "g")))
    np.testing.assert_array_equal(found[..., 1], rough)
    np.testing.assert_array_equal(found[..., 2], metal[..., 1])


def test_what_is_not_given_leaves_the_factor_alone() -> None:
    found = pixels(with_metallic_roughness(None, (encoded(noise(2, 4, 4)), "r")))
    assert (found[..., 1] == 255).all()


def test_pictures_of_two_sizes_take_the_larger() -> None:
    assert pixels(
        with_metallic_roughness((encoded(noise(0, 2, 2)), "r"), (encoded(noise(1, 8, 8)), "r"))
    ).shape == (
        8,
        8,
        3,
    )


def test_opacity_is_alpha_where_there_is_one_else_brightness() -> None:
    color, gray, clear = noise(3, 3, 4, 3), noise(4, 3, 4), noise(5, 3, 4, 4)
    found = pixels(with_alpha(encoded(color), (encoded(gray), "o")))
    np.testing.assert_array_equal(found, np.dstack([color, gray]))
    np.testing.assert_array_equal(pixels(with_alpha(None, (encoded(clear), "o")))[..., 3], clear[..., 3])


def test_other_formats_become_png() -> None:
    picture = noise(6, 5, 7, 3)
    for kind in ("BMP", "TGA", "TIFF"):
        data = encoded(picture, kind)
        np.testing.assert_array_equal(pixels(as_png(data)), picture)
        assert media_type(as_png(data)) == "image/png"
    assert media_type(encoded(picture, "TGA"), name="a.TGA") == "image/x-tga"


@pytest.mark.parametrize(
    "data", [b"", b"BM", b"\x89PNG\r\n\x1a\n junk", encoded(noise(0, 9, 9))[:60], bytes(500)]
)
def test_what_cannot_be_decoded_says_so(data: bytes) -> None:
    with pytest.raises(Undecodable):
        as_png(data)


def test_a_picture_of_a_billion_pixels_is_not_decoded() -> None:
    head = bytearray(encoded(noise(0, 1, 1)))
    head[16:24] = (40_000).to_bytes(4, "big") * 2
    with pytest.raises(Undecodable):
        as_png(bytes(head))
