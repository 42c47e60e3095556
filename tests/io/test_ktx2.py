"""KTX2: pixels that independent decoders gave (`tools/check_textures.py`), and files that are damaged, cut short or
made to exhaust."""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from importlib.util import find_spec

import numpy as np
import pytest

import ktx2_files as made
from marrow.io.images import Undecodable, as_png, for_browsers, why_not_shown
from marrow.io.ktx2 import decode_ktx2

# Of random blocks: UASTC by three.js's transcoder, ASTC by Arm's encoder, ETC2 by texture2ddecoder.
HASHES = {
    "uastc": "7dc4f64e076d536e",
    "etc1s 0": "fc2b8f6317c88b3e",
    "etc1s 1": "4005d6b7208adfa9",
    "etc1s 2": "a8b70adb1796634a",
    "etc1s 3": "6dbe169859b38adf",
    "astc 4x4": "fb62c716f3b7175f",
    "astc 4x4 srgb": "951af36475fc2159",
    "astc 5x4": "fb043e2254537df5",
    "astc 5x4 srgb": "37937dab904ba940",
    "astc 5x5": "cdbf5f6e0b59e0c7",
    "astc 5x5 srgb": "3b13c18573e15973",
    "astc 6x5": "9d55fbf064a16ce8",
    "astc 6x5 srgb": "6dee54578d5e4c34",
    "astc 6x6": "ef24006abd4509bf",
    "astc 6x6 srgb": "9c739597c2bd1b48",
    "astc 8x5": "19ab6847e913610c",
    "astc 8x5 srgb": "69d9690c64721f75",
    "astc 8x6": "7a694e1095fb4544",
    "astc 8x6 srgb": "53b7c7ec8272b9b9",
    "astc 8x8": "e1895b53d5b17bc0",
    "astc 8x8 srgb": "c87c8d870cdbcb60",
    "astc 10x5": "bdcd28e3ff495d5c",
    "astc 10x5 srgb": "d8ba0025c3ea4ab4",
    "astc 10x6": "1298085eb7116b57",
    "astc 10x6 srgb": "d88a666092b46073",
    "astc 10x8": "df15c03cbad8760c",
    "astc 10x8 srgb": "b29b2a310274a7b5",
    "astc 10x10": "0fdd11c3cbf438cb",
    "astc 10x10 srgb": "5759eba318b49c14",
    "astc 12x10": "61f351d4d7a548af",
    "astc 12x10 srgb": "c2fc81eb7c51a0e3",
    "astc 12x12": "b0bcd75bad9c66ea",
    "astc 12x12 srgb": "00e85e9438405f09",
    "etc2 147": "4cc5c572cc8d5049",
    "etc2 149": "a7a4a3ca65fa2009",
    "etc2 151": "1101c32a42960f61",
}


def digest(data: bytes) -> str:
    return hashlib.sha256(decode_ktx2(data)).hexdigest()[:16]


def test_uastc_of_every_mode_is_what_other_decoders_make_of_it():
    assert digest(made.random_uastc()) == HASHES["uastc"]


@pytest.mark.parametrize("srgb", [False, True])
def test_astc_of_every_block_size_is_what_other_decoders_make_of_it(srgb):
    for size in made.SIZES:
        name = f"astc {size[0]}x{size[1]}{' srgb' * srgb}"
        assert digest(made.random_astc(size, srgb)) == HASHES[name], name


def test_etc2_is_what_other_decoders_make_of_it():
    for format, octets, _ in made.ETC2:
        assert digest(made.random_etc2(format, octets)) == HASHES[f"etc2 {format}"]


@pytest.mark.parametrize("seed", range(len(made.ETC1S)))
def test_etc1s_has_the_colours_and_patterns_that_were_written(seed):
    width, height, alpha = made.ETC1S[seed]
    file, pixels = made.random_etc1s(width, height, seed, alpha=alpha)
    assert np.array_equal(decode_ktx2(file), np.array(pixels, np.uint8).reshape(height, width, 4))
    assert digest(file) == HASHES[f"etc1s {seed}"]  # three.js's transcoder says the same


def test_blocks_of_bc_have_the_colours_of_their_ends():
    red, blue = 0xF800, 0x001F
    block = struct.pack("<2HI", red, blue, 0b11_10_01_00 * 0x01010101)
    row = [(255, 0, 0, 255), (0, 0, 255, 255), (170, 0, 85, 255), (85, 0, 170, 255)]
    assert np.array_equal(decode_ktx2(made.ktx2(133, 4, 4, [block])), [row] * 4)
    clear = struct.pack("<2HI", blue, red, 0b11_10_01_00 * 0x01010101)
    assert decode_ktx2(made.ktx2(134, 4, 4, [clear]))[0, 3].tolist() == [0, 0, 0, 0]
    assert decode_ktx2(made.ktx2(132, 4, 4, [clear]))[0, 3].tolist() == [0, 0, 0, 255]
    grey = bytes([200, 100]) + (0b001_000 * sum(1 << 6 * k for k in range(8))).to_bytes(6, "little")
    assert decode_ktx2(made.ktx2(139, 4, 4, [grey]))[0, :2, 0].tolist() == [200, 100]
    whole = struct.pack("<2Q", 1 << 6 | 127 << 7 | 127 << 14, 0)  # mode 6, red from 254 to 254
    assert decode_ktx2(made.ktx2(145, 4, 4, [whole]))[0, 0].tolist() == [254, 0, 0, 0]


