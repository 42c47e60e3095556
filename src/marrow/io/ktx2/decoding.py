"""Texels of every format that is read, as `(H, W, 4)` octets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.images import Undecodable
from marrow.io.ktx2.container import BASIS_LZ, ETC1S, UASTC, Ktx2, read_container, unpacked, zstandard_reader

__all__ = ["decode_ktx2", "why_not_decoded"]

Array = NDArray[Any]
# Vulkan's numbers of formats: which channels lie in a texel, in which order, and as what.
_PLAIN: dict[int, tuple[str, str]] = {
    9: ("r", "u1"),
    15: ("r", "u1"),
    16: ("rg", "u1"),
    22: ("rg", "u1"),
    23: ("rgb", "u1"),
}
_PLAIN |= {29: ("rgb", "u1"), 30: ("bgr", "u1"), 36: ("bgr", "u1"), 37: ("rgba", "u1"), 43: ("rgba", "u1")}
_PLAIN |= {44: ("bgra", "u1"), 50: ("bgra", "u1")}
_PLAIN |= {70: ("r", "<u2"), 77: ("rg", "<u2"), 84: ("rgb", "<u2"), 91: ("rgba", "<u2")}
_PLAIN |= {76: ("r", "<f2"), 83: ("rg", "<f2"), 90: ("rgb", "<f2"), 97: ("rgba", "<f2")}
_PLAIN |= {100: ("r", "<f4"), 103: ("rg", "<f4"), 106: ("rgb", "<f4"), 109: ("rgba", "<f4")}
_B10G11R11, _E5B9G9R9 = _PACKED = 122, 123
# What Pillow calls them, and how many octets a block has.
_BC = {
    131: ("BC1", 8),
    132: ("BC1", 8),
    133: ("BC1", 8),
    134: ("BC1", 8),
    135: ("BC2", 16),
    136: ("BC2", 16),
    137: ("BC3", 16),
}
_BC |= {
    138: ("BC3", 16),
    139: ("BC4", 8),
    141: ("BC5", 16),
    142: ("BC5S", 16),
    143: ("BC6H", 16),
    144: ("BC6HS", 16),
}
_BC |= {145: ("BC7", 16), 146: ("BC7", 16)}
_BC1_OPAQUE = (131, 132)
# Kind in the kernel `etc2_blocks`, and how many octets a block has.
_ETC2 = {
    147: (0, 8),
    148: (0, 8),
    149: (1, 8),
    150: (1, 8),
    151: (2, 16),
    152: (2, 16),
    153: (3, 8),
    155: (4, 16),
}
_ASTC_SIZES = (
    (4, 4), (5, 4), (5, 5), (6, 5), (6, 6), (8, 5), (8, 6), (8, 8), (10, 5), (10, 6), (10, 8), (10, 10), (12, 10), (12, 12),
)  # fmt: skip
_ASTC = {157 + 2 * k + s: (*size, bool(s)) for k, size in enumerate(_ASTC_SIZES) for s in (0, 1)}
_UASTC_RED_GREEN = 5
_REMEDY = "decode it before, or keep a PNG beside it"


def decode_ktx2(data: bytes, max_side: int = 1 << 14) -> Array:
    """The largest level of a KTX2 image that is not larger than `max_side`, `(H, W, 4)` uint8. What cannot be decoded
    is `Undecodable`."""
    file = read_container(data)
    level = file.level_within(max_side)
    width, height = file.size(level)
    pixels = _texels(file, level, width, height)
    return np.ascontiguousarray(pixels[:height, :width])


def why_not_decoded(data: bytes) -> str:
    """Why a file cannot be decoded, by its header and what is installed; empty where nothing speaks against it."""
    try:
        file = read_container(data)
        _check(file)
        zstandard_reader(file)
    except Undecodable as error:
        return str(error)
    return ""


def _check(file: Ktx2) -> None:
    """Raises `Undecodable` for a format that is not read."""
    if file.scheme == BASIS_LZ or file.model == ETC1S:
        if file.scheme != BASIS_LZ or file.model not in (ETC1S, 0):
            raise Undecodable("it is KTX2 of Basis Universal whose header does not fit together")
        return
    if file.format == 0 and file.model == UASTC:
        return
    if file.format == 0 or file.model > UASTC:
        raise Undecodable(
            f"it is KTX2 of Basis Universal in a format (colour model {file.model}) that is not decoded: {_REMEDY}"
        )
    if not any(file.format in known for known in (_PLAIN, _PACKED, _BC, _ETC2, _ASTC)):
        raise Undecodable(f"KTX2 of Vulkan format {file.format} is not decoded: {_REMEDY}")


def _texels(file: Ktx2, level: int, width: int, height: int) -> Array:
    _check(file)
    if file.scheme == BASIS_LZ:
        from marrow.io.ktx2.basis_lz import decode_etc1s

        return decode_etc1s(file, level)
    if file.format == 0 and file.model == UASTC:
        return _uastc(file, level, width, height)
    if file.format in _PLAIN:
        return _plain(file, level, width, height)
    if file.format in _PACKED:
        packed = np.frombuffer(unpacked(file, level, width * height * 4), "<u4").reshape(height, width)
        return _octets(_shared_exponent(packed) if file.format == _E5B9G9R9 else _small_floats(packed), "rgb")
    if file.format in _BC:
        return _bc(file, level, width, height)
    if file.format in _ETC2:
        return _etc2(file, level, width, height)
    return _astc(file, level, width, height)


def _plain(file: Ktx2, level: int, width: int, height: int) -> Array:
    layout, kind = _PLAIN[file.format]
    dtype = np.dtype(kind)
    count = width * height * len(layout)
    values = np.frombuffer(unpacked(file, level, count * dtype.itemsize), dtype)
    return _octets(values.reshape(height, width, len(layout)), layout)


def _octets(values: Array, layout: str) -> Array:
    """Channels in any order, as numbers of 8 or 16 bits or as floats from 0 to 1, as RGBA. Without red, green or blue
    it is 0."""
    if values.dtype == np.uint16:
        values = (values.astype(np.uint32) * 255 + 32767) // 65535
    elif values.dtype.kind == "f":
        values = np.clip(np.nan_to_num(values.astype(np.float32)), 0, 1) * 255 + 0.5
    pixels = np.zeros((*values.shape[:2], 4), np.uint8)
    pixels[..., 3] = 255
    for i, channel in enumerate(layout):
        pixels[..., "rgba".index(channel)] = values[..., i]
    return pixels


def _shared_exponent(packed: Array) -> Array:
    parts = np.stack([packed & 511, (packed >> 9) & 511, (packed >> 18) & 511], axis=-1).astype(np.float32)
    return parts * np.exp2((packed >> 27).astype(np.float32) - 24)[..., None]


def _small_floats(packed: Array) -> Array:
    """Floats of 11, 11 and 10 bits: those of 16 bits without a sign and the last digits."""
    parts = np.stack([(packed & 2047) << 4, ((packed >> 11) & 2047) << 4, (packed >> 22) << 5], axis=-1)
    return parts.astype(np.uint16).view(np.float16)


def _blocks(width: int, height: int, wide: int = 4, high: int = 4) -> tuple[int, int, int]:
    """How many blocks there are, and the size of the picture they make."""
    across, down = -(-width // wide), -(-height // high)
    return across * down, across * wide, down * high


def _block_data(file: Ktx2, level: int, count: int, size: int) -> Array:
    return np.frombuffer(unpacked(file, level, count * size), np.uint8)


def _bc(file: Ktx2, level: int, width: int, height: int) -> Array:
    from PIL import Image

    name, size = _BC[file.format]
    count, wide, high = _blocks(width, height)
    mode = {"BC4": "L", "BC5": "RGB", "BC5S": "RGB", "BC6H": "RGB", "BC6HS": "RGB"}.get(name, "RGBA")
    try:
        picture = Image.frombytes(
            mode, (wide, high), unpacked(file, level, count * size), "bcn", (int(name[2]), name)
        )
    except (ValueError, OSError) as error:
        raise Undecodable(str(error)) from None
    pixels = np.asarray(picture)
    if mode == "RGBA":
        pixels = np.array(pixels)
        if file.format in _BC1_OPAQUE:
            pixels[..., 3] = 255
        return pixels
    if mode == "L":
        return _octets(pixels[..., None], "r")
    return _octets(
        pixels[..., :2] if name.startswith("BC5") else pixels, "rg" if name.startswith("BC5") else "rgb"
    )


def _etc2(file: Ktx2, level: int, width: int, height: int) -> Array:
    from marrow.io.ktx2.tables import EAC, ETC_DISTANCES, ETC_LEVELS
    from marrow.kernels.textures.etc2 import etc2_blocks

    kind, size = _ETC2[file.format]
    count, wide, high = _blocks(width, height)
    pixels = np.zeros((high, wide, 4), np.uint8)
    pixels[..., 3] = 255
    etc2_blocks(_block_data(file, level, count, size), kind, ETC_LEVELS, ETC_DISTANCES, EAC, pixels)
    return pixels


def _astc(file: Ktx2, level: int, width: int, height: int) -> Array:
    from marrow.io.ktx2.tables import astc_tables, astc_work
    from marrow.kernels.textures.astc import astc_blocks

    across, down, srgb = _ASTC[file.format]
    count, wide, high = _blocks(width, height, across, down)
    pixels = np.empty((high, wide, 4), np.uint8)
    data = _block_data(file, level, count, 16)
    astc_blocks(data, astc_tables(), astc_work(), down, across, int(srgb), pixels)
    return pixels


def _uastc(file: Ktx2, level: int, width: int, height: int) -> Array:
    from marrow.io.ktx2.tables import astc_tables, astc_work, uastc_tables
    from marrow.kernels.textures.astc import uastc_blocks

    count, wide, high = _blocks(width, height)
    pixels = np.empty((high, wide, 4), np.uint8)
    data = _block_data(file, level, count, 16)
    (wrong,) = uastc_blocks(data, astc_tables(), *uastc_tables(), astc_work(), pixels)
    if wrong:
        raise Undecodable(f"the KTX2 data is damaged: {wrong:,} of {count:,} blocks are no UASTC")
    if file.channels and file.channels[0] == _UASTC_RED_GREEN:
        pixels[..., 1], pixels[..., 2], pixels[..., 3] = pixels[..., 3], 0, 255
    return pixels
