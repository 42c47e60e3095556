"""The container: header, levels, what the texels are, and the compression around them."""

from __future__ import annotations

import contextlib
import importlib
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from marrow.io.images import MAX_PIXELS, Undecodable

__all__ = ["BASIS_LZ", "ETC1S", "UASTC", "Ktx2", "read_container", "unpacked", "zstandard_reader"]

_HEADER = struct.Struct("<12s9I4I2Q")
_LEVEL = struct.Struct("<3Q")
_NONE, BASIS_LZ, _ZSTD, _ZLIB = range(4)
ETC1S, UASTC = 163, 166
"""Colour models of the data format descriptor. Others that only Basis Universal has follow on UASTC."""
_MOST_LEVELS = 32
_WINDOW = 1 << 27


@dataclass(frozen=True, slots=True)
class Ktx2:
    """A KTX2 file with one picture: `format` is Vulkan's number, `model` the colour model, `channels` what its samples
    are, `srgb` whether
    the numbers are sRGB's; `levels` the place and length of each mip level in `data`, the largest first."""

    data: bytes
    format: int
    scheme: int
    model: int
    channels: tuple[int, ...]
    srgb: bool
    width: int
    height: int
    levels: tuple[tuple[int, int], ...]
    globals: tuple[int, int]

    def size(self, level: int) -> tuple[int, int]:
        """Width and height of a level."""
        return max(1, self.width >> level), max(1, self.height >> level)

    def level_within(self, max_side: int) -> int:
        """The largest level that is not larger than that, or the one that comes nearest."""
        for k in range(len(self.levels)):
            width, height = self.size(k)
            if max(width, height) <= max_side and width * height <= MAX_PIXELS:
                return k
        for k in reversed(range(len(self.levels))):
            width, height = self.size(k)
            if width * height <= MAX_PIXELS:
                return k
        raise Undecodable(f"it has {self.width} x {self.height} pixels, more than {MAX_PIXELS:,} in all")


def read_container(data: bytes) -> Ktx2:
    """What a file says of itself; `Undecodable` for what is no single picture, or damaged."""
    if len(data) < _HEADER.size + _LEVEL.size or data[:12] != b"\xabKTX 20\xbb\r\n\x1a\n":
        raise Undecodable("the KTX2 header is cut short or damaged")
    (_, format, _, width, height, depth, layers, faces, count, scheme, *rest) = _HEADER.unpack_from(data)
    described, described_length, _, _, globals_at, globals_length = rest
    if scheme > _ZLIB:
        raise Undecodable(f"KTX2 of compression scheme {scheme} is not known")
    if depth > 1 or layers > 1 or faces > 1:
        raise Undecodable("the KTX2 image is a volume, an array or a cube, not a picture")
    height = height or 1
    count = max(1, count)
    if width < 1 or count > _MOST_LEVELS or max(width, height) >> (count - 1) == 0:
        raise Undecodable(f"its header is damaged: {width} x {height} pixels in {count} levels")
    if _HEADER.size + count * _LEVEL.size > len(data):
        raise Undecodable("the KTX2 header is cut short")
    levels = []
    for k in range(count):
        offset, length, _ = _LEVEL.unpack_from(data, _HEADER.size + k * _LEVEL.size)
        if offset + length > len(data):
            raise Undecodable("the KTX2 data is cut short")
        levels.append((offset, length))
    if globals_at + globals_length > len(data):
        raise Undecodable("the KTX2 data is cut short")
    model, srgb, channels = _described(data[described : described + min(described_length, 4096)])
    return Ktx2(
        bytes(data), format, scheme, model, channels, srgb, width, height, tuple(levels), (globals_at, globals_length)
    )  # fmt: skip


def _described(block: bytes) -> tuple[int, bool, tuple[int, ...]]:
    """Colour model, whether it is sRGB, and the channels, of the data format descriptor."""
    if len(block) < 28:
        return 0, False, ()
    samples = range(28, min(len(block) - 15, 28 + 16 * 8), 16)
    return block[12], block[14] == 2, tuple(block[at + 3] & 15 for at in samples)


def unpacked(file: Ktx2, level: int, wanted: int) -> bytes:
    """The `wanted` bytes of a level, without the compression around them."""
    offset, length = file.levels[level]
    packed = file.data[offset : offset + length]
    try:
        if file.scheme == _ZLIB:
            texels = zlib.decompressobj().decompress(packed, wanted)
        elif file.scheme == _ZSTD:
            texels = zstandard_reader(file)(packed, wanted)
        else:
            texels = packed
    except (zlib.error, MemoryError) as error:
        raise Undecodable(f"the KTX2 data is damaged: {error}") from None
    if len(texels) < wanted:
        raise Undecodable("the KTX2 data is cut short")
    return texels[:wanted]


def zstandard_reader(file: Ktx2) -> Callable[[bytes, int], bytes]:
    """What takes so many bytes of Zstandard data apart: Python's own from 3.14 on, or the package `zstandard`;
    `Undecodable` where a file
    needs it and there is none."""
    if file.scheme != _ZSTD:
        return lambda packed, wanted: packed
    with contextlib.suppress(ImportError):
        return _by_python()
    try:
        import zstandard
    except ImportError:
        raise Undecodable(
            "it is KTX2 with Zstandard compression: pip install 'marrow-engine[textures]'"
        ) from None

    def read(packed: bytes, wanted: int) -> bytes:
        # A frame may promise any size: a reader takes no more than is asked for.
        reader = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(packed)
        try:
            return bytes(reader.read(wanted))
        except zstandard.ZstdError as error:
            raise Undecodable(f"the KTX2 data is damaged: {error}") from None

    return read


def _by_python() -> Callable[[bytes, int], bytes]:
    zstd: Any = importlib.import_module("compression.zstd")

    def read(packed: bytes, wanted: int) -> bytes:
        options = {zstd.DecompressionParameter.window_log_max: _WINDOW.bit_length() - 1}
        try:
            return bytes(zstd.ZstdDecompressor(options=options).decompress(packed, wanted))
        except (zstd.ZstdError, EOFError) as error:
            raise Undecodable(f"the KTX2 data is damaged: {error}") from None

    return read