def test_floats_and_numbers_of_16_bits_are_shown_from_0_to_1():
    values = np.array([0, 0.25, 1, 7], np.float32)
    expected = [[0, 64, 255, 255]]
    for format, kind in ((109, "<f4"), (97, "<f2")):
        assert decode_ktx2(made.ktx2(format, 1, 1, [values.astype(kind).tobytes()])).tolist() == [expected]
    words = np.array([0, 16384, 65535, 65535], "<u2").tobytes()
    assert decode_ktx2(made.ktx2(91, 1, 1, [words])).tolist() == [expected]
    assert decode_ktx2(made.ktx2(123, 1, 1, [struct.pack("<I", 256 | 128 << 9 | 64 << 18 | 16 << 27)]))[0, 0].tolist() == [
        255, 128, 64, 255,
    ]  # fmt: skip


def test_the_level_that_fits_is_taken():
    levels = [np.full((s, s, 4), s, np.uint8).tobytes() for s in (8, 4, 2, 1)]
    file = made.ktx2(37, 8, 8, levels)
    assert [decode_ktx2(file, side).shape[0] for side in (100, 8, 7, 3, 1)] == [8, 8, 4, 2, 1]
    assert (decode_ktx2(file, 7) == 4).all()


def test_zstandard_is_read_or_told():
    texels = bytes(range(64))
    packed = struct.pack("<IBQ", 0xFD2FB528, 0xE0, 64) + struct.pack("<I", 64 << 3 | 1)[:3] + texels
    file = made.ktx2(37, 4, 4, [packed], scheme=2)
    if find_spec("zstandard") is None and find_spec("compression") is None:
        assert "pip install 'marrow-engine[textures]'" in why_not_shown(file, "image/ktx2")
        with pytest.raises(Undecodable, match="textures"):
            decode_ktx2(file)
        return
    assert decode_ktx2(file).tobytes() == texels
    # A frame that promises 2**60 bytes, and one with a window of as many.
    for head in (struct.pack("<IBQ", 0xFD2FB528, 0xE0, 1 << 60), struct.pack("<IBB", 0xFD2FB528, 0, 0xFF)):
        with pytest.raises(Undecodable, match=r"damaged|cut short"):
            decode_ktx2(made.ktx2(37, 4, 4, [head + packed[13:40]], scheme=2))


def test_a_bomb_is_unpacked_no_further_than_the_picture():
    bomb = zlib.compress(bytes(64 << 20))
    assert decode_ktx2(made.ktx2(37, 4, 4, [bomb], scheme=3)).shape == (4, 4, 4)
    with pytest.raises(Undecodable, match="pixels"):
        decode_ktx2(made.ktx2(37, 1 << 16, 1 << 16, [bomb], scheme=3))
    with pytest.raises(Undecodable, match="cut short"):
        decode_ktx2(made.ktx2(37, 4096, 4096, [zlib.compress(bytes(100))], scheme=3))


@pytest.mark.parametrize(
    "file",
    [
        made.random_etc1s(24, 24, 5, alpha=True)[0],
        made.random_uastc()[:5000],
        made.random_astc((6, 6), True)[:9000],
    ],
    ids=["etc1s", "uastc", "astc"],
)
def test_damaged_files_are_refused_or_drawn_but_end_nothing(file):
    rng = random.Random(1)
    for k in range(150):
        data = bytearray(file)
        for _ in range(rng.choice((1, 1, 3, 20))):
            at = rng.randrange(12, 400) if rng.random() < 0.6 else rng.randrange(12, len(data))
            data[at] = rng.choice((0, 255, rng.randrange(256), data[at] ^ 1 << rng.randrange(8)))
        whole = bytes(data[: rng.randrange(len(data))] if k % 3 == 0 else data)
        try:
            pixels = decode_ktx2(whole, 256)
        except Undecodable:
            continue
        assert pixels.ndim == 3 and pixels.shape[2] == 4


def test_ktx2_is_made_png_and_what_browsers_show():
    from io import BytesIO

    from PIL import Image

    file, pixels = made.random_etc1s(61, 39, 1, alpha=True)
    wanted = np.array(pixels, np.uint8).reshape(39, 61, 4)
    for data in (as_png(file), for_browsers(file, "image/ktx2")[1], for_browsers(file, "", small=True)[1]):
        assert np.array_equal(np.asarray(Image.open(BytesIO(data)).convert("RGBA")), wanted)
    assert for_browsers(b"\xff\xd8\xff and more", "image/jpeg") == ("image/jpeg", b"\xff\xd8\xff and more")


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (made.ktx2(1000066000, 4, 4, [bytes(16)], model=167), "colour model 167"),
        (made.ktx2(99, 4, 4, [bytes(16)]), "Vulkan format 99"),
        (made.ktx2(37, 4, 4, [bytes(64)], scheme=5), "scheme 5"),
        (made.ktx2(0, 4, 4, [bytes(16)], model=163), "does not fit together"),
        (made.ktx2(0, 4, 4, [bytes(16)], model=163, scheme=1), "cut short"),
        (made.ktx2(0, 8, 4, [b"\x45" * 32], model=166), "2 of 2 blocks"),
    ],
)
def test_what_is_not_decoded_says_why(file, words):
    with pytest.raises(Undecodable, match=words):
        decode_ktx2(file)
