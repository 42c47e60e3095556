"""KTX2 images: plain 8-bit ones are decoded, Basis Universal (what glTF files hold) is refused with the way out."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from marrow.io.images import MAX_PIXELS, Undecodable

__all__ = ["decode_ktx2"]

_HEADER = struct.Struct("<12s9I4I2Q")
_LEVEL = struct.Struct("<3Q")
# Vulkan's numbers of formats: which channels lie in a texel, in which order.
_LAYOUTS = {9: "r", 15: "r", 16: "rg", 22: "rg", 23: "rgb", 29: "rgb", 30: "bgr", 36: "bgr"}
_LAYOUTS |= {37: "rgba", 43: "rgba", 44: "bgra", 50: "bgra"}
_REMEDY = "decode it before, for example with `gltf-transform ktxdecompress in.glb out.glb`, or keep a PNG beside it"


def decode_ktx2(data: bytes) -> NDArray[np.uint8]:
    """The largest level of a KTX2 image, `(H, W, 4)` uint8."""
    if len(data) < _HEADER.size + _LEVEL.size or data[:12] != b"\xabKTX 20\xbb\r\n\x1a\n":
        raise Undecodable("the KTX2 header is cut short or damaged")
    _, format, _, width, height, depth, layers, faces, _, scheme, *_ = _HEADER.unpack_from(data)
    height = height or 1
    if scheme == 1 or format == 0:
        raise Undecodable(f"it is KTX2 with Basis Universal compression, which is not decoded: {_REMEDY}")
    if format not in _LAYOUTS or scheme not in (0, 3):
        raise Undecodable(
            f"KTX2 of Vulkan format {format}, compression scheme {scheme}, is not decoded: {_REMEDY}"
        )
    if depth > 1 or layers > 1 or faces > 1:
        raise Undecodable("the KTX2 image is a volume, an array or a cube, not a picture")
    if not 0 < width * height <= MAX_PIXELS:
        raise Undecodable(f"it has {width} x {height} pixels")
    offset, length, _ = _LEVEL.unpack_from(data, _HEADER.size)
    layout = _LAYOUTS[format]
    wanted = width * height * len(layout)
    texels = data[offset : offset + length]
    if scheme == 3:
        try:
            texels = zlib.decompressobj().decompress(texels, wanted)
        except zlib.error as error:
            raise Undecodable(f"the KTX2 data is damaged: {error}") from None
    if len(texels) < wanted:
        raise Undecodable("the KTX2 data is cut short")
    given = np.frombuffer(texels, np.uint8, wanted).reshape(height, width, len(layout))
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[..., 3] = 255
    for i, channel in enumerate(layout):
        pixels[..., "rgba".index(channel)] = given[..., i]
    return pixels
